(* Which of the variables that Why3 introduces for operands need no Python variable.

   Why3 has a pass for that, Compile.InlineProxyVars, which is not used: in 1.5.1 it loses track
   of what an expression reads once something has been put into it, and then moves a read of a
   reference across an assignment. *)

open Why3
open Ity
open Mltree

(* a variable that Why3 introduced, not the program *)
let is_proxy pv = Ident.(Sattr.mem proxy_attr pv.pv_vs.vs_name.id_attrs)

(* No effects: no writes, no exceptions, always an end. Why3 gives the variables in an assignment
   the effect of the assignment. *)
let is_pure e =
  match e.e_node with
  | Evar _ | Econst _ -> true
  | _ -> eff_pure e.e_effect

let rec occurrences pv e =
  match e.e_node with
  | Evar x -> if pv_equal x pv then 1 else 0
  | Efor (_, _, lower, _, upper, body) ->
      let is_bound x = if pv_equal x pv then 1 else 0 in
      is_bound lower + is_bound upper + occurrences pv body
  | Efun (_, body) -> occurrences pv body
  | _ -> e_fold (fun n e -> n + occurrences pv e) 0 e

let occurs pv e = occurrences pv e > 0

(* The variables whose contents matter for the value of an expression. [moved] gives them for a
   variable whose definition has itself been moved. *)
let rec reads ~moved e =
  let add pv set =
    match moved pv with
    | Some others -> Spv.union others set
    | None -> Spv.add pv set
  in
  let own =
    match e.e_node with
    | Evar pv -> Spv.singleton pv
    | _ -> e.e_effect.eff_reads
  in
  e_fold (fun set e -> Spv.union set (reads ~moved e)) (Spv.fold add own Spv.empty) e

let changes e variables =
  let affected regions = not (Spv.is_empty (pvs_affected regions variables)) in
  affected e.e_effect.eff_writes || affected e.e_effect.eff_resets

(* In [e], is [pv] used at most once, before anything that changes [reads]? *)
let rec is_reached pv ~reads e =
  let first_or_unchanged e1 rest =
    if occurs pv e1 then is_reached pv ~reads e1 else (not (changes e1 reads)) && rest ()
  in
  match e.e_node with
  | Evar _ | Eapp _ | Eassign _ -> true
  | Efor (_, _, _, _, _, body) -> not (occurs pv body)
  | Elet (Lvar (_, e1), e2) -> first_or_unchanged e1 (fun () -> is_reached pv ~reads e2)
  | Eif (test, yes, no) ->
      first_or_unchanged test (fun () -> List.for_all (is_reached pv ~reads) [ yes; no ])
  | Ematch (e1, branches, []) ->
      is_reached pv ~reads e1 && not (List.exists (fun (_, e) -> occurs pv e) branches)
  | Eraise (_, Some e) -> is_reached pv ~reads e
  | _ -> not (occurs pv e)

(* In [let pv = e1 in e2], where [e1] reads [reads], may [e1] be evaluated where [pv] is used? *)
let may_move pv e1 ~reads e2 = is_pure e1 && occurrences pv e2 = 1 && is_reached pv ~reads e2
