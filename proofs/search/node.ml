(** A goal's node in a session: the proofs it has, its transformations, and how to change both. *)

open Why3
open Session_itp

type proof = { prover : Whyconf.prover; seconds : float }

(** Nobody else watches the session. *)
let silent _ = ()

(** {1 Proofs} *)

let families proofs = List.sort_uniq compare (List.map (fun p -> Project.family p.prover) proofs)
let redundant proofs = List.length (families proofs) >= 2

(** The attempts that proved the node, obsolete or not. *)
let valid_attempts s id =
  let is_valid (a : proof_attempt_node) =
    match a.proof_state with Some { pr_answer = Valid; _ } -> true | _ -> false
  in
  List.filter is_valid (get_proof_attempts s id)

let proof_of (a : proof_attempt_node) = { prover = a.prover; seconds = Session.seconds a }

let remove_attempts s id =
  let remove (a : proof_attempt_node) = remove_proof_attempt s id a.prover in
  List.iter remove (get_proof_attempts s id)

(** {1 Transformations} *)

(** The one transformation that is used, and that the gate knows as sound. *)
let split_name = "split_vc"

(** The parts of a task: less than two if it cannot be split. Why3's split raises where names of
    hypotheses meet. *)
let parts env task =
  match Project.attempt (fun () -> Trans.apply_transform split_name env task) with
  | Ok parts -> parts
  | Error _ -> []

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

(** The goal with what is named of its context. *)
let keep s env id names =
  let tasks = apply_trans_to_goal ~allow_no_effect:true s env Keep.transformation names id in
  let node = graft_transf s id Keep.transformation names tasks in
  (node, List.hd (get_sub_tasks s node))

(** With all that is below. *)
let remove s any = remove_subtree ~notification:silent ~removed:silent s any

let remove_transformations s = List.iter (fun node -> remove s (ATn node))
