(** Types, terms and formulas as WhyML text, from the terms that Why3 has after typing.

    [Why3.Pretty] prints for who looks for an error: every operator in parentheses, no comparison
    chained, two symbols of one name as [length] and [length1]. This prints what a reader compares
    with a sentence, as near to the source as typed terms allow: chains like [0 <= k < n], the
    names of the source, parentheses where the grammar wants them. What only guides a prover is left
    out: the steps of a proof ([by], [so]), triggers, attributes. An alias of a type is printed as
    the type that it names: after typing nothing else is left of it. *)

open Why3
open Format
open Term

type t = {
  names : Names.t;
  known : Decl.known_map;
  old : vsymbol Mvs.t;  (** what a variable of a contract was before, and that variable *)
  variables : Ident.ident_printer;
  type_variables : Ident.ident_printer;
}

let create names known =
  let printer () = Ident.create_ident_printer Keywords.keywords in
  { names; known; old = Mvs.empty; variables = printer (); type_variables = printer () }

let list = Pp.print_list
let comma fmt () = fprintf fmt ",@ "
let space fmt () = fprintf fmt "@ "

(** [print] in parentheses if [needed]. *)
let parens needed print fmt x =
  if needed then fprintf fmt "@[<hov 1>(%a)@]" print x else print fmt x

(** {1 Types} *)

let type_name t (ts : Ty.tysymbol) = Names.name t.names (Names.of_type ts)

let type_variable t fmt (v : Ty.tvsymbol) =
  fprintf fmt "'%s" (Ident.id_unique t.type_variables v.tv_name)

(** [level] is 0 where an arrow may stand, 1 on its left, 2 for the argument of a type. *)
let rec ty_at t level fmt (ty : Ty.ty) =
  match ty.ty_node with
  | Tyvar v -> type_variable t fmt v
  | Tyapp (ts, [ a; b ]) when Ty.ts_equal ts Ty.ts_func ->
      let arrow fmt () = fprintf fmt "%a ->@ %a" (ty_at t 1) a (ty_at t 0) b in
      parens (level > 0) arrow fmt ()
  | Tyapp (ts, []) when Ty.is_ts_tuple ts -> pp_print_string fmt "unit"
  | Tyapp (ts, parts) when Ty.is_ts_tuple ts -> fprintf fmt "(%a)" (list comma (ty_at t 0)) parts
  | Tyapp (ts, []) -> pp_print_string fmt (type_name t ts)
  | Tyapp (ts, arguments) ->
      let applied fmt () =
        fprintf fmt "%s@ %a" (type_name t ts) (list space (ty_at t 2)) arguments
      in
      parens (level > 1) applied fmt ()

let ty t = ty_at t 0

(** {1 Names} *)

let variable t fmt (v : vsymbol) =
  pp_print_string fmt (Ident.id_unique t.variables v.vs_name)

let forget t = List.iter (fun (v : vsymbol) -> Ident.forget_id t.variables v.vs_name)
let symbol t (ls : lsymbol) = Names.name t.names (Names.of_function ls)
let is_field (ls : lsymbol) = Ident.Sattr.mem Ident.is_field_id_attr ls.ls_name.id_attrs

(** Variables make way for the functions that are called in the same text. *)
let reserve t term =
  let add () (ls : lsymbol) =
    match Ident.sn_decode ls.ls_name.id_string with
    | SNword _ when not (is_field ls) -> ignore (Ident.id_unique t.variables ls.ls_name)
    | _ -> ()
  in
  t_s_fold (fun () _ -> ()) add () term

(** Adjacent variables of one type share it: [s t: seq int, n: int]. *)
let binders t fmt vs =
  let rec print = function
    | [] -> ()
    | [ v ] -> fprintf fmt "%a: @[%a@]" (variable t) v (ty t) v.vs_ty
    | v :: (w :: _ as rest) ->
        if Ty.ty_equal v.vs_ty w.vs_ty then fprintf fmt "%a@ " (variable t) v
        else fprintf fmt "%a: @[%a@],@ " (variable t) v (ty t) v.vs_ty;
        print rest
  in
  print vs

(** Parameters, each with whether it is ghost; adjacent ones of one type share a parenthesis:
    [(a b: int)]; a lone one without a value is [()]. *)
let parameters t fmt all =
  let alike (ghost, (v : vsymbol)) (ghost', (v' : vsymbol)) =
    ghost = ghost' && Ty.ty_equal v.vs_ty v'.vs_ty
  in
  let add parameter = function
    | (first :: _ as group) :: groups when alike parameter first -> (parameter :: group) :: groups
    | groups -> [ parameter ] :: groups
  in
  let print group =
    let ghost = if fst (List.hd group) then "ghost " else "" in
    fprintf fmt "@ @[<hov 1>(%s%a)@]" ghost (binders t) (List.map snd group)
  in
  match all with
  | [ (_, v) ] when Ty.ty_equal v.vs_ty Ity.ty_unit -> fprintf fmt "@ ()"
  | _ -> List.iter print (List.fold_right add all [])

(** The fields of a record type, from the name of its only constructor. *)
let record_fields t (ls : lsymbol) =
  match ls.ls_value with
  | Some { ty_node = Tyapp (ts, _); _ } when Filename.check_suffix ls.ls_name.id_string "'mk" -> (
      match Decl.find_constructors t.known ts with
      | [ (_, fields) ] when List.for_all Option.is_some fields -> Some (List.map Option.get fields)
      | _ -> None)
  | _ -> None

let record t print fmt (fields, values) =
  let field fmt (ls, value) = fprintf fmt "%s = %a" (symbol t ls) print value in
  let semicolon fmt () = fprintf fmt ";@ " in
  fprintf fmt "@[<hov 2>{ %a }@]" (list semicolon field) (List.combine fields values)

(** {1 Patterns} *)

let rec pattern t ~inner fmt p =
  match p.pat_node with
  | Pwild -> pp_print_string fmt "_"
  | Pvar v -> variable t fmt v
  | Pas (p, v) ->
      let print fmt () = fprintf fmt "%a as %a" (pattern t ~inner:true) p (variable t) v in
      parens inner print fmt ()
  | Por (p, q) ->
      let print fmt () = fprintf fmt "%a | %a" (pattern t ~inner) p (pattern t ~inner) q in
      parens inner print fmt ()
  | Papp (ls, parts) when is_fs_tuple ls ->
      fprintf fmt "(%a)" (list comma (pattern t ~inner:false)) parts
  | Papp (ls, []) -> pp_print_string fmt (symbol t ls)
  | Papp (ls, parts) -> (
      match record_fields t ls with
      | Some fields -> record t (pattern t ~inner:false) fmt (fields, parts)
      | None ->
          let arguments = list space (pattern t ~inner:true) in
          let print fmt () = fprintf fmt "%s %a" (symbol t ls) arguments parts in
          parens inner print fmt ())
