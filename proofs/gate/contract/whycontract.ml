(** [whycontract CONFIG programs|operations MODULE ...] prints, as one JSON value, the contracts of
    the programs, or of all operations, of some modules. *)

let contracts ~all names project =
  match Contract.facts project ~all names with
  | Ok found -> Start.print found
  | Error errors ->
      List.iter prerr_endline errors;
      exit 1

let () =
  Start.run ~usage:"usage: whycontract CONFIG programs|operations MODULE ..."
    (function
    | "programs" :: names -> Some (contracts ~all:false names)
    | "operations" :: names -> Some (contracts ~all:true names)
    | _ -> None)
