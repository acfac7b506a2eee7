(** Whether [split_vc] can be trusted with a goal.

    Its last step, [introduce_premises], turns [exists x] in a hypothesis into a constant, and finds
    it again by the bound variable. In Why3 1.5.1 two formulas with the same bound variable, such as
    instances of one formula, get one constant: [exists x. x = 0] and [exists x. x = 1] then prove
    everything (Why3's issue 694). If each variable is bound in one place, nothing is shared. *)

open Why3
open Term

let rec bound found f =
  let own =
    match f.t_node with
    | Tquant (_, quantified) -> t_peek_quant quantified
    | Tlet (_, bound) -> [ t_peek_bound bound ]
    | _ -> []
  in
  TermTF.t_fold (fun found _ -> found) bound (own @ found) f

(** [split_vc] first moves an earlier split's hypotheses back into the goal. *)
let is_sound (project : Project.t) task =
  let taken_back = Trans.lookup_transform "generalize_introduced" project.env in
  let found = bound [] (Task.task_goal_fmla (Trans.apply taken_back task)) in
  Ident.Sid.cardinal (Ident.Sid.of_list found) = List.length found

let transformation = "split_vc"

(** The parts of a goal. *)
let parts (project : Project.t) task = Trans.apply_transform transformation project.env task
