(** The one program that sees theories, sessions and provers: through Why3's own library.

    Run in the root of the tree (the Python of [assurance] does):
    [whygate CONFIG TOOLS audit THEORY.mlw ...]
    [whygate CONFIG TOOLS replay THEORY.mlw]
    [whygate CONFIG TOOLS update [--only PART] [--quick | --thorough] [--fresh] [--retry] THEORY.mlw]
    [whygate CONFIG TOOLS mutant [--goal MODULE.GOAL] THEORY.mlw ...]
    [whygate CONFIG TOOLS contracts programs|operations MODULE ...]

    [TOOLS] is the hash of what decides an answer, under which answers of provers are kept in the file
    that the environment names as [WHYGATE_ANSWERS], if it does. [audit] tells what all theories state
    and take for granted, [replay] what the provers say now to the session of a theory, [contracts]
    gives the contracts of some modules as Python: all three print one JSON value. A process has one
    theory: what Why3 makes of it may depend on what the process has read before. Exit status: 0; of [update] 1 if something is not proved, 3 if [--only] chose nothing; 2 for a
    wrong call; 130 when interrupted. *)

open Why3.Json_base

let usage () =
  prerr_endline "usage: whygate CONFIG TOOLS audit|replay|update|mutant|contracts [options] NAME ...";
  exit 2

let print value = print_endline (Json.to_string value)

let audit project files =
  let modules = List.map (fun file -> (file, Audit.modules project file)) files in
  let symbols (file, found) =
    let of_module m = List.map (Statement.facts project file m) (Statement.of_module project m) in
    List.concat_map of_module (Result.value found ~default:[])
  in
  print
    (Record
       ([ ("provers", Canary.facts project);
          ("theories", List (List.map (fun (file, m) -> Audit.facts project file m) modules));
          ("symbols", List (List.concat_map symbols modules)) ]
       @ Library.facts project modules @ Witness.facts project modules))

let contracts project ~all names =
  match Contract.facts project ~all names with
  | Ok found -> print found
  | Error errors ->
      List.iter prerr_endline errors;
      exit 1

let update project args =
  let none = { Update.only = None; effort = Prove.Normal; forget = false; retry = false } in
  let rec parse options = function
    | "--only" :: part :: rest -> parse { options with Update.only = Some part } rest
    | "--quick" :: rest -> parse { options with effort = Prove.Quick } rest
    | "--thorough" :: rest -> parse { options with effort = Prove.Thorough } rest
    | "--fresh" :: rest -> parse { options with forget = true } rest
    | "--retry" :: rest -> parse { options with retry = true } rest
    | [ file ] -> Update.run project options file
    | _ -> usage ()
  in
  exit (parse none args)

(** Most of what this program makes, the task that a prover is to read, lives for a moment: it fits
    into a minor heap of eight megabytes. What lives longer stays to the end. *)
let tune_collector () =
  Gc.set { (Gc.get ()) with minor_heap_size = 1_000_000; space_overhead = 400 }

let () =
  tune_collector ();
  let interrupted _ = raise Sys.Break in
  Sys.set_signal Sys.sigint (Signal_handle interrupted);
  Sys.set_signal Sys.sigterm (Signal_handle interrupted);
  try
    match List.tl (Array.to_list Sys.argv) with
    | config_file :: tools :: command :: args -> (
        Prover.tools := tools;
        Option.iter Prover.keep_in (Sys.getenv_opt "WHYGATE_ANSWERS");
        let project = Project.load ~config_file in
        match (command, args) with
        | "audit", files -> audit project files
        | "replay", [ file ] -> print (Replay.facts project file)
        | "update", args -> update project args
        | "mutant", "--goal" :: goal :: files -> print (Mutant.facts project (Some goal) files)
        | "mutant", files -> print (Mutant.facts project None files)
        | "contracts", "programs" :: names -> contracts project ~all:false names
        | "contracts", "operations" :: names -> contracts project ~all:true names
        | _ -> usage ())
    | _ -> usage ()
  with Sys.Break -> exit 130
