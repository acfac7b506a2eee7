(** How each of the programs starts: [PROGRAM CONFIG TOOLS COMMAND ...], in the root of the tree.

    [TOOLS] is the hash of what decides an answer, under which answers of provers are kept in the file
    that the environment names as [WHYGATE_ANSWERS], if it does. Exit status: 0; 2 for a wrong call;
    130 when interrupted. *)

let print value = print_endline (Json.to_string value)

(** Most of what these programs make, the task that a prover is to read, lives for a moment: it fits
    into a minor heap of eight megabytes. What lives longer stays to the end. *)
let tune_collector () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1_000_000; space_overhead = 400 }

(** Hand the words of the call to [command], which gives [None] for those that it does not know. *)
let run ~usage command =
  tune_collector ();
  let interrupted _ = raise Sys.Break in
  Sys.set_signal Sys.sigint (Signal_handle interrupted);
  Sys.set_signal Sys.sigterm (Signal_handle interrupted);
  let refuse () =
    prerr_endline usage;
    exit 2
  in
  try
    match List.tl (Array.to_list Sys.argv) with
    | config_file :: tools :: words ->
        Prover.tools := tools;
        Option.iter Prover.keep_in (Sys.getenv_opt "WHYGATE_ANSWERS");
        let project = Project.load ~config_file in
        Option.value (command project words) ~default:refuse ()
    | _ -> refuse ()
  with Sys.Break -> exit 130
