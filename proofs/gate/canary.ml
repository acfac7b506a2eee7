(** Every prover is given a goal that is true and one that is false, those of
    [proofs/provers/check.mlw], through Why3 as any other: who says [Valid] to both says nothing. *)

open Why3
open Json_base

let source = "proofs/provers/check.mlw"
let seconds = 10

type run = { goal : string; task : Task.task; prover : Whyconf.config_prover }

let goals (project : Project.t) =
  let file = Filename.concat project.root source in
  let modules, _ = Env.read_file Pmodule.mlw_language project.env file in
  let tasks (m : Pmodule.pmodule) = List.rev (Task.split_theory m.mod_theory None None) in
  List.concat_map tasks (Wstdlib.Mstr.values modules)

let runs (project : Project.t) =
  let all = goals project in
  let run prover task =
    { goal = (Task.task_goal task).Decl.pr_name.Ident.id_string; task; prover }
  in
  List.concat_map (fun p -> List.map (run p) all) (Project.provers project.config)

let start (project : Project.t) run =
  let driver = Whyconf.load_driver project.main project.env run.prover in
  Pool.submit project (run.prover, driver) ~seconds run.task

(** What each prover answers to each goal. *)
let answers project =
  let all = runs project and answers = ref [] in
  let finished run (result : Call_provers.prover_result) =
    answers := (run, result.pr_answer) :: !answers;
    `Go_on
  in
  Pool.run project ~wanted:(fun _ -> true) ~start:(start project) ~finished all;
  !answers

let facts answers (prover : Whyconf.prover) =
  let fact (run, answer) =
    let text = Format.asprintf "@[<h>%a@]" Call_provers.print_prover_answer answer in
    Record [ ("goal", String run.goal); ("answer", String text) ]
  in
  let own (run, _) = run.prover.Whyconf.prover = prover in
  List (List.sort compare (List.map fact (List.filter own answers)))
