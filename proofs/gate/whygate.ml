(** The proof tool: reads the theories and their sessions through Why3's own library.

    Run in the root of the tree (gate.py does):
    [whygate CONFIG update [--only PART] [--quick | --thorough] [--fresh] [--retry] THEORY.mlw ...]
    [whygate CONFIG facts --width PROVERS --floor SECONDS --factor X --obsolete SECONDS
     [--quickest | --others | --sample SIXTH] THEORY.mlw ... [--about THEORY.mlw ...]]
    [whygate CONFIG goals THEORY.mlw ...]
    [whygate CONFIG smoke THEORY.mlw ...]
    [whygate CONFIG mutant [--goal MODULE.GOAL] THEORY.mlw ...]

    [facts] replays the proofs of the theories, audits those that it is to speak about (a share of
    the theories is replayed, all of them are audited together), and prints one JSON value; [goals]
    prints the same without having replayed. [smoke] lists the parts of goals whose hypotheses are
    contradictory. [mutant] tells which goal of the theories notices that they were
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

let print_facts config_file limits ~replayed ~about =
  let project = Project.load ~config_file in
  print_endline (Json.to_string (Replay.facts project limits ~replayed ~about))

let rec before_and_after option = function
  | [] -> ([], [])
  | word :: rest when word = option -> ([], rest)
  | word :: rest ->
      let before, after = before_and_after option rest in
      (word :: before, after)

let facts config_file = function
  | "--width" :: width :: "--floor" :: floor :: "--factor" :: factor :: "--obsolete" :: obsolete :: rest ->
      let share, files =
        match rest with
        | "--quickest" :: files -> (Replay.Quickest, files)
        | "--others" :: files -> (Replay.Others, files)
        | "--sample" :: sixth :: files -> (Replay.Sample (int_of_string sixth), files)
        | files -> (Replay.All, files)
      in
      let limits =
        { Replay.floor = int_of_string floor; factor = float_of_string factor;
          obsolete = int_of_string obsolete; share }
      in
      let replayed, about = before_and_after "--about" files in
      Pool.set_width (int_of_string width);
      print_facts config_file (Some limits) ~replayed ~about
  | _ -> usage ()

let mutant config_file args =
  let named, theories =
    match args with "--goal" :: goal :: theories -> (Some goal, theories) | files -> (None, files)
  in
  print_endline (Json.to_string (Mutant.facts (Project.load ~config_file) named theories))

(** Most of what this program makes, the task that a prover is to read, lives for a moment: it fits
    into a minor heap of eight megabytes. What lives longer stays to the end. *)
let tune_collector () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1_000_000; space_overhead = 400 }

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
    | config :: "goals" :: files -> print_facts config None ~replayed:files ~about:files
    | config :: "smoke" :: files -> Smoke.list_parts (Project.load ~config_file:config) files
    | config :: "mutant" :: args -> mutant config args
    | _ -> usage ()
  with Sys.Break -> exit 130
