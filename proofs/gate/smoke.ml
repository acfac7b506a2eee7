(** Smoke: is a theorem true for the bad reason that its hypotheses contradict each other?

    [forall x. x < 0 -> x > 0 -> x = 1] is proved at once and says nothing. So is the opposite,
    [forall x. x < 0 -> x > 0 -> not x = 1]: of a goal [forall x. H -> C] that is proved, the goal
    [forall x. H -> not C] can be proved only if no [x] satisfies [H], or if what the theory takes
    from elsewhere is contradictory. A prover is asked for that, and has to give up.

    Why3 1.5.1 has a transformation for the purpose, [smoke_detector_deep], which asks for something
    else: it turns each implication into a conjunction, [forall x. H /\ not C]. That follows from a
    contradiction in the context, never from one in [H] alone: the example above would pass. Ours
    keeps the implications. Like Why3's it goes below [forall], [->] and [let] at the top of the
    goal, and negates as a whole what stands there: a conjunction, [if] or [match]. Hypotheses
    further inside, of the cases of a program, are met in the parts that a split makes of the goal;
    some of those are contradictory by right, a branch that cannot be taken, so that the command
    [smoke] lists them for a reader.

    The limits are in the provers' own steps: whether one gives up does not depend on the machine,
    nor on what else it does. *)

open Why3
open Session_itp

(** {1 What is asked} *)

let rec negated (f : Term.term) =
  match f.t_node with
  | Tbinop (Timplies, hypothesis, conclusion) -> Term.t_implies hypothesis (negated conclusion)
  | Tquant (Tforall, quantified) ->
      let variables, triggers, body = Term.t_open_quant quantified in
      Term.t_forall_close variables triggers (negated body)
  | Tlet (value, bound) ->
      let variable, body = Term.t_open_bound bound in
      Term.t_let_close variable value (negated body)
  | _ -> Term.t_not f

(** Whether a goal has hypotheses of its own that could contradict each other. The negation of one
    that has none can follow only from a contradiction in what its theory uses, and for that the
    theory as a whole is asked. *)
let rec is_conditional (f : Term.term) =
  match f.t_node with
  | Tbinop (Timplies, _, _) -> true
  | Tquant (Tforall, quantified) ->
      let _, _, body = Term.t_open_quant quantified in
      is_conditional body
  | Tlet (_, bound) -> is_conditional (snd (Term.t_open_bound bound))
  | _ -> false

let has_hypotheses session id =
  is_conditional (Task.task_goal_fmla (get_task (Session.tree session) id))

(** The goals, or parts of goals, of a module, with their conclusions negated: one of them, where the
    last one stands. If that cannot be proved, neither can any of them. *)
let negation session ids =
  let task id = get_task (Session.tree session) id in
  let any = Term.t_or_l (List.map (fun id -> negated (Task.task_goal_fmla (task id))) ids) in
  let replace = Trans.goal (fun name _ -> [ Decl.create_prop_decl Decl.Pgoal name any ]) in
  Trans.apply replace (task (List.hd (List.rev ids)))

(** [false], from all that the modules of a theory use, define and prove. *)
let contradiction (project : Project.t) theory =
  let use task (m : Pmodule.pmodule) = Task.use_export task m.mod_theory in
  let modules = Result.value (Audit.modules project theory) ~default:[] in
  let context = List.fold_left use None modules in
  let name = Decl.create_prsymbol (Ident.id_fresh "contradiction") in
  Task.add_prop_decl context Decl.Pgoal name Term.t_false

(** {1 Who is asked} *)

(** Provers with the steps that each gets; and processor time, for one that does not count what
    keeps it busy. *)
type panel = { steps : (string * int) list; seconds : int }

(** About the goals of a module. No prover ever sees that there is nothing to find: each searches up
    to its limit, so that the limit is what a replay of all modules pays for. A hundred steps of
    Alt-Ergo take 0.02 to 0.1 s and find four of five contradictions that were put into goals on
    purpose; forty are enough to prove 160 of the 343 goals of which the sessions have proofs by
    Alt-Ergo without a split. Only where numbers are multiplied, in one module, does a single step
    take longer than all the others together. *)
let quick = { steps = [ ("Alt-Ergo", 100) ]; seconds = 2 }

(** For a contradiction in a theory: one of each family. *)
let contexts = { steps = [ ("Alt-Ergo", 60); ("Z3", 200_000); ("CVC5", 30_000) ]; seconds = 10 }

(** About the parts of goals. Z3 proves in that many steps 163 of its 176 goals without a split,
    Alt-Ergo 215 of 343. *)
let thorough = { steps = [ ("Alt-Ergo", 100); ("Z3", 500_000); ("CVC5", 100_000) ]; seconds = 10 }

type asked = Goals of proofNodeID list | Context

type run = {
  project : Project.t;
  session : Session.t;
  asked : asked;
  prover : Whyconf.config_prover;
  steps : int;
  seconds : int;
}

(** The configured provers among [panel]; that all are is for the gate to see. *)
let runs (project : Project.t) (panel : panel) session asked =
  let run (prover : Whyconf.config_prover) =
    let steps = List.assoc_opt prover.prover.prover_name panel.steps in
    Option.map
      (fun steps -> { project; session; asked; prover; steps; seconds = panel.seconds })
      steps
  in
  List.filter_map run (Project.provers project.config)

let start run =
  let task =
    match run.asked with
    | Goals ids -> negation run.session ids
    | Context -> contradiction run.project run.session.theory
  in
  let driver = snd (Option.get (Session.find_prover run.session run.prover.prover)) in
  Pool.submit run.project (run.prover, driver) ~steps:run.steps ~seconds:run.seconds task

(** {1 The command [smoke]} *)

(** The parts of a goal as its session has them, and as a split makes them of a goal that was proved
    whole: it has cases too. The session is not saved. *)
let rec parts (project : Project.t) s id =
  match get_transformations s id with
  | [] -> ( match Node.split s project.env id with None -> [ id ] | Some (_, parts) -> parts)
  | nodes -> List.concat_map (parts project s) (List.concat_map (get_sub_tasks s) nodes)

let describe (run : run) id =
  let s = Session.tree run.session in
  let place =
    match List.find_map (fun root -> Session.goal_loc ~root s id) [ false; true ] with
    | None -> run.session.theory
    | Some loc ->
        let file, line = Project.position run.project loc in
        Printf.sprintf "%s:%d" file line
  in
  let expl = match get_proof_expl s id with "" -> "" | text -> Printf.sprintf " (%s)" text in
  Printf.sprintf "%s: %s%s" place (get_proof_name s id).Ident.id_string expl

(** Prints the parts of goals whose hypotheses are contradictory, and how many there are. *)
let list_parts project theories =
  let theory_runs theory =
    let session = Session.load project theory in
    List.iter failwith session.errors;
    let ask id = runs project thorough session (Goals [ id ]) in
    let of_goal (_, id) = List.concat_map ask (parts project (Session.tree session) id) in
    List.concat_map of_goal (Session.goals session)
  in
  let all = List.concat_map theory_runs theories in
  let contradictory = Hashtbl.create 97 in
  let key run = (run.session.theory, run.asked) in
  let wanted run = not (Hashtbl.mem contradictory (key run)) in
  let finished run (result : Call_provers.prover_result) =
    if result.pr_answer = Valid then Hashtbl.replace contradictory (key run) ();
    `Go_on
  in
  Pool.run project ~wanted ~start ~finished all;
  let print count run =
    match run.asked with
    | Goals ids when Hashtbl.mem contradictory (key run) ->
        Hashtbl.remove contradictory (key run);
        List.iter (fun id -> print_endline (describe run id)) ids;
        count + 1
    | _ -> count
  in
  let known = List.length (List.sort_uniq compare (List.map key all)) in
  let found = List.fold_left print 0 all in
  Printf.printf "%d parts, %d of them with contradictory hypotheses\n" known found
