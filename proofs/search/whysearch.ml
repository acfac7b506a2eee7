(** Searches for proofs to record, and for goals that notice a change.

    [whysearch CONFIG update [--only PART] [--quick] HASH THEORY.mlw] refreshes the proofs of a
    theory whose sources have this hash, and exits with 1 if a goal is not proved, with 3 if
    [--only] chose no goal. [whysearch CONFIG mutant ORIGINAL [--goal MODULE.GOAL] THEORY.mlw ...]
    tries the recorded proofs of the tree ORIGINAL on changed theories. [whysearch CONFIG tasks
    FOLDER THEORY.mlw] writes the recorded parts of a theory's goals to files for CVC5, and prints a
    list of the files. *)

let rec update options = function
  | "--only" :: part :: rest -> update { options with Update.only = Some part } rest
  | "--quick" :: rest -> update { options with quick = true } rest
  | [ from; file ] -> Some (fun project -> exit (Update.run project { options with from } file))
  | _ -> None

let mutant original goal files =
  Some (fun project -> Start.print (Mutant.facts project original goal files))

let () =
  let none = { Update.only = None; quick = false; from = "" } in
  Start.run ~usage:"usage: whysearch CONFIG update|mutant|tasks [options] THEORY.mlw ..."
    (function
    | "update" :: words -> update none words
    | "mutant" :: original :: "--goal" :: goal :: files -> mutant original (Some goal) files
    | "mutant" :: original :: files -> mutant original None files
    | [ "tasks"; folder; file ] ->
        Some (fun project -> Start.print (Tasks.facts project folder file))
    | _ -> None)
