(** One theory's session, loaded and merged with the theory's present source. *)

open Why3
open Session_itp

type t = {
  theory : string;  (** [why3/shape.mlw] *)
  dir : string;  (** [proofs/shape] *)
  controller : Controller_itp.controller;
  errors : string list;  (** of reading the session, and of parsing and typing the source *)
}

let tree t = t.controller.Controller_itp.controller_session

let read_stored dir =
  match load_session dir with
  | stored -> (stored, [])
  | exception (Sys_error m | Failure m) -> (empty_session dir, [ m ])
  | exception Sys.Break -> raise Sys.Break
  | exception e -> (empty_session dir, [ Project.message e ])

(** [forget]: as if there were no stored session. *)
let load ?(forget = false) (project : Project.t) theory =
  let dir = Project.session_dir theory in
  let absolute = Filename.concat project.root dir in
  let source = Filename.concat project.root theory in
  let stored, read_errors = if forget then (empty_session absolute, []) else read_stored absolute in
  let controller = Controller_itp.create_controller project.config project.env stored in
  let reload () =
    if Hfile.length (get_files stored) = 0 then Controller_itp.add_file controller source
    else ignore (Controller_itp.reload_files controller)
  in
  let source_errors =
    match reload () with
    | () -> []
    | exception Sys.Break -> raise Sys.Break
    | exception e -> Project.errors project e
  in
  { theory; dir; controller; errors = read_errors @ source_errors }

(** A prover with the driver that the controller loaded for it, if it is configured. *)
let find_prover t prover = Whyconf.Hprover.find_opt t.controller.controller_provers prover

(** The parts that a goal's name has after its module: [pad'vc], or [Scope.pad'vc]. *)
let goal_name session id =
  let name = get_proof_name session id in
  match Theory.restore_path name with
  | _, _, (_ :: _ as parts) -> String.concat "." parts
  | _ | (exception Not_found) -> name.Ident.id_string

let module_name th = (theory_name th).Ident.id_string

let files t =
  Hfile.fold (fun _ f acc -> f :: acc) (get_files (tree t)) []

let theories t = List.concat_map file_theories (files t)

(** Top-level goals of the present source, with their module, for each module. *)
let goals_by_module t =
  let s = tree t in
  let live id = not (is_detached s (APn id)) in
  List.map
    (fun th -> List.map (fun id -> (th, id)) (List.filter live (theory_goals th)))
    (List.filter (fun th -> not (is_detached s (ATh th))) (theories t))

let goals t = List.concat (goals_by_module t)

(** Where a goal stands: its own place for a top-level goal, the formula's for a part of one. *)
let goal_loc ~root session id =
  match get_task session id with
  | exception Not_found -> None
  | task ->
      if root then (Task.task_goal task).Decl.pr_name.Ident.id_loc
      else (Task.task_goal_fmla task).Term.t_loc
