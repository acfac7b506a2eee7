(* Expressions and functions of WhyML, after erasure of ghost code, as Python.

   Why3 has brought the program into A-normal form: operands are variables, so the order of
   evaluation is that of the definitions. A definition becomes an assignment, or takes the place of
   the variable where [Python_inline] allows it. What no program of the kernel needs is refused. *)

open Why3
open Ident
open Mltree
module P = Python_ast

type binding =
  | Value of P.expr  (* immutable *)
  | Moved of P.expr * Ity.Spv.t  (* evaluated at its only use; the variables that it reads *)
  | Reference of string  (* a local reference is a Python variable *)

type env = {
  context : Python_context.t;
  loc : Loc.position option;  (* the last place that Why3 has kept *)
  bindings : binding Mid.t;
  returns : Sid.t;  (* local exceptions whose raising is a return *)
  scope : Python_scope.t;
  in_handler : bool;
}

(* what happens to the value of an expression *)
type destination =
  | Result  (* the function returns it *)
  | Variable of P.expr
  | Discard

let fail env = Python_context.fail env.loc

let is_unit = Python_context.is_unit

let is_int = function
  | Tapp (id, []) -> id_equal id Ity.its_int.its_ts.ts_name
  | _ -> false

let is_pure = Python_inline.is_pure

let variable_id pv = pv.Ity.pv_vs.vs_name

let at env id = if id.id_loc = None then env else { env with loc = id.id_loc }

(* The booleans of WhyML are conditionals in the tree. *)
type connective = Negation | Conjunction | Disjunction

let connective e =
  match e.e_node with
  | Eif (_, b, c) when is_false b && is_true c -> Some Negation
  | Eif (_, _, c) when is_false c -> Some Conjunction
  | Eif (_, b, _) when is_true b -> Some Disjunction
  | _ -> None

let is_conditional e =
  match e.e_node with
  | Eif _ -> connective e = None
  | _ -> false

(* a handler replaces the exception that it handles, as in WhyML *)
let unreachable env =
  let error = P.call "AssertionError" [ P.Constant (Str "unreachable") ] in
  P.Raise { error; from_none = env.in_handler }

(* {1 Variables} *)

let bound env id binding = { env with bindings = Mid.add id binding env.bindings }

let bind env base annotation =
  let name, is_used, scope = Python_scope.bind env.scope env.loc base annotation in
  (name, is_used, { env with scope })

(* an immutable variable, and the places where it is visible *)
let bind_value env id base annotation =
  let name, _, env = bind env base annotation in
  (name, bound env id (Value (Name name)))

let variable env pv =
  let id = variable_id pv in
  match Mid.find_opt id env.bindings with
  | Some (Value x | Moved (x, _)) -> x
  | Some (Reference _) ->
      fail env "the reference %s escapes: it may only be read and assigned here" id.id_string
  | None -> fail env "%s is not a local variable" (Python_context.qualified id)

(* what the definition of a variable reads, if it was moved to its use *)
let moved env pv =
  match Mid.find_opt (variable_id pv) env.bindings with
  | Some (Moved (_, reads)) -> Some reads
  | _ -> None

let reference env e =
  let binding =
    match e.e_node with
    | Evar pv -> Mid.find_opt (variable_id pv) env.bindings
    | _ -> None
  in
  match binding with
  | Some (Reference name) -> P.Name name
  | _ -> fail env "a reference that is not a local variable is not supported"

let literal env e = function
  | Constant.ConstInt n when is_int e.e_mlty -> P.int n.il_int
  | _ -> fail env "a literal of a type other than int is not supported"

(* Does a checker infer the declared type from this value alone? Not of a tuple of any length, nor
   of what has no elements. *)
let rec is_exact ~variadic e =
  let exact = is_exact ~variadic in
  match e with
  | P.Tuple l -> l <> [] && (not variadic) && List.for_all exact l
  | List l -> l <> [] && List.for_all exact l
  | Call (_, l, _) -> List.for_all exact l
  | Binary (a, _, b) -> exact a && exact b
  | Conditional { body; orelse; _ } -> exact body && exact orelse
  | _ -> true

let rec is_variadic = function
  | P.Constant Ellipsis -> true
  | Subscript (_, Tuple l) -> List.exists is_variadic l
  | Subscript (_, t) -> is_variadic t
  | _ -> false

(* the statements that give a variable its first value, with its type where that is needed *)
let declare name annotation = function
  | [ P.Assign (Name x, value) ]
    when x = name && not (is_exact ~variadic:(is_variadic annotation) value) ->
      [ P.Annotated (name, annotation, Some value) ]
  | body -> body

(* {1 Delivery of values} *)

let perform e x = if is_pure e then [] else [ P.Expr x ]

let deliver destination e x =
  match destination with
  | Result when not (is_unit e.e_mlty) -> [ P.Return x ]
  | Variable target -> [ P.Assign (target, x) ]
  | Result | Discard -> perform e x

(* [x = x + y] is [x += y] for integers; lists would be changed in place *)
let assign ty target value =
  match value with
  | P.Binary (a, ((Add | Sub | Mult) as op), b) when a = target && is_int ty ->
      P.Augmented (target, op, b)
  | _ -> P.Assign (target, value)

let branch test yes no =
  match (yes, no) with
  | [], no -> [ P.If (P.negate test, no, []) ]
  | yes, no when not (P.falls_through yes) -> P.If (test, yes, []) :: no
  | yes, no -> [ P.If (test, yes, no) ]

(* {1 Applications} *)

let count n l = List.length (List.filter (( = ) n) l)

let is_atom = function
  | P.Name _ | P.Constant _ -> true
  | _ -> false

(* each parameter but those of type () has a hole *)
let instantiate env (rs : Expr.rsymbol) template arguments operands =
  let name = Python_context.qualified rs.rs_name in
  let holes = Python_template.holes template in
  let is_known n = 1 <= n && n <= List.length operands in
  let is_used i argument = is_unit argument.e_mlty || List.mem (i + 1) holes in
  if not (List.for_all is_known holes && List.for_all Fun.id (List.mapi is_used arguments)) then
    fail env "the holes in the driver's syntax for %s do not fit its parameters" name;
  let is_repeated i operand = count (i + 1) holes > 1 && not (is_atom operand) in
  if List.exists Fun.id (List.mapi is_repeated operands) then
    fail env "an operand that the driver's syntax for %s repeats has to be a variable" name;
  match Python_template.instantiate template operands with
  | Update _ when not (Ity.ity_equal rs.rs_cty.cty_result Ity.ity_unit) ->
      fail env "the driver's syntax for %s is a statement, but its result is not ()" name
  | made -> made

let rec always_matches = function
  | P.Wildcard | Capture _ -> true
  | Alternative (p, q) -> always_matches p || always_matches q
  | Class_pattern _ -> false

(* {1 Expressions} *)

(* the value as an expression, if Python can write it without statements *)
let rec as_expression env e =
  match e.e_node with
  | _ when is_unit e.e_mlty -> if is_pure e then Some P.none else None
  | Econst c -> Some (literal env e c)
  | Evar pv -> Some (variable env pv)
  | Eif (a, b, c) -> conditional_expression env e a b c
  | Elet (Lvar (pv, e1), e2) -> Option.bind (move env pv e1 e2) (fun env -> as_expression env e2)
  | Eapp (rs, arguments, partial) -> (
      match call env rs arguments ~partial with
      | Python_template.Value x -> Some x
      | Update _ -> None)
  | _ -> None

and conditional_expression env e a b c =
  let conditional x y z =
    match connective e with
    | Some Negation -> P.negate x
    | Some Conjunction -> Boolean (x, And, y)
    | Some Disjunction -> Boolean (x, Or, z)
    | None -> Conditional { test = x; body = y; orelse = z }
  in
  match List.map (as_expression env) [ a; b; c ] with
  | [ Some x; Some y; Some z ] -> Some (conditional x y z)
  | _ -> None

(* The definition of [pv] at the place where [e2] uses it, if that is possible. The variables of
   the program itself are kept. *)
and move env pv e1 e2 =
  if not (Python_inline.is_proxy pv) then None
  else
    let env = at env (variable_id pv) in
    let reads = Python_inline.reads ~moved:(moved env) e1 in
    if not (Python_inline.may_move pv e1 ~reads e2) then None
    else
      let bind x = bound env (variable_id pv) (Moved (x, reads)) in
      Option.map bind (as_expression env e1)

and value env e =
  match as_expression env e with
  | Some x -> x
  | None -> fail env "a value that takes statements has to be that of a variable"

and call env rs arguments ~partial =
  let id = rs.Expr.rs_name in
  if Expr.rs_equal rs Expr.rs_func_app then fail env "a function that is a value is not supported";
  if partial then
    fail env "a partial application of %s is not supported" (Python_context.qualified id);
  let is = Expr.rs_equal rs in
  if is Expr.rs_true then Python_template.Value (P.bool true)
  else if is Expr.rs_false then Value (P.bool false)
  else if is Pmodule.rs_ref_proj then Value (reference env (List.hd arguments))
  else if Expr.is_rs_tuple rs then Value (Tuple (List.map (value env) arguments))
  else
    let operands = List.map (value env) arguments in
    match Python_context.syntax env.context id with
    | Some template -> instantiate env rs template arguments operands
    | None -> (
        match Python_context.symbol env.context env.loc id with
        | Function name | Constructor name -> Value (P.call name operands)
        | Record (name, fields) -> Value (Call (Name name, [], List.combine fields operands))
        | Exception _ | Type _ ->
            fail env "%s is not a program symbol" (Python_context.qualified id))

(* {1 Statements} *)

and statements env destination e =
  match e.e_node with
  | _ when destination = Discard && is_pure e -> []
  | Econst c -> deliver destination e (literal env e c)
  | Evar pv -> deliver destination e (variable env pv)
  | Eapp (rs, arguments, partial) -> (
      match call env rs arguments ~partial with
      | Value x -> deliver destination e x
      | Update (target, x) -> [ P.Assign (target, x) ])
  | Eblock [] -> []
  | Eblock [ e ] -> statements env destination e
  | Eblock (e1 :: rest) ->
      statements env Discard e1 @ statements env destination { e with e_node = Eblock rest }
  | Elet (Lvar (pv, e1), e2) -> let_variable (at env (variable_id pv)) destination pv e1 e2
  | Eif (a, b, c) -> conditional env destination e a b c
  | Ewhile (test, body) -> [ P.While (value env test, statements env Discard body) ]
  | Efor (i, ty, lower, direction, upper, body) ->
      for_loop env i ty lower direction upper body
  | Eassign [ (record, _, field, e) ] when Expr.rs_equal field Pmodule.rs_ref_proj ->
      [ assign e.e_mlty (reference env record) (value env e) ]
  | Ematch (e1, branches, []) -> [ match_ env destination (value env e1) branches ]
  | Ematch (e1, [], handlers) ->
      [ P.Try (statements env destination e1, List.map (handler env destination) handlers) ]
  | Eexn (xs, _, { e_node = Ematch (e, [], [ (x, variables, handler) ]); _ })
    when destination = Result && Ity.xs_equal x xs && is_identity variables handler ->
      if not (is_return xs e) then fail env "a local exception with two handlers is not supported";
      statements { env with returns = Sid.add xs.xs_name env.returns } destination e
  | Eraise (xs, Some e) when Sid.mem xs.xs_name env.returns -> statements env Result e
  | Eraise (xs, argument) ->
      let payload = Option.to_list (Option.map (value env) argument) in
      let exn = Python_context.exception_name env.context env.loc xs in
      [ P.Raise { error = P.call exn payload; from_none = env.in_handler } ]
  | Eabsurd -> [ unreachable env ]
  | Efun _ -> fail env "a function that is a value is not supported"
  | Elet _ -> fail env "a local function is not supported"
  | Eexn _ -> fail env "a local exception that is not the value of the function is not supported"
  | Eassign _ -> fail env "a field that changes is not supported"
  | Ematch _ -> fail env "a match of values and of exceptions is not supported"
  | Eignore _ -> fail env "a value that is ignored is not supported"

and let_variable env destination pv e1 e2 =
  let id = variable_id pv in
  if Python_context.is_reference pv.pv_ity then let_reference env destination pv e1 e2
  else if is_unit e1.e_mlty then
    statements env Discard e1 @ statements (bound env id (Value P.none)) destination e2
  else
    match move env pv e1 e2 with
    | Some env -> statements env destination e2
    | None ->
        let name, first, env = define_variable env pv e1 in
        first @ statements (bound env id (Value (Name name))) destination e2

and let_reference env destination pv e1 e2 =
  match e1.e_node with
  | Eapp (rs, [ initial ], false) when Expr.rs_equal rs Pmodule.rs_ref ->
      let name, first, env = define_variable env pv initial in
      first @ statements (bound env (variable_id pv) (Reference name)) destination e2
  | Elet (operand, e1) ->
      (* no capture: every variable has a name of its own *)
      let inner = { e2 with e_node = Elet (Lvar (pv, e1), e2) } in
      statements env destination { e2 with e_node = Elet (operand, inner) }
  | _ ->
      fail env "the reference %s may be an alias: it is not made by ref"
        (variable_id pv).id_string

(* Why3 calls all the variables that it introduces by the same letter *)
and define_variable env pv e =
  let annotation = Python_context.python_type env.context env.loc e.e_mlty in
  let base = if Python_inline.is_proxy pv then "value" else (variable_id pv).id_string in
  let name, is_used, inside = bind env base annotation in
  let body = statements { inside with bindings = env.bindings } (Variable (Name name)) e in
  (name, (if is_used then body else declare name annotation body), inside)

and conditional env destination e a b c =
  let is_short = destination <> Discard && not (is_conditional b || is_conditional c) in
  match if is_short then as_expression env e else None with
  | Some x -> deliver destination e x
  | None -> branch (value env a) (statements env destination b) (statements env destination c)

(* {1 Loops} *)

and for_loop env i ty lower direction upper body =
  if not (is_int ty) then fail env "a loop over a type other than int is not supported";
  let lower = variable env lower and upper = variable env upper in
  let one = BigInt.one and zero = P.int BigInt.zero in
  let range =
    match direction with
    | To when lower = zero -> [ P.add_constant upper one ]
    | To -> [ lower; P.add_constant upper one ]
    | DownTo ->
        let minus_one = BigInt.minus one in
        [ lower; P.add_constant upper minus_one; P.int minus_one ]
  in
  let counter env = bind_value env (variable_id i) (variable_id i).id_string (P.Name "int") in
  let for_ target over inside body = [ P.For (target, over, statements inside Discard body) ] in
  match element_loop env i range body with
  | Some (tuple, element, annotation, rest) ->
      let is_counted = Python_inline.occurs i rest in
      let k, env = if is_counted then counter env else ("", env) in
      let id = variable_id element in
      let x, inside = bind_value env id id.id_string annotation in
      if is_counted then
        for_ (P.Tuple [ Name k; Name x ]) (P.call "enumerate" [ tuple ]) inside rest
      else for_ (P.Name x) tuple inside rest
  | None ->
      let k, inside = counter env in
      for_ (P.Name k) (P.call "range" range) inside body

(* A loop over all indices of a tuple that begins with reading the element there: the tuple, and
   the variable for the element with its type. A tuple does not change, nor does a variable of
   WhyML that is no reference, so this is a loop over the elements. *)
and element_loop env i range body =
  let python_type = Python_context.python_type env.context env.loc in
  match body.e_node with
  | Elet (Lvar (element, { e_node = Eapp (get, [ tuple; index ], false); e_mlty }), rest) -> (
      match (tuple, index.e_node, Python_context.syntax env.context get.rs_name) with
      | { e_node = Evar s; e_mlty = ty; _ }, Evar k, Some template
        when Ity.pv_equal k i
             && (not (Ity.pv_equal s i))
             && not (Python_context.is_reference element.pv_ity) -> (
          let s = variable env s and index = P.Name "index" in
          let is_element =
            Python_template.instantiate template [ s; index ] = Value (P.Subscript (s, index))
          in
          match python_type ty with
          | P.Subscript (Name "tuple", _) when is_element && range = [ P.call "len" [ s ] ] ->
              Some (s, element, python_type e_mlty, rest)
          | _ -> None)
      | _ -> None)
  | _ -> None

(* {1 Patterns} *)

and pattern env = function
  | Pwild -> (env, P.Wildcard)
  | Pvar vs ->
      let ty =
        match vs.vs_ty.ty_node with
        | Tyvar tv -> Tvar tv
        | Tyapp (ts, []) -> Tapp (ts.ts_name, [])
        | Tyapp _ -> fail env "a pattern with a variable of this type is not supported"
      in
      let annotation = Python_context.python_type env.context env.loc ty in
      let name, env = bind_value env vs.vs_name vs.vs_name.id_string annotation in
      (env, P.Capture name)
  | Por (p, q) ->
      let inside, p = pattern env p in
      let inside, q = pattern inside q in
      if inside.bindings != env.bindings then
        fail env "alternatives with variables are not supported";
      (env, P.Alternative (p, q))
  | Papp (ls, l) -> (
      let env, l = Lists.map_fold_left pattern env l in
      match Python_context.(syntax env.context ls.ls_name, find env.context env.loc ls.ls_name) with
      | None, Some (Constructor name) -> (env, P.Class_pattern (name, l))
      | _ -> fail env "a pattern with %s is not supported" (Python_context.qualified ls.ls_name))
  | Pas _ | Ptuple _ -> fail env "a pattern of a tuple, or with a name, is not supported"

and match_ env destination subject branches =
  let rec cases = function
    | [] -> [ (P.Wildcard, [ unreachable env ]) ]
    | (p, e) :: rest ->
        let inside, p = pattern env p in
        let case = (p, statements inside destination e) in
        if always_matches p then [ case ] else case :: cases rest
  in
  P.Match (subject, cases branches)

(* {1 Exceptions} *)

and handler env destination (xs, variables, e) =
  let env = { env with in_handler = true } in
  if List.exists (fun pv -> Python_inline.occurs pv e) variables then
    fail env "a handler that uses the value of an exception is not supported";
  (Python_context.exception_name env.context env.loc xs, statements env destination e)

(* a handler that only hands on the value *)
and is_identity variables handler =
  match (variables, handler.e_node) with
  | [ pv ], Evar x -> Ity.pv_equal pv x
  | _ -> false

(* Is every [raise xs] in [e] a return of the function? Another handler of [xs] would catch it. *)
and is_return xs e =
  match e.e_node with
  | Ematch (_, _, handlers) when List.exists (fun (x, _, _) -> Ity.xs_equal x xs) handlers -> false
  | _ -> e_fold (fun ok e -> ok && is_return xs e) true e

(* {1 Functions} *)

(* A Python function of this name. [depends] are the symbols that the definition mentions. *)
let function_ context ~name ~doc ~depends (symbol : Expr.rsymbol) arguments result body =
  let loc = symbol.rs_name.id_loc in
  let avoid = Python_context.names_to_avoid context loc depends in
  let scope = Python_scope.of_function ~avoid in
  let env =
    { context; loc; bindings = Mid.empty; returns = Sid.empty; scope; in_handler = false }
  in
  let parameter env (id, ty, _) =
    let env = at env id in
    if is_unit ty then fail env "a parameter of type () is not supported";
    let annotation = Python_context.python_type context env.loc ty in
    let name, env = bind_value env id id.id_string annotation in
    (env, { P.name; annotation = Some annotation })
  in
  let env, parameters = Lists.map_fold_left parameter env arguments in
  let returns = Python_context.python_type context env.loc result in
  P.Function { name; parameters; returns; body = P.Docstring doc :: statements env Result body }
