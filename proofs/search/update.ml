(** The command [update]: brings a theory's session up to date and says what is left to prove. *)

open Why3
open Session_itp

type options = {
  only : string option;  (** goals whose full name contains this *)
  quick : bool;
}

let wanted options name =
  match options.only with None -> true | Some part -> Project.contains ~part name

(** [why3/core/shape.mlw:42 Shape.pad'vc.3 [postcondition]], and what is wrong with it. *)
let report (t : Prove.t) (th, top) =
  let s = Prove.tree t in
  let whole = (get_proof_name s top).Ident.id_string in
  let leaf (id, by) =
    let part = Project.after whole (get_proof_name s id).Ident.id_string in
    let place =
      match Session.goal_loc ~root:(id = top) s id with
      | None -> t.session.theory
      | Some loc -> Project.place t.project loc
    in
    let what = if by = [] then "UNPROVED" else "one family only, " ^ String.concat ", " by in
    Printf.printf "%s %s%s [%s]: %s\n" place
      (Session.full_name t.session (th, top))
      part (get_proof_expl s id) what
  in
  let leaves = Prove.weak_leaves s top in
  List.iter leaf leaves;
  leaves

let goal (t : Prove.t) (th, id) =
  if not (Prove.proved t id) then
    Printf.printf "  %s\n%!" (Session.full_name t.session (th, id));
  Prove.settle_goal t id

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
  let session = Session.load project file in
  let t = { Prove.project; session; quick = options.quick; strict = false } in
  if session.errors <> [] then begin
    List.iter (fun e -> print_endline ("ERROR " ^ e)) session.errors;
    1
  end
  else begin
    let all = Session.goals session in
    let is_chosen goal = wanted options (Session.full_name session goal) in
    let chosen = List.filter is_chosen all in
    List.iter (Node.remove (Prove.tree t)) (Session.detached (Prove.tree t));
    if all <> [] then prove_all t chosen;
    let leaves = List.concat_map (report t) chosen in
    let unproved, single = List.partition (fun (_, by) -> by = []) leaves in
    if chosen <> [] then
      Printf.printf "%s: %d of %d goals; parts unproved: %d; parts proved by one family only: %d\n"
        file (List.length chosen) (List.length all) (List.length unproved) (List.length single);
    if unproved <> [] then 1 else if chosen = [] && options.only <> None then 3 else 0
  end
