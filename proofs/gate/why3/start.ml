(** The start of each program: [PROGRAM CONFIG COMMAND ...], in the root of the tree.

    Exit status: 2 for a wrong call, 130 when interrupted, else the command's own. *)

let print value = Format.printf "%a@." Json.print_json value

(** Passes the words of the call to [command], which returns [None] for unknown words. *)
let run ~usage command =
  let interrupted = Sys.Signal_handle (fun _ -> raise Sys.Break) in
  List.iter (fun signal -> Sys.set_signal signal interrupted) [ Sys.sigint; Sys.sigterm ];
  let refuse _ =
    prerr_endline usage;
    exit 2
  in
  match Array.to_list Sys.argv with
  | _ :: config_file :: words -> (
      let act = Option.value (command words) ~default:refuse in
      try act (Project.load ~config_file) with Sys.Break -> exit 130)
  | _ -> refuse ()
