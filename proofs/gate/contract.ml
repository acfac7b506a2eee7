(** The statement of a program symbol: its signature and its contract, as in the source; and for a
    function that formulas may speak of, the value that defines it. The code of a program is not
    part of what is claimed of it. *)

open Why3
open Format
open Ity
open Expr
open Whyml

(** {1 Signatures} *)

(** All parameters of a ghost symbol are ghost. *)
let parameters t rs fmt pvs =
  let parameter pv = (pv.pv_ghost && not (rs_ghost rs), pv.pv_vs) in
  Whyml.parameters t fmt (List.map parameter pvs)

let result_type t rs fmt (cty : cty) =
  let of_value fmt = fprintf fmt " :@ @[%a@]" (ty t) (ty_of_ity cty.cty_result) in
  match rs.rs_logic with
  | RLlemma when ity_equal cty.cty_result ity_unit -> ()
  | RLls { ls_value = None; _ } -> ()
  | RLlemma | RLls _ | RLnone | RLpv _ -> of_value fmt

(** [ghost function], [lemma]: what the symbol is, beside being a program. *)
let nature rs (cty : cty) =
  let ghost = if rs_ghost rs && rs.rs_logic <> RLlemma then "ghost " else "" in
  match rs.rs_logic with
  | RLlemma -> "lemma "
  | RLls { ls_value = None; _ } -> ghost ^ "predicate "
  | RLls _ when cty.cty_args = [] -> ghost ^ "constant "
  | RLls _ -> ghost ^ "function "
  | RLnone | RLpv _ -> ghost

(** {1 Clauses} *)

let clause fmt word print x = fprintf fmt "@,@[<hov 2>%s { %a }@]" word print x

let ensures t result fmt post =
  let f = open_post_with (Term.t_var result) post in
  let is_result e = match e.Term.t_node with Tvar v -> Term.vs_equal v result | _ -> false in
  match f.t_node with
  | Tcase (e, [ branch ]) when is_result e ->
      let p, f = Term.t_open_branch branch in
      let print fmt () = fprintf fmt "%a ->@ %a" (pattern t ~inner:false) p (Terms.formula t) f in
      clause fmt "returns" print ();
      forget t (Term.Svs.elements p.pat_vars)
  | _ -> clause fmt "ensures" (Terms.formula t) f

let raises t fmt (xs, posts) =
  let name = Names.name t.names (Names.of_exception xs) in
  let print post fmt () =
    let v, f = open_post post in
    let value fmt v = if not (ity_equal xs.xs_ity ity_unit) then fprintf fmt " %a" (variable t) v in
    fprintf fmt "%s%a ->@ %a" name value v (Terms.formula t) f;
    forget t [ v ]
  in
  if posts = [] then clause fmt "raises" pp_print_string name;
  List.iter (fun post -> clause fmt "raises" (print post) ()) posts

(** By name: Why3 keeps them in an order that depends on what else is loaded. *)
let exceptions (cty : cty) =
  let silent xs posts = if Mxs.mem xs posts then posts else Mxs.add xs [] posts in
  let all = Sxs.fold silent cty.cty_effect.eff_raises cty.cty_xpost in
  let name (xs, _) = xs.xs_name.Ident.id_string in
  List.sort (fun a b -> compare (name a) (name b)) (Mxs.bindings all)

let writes t fmt (cty : cty) =
  let is_written pv = pv_affected cty.cty_effect.eff_writes pv in
  let written = List.filter is_written cty.cty_args in
  if written <> [] then
    clause fmt "writes" (list comma (variable t)) (List.map (fun pv -> pv.pv_vs) written)

let variant t fmt (term, relation) =
  let by fmt ls = fprintf fmt " with %s" (symbol t ls) in
  fprintf fmt "%a%a" (Terms.formula t) term (Pp.print_option by) relation

let clauses t fmt (cty : cty) variants =
  let result = Term.create_vsymbol (Ident.id_fresh "result") (ty_of_ity cty.cty_result) in
  let now = Mpv.fold (fun o pv old -> Term.Mvs.add o.pv_vs pv.pv_vs old) cty.cty_oldies in
  let t = { t with old = now Term.Mvs.empty } in
  List.iter (clause fmt "requires" (Terms.formula t)) cty.cty_pre;
  if variants <> [] then clause fmt "variant" (list comma (variant t)) variants;
  writes t fmt cty;
  List.iter (ensures t result fmt) cty.cty_post;
  List.iter (raises t fmt) (exceptions cty);
  if diverges cty.cty_effect.eff_oneway then fprintf fmt "@,diverges"

(** {1 Definitions} *)

(** What Why3 takes as the definition of a function: the term that its code is. *)
let value rs c =
  match (rs.rs_logic, c.c_node) with
  | RLls ls, Cfun e -> term_of_expr ~prop:(ls.ls_value = None) e
  | _ -> None

(** One symbol of a [let]; [word] is [let], [let rec] or [val]. *)
let print t fmt word (rs, c, variants) =
  let cty = c.c_cty in
  List.iter (fun pv -> ignore (Ident.id_unique t.variables pv.pv_vs.vs_name)) cty.cty_args;
  let name = asprintf "%a" Ident.print_decoded rs.rs_name.id_string in
  let head fmt () =
    fprintf fmt "@[<hov 4>%s %s%s%a%a@]" word (nature rs cty) name (parameters t rs) cty.cty_args
      (result_type t rs) cty
  in
  fprintf fmt "@[<v>@[<v 2>%a%a@]" head () (fun fmt -> clauses t fmt cty) variants;
  let definition fmt value = fprintf fmt "@,@[<hov 2>= %a@]" (Terms.formula t) value in
  Pp.print_option definition fmt (value rs c);
  fprintf fmt "@]"
