(** The command [mutant]: does any goal notice that a theory has been changed?

    Runs in a tree of its own, whose theories hold one change and whose sessions are those of the
    theories as they were. What the change does not reach keeps its proofs: by the task's checksum,
    nothing is run for it. What it reaches is tried again by every prover, with three times what
    the recorded proof took. A goal notices the change if one of its parts, as the session takes it
    apart, is then proved by none.

    The answer is one JSON value: the verdict, the goal that notices, and the part of it. *)

open Why3
open Session_itp
open Json_base

(** Of the recorded seconds. *)
let factor = 3.

(** Why3's limits are whole seconds, so one is the least; more than this many is a machine that has
    no time for us. *)
let most = 60

type t = { project : Project.t; session : Session.t }

type verdict =
  | Ill_typed of string  (** the first error *)
  | Killed of { goal : string; part : string }
  | Survived

let tree t = Session.tree t.session

(** {1 What is recorded} *)

let seconds_of (a : proof_attempt_node) =
  match a.proof_state with None -> 0. | Some r -> r.pr_time

let recorded t id = List.map seconds_of (Node.valid_attempts (tree t) id)

(** The sum and the longest of all proofs of a goal, those of parts that are gone included. *)
let recorded_below t id =
  let add acc = function
    | APa attempt -> seconds_of (get_proof_attempt_node (tree t) attempt) :: acc
    | AFile _ | ATh _ | ATn _ | APn _ -> acc
  in
  let all = fold_all_any (tree t) add [] (APn id) in
  (List.fold_left ( +. ) 0. all, List.fold_left max 0. all)

(** {1 Trying again} *)

(** Those that proved it before come first. *)
let provers t id =
  let before = Node.valid_attempts (tree t) id in
  let is_among (p : Whyconf.config_prover) =
    List.exists (fun (a : proof_attempt_node) -> a.prover = p.prover) before
  in
  let first, rest = List.partition is_among (Project.provers t.project.config) in
  first @ rest

(** A prover may be stopped by the clock on the wall; what counts is the processor's. *)
let was_cut_short ~wanted (r : Call_provers.prover_result) =
  r.pr_answer = Call_provers.Timeout && r.pr_time < wanted

let run t id (p : Whyconf.config_prover) ~seconds =
  let answer = ref None in
  let start p =
    let configured = Option.get (Session.find_prover t.session p.Whyconf.prover) in
    Pool.submit t.project configured ~seconds (get_task (tree t) id)
  in
  let finished _ result = answer := Some result; `Stop in
  Pool.run t.project ~wanted:(fun _ -> true) ~start ~finished [ p ];
  Option.get !answer

(** One prover after the other: the other core works at another mutant. *)
let is_proved t id ~wanted =
  let rec proves ~seconds p =
    let result = run t id p ~seconds in
    if was_cut_short ~wanted result && seconds < most then proves ~seconds:(2 * seconds) p
    else result.pr_answer = Call_provers.Valid
  in
  List.exists (proves ~seconds:(max 1 (int_of_float (ceil wanted)))) (provers t id)

let rec first_failing check = function
  | [] -> None
  | part :: rest -> ( match check part with None -> first_failing check rest | found -> found)

(** The part of a goal, as the session takes it apart, that nobody proves any more; [otherwise]
    stands for the seconds of parts that the session does not know. *)
let rec unproved t ~otherwise id =
  let s = tree t in
  let is_current (a : proof_attempt_node) = not a.proof_obsolete in
  let is_live_part part = not (is_detached s (APn part)) in
  let is_live node = not (is_detached s (ATn node)) in
  if List.exists is_current (Node.valid_attempts s id) then None
  else
    match List.filter is_live (get_transformations s id) with
    | [] ->
        let proofs = recorded t id in
        let longest = if proofs = [] then otherwise else List.fold_left max 0. proofs in
        if is_proved t id ~wanted:(factor *. longest) then None else Some id
    | node :: _ ->
        let parts = List.filter is_live_part (get_sub_tasks s node) in
        first_failing (unproved t ~otherwise) parts

(** {1 Goals} *)

let full_name t (th, id) = Session.module_name th ^ "." ^ Session.goal_name (tree t) id

(** [postcondition, why3/shape.mlw:42]; a lemma is one formula and its place that of its name. *)
let describe t ~top id =
  let place =
    match Session.goal_loc ~root:(id = top) (tree t) id with
    | None -> []
    | Some loc ->
        let file, line = Project.position t.project loc in
        [ Printf.sprintf "%s:%d" file line ]
  in
  let explanation = match get_proof_expl (tree t) id with "" -> [] | text -> [ text ] in
  String.concat ", " (explanation @ place)

let notices t (th, top) =
  let _, otherwise = recorded_below t top in
  match unproved t ~otherwise top with
  | None -> None
  | Some id -> Some (Killed { goal = full_name t (th, top); part = describe t ~top id })

(** The goals but [named], from cheap to dear. *)
let others t named =
  let price (_, id) = fst (recorded_below t id) in
  let cheaper a b = compare (price a) (price b) in
  List.stable_sort cheaper
    (List.filter (fun goal -> Some (full_name t goal) <> named) (Session.goals t.session))

let well_typed t judge =
  match t.session.errors with [] -> judge () | first :: _ -> Some (Ill_typed first)

(** {1 The verdict} *)

let load project theory = { project; session = Session.load project theory }

(** The goal that should notice, then all others, theory by theory. *)
let verdict project named theories =
  let by_hint t () =
    let is_named goal = Some (full_name t goal) = named in
    first_failing (notices t) (List.filter is_named (Session.goals t.session))
  in
  let by_others t () = first_failing (notices t) (others t named) in
  let search theory =
    let t = load project theory in
    well_typed t (by_others t)
  in
  match theories with
  | [] -> Survived
  | first :: rest -> (
      let t = load project first in
      let attempts =
        [ (fun () -> well_typed t (by_hint t)); by_others t;
          (fun () -> first_failing search rest) ]
      in
      match first_failing (fun attempt -> attempt ()) attempts with
      | Some found -> found
      | None -> Survived)

let record verdict goal part =
  Record [ ("verdict", String verdict); ("goal", goal); ("part", String part) ]

let facts project named theories =
  match verdict project named theories with
  | Ill_typed error -> record "does not type-check" Null error
  | Killed { goal; part } -> record "killed" (String goal) part
  | Survived -> record "survived" Null ""
