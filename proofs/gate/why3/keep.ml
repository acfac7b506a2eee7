(** The transformation [keep] reduces a goal's context to all that its proof needs.

    Its arguments name hypotheses and definitions. It drops all other hypotheses, turns all other
    definitions of functions and predicates into declarations, and drops declarations that are then
    unused. It adds nothing, and changes neither a formula nor the goal. So a proof of the result
    needs no dropped hypothesis, and holds however the declared functions are defined. A name that
    the context lacks is an error. *)

open Why3

let transformation = "keep"

(** Why3 1.8.0 splits a hypothesis at [/\] into [f'spec'0], [f'spec'1], ...: one name keeps all. *)
let of_prop (pr : Decl.prsymbol) =
  Re.Str.replace_first (Re.Str.regexp "'[0-9]+$") "" (Name.full pr.pr_name)

(** Each of these names keeps the whole declaration. *)
let names (d : Decl.decl) =
  match d.d_node with
  | Dprop ((Paxiom | Plemma), pr, _) -> [ of_prop pr ]
  | Dlogic definitions -> List.map (fun (ls, _) -> Name.full ls.Term.ls_name) definitions
  | Dprop (Pgoal, _, _) | Dtype _ | Ddata _ | Dparam _ | Dind _ -> []

let of_task task =
  let add found (td : Theory.tdecl) =
    match td.td_node with Decl d -> names d @ found | Use _ | Clone _ | Meta _ -> found
  in
  Task.task_fold add [] task

(** The part of a declaration that stays. *)
let rest is_kept (d : Decl.decl) =
  match d.d_node with
  | Dprop ((Paxiom | Plemma), _, _) -> if is_kept d then [ d ] else []
  | Dlogic definitions when not (is_kept d) ->
      List.map (fun (ls, _) -> Decl.create_param_decl ls) definitions
  | _ -> [ d ]

let of_type found ty = Ty.ty_s_fold (fun found ts -> Ident.Sid.add ts.Ty.ts_name found) found ty

let of_signature found (ls : Term.lsymbol) =
  List.fold_left of_type found (Option.to_list ls.ls_value @ ls.ls_args)

let of_term =
  let of_symbol found ls = of_signature (Ident.Sid.add ls.Term.ls_name found) ls in
  Term.t_s_fold of_type of_symbol

(** The symbols in a declaration. *)
let spoken_of (d : Decl.decl) =
  let all = List.fold_left of_signature Ident.Sid.empty in
  let declared =
    match d.d_node with
    | Dtype { ts_def = Alias ty; _ } -> of_type Ident.Sid.empty ty
    | Dtype _ | Dprop _ -> Ident.Sid.empty
    | Dparam ls -> all [ ls ]
    | Dlogic l -> all (List.map fst l)
    | Dind (_, l) -> all (List.map fst l)
    | Ddata types -> all (List.concat_map (fun (_, l) -> List.map fst l) types)
  in
  Decl.decl_fold of_term declared d

(** These settings make Why3 1.8.0 drop hypotheses itself, and write [==] for [=] in goals. *)
let is_advice (meta : Theory.meta) =
  meta.meta_name = "extensionality" || String.starts_with ~prefix:"remove_unused:" meta.meta_name

let keep wanted task =
  let module Names = Wstdlib.Sstr in
  let wanted = Names.of_list wanted in
  let unknown = Names.diff wanted (Names.of_list (of_task task)) in
  if not (Names.is_empty unknown) then
    failwith ("not in the context: " ^ String.concat ", " (Names.elements unknown));
  let is_kept d = List.exists (fun name -> Names.mem name wanted) (names d) in
  let goal, before = Task.task_separate_goal task in
  let seen = Ident.Hid.create 997 in
  let see d = Ident.Sid.iter (fun id -> Ident.Hid.replace seen id ()) (spoken_of d) in
  let is_spoken_of (d : Decl.decl) =
    match d.d_node with
    | Dprop _ -> true
    | _ -> Ident.Sid.exists (Ident.Hid.mem seen) d.d_news
  in
  let left (d : Decl.decl) =
    let ds = List.filter is_spoken_of (rest is_kept d) in
    List.iter see ds;
    ds
  in
  (* A symbol's uses follow its declaration. *)
  let choose chosen (td : Theory.tdecl) =
    match td.td_node with
    | Decl d -> List.map Theory.create_decl (left d) @ chosen
    | Use _ | Clone _ | Meta _ -> td :: chosen
  in
  let is_left = function
    | Theory.MAls ls -> Ident.Hid.mem seen ls.ls_name
    | MAts ts -> Ident.Hid.mem seen ts.ts_name
    | MAty ty -> Ident.Sid.for_all (Ident.Hid.mem seen) (of_type Ident.Sid.empty ty)
    | MApr pr -> Names.mem (of_prop pr) wanted
    | MAstr _ | MAint _ | MAid _ -> true
  in
  let add task (td : Theory.tdecl) =
    match td.td_node with
    | Meta (meta, arguments) when is_advice meta || not (List.for_all is_left arguments) -> task
    | _ -> Task.add_tdecl task td
  in
  (match goal.td_node with Decl d -> see d | Use _ | Clone _ | Meta _ -> ());
  let chosen = List.fold_left choose [] (List.rev (Task.task_tdecls before)) in
  Task.add_tdecl (List.fold_left add None chosen) goal

let () =
  let desc : Pp.formatted = "Keep@ the@ hypotheses@ and@ definitions@ that@ are@ named." in
  let transform wanted _ _ _ = Trans.store (keep wanted) in
  Trans.register_transform_with_args ~desc transformation transform
