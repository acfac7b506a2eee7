(** What a verdict is made of: theories, sessions and provers, as Why3's own library sees them.

    [whygate CONFIG audit THEORY.mlw ...] tells what all theories state and take for granted,
    [whygate CONFIG replay THEORY.mlw] what the provers say now to the session of a theory: each
    prints one JSON value. A process has one theory to replay: what Why3 makes of it may depend on what
    the process has read before. *)

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
