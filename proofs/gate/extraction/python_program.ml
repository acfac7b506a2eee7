(* Expressions and functions of WhyML, after erasure of ghost code, as Python.

   Why3 has brought the program into A-normal form: operands are variables, so the order of
   evaluation is that of the definitions. A definition becomes an assignment, or takes the place of
   the variable where [Python_inline] allows it. *)

open Why3
open Ident
open Mltree
module P = Python_ast

type binding =
  | Value of P.expr  (* immutable *)
  | Moved of P.expr * Ity.Spv.t  (* evaluated at its only use; the variables that it reads *)
  | Reference of string  (* a local reference is a Python variable *)

type jump = Return_here | Break_here | Continue_here

type env = {
  context : Python_context.t;
  loc : Loc.position option;  (* the last place that Why3 has kept *)
  bindings : binding Mid.t;
  functions : string Mid.t;  (* local functions *)
  jumps : jump Mid.t;  (* local exceptions whose raising is a Python statement *)
  scope : Python_scope.t;
  in_loop : bool;
  in_handler : bool;
}

(* what happens to the value of an expression, and what comes after it *)
type destination =
  | Result  (* the function returns it *)
  | Variable of P.expr
  | Discard
  | Next  (* none; the next round of the loop begins *)

type definition = {
  symbol : Expr.rsymbol;
  arguments : var list;
  result : ty;
  body : expr;
}

let definition { rec_sym = symbol; rec_args = arguments; rec_exp = body; rec_res = result; _ } =
  { symbol; arguments; result; body }

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
let unreachable env = P.unreachable ~from_none:env.in_handler

(* {1 Names} *)

let bind env base annotation =
  let { Python_scope.name; declared; inside } = Python_scope.bind env.scope base annotation in
  (name, declared, { env with scope = inside })

(* Why3 calls all the variables that it introduces by the same letter *)
let base_name pv =
  if Python_inline.is_proxy pv then "value" else (variable_id pv).id_string

let bound env id binding = { env with bindings = Mid.add id binding env.bindings }

let global_value env id template =
  match (Python_template.holes template, Python_template.instantiate template []) with
  | [], Value x -> x
  | _ ->
      fail env "the driver's syntax for %s is not a value: it has holes, or is a statement"
        (Python_context.qualified id)

let variable env pv =
  let id = variable_id pv in
  match Mid.find_opt id env.bindings with
  | Some (Value x | Moved (x, _)) -> x
  | Some (Reference _) ->
      fail env "the reference %s escapes: it may only be read and assigned here" id.id_string
  | None -> (
      match Python_context.syntax env.context id with
      | Some template -> global_value env id template
      | None -> (
          match Python_context.symbol env.context env.loc id with
          | Constant name -> P.Name name
          | _ -> fail env "%s is not a variable" (Python_context.qualified id)))

(* what the definition of a variable reads, if it was moved to its use *)
let moved env pv =
  match Mid.find_opt (variable_id pv) env.bindings with
  | Some (Moved (_, reads)) -> Some reads
  | _ -> None

let reference env e =
  match e.e_node with
  | Evar pv -> (
      match Mid.find_opt (variable_id pv) env.bindings with
      | Some (Reference name) -> Some (P.Name name)
      | _ -> None)
  | _ -> None

let literal env e c =
  match c with
  | Constant.ConstInt n when is_int e.e_mlty -> P.int n.il_int
  | ConstInt _ -> fail env "an integer literal of a type other than int is not supported"
  | ConstReal _ -> fail env "real numbers are not supported"
  | ConstStr s ->
      if String.exists (fun c -> Char.code c > 127) s then
        fail env "a string literal with characters outside ASCII is not supported";
      P.Constant (Str s)

let declare env name ~declared ty body =
  if declared then body else Python_annotation.declare env.context env.loc name ty body

(* {1 Delivery of values} *)

let finish = function
  | Variable target -> [ P.Assign (target, P.none) ]
  | Result | Discard | Next -> []

let is_ignored = function
  | Discard | Next -> true
  | Result | Variable _ -> false

let perform e x = if is_pure e then [] else [ P.Expr x ]

let deliver destination e x =
  match destination with
  | _ when is_unit e.e_mlty -> perform e x @ finish destination
  | Result -> [ P.Return (Some x) ]
  | Variable target -> if target = x then [] else [ P.Assign (target, x) ]
  | Discard | Next -> perform e x

(* [x = x + y] is [x += y] for integers; lists would be changed in place *)
let assign ty target value =
  match value with
  | P.Binary (a, ((Add | Sub | Mult) as op), b) when a = target && is_int ty ->
      P.Augmented (target, op, b)
  | _ -> P.Assign (target, value)

let branch ~pure test yes no =
  match (yes, no) with
  | [], [] -> if pure then [] else [ P.Expr test ]
  | yes, [] -> [ P.If (test, yes, []) ]
  | [], no -> [ P.If (P.negate test, no, []) ]
  | yes, no when not (P.falls_through yes) -> P.If (test, yes, []) :: no
  | yes, no -> [ P.If (test, yes, no) ]

(* {1 Applications} *)

let visible_parameters rs = List.filter (fun pv -> not pv.Ity.pv_ghost) rs.Expr.rs_cty.cty_args

let is_unit_parameter pv = Ity.ity_equal pv.Ity.pv_ity Ity.ity_unit

(* the arguments beside the parameters; a call without arguments has a dummy in the tree *)
let pair_parameters env rs arguments =
  match (visible_parameters rs, arguments) with
  | [], [ dummy ] when is_unit dummy.e_mlty -> []
  | parameters, arguments when List.length parameters = List.length arguments ->
      List.combine parameters arguments
  | _ ->
      fail env "a partial application of %s is not supported" (Python_context.qualified rs.rs_name)

let count n l = List.length (List.filter (fun m -> m = n) l)

let check_template env rs template parameters =
  let id = rs.Expr.rs_name in
  if Python_template.is_update template && not (Ity.ity_equal rs.rs_cty.cty_result Ity.ity_unit)
  then
    fail env "the driver's syntax for %s is a statement, but its result is not ()"
      (Python_context.qualified id);
  let holes = Python_template.holes template in
  let arity = List.length parameters in
  let unused i pv = (not (is_unit_parameter pv)) && not (List.mem (i + 1) holes) in
  let is_strange n = n < 1 || n > arity in
  if List.exists is_strange holes || List.exists Fun.id (List.mapi unused parameters) then
    fail env "the holes in the driver's syntax for %s do not fit its parameters"
      (Python_context.qualified id)

let is_atom = function
  | P.Name _ | P.Constant _ -> true
  | _ -> false

(* an operand that may be repeated *)
let is_repeatable env e =
  match e.e_node with
  | Evar pv -> (
      match Mid.find_opt (variable_id pv) env.bindings with
      | Some (Moved (x, _)) -> is_atom x
      | Some (Value _ | Reference _) | None -> true)
  | Econst _ -> true
  | _ -> false

let rec is_irrefutable = function
  | Pwild | Pvar _ -> true
  | Ptuple l -> List.for_all is_irrefutable l
  | Papp (ls, l) -> ls.Term.ls_constr = 1 && List.for_all is_irrefutable l
  | Pas (p, _) -> is_irrefutable p
  | Por _ -> false

let rec always_matches = function
  | P.Wildcard | Capture _ -> true
  | As (p, _) -> always_matches p
  | _ -> false

let alternative p q = if always_matches p then p else P.Alternative (p, q)

(* The names that are assigned here, whatever the statement. *)
let assigned_names body =
  let rec target = function
    | P.Name x -> [ x ]
    | Tuple l -> List.concat_map target l
    | _ -> []
  in
  let names = ref [] in
  let visit = function
    | P.Assign (t, _) | Augmented (t, _, _) -> names := target t @ !names
    | _ -> ()
  in
  P.iter_stmts visit body;
  !names

let exception_class ~name ~doc ~payload =
  let init annotation =
    let annotation = Some annotation in
    let self = P.Name "self" and value = P.Name "value" in
    let super = P.Attribute (P.call "super" [], "__init__") in
    let set = P.Assign (Attribute (self, "value"), value) in
    let parameters = [ { P.name = "self"; annotation = None }; { name = "value"; annotation } ] in
    let body = [ P.Expr (Call (super, [ value ], [])); set ] in
    P.Function { name = "__init__"; parameters; returns = P.none; body }
  in
  let doc = if doc = [] then [] else [ P.Docstring doc ] in
  let body = doc @ Option.to_list (Option.map init payload) in
  P.Class { decorators = []; name; bases = [ Name "Exception" ]; body }

(* {1 Expressions} *)

(* the value as an expression, if Python can write it without statements *)
let rec as_expression env e =
  match e.e_node with
  | _ when is_unit e.e_mlty -> if is_pure e then Some P.none else None
  | Econst c -> Some (literal env e c)
  | Evar pv -> Some (variable env pv)
  | Eblock [ e ] -> as_expression env e
  | Eif (a, b, c) -> conditional_expression env e a b c
  | Elet (Lvar (pv, e1), e2) -> Option.bind (move env pv e1 e2) (fun env -> as_expression env e2)
  | Eapp (rs, arguments, partial) when not (needs_statements env rs arguments) -> (
      match call env rs arguments ~partial with
      | [], Python_template.Value x -> Some x
      | _ -> None)
  | _ -> None

(* a syntax that is a statement, or has to repeat more than a name *)
and needs_statements env rs arguments =
  match Python_context.syntax env.context rs.rs_name with
  | None -> false
  | Some template ->
      let holes = Python_template.holes template in
      let repeated i e = count (i + 1) holes > 1 && not (is_repeatable env e) in
      Python_template.is_update template || List.exists Fun.id (List.mapi repeated arguments)

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
  if is_unit e1.e_mlty then
    if is_pure e1 then Some (bound env (variable_id pv) (Value P.none)) else None
  else if not (Python_inline.is_proxy pv) then None
  else
    let env = at env (variable_id pv) in
    let reads = Python_inline.reads ~moved:(moved env) e1 in
    if not (Python_inline.may_move pv e1 ~reads e2) then None
    else
      let bind x = bound env (variable_id pv) (Moved (x, reads)) in
      Option.map bind (as_expression env e1)

(* Statements, then an expression for the value, which has to be used right after them. *)
and value env e =
  match (as_expression env e, e.e_node) with
  | Some x, _ -> ([], x)
  | None, _ when is_unit e.e_mlty -> (statements env Discard e, P.none)
  | None, Eapp (rs, arguments, partial) -> (
      match call env rs arguments ~partial with
      | before, Python_template.Value x -> (before, x)
      | before, Update s -> (before @ [ s ], P.none))
  | None, Eblock [ e ] -> value env e
  | None, Eblock (e1 :: rest) ->
      let before = statements env Discard e1 in
      let others, x = value env { e with e_node = Eblock rest } in
      (P.sequence before others, x)
  | None, _ -> through_temporary env e

and through_temporary env e =
  let name = Python_scope.temporary env.scope "value" in
  let body = statements env (Variable (Name name)) e in
  (declare env name ~declared:false e.e_mlty body, P.Name name)

and operands env l =
  let before, operands = List.split (List.map (value env) l) in
  (List.concat before, operands)

(* {1 Applications} *)

and call env rs arguments ~partial =
  let id = rs.Expr.rs_name in
  if partial then
    fail env "a partial application of %s is not supported" (Python_context.qualified id);
  if Expr.rs_equal rs Expr.rs_func_app then fail env "a function that is a value is not supported";
  if Expr.rs_equal rs Expr.rs_true then ([], Python_template.Value (P.bool true))
  else if Expr.rs_equal rs Expr.rs_false then ([], Value (P.bool false))
  else if Expr.rs_equal rs Pmodule.rs_ref_proj then ([], Value (read_reference env arguments))
  else if Expr.is_rs_tuple rs then
    let before, l = operands env arguments in
    (before, Value (match l with [ x ] -> x | l -> Tuple l))
  else
    match Python_context.syntax env.context id with
    | Some template -> instantiate env rs template (pair_parameters env rs arguments)
    | None ->
        let before, x = apply env rs (pair_parameters env rs arguments) in
        (before, Value x)

and read_reference env arguments =
  match List.map (reference env) arguments with
  | [ Some x ] -> x
  | _ -> fail env "a reference that is not a local variable is not supported"

(* An argument that the template repeats is computed once. *)
and instantiate env rs template pairs =
  check_template env rs template (List.map fst pairs);
  let holes = Python_template.holes template in
  let operand i (parameter, e) =
    match reference env e with
    | Some x when Python_context.is_reference parameter.Ity.pv_ity -> ([], x)
    | _ when count (i + 1) holes > 1 && not (is_repeatable env e) -> through_temporary env e
    | _ -> value env e
  in
  let before, operands = List.split (List.mapi operand pairs) in
  (List.concat before, Python_template.instantiate template operands)

and apply env rs pairs =
  let id = rs.Expr.rs_name in
  let arguments = List.map snd pairs in
  match Mid.find_opt id env.functions with
  | Some name -> call_function env name pairs
  | None -> (
      match Python_context.symbol env.context env.loc id with
      | Function name -> call_function env name pairs
      | Constant name -> ([], Name name)
      | Constructor { class_name; fields; by_name } ->
          let before, l = operands env arguments in
          if by_name then (before, Call (Name class_name, [], List.combine fields l))
          else (before, P.call class_name l)
      | Field label ->
          let before, l = operands env arguments in
          (before, Attribute (List.hd l, label))
      | Exception _ | Type _ -> fail env "%s is not a program symbol" (Python_context.qualified id))

(* parameters of type unit are left out *)
and call_function env name pairs =
  let kept = List.filter (fun (parameter, _) -> not (is_unit_parameter parameter)) pairs in
  let before, l = operands env (List.map snd kept) in
  (before, P.call name l)

(* {1 Statements} *)

and statements env destination e =
  match e.e_node with
  | _ when is_ignored destination && is_pure e -> []
  | Econst c -> deliver destination e (literal env e c)
  | Evar pv -> deliver destination e (variable env pv)
  | Eapp (rs, arguments, partial) -> application env destination e rs arguments ~partial
  | Eblock l -> block env destination l
  | Eignore e -> P.sequence (statements env Discard e) (finish destination)
  | Elet (Lvar (pv, e1), e2) -> let_variable (at env (variable_id pv)) destination pv e1 e2
  | Elet (Lsym (symbol, _, result, arguments, body), e2) ->
      let_functions env destination [ { symbol; arguments; result; body } ] e2
  | Elet (Lrec definitions, e2) ->
      let_functions env destination (List.map definition definitions) e2
  | Elet (Lany (rs, _, _, _), _) ->
      fail (at env rs.rs_name) "%s has no body" (Python_context.qualified rs.rs_name)
  | Eif (a, b, c) -> conditional env destination e a b c
  | Ewhile (test, body) -> while_loop env test body @ finish destination
  | Efor (i, ty, lower, direction, upper, body) ->
      for_loop env i ty lower direction upper body @ finish destination
  | Eassign l -> assignment env l @ finish destination
  | Ematch (e1, [ (p, e2) ], []) when is_irrefutable p -> let_pattern env destination p e1 e2
  | Ematch (e1, branches, []) ->
      let before, subject = value env e1 in
      P.sequence before [ match_ env destination subject branches ]
  | Ematch (e1, branches, handlers) -> try_ env destination e1 branches handlers
  | Eexn (xs, payload, body) -> local_exception env destination xs payload body
  | Eraise (xs, argument) -> raise_ env destination xs argument
  | Eabsurd -> [ unreachable env ]
  | Efun _ -> fail env "a function that is a value is not supported"

and application env destination e rs arguments ~partial =
  match call env rs arguments ~partial with
  | before, Python_template.Value x -> P.sequence before (deliver destination e x)
  | before, Update (Assign (target, x)) ->
      let ty = (List.nth arguments (List.length arguments - 1)).e_mlty in
      P.sequence before (assign ty target x :: finish destination)
  | before, Update s -> P.sequence before (s :: finish destination)

and block env destination = function
  | [] -> finish destination
  | [ e ] -> statements env destination e
  | e :: rest -> P.sequence (statements env Discard e) (block env destination rest)

and let_variable env destination pv e1 e2 =
  let id = variable_id pv in
  if Python_context.is_reference pv.pv_ity then let_reference env destination pv e1 e2
  else if is_unit e1.e_mlty then
    P.sequence (statements env Discard e1) (statements (bound env id (Value P.none)) destination e2)
  else
    match move env pv e1 e2 with
    | Some env -> statements env destination e2
    | None ->
        let name, first, env = define_variable env pv e1 in
        P.sequence first (statements (bound env id (Value (Name name))) destination e2)

and let_reference env destination pv e1 e2 =
  match e1.e_node with
  | Eapp (rs, [ initial ], false)
    when Expr.(rs_equal rs Pmodule.rs_ref || rs_equal rs Pmodule.rs_ref_cons) ->
      let name, first, env = define_variable env pv initial in
      let env = bound env (variable_id pv) (Reference name) in
      P.sequence first (statements env destination e2)
  | Elet (operand, e1) ->
      (* no capture: every variable has a name of its own *)
      let inner = { e2 with e_node = Elet (Lvar (pv, e1), e2) } in
      statements env destination { e2 with e_node = Elet (operand, inner) }
  | _ ->
      fail env "the reference %s may be an alias: it is not made by ref"
        (variable_id pv).id_string

and define_variable env pv e =
  let annotation = Python_context.python_type env.context env.loc e.e_mlty in
  let name, declared, inside = bind env (base_name pv) annotation in
  let body = statements { inside with bindings = env.bindings } (Variable (Name name)) e in
  (name, declare env name ~declared e.e_mlty body, inside)

and conditional env destination e a b c =
  let short = not (is_ignored destination || is_conditional b || is_conditional c) in
  match if short then as_expression env e else None with
  | Some x -> deliver destination e x
  | None ->
      let before, test = value env a in
      let yes = statements env destination b in
      let no = statements env destination c in
      P.sequence before (branch ~pure:(is_pure a) test yes no)

and assignment env = function
  | [ (record, _, field, e) ] -> (
      let target = target env record field in
      match as_expression env e with
      | Some x -> [ assign e.e_mlty target x ]
      | None -> statements env (Variable target) e)
  | l ->
      let targets = List.map (fun (record, _, field, _) -> target env record field) l in
      let before, values = operands env (List.map (fun (_, _, _, e) -> e) l) in
      before @ [ P.Assign (Tuple targets, Tuple values) ]

and target env record field =
  if Expr.rs_equal field Pmodule.rs_ref_proj then read_reference env [ record ]
  else
    match Python_context.symbol env.context env.loc field.rs_name with
    | Field label -> Attribute (snd (value env record), label)
    | _ -> fail env "%s is not a field" (Python_context.qualified field.rs_name)

(* {1 Loops} *)

and loop_body env body = statements { env with in_loop = true } Next body

and while_loop env test body =
  match value { env with in_loop = true } test with
  | [], test -> [ P.While (test, loop_body env body) ]
  | before, test ->
      let leave = P.If (P.negate test, [ Break ], []) in
      [ P.While (P.bool true, P.sequence before (leave :: loop_body env body)) ]

and for_loop env i ty lower direction upper body =
  if not (is_int ty) then fail env "a loop over a type other than int is not supported";
  let lower = variable env lower and upper = variable env upper in
  let one = BigInt.one in
  let range =
    match direction with
    | To when lower = P.small 0 -> [ P.add_constant upper one ]
    | To -> [ lower; P.add_constant upper one ]
    | DownTo -> [ lower; P.add_constant upper (BigInt.minus one); P.small (-1) ]
  in
  let counter = loop_variable env i (P.Name "int") in
  match element_loop env i range body with
  | Some (tuple, element, annotation, rest) when not (Python_inline.occurs i rest) ->
      let element, inside = loop_variable env element annotation rest in
      [ P.For (element, tuple, loop_body inside rest) ]
  | Some (tuple, element, annotation, rest) ->
      let i, inside = counter rest in
      let element, inside = loop_variable inside element annotation rest in
      [ P.For (P.Tuple [ i; element ], P.call "enumerate" [ tuple ], loop_body inside rest) ]
  | None ->
      let i, inside = counter body in
      [ P.For (i, P.call "range" range, loop_body inside body) ]

and loop_variable env pv annotation body =
  if Python_inline.occurs pv body then
    let name, _, inside = bind env (base_name pv) annotation in
    (P.Name name, bound inside (variable_id pv) (Value (Name name)))
  else (P.Name "_", env)

(* A loop over all indices of a tuple that begins with reading the element there: the tuple, and
   the variable for the element with its type. A tuple does not change, nor does a variable of
   WhyML that is no reference, so this is a loop over the elements. *)
and element_loop env i range body =
  match body.e_node with
  | Elet (Lvar (element, { e_node = Eapp (get, [ tuple; index ], false); e_mlty }), rest) -> (
      match (tuple.e_node, index.e_node, Python_context.syntax env.context get.rs_name) with
      | Evar s, Evar k, Some template
        when Ity.pv_equal k i
             && (not (Ity.pv_equal s i))
             && (not (Python_context.is_reference element.pv_ity))
             && is_tuple env tuple.e_mlty ->
          let s = variable env s in
          let index = P.Name "index" in
          let is_element =
            Python_template.instantiate template [ s; index ] = Value (P.Subscript (s, index))
          in
          let is_whole = range = [ P.call "len" [ s ] ] in
          if is_element && is_whole then
            Some (s, element, Python_context.python_type env.context env.loc e_mlty, rest)
          else None
      | _ -> None)
  | _ -> None

and is_tuple env ty =
  match Python_context.python_type env.context env.loc ty with
  | P.Subscript (Name "tuple", _) -> true
  | _ -> false

(* {1 Patterns} *)

and bind_pattern env vs =
  let id = vs.Term.vs_name in
  match Mid.find_opt id env.bindings with
  | Some (Value (Name name)) -> (env, name)  (* the other side of an or-pattern *)
  | _ ->
      let ty = Python_context.ml_type vs.vs_ty in
      let annotation = Python_context.python_type env.context env.loc ty in
      let name, _, env = bind env id.id_string annotation in
      (bound env id (Value (Name name)), name)

and patterns env l = Lists.map_fold_left pattern env l

and pattern env = function
  | Pwild -> (env, P.Wildcard)
  | Pvar vs ->
      let env, name = bind_pattern env vs in
      (env, P.Capture name)
  | Pas (p, vs) ->
      let env, p = pattern env p in
      let env, name = bind_pattern env vs in
      (env, P.As (p, name))
  | Por (p, q) ->
      let env, p = pattern env p in
      let env, q = pattern env q in
      (env, alternative p q)
  | Ptuple l ->
      let env, l = patterns env l in
      (env, P.Sequence l)
  | Papp (ls, l) ->
      let env, l = patterns env l in
      (env, constructor_pattern env ls l)

and constructor_pattern env ls l =
  if Term.ls_equal ls Term.fs_bool_true then P.Literal true
  else if Term.ls_equal ls Term.fs_bool_false then P.Literal false
  else
    let { Python_context.class_name; fields; by_name } = constructor env ls.Term.ls_name in
    if by_name then Class_pattern (class_name, [], List.combine fields l)
    else Class_pattern (class_name, l, [])

and constructor env id =
  if Python_context.syntax env.context id <> None then
    fail env "a pattern with %s, which has a syntax in the driver, is not supported"
      (Python_context.qualified id);
  match Python_context.symbol env.context env.loc id with
  | Constructor constructor -> constructor
  | _ -> fail env "%s is not a constructor" (Python_context.qualified id)

and match_ env destination subject branches =
  let rec cases = function
    | [] -> [ (P.Wildcard, [ unreachable env ]) ]
    | (p, e) :: rest ->
        let inside, p = pattern env p in
        let case = (p, statements inside destination e) in
        if always_matches p then [ case ] else case :: cases rest
  in
  P.Match (subject, cases branches)

(* [let p = e1 in e2], without a test of the pattern *)
and let_pattern env destination p e1 e2 =
  let before, subject = value env e1 in
  let env, taken_apart = destructure env p subject in
  let taken_apart =
    if taken_apart = [] && not (is_pure e1) then [ P.Expr subject ] else taken_apart
  in
  P.sequence before (taken_apart @ statements env destination e2)

and destructure env p subject =
  match p with
  | Pwild -> (env, [])
  | Pvar vs ->
      let env, name = bind_pattern env vs in
      (env, [ P.Assign (Name name, subject) ])
  | Pas (p, vs) ->
      let env, name = bind_pattern env vs in
      let env, rest = destructure env p (Name name) in
      (env, P.Assign (Name name, subject) :: rest)
  | Ptuple l ->
      let env, targets = Lists.map_fold_left component env l in
      let env, rest = Lists.map_fold_left take_apart env targets in
      (env, P.Assign (Tuple (List.map fst targets), subject) :: List.concat rest)
  | Papp (ls, l) ->
      let before, subject = atom env subject in
      let part field p = (P.Attribute (subject, field), Some p) in
      let parts = List.map2 part (constructor env ls.ls_name).fields l in
      let env, rest = Lists.map_fold_left take_apart env parts in
      (env, before @ List.concat rest)
  | Por _ -> invalid_arg "Python_program.destructure"

and take_apart env (subject, p) =
  match p with
  | None -> (env, [])
  | Some p -> destructure env p subject

(* the target for a component of a tuple, and the pattern that remains *)
and component env = function
  | Pwild -> (env, (P.Name "_", None))
  | Pvar vs ->
      let env, name = bind_pattern env vs in
      (env, (P.Name name, None))
  | p -> (env, (P.Name (Python_scope.temporary env.scope "part"), Some p))

and atom env subject =
  if is_atom subject then ([], subject)
  else
    let name = P.Name (Python_scope.temporary env.scope "value") in
    ([ P.Assign (name, subject) ], name)

(* {1 Exceptions} *)

and try_ env destination e1 branches handlers =
  let body, orelse =
    match branches with
    | [] -> (statements env destination e1, [])
    | branches ->
        let before, subject = through_temporary env e1 in
        (before, [ match_ env destination subject branches ])
  in
  let handlers = List.map (handler env destination) handlers in
  if body = [] then orelse else [ P.Try { body; handlers; orelse } ]

and handler env destination (xs, variables, e) =
  let env = { env with in_handler = true } in
  let exn = Python_context.exception_name env.context env.loc xs in
  if not (List.exists (fun pv -> Python_inline.occurs pv e) variables) then
    { P.exn; binder = None; body = statements env destination e }
  else
    let error = Python_scope.temporary env.scope "error" in
    let pattern = function
      | [ pv ] -> Pvar pv.Ity.pv_vs
      | l -> Ptuple (List.map (fun pv -> Pvar pv.Ity.pv_vs) l)
    in
    let env, payload = destructure env (pattern variables) (Attribute (Name error, "value")) in
    { exn; binder = Some error; body = payload @ statements env destination e }

and raise_ env destination xs argument =
  match (Mid.find_opt xs.Ity.xs_name env.jumps, argument) with
  | Some Break_here, _ -> [ P.Break ]
  | Some Continue_here, _ -> if destination = Next then [] else [ P.Continue ]
  | Some Return_here, Some e when not (is_unit e.e_mlty) -> statements env Result e
  | Some Return_here, _ -> if destination = Result then [] else [ P.Return None ]
  | None, argument ->
      let exn = Python_context.exception_name env.context env.loc xs in
      let before, payload =
        match argument with
        | None -> ([], [])
        | Some e ->
            let before, x = value env e in
            (before, [ x ])
      in
      P.sequence before [ P.Raise { error = P.call exn payload; from_none = env.in_handler } ]

and local_exception env destination xs payload body =
  match body.e_node with
  | Ematch (inner, [], [ (x, variables, handler) ])
    when Ity.xs_equal x xs && is_identity variables handler -> (
      let unit = is_unit handler.e_mlty in
      let jump =
        if unit && Python_control.is_break xs inner then Some Break_here
        else if unit && destination = Next && Python_control.is_continue xs inner then
          Some Continue_here
        else if destination = Result && Python_control.is_return xs inner then Some Return_here
        else None
      in
      match jump with
      | Some jump ->
          statements { env with jumps = Mid.add xs.xs_name jump env.jumps } destination inner
      | None -> declared_exception env destination xs payload body)
  | _ -> declared_exception env destination xs payload body

(* a handler that only hands on the value *)
and is_identity variables handler =
  match (variables, handler.e_node) with
  | _, Eblock [] -> true
  | [ pv ], Evar x -> Ity.pv_equal pv x
  | _ -> false

(* The class goes to module level. It is as good as a new one for every call, since a local
   exception is always caught in the call that raises it. *)
and declared_exception env destination xs payload body =
  let payload = Option.map (python_payload env) payload in
  let name = Python_context.(new_global env.context (private_name xs.xs_name.id_string)) in
  Python_context.define env.context xs.xs_name (Exception name);
  Python_context.emit env.context (exception_class ~name ~doc:[] ~payload);
  statements env destination body

and python_payload env ty =
  if Python_context.is_polymorphic ty then
    fail env "an exception with a value of a polymorphic type is not supported";
  Python_context.python_type env.context env.loc ty

(* {1 Functions} *)

and let_functions env destination definitions e =
  if env.in_loop then
    fail env "a function inside a loop is not supported: Python would bind its variables late";
  let bind_name env { symbol; _ } =
    let id = symbol.Expr.rs_name in
    let { Python_scope.name; inside; _ } = Python_scope.bind_function env.scope id.id_string in
    ({ env with scope = inside; functions = Mid.add id name env.functions }, name)
  in
  let env, names = Lists.map_fold_left bind_name env definitions in
  let define name definition =
    define { env with scope = Python_scope.of_nested_function env.scope } ~name ~doc:[] definition
  in
  List.map2 define names definitions @ statements env destination e

and define env ~name ~doc { symbol; arguments; result; body } =
  let outer = env.bindings in
  let env = at env symbol.rs_name in
  let env = { env with jumps = Mid.empty; in_loop = false; in_handler = false } in
  let env, parameters = Lists.map_fold_left parameter env arguments in
  let returns = Python_context.python_type env.context env.loc result in
  let body = statements env Result body in
  let doc = if doc = [] then [] else [ P.Docstring doc ] in
  let body = doc @ nonlocal outer body @ body in
  P.Function { name; parameters = List.concat parameters; returns; body }

and parameter env (id, ty, _) =
  if is_unit ty then (bound env id (Value P.none), [])
  else
    let env = at env id in
    let annotation = Python_context.python_type env.context env.loc ty in
    let name, _, env = bind env id.id_string annotation in
    (bound env id (Value (Name name)), [ { P.name; annotation = Some annotation } ])

(* the references of the functions around this one that it assigns *)
and nonlocal outer body =
  let add _ binding names =
    match binding with
    | Reference x -> x :: names
    | Value _ | Moved _ -> names
  in
  let references = Mid.fold add outer [] in
  let assigned = List.filter (fun x -> List.mem x references) (assigned_names body) in
  if assigned = [] then [] else [ P.Nonlocal (List.sort_uniq compare assigned) ]

let environment context ~avoid loc =
  {
    context;
    loc;
    bindings = Mid.empty;
    functions = Mid.empty;
    jumps = Mid.empty;
    scope = Python_scope.of_function ~avoid;
    in_loop = false;
    in_handler = false;
  }

let function_ context ~name ~doc ~depends definition =
  let loc = definition.symbol.rs_name.id_loc in
  let avoid = Python_context.names_to_avoid context loc depends in
  define (environment context ~avoid loc) ~name ~doc definition

let constant context loc e =
  let env = environment context ~avoid:Wstdlib.Sstr.empty loc in
  match as_expression env e with
  | Some x -> x
  | None -> fail env "the value of a constant must be an expression"
