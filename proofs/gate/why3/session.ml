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
  | Error (Sys_error m | Failure m) -> (empty_session dir, [ m ])
  | Error e -> (empty_session dir, [ Project.message e ])

(** [forget]: as if there were no stored session. *)
let load ?(forget = false) (project : Project.t) theory =
  let dir = Project.session_dir theory in
  let full = Project.absolute project dir in
  let stored, read_errors =
    if forget then (empty_session full, []) else read_stored project theory full
  in
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

(** Where a goal stands: its own place for a top-level goal, the formula's for a part of one, if that
    has a place. *)
let goal_loc ~root session id =
  match get_task session id with
  | exception Not_found -> None
  | task -> (
      match (Task.task_goal_fmla task).Term.t_loc with
      | Some loc when not root -> Some loc
      | _ -> (Task.task_goal task).Decl.pr_name.Ident.id_loc)
