(** The command [update]: brings the recorded proofs of a theory up to date, and prints the parts
    that lack two families. [Found.merged] keeps the proofs of other versions of Why3 if it can. *)

type options = {
  only : string option;  (** goals whose full name contains this *)
  quick : bool;
  from : string;  (** the hash of the sources *)
}

let wanted options name =
  match options.only with None -> true | Some part -> Project.contains ~part name

(** Prints [why3/core/shape.mlw:42 Shape.pad'vc.3 [postcondition]] and the fault, for each weak
    part. *)
let report (t : Prove.t) file goal r =
  let part (name, root, task, by) =
    let what = if by = [] then "UNPROVED" else "one family only, " ^ String.concat ", " by in
    let place = Option.fold ~none:file ~some:(Project.place t.project) (Goals.place ~root task) in
    Printf.printf "%s %s [%s]: %s\n%!" place name (Goals.explanation ~root task) what;
    by
  in
  List.map part (Prove.weak_parts t (Goals.full_name goal) goal.task r)

(** Returns 0 if all chosen goals are proved, 1 if not, 3 if [only] chooses none. *)
let run project options theory =
  let t = { Prove.project; quick = options.quick; strict = false } in
  let file = Project.absolute project (Project.session_file theory) in
  match Project.attempt (fun () -> (Goals.of_theory project theory, Record.read file)) with
  | Error e ->
      List.iter (fun e -> print_endline ("ERROR " ^ e)) (Project.errors project e);
      1
  | Ok (goals, recorded) ->
      let found = Hashtbl.create 97 in
      let known goal =
        let name = Goals.full_name goal in
        match Hashtbl.find_opt found name with
        | Some r -> r
        | None -> Option.value (List.assoc_opt name recorded.goals) ~default:Record.nothing
      in
      (* An interruption keeps the proofs found so far. *)
      let names = List.map Goals.full_name goals in
      let of_others (name, r) =
        let r = Found.of_others r in
        if List.mem name names || Record.versions r = [] then None else Some (name, r)
      in
      let save from =
        let left = List.filter_map of_others recorded.goals in
        let all = List.map (fun goal -> (Goals.full_name goal, known goal)) goals @ left in
        ignore (Sys.command ("mkdir -p " ^ Filename.quote (Filename.dirname file)));
        if all <> [] then Found.write file { from; goals = all }
      in
      let from_others = List.remove_assoc Record.here recorded.from in
      let chosen = List.filter (fun goal -> wanted options (Goals.full_name goal)) goals in
      let prove (goal : Goals.goal) =
        Hashtbl.replace found (Goals.full_name goal) (Prove.goal t goal.task (known goal))
      in
      Fun.protect ~finally:(fun () -> save from_others) (fun () -> List.iter prove chosen);
      let weak = List.concat_map (fun goal -> report t theory goal (known goal)) chosen in
      (* Goals that [only] excludes may be unproved. *)
      if weak = [] && options.only = None then
        save (List.sort compare ((Record.here, options.from) :: from_others));
      let unproved, single = List.partition (( = ) []) weak in
      if chosen <> [] then
        Printf.printf "%s: %d of %d goals; parts unproved: %d; parts proved by one family only: %d\n"
          theory (List.length chosen) (List.length goals) (List.length unproved) (List.length single);
      if unproved <> [] then 1 else if chosen = [] && options.only <> None then 3 else 0
