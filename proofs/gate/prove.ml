(** [update]: finds proofs and keeps them in the session.

    For every part of a goal two proofs are wanted, by provers of different families; one is enough
    to call it proved. The order of the search, from cheap to dear:
    - what the session has and is not obsolete stays; obsolete proofs are tried first where they were;
    - the goal whole, briefly; else [split_vc] and each part in the same way;
    - a part that no split takes further: longer limits, then other transformations.

    What failed is remembered in [build/gate/failures] by the task's checksum, so that the next
    update does not wait for it again. *)

open Why3
open Session_itp

(** Seconds. Most goals are proved in well under one; the longest is half of the shortest limit
    that the gate's replay grants. A goal that can be split gets a glance only. *)
let glance = 1

let brief = 2

let longer = [ 5; 15 ]

(** Written into the session for every proof, so that a session does not change with the limit at
    which a proof happened to be found. The gate takes its limits from the recorded seconds. *)
let recorded_limit = Pool.limit 15

(** For a part that resists. Each may split it further or change its shape. *)
let other_transformations = [ "split_all_full"; "introduce_premises"; "inline_goal" ]

type effort = Quick | Normal | Thorough

type t = {
  project : Project.t;
  session : Session.t;
  effort : effort;
  failures : Failures.t;
  log : string -> unit;
}

let tree t = Session.tree t.session
let silent _ = ()

type proof = { prover : Whyconf.prover; result : Call_provers.prover_result }

let families proofs = List.sort_uniq compare (List.map (fun p -> Project.family p.prover) proofs)
let redundant proofs = List.length (families proofs) >= 2

(** {1 What a node has} *)

let is_valid (a : proof_attempt_node) =
  match a.proof_state with Some { pr_answer = Call_provers.Valid; _ } -> true | _ -> false

let installed t prover =
  Whyconf.Hprover.mem t.session.controller.Controller_itp.controller_provers prover

let attempt_provers t id =
  Whyconf.Hprover.fold (fun prover _ acc -> prover :: acc) (get_proof_attempt_ids (tree t) id) []

(** Why3's [remove_transformation] leaves the attempts below in the session's tables, from where
    they would get into the saved list of provers. *)
let rec remove t node =
  let clear id =
    List.iter (remove_proof_attempt (tree t) id) (attempt_provers t id);
    List.iter (remove t) (get_transformations (tree t) id)
  in
  List.iter clear (get_sub_tasks (tree t) node);
  remove_transformation (tree t) node

(** Removes every attempt of the node; gives the proofs that still hold, and the provers whose
    proofs are obsolete. *)
let take_attempts t id =
  let attempts = List.filter is_valid (get_proof_attempts (tree t) id) in
  List.iter (remove_proof_attempt (tree t) id) (attempt_provers t id);
  let known = List.filter (fun (a : proof_attempt_node) -> installed t a.prover) attempts in
  let obsolete, current = List.partition (fun (a : proof_attempt_node) -> a.proof_obsolete) known in
  ( List.map (fun (a : proof_attempt_node) -> { prover = a.prover; result = Option.get a.proof_state }) current,
    List.map (fun (a : proof_attempt_node) -> a.prover) obsolete )

(** The fastest proof, and the fastest of another family. *)
let best proofs =
  let faster a b = compare a.result.Call_provers.pr_time b.result.Call_provers.pr_time in
  match List.sort faster proofs with
  | [] -> []
  | first :: rest -> (
      let other p = Project.family p.prover <> Project.family first.prover in
      match List.find_opt other rest with None -> [ first ] | Some second -> [ first; second ])

(** Steps and the prover's output are left out: they differ between machines. *)
let record t id proofs =
  let put p =
    ignore (graft_proof_attempt (tree t) id p.prover ~limit:recorded_limit);
    update_proof_attempt silent (tree t) id p.prover { p.result with pr_steps = -1; pr_output = "" }
  in
  List.iter put (best proofs);
  update_goal_node silent (tree t) id

(** {1 Running provers} *)

(** Configured provers, those in [first] in front. *)
let candidates t first =
  let is_first (p : Whyconf.config_prover) = List.mem p.prover first in
  let before, after = List.partition is_first (Project.provers t.project.config) in
  before @ after

(** Runs the provers on a node for at most [seconds] each, until two families have proved it, or
    [patience] of them have failed and none has proved it. *)
let race ?(patience = max_int) t id ~seconds ~first proofs =
  let task = get_task (tree t) id in
  let proofs = ref proofs and failed = ref 0 in
  let wanted (p : Whyconf.config_prover) =
    (not (List.mem (Project.family p.prover) (families !proofs)))
    && not (Failures.mem t.failures task p.prover ~seconds)
  in
  let start (p : Whyconf.config_prover) =
    let configured = Whyconf.Hprover.find t.session.controller.Controller_itp.controller_provers p.prover in
    Pool.submit t.project configured ~seconds task
  in
  let finished (p : Whyconf.config_prover) (result : Call_provers.prover_result) =
    (match result.pr_answer with
    | Call_provers.Valid -> proofs := { prover = p.prover; result } :: !proofs
    | answer ->
        incr failed;
        Failures.add t.failures task p.prover ~seconds answer);
    if redundant !proofs || (!proofs = [] && !failed >= patience) then `Stop else `Go_on
  in
  if not (redundant !proofs) then Pool.run t.project ~wanted ~start ~finished (candidates t first);
  !proofs

(** {1 The search} *)

(** Grafts the transformation if it applies and changes the goal; its parts, else nothing. What a
    transformation raises where it does not apply is not documented, so anything is taken for it. *)
let split t id name =
  let s = tree t in
  match apply_trans_to_goal ~allow_no_effect:false s t.project.env name [] id with
  | tasks ->
      let node = graft_transf s id name [] tasks in
      Some (node, get_sub_tasks s node)
  | exception ((Sys.Break | Out_of_memory) as e) -> raise e
  | exception _ -> None

let proved t id = pn_proved (tree t) id

let drop t id node =
  remove t node;
  update_goal_node silent (tree t) id

(** A split into one part changes nothing but the names of the hypotheses. *)
let split_into_several t id =
  match split t id "split_vc" with
  | Some (node, [ _ ]) ->
      drop t id node;
      None
  | outcome -> outcome

let rec search t id ~first proofs =
  match split_into_several t id with
  | None ->
      let proofs = race t id ~seconds:brief ~first proofs in
      if redundant proofs then record t id proofs else insist t id proofs
  | Some (node, parts) ->
      let proofs = race t id ~patience:2 ~seconds:glance ~first proofs in
      if redundant proofs then begin
        drop t id node;
        record t id proofs
      end
      else begin
        List.iter (fun part -> search t part ~first:[] []) parts;
        update_trans_node silent (tree t) node;
        if proofs <> [] && not (tn_proved (tree t) node) then begin
          drop t id node;
          insist t id proofs
        end
      end

(** Longer limits. A second family is worth the middle limit; an unproved part all that there is. *)
and insist t id proofs =
  let worth proofs seconds =
    match t.effort with
    | Quick -> false
    | Normal -> proofs = [] || seconds <= List.hd longer
    | Thorough -> true
  in
  let step proofs seconds =
    if worth proofs seconds then race t id ~seconds ~first:[] proofs else proofs
  in
  let proofs = List.fold_left step proofs longer in
  if proofs <> [] then record t id proofs
  else transform t id (if t.effort = Quick then [] else other_transformations)

and transform t id = function
  | [] ->
      let s = tree t in
      t.log (Printf.sprintf "    no proof: %s [%s]" (get_proof_name s id).Ident.id_string (get_proof_expl s id))
  | name :: others -> (
      match split t id name with
      | None -> transform t id others
      | Some (node, parts) ->
          if all_proved t parts then update_trans_node silent (tree t) node
          else begin
            drop t id node;
            transform t id others
          end)

(** Tries the parts of a transformation up to the first that fails. *)
and all_proved t = function
  | [] -> true
  | part :: rest ->
      let proofs = race t part ~seconds:(List.hd longer) ~first:[] [] in
      record t part proofs;
      proofs <> [] && all_proved t rest

let rec settle t id =
  let s = tree t in
  let proofs, obsolete = take_attempts t id in
  let live, detached =
    List.partition (fun node -> not (is_detached s (ATn node))) (get_transformations s id)
  in
  List.iter (remove t) detached;
  (match live with
  | node :: spare when proofs = [] ->
      List.iter (remove t) spare;
      follow t id node
  | _ ->
      List.iter (remove t) live;
      if redundant proofs then record t id proofs else search t id ~first:obsolete proofs);
  update_goal_node silent s id

(** The stored transformation led to proofs before; where it no longer does, start afresh. *)
and follow t id node =
  let s = tree t in
  let detached, parts = List.partition (fun p -> is_detached s (APn p)) (get_sub_tasks s node) in
  if detached <> [] then remove_detached t detached;
  List.iter (settle t) parts;
  update_trans_node silent s node;
  if (not (tn_proved s node)) && get_transf_name s node <> "split_vc" then begin
    drop t id node;
    search t id ~first:[] []
  end

and remove_detached t ids =
  List.iter (fun id -> remove_subtree ~notification:silent ~removed:silent (tree t) (APn id)) ids

let remove_detached_nodes t =
  let s = tree t in
  let remove any = remove_subtree ~notification:silent ~removed:silent s any in
  let theory th =
    if is_detached s (ATh th) then remove (ATh th)
    else List.iter (fun id -> if is_detached s (APn id) then remove (APn id)) (theory_goals th)
  in
  let file f = if is_detached s (AFile f) then remove (AFile f) else List.iter theory (file_theories f) in
  List.iter file (Session.files t.session)

(** {1 What is left} *)

type leaf = { id : proofNodeID; root : bool; by : string list }

(** The parts of a goal that have no proof, or proofs of one family only. *)
let rec weak_leaves t ~root id =
  let s = tree t in
  match List.filter is_valid (get_proof_attempts s id) with
  | [] -> (
      match get_transformations s id with
      | [] -> [ { id; root; by = [] } ]
      | nodes ->
          List.concat_map (fun n -> List.concat_map (weak_leaves t ~root:false) (get_sub_tasks s n)) nodes)
  | attempts ->
      let proofs = List.map (fun (a : proof_attempt_node) -> { prover = a.prover; result = Option.get a.proof_state }) attempts in
      if redundant proofs then [] else [ { id; root; by = List.map (fun p -> p.prover.prover_name) proofs } ]
