(** The search for proofs.

    The gate wants two proofs of each part of a goal, by provers of different families; the search
    also records a single proof. It tries, from cheap to costly:
    - the recorded steps, of this version of Why3 or another, first with the provers that proved
      each part;
    - the goal with the hypotheses and definitions that some prover reports ([keep]), with the
      shortest limit, until provers of two families prove it; if that fails, each part of [split_vc]
      in the same way;
    - longer limits for a part that no split divides. If they fail, add an assertion to the
      source. *)

(** Seconds. Most goals take far less than a second; [long] is half of the shortest limit of the
    gate's replay. *)
let glance = 2

let middle = 5
let long = 15

(** [quick]: without the longer limits; [strict]: a search ends at the first part that two families
    do not prove within the shortest limit. *)
type t = { project : Project.t; quick : bool; strict : bool }

exception Not_enough

(** {1 Running provers} *)

(** Asks the provers about a task for at most [seconds] each, first those of [first], then from fast
    to slow, until two families have proved it. *)
let race t task ~seconds ~first proofs =
  let ask proofs (p : Prover.t) =
    let name = Prover.name p in
    if Record.redundant proofs || List.mem (Record.family name) (Record.families proofs) then proofs
    else
      let answer = Prover.ask p (Seconds seconds) task in
      if Prover.is_valid answer then proofs @ [ { Record.prover = name; seconds = answer.seconds } ]
      else proofs
  in
  let is_first p = List.mem (Prover.name p) first in
  let before, after = List.partition is_first (Prover.all t.project) in
  List.fold_left ask proofs (before @ after)

(** The parts of a split. [None] for a single part (the goal with renamed hypotheses), or if Why3's
    split fails because names of hypotheses clash. *)
let parts t task =
  match Project.attempt (fun () -> Split.parts t.project task) with
  | Error _ | Ok [ _ ] -> None
  | Ok parts -> Some parts

(** {1 Found proofs, and parts left to prove} *)

let split parts = Found.taken_apart (Split parts)

(** The parts of a goal that no family, or only one, has proved: name, whether it is the whole goal,
    task, provers. *)
let weak_parts t name task r =
  let rec weak ~root name task r =
    let r = Record.mine r in
    match (Record.own r, r.step) with
    | [], Some (Keep (names, r)) -> weak ~root:false (Goals.part_name name 0) (Keep.keep names task) r
    | [], Some (Split parts) ->
        let part i (task, r) = weak ~root:false (Goals.part_name name i) task r in
        List.concat (List.mapi part (List.combine (Split.parts t.project task) parts))
    | proofs, _ when Record.redundant proofs -> []
    | proofs, _ -> [ (name, root, task, List.map (fun p -> p.Record.prover) proofs) ]
  in
  weak ~root:true name task r

(** Whether each part has proofs of at least this number of families. *)
let rec has families (r : Record.t) =
  match (Record.own r, r.step) with
  | [], Some step -> List.for_all (has families) (Record.below (Some step))
  | proofs, _ -> List.length (Record.families proofs) >= families

(** {1 A goal without usable proofs} *)

(** [proofs] of the whole goal by one family are better than a split with an unproved part. *)
let rec search t task ~first proofs =
  let proofs = race t task ~seconds:glance ~first proofs in
  if Record.redundant proofs then Found.proved proofs
  else
    match parts t task with
    | None -> insist t task proofs
    | Some parts ->
        let found = split (List.map (fun part -> search t part ~first:[] []) parts) in
        if proofs = [] || has 1 found then found else insist t task proofs

(** Tries [middle] for a second family, also [long] for an unproved part; raises if [strict]. *)
and insist t task proofs =
  if t.strict then raise Not_enough;
  let step proofs seconds =
    let is_worth_it = (not t.quick) && (proofs = [] || seconds <= middle) in
    if is_worth_it then race t task ~seconds ~first:[] proofs else proofs
  in
  Found.proved (List.fold_left step proofs [ middle; long ])

(** {1 The context that a proof needs} *)

(** Seconds for a prover that prints the names it uses. *)
let at_once = 1

let union = Cores.Names.union

(** The names used for a goal, or for all its parts, if a prover prints them. *)
let rec names_used t task =
  let provers = List.rev_map (fun p -> (p, at_once)) (Prover.all t.project) in
  match (Cores.find provers task, lazy (parts t task)) with
  | Some names, _ -> names
  | None, (lazy (Some parts)) ->
      List.fold_left (fun found part -> union found (names_used t part)) Cores.Names.empty parts
  | None, (lazy None) -> Cores.Names.empty

(** Those [names] that are in the context of a task. *)
let known_in task names = Cores.Names.(elements (inter names (of_list (Keep.of_task task))))

(** Proofs of the goal from the named hypotheses, if two families prove each part of it. *)
let from_names t task names =
  let names = known_in task names in
  match search { t with strict = true } (Keep.keep names task) ~first:[] [] with
  | found -> if has 2 found then Some (Found.taken_apart (Keep (names, found))) else None
  | exception Not_enough -> None

(** Proofs of the goal from some hypotheses, or else of its parts, or else from all hypotheses.
    [near]: the names used for the whole goal. *)
let rec narrow ?near t task =
  let names = names_used t task in
  let near = Option.value near ~default:names in
  match (from_names t task names, lazy (parts t task)) with
  | Some found, _ -> found
  | None, (lazy (Some parts)) -> split (List.map (narrow ~near t) parts)
  | None, (lazy None) -> (
      let provers = List.map (fun p -> (p, middle)) (Prover.all t.project) in
      let second = Option.value (Cores.find provers task) ~default:names in
      match from_names t task (union near second) with
      | Some found -> found
      | None -> search t task ~first:[] [])

(** {1 A recorded goal} *)

(** Keeps the proofs of a part if they are of two families and all still hold. Otherwise searches
    for proofs: first with the recorded steps and provers, then anew. *)
let rec settle t task known =
  let r = Record.mine known in
  let anew () = narrow t task in
  match r.step with
  | Some (Keep (names, r)) -> (
      let names = known_in task (Cores.Names.of_list names) in
      match settle { t with strict = true } (Keep.keep names task) r with
      | found -> Found.taken_apart (Keep (names, found))
      | exception Not_enough -> anew ())
  | Some (Split records) -> (
      match Project.attempt (fun () -> Split.parts t.project task) with
      | Ok parts when List.compare_lengths parts records = 0 ->
          split (List.map2 (settle t) parts records)
      | _ -> anew ())
  | None -> (
      let own = Record.own r in
      let holds (p : Record.proof) =
        let seconds = max middle (int_of_float (ceil (3. *. p.seconds))) in
        let ask by = Prover.is_valid (Prover.ask by (Seconds seconds) task) in
        Option.fold ~none:false ~some:ask (Prover.find t.project p.prover)
      in
      match List.map (fun p -> p.Record.prover) (List.concat_map snd r.proofs) with
      | _ when Record.redundant own && List.for_all holds own -> Found.proved own
      | [] -> anew ()
      | first ->
          let race proofs seconds = race t task ~seconds ~first proofs in
          let proofs = List.fold_left race [] [ glance; middle ] in
          if Record.redundant proofs then Found.proved proofs else anew ())

let goal t task known = Found.merged known (settle t task known)
