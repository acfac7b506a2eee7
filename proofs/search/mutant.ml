(** The command [mutant]: does a goal of a theory notice that something has been changed?

    Runs in a tree of its own, whose theories hold one change and whose sessions are those of the
    theories as they were. What the change does not reach keeps its proofs: by the task's checksum,
    nothing is run for it. What it reaches is tried again by every prover, with three times what
    the recorded proof took. A goal notices the change if one of its parts, as the session takes it
    apart, is then proved by none.

    The answer is one JSON value: the verdict, the goal that notices, and the part of it. *)

open Why3
open Session_itp
open Json

(** Of the recorded seconds. *)
let factor = 3.

(** Limits are whole seconds, so one is the least. *)
let limit longest = Prover.Seconds (max 1 (int_of_float (ceil (factor *. longest))))

let tree = Session.tree

(** The seconds of all proofs of a goal, those of parts that are gone included. *)
let recorded_below t id =
  let add acc = function
    | APa attempt -> Session.seconds (get_proof_attempt_node (tree t) attempt) :: acc
    | AFile _ | ATh _ | ATn _ | APn _ -> acc
  in
  fold_all_any (tree t) add [] (APn id)

let longest = List.fold_left max 0.

(** {1 Trying again} *)

(** One prover after the other, as the other core works at another mutant. *)
let proves ~longest task prover = Prover.is_valid (Prover.ask prover (limit longest) task)

(** Those that proved it before come first. *)
let is_proved project t id ~longest =
  let before = List.map (fun (a : proof_attempt_node) -> a.prover) (Node.valid_attempts (tree t) id) in
  let is_first (p : Prover.t) = List.mem p.prover.prover before in
  let first, rest = List.partition is_first (Prover.all project) in
  List.exists (proves ~longest (get_task (tree t) id)) (first @ rest)

(** With all of its context, whole or in parts. *)
let rec is_proved_somehow (project : Project.t) ~longest task =
  List.exists (proves ~longest task) (Prover.all project)
  ||
  match Node.parts project.env task with
  | [] | [ _ ] -> false
  | parts -> List.for_all (is_proved_somehow project ~longest) parts

(** The part of a goal, as the session takes it apart, that nobody proves any more; [otherwise]
    stands for the seconds of parts that the session does not know. *)
let rec unproved project t ~otherwise id =
  let s = tree t in
  let is_current (a : proof_attempt_node) = not a.proof_obsolete in
  let recorded = Node.valid_attempts s id in
  if List.exists is_current recorded then None
  else
    match Session.live_transformations s id with
    | [] ->
        let longest = if recorded = [] then otherwise else longest (List.map Session.seconds recorded) in
        if is_proved project t id ~longest then None else Some id
    | node :: _ ->
        let live part = not (is_detached s (APn part)) in
        let parts = List.filter live (get_sub_tasks s node) in
        let found = List.find_map (unproved project t ~otherwise) parts in
        (* What the proof does not need of the theory as it was may be needed now. *)
        let is_small = found <> None && Session.is_keep s node in
        if is_small && is_proved_somehow project ~longest:otherwise (get_task s id) then None
        else found

(** {1 The verdict} *)

(** [postcondition, why3/core/shape.mlw:42]; a lemma is one formula and its place that of its name. *)
let describe project t ~top id =
  let place = Session.goal_loc ~root:(id = top) (tree t) id in
  let explanation = match get_proof_expl (tree t) id with "" -> [] | text -> [ text ] in
  String.concat ", " (explanation @ Option.to_list (Option.map (Project.place project) place))

let notices project t (th, top) =
  let otherwise = longest (recorded_below t top) in
  let killed id =
    Record
      [ ("verdict", String "killed"); ("goal", String (Session.full_name t (th, top)));
        ("part", String (describe project t ~top id)) ]
  in
  Option.map killed (unproved project t ~otherwise top)

(** The goals, [named] first and then from cheap to dear. *)
let in_order t named =
  let price (th, id) =
    ( Some (Session.full_name t (th, id)) <> named,
      List.fold_left ( +. ) 0. (recorded_below t id) )
  in
  let cheaper a b = compare (price a) (price b) in
  List.stable_sort cheaper (Session.goals t)

let in_theory project named theory =
  let t = Session.load project theory in
  match t.errors with
  | [] -> List.find_map (notices project t) (in_order t named)
  | first :: _ ->
      Some
        (Record
           [ ("verdict", String "does not type-check"); ("goal", Null); ("part", String first) ])

let facts project named theories =
  match List.find_map (in_theory project named) theories with
  | Some found -> found
  | None -> Record [ ("verdict", String "survived"); ("goal", Null); ("part", String "") ]
