(** The command [replay] runs a theory's recorded proofs for this version of Why3 again.

    It prints the trees of goals, steps and proofs as JSON, each proof with its recorded seconds and
    the prover's present answer. A node below a step is a part of the goal, made by the step from
    the present source. The output also has the recorded goals that the source lacks, and the error
    of a step that fails. *)

open Why3
open Json

(** Ten times the recorded seconds, at least half a minute, for slow or busy machines. *)
let limit (proof : Record.proof) = Prover.Seconds (max 30 (int_of_float (ceil (10. *. proof.seconds))))

let answer_fields (a : Prover.answer) =
  [ ("answer", String a.text); ("seconds", Float a.seconds) ]

let proof_facts project task (proof : Record.proof) =
  let now prover = Record (answer_fields (Prover.ask prover (limit proof) task)) in
  Record
    [ ("prover", String proof.prover); ("recorded", Float proof.seconds);
      ("now", Option.fold ~none:Null ~some:now (Prover.find project proof.prover)) ]

(** Each part with its record, if any. *)
let rec pairs parts records =
  match (parts, records) with
  | part :: parts, [] -> (part, Record.nothing) :: pairs parts []
  | part :: parts, r :: records -> (part, r) :: pairs parts records
  | [], _ -> []

let rec node_facts project ~root name task known =
  let r = Record.mine known in
  let proofs = Record.own r in
  let steps, fault =
    match r.step with
    | Some step when proofs = [] -> (
        match Project.attempt (fun () -> step_facts project name task step) with
        | Ok facts -> ([ facts ], Null)
        | Error e -> ([], String (Project.message e)))
    | _ -> ([], Null)
  in
  Record
    ([ ("name", String name); ("explanation", String (Goals.explanation ~root task)) ]
    @ place project (Goals.place ~root task)
    @ [ ("proofs", List (List.map (proof_facts project task) proofs));
        ("transformations", List steps); ("fault", fault) ])

and step_facts project name task step =
  let part i (task, r) = node_facts project ~root:false (Goals.part_name name i) task r in
  let facts transformation arguments sound parts =
    Record
      [ ("name", String transformation); ("arguments", texts arguments); ("sound", Bool sound);
        ("parts", List (List.mapi part parts)) ]
  in
  match step with
  | Record.Keep (names, r) -> facts Keep.transformation names true [ (Keep.keep names task, r) ]
  | Split records ->
      let parts = Split.parts project task in
      if List.compare_lengths parts records < 0 then
        failwith (Printf.sprintf "has %d parts, %d are recorded" (List.length parts) (List.length records));
      facts Split.transformation [] (Split.is_sound project task) (pairs parts records)

(** {1 Contradictions}

    Contradictory hypotheses prove every theorem. One prover of each family tries to prove [false]
    from all that the theory uses, defines and proves.

    This leaves out the contract of a program without a body, which occurs only in goals of its
    callers. So if a module reaches such a contract, Alt-Ergo also tries the disjunction of the
    module's goals with negated conclusions: if [forall x. H -> C] is proved, [forall x. H -> not C]
    can be proved only if no [x] satisfies [H]. Why3 1.5.1's own [smoke_detector_deep] asks for
    [forall x. H /\ not C], which never follows from a contradiction in [H].

    Limits count the provers' own steps, so that the outcome rarely depends on the machine. *)

let of_theory = [ ("Alt-Ergo", 60); ("Z3", 200_000); ("CVC5", 30_000) ]
let of_conditions = [ ("Alt-Ergo", 100) ]

(** A further limit, for work that a prover does not count in steps. *)
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

(** The disjunction of the goals with negated conclusions, in the last goal's context. *)
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

let smoke_facts project modules goals =
  let of_module m =
    let name = (Audit.id m).id_string in
    match List.filter (fun (goal : Goals.goal) -> goal.in_module = name) goals with
    | _ :: _ as own when reaches_contract project m ->
        let tasks = List.map (fun (goal : Goals.goal) -> goal.task) own in
        smoke project name of_conditions (negation tasks)
    | _ -> []
  in
  smoke project "" of_theory (contradiction modules) @ List.concat_map of_module modules

(** {1 Facts} *)

let facts (project : Project.t) theory =
  let file = Project.session_file theory in
  let try_or nothing f =
    match Project.attempt f with
    | Ok found -> (found, [])
    | Error e -> (nothing, Project.errors project e)
  in
  let goals, source_errors = try_or [] (fun () -> Goals.of_theory project theory) in
  let { Record.from; goals = known }, record_errors =
    try_or Record.empty (fun () -> Record.read (Project.absolute project file))
  in
  let errors = source_errors @ record_errors in
  let modules = Result.value (Audit.modules project theory) ~default:[] in
  let context = if errors = [] then smoke_facts project modules goals else [] in
  let names = List.map Goals.full_name goals in
  let versions = List.sort_uniq compare (List.concat_map (fun (_, r) -> Record.versions r) known) in
  let is_lost (name, r) = List.mem Record.here (Record.versions r) && not (List.mem name names) in
  let lost = List.filter is_lost known in
  let goal_facts (goal : Goals.goal) =
    let r = Option.value (List.assoc_opt (Goals.full_name goal) known) ~default:Record.nothing in
    let name = (Goals.ident goal.task).id_string in
    Record
      [ ("module", String goal.in_module); ("name", String goal.name);
        ("versions", texts (List.filter (Record.is_complete r) versions));
        ("tree", node_facts project ~root:true name goal.task r) ]
  in
  Record
    [ ("file", String theory); ("session", String file);
      ("stored", Bool (Sys.file_exists (Project.absolute project file))); ("errors", texts errors);
      ("detached", texts (List.map fst lost)); ("context", List context);
      ("sources", Record (List.map (fun (version, hash) -> (version, String hash)) from));
      ("goals", List (List.map goal_facts goals)) ]
