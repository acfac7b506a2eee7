(** The inputs of a verdict: theories, sessions and provers, read by Why3's own library.

    [whygate CONFIG audit THEORY.mlw ...] prints the statements and assumptions of the theories,
    [whygate CONFIG replay THEORY.mlw] prints the provers' present answers to a theory's session.
    Each command prints one JSON value. A process replays one theory: Why3's tasks may depend on the
    files that the process has read before. *)

open Json

let audit project files =
  let modules = List.map (fun file -> (file, Audit.modules project file)) files in
  let symbols (file, found) =
    let of_module m = List.map (Statement.facts project file m) (Statement.of_module project m) in
    List.concat_map of_module (Result.value found ~default:[])
  in
  Record
    ([ ("provers", Canary.facts project);
       ("theories", List (List.map (fun (file, m) -> Audit.facts project file m) modules));
       ("symbols", List (List.concat_map symbols modules)) ]
    @ Library.facts project modules @ Witness.facts project modules)

let () =
  Start.run ~usage:"usage: whygate CONFIG audit|replay THEORY.mlw ..." (function
    | "audit" :: files -> Some (fun project -> Start.print (audit project files))
    | [ "replay"; file ] -> Some (fun project -> Start.print (Replay.facts project file))
    | _ -> None)
