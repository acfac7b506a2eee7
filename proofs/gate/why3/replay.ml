(** The command [replay]: a theory's session, with every recorded proof asked for again now.

    Nothing is judged here: the trees of goals, transformations and proofs go out as JSON, each proof
    with what the session says and what its prover says now. A node below a transformation is a part
    of the goal as the transformation makes it from the present source. *)

open Why3
open Session_itp
open Json

(** A proof gets ten times the recorded seconds, and half a minute at least: a machine that is busy or
    slow is forgiven. An obsolete one is of another source: this only tells whether it would do. *)
let limit (a : proof_attempt_node) =
  let enough = max 30 (int_of_float (ceil (10. *. Session.seconds a))) in
  Prover.Seconds (if a.proof_obsolete then 3 else enough)

let answer_fields (a : Prover.answer) =
  [ ("answer", String a.text); ("seconds", Float a.seconds) ]

let recorded_facts (r : Call_provers.prover_result) =
  let text = Format.asprintf "@[<h>%a@]" Call_provers.print_prover_answer r.pr_answer in
  Record [ ("answer", String text); ("seconds", Float r.pr_time) ]

let attempt_facts project task (a : proof_attempt_node) =
  let now prover = Record (answer_fields (Prover.ask prover (limit a) task)) in
  Record
    [ ("prover", String a.prover.prover_name); ("version", String a.prover.prover_version);
      ("obsolete", Bool a.proof_obsolete);
      ("recorded", Option.fold ~none:Null ~some:recorded_facts a.proof_state);
      ("now", Option.fold ~none:Null ~some:now (Prover.find project a.prover)) ]

let rec node_facts project s ~root id =
  let task = get_task s id in
  let transformations = List.map (step_facts project s task) (Session.live_transformations s id) in
  Record
    ([ ("name", String (get_proof_name s id).Ident.id_string);
       ("explanation", String (get_proof_expl s id)) ]
    @ place project (Session.goal_loc ~root s id)
    @ [ ("proofs", List (List.map (attempt_facts project task) (get_proof_attempts s id)));
        ("transformations", List transformations) ])

and step_facts project s task node =
  let live = List.filter (fun id -> not (is_detached s (APn id))) (get_sub_tasks s node) in
  Record
    [ ("name", String (get_transf_name s node)); ("arguments", texts (get_transf_args s node));
      ("sound", Bool (Session.is_keep s node || Split.is_sound project task));
      ("parts", List (List.map (node_facts project s ~root:false) live)) ]

(** What the stored session has and the present source has not, by name. *)
let detached s =
  let name = function
    | AFile f -> "file " ^ Sysutil.basename (file_path f)
    | ATh th -> "module " ^ Session.module_name th
    | APn id -> "goal " ^ (get_proof_name s id).Ident.id_string
    | ATn node -> "transformation " ^ get_transf_name s node
    | APa _ -> "proof"
  in
  List.map name (Session.detached s)

(** {1 Contradictions}

    Is a theorem true for the bad reason that what it supposes is contradictory? A prover of each
    family is asked for [false], from all that the theory uses, defines and proves.

    What a contract without a body promises is no part of that: it is met in the conditions of the
    programs that call it. So where a module reaches such a contract, its goals are asked for with
    their conclusions negated: of [forall x. H -> C] that is proved, [forall x. H -> not C] can be
    proved only if no [x] satisfies [H]. Why3 1.5.1's own [smoke_detector_deep] asks for something
    else, [forall x. H /\ not C], which never follows from a contradiction in [H].

    The limits are in the provers' own steps: whether one gives up does not depend on the machine. *)

let of_theory = [ ("Alt-Ergo", 60); ("Z3", 200_000); ("CVC5", 30_000) ]
let of_conditions = [ ("Alt-Ergo", 100) ]

(** For a prover that does not count what keeps it busy. *)
let seconds = 2

let contradiction (modules : Pmodule.pmodule list) =
  let use task (m : Pmodule.pmodule) = Task.use_export task m.mod_theory in
  let name = Decl.create_prsymbol (Ident.id_fresh "contradiction") in
  Task.add_prop_decl (List.fold_left use None modules) Decl.Pgoal name Term.t_false

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

(** One of some goals with its conclusion negated, where the last of them stands. *)
let negation tasks =
  let any = Term.t_or_l (List.map (fun task -> negated (Task.task_goal_fmla task)) tasks) in
  let replace = Trans.goal (fun name _ -> [ Decl.create_prop_decl Decl.Pgoal name any ]) in
  Trans.apply replace (List.hd (List.rev tasks))

let reaches_contract project m =
  let is_val (item : Audit.item) = item.kind = "val" in
  let has_val m = Audit.is_ours project m && List.exists is_val (Audit.items m) in
  List.exists has_val (Library.reached [ m ])

let smoke project about panel task =
  let ask (p : Prover.t) =
    let name = p.prover.prover.prover_name in
    let with_steps steps =
      let answer = answer_fields (Prover.ask p (Steps (steps, seconds)) task) in
      Record ([ ("prover", String name); ("about", String about) ] @ answer)
    in
    Option.map with_steps (List.assoc_opt name panel)
  in
  List.filter_map ask (Prover.all project)

let smoke_facts project (session : Session.t) =
  let modules = Result.value (Audit.modules project session.theory) ~default:[] in
  let of_module m =
    let name = (Audit.id m).id_string in
    let is_own (th, _) = Session.module_name th = name in
    match List.filter is_own (Session.goals session) with
    | _ :: _ as own when reaches_contract project m ->
        let tasks = List.map (fun (_, id) -> get_task (Session.tree session) id) own in
        smoke project name of_conditions (negation tasks)
    | _ -> []
  in
  smoke project "" of_theory (contradiction modules) @ List.concat_map of_module modules

(** {1 Facts} *)

let facts (project : Project.t) theory =
  let session = Session.load project theory in
  let s = Session.tree session in
  let context = if session.errors = [] then smoke_facts project session else [] in
  let stored = Sys.file_exists (Filename.concat session.dir "why3session.xml") in
  let goal_facts (th, id) =
    Record
      [ ("module", String (Session.module_name th)); ("name", String (Session.goal_name s id));
        ("tree", node_facts project s ~root:true id) ]
  in
  Record
    [ ("file", String theory); ("session", String session.dir); ("stored", Bool stored);
      ("errors", texts session.errors); ("detached", texts (detached s)); ("context", List context);
      ("goals", List (List.map goal_facts (Session.goals session))) ]
