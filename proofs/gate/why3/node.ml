(** A goal's node in a session: the proofs it has, its transformations, and how to change both. *)

open Why3
open Session_itp

type proof = { prover : Whyconf.prover; seconds : float }

(** Written into the session for every proof, so that a session does not change with the limit at
    which a proof happened to be found. A replay takes its limits from the recorded seconds. *)
let recorded_limit = { Call_provers.empty_limit with limit_time = 15; limit_mem = 2000 }

(** Nobody else watches the session. *)
let silent _ = ()

(** {1 Proofs} *)

let families proofs = List.sort_uniq compare (List.map (fun p -> Project.family p.prover) proofs)
let redundant proofs = List.length (families proofs) >= 2

let seconds (a : proof_attempt_node) =
  Option.fold ~none:0. ~some:(fun r -> r.Call_provers.pr_time) a.proof_state

(** The attempts that proved the node, obsolete or not. *)
let valid_attempts s id =
  let is_valid (a : proof_attempt_node) =
    match a.proof_state with Some { pr_answer = Valid; _ } -> true | _ -> false
  in
  List.filter is_valid (get_proof_attempts s id)

let proof_of (a : proof_attempt_node) = { prover = a.prover; seconds = seconds a }

let remove_attempts s id =
  let remove (a : proof_attempt_node) = remove_proof_attempt s id a.prover in
  List.iter remove (get_proof_attempts s id)

(** The fastest proof, and the fastest of another family. *)
let best proofs =
  let faster a b = compare a.seconds b.seconds in
  match List.sort faster proofs with
  | [] -> []
  | first :: rest -> (
      let other p = Project.family p.prover <> Project.family first.prover in
      match List.find_opt other rest with None -> [ first ] | Some second -> [ first; second ])

(** Stores the best proofs. *)
let record s id proofs =
  let put { prover; seconds } =
    ignore (graft_proof_attempt s id prover ~limit:recorded_limit);
    let result =
      { Call_provers.pr_answer = Valid; pr_status = WEXITED 0; pr_output = ""; pr_time = seconds;
        pr_steps = -1; pr_models = [] }
    in
    update_proof_attempt silent s id prover result
  in
  List.iter put (best proofs);
  update_goal_node silent s id

(** {1 Transformations} *)

(** The one transformation that is used, and that the gate knows as sound. *)
let split_name = "split_vc"

(** The parts of a goal; nothing if it cannot be split. A split into one part changes nothing but the
    names of the hypotheses. What a transformation raises where it does not apply is not documented:
    anything is taken for it. *)
let split s env id =
  let apply () = apply_trans_to_goal ~allow_no_effect:false s env split_name [] id in
  match Project.attempt apply with
  | Error _ | Ok [ _ ] -> None
  | Ok tasks ->
      let node = graft_transf s id split_name [] tasks in
      Some (node, get_sub_tasks s node)

let is_keep s node = get_transf_name s node = Keep.transformation

(** Those that the present source has. *)
let live_transformations s id =
  List.filter (fun node -> not (is_detached s (ATn node))) (get_transformations s id)

(** The goal with what is named of its context. *)
let keep s env id names =
  let tasks = apply_trans_to_goal ~allow_no_effect:true s env Keep.transformation names id in
  let node = graft_transf s id Keep.transformation names tasks in
  (node, List.hd (get_sub_tasks s node))

(** With all that is below. *)
let remove s any = remove_subtree ~notification:silent ~removed:silent s any

let remove_transformations s = List.iter (fun node -> remove s (ATn node))

(** What the present source does not have; not what is below that. *)
let detached s =
  let is_lost any = is_detached s any in
  let is_top any = is_lost any && not (Option.fold ~none:false ~some:is_lost (get_any_parent s any)) in
  List.rev (fold_all_session s (fun found any -> if is_top any then any :: found else found) [])

(** {1 What is left to prove} *)

(** A part of a goal without a proof, or with proofs of one family: [by] these provers. *)
type leaf = { id : proofNodeID; root : bool; by : string list }

let rec weak_leaves ?(root = true) s id =
  let leaf by = [ { id; root; by } ] in
  match (List.map proof_of (valid_attempts s id), get_transformations s id) with
  | [], [] -> leaf []
  | [], nodes ->
      let parts = List.concat_map (get_sub_tasks s) nodes in
      List.concat_map (weak_leaves ~root:false s) parts
  | proofs, _ when redundant proofs -> []
  | proofs, _ -> leaf (List.map (fun p -> p.prover.prover_name) proofs)
