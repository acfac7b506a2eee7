(** The search for proofs.

    For every part of a goal two proofs are wanted, by provers of different families; one is enough
    to call it proved. From cheap to dear:
    - what the session has and is not obsolete stays; obsolete proofs are tried first where they
      were;
    - the goal whole, at a glance, by one prover of each family; where that fails, [split_vc] and
      each part in the same way;
    - a part that no split takes further: longer limits. What resists wants an assertion in the
      source, not another transformation: one is all that has to be trusted.

    All of this is tried first with the part of the context that some prover says it uses: [keep]. *)

open Why3
open Session_itp

(** Seconds. Most goals are proved in well under one; the longest is half of the shortest limit
    that the gate's replay grants. *)
let glance = 2

let middle = 5
let long = 15

(** [quick]: no longer limits; [strict]: a search ends at the first part that two families do not
    prove soon. *)
type t = { project : Project.t; session : Session.t; quick : bool; strict : bool }

exception Not_enough

let tree t = Session.tree t.session
let proved t id = pn_proved (tree t) id

(** {1 Running provers} *)

let is_among provers (p : Prover.t) = List.mem p.prover.prover provers

(** Asks the provers about a node for at most [seconds] each, from cheap to dear but those of [first]
    before the others, until two families have proved it. *)
let race t id ~seconds ~first proofs =
  let ask proofs (p : Prover.t) =
    let families = Node.families proofs in
    if Node.redundant proofs || List.mem (Project.family p.prover.prover) families then proofs
    else
      let answer = Prover.ask p (Seconds seconds) (get_task (tree t) id) in
      if Prover.is_valid answer then
        { Node.prover = p.prover.prover; seconds = answer.seconds } :: proofs
      else proofs
  in
  let before, after = List.partition (is_among first) (Prover.all t.project) in
  List.fold_left ask proofs (before @ after)

(** {1 What is recorded, and what is left to prove} *)

(** Written into the session for every proof, so that a session does not change with the limit at
    which a proof happened to be found. A replay takes its limits from the recorded seconds. *)
let recorded_limit = { Call_provers.empty_limit with limit_time = 15; limit_mem = 2000 }

let record s id proofs =
  let put { Node.prover; seconds } =
    ignore (graft_proof_attempt s id prover ~limit:recorded_limit);
    let result =
      { Call_provers.pr_answer = Valid; pr_status = WEXITED 0; pr_output = ""; pr_time = seconds;
        pr_steps = -1; pr_models = [] }
    in
    update_proof_attempt Node.silent s id prover result
  in
  List.iter put proofs;
  update_goal_node Node.silent s id

(** The parts of a goal without a proof, or with proofs of one family: by these provers. *)
let rec weak_leaves s id =
  match (List.map Node.proof_of (Node.valid_attempts s id), get_transformations s id) with
  | [], (_ :: _ as nodes) ->
      List.concat_map (weak_leaves s) (List.concat_map (get_sub_tasks s) nodes)
  | proofs, _ when Node.redundant proofs -> []
  | proofs, _ -> [ (id, List.map (fun p -> p.Node.prover.prover_name) proofs) ]

(** {1 A goal without usable proofs} *)

(** [proofs] of the goal whole, by one family, are better than parts that are not all proved. *)
let rec search t id ~first proofs =
  let s = tree t in
  let proofs = race t id ~seconds:glance ~first proofs in
  if Node.redundant proofs then record s id proofs
  else
    match Node.split s t.project.env id with
    | None -> insist t id proofs
    | Some (node, parts) ->
        List.iter (fun part -> search t part ~first:[] []) parts;
        update_trans_node Node.silent s node;
        if proofs <> [] && not (tn_proved s node) then begin
          Node.remove s (ATn node);
          insist t id proofs
        end

(** Longer limits. A second family is worth the middle limit; an unproved part all that there is.
    [strict]: none is. *)
and insist t id proofs =
  if t.strict then raise Not_enough;
  let step proofs seconds =
    let is_worth_it = (not t.quick) && (proofs = [] || seconds <= middle) in
    if is_worth_it then race t id ~seconds ~first:[] proofs else proofs
  in
  let proofs = List.fold_left step proofs [ middle; long ] in
  if proofs <> [] then record (tree t) id proofs

(** {1 A goal with a past} *)

(** Empties the node; the proofs that still hold, and the provers whose proofs are obsolete. *)
let take_attempts t id =
  let installed (a : proof_attempt_node) = Prover.find t.project a.prover <> None in
  let attempts = List.filter installed (Node.valid_attempts (tree t) id) in
  Node.remove_attempts (tree t) id;
  let is_obsolete (a : proof_attempt_node) = a.proof_obsolete in
  let obsolete, current = List.partition is_obsolete attempts in
  (List.map Node.proof_of current, List.map (fun (a : proof_attempt_node) -> a.prover) obsolete)

(** Makes a node and all below it up to date. A stored transformation led to proofs before. *)
let rec settle t id =
  let s = tree t in
  let proofs, obsolete = take_attempts t id in
  let is_known node = Session.is_keep s node || get_transf_name s node = Node.split_name in
  (match get_transformations s id with
  | node :: spare when proofs = [] && is_known node ->
      Node.remove_transformations s spare;
      List.iter (settle t) (get_sub_tasks s node);
      update_trans_node Node.silent s node
  | nodes ->
      Node.remove_transformations s nodes;
      if Node.redundant proofs then record s id proofs else search t id ~first:obsolete proofs);
  update_goal_node Node.silent s id

(** {1 What a proof needs of its context} *)

(** Seconds for a prover that tells what it uses. *)
let at_once = 1

let rec has_part_of_context s id =
  let below node = Session.is_keep s node || List.exists (has_part_of_context s) (get_sub_tasks s node) in
  List.exists below (get_transformations s id)

(** Each prover with the seconds that it may take: those that have proved the goal come first, and
    get some times what they took. *)
let with_limits t id =
  let proofs = List.map Node.proof_of (Node.valid_attempts (tree t) id) in
  let limit (p : Prover.t) =
    let of_prover (proof : Node.proof) = proof.prover = p.prover.prover in
    match List.find_opt of_prover proofs with
    | None -> (p, at_once)
    | Some { seconds; _ } -> (p, max at_once (min middle (int_of_float (ceil (3. *. seconds)))))
  in
  let has_proved = is_among (List.map (fun (proof : Node.proof) -> proof.prover) proofs) in
  let before, others = List.partition has_proved (List.rev (Prover.all t.project)) in
  List.map limit (before @ others)

(** What is used for a goal that has proofs, or for its parts, all together, as far as somebody
    tells. *)
let rec names_used t id =
  let s = tree t in
  let all used parts =
    List.fold_left (fun found part -> Cores.Names.union found (used part)) Cores.Names.empty parts
  in
  let provers = with_limits t id in
  let rec of_task task =
    match Cores.find provers task with
    | Some names -> names
    | None -> (
        match Node.parts t.project.env task with
        | [] | [ _ ] -> Cores.Names.empty
        | parts -> all of_task parts)
  in
  match List.filter (fun node -> not (Session.is_keep s node)) (get_transformations s id) with
  | node :: _ when Node.valid_attempts s id = [] -> all (names_used t) (get_sub_tasks s node)
  | _ -> of_task (get_task s id)

(** Whether two families prove the goal with what is named, each part of it; if so, that takes the
    place of all that the goal had. *)
let is_enough t id names =
  let s = tree t in
  let known = Cores.Names.of_list (Keep.of_task (get_task s id)) in
  let names = Cores.Names.elements (Cores.Names.inter known names) in
  let node, small = Node.keep s t.project.env id names in
  let enough =
    match search { t with strict = true } small ~first:[] [] with
    | () -> weak_leaves s small = []
    | exception Not_enough -> false
  in
  let others = List.filter (( <> ) node) (get_transformations s id) in
  if enough then Node.remove_attempts s id;
  Node.remove_transformations s (if enough then others else [ node ]);
  update_goal_node Node.silent s id;
  enough

(** Proofs from a part of the context: of the goal, or else of its parts, or else from all of it.
    [near]: what is used for the other parts too. *)
let rec narrow ?near t id =
  let s = tree t in
  let names = names_used t id in
  let near = Option.value near ~default:names in
  if not (is_enough t id names) then begin
    Node.remove_transformations s (List.filter (Session.is_keep s) (get_transformations s id));
    let split =
      match get_transformations s id with
      | node :: _ -> Some (node, get_sub_tasks s node)
      | [] when Node.redundant (List.map Node.proof_of (Node.valid_attempts s id)) -> None
      | [] -> Node.split s t.project.env id
    in
    match split with
    | Some (node, parts) ->
        Node.remove_attempts s id;
        List.iter (narrow ~near t) parts;
        update_trans_node Node.silent s node
    | None ->
        (* What each prover uses that tells. *)
        let second = Cores.find (List.rev (with_limits t id)) (get_task s id) in
        let more = Cores.Names.union near (Option.value second ~default:names) in
        if not (is_enough t id more) then settle t id
  end

(** A goal: with the part of its context that it was proved with before, if that still does. *)
let settle_goal t id =
  let s = tree t in
  (try if has_part_of_context s id then settle { t with strict = true } id with Not_enough -> ());
  if not (proved t id && weak_leaves s id = []) then narrow t id
