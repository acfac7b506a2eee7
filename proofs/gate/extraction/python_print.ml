(* Printing of the Python tree. Lines are not broken: a formatter does that. Parentheses are decided
   in one place, [at]. *)

open Python_ast

(* {1 Expressions} *)

(* Python's levels of precedence, the loosest first *)
type level =
  | Any
  | Conditional_
  | Or_
  | And_
  | Not_
  | Comparison
  | Bitwise_or
  | Sum
  | Product
  | Sign
  | Primary

let constant = function
  | None_ -> "None"
  | Bool true -> "True"
  | Bool false -> "False"
  | Int digits -> digits
  | Str s -> "\"" ^ s ^ "\""
  | Ellipsis -> "..."

(* the symbol, its own level, and the one that the right operand needs *)
let binary = function
  | Add -> ("+", Sum, Product)
  | Sub -> ("-", Sum, Product)
  | Mult -> ("*", Product, Sign)
  | Bit_or -> ("|", Bitwise_or, Sum)

let comparison = function
  | Eq -> "=="
  | Not_eq -> "!="
  | Lt -> "<"
  | Lt_eq -> "<="
  | Gt -> ">"
  | Gt_eq -> ">="

let level = function
  | Constant _ | Name _ | Attribute _ | Subscript _ | Call _ | Tuple _ | List _ -> Primary
  | Unary (Neg, _) -> Sign
  | Unary (Not, _) -> Not_
  | Binary (_, op, _) ->
      let _, own, _ = binary op in
      own
  | Compare _ -> Comparison
  | Boolean (_, And, _) -> And_
  | Boolean (_, Or, _) -> Or_
  | Conditional _ -> Conditional_
  | Slice _ -> Any

let comma = String.concat ", "

(* [e] at a place where Python expects an expression of level [least] or tighter *)
let rec at least e = if level e < least then "(" ^ expr e ^ ")" else expr e

and expr = function
  | Constant c -> constant c
  | Name x -> x
  | Attribute (a, x) -> at Primary a ^ "." ^ x
  | Subscript (a, i) -> at Primary a ^ "[" ^ bare_tuple i ^ "]"
  | Slice (a, b) -> bound a ^ ":" ^ bound b
  | Call (f, l, keywords) ->
      let keyword (x, a) = x ^ "=" ^ expr a in
      at Primary f ^ "(" ^ comma (List.map expr l @ List.map keyword keywords) ^ ")"
  | Tuple [ a ] -> "(" ^ expr a ^ ",)"
  | Tuple l -> "(" ^ comma (List.map expr l) ^ ")"
  | List l -> "[" ^ comma (List.map expr l) ^ "]"
  | Unary (Neg, a) -> "-" ^ at Primary a
  | Unary (Not, a) -> "not " ^ at Not_ a
  | Binary (a, op, b) ->
      let symbol, own, tighter = binary op in
      infix (at own a) symbol (at tighter b)
  | Compare (a, op, b) ->
      (* both sides tighter: Python would chain a comparison of comparisons *)
      infix (at Bitwise_or a) (comparison op) (at Bitwise_or b)
  | Boolean (a, And, b) -> infix (at And_ a) "and" (at And_ b)
  | Boolean (a, Or, b) -> infix (at Or_ a) "or" (at Or_ b)
  | Conditional { test; body; orelse } ->
      infix (infix (at Or_ body) "if" (at Or_ test)) "else" (at Conditional_ orelse)

and infix a symbol b = a ^ " " ^ symbol ^ " " ^ b

and bound e = Option.fold ~none:"" ~some:(at Conditional_) e

(* a tuple of two and more elements needs no parentheses where a list of expressions may stand *)
and bare_tuple = function
  | Tuple (_ :: _ :: _ as l) -> comma (List.map expr l)
  | e -> expr e

let rec pattern = function
  | Wildcard -> "_"
  | Capture x -> x
  | Class_pattern (name, l) -> name ^ "(" ^ comma (List.map pattern l) ^ ")"
  | Alternative (p, q) -> pattern p ^ " | " ^ pattern q

(* {1 Statements} *)

let docstring lines =
  let text = String.concat "\n" lines in
  let closing = match lines with [ _ ] -> "" | _ -> "\n" in
  String.split_on_char '\n' ("\"\"\"" ^ text ^ closing ^ "\"\"\"")

let rec stmt indent output s =
  let line text = Format.fprintf output "%s@\n" (if text = "" then "" else indent ^ text) in
  let block header body =
    line (header ^ ":");
    suite (indent ^ "    ") output body
  in
  match s with
  | Docstring lines -> List.iter line (docstring lines)
  | Expr e -> line (expr e)
  | Assign (target, e) -> line (bare_tuple target ^ " = " ^ bare_tuple e)
  | Annotated (x, t, e) ->
      line (x ^ ": " ^ expr t ^ Option.fold ~none:"" ~some:(fun e -> " = " ^ expr e) e)
  | Augmented (target, op, e) ->
      let symbol, _, _ = binary op in
      line (infix (expr target) (symbol ^ "=") (expr e))
  | Return e -> line ("return " ^ bare_tuple e)
  | Raise { error; from_none } ->
      line ("raise " ^ expr error ^ if from_none then " from None" else "")
  | If (test, yes, no) -> conditional line block "if" test yes no
  | While (test, body) -> block ("while " ^ expr test) body
  | For (target, over, body) -> block ("for " ^ bare_tuple target ^ " in " ^ expr over) body
  | Try (body, handlers) ->
      block "try" body;
      List.iter (fun (exn, body) -> block ("except " ^ exn) body) handlers
  | Match (subject, cases) ->
      line ("match " ^ bare_tuple subject ^ ":");
      let case (p, body) =
        line ("    case " ^ pattern p ^ ":");
        suite (indent ^ "        ") output body
      in
      List.iter case cases
  | Function { name; parameters; returns; body } ->
      let parameter { name; annotation } =
        name ^ Option.fold ~none:"" ~some:(fun t -> ": " ^ expr t) annotation
      in
      let parameters = comma (List.map parameter parameters) in
      block ("def " ^ name ^ "(" ^ parameters ^ ") -> " ^ expr returns) body
  | Class { decorators; name; bases; body } ->
      List.iter (fun d -> line ("@" ^ expr d)) decorators;
      let bases = if bases = [] then "" else "(" ^ comma (List.map expr bases) ^ ")" in
      block ("class " ^ name ^ bases) body

and suite indent output body =
  List.iter (stmt indent output) (if body = [] then [ Expr (Name "pass") ] else body)

(* an [else] that is only another [if] is an [elif] *)
and conditional line block keyword test yes no =
  block (keyword ^ " " ^ expr test) yes;
  match no with
  | [] -> ()
  | [ If (test, yes, no) ] -> conditional line block "elif" test yes no
  | no -> block "else" no

(* a statement of the module *)
let toplevel output s =
  match s with
  | Function _ | Class _ -> Format.fprintf output "@\n@\n%a" (stmt "") s
  | s -> stmt "" output s
