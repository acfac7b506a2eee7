(** What gives contracts as JSON: [whycontract CONFIG TOOLS programs|operations MODULE ...] prints,
    as one JSON value, those of the programs of some modules, or of all operations too. *)

let contracts project ~all names () =
  match Contract.facts project ~all names with
  | Ok found -> Start.print found
  | Error errors ->
      List.iter prerr_endline errors;
      exit 1

let () =
  Start.run ~usage:"usage: whycontract CONFIG TOOLS programs|operations MODULE ..."
    (fun project -> function
    | "programs" :: names -> Some (contracts project ~all:false names)
    | "operations" :: names -> Some (contracts project ~all:true names)
    | _ -> None)
