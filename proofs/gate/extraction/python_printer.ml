(* The extraction of WhyML programs to Python, as a printer of Why3.

   In the printed text, parentheses surround every operation, and a comment's place stands for the
   comment. extraction.py makes it readable, with Python's own parser and printer, and refuses names
   that Python uses itself.

   The printer refuses each construct that no program of the kernel uses, and each symbol without an
   extracted definition or a syntax in the driver.

   In erase.ml's tree, operands have no effects, so evaluation follows the order of the definitions.
   A reference becomes a variable. *)

open Why3
open Wstdlib
open Ident
open Ity
open Mltree
open Erase

(* {1 Symbols} *)

type symbol =
  | Name of string
  | Record of string * string list  (* a class, and its fields, passed by name *)

let symbols : symbol Hid.t = Hid.create 97

let symbol loc id =
  match Hid.find_opt symbols id with
  | Some symbol -> symbol
  | None ->
      fail loc "%s has neither a definition that is extracted nor a syntax in the driver"
        (Whyml_printer.qualified id)

let name loc id = match symbol loc id with Name name | Record (name, _) -> name

(* the driver's syntax for a symbol, with these arguments *)
let syntax (driver : Pdriver.printer_args) id arguments =
  let fill (text, _) =
    Format.asprintf "%a" (Printer.syntax_arguments text Format.pp_print_string) arguments
  in
  Option.map fill (Mid.find_opt id driver.syntax)

let comma = String.concat ", "

(* {1 Types} *)

(* All definitions share type variables, which Python defines at module level. *)
let type_variables : unit Hstr.t = Hstr.create 7

(* lines to print before the present definition *)
let before = ref []

let type_variable (tv : Ty.tvsymbol) =
  let name = "_" ^ String.capitalize_ascii tv.tv_name.id_string in
  if not (Hstr.mem type_variables name) then begin
    Hstr.add type_variables name ();
    before := (name ^ " = TypeVar(\"" ^ name ^ "\")") :: !before
  end;
  name

let applied name = function [] -> name | arguments -> name ^ "[" ^ comma arguments ^ "]"

let rec python_type driver loc = function
  | Tvar tv -> type_variable tv
  | Ttuple [] -> "None"
  | Ttuple l -> applied "tuple" (List.map (python_type driver loc) l)
  | Tarrow _ -> fail loc "a function that is a value is not supported"
  | Tapp (id, _) when id_equal id Pmodule.ts_ref.ts_name ->
      fail loc
        "a reference may only be a local variable: this one is a parameter, a result or a part"
  | Tapp (id, arguments) -> (
      let arguments = List.map (python_type driver loc) arguments in
      match syntax driver id arguments with
      | Some text -> text
      | None -> applied (name loc id) arguments)

let is_nothing e = e.e_mlty = Ttuple []

let is_pure e = eff_pure e.e_effect

let is_int = function Tapp (id, []) -> id_equal id its_int.its_ts.ts_name | _ -> false

(* {1 Lines} *)

let block header body =
  (header ^ ":") :: List.map (( ^ ) "    ") (if body = [] then [ "pass" ] else body)

(* [false] only if control cannot reach the end. *)
let falls_through lines =
  let leaves line = Strings.(has_prefix "return " line || has_prefix "raise " line) in
  match List.rev lines with last :: _ -> not (leaves last) | [] -> true

let branch test yes no =
  match (yes, no) with
  | [], _ :: _ -> block ("if not " ^ test) no
  | _, _ when no = [] || not (falls_through yes) -> block ("if " ^ test) yes @ no
  | _ -> block ("if " ^ test) yes @ block "else" no

(* {1 Variables} *)

(* The context of a place in a function. *)
type env = {
  driver : Pdriver.printer_args;
  loc : Loc.position option;  (* the last source position that Why3 kept *)
  values : string Mid.t;  (* the Python text of each variable *)
  visible : Sstr.t;  (* the Python variables that are in use here *)
  types : string Hstr.t;  (* all Python variables of the function so far, each with its type *)
  returns : Sid.t;  (* local exceptions that stand for a return *)
  in_handler : bool;
}

let variable_id pv = pv.pv_vs.vs_name

let at env id = if id.id_loc = None then env else { env with loc = id.id_loc }

let set env pv value = { env with values = Mid.add (variable_id pv) value env.values }

(* A variable gets a name that no visible variable has. It reuses an invisible name only for
   the same type, because type checkers give a variable one type in the whole function. *)
let bind env pv base ty =
  let taken x =
    Sstr.mem x env.visible || Option.fold ~none:false ~some:(( <> ) ty) (Hstr.find_opt env.types x)
  in
  let rec unused n =
    let x = if n = 1 then base else Printf.sprintf "%s_%d" base n in
    if taken x then unused (n + 1) else x
  in
  let name = unused 1 in
  let is_new = not (Hstr.mem env.types name) in
  Hstr.replace env.types name ty;
  (name, is_new, { (set env pv name) with visible = Sstr.add name env.visible })

let bind_named env pv ty =
  let id = variable_id pv in
  let name, _, env = bind (at env id) pv id.id_string ty in
  (name, env)

let value_of env pv =
  match Mid.find_opt (variable_id pv) env.values with
  | Some value -> value
  | None -> fail env.loc "%s is not a local variable" (variable_id pv).id_string

(* {1 Expressions} *)

(* The boolean operators of WhyML are conditionals in the tree. *)
let is_connective b c = is_false b || is_true b || is_false c

let is_conditional e = match e.e_node with Eif (_, b, c) -> not (is_connective b c) | _ -> false

(* the value, if Python can write it without statements *)
let rec expression env e =
  match e.e_node with
  | _ when is_nothing e -> if is_pure e then Some "None" else None
  | Econst (ConstInt n) when is_int e.e_mlty -> Some ("(" ^ BigInt.to_string n.il_int ^ ")")
  | Econst _ -> fail env.loc "a literal of a type other than int is not supported"
  | Evar pv -> Some (value_of env pv)
  | Eif (a, b, c) -> (
      match List.map (expression env) [ a; b; c ] with
      | [ Some x; Some _; Some _ ] when is_false b && is_true c -> Some ("(not " ^ x ^ ")")
      | [ Some x; Some y; Some _ ] when is_false c -> Some ("(" ^ x ^ " and " ^ y ^ ")")
      | [ Some x; Some _; Some z ] when is_true b -> Some ("(" ^ x ^ " or " ^ z ^ ")")
      | [ Some x; Some y; Some z ] -> Some ("(" ^ y ^ " if " ^ x ^ " else " ^ z ^ ")")
      | _ -> None)
  | Eapp (rs, arguments, false) -> Some ("(" ^ call env rs arguments ^ ")")
  | _ -> None

and value env e =
  match expression env e with
  | Some x -> x
  | None -> fail env.loc "a value that takes statements has to be that of a variable"

and call env rs arguments =
  let is = Expr.rs_equal rs and id = rs.Expr.rs_name in
  if is Expr.rs_true then "True"
  else if is Expr.rs_false then "False"
  else
    let operands = List.map (value env) arguments in
    if is Pmodule.rs_ref_proj || is Pmodule.rs_ref || Expr.is_rs_tuple rs then comma operands
    else
      match syntax env.driver id operands with
      | Some text -> text
      | None -> (
          match symbol env.loc id with
          | Name name -> name ^ "(" ^ comma operands ^ ")"
          | Record (name, fields) ->
              name ^ "(" ^ comma (List.map2 (Printf.sprintf "%s=%s") fields operands) ^ ")")

(* {1 Statements} *)

(* the use of an expression's value *)
type destination =
  | Result  (* the function returns it *)
  | Variable of string
  | Discard

let deliver destination e x =
  match destination with
  | Variable target -> [ target ^ " = " ^ x ]
  | Result -> [ "return " ^ x ]
  | Discard -> if is_pure e then [] else [ x ]

(* [x = x + y] becomes [x += y] for integers; a list would change in place. Every operation has
   parentheses, so the text before the operator is [x] alone. *)
let assign ty target value =
  let prefix operator = "((" ^ target ^ ") " ^ operator ^ " " in
  let augmented operator =
    if is_int ty && Strings.has_prefix (prefix operator) value then
      let start = String.length (prefix operator) in
      let rest = String.sub value start (String.length value - start - 1) in
      Some (target ^ " " ^ operator ^ "= " ^ rest)
    else None
  in
  Option.value (List.find_map augmented [ "+"; "-"; "*" ]) ~default:(target ^ " = " ^ value)

(* an exception of a handler replaces the handled one, as in WhyML *)
let raise_ env error = [ ("raise " ^ error ^ if env.in_handler then " from None" else "") ]

let unreachable env = raise_ env "AssertionError(\"unreachable\")"

let rec statements env destination e =
  match e.e_node with
  | Eabsurd -> unreachable env
  | _ when is_pure e && (destination = Discard || is_nothing e) -> []
  | Eapp (rs, arguments, false) when is_nothing e -> [ call env rs arguments ]
  | Econst _ | Evar _ | Eapp _ -> deliver destination e (value env e)
  | Eblock [] -> []
  | Eblock [ e ] -> statements env destination e
  | Eblock (e1 :: rest) ->
      statements env Discard e1 @ statements env destination { e with e_node = Eblock rest }
  | Elet (Lvar (pv, e1), e2) when is_bound pv e2 && is_simple e1 ->
      statements (set env pv (value env e1)) destination e2
  | Elet (Lvar (pv, e1), e2) -> define (at env (variable_id pv)) destination pv e1 e2
  | Eif (a, b, c) -> conditional env destination e a b c
  | Ewhile (test, body) -> block ("while " ^ value env test) (statements env Discard body)
  | Efor (i, ty, lower, direction, upper, body) when is_int ty ->
      for_loop env i (value_of env lower) direction (value_of env upper) body
  | Eassign [ (record, _, field, e) ] when Expr.rs_equal field Pmodule.rs_ref_proj ->
      [ assign e.e_mlty (value env record) (value env e) ]
  | Ematch (e1, branches, []) ->
      let case (p, e) =
        let inside, p = pattern env p in
        block ("case " ^ p) (statements inside destination e)
      in
      let cases = List.concat_map case branches @ block "case _" (unreachable env) in
      block ("match " ^ value env e1) cases
  | Ematch (e1, [], handlers) ->
      block "try" (statements env destination e1)
      @ List.concat_map (handler env destination) handlers
  | Eexn (xs, _, { e_node = Ematch (e, [], _); _ }) when destination = Result ->
      statements { env with returns = Sid.add xs.xs_name env.returns } destination e
  | Eraise (xs, Some e) when Sid.mem xs.xs_name env.returns -> statements env Result e
  | Eraise (xs, value_) ->
      let value_ = Option.fold ~none:"" ~some:(value env) value_ in
      raise_ env (name env.loc xs.xs_name ^ "(" ^ value_ ^ ")")
  | Efor _ -> fail env.loc "a loop over a type other than int is not supported"
  | Eassign _ -> fail env.loc "a field that changes is not supported"
  | Eexn _ | Efun _ | Elet _ | Ematch _ | Eignore _ -> fail env.loc "this has no Python here"

(* A variable that Why3 introduced, always with the same letter, is named [value]. A list of tuples
   gets its type: otherwise a type checker would infer it from the first elements. *)
and define env destination pv e1 e2 =
  let ty =
    match e1.e_node with
    | Eapp (_, [ initial ], _) when is_reference pv -> initial.e_mlty
    | _ -> e1.e_mlty
  in
  let ty = python_type env.driver env.loc ty in
  let base = if is_proxy pv then "value" else (variable_id pv).id_string in
  let name, is_new, inside = bind env pv base ty in
  let is_declared = is_new && Strings.has_prefix "list[tuple[" ty in
  let target = if is_declared then name ^ ": " ^ ty else name in
  statements { inside with values = env.values } (Variable target) e1
  @ statements inside destination e2

and conditional env destination e a b c =
  let is_short = destination <> Discard && not (is_conditional b || is_conditional c) in
  match if is_short then expression env e else None with
  | Some x -> deliver destination e x
  | None -> branch (value env a) (statements env destination b) (statements env destination c)

(* If a loop over all indices of a tuple first reads the element there, loop over the elements:
   tuples, and WhyML variables except references, do not change. *)
and for_loop env i lower direction upper body =
  let loop target over env body =
    block ("for " ^ target ^ " in " ^ over) (statements env Discard body)
  in
  match (direction, body.e_node) with
  | To, Elet (Lvar (x, { e_node = Eapp (get, [ s; { e_node = Evar j; _ } ], _); e_mlty; _ }), rest)
    when pv_equal i j && reads_element env get s
         && (lower, upper) = ("(0)", "((len(" ^ value env s ^ ")) - (1))") ->
      let ty = python_type env.driver env.loc e_mlty and s = value env s in
      if occurs i rest then
        let k, inside = bind_named env i "int" in
        let x, inside = bind_named inside x ty in
        loop (k ^ ", " ^ x) ("enumerate(" ^ s ^ ")") inside rest
      else
        let x, inside = bind_named env x ty in
        loop x s inside rest
  | _ ->
      let last = if direction = To then " + 1" else " - 1, -1" in
      let k, inside = bind_named env i "int" in
      loop k ("range(" ^ lower ^ ", " ^ upper ^ last ^ ")") inside body

and reads_element env get s =
  (match s.e_node with Evar _ -> true | _ -> false)
  && syntax env.driver get.Expr.rs_name [ "s"; "i" ] = Some "s[i]"
  && Strings.has_prefix "tuple[" (python_type env.driver env.loc s.e_mlty)

(* {1 Patterns and exceptions} *)

and pattern env = function
  | Pvar vs ->
      let ty =
        match vs.vs_ty.ty_node with
        | Tyapp (ts, []) -> Tapp (ts.ts_name, [])
        | _ -> fail env.loc "a pattern with a variable of this type is not supported"
      in
      let name, env = bind_named env (restore_pv vs) (python_type env.driver env.loc ty) in
      (env, name)
  | Por (p, q) ->
      let inside, p = pattern env p in
      let inside, q = pattern inside q in
      (* Python wants the same variables in both patterns. *)
      (inside, p ^ " | " ^ q)
  | Papp (ls, l) ->
      let env, l = Lists.map_fold_left pattern env l in
      (env, name env.loc ls.ls_name ^ "(" ^ comma l ^ ")")
  | Pwild | Pas _ | Ptuple _ -> fail env.loc "a pattern without a constructor is not supported"

and handler env destination (xs, variables, e) =
  let env = { env with in_handler = true } in
  if List.exists (fun pv -> occurs pv e) variables then
    fail env.loc "a handler that uses the value of an exception is not supported";
  block ("except " ^ name env.loc xs.xs_name) (statements env destination e)

(* {1 Definitions} *)

(* the place of the comment, and the facts after it *)
let docstring id facts = ("\"\"\"" ^ Whyml_printer.place id) :: (facts @ [ "\"\"\"" ])

let class_name id =
  let words = String.split_on_char '_' id.id_string in
  let name = String.concat "" (List.map String.capitalize_ascii words) in
  Hid.replace symbols id (Name name);
  name

(* The docstring names the WhyML program, which has the contract: Python lacks its logic. *)
let function_ driver (rs : Expr.rsymbol) arguments result body =
  let id = rs.rs_name in
  let values = Mid.empty and visible = Sstr.empty and types = Hstr.create 17 in
  let env =
    { driver; loc = id.id_loc; values; visible; types; returns = Sid.empty; in_handler = false }
  in
  let parameter env pv =
    let ty = python_type driver id.id_loc (type_of pv.pv_ity) in
    let name, env = bind_named env pv ty in
    (env, name ^ ": " ^ ty)
  in
  let env, parameters = Lists.map_fold_left parameter env arguments in
  if parameters = [] then refuse id "is a constant, which is not supported";
  let result = python_type driver id.id_loc result in
  Hid.replace symbols id (Name id.id_string);
  let exceptions = Sxs.elements rs.rs_cty.cty_effect.eff_raises in
  let raised = List.map (fun xs -> name id.id_loc xs.xs_name) exceptions in
  let raises = if raised = [] then [] else [ "Raises: " ^ comma raised ] in
  let doc = docstring id (raises @ [ "WhyML: " ^ Whyml_printer.qualified id ]) in
  block
    ("def " ^ id.id_string ^ "(" ^ comma parameters ^ ") -> " ^ result)
    (doc @ statements env Result body)

(* an immutable class with these fields *)
let data_class driver id ~name ~doc ~bases fields =
  let field (label, ty) = label ^ ": " ^ python_type driver id.id_loc ty in
  "@dataclass(frozen=True, slots=True)"
  :: block ("class " ^ name ^ bases) (doc @ List.map field fields)

let type_ driver { Pdecl.itd_its = its; itd_fields; itd_constructors; _ } =
  let id = its.its_ts.ts_name and variables = its.its_ts.ts_args in
  let typed pv = type_of pv.pv_ity in
  let visible rs = List.for_all (fun pv -> not pv.pv_ghost) rs.Expr.rs_cty.cty_args in
  match itd_constructors with
  | _ when its.its_mfields <> [] ->
      fail id.id_loc "the type %s has a field that changes" id.id_string
  | [ rs ] when itd_fields <> [] && variables = [] && visible rs ->
      let field rs = (rs.Expr.rs_name.id_string, typed (Expr.fd_of_rs rs)) in
      let fields = List.map field itd_fields and name = class_name id in
      Hid.replace symbols rs.rs_name (Record (name, List.map fst fields));
      data_class driver id ~name ~doc:(docstring id []) ~bases:"" fields
  | _ :: _ :: _ when itd_fields = [] && List.for_all visible itd_constructors ->
      let variables = List.map type_variable variables in
      let bases = if variables = [] then "" else "(" ^ applied "Generic" variables ^ ")" in
      let constructor rs =
        let field i pv = (Printf.sprintf "item%d" i, typed pv) in
        let fields = List.mapi field rs.Expr.rs_cty.cty_args in
        data_class driver id ~name:(class_name rs.rs_name) ~doc:[] ~bases fields
      in
      let classes = List.concat_map constructor itd_constructors in
      let case rs = applied (name id.id_loc rs.Expr.rs_name) variables in
      let cases = String.concat " | " (List.map case itd_constructors) in
      classes @ [ class_name id ^ ": TypeAlias = " ^ cases ]
  | _ ->
      fail id.id_loc "the type %s is neither in the driver nor a record nor one of several classes"
        id.id_string

let exception_ driver xs =
  let id = (checked xs.xs_name.id_loc xs).xs_name in
  let name = class_name id and ty = python_type driver id.id_loc (type_of xs.xs_ity) in
  let init =
    block
      ("def __init__(self, value: " ^ ty ^ ") -> None")
      [ "super().__init__(value)"; "self.value = value" ]
  in
  let body = docstring id [] @ if is_unit xs.xs_ity then [] else init in
  block ("class " ^ name ^ "(Exception)") body

(* {1 The printer} *)

let definition driver (m : Pmodule.pmodule) id =
  match (Mid.find id m.mod_known).pd_node with
  | PDtype [ definition ] -> type_ driver definition
  | PDtype _ -> refuse id "is recursive, which is not supported"
  | PDexn xs -> exception_ driver xs
  | _ ->
      let rs, arguments, body = program m id in
      function_ driver rs arguments (type_of rs.rs_cty.cty_result) body

(* Why3 passes each definition after those that it needs, once for every name in it. If the driver
   has a symbol of a module, the module's other symbols have no Python. *)
let print_decl (driver : Pdriver.printer_args) ?old:_ ?fname:_ (m : Pmodule.pmodule) output decl =
  let id = List.hd (get_decl_name decl) in
  let module_of id =
    match Pmodule.restore_path id with
    | library, m, _ -> Some (library, m)
    | exception Not_found -> None
  in
  let is_beside other _ = module_of other <> None && module_of other = module_of id in
  if not (Hid.mem symbols id || Mid.exists is_beside driver.syntax) then begin
    let lines = definition driver m id in
    List.iter (Format.fprintf output "%s@\n") (!before @ lines);
    before := []
  end

let () = Whyml_printer.register "python" ~desc:"printer for Python" print_decl
