(** Every prover gets a true goal and a false goal. If it calls both [Valid], its answers mean
    nothing. *)

open Why3
open Json

let answer prover task =
  let goal = (Task.task_goal task).Decl.pr_name.Ident.id_string in
  Record [ ("goal", String goal); ("answer", String (Prover.ask prover (Seconds 10) task).text) ]

let facts (project : Project.t) =
  let file = Project.absolute project "proofs/gate/check.mlw" in
  let modules, _ = Env.read_file Pmodule.mlw_language project.env file in
  let tasks (m : Pmodule.pmodule) = Task.split_theory m.mod_theory None None in
  let goals = List.concat_map tasks (Wstdlib.Mstr.values modules) in
  let prover_facts (p : Prover.t) =
    let prover = p.prover.prover in
    Record
      [ ("name", String prover.prover_name); ("version", String prover.prover_version);
        ("family", String (Record.family prover.prover_name)); ("command", String p.prover.command);
        ("driver", String (Api.driver_name p.prover)); ("canary", List (List.map (answer p) goals)) ]
  in
  List (List.map prover_facts (Prover.all project))
