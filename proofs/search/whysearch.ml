(** What looks for proofs, to be recorded, and for goals that notice a change.

    [whysearch CONFIG update [--only PART] [--quick] THEORY.mlw] refreshes a
    session, and ends with 1 if something is not proved, with 3 if [--only] chose nothing.
    [whysearch CONFIG mutant [--goal MODULE.GOAL] THEORY.mlw ...] prints what the recorded proofs say
    of changed theories. *)

let rec update options = function
  | "--only" :: part :: rest -> update { options with Update.only = Some part } rest
  | "--quick" :: rest -> update { options with quick = true } rest
  | [ file ] -> Some (fun project -> exit (Update.run project options file))
  | _ -> None

let mutant goal files = Some (fun project -> Start.print (Mutant.facts project goal files))

let () =
  let none = { Update.only = None; quick = false } in
  Start.run ~usage:"usage: whysearch CONFIG update|mutant [options] THEORY.mlw ..."
    (function
    | "update" :: words -> update none words
    | "mutant" :: "--goal" :: goal :: files -> mutant (Some goal) files
    | "mutant" :: files -> mutant None files
    | _ -> None)
