(** Formulas, terms and types of values as JSON: gate/terms.py computes them.

    A variable is a string, a truth value a boolean. Any other term is a list: a word before its
    parts, or the name of a symbol, [seq.Seq.length], before its arguments. A construct without a
    translation becomes [unknown], with the reason: it makes no formula true. *)

open Why3
open Term
open Json

(** [definitions]: those of the symbols so far; [Null] until one is complete. [outside]: the types
    of programs' arguments, results and exceptions. *)
type t = {
  meaning : Meaning.t;
  outside : Ty.Sts.t;
  symbols : (string, lsymbol) Hashtbl.t;
  definitions : (string, json) Hashtbl.t;
}

let create meaning ~outside =
  { meaning; outside; symbols = Hashtbl.create 97; definitions = Hashtbl.create 97 }

let made_of head parts = List (String head :: parts)
let unknown reason = made_of "unknown" [ String reason ]

(** {1 Names} *)

let variable (v : vsymbol) =
  String (Printf.sprintf "%s'%d" v.vs_name.id_string (Weakhtbl.tag_hash v.vs_name.id_tag))

(** The full name, which is unique. *)
let name_of p ls =
  let name = Option.value (Name.resolved ls.ls_name) ~default:ls.ls_name.id_string in
  let known = Option.value (Hashtbl.find_opt p.symbols name) ~default:ls in
  if not (ls_equal ls known) then failwith (name ^ " names two symbols");
  Hashtbl.replace p.symbols name ls;
  name

let class_of p (c : Meaning.constructor) =
  if Ty.Sts.mem c.made p.outside then c.name else name_of p c.symbol

(** {1 Bounds}

    For [forall k. A -> B] and [exists k. A] only the integers with [A] matter. A conjunct of [A]
    that compares [k] with a term is a bound, unless a variable of the term is quantified later. *)

(** The triples [(a, n, b)] for which a comparison says [a + n <= b]. *)
let order (f : term) =
  match f.t_node with
  | Tapp (ls, [ a; b ]) when ls_equal ls ps_equ -> [ (a, 0, b); (b, 0, a) ]
  | Tapp (ls, [ a; b ]) -> (
      match Name.resolved ls.ls_name with
      | Some "int.Int.infix <" -> [ (a, 1, b) ]
      | Some "int.Int.infix <=" -> [ (a, 0, b) ]
      | Some "int.Int.infix >" -> [ (b, 1, a) ]
      | Some "int.Int.infix >=" -> [ (b, 0, a) ]
      | _ -> [])
  | _ -> []

(** The conjuncts of a formula; to this depth, a predicate is replaced by its definition. *)
let rec conjuncts ?(depth = 3) p (f : term) =
  match f.t_node with
  | Tbinop (Tand, a, b) -> conjuncts ~depth p a @ conjuncts ~depth p b
  | Tapp (ls, given) when depth > 0 && order f = [] && Mls.mem ls p.meaning.definitions ->
      let { Meaning.parameters; value; _ } = Mls.find ls p.meaning.definitions in
      let add types (v : vsymbol) t = Ty.ty_match types v.vs_ty (t_type t) in
      let types = List.fold_left2 add Ty.Mtv.empty parameters given in
      let values = Mvs.of_list (List.combine parameters given) in
      conjuncts ~depth:(depth - 1) p (Formula.bare (t_ty_subst types values value))
  | _ -> [ f ]

let rec guard p (f : term) =
  match f.t_node with Tbinop (Timplies, a, b) -> conjuncts p a @ guard p b | _ -> []

(** A lower bound of a variable, or an upper one if [up], as a term and a number to add. If the term
    is a variable that is quantified later, take its bound instead. *)
let rec bound ~up ~later known v =
  let of_order (a, n, b) =
    let mine, other, n = if up then (a, b, -n) else (b, a, n) in
    match (mine.t_node, other.t_node) with
    | Tvar w, Tvar u when vs_equal v w && Svs.mem u later ->
        Option.map (fun (t, k) -> (t, k + n)) (bound ~up ~later:(Svs.remove u later) known u)
    | Tvar w, _ when vs_equal v w && not (Svs.exists (fun u -> t_v_occurs u other > 0) later) ->
        Some (other, n)
    | _ -> None
  in
  List.find_map of_order known

(** {1 Terms} *)

let rec term p (t : term) =
  let all = List.map (term p) in
  match t.t_node with
  | Ttrue -> Bool true
  | Tfalse -> Bool false
  | Tvar v -> variable v
  | Tconst (ConstInt c) -> made_of "literal" [ String (BigInt.to_string c.il_int) ]
  | Tconst _ -> unknown "a literal that is no integer"
  | Tnot a -> made_of "not" (all [ a ])
  | Tbinop (Tand, a, b) -> made_of "and" (all [ a; b ])
  | Tbinop (Tor, a, b) -> made_of "or" (all [ a; b ])
  | Tbinop (Timplies, a, b) -> made_of "or" [ made_of "not" (all [ a ]); term p b ]
  | Tbinop (Tiff, a, b) -> made_of "=" (all [ a; b ])
  | Tif (a, b, c) -> made_of "if" (all [ a; b; c ])
  | Tlet (value, bound) ->
      let v, body = t_open_bound bound in
      made_of "let" [ variable v; term p value; term p body ]
  | Tcase (value, branches) ->
      let branch bound =
        let shape, body = t_open_branch bound in
        List [ pattern p shape; term p body ]
      in
      made_of "match" [ term p value; List (List.map branch branches) ]
  | Tquant (quantifier, quantified) -> formula p quantifier quantified
  | Teps _ -> (
      match t_open_lambda t with
      | [], _, _ -> unknown "a value that is described and not defined"
      | parameters, _, body ->
          let one v body = lambda [ v ] body in
          List.fold_right one parameters (term p body))
  | Tapp (ls, given) when ls_equal ls ps_equ -> made_of "=" (all given)
  | Tapp (ls, given) when ls_equal ls fs_func_app -> made_of "apply" (all given)
  | Tapp (ls, []) when ls_equal ls fs_bool_true -> Bool true
  | Tapp (ls, []) when ls_equal ls fs_bool_false -> Bool false
  | Tapp (ls, given) when is_fs_tuple ls -> made_of "tuple" (all given)
  | Tapp (ls, given) -> (
      match (Mls.find_opt ls p.meaning.constructors, Mls.find_opt ls p.meaning.fields) with
      | Some c, _ -> made_of "make" (String (class_of p c) :: texts c.fields :: all given)
      | None, Some field -> made_of "field" (String field :: all given)
      | None, None -> made_of (symbol p ls) (all given))

and lambda parameters body = made_of "lambda" [ List (List.map variable parameters); body ]

(** A variable, [Null] for a wildcard, or a constructor with the patterns of its parts. *)
and pattern p (shape : Term.pattern) =
  match shape.pat_node with
  | Pwild -> Null
  | Pvar v -> variable v
  | Papp (ls, inside) ->
      let head =
        match Mls.find_opt ls p.meaning.constructors with
        | Some c -> class_of p c
        | None -> ls.ls_name.id_string
      in
      made_of (if is_fs_tuple ls then "tuple" else head) (List.map (pattern p) inside)
  | Por _ | Pas _ -> unknown "a pattern that is no constructor's"

and formula p quantifier quantified =
  let variables, _, body = t_open_quant quantified in
  let word, known =
    match quantifier with Tforall -> ("all", guard p body) | Texists -> ("any", conjuncts p body)
  in
  let known = List.concat_map order known in
  let sum (t, n) =
    made_of "int.Int.infix +" [ term p t; made_of "literal" [ String (string_of_int n) ] ]
  in
  let rec over = function
    | [] -> term p body
    | v :: rest when Ty.ty_equal v.vs_ty Ty.ty_int ->
        let bound up = Option.fold ~none:Null ~some:sum (bound ~up ~later:(Svs.of_list rest) known v) in
        made_of word [ variable v; bound false; bound true; over rest ]
    | v :: _ ->
        let about = "it speaks of all values of the type" in
        unknown (Format.asprintf "%s @[<h>%a@]" about Pretty.print_ty v.vs_ty)
  in
  over variables

and symbol p ls =
  let name = name_of p ls in
  (match Mls.find_opt ls p.meaning.definitions with
  | Some { parameters; required; value } when not (Hashtbl.mem p.definitions name) ->
      Hashtbl.add p.definitions name Null;
      let of_term t = lambda parameters (term p (Formula.bare t)) in
      Hashtbl.replace p.definitions name (List (List.map of_term (value :: required)))
  | _ -> ());
  name

(** {1 Types of values} *)

(** The name of a type, the types of its parts, and the parts' names. *)
let rec kind p (ty : Ty.ty) =
  let made name ?(fields = []) inside =
    List [ String name; List (List.map (kind p) inside); texts fields ]
  in
  match ty.ty_node with
  | Tyvar _ -> made "anything" []
  | Tyapp (ts, args) -> (
      let inst = Ty.ty_inst (Ty.ts_match_args ts args) in
      let name = Option.value (Name.resolved ts.ts_name) ~default:"" in
      match Ty.Mts.find_opt ts p.meaning.types with
      | _ when Ty.ts_equal ts Ty.ts_int -> made "integer" []
      | _ when Ty.ts_equal ts Ty.ts_bool -> made "boolean" []
      | _ when Ty.ts_equal ts Ty.ts_func -> made "function" args
      | _ when Ty.is_ts_tuple ts -> made (if args = [] then "nothing" else "tuple") args
      | _ when name = "seq.Seq.seq" -> made "sequence" args
      | _ when name = "array.Array.array" -> made "list" args
      | _ when name = "mach.int.Int64.int64" -> made "int64" []
      | Some cases ->
          let case (ls, _) =
            let c = Mls.find ls p.meaning.constructors in
            made (class_of p c) ~fields:c.fields (List.map inst ls.ls_args)
          in
          List [ String "one of"; List (List.map case cases); List [] ]
      | None ->
          let seen = Option.value (Ty.Mts.find_opt ts p.meaning.abstract) ~default:[] in
          let fields = List.map (fun ls -> Mls.find ls p.meaning.fields) seen in
          made name ~fields (List.map (fun (ls : lsymbol) -> inst (Option.get ls.ls_value)) seen))
