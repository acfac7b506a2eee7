(** The search for proofs.

    For every part of a goal two proofs are wanted, by provers of different families; one is enough
    to call it proved. From cheap to dear:
    - what the session has and is not obsolete stays; obsolete proofs are tried first where they
      were;
    - the goal whole, at a glance, by one prover of each family; where that fails or is dear,
      [split_vc] and each part in the same way, if a replay then pays less;
    - a part that no split takes further: longer limits. What resists wants an assertion in the
      source, not another transformation: one is all that has to be trusted.

    What failed is kept with the other answers, so that the next update does not wait for it again. *)

open Why3
open Session_itp

(** Seconds. Most goals are proved in well under one; the longest is half of the shortest limit
    that the gate's replay grants. A goal that can be split gets a glance only. *)
let glance = 2

let brief = 2
let middle = 5
let long = 15

(** Two proofs that take no longer than this each are as good as any. *)
let good_price = 0.3

(** What Why3 takes to prepare and print a part for two provers. *)
let preparation = 0.05

type effort = Quick | Normal | Thorough

(** [cores]: goals that have their proofs from the whole context are tried without it. *)
type t =
  { project : Project.t; session : Session.t; effort : effort; retry : bool; cores : bool }

let tree t = Session.tree t.session
let proved t id = pn_proved (tree t) id

(** {1 Running provers} *)

let family (p : Prover.t) = Project.family p.prover.prover
let is_among provers (p : Prover.t) = List.mem p.prover.prover provers

(** Configured provers from cheap to dear, those in [first] in front. *)
let candidates t first =
  let before, after = List.partition (is_among first) (Prover.all t.project) in
  before @ after

(** The first of each family; the others only where they proved it before. *)
let best_candidates t first =
  let add chosen p =
    let same q = family q = family p in
    if List.exists same chosen && not (is_among first p) then chosen else p :: chosen
  in
  List.rev (List.fold_left add [] (candidates t first))

let at_good_price proofs =
  Node.redundant (List.filter (fun (p : Node.proof) -> p.seconds <= good_price) proofs)

(** Asks the provers about a node for at most [seconds] each, until two families have proved it at a
    good price, or [patience] provers have failed and none has proved it. A third family gets a
    glance at what two have proved dearly: the search pays once, the replay every time. *)
let race ?(patience = max_int) t id ~seconds proofs provers =
  let task = get_task (tree t) id in
  let proofs = ref proofs and failed = ref 0 in
  let ask p =
    let limit = if Node.redundant !proofs then min glance seconds else seconds in
    if List.mem (family p) (Node.families !proofs) then None
    else Result.to_option (Project.attempt (fun () -> Prover.question p (Seconds limit) task))
  and finished (p : Prover.t) (answer : Prover.answer) =
    if Prover.is_valid answer then
      proofs := { Node.prover = p.prover.prover; seconds = answer.seconds } :: !proofs
    else incr failed;
    if at_good_price !proofs || (!proofs = [] && !failed >= patience) then `Stop else `Go_on
  in
  let believed answer = Prover.is_valid answer || not t.retry in
  if not (Node.redundant !proofs) then Prover.ask_all ~width:2 ~believed ~ask ~finished provers;
  !proofs

(** {1 A goal without usable proofs} *)

(** What a replay pays for a goal as it stands, for all its parts; each is prepared and printed
    twice besides. Beyond price as long as some part lacks a second family. *)
let rec cost t id =
  let s = tree t in
  match (Node.valid_attempts s id, get_transformations s id) with
  | [], node :: _ ->
      List.fold_left (fun sum part -> sum +. cost t part) 0. (get_sub_tasks s node)
  | attempts, _ -> price (List.map Node.proof_of attempts)

and price proofs =
  let seconds = List.fold_left (fun sum (p : Node.proof) -> sum +. p.seconds) preparation in
  if Node.redundant proofs then seconds (Node.best proofs) else infinity

let rec search t id ~first proofs =
  match Node.split (tree t) t.project.env id with
  | None ->
      let proofs = race t id ~seconds:brief proofs (candidates t first) in
      if Node.redundant proofs then Node.record (tree t) id proofs else insist t id proofs
  | Some (node, parts) ->
      let proofs = race t id ~patience:3 ~seconds:glance proofs (best_candidates t first) in
      if not (Node.redundant proofs) then search_parts t id node parts proofs
      else begin
        if not (at_good_price proofs) then List.iter (fun part -> search t part ~first:[] []) parts;
        if price proofs <= cost t id then begin
          Node.drop (tree t) id node;
          Node.record (tree t) id proofs
        end
        else update_trans_node Node.silent (tree t) node
      end

(** [proofs] of the goal whole, by one family, are better than parts that are not all proved. *)
and search_parts t id node parts proofs =
  List.iter (fun part -> search t part ~first:[] []) parts;
  update_trans_node Node.silent (tree t) node;
  if proofs <> [] && not (tn_proved (tree t) node) then begin
    Node.drop (tree t) id node;
    insist t id proofs
  end

(** Longer limits. A second family is worth the middle limit; an unproved part all that there is. *)
and insist t id proofs =
  let worth proofs seconds =
    match t.effort with
    | Quick -> false
    | Normal -> proofs = [] || seconds <= middle
    | Thorough -> true
  in
  let step proofs seconds =
    if worth proofs seconds then race t id ~seconds proofs (candidates t []) else proofs
  in
  let proofs = List.fold_left step proofs [ middle; long ] in
  if proofs <> [] then Node.record (tree t) id proofs

(** {1 A goal with a past} *)

(** Empties the node; the proofs that still hold, and the provers whose proofs are obsolete. *)
let take_attempts t id =
  let installed (a : proof_attempt_node) = Prover.find t.project a.prover <> None in
  let attempts = List.filter installed (Node.valid_attempts (tree t) id) in
  Node.remove_attempts (tree t) id;
  let is_obsolete (a : proof_attempt_node) = a.proof_obsolete in
  let obsolete, current = List.partition is_obsolete attempts in
  (List.map Node.proof_of current, List.map (fun (a : proof_attempt_node) -> a.prover) obsolete)

(** Makes a node and all below it up to date. *)
let rec settle t id =
  let s = tree t in
  let proofs, obsolete = take_attempts t id in
  let detached, live =
    List.partition (fun node -> is_detached s (ATn node)) (get_transformations s id)
  in
  List.iter (Node.remove s) detached;
  (match live with
  | node :: spare when proofs = [] ->
      List.iter (Node.remove s) spare;
      follow t id node
  | _ ->
      List.iter (Node.remove s) live;
      if Node.redundant proofs then Node.record s id proofs
      else search t id ~first:obsolete proofs);
  update_goal_node Node.silent s id

(** The stored transformation led to proofs before; where it no longer does, start afresh. *)
and follow t id node =
  let s = tree t in
  let detached, parts = List.partition (fun p -> is_detached s (APn p)) (get_sub_tasks s node) in
  List.iter (fun part -> Node.remove_detached s (APn part)) detached;
  List.iter (settle t) parts;
  update_trans_node Node.silent s node;
  if not (List.mem (get_transf_name s node) [ Node.split_name; Keep.transformation ]) then begin
    Node.drop s id node;
    search t id ~first:[] []
  end

(** {1 What a proof needs of its context} *)

(** Seconds for a prover that tells what it uses, of what may have parts. *)
let at_once = 1

(** What some prover uses for a task, or else what is used for its parts, all together. *)
let rec names_used t provers task =
  let both found part =
    let add names = Option.map (Cores.Names.union names) (names_used t provers part) in
    Option.bind found add
  in
  match Cores.find provers ~limits:[ at_once ] task with
  | Some names -> Some names
  | None -> (
      match Trans.apply_transform Node.split_name t.project.env task with
      | [] | [ _ ] -> (
          match Cores.find provers ~limits:[ middle ] task with
          | Some names -> Some names
          | None ->
              let all = List.sort_uniq compare (Keep.of_task task) in
              List.find_map (fun p -> Cores.shrink p task all) (Prover.all t.project))
      | parts -> List.fold_left both (Some Cores.Names.empty) parts)

(** Whether two families prove the goal with what is named, each part of it; if so, that takes the
    place of all that the goal had. *)
let is_enough t id names =
  let s = tree t in
  let node, small = Node.keep s t.project.env id (Cores.Names.elements names) in
  search t small ~first:[] [];
  let enough = Node.weak_leaves s small = [] in
  if enough then begin
    let others = List.filter (( <> ) node) (get_transformations s id) in
    Node.remove_attempts s id;
    List.iter (Node.remove s) others
  end
  else Node.remove s node;
  update_goal_node Node.silent s id;
  enough

(** First by what the first prover uses that tells, then by what each uses that does. *)
let narrowed t id =
  let telling (p : Prover.t) = List.mem p.prover.prover.prover_name [ "CVC5"; "Z3" ] in
  let provers = List.rev (List.filter telling (Prover.all t.project)) in
  let task = get_task (tree t) id in
  let known = Cores.Names.of_list (Keep.of_task task) in
  let names provers = Option.map (Cores.Names.inter known) (names_used t provers task) in
  match names provers with
  | None -> false
  | Some by_first ->
      is_enough t id by_first
      ||
      let by_second = Option.value (names (List.rev provers)) ~default:Cores.Names.empty in
      let all = Cores.Names.union by_first by_second in
      (not (Cores.Names.equal all by_first)) && is_enough t id all

(** A goal: with the part of its context that it was proved with before, if that still does. *)
let settle_goal t id =
  let s = tree t in
  let is_keep node =
    get_transf_name s node = Keep.transformation && not (is_detached s (ATn node))
  in
  let is_small = List.exists is_keep (get_transformations s id) in
  if is_small then settle t id;
  let is_done = proved t id && Node.weak_leaves s id = [] in
  if not (is_done && (is_small || not t.cores)) then
    if not (narrowed t id) then begin
      List.iter (Node.remove s) (List.filter is_keep (get_transformations s id));
      settle t id
    end
