(* Type annotations of Python variables. A checker gives a variable the type of the first value
   assigned to it, which can be too small: [()] has no elements, [Leaf()] is not any tree. *)

open Python_ast

(* Does a checker infer the declared type from this value alone? *)
let rec is_exact ~union ~variadic e =
  let exact = is_exact ~union ~variadic in
  match e with
  | Constant c -> c <> None_ && c <> Ellipsis
  | Name _ | Attribute _ | Subscript _ -> not union
  | Call (_, args, keywords) -> (not union) && List.for_all exact (args @ List.map snd keywords)
  | Tuple l -> l <> [] && (not variadic) && List.for_all exact l
  | List l -> l <> [] && List.for_all exact l
  | Starred _ | Slice _ -> false
  | Unary (_, a) -> exact a
  | Binary (a, _, b) | Boolean (a, _, b) -> exact a && exact b
  | Compare _ -> true
  | Conditional { body; orelse; _ } -> exact body && exact orelse

let rec is_variadic = function
  | Constant Ellipsis -> true
  | Subscript (_, Tuple l) -> List.exists is_variadic l
  | Subscript (_, t) -> is_variadic t
  | _ -> false

let assigned_values name body =
  let values = ref [] in
  let visit = function
    | Assign (Name x, value) when x = name -> values := value :: !values
    | _ -> ()
  in
  iter_stmts visit body;
  !values

let declare context loc name ty body =
  let annotation = Python_context.python_type context loc ty in
  let union = Python_context.mentions_union context ty in
  let variadic = is_variadic annotation in
  let values = assigned_values name body in
  if List.for_all (is_exact ~union ~variadic) values then body
  else
    match List.rev body with
    | Assign (Name x, value) :: before when x = name && List.length values = 1 ->
        List.rev (Annotated (name, annotation, Some value) :: before)
    | _ -> Annotated (name, annotation, None) :: body
