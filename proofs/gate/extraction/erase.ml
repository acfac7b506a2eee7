(* Turns a typed program into the tree that both printers read, without ghost code, and with
   operands where they are used. Why3's own passes are not used (W17 in PROBLEMS.md).

   An expression is wanted for its value, or for its effects alone. Ghost code is dropped if its
   value is not wanted, and refused if it is: in a test, a scrutinee, an argument or a part of a
   tuple. Constructs that no program of ours has are refused, too. *)

open Why3
open Ident
open Ity
open Expr
module T = Mltree

let fail loc format = Loc.errorm ?loc format

(* {1 Trees} *)

let rec type_of ity =
  match ity.ity_node with
  | Ityvar tv -> T.Tvar tv
  | Ityapp (its, [ a; b ], _) when its_equal its its_func -> T.Tarrow (type_of a, type_of b)
  | Ityapp (its, l, _) when Ty.is_ts_tuple its.its_ts -> T.Ttuple (List.map type_of l)
  | Ityapp (its, l, _) | Ityreg { reg_its = its; reg_args = l; _ } ->
      T.Tapp (its.its_ts.ts_name, List.map type_of l)

let tree ity e_effect e_node : T.expr =
  { e_node; e_ity = I ity; e_mlty = type_of ity; e_effect; e_attrs = Sattr.empty }

let variable pv = tree pv.pv_ity (eff_read_single pv) (T.Evar pv)

let is_unit ity = ity_equal ity ity_unit

let type_is_reference ity =
  match ity.ity_node with
  | Ityreg { reg_its = its; _ } | Ityapp (its, _, _) -> its_equal its Pmodule.its_ref
  | Ityvar _ -> false

let is_reference pv = type_is_reference pv.pv_ity

let rec occurrences pv (e : T.expr) =
  let is x = if pv_equal x pv then 1 else 0 in
  let own =
    match e.e_node with
    | T.Evar x -> is x
    | T.Efor (_, _, lower, _, upper, _) -> is lower + is upper
    | _ -> 0
  in
  T.e_fold (fun n e -> n + occurrences pv e) own e

let occurs pv e = occurrences pv e > 0

(* {1 Ghost code} *)

let no_return = "a local exception that is no return of the function is not supported"

(* Why3 turns the returns of a function into a local exception, whose handler returns its value. *)
let is_given l (handler : T.expr) =
  match (l, handler.e_node) with
  | [ pv ], T.Evar x -> pv_equal pv x
  | [], T.Eblock [] -> true
  | _ -> false

let rec handles xs (e : T.expr) =
  match e.e_node with
  | T.Ematch (_, _, handlers) when List.exists (fun (x, _, _) -> xs_equal x xs) handlers -> true
  | _ -> T.e_fold (fun found e -> found || handles xs e) false e

let rec is_local (e : T.expr) =
  match e.e_node with T.Eexn _ -> true | _ -> T.e_fold (fun found e -> found || is_local e) false e

let in_order eff first (rest : T.expr) : T.expr =
  match (first.T.e_node, rest.e_node) with
  | T.Eblock [], _ -> rest
  | _, T.Eblock l -> { rest with e_node = T.Eblock (first :: l); e_effect = eff }
  | _ -> { rest with e_node = T.Eblock [ first; rest ]; e_effect = eff }

(* [loc]: the place of the nearest expression around [e] that has one *)
let rec erase ~wanted loc (e : expr) : T.expr =
  let loc = if e.e_loc = None then loc else e.e_loc in
  let wanted = wanted && not (is_unit e.e_ity) in
  let value = erase ~wanted:true loc and effects = erase ~wanted:false loc in
  let same = erase ~wanted loc in
  let made = tree (if wanted then e.e_ity else ity_unit) e.e_effect in
  let is_pure = eff_pure e.e_effect in
  match e.e_node with
  | _ when wanted && mask_ghost e.e_mask -> fail loc "the program depends on ghost code here"
  | _ when e_ghost e && not (Sxs.is_empty e.e_effect.eff_raises) ->
      fail loc "ghost code that raises an exception is not supported"
  | _ when e_ghost e || (is_pure && (not wanted) && e.e_node <> Eabsurd) -> T.e_unit
  | Evar pv -> variable pv
  | Econst c -> made (T.Econst c)
  | Eexec ({ c_node = Capp (rs, l); c_cty = { cty_args = []; _ } }, _)
    when wanted || is_unit e.e_ity ->
      made (T.Eapp (rs, operands loc rs l, false))
  | Eexec ({ c_node = Capp _; c_cty = { cty_args = []; _ } }, _) ->
      fail loc "a value that is ignored is not supported"
  | Eexec ({ c_node = Cfun body; c_cty = { cty_args = []; _ } }, _) -> same body
  | Eexec ({ c_node = Cany; _ }, _) -> fail loc "this value has no body and no syntax in the driver"
  | Eexec _ -> fail loc "a function that is a value is not supported"
  | Elet (LDvar (pv, e1), e2) -> (
      let rest = same e2 in
      match rest.e_node with
      | T.Evar x when pv_equal x pv -> value e1
      | _ when occurs pv rest -> define e.e_effect pv (value e1) rest
      | _ -> in_order e.e_effect (effects e1) rest)
  | Elet (LDsym (rs, _), e2) when rs_ghost rs -> same e2
  | Elet (LDrec l, e2) when List.for_all (fun d -> rs_ghost d.rec_sym) l -> same e2
  | Elet _ -> fail loc "a local function is not supported"
  | Eif (test, yes, no) -> made (T.Eif (value test, same yes, same no))
  | Eassign l -> (
      match List.filter (fun (_, field, _) -> not (rs_ghost field)) l with
      | [ (record, field, x) ] when not (record.pv_ghost || x.pv_ghost) ->
          made (T.Eassign [ (variable record, type_of record.pv_ity, field, variable x) ])
      | _ -> fail loc "an assignment of this form is not supported")
  | Ewhile (test, _, _, body) -> made (T.Ewhile (value test, effects body))
  | Efor (i, (lower, direction, upper), _, _, body) ->
      let direction = match direction with To -> T.To | DownTo -> T.DownTo in
      made (T.Efor (i, type_of i.pv_ity, lower, direction, upper, effects body))
  | Ematch (e1, branches, handlers) when branches = [] || Mxs.is_empty handlers ->
      let branch ({ pp_pat; _ }, e) = (pattern loc pp_pat, same e) in
      let handler (xs, (l, e)) =
        (checked loc xs, List.filter (fun pv -> not (is_unit pv.pv_ity)) l, same e)
      in
      let e1 = if branches = [] then same e1 else value e1 in
      made (T.Ematch (e1, List.map branch branches, List.map handler (Mxs.bindings handlers)))
  | Ematch _ -> fail loc "a match of values and of exceptions is not supported"
  | Eraise (xs, x) when is_unit (checked loc xs).xs_ity ->
      in_order e.e_effect (effects x) (made (T.Eraise (xs, None)))
  | Eraise (xs, x) -> made (T.Eraise (xs, Some (value x)))
  | Eexn (xs, e1) -> (
      match same e1 with
      | { e_node = T.Ematch (inner, [], [ (x, l, handler) ]); _ } as e1
        when xs_equal x (checked loc xs) && is_given l handler && not (handles xs inner) ->
          made (T.Eexn (xs, Some (type_of xs.xs_ity), e1))
      | _ -> fail loc "%s" no_return)
  | Eabsurd -> made T.Eabsurd
  | Eassert _ | Eghost _ | Epure _ -> fail loc "ghost code is not supported here"

(* A reference is bound to its [ref] itself, as [check_references] demands. *)
and define eff pv (e1 : T.expr) (rest : T.expr) =
  match e1.e_node with
  | T.Elet (operand, inner) when is_reference pv ->
      { rest with e_node = T.Elet (operand, define eff pv inner rest); e_effect = eff }
  | _ -> { rest with e_node = T.Elet (Lvar (pv, e1), rest); e_effect = eff }

and operands loc (rs : rsymbol) l =
  let operand (formal, pv) =
    if formal.pv_ghost then None
    else if pv.pv_ghost then fail loc "a ghost argument is used as another"
    else if is_unit formal.pv_ity then Some T.e_unit
    else if is_unit pv.pv_ity then fail loc "an argument of type () is not supported"
    else Some (variable pv)
  in
  List.filter_map operand (List.combine rs.rs_cty.cty_args l)

and checked loc xs =
  if mask_ghost xs.xs_mask then
    fail loc "the exception %s has a ghost part, which is not supported" xs.xs_name.id_string;
  xs

and pattern loc (p : Term.pattern) =
  let has_ghost (ls : Term.lsymbol) =
    List.exists (fun pv -> pv.pv_ghost) (restore_rs ls).rs_cty.cty_args
  in
  match p.pat_node with
  | Pvar vs when not (restore_pv vs).pv_ghost -> T.Pvar vs
  | Por (p, q) -> T.Por (pattern loc p, pattern loc q)
  | Papp (ls, l) when not (Term.is_fs_tuple ls || has_ghost ls) ->
      T.Papp (ls, List.map (pattern loc) l)
  | _ -> fail loc "a pattern without a constructor is not supported"

(* {1 Operands} *)

(* a variable that Why3 introduced, not the program *)
let is_proxy pv = Sattr.mem proxy_attr pv.pv_vs.vs_name.id_attrs

(* A simple expression writes and raises nothing, ends, and has a form without statements. *)
let rec is_simple (e : T.expr) =
  eff_pure e.e_effect
  &&
  match e.e_node with
  | T.Evar _ | T.Econst _ | T.Eblock [] -> true
  | T.Eapp (_, _, false) | T.Eif _ -> T.e_fold (fun ok e -> ok && is_simple e) true e
  | _ -> false

(* the variables whose contents matter for the value of an expression *)
let rec reads (e : T.expr) =
  T.e_fold (fun found e -> Spv.union found (reads e)) e.e_effect.eff_reads e

let changes (e : T.expr) variables =
  let affected regions = not (Spv.is_empty (pvs_affected regions variables)) in
  affected e.e_effect.eff_writes || affected e.e_effect.eff_resets

(* Does [e] use [pv] before any change of the variables [reads], and in no loop? *)
let rec is_reached pv ~reads (e : T.expr) =
  let first_or_unchanged e1 rest =
    if occurs pv e1 then is_reached pv ~reads e1 else (not (changes e1 reads)) && rest ()
  in
  match e.e_node with
  | T.Evar _ | T.Eapp _ | T.Eassign _ -> true
  | T.Elet (Lvar (_, e1), e2) -> first_or_unchanged e1 (fun () -> is_reached pv ~reads e2)
  | T.Eif (test, yes, no) ->
      first_or_unchanged test (fun () -> List.for_all (is_reached pv ~reads) [ yes; no ])
  | _ -> not (occurs pv e)

(* Moves operands that Why3 has named to their single use, if the meaning stays. *)
let rec inline known (e : T.expr) =
  match e.e_node with
  | T.Evar pv -> Mpv.find_def e pv known
  | T.Elet (Lvar (pv, e1), e2) ->
      let e1 = inline known e1 in
      if is_proxy pv && is_simple e1 && occurrences pv e2 = 1 && is_reached pv ~reads:(reads e1) e2
      then inline (Mpv.add pv e1 known) e2
      else { e with e_node = T.Elet (Lvar (pv, e1), inline known e2) }
  | _ -> T.e_map (inline known) e

(* {1 References} *)

(* Checks that each reference is a local variable, only read and assigned, without another name. *)
let rec check_references loc (e : T.expr) =
  let inside = T.e_fold (fun () e -> check_references loc e) () in
  match e.e_node with
  | T.Evar pv when is_reference pv ->
      fail loc "the reference %s escapes: it may only be read and assigned here"
        pv.pv_vs.vs_name.id_string
  | T.Eapp (rs, [ { e_node = T.Evar _; _ } ], _) when rs_equal rs Pmodule.rs_ref_proj -> ()
  | T.Eassign [ ({ e_node = T.Evar _; _ }, _, rs, x) ] when rs_equal rs Pmodule.rs_ref_proj ->
      check_references loc x
  | T.Elet (Lvar (pv, e1), e2) -> (
      let loc = if pv.pv_vs.vs_name.id_loc = None then loc else pv.pv_vs.vs_name.id_loc in
      check_references loc e2;
      match e1.e_node with
      | T.Eapp (rs, [ x ], _) when rs_equal rs Pmodule.rs_ref -> check_references loc x
      | _ when is_reference pv ->
          fail loc "the reference %s may be an alias: it is not made by ref"
            pv.pv_vs.vs_name.id_string
      | _ -> check_references loc e1)
  | _ -> inside e

(* Is [pv] a bound of the loop that follows? Python evaluates bounds once, before the loop. *)
let rec is_bound pv (e : T.expr) =
  match e.e_node with
  | T.Efor (_, _, lower, _, upper, body) ->
      is_proxy pv && (pv_equal pv lower || pv_equal pv upper) && not (occurs pv body)
  | T.Elet (Lvar (_, e1), e2) -> is_simple e1 && is_bound pv e2
  | _ -> false

(* {1 Programs} *)

let refuse (id : ident) reason = fail id.id_loc "%s %s" (Whyml_printer.qualified id) reason

let function_ (rs : rsymbol) e =
  let loc = rs.rs_name.id_loc in
  let is_visible pv =
    if is_unit pv.pv_ity then fail loc "a parameter of type () is not supported";
    not pv.pv_ghost
  in
  let { cty_args; cty_result; cty_mask; _ } = rs.rs_cty in
  if rs_ghost rs || mask_ghost cty_mask then fail loc "a result with a ghost part is not supported";
  let arguments = List.filter is_visible cty_args in
  if type_is_reference cty_result || List.exists is_reference arguments then
    fail loc "a reference may only be a local variable: this one is a parameter or a result";
  let body = inline Mpv.empty (erase ~wanted:true loc e) in
  if T.e_fold (fun found e -> found || is_local e) false body then fail loc "%s" no_return;
  check_references loc body;
  (rs, arguments, body)

(* The parameters and the body of a named program of a module. *)
let program (m : Pmodule.pmodule) id =
  match (Mid.find id m.mod_known).Pdecl.pd_node with
  | PDlet (LDsym (rs, { c_node = Cfun e; _ })) -> function_ rs e
  | PDlet (LDrec _) -> refuse id "is recursive, which is not supported"
  | _ -> refuse id "has no body and no syntax in the driver"
