(* Printing of the Python tree. Parentheses are decided in one place, [at]. *)

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

let string_literal s =
  let escape = function
    | '"' -> "\\\""
    | '\\' -> "\\\\"
    | '\n' -> "\\n"
    | '\r' -> "\\r"
    | '\t' -> "\\t"
    | c when c < ' ' || c > '~' -> Printf.sprintf "\\x%02x" (Char.code c)
    | c -> String.make 1 c
  in
  "\"" ^ String.concat "" (List.map escape (List.of_seq (String.to_seq s))) ^ "\""

let constant = function
  | None_ -> "None"
  | Bool true -> "True"
  | Bool false -> "False"
  | Int digits -> digits
  | Str s -> string_literal s
  | Ellipsis -> "..."

let binary = function
  | Add -> ("+", Sum)
  | Sub -> ("-", Sum)
  | Mult -> ("*", Product)
  | Floor_div -> ("//", Product)
  | Mod -> ("%", Product)
  | Bit_or -> ("|", Bitwise_or)

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
  | Binary (_, op, _) -> snd (binary op)
  | Compare _ -> Comparison
  | Boolean (_, And, _) -> And_
  | Boolean (_, Or, _) -> Or_
  | Conditional _ -> Conditional_
  | Slice _ | Starred _ -> Any

let tighter = function
  | Any -> Conditional_
  | Conditional_ -> Or_
  | Or_ -> And_
  | And_ -> Not_
  | Not_ -> Comparison
  | Comparison -> Bitwise_or
  | Bitwise_or -> Sum
  | Sum -> Product
  | Product -> Sign
  | Sign | Primary -> Primary

let comma = String.concat ", "

(* [e] at a place where Python expects an expression of level [least] or tighter *)
let rec at least e = if level e < least then "(" ^ expr e ^ ")" else expr e

and expr e =
  match e with
  | Constant c -> constant c
  | Name x -> x
  | Attribute (Constant (Int _) as a, x) -> "(" ^ expr a ^ ")." ^ x
  | Attribute (a, x) -> at Primary a ^ "." ^ x
  | Subscript (a, i) -> at Primary a ^ "[" ^ bare_tuple i ^ "]"
  | Slice (a, b) -> bound a ^ ":" ^ bound b
  | Call (f, l, keywords) ->
      let keyword (x, a) = x ^ "=" ^ expr a in
      at Primary f ^ "(" ^ comma (List.map expr l @ List.map keyword keywords) ^ ")"
  | Tuple [ a ] -> "(" ^ expr a ^ ",)"
  | Tuple l -> "(" ^ comma (List.map expr l) ^ ")"
  | List l -> "[" ^ comma (List.map expr l) ^ "]"
  | Starred a -> "*" ^ at Bitwise_or a
  | Unary (Neg, a) -> "-" ^ at Primary a
  | Unary (Not, a) -> "not " ^ at Not_ a
  | Binary (a, op, b) ->
      let symbol, own = binary op in
      infix (at own a) symbol (at (tighter own) b)
  | Compare (a, op, b) ->
      (* both sides tighter: Python would chain a comparison of comparisons *)
      infix (at Bitwise_or a) (comparison op) (at Bitwise_or b)
  | Boolean (a, And, b) -> infix (at And_ a) "and" (at And_ b)
  | Boolean (a, Or, b) -> infix (at Or_ a) "or" (at Or_ b)
  | Conditional { test; body; orelse } ->
      infix (infix (at Or_ body) "if" (at Or_ test)) "else" (at Conditional_ orelse)

and infix a symbol b = a ^ " " ^ symbol ^ " " ^ b

and bound = function
  | None -> ""
  | Some e -> at Conditional_ e

(* a tuple of two and more elements needs no parentheses where a list of expressions may stand *)
and bare_tuple = function
  | Tuple (_ :: _ :: _ as l) when not (List.exists is_starred l) -> comma (List.map expr l)
  | e -> expr e

and is_starred = function
  | Starred _ -> true
  | _ -> false

(* {1 Patterns} *)

let rec pattern p =
  match p with
  | Wildcard -> "_"
  | Capture x -> x
  | Literal b -> constant (Bool b)
  | Sequence [ p ] -> "(" ^ pattern p ^ ",)"
  | Sequence l -> "(" ^ comma (List.map pattern l) ^ ")"
  | Class_pattern (name, l, keywords) ->
      let keyword (x, p) = x ^ "=" ^ pattern p in
      name ^ "(" ^ comma (List.map pattern l @ List.map keyword keywords) ^ ")"
  | Alternative (p, q) -> alternative p ^ " | " ^ alternative q
  | As (p, x) -> operand p ^ " as " ^ x

and alternative = function
  | As _ as p -> "(" ^ pattern p ^ ")"
  | p -> pattern p

and operand = function
  | (As _ | Alternative _) as p -> "(" ^ pattern p ^ ")"
  | p -> pattern p

(* {1 Statements} *)

let contains_substring s sub =
  let n = String.length sub in
  let rec from i = i + n <= String.length s && (String.sub s i n = sub || from (i + 1)) in
  from 0

let escape_docstring s =
  let escape = function
    | '\\' -> "\\\\"
    | '"' -> "\\\""
    | c -> String.make 1 c
  in
  String.concat "" (List.map escape (List.of_seq (String.to_seq s)))

(* The lines of a docstring with its quotes. Backslashes are left as they are in a raw string,
   unless a quote that would end the string early has to be escaped. *)
let docstring lines =
  let text = String.concat "\n" lines in
  let ends_with c = text <> "" && text.[String.length text - 1] = c in
  let closing = if List.length lines > 1 then [ "\"\"\"" ] else [] in
  let hazard =
    contains_substring text "\"\"\"" || (closing = [] && (ends_with '"' || ends_with '\\'))
  in
  let prefix, lines =
    if hazard then ("", List.map escape_docstring lines)
    else ((if String.contains text '\\' then "r" else ""), lines)
  in
  match lines with
  | [] -> []
  | first :: rest when closing <> [] -> ((prefix ^ "\"\"\"" ^ first) :: rest) @ closing
  | first :: _ -> [ prefix ^ "\"\"\"" ^ first ^ "\"\"\"" ]

let simple s =
  match s with
  | Expr e -> expr e
  | Assign (target, e) -> bare_tuple target ^ " = " ^ bare_tuple e
  | Annotated (x, t, None) -> x ^ ": " ^ expr t
  | Annotated (x, t, Some e) -> x ^ ": " ^ expr t ^ " = " ^ expr e
  | Augmented (target, op, e) -> expr target ^ " " ^ fst (binary op) ^ "= " ^ expr e
  | Nonlocal l -> "nonlocal " ^ comma l
  | Return None -> "return"
  | Return (Some e) -> "return " ^ bare_tuple e
  | Raise { error; from_none } -> "raise " ^ expr error ^ if from_none then " from None" else ""
  | Break -> "break"
  | Continue -> "continue"
  | Docstring _ | If _ | While _ | For _ | Try _ | Match _ | Function _ | Class _ ->
      invalid_arg "Python_print.simple"

let rec stmt indent fmt s =
  let line text = Format.fprintf fmt "%s@\n" (if text = "" then "" else indent ^ text) in
  let block header body =
    line (header ^ ":");
    suite (indent ^ "    ") fmt body
  in
  match s with
  | Docstring lines -> List.iter line (docstring lines)
  | If (test, yes, no) -> conditional block "if" test yes no
  | While (test, body) -> block ("while " ^ expr test) body
  | For (target, over, body) -> block ("for " ^ bare_tuple target ^ " in " ^ expr over) body
  | Try { body; handlers; orelse } ->
      block "try" body;
      let handler { exn; binder; body } =
        let binding = match binder with None -> "" | Some x -> " as " ^ x in
        block ("except " ^ exn ^ binding) body
      in
      List.iter handler handlers;
      if orelse <> [] then block "else" orelse
  | Match (subject, cases) ->
      line ("match " ^ bare_tuple subject ^ ":");
      let case (p, body) =
        line ("    case " ^ pattern p ^ ":");
        suite (indent ^ "        ") fmt body
      in
      List.iter case cases
  | Function { name; parameters; returns; body } ->
      let parameter { name; annotation } =
        match annotation with None -> name | Some t -> name ^ ": " ^ expr t
      in
      let parameters = comma (List.map parameter parameters) in
      block ("def " ^ name ^ "(" ^ parameters ^ ") -> " ^ expr returns) body
  | Class { decorators; name; bases; body } ->
      List.iter (fun d -> line ("@" ^ expr d)) decorators;
      let bases = if bases = [] then "" else "(" ^ comma (List.map expr bases) ^ ")" in
      block ("class " ^ name ^ bases) body
  | s -> line (simple s)

and suite indent fmt body =
  if body = [] then Format.fprintf fmt "%spass@\n" indent else List.iter (stmt indent fmt) body

(* an [else] that is only another [if] is an [elif] *)
and conditional block keyword test yes no =
  block (keyword ^ " " ^ expr test) yes;
  match no with
  | [] -> ()
  | [ If (test, yes, no) ] -> conditional block "elif" test yes no
  | no -> block "else" no

let toplevel fmt s =
  match s with
  | Function _ | Class _ -> Format.fprintf fmt "@\n@\n%a" (stmt "") s
  | s -> stmt "" fmt s
