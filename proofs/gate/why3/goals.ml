(** The goals of a theory, from its present source. *)

open Why3

type goal = {
  in_module : string;
  name : string;  (** with its scopes: [pad'vc], [Scope.pad'vc] *)
  task : Task.task;
}

let ident task = (Task.task_goal task).Decl.pr_name
let full_name goal = goal.in_module ^ "." ^ goal.name

(** The goals, in order. Why3 omits programs' goals if it reads a file as a library. *)
let of_theory (project : Project.t) theory =
  let file = Project.absolute project theory in
  let found, _ = Env.read_file Pmodule.mlw_language project.env file in
  let by_place a b = compare (Audit.place a) (Audit.place b) in
  let of_module (m : Pmodule.pmodule) =
    let goal task =
      { in_module = (Audit.id m).id_string; name = Name.with_scopes (ident task); task }
    in
    List.map goal (Task.split_theory m.mod_theory None None)
  in
  List.concat_map of_module (List.sort by_place (Wstdlib.Mstr.values found))

(** {1 A goal, or a part of one} *)

(** Why3's explanation, such as [postcondition]; [root]: the goal is whole, not a part. *)
let explanation ~root task =
  let _, text, _ = Termcode.goal_expl_task ~root task in
  text

(** The place of a goal; for a part, the place of its formula, if known. *)
let place ~root task =
  match (Task.task_goal_fmla task).t_loc with
  | Some loc when not root -> Some loc
  | _ -> (ident task).id_loc

(** The name of a part, as Why3 numbers it: [pad'vc.0.2]. *)
let part_name name i = Printf.sprintf "%s.%d" name i
