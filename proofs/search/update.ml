(** The command [update]: brings a theory's session up to date and says what is left to prove. *)

open Why3
open Session_itp

type options = {
  only : string option;  (** goals whose full name contains this *)
  effort : Prove.effort;
  forget : bool;  (** start without the stored session *)
}

let wanted options name =
  match options.only with None -> true | Some part -> Project.contains ~part name

(** [why3/core/shape.mlw:42 Shape.pad'vc.3 [postcondition]], and what is wrong with it. *)
let report (t : Prove.t) (th, top) =
  let s = Prove.tree t in
  let whole = (get_proof_name s top).Ident.id_string in
  let leaf (l : Node.leaf) =
    let part = Project.after whole (get_proof_name s l.id).Ident.id_string in
    let place =
      match Session.goal_loc ~root:l.root s l.id with
      | None -> t.session.theory
      | Some loc -> Project.place t.project loc
    in
    let what = if l.by = [] then "UNPROVED" else "one family only, " ^ String.concat ", " l.by in
    Printf.printf "%s %s%s [%s]: %s\n" place
      (Session.full_name t.session (th, top))
      part (get_proof_expl s l.id) what
  in
  let leaves = Node.weak_leaves s top in
  List.iter leaf leaves;
  leaves

(** Silent about a goal whose stored proofs were good, which takes no time. *)
let goal (t : Prove.t) (th, id) =
  let started = Unix.gettimeofday () in
  Prove.settle_goal t id;
  let seconds = Unix.gettimeofday () -. started in
  let proved = Prove.proved t id in
  if seconds > 0.05 || not proved then
    Printf.printf "  %s %s, %.1f s\n%!"
      (Session.full_name t.session (th, id))
      (if proved then "proved" else "NOT proved")
      seconds

(** Why3 keeps the former files as [*.bak]; git keeps them better. *)
let save (t : Prove.t) =
  let dir = t.session.dir in
  ignore (Sys.command ("mkdir -p " ^ Filename.quote dir));
  save_session (Prove.tree t);
  let remove_backup f = if Filename.check_suffix f ".bak" then Sys.remove (Filename.concat dir f) in
  Array.iter remove_backup (Sys.readdir dir)

(** An interruption keeps what has been found so far. *)
let prove_all (t : Prove.t) goals =
  let finally () = save t in
  Fun.protect ~finally (fun () -> List.iter (goal t) goals)

(** 0 if everything that was asked for is proved, 1 if not, 3 if nothing was asked for. *)
let run project options file =
  let session = Session.load ~forget:options.forget project file in
  let t = { Prove.project; session; effort = options.effort; strict = false } in
  if session.errors <> [] then begin
    List.iter (fun e -> print_endline ("ERROR " ^ e)) session.errors;
    1
  end
  else begin
    let all = Session.goals session in
    let is_chosen goal = wanted options (Session.full_name session goal) in
    let chosen = List.filter is_chosen all in
    List.iter (Node.remove (Prove.tree t)) (Node.detached (Prove.tree t));
    if all <> [] then prove_all t chosen;
    let leaves = List.concat_map (report t) chosen in
    let unproved, single = List.partition (fun (l : Node.leaf) -> l.by = []) leaves in
    if chosen <> [] then
      Printf.printf "%s: %d of %d goals; parts unproved: %d; parts proved by one family only: %d\n"
        file (List.length chosen) (List.length all) (List.length unproved) (List.length single);
    if unproved <> [] then 1 else if chosen = [] && options.only <> None then 3 else 0
  end
