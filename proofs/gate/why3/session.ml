(** One theory's session, loaded and merged with the theory's present source. *)

open Why3
open Session_itp

type t = {
  theory : string;  (** [why3/core/shape.mlw] *)
  dir : string;  (** [proofs/sessions/core/shape] *)
  controller : Controller_itp.controller;
  errors : string list;  (** of reading the session, and of parsing and typing the source *)
}

let tree t = t.controller.Controller_itp.controller_session

let files session = Hfile.fold (fun _ f found -> f :: found) (get_files session) []

(** What is stored, unless it is of another file, or of the theory as a text in another language. *)
let read_stored project theory dir =
  let source stored f = Project.relative project (system_path stored f) ^ " as " ^ file_format f in
  match Project.attempt (fun () -> load_session dir) with
  | Ok stored -> (
      let is_other source = source <> theory ^ " as whyml" in
      match List.filter is_other (List.map (source stored) (files stored)) with
      | [] -> (stored, [])
      | other :: _ -> (empty_session dir, [ "the session is of " ^ other ]))
  | Error e -> (empty_session dir, [ Project.message e ])

let load (project : Project.t) theory =
  let dir = Project.session_dir theory in
  let stored, read_errors = read_stored project theory (Project.absolute project dir) in
  (* [Prover] loads the drivers, those that are needed. *)
  let without_provers = Whyconf.set_provers project.config Whyconf.Mprover.empty in
  let controller = Controller_itp.create_controller without_provers project.env stored in
  let reload () =
    if files stored = [] then
      Controller_itp.add_file controller (Project.absolute project theory)
    else ignore (Controller_itp.reload_files controller)
  in
  let source_errors =
    match Project.attempt reload with Ok () -> [] | Error e -> Project.errors project e
  in
  { theory; dir; controller; errors = read_errors @ source_errors }

(** The parts that a goal's name has after its module: [pad'vc], or [Scope.pad'vc]. *)
let goal_name session id = Name.with_scopes (get_proof_name session id)

let module_name th = (theory_name th).Ident.id_string

(** Top-level goals of the present source, with their module. *)
let goals t =
  let s = tree t in
  let live th id = if is_detached s (APn id) then None else Some (th, id) in
  let of_theory th =
    if is_detached s (ATh th) then [] else List.filter_map (live th) (theory_goals th)
  in
  List.concat_map of_theory (List.concat_map file_theories (files s))

let full_name t (th, id) = module_name th ^ "." ^ goal_name (tree t) id

let is_keep s node = get_transf_name s node = Keep.transformation

(** Those that the present source has. *)
let live_transformations s id =
  List.filter (fun node -> not (is_detached s (ATn node))) (get_transformations s id)

(** What the present source does not have; not what is below that. *)
let detached s =
  let is_lost any = is_detached s any in
  let is_below any = Option.fold ~none:false ~some:is_lost (get_any_parent s any) in
  let add found any = if is_lost any && not (is_below any) then any :: found else found in
  List.rev (fold_all_session s add [])

(** What a recorded proof took. *)
let seconds (a : proof_attempt_node) =
  Option.fold ~none:0. ~some:(fun r -> r.Call_provers.pr_time) a.proof_state

(** Where a goal stands: its own place for a top-level goal, the formula's for a part of one, if that
    has a place. *)
let goal_loc ~root session id =
  let task = get_task session id in
  match (Task.task_goal_fmla task).t_loc with
  | Some loc when not root -> Some loc
  | _ -> (Task.task_goal task).pr_name.id_loc
