(** The command [mutant]: does a goal of a theory notice a change?

    It runs in a tree of its own, whose theories have one change; [original] is the tree without the
    change, with the recorded proofs. A task that the change does not reach is not run again. The
    provers try each changed task, with three times the recorded seconds. A goal notices the change
    if it has a part that no prover proves.

    The answer is one JSON value: the verdict, the goal that notices, and the part of it. *)

open Why3
open Json

(** The limit, as a multiple of the recorded seconds. *)
let factor = 3.

(** Limits are whole seconds, so one is the least. *)
let limit longest = Prover.Seconds (max 1 (int_of_float (ceil (factor *. longest))))

let rec recorded r =
  let r = Record.mine r in
  Record.own r @ List.concat_map recorded (Record.below r.step)

let seconds proofs = List.map (fun p -> p.Record.seconds) proofs
let longest = List.fold_left max 0.

(** {1 Trying again} *)

let proves ~longest task prover = Prover.is_valid (Prover.ask prover (limit longest) task)

(** Asks the provers one at a time (other cores work on other mutants), first those of [before]. *)
let is_proved ?(before = []) (project : Project.t) ~longest task =
  let is_first p = List.mem (Prover.name p) (List.map (fun p -> p.Record.prover) before) in
  let first, rest = List.partition is_first (Prover.all project) in
  List.exists (proves ~longest task) (first @ rest)

(** Whether the task is proved, whole or in parts. *)
let rec is_proved_somehow project ~longest task =
  is_proved project ~longest task
  ||
  match Project.attempt (fun () -> Split.parts project task) with
  | Error _ | Ok ([] | [ _ ]) -> false
  | Ok parts -> List.for_all (is_proved_somehow project ~longest) parts

let sum = Termcode.task_checksum ?version:None

(** The changed parts of a task: no former part has their checksum. If the record has as many parts
    as the task, each changed part comes with the former part and the record at its place. *)
let changed_parts project task before records =
  let old = Option.fold ~none:[] ~some:(Split.parts project) before in
  let sums = List.map sum old in
  let parts = Split.parts project task in
  let fits = List.compare_lengths parts records = 0 in
  let pair i part =
    if List.mem (sum part) sums then None
    else if fits then Some (part, List.nth_opt old i, List.nth records i)
    else Some (part, None, Record.nothing)
  in
  List.filter_map Fun.id (List.mapi pair parts)

(** The first part of a goal, if any, that no prover proves any more; [before]: the former task;
    [otherwise]: the seconds for parts without a record. *)
let rec unproved project ~otherwise ~root (task, before, r) =
  let r = Record.mine r in
  let proofs = Record.own r in
  if Option.map sum before = Some (sum task) then None
  else
    match r.step with
    | Some (Keep (names, r)) when proofs = [] -> (
        let keep task = Keep.keep (Prove.known_in task (Cores.Names.of_list names)) task in
        match unproved project ~otherwise ~root:false (keep task, Option.map keep before, r) with
        (* The changed theory may need hypotheses that the recorded proof does not name. *)
        | Some _ when is_proved_somehow project ~longest:otherwise task -> None
        | found -> found)
    | Some (Split records) when proofs = [] ->
        List.find_map (unproved project ~otherwise ~root:false) (changed_parts project task before records)
    | _ ->
        let longest = if proofs = [] then otherwise else longest (seconds proofs) in
        if is_proved ~before:proofs project ~longest task then None else Some (task, root)

(** {1 The verdict} *)

(** [postcondition, why3/core/shape.mlw:42]; a whole goal has the place of its name. *)
let describe project (task, root) =
  let explanation = match Goals.explanation ~root task with "" -> [] | text -> [ text ] in
  let place = Option.map (Project.place project) (Goals.place ~root task) in
  String.concat ", " (explanation @ Option.to_list place)

let verdict word goal part =
  Record [ ("verdict", String word); ("goal", text goal); ("part", String part) ]

let notices project before recorded_proofs (goal : Goals.goal) =
  let name = Goals.full_name goal in
  let r = recorded_proofs name in
  let before = Option.map (fun (g : Goals.goal) -> g.task) (before name) in
  let otherwise = longest (seconds (recorded r)) in
  let killed part = verdict "killed" (Some name) (describe project part) in
  Option.map killed (unproved project ~otherwise ~root:true (goal.task, before, r))

(** Tries the goals, [named] first, then from fast to slow. *)
let in_theory project original named theory =
  let found name l = List.find_opt (fun goal -> Goals.full_name goal = name) l in
  match Project.attempt (fun () -> Goals.of_theory project theory) with
  | Error e -> Some (verdict "does not type-check" None (List.hd (Project.errors project e)))
  | Ok goals ->
      let known = (Record.read (Project.absolute original (Project.session_file theory))).goals in
      let recorded_proofs name = Option.value (List.assoc_opt name known) ~default:Record.nothing in
      let before = Goals.of_theory original theory in
      let price goal =
        let name = Goals.full_name goal in
        (Some name <> named, List.fold_left ( +. ) 0. (seconds (recorded (recorded_proofs name))))
      in
      let in_order = List.stable_sort (fun a b -> compare (price a) (price b)) goals in
      List.find_map (notices project (fun name -> found name before) recorded_proofs) in_order

let facts project original named theories =
  match List.find_map (in_theory project (Project.at original project) named) theories with
  | Some found -> found
  | None -> verdict "survived" None ""
