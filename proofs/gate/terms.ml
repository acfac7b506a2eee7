(** Terms and formulas as WhyML text; see [Whyml]. *)

open Why3
open Format
open Term
open Whyml
open Formulas
open Place

(** Items with connectives of one level: on one line, or on a line each. *)
let connected place level print fmt items =
  let rec body ~last fmt = function
    | [] -> ()
    | [ (x, _) ] -> print { level = level + 1; last } fmt x
    | (x, connective) :: rest ->
        fprintf fmt "%a %s@ %a" (print (tight (level + 1))) x connective (body ~last) rest
  in
  at place level (fun ~last fmt -> fprintf fmt "@[<hv>%a@]" (body ~last) items) fmt

let rec print t place fmt e =
  let e = strip e in
  match e.t_node with
  | Tvar v -> (
      match Mvs.find_opt v t.old with
      | None -> variable t fmt v
      | Some now ->
          let old ~last:_ fmt = fprintf fmt "old %a" (variable t) now in
          at place level_apply old fmt)
  | Tconst c -> constant t place fmt e c
  | Ttrue -> pp_print_string fmt "true"
  | Tfalse -> pp_print_string fmt "false"
  | Tapp (ls, [ a; b ]) when ls_equal ls ps_equ && is_true b -> print t place fmt a
  | Tif (f, a, b) when is_true a && is_false b -> print t place fmt f
  | Tapp (ls, [ _; _ ]) when ls_equal ls fs_func_app ->
      let f, arguments = unapply e [] in
      let call ~last:_ fmt = applied t (print t (tight level_tight)) fmt f arguments in
      at place level_apply call fmt
  | Tapp (ls, arguments) -> application t place fmt e ls arguments
  | Tif (f, a, b) ->
      let body fmt =
        fprintf fmt "@[<hv>if %a@ then %a@ else %a@]" (whole t) f (whole t) a (whole t) b
      in
      reaching place body fmt
  | Tlet (a, bound) ->
      let v, b = t_open_bound bound in
      let body fmt =
        fprintf fmt "@[<hv>@[<hov 2>let %a =@ %a in@]@ %a@]" (variable t) v (whole t) a (whole t) b
      in
      reaching place body fmt;
      forget t [ v ]
  | Tcase (a, branches) ->
      let branches fmt () = List.iter (branch t fmt) branches in
      fprintf fmt "@[<hv>match %a with%a@ end@]" (whole t) a branches ()
  | Teps bound -> (
      match t_open_lambda e with
      | [], _, _ ->
          let v, f = t_open_bound bound in
          reaching place (quantified t "epsilon" [ v ] f) fmt
      | vs, _, body -> reaching place (lambda t vs body) fmt)
  | Tquant (quantifier, bound) ->
      let vs, _, f = t_open_quant bound in
      let word = match quantifier with Tforall -> "forall" | Texists -> "exists" in
      reaching place (quantified t word vs f) fmt
  | Tbinop (Tand, _, _) -> (
      match conjuncts e with
      | [ (Chain (a, links), _) ] -> chain t place fmt (a, links)
      | items -> connected place level_and (conjunct t) fmt items)
  | Tbinop (Tor, _, _) -> connected place level_or (print t) fmt (spine (( = ) Tor) e)
  | Tbinop ((Timplies | Tiff), _, _) ->
      let is_arrow op = op = Timplies || op = Tiff in
      connected place level_implies (print t) fmt (spine is_arrow e)
  | Tnot f -> negation t place fmt (strip f)

and whole t = print t whole_place

and negation t place fmt f =
  match f.t_node with
  | Tapp (ls, [ a; b ]) when ls_equal ls ps_equ && not (is_true b) ->
      chain t place fmt (a, [ ("<>", b) ])
  | _ ->
      let body ~last fmt = fprintf fmt "not %a" (print t { level = level_not; last }) f in
      at place level_not body fmt

and quantified t word vs f fmt =
  fprintf fmt "@[<hv 2>@[<hov 2>%s %a.@]@ %a@]" word (binders t) vs (whole t) f;
  forget t vs

and lambda t vs body fmt =
  let argument fmt v = fprintf fmt "(%a)" (binders t) [ v ] in
  fprintf fmt "@[<hov 2>fun %a ->@ %a@]" (list space argument) vs (whole t) body;
  forget t vs

and branch t fmt bound =
  let p, e = t_open_branch bound in
  fprintf fmt "@ @[<hov 4>| %a ->@ %a@]" (pattern t ~inner:false) p (whole t) e;
  forget t (Svs.elements p.pat_vars)

and conjunct t place fmt = function
  | Plain f -> print t place fmt f
  | Chain (a, links) -> chain t place fmt (a, links)

and chain t place fmt (a, links) =
  let side = level_compare + 1 in
  let rec body ~last fmt = function
    | [] -> ()
    | (operator, b) :: rest ->
        let place = { level = side; last = last && rest = [] } in
        fprintf fmt "@ %s %a%a" operator (print t place) b (body ~last) rest
  in
  let all ~last fmt = fprintf fmt "@[<hov 2>%a%a@]" (print t (tight side)) a (body ~last) links in
  at place level_compare all fmt

and applied : 'a. t -> (formatter -> 'a -> unit) -> formatter -> 'a -> term list -> unit =
 fun t head fmt f arguments ->
  let argument fmt e = fprintf fmt "@ %a" (print t (tight level_tight)) e in
  fprintf fmt "@[<hov 2>%a%a@]" head f (list Pp.nothing argument) arguments

and application t place fmt e ls arguments =
  if is_fs_tuple ls then fprintf fmt "@[<hov 1>(%a)@]" (list comma (whole t)) arguments
  else if settled ls then settled_application t place fmt ls arguments
  else
    (* Only the context settles the type: it is written. *)
    let value = settled_application t { level = level_compare; last = false } in
    fprintf fmt "@[<hov 1>(%a:@ %a)@]" (fun fmt -> value fmt ls) arguments (ty t) (t_type e)

and settled_application t place fmt ls arguments =
  let clear = Names.qualifier t.names (Names.of_function ls) = "" in
  let one fmt e = print t (tight level_tight) fmt e in
  let call ~last:_ fmt = applied t pp_print_string fmt (symbol t ls) arguments in
  match (Ident.sn_decode ls.ls_name.id_string, arguments) with
  | _, [] -> pp_print_string fmt (symbol t ls)
  | _, [ a ] when is_field ls -> fprintf fmt "%a.%s" one a (symbol t ls)
  | SNinfix operator, [ a; b ] when clear -> operation t place fmt operator a b
  | SNprefix operator, [ a ] when clear ->
      let body ~last:_ fmt = fprintf fmt "%s%a" operator (print t (tight level_prefix)) a in
      at place level_prefix body fmt
  | SNtight operator, [ a ] when clear -> fprintf fmt "%s%a" operator one a
  | SNget mark, [ a; i ] when clear -> fprintf fmt "%a[%a]%s" one a (whole t) i mark
  | SNupdate mark, [ a; i; x ] when clear ->
      fprintf fmt "%a[%a <- %a]%s" one a (whole t) i (whole t) x mark
  | SNcut mark, [ a; i; j ] when clear ->
      fprintf fmt "%a[%a..%a]%s" one a (whole t) i (whole t) j mark
  | SNrcut mark, [ a; i ] when clear -> fprintf fmt "%a[%a..]%s" one a (whole t) i mark
  | SNlcut mark, [ a; i ] when clear -> fprintf fmt "%a[..%a]%s" one a (whole t) i mark
  | _ -> (
      match record_fields t ls with
      | Some fields -> record t (whole t) fmt (fields, arguments)
      | None -> at place level_apply call fmt)

and operation t place fmt operator a b =
  let level = infix_level operator in
  if level = level_compare then chain t place fmt (a, [ (operator, b) ])
  else
    let body ~last fmt =
      let right = { level = level + 1; last } in
      fprintf fmt "@[<hov 2>%a %s@ %a@]" (print t (tight level)) a operator (print t right) b
    in
    at place level body fmt

and constant t place fmt e c =
  let text = asprintf "%a" Constant.print_def c in
  let level = if text.[0] = '-' then level_prefix else level_atom in
  match e.t_ty with
  | Some ty when List.exists (Ty.ty_equal ty) [ Ty.ty_int; Ty.ty_real; Ty.ty_str ] ->
      at place level (fun ~last:_ fmt -> pp_print_string fmt text) fmt
  | _ -> fprintf fmt "(%s: %a)" text (ty t) (t_type e)

(** {1 Entry} *)

let formula t fmt f =
  reserve t f;
  whole t fmt f
