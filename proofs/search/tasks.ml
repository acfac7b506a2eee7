(** The command [tasks] writes a file for CVC5 for each part of a theory's goals, as in a replay,
    and prints a list of the parts as JSON. *)

open Why3
open Json

(** The parts of a goal that a prover has to prove, named as in a replay. *)
let rec parts project name task known =
  let r = Record.mine known in
  match r.step with
  | Some (Keep (names, below)) when Record.own r = [] ->
      parts project (Goals.part_name name 0) (Keep.keep names task) below
  | Some (Split records) when Record.own r = [] ->
      let part i (task, r) = parts project (Goals.part_name name i) task r in
      List.concat (List.mapi part (Replay.pairs (Split.parts project task) records))
  | _ -> [ (name, task) ]

let facts project folder theory =
  let recorded = (Record.read (Project.absolute project (Project.session_file theory))).goals in
  let by = Option.get (Prover.find project "CVC5") in
  let write goal i (name, task) =
    let file = Printf.sprintf "%s.%d.smt2" goal i in
    Sysutil.write_file (Filename.concat folder file) (Prover.printed by task);
    Record [ ("goal", String goal); ("part", String name); ("file", String file) ]
  in
  let of_goal (goal : Goals.goal) =
    let name = Goals.full_name goal in
    let known = Option.value (List.assoc_opt name recorded) ~default:Record.nothing in
    List.mapi (write name) (parts project goal.name goal.task known)
  in
  List (List.concat_map of_goal (Goals.of_theory project theory))
