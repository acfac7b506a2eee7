(** What looks for proofs, to be recorded, and for goals that notice a change.

    [whysearch CONFIG TOOLS update [--only PART] [--quick | --thorough] [--fresh] [--retry]
    THEORY.mlw] refreshes a session, and ends with 1 if something is not proved, with 3 if [--only]
    chose nothing. [whysearch CONFIG TOOLS mutant [--goal MODULE.GOAL] THEORY.mlw ...] prints what the
    recorded proofs say of changed theories. *)

let rec update project options = function
  | "--only" :: part :: rest -> update project { options with Update.only = Some part } rest
  | "--quick" :: rest -> update project { options with effort = Prove.Quick } rest
  | "--thorough" :: rest -> update project { options with effort = Prove.Thorough } rest
  | "--fresh" :: rest -> update project { options with forget = true } rest
  | "--retry" :: rest -> update project { options with retry = true } rest
  | [ file ] -> Some (fun () -> exit (Update.run project options file))
  | _ -> None

let mutant project goal files = Some (fun () -> Start.print (Mutant.facts project goal files))

let () =
  let none = { Update.only = None; effort = Prove.Normal; forget = false; retry = false } in
  Start.run ~usage:"usage: whysearch CONFIG TOOLS update|mutant [options] THEORY.mlw ..."
    (fun project -> function
    | "update" :: words -> update project none words
    | "mutant" :: "--goal" :: goal :: files -> mutant project (Some goal) files
    | "mutant" :: files -> mutant project None files
    | _ -> None)
