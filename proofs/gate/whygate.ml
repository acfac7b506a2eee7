(** The proof tool: reads the theories and their sessions through Why3's own library.

    Run in the root of the tree (gate.py does):
    [whygate CONFIG update [--only PART] [--quick | --thorough] [--fresh] [--retry] THEORY.mlw ...]
    Exit status of [update]: 0 all proved, 1 something is not; 2 a wrong call. *)


let usage () =
  prerr_endline "usage: whygate CONFIG update|replay|audit [options] THEORY.mlw ...";
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

let () =
  let interrupted _ = raise Sys.Break in
  Sys.set_signal Sys.sigint (Signal_handle interrupted);
  Sys.set_signal Sys.sigterm (Signal_handle interrupted);
  Pool.start ();
  match List.tl (Array.to_list Sys.argv) with
  | config :: "update" :: args -> update config args
  | _ -> usage ()
