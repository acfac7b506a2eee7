(** The command [facts]: goals and sessions, the recorded proof attempts run again now, the audit.

    Nothing is judged here: the trees of goals, transformations and attempts go out as JSON, each
    attempt with what the session says and what its prover says now. A node below a transformation
    is a part of the goal as the transformation makes it from the present source. *)

open Why3
open Session_itp
open Json_base

(** Of the proofs at one node: all, the one that took least time, or all but that one. Where there
    is only one, it is run in each case. A sample is the others of a sixth of the nodes, of those
    with the number given. *)
type share = All | Quickest | Others | Sample of int

let sixths = 6

(** Seconds. A replay gets [factor] times the recorded ones and never less than [floor]. An
    obsolete attempt belongs to another source: this only tells whether it would still do. *)
type limits = { floor : int; factor : float; obsolete : int; share : share }

type job = { project : Project.t; session : Session.t; attempt : proof_attempt_node }

type work = Proof of job | Negation of Smoke.run

let recorded_seconds (a : proof_attempt_node) =
  match a.proof_state with None -> 0. | Some r -> r.pr_time

let seconds limits (a : proof_attempt_node) =
  let recorded = recorded_seconds a in
  if a.proof_obsolete then limits.obsolete
  else max limits.floor (int_of_float (ceil (limits.factor *. recorded)))

(** {1 Running} *)

let compare_attempts (a : proof_attempt_node) (b : proof_attempt_node) = compare a.prover b.prover

let attempts session id =
  List.sort compare_attempts (get_proof_attempts (Session.tree session) id)

let is_in_sixth k session id =
  let name = (get_proof_name (Session.tree session) id).Ident.id_string in
  Hashtbl.hash (session.Session.theory, name) mod sixths = k

(** The attempts of a node that are to be run. The quickest is one with a proof; where there is none
    with a proof, all are run. *)
let chosen limits session id =
  let runnable (a : proof_attempt_node) = Session.find_prover session a.prover <> None in
  let all = List.filter runnable (attempts session id) in
  let quicker a b = if recorded_seconds b < recorded_seconds a then b else a in
  match (limits.share, List.filter Node.is_valid all) with
  | Sample k, _ :: _ when not (is_in_sixth k session id) -> []
  | All, _ | _, [] | (Others | Sample _), [ _ ] -> all
  | Quickest, first :: rest -> [ List.fold_left quicker first rest ]
  | (Others | Sample _), first :: rest ->
      let quickest = List.fold_left quicker first rest in
      List.filter (fun a -> a != quickest) all

(** What is to be run at a node and below it, in the order of the session. *)
let rec jobs project limits session id =
  let s = Session.tree session in
  if is_detached s (APn id) then []
  else
    let below node = List.concat_map (jobs project limits session) (get_sub_tasks s node) in
    List.map (fun attempt -> { project; session; attempt }) (chosen limits session id)
    @ List.concat_map below (get_transformations s id)

let start limits job =
  let prover = Option.get (Session.find_prover job.session job.attempt.prover) in
  let task = get_task (Session.tree job.session) job.attempt.parent in
  Pool.submit job.project prover ~seconds:(seconds limits job.attempt) task

let key (session : Session.t) (a : proof_attempt_node) = (session.theory, a.parent, a.prover)

type results = {
  proofs : (string * proofNodeID * Whyconf.prover, Call_provers.prover_result) Hashtbl.t;
  negations : (string * Smoke.asked, Smoke.run * Call_provers.prover_result) Hashtbl.t;
      (** of a goal one, as if it had been asked alone; of a context several *)
}

let negation run = Negation run
let is_valid (_, (r : Call_provers.prover_result)) = r.pr_answer = Valid

let nothing () = { proofs = Hashtbl.create 997; negations = Hashtbl.create 97 }

(** Runs [all] and adds to the results; progress goes to the standard error as [done/all]. *)
let run_all project limits results all =
  let total = List.length all and count = ref 0 in
  let report () = Printf.eprintf "%d/%d\n%!" !count total in
  let start = function
    | Proof job -> start limits job
    | Negation run -> Smoke.start run
  and finished work result =
    (match work with
    | Proof job -> Hashtbl.replace results.proofs (key job.session job.attempt) result
    | Negation ({ asked = Goals ids; _ } as run) ->
        let put id = Hashtbl.replace results.negations (run.session.theory, Goals [ id ]) in
        List.iter (fun id -> put id (run, result)) ids
    | Negation run ->
        Hashtbl.add results.negations (run.session.theory, run.asked) (run, result));
    incr count;
    report ();
    `Go_on
  in
  report ();
  Pool.run project ~wanted:(fun _ -> true) ~start ~finished all

(** The goals with hypotheses are asked along with the quickest proofs, those of a module together;
    the theories with the others. *)
let smoke project limits session =
  let conditional (_, id) = Smoke.has_hypotheses session id in
  let of_module goals =
    match List.filter conditional goals with
    | [] -> []
    | some -> Smoke.runs project Smoke.quick session (Smoke.Goals (List.map snd some))
  in
  let goals =
    if limits.share <> All && limits.share <> Quickest then []
    else List.concat_map of_module (Session.goals_by_module session)
  and contexts =
    if limits.share = Quickest || session.Session.errors <> [] then []
    else Smoke.runs project Smoke.contexts session Smoke.Context
  in
  goals @ contexts

(** Where the goals of a module together are contradictory, each is asked alone, to tell which. If
    none is, all remain so. *)
let tell_apart project limits results =
  let ask_alone (run : Smoke.run) ids =
    let ask id = Smoke.runs project Smoke.quick run.session (Smoke.Goals [ id ]) in
    let alone = nothing () in
    run_all project limits alone (List.map negation (List.concat_map ask ids));
    if Hashtbl.fold (fun _ answer found -> found || is_valid answer) alone.negations false then
      Hashtbl.iter (Hashtbl.replace results.negations) alone.negations
  in
  let contradictory _ ((run : Smoke.run), r) found =
    match run.asked with
    | Smoke.Goals (_ :: _ :: _ as ids) when is_valid (run, r) && not (List.mem_assq run found) ->
        (run, ids) :: found
    | _ -> found
  in
  let found = Hashtbl.fold contradictory results.negations [] in
  List.iter (fun (run, ids) -> ask_alone run ids) found

(** {1 Facts} *)

let answer (r : Call_provers.prover_result) =
  let text = Format.asprintf "@[<h>%a@]" Call_provers.print_prover_answer r.pr_answer in
  Record [ ("answer", String text); ("seconds", Float r.pr_time) ]

let attempt_facts results session chosen (a : proof_attempt_node) =
  let replayed = Hashtbl.find_opt results.proofs (key session a) in
  Record
    [ ("prover", String a.prover.prover_name); ("version", String a.prover.prover_version);
      ("alternative", String a.prover.prover_altern); ("obsolete", Bool a.proof_obsolete);
      ("installed", Bool (Session.find_prover session a.prover <> None));
      ("chosen", Bool (List.memq a chosen));
      ("recorded", Json.option answer a.proof_state); ("replayed", Json.option answer replayed) ]

let rec node_facts project limits results session ~root id =
  let s = Session.tree session in
  let chosen = match limits with None -> [] | Some limits -> chosen limits session id in
  let live = List.filter (fun n -> not (is_detached s (ATn n))) (get_transformations s id) in
  Record
    ([ ("name", String (get_proof_name s id).Ident.id_string);
       ("explanation", String (get_proof_expl s id)) ]
    @ Json.place (Option.map (Project.position project) (Session.goal_loc ~root s id))
    @ [ ("attempts", List (List.map (attempt_facts results session chosen) (attempts session id)));
        ( "transformations",
          List (List.map (transformation_facts project limits results session) live) ) ])

and transformation_facts project limits results session node =
  let s = Session.tree session in
  let live = List.filter (fun id -> not (is_detached s (APn id))) (get_sub_tasks s node) in
  Record
    [ ("name", String (get_transf_name s node));
      ("arguments", Json.strings (get_transf_args s node));
      ("parts", List (List.map (node_facts project limits results session ~root:false) live)) ]

let smoke_facts results (session : Session.t) asked =
  let facts ((run : Smoke.run), (r : Call_provers.prover_result)) =
    match answer r with
    | Record fields -> Record (("prover", String run.prover.prover.prover_name) :: fields)
    | other -> other
  in
  List.sort compare (List.map facts (Hashtbl.find_all results.negations (session.theory, asked)))

let goal_facts project limits results statements session (th, id) =
  let m = Session.module_name th and goal = Session.goal_name (Session.tree session) id in
  Record
    ([ ("module", String m); ("goal", String goal) ]
    @ Statements.goal_facts statements m goal
    @ [ ("hypotheses", Bool (Smoke.has_hypotheses session id));
        ( "smoke",
          match smoke_facts results session (Smoke.Goals [ id ]) with
          | [] -> Null
          | run :: _ -> run );
        ("tree", node_facts project limits results session ~root:true id) ])

(** Nodes of the stored session that the present source does not have, by name; not those below
    them. *)
let detached session =
  let s = Session.tree session in
  let name = function
    | AFile f -> Some ("file " ^ Sysutil.basename (file_path f))
    | ATh th -> Some ("module " ^ Session.module_name th)
    | APn id -> Some ("goal " ^ (get_proof_name s id).Ident.id_string)
    | ATn node -> Some ("transformation " ^ get_transf_name s node)
    | APa _ -> None
  in
  let below_another any =
    match get_any_parent s any with None -> false | Some parent -> is_detached s parent
  in
  let add acc any =
    if is_detached s any && not (below_another any) then Option.to_list (name any) @ acc else acc
  in
  List.rev (fold_all_session s add [])

let theory_facts project limits results statements (session : Session.t) =
  let goal = goal_facts project limits results statements session in
  let source f = String (Project.relative project (system_path (Session.tree session) f)) in
  Record
    [ ("file", String session.theory); ("session", String session.dir);
      ("stored", Bool (Sys.file_exists (Filename.concat session.dir "why3session.xml")));
      ("errors", Json.strings session.errors);
      ("sources", List (List.map source (Session.files session)));
      ("detached", Json.strings (detached session));
      ("smoke", List (smoke_facts results session Smoke.Context));
      ("goals", List (List.map goal (Session.goals session))) ]

let prover_facts canaries (p : Whyconf.config_prover) =
  Record
    [ ("name", String p.prover.prover_name); ("version", String p.prover.prover_version);
      ("family", String (Project.family p.prover)); ("command", String p.command);
      ("driver", String p.driver); ("canary", Canary.facts canaries p.prover) ]

(** The sessions of [replayed], and what else is to be said [about] theories: none, or these and
    maybe more. Without [limits] nothing is run: for who only wants the goals. *)
let facts (project : Project.t) limits ~replayed ~about =
  let sessions = List.map (Session.load project) replayed in
  let proofs limits session =
    List.concat_map (fun (_, id) -> jobs project limits session id) (Session.goals session)
  in
  let results =
    match limits with
    | None -> nothing ()
    | Some limits ->
        let proofs = List.concat_map (proofs limits) sessions in
        let negations = List.concat_map (smoke project limits) sessions in
        let results = nothing () in
        run_all project limits results
          (List.map (fun job -> Proof job) proofs @ List.map negation negations);
        tell_apart project limits results;
        results
  in
  let canaries = if limits = None || about = [] then [] else Canary.answers project in
  let modules_of theory = (theory, Audit.modules project theory) in
  let modules = List.map modules_of about in
  let statements =
    Statements.all (if about = [] then List.map modules_of replayed else modules)
  in
  let theory = theory_facts project limits results (Statements.by_goal statements) in
  Record
    ([ ("provers", List (List.map (prover_facts canaries) (Project.provers project.config)));
       ("theories", List (List.map theory sessions));
       ("audit", List (List.map (fun (file, m) -> Audit.facts project file m) modules));
       ( "symbols",
         List
           (if about = [] then [] else List.map (Statements.symbol_facts project) statements) );
       ("library", Library.facts project modules) ]
    @ Witness.facts project about)
