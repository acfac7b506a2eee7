(** Definitions of types, exceptions, functions and predicates as WhyML text. *)

open Why3
open Format
open Whyml

(** {1 Functions and predicates} *)

let kind (ls : Term.lsymbol) =
  if ls.ls_value = None then "predicate" else if ls.ls_args = [] then "constant" else "function"

let result t fmt (ls : Term.lsymbol) =
  Pp.print_option (fun fmt value -> fprintf fmt " :@ @[%a@]" (ty t) value) fmt ls.ls_value

(** Without a definition: only the types. *)
let logic t fmt (ls : Term.lsymbol) definition =
  let head parameters = fprintf fmt "@[<hov 2>@[<hov 4>%s %s" (kind ls) (symbol t ls);
    parameters ();
    fprintf fmt "%a@]" (result t) ls
  in
  match definition with
  | None ->
      head (fun () -> List.iter (fprintf fmt "@ (%a)" (ty t)) ls.ls_args);
      fprintf fmt "@]"
  | Some definition ->
      let vs, body = Decl.open_ls_defn definition in
      head (fun () -> parameters t fmt (List.map (fun v -> (false, v)) vs));
      fprintf fmt " =@ %a@]" (Terms.formula t) body

let inductive t fmt sign (ls : Term.lsymbol) cases =
  let word = match sign with Decl.Ind -> "inductive" | Coind -> "coinductive" in
  let case ((pr : Decl.prsymbol), f) =
    fprintf fmt "@,@[<hov 4>| %s:@ %a@]" pr.pr_name.id_string (Terms.formula t) f
  in
  fprintf fmt "@[<v>@[<hov 4>%s %s" word (symbol t ls);
  List.iter (fprintf fmt "@ (%a)" (ty t)) ls.ls_args;
  fprintf fmt " =@]";
  List.iter case cases;
  fprintf fmt "@]"

(** {1 Types and exceptions} *)

let field t (its : Ity.itysymbol) fmt (rs : Expr.rsymbol) =
  let is_mutable = List.exists (Ity.pv_equal (Expr.fd_of_rs rs)) its.its_mfields in
  fprintf fmt "%s%s%s: %a"
    (if is_mutable then "mutable " else "")
    (if Expr.rs_ghost rs then "ghost " else "")
    rs.rs_name.id_string (ty t)
    (Ity.ty_of_ity rs.rs_cty.cty_result)

let constructor t fmt (rs : Expr.rsymbol) =
  let argument (pv : Ity.pvsymbol) = fprintf fmt "@ %a" (ty_at t 2) pv.pv_vs.vs_ty in
  fprintf fmt "%s" rs.rs_name.id_string;
  List.iter argument rs.rs_cty.cty_args

let data t fmt (d : Pdecl.its_defn) =
  let its = d.itd_its in
  let ts = its.its_ts in
  fprintf fmt "@[<v 2>@[<hov 2>type %s" ts.ts_name.id_string;
  List.iter (fprintf fmt " %a" (type_variable t)) ts.ts_args;
  let semicolon fmt () = fprintf fmt ";@ " and bar fmt () = fprintf fmt "@ | " in
  let fields fmt = fprintf fmt "{@ %a }" (list semicolon (field t its)) in
  (match (its.its_def, d.itd_constructors) with
  | Alias alias, _ -> fprintf fmt " =@ %a" (ty t) (Ity.ty_of_ity alias)
  | Range r, _ ->
      let bound = BigInt.to_string in
      fprintf fmt " =@ <range %s %s>" (bound r.ir_lower) (bound r.ir_upper)
  | Float f, _ -> fprintf fmt " =@ <float %d %d>" f.fp_exponent_digits f.fp_significand_digits
  | NoDef, [] when d.itd_fields = [] && not its.its_mutable -> ()
  | NoDef, [] ->
      let word = if its.its_mutable then "private mutable" else "private" in
      fprintf fmt " =@ %s %a" word fields d.itd_fields
  | NoDef, [ rs ] when rs.rs_name.id_string = ts.ts_name.id_string ^ "'mk" ->
      fprintf fmt " =@ %a" fields d.itd_fields
  | NoDef, constructors -> fprintf fmt " =@ %a" (list bar (constructor t)) constructors);
  fprintf fmt "@]";
  List.iter (fprintf fmt "@,@[<hov 2>invariant { %a }@]" (Terms.formula t)) d.itd_invariant;
  fprintf fmt "@]"

let exception_ t fmt (xs : Ity.xsymbol) =
  fprintf fmt "exception %s" xs.xs_name.id_string;
  if not (Ity.ity_equal xs.xs_ity Ity.ity_unit) then
    fprintf fmt " %a" (ty_at t 2) (Ity.ty_of_ity xs.xs_ity)
