(** The command [update]: brings the sessions of some theories up to date and says what is left. *)

open Why3
open Session_itp

type options = {
  only : string option;  (** goals whose full name contains this *)
  effort : Prove.effort;
  forget : bool;  (** start without the stored session *)
}

type summary = { goals : int; unproved : int; single : int; broken : bool }

let full_name s th id = Session.module_name th ^ "." ^ Session.goal_name s id

let wanted options name =
  match options.only with None -> true | Some part -> Project.contains ~part name

(** [why3/shape.mlw:42 Shape.pad'vc.3 [postcondition]] *)
let describe (t : Prove.t) name ~root id =
  let s = Prove.tree t in
  let line =
    match Session.goal_loc ~root s id with
    | None -> t.session.theory
    | Some loc ->
        let file, line = Project.position t.project loc in
        Printf.sprintf "%s:%d" file line
  in
  Printf.sprintf "%s %s [%s]" line name (get_proof_expl s id)

let answers (t : Prove.t) id =
  let task = get_task (Prove.tree t) id in
  let answer (p : Whyconf.config_prover) =
    match Failures.find t.failures task p.prover with
    | None -> []
    | Some a -> [ Printf.sprintf "%s: %s (%d s)" p.prover.prover_name a.text a.seconds ]
  in
  String.concat ", " (List.concat_map answer (Project.provers t.project.config))

(** The place of a leaf within its goal: [.3] for the fourth part. *)
let suffix s ~top id =
  let whole = (get_proof_name s top).Ident.id_string in
  let part = (get_proof_name s id).Ident.id_string in
  let n = String.length whole in
  if String.length part > n && String.sub part 0 n = whole then
    String.sub part n (String.length part - n)
  else ""

let report (t : Prove.t) (th, top) =
  let s = Prove.tree t in
  let leaf (l : Node.leaf) =
    let name = full_name s th top ^ suffix s ~top l.id in
    let where = describe t name ~root:l.root l.id in
    match l.by with
    | [] -> t.log (Printf.sprintf "UNPROVED   %s: %s" where (answers t l.id))
    | by -> t.log (Printf.sprintf "one family %s: only %s" where (String.concat ", " by))
  in
  let leaves = Node.weak_leaves s top in
  List.iter leaf leaves;
  leaves

(** Silent about a goal whose stored proofs were good, which takes no time. *)
let goal (t : Prove.t) (th, id) =
  let started = Unix.gettimeofday () in
  Prove.settle t id;
  let seconds = Unix.gettimeofday () -. started in
  let proved = Prove.proved t id in
  if seconds > 0.05 || not proved then
    t.log
      (Printf.sprintf "  %s %s, %.1f s" (full_name (Prove.tree t) th id)
         (if proved then "proved" else "NOT proved") seconds)

(** Why3 keeps the former files as [*.bak]; git keeps them better. *)
let save (t : Prove.t) =
  let dir = t.session.dir in
  if not (Sys.file_exists dir) then Sys.mkdir dir 0o755;
  save_session (Prove.tree t);
  let remove_backup f = if Filename.check_suffix f ".bak" then Sys.remove (Filename.concat dir f) in
  Array.iter remove_backup (Sys.readdir dir)

(** An interruption keeps what has been found so far. *)
let prove_all (t : Prove.t) goals =
  let finally () = save t in
  Fun.protect ~finally (fun () -> List.iter (goal t) goals)

let theory project failures log options file =
  let session = Session.load ~forget:options.forget project file in
  let t = { Prove.project; session; effort = options.effort; failures; log } in
  if session.errors <> [] then begin
    List.iter (fun e -> log ("ERROR " ^ e)) session.errors;
    { goals = 0; unproved = 0; single = 0; broken = true }
  end
  else begin
    let all = Session.goals session in
    let is_chosen (th, id) = wanted options (full_name (Prove.tree t) th id) in
    let chosen = List.filter is_chosen all in
    log (Printf.sprintf "%s: %d of %d goals" file (List.length chosen) (List.length all));
    if options.only = None then List.iter (Node.clean_file (Prove.tree t)) (Session.files session);
    if all <> [] then prove_all t chosen;
    let leaves = List.concat_map (report t) chosen in
    let unproved, single = List.partition (fun (l : Node.leaf) -> l.by = []) leaves in
    { goals = List.length chosen; unproved = List.length unproved; single = List.length single;
      broken = false }
  end

let add a b =
  { goals = a.goals + b.goals; unproved = a.unproved + b.unproved; single = a.single + b.single;
    broken = a.broken || b.broken }

(** Whether everything that was asked for is proved, and it is not nothing. *)
let run project failures log options files =
  let none = { goals = 0; unproved = 0; single = 0; broken = false } in
  let summaries = List.map (theory project failures log options) files in
  let total = List.fold_left add none summaries in
  log
    (Printf.sprintf "%d goals; parts unproved: %d; parts proved by one family only: %d" total.goals
       total.unproved total.single);
  let nothing_chosen = options.only <> None && total.goals = 0 in
  (not total.broken) && (not nothing_chosen) && total.unproved = 0
