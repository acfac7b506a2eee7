(** The proof tool: reads the theories and their sessions through Why3's own library.

    Run in the root of the tree (gate.py does):
    [whygate CONFIG update [--only PART] [--quick | --thorough] [--fresh] [--retry] THEORY.mlw ...]
    [whygate CONFIG facts --floor SECONDS --factor X --obsolete SECONDS [--quickest | --others]
     THEORY.mlw ...]
    [whygate CONFIG goals THEORY.mlw ...]
    [whygate CONFIG mutant [--goal MODULE.GOAL] THEORY.mlw ...]

    [facts] replays the proofs, audits the theories, and prints one JSON value; [goals] prints the
    same without having replayed. [mutant] tells which goal of the theories notices that they were
    changed; it asks the one that is named, of the first theory, first.
    Exit status: 0; of [update] 1 if something is not proved; 2 for a wrong call; 130 when
    interrupted. *)

let usage () =
  prerr_endline "usage: whygate CONFIG update|facts|goals [options] THEORY.mlw ...";
  exit 2

let failures_file = "build/gate/failures"

let update config_file args =
  let options = ref { Update.only = None; effort = Prove.Normal; forget = false } in
  let retry = ref false in
  let rec parse = function
    | "--only" :: part :: rest -> options := { !options with only = Some part }; parse rest
    | "--quick" :: rest -> options := { !options with effort = Prove.Quick }; parse rest
    | "--thorough" :: rest -> options := { !options with effort = Prove.Thorough }; parse rest
    | "--fresh" :: rest -> options := { !options with forget = true }; parse rest
    | "--retry" :: rest -> retry := true; parse rest
    | files -> files
  in
  let files = parse args in
  let project = Project.load ~config_file in
  let failures = Failures.load ~forget:!retry failures_file in
  if not (Update.run project failures print_endline !options files) then exit 1

let print_facts config_file limits files =
  print_endline (Json.to_string (Replay.facts (Project.load ~config_file) limits files))

let facts config_file = function
  | "--floor" :: floor :: "--factor" :: factor :: "--obsolete" :: obsolete :: rest ->
      let share, files =
        match rest with
        | "--quickest" :: files -> (Replay.Quickest, files)
        | "--others" :: files -> (Replay.Others, files)
        | files -> (Replay.All, files)
      in
      let limits =
        { Replay.floor = int_of_string floor; factor = float_of_string factor;
          obsolete = int_of_string obsolete; share }
      in
      print_facts config_file (Some limits) files
  | _ -> usage ()

let mutant config_file args =
  let named, theories =
    match args with "--goal" :: goal :: theories -> (Some goal, theories) | files -> (None, files)
  in
  print_endline (Json.to_string (Mutant.facts (Project.load ~config_file) named theories))

(** Most of what this program makes, the task that a prover is to read, lives for a moment: it fits
    into a minor heap of eight megabytes. *)
let tune_collector () = Gc.set { (Gc.get ()) with minor_heap_size = 1_000_000 }

let () =
  tune_collector ();
  let interrupted _ = raise Sys.Break in
  Sys.set_signal Sys.sigint (Signal_handle interrupted);
  Sys.set_signal Sys.sigterm (Signal_handle interrupted);
  Pool.start ();
  try
    match List.tl (Array.to_list Sys.argv) with
    | config :: "update" :: args -> update config args
    | config :: "facts" :: args -> facts config args
    | config :: "goals" :: files -> print_facts config None files
    | config :: "mutant" :: args -> mutant config args
    | _ -> usage ()
  with Sys.Break -> exit 130
