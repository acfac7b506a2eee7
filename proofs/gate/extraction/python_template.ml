(* The syntax strings of a driver, read as Python by recursive descent. Because a template is
   a tree, an argument put into a hole gets its parentheses from the printer; a driver needs no
   precedences. A hole is held as a name that no Python program can contain, such as ["%1"]. *)

open Python_ast

type t = Expression of expr | Assignment of expr * expr | Augmentation of expr * binary * expr

exception Syntax_error of string

(* {1 Words} *)

type token = Word of string | Number of string | Hole of string | Symbol of string | End

let is_digit c = '0' <= c && c <= '9'

let is_letter c = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c = '_'

let symbols =
  [ "..."; "//="; "//"; "=="; "!="; "<="; ">="; "+="; "-="; "*="; "+"; "-"; "*"; "%"; "|"; "<";
    ">"; "="; "("; ")"; "["; "]"; ","; ":"; "." ]

let tokens text =
  let length = String.length text in
  let rec run test i = if i < length && test text.[i] then run test (i + 1) else i in
  let rec from i =
    if i >= length then []
    else if text.[i] = ' ' then from (i + 1)
    else if is_letter text.[i] then
      take i (run (fun c -> is_letter c || is_digit c) i) (fun s -> Word s)
    else if is_digit text.[i] then take i (run is_digit i) (fun s -> Number s)
    else if text.[i] = '%' && run is_digit (i + 1) > i + 1 then
      take i (run is_digit (i + 1)) (fun s -> Hole s)
    else
      let starts s = i + String.length s <= length && String.sub text i (String.length s) = s in
      match List.find_opt starts symbols with
      | Some s -> take i (i + String.length s) (fun s -> Symbol s)
      | None -> raise (Syntax_error text)
  and take i j make = make (String.sub text i (j - i)) :: from j in
  from 0

(* {1 Grammar} *)

type reader = { text : string; mutable rest : token list }

let peek r = match r.rest with [] -> End | t :: _ -> t

let advance r = match r.rest with [] -> () | _ :: rest -> r.rest <- rest

let error r = raise (Syntax_error r.text)

let accept r token =
  let found = peek r = token in
  if found then advance r;
  found

let expect r token = if not (accept r token) then error r

let rec expression r =
  let body = disjunction r in
  if accept r (Word "if") then begin
    let test = disjunction r in
    expect r (Word "else");
    Conditional { test; body; orelse = expression r }
  end
  else body

and disjunction r =
  let a = conjunction r in
  if accept r (Word "or") then Boolean (a, Or, disjunction r) else a

and conjunction r =
  let a = inversion r in
  if accept r (Word "and") then Boolean (a, And, conjunction r) else a

and inversion r = if accept r (Word "not") then Unary (Not, inversion r) else comparison r

and comparison r =
  let a = union r in
  let operators =
    [ ("==", Eq); ("!=", Not_eq); ("<", Lt); ("<=", Lt_eq); (">", Gt); (">=", Gt_eq) ]
  in
  match List.find_opt (fun (s, _) -> peek r = Symbol s) operators with
  | None -> a
  | Some (_, op) ->
      advance r;
      Compare (a, op, union r)

and union r = left_associative r sum [ ("|", Bit_or) ]

and sum r = left_associative r product [ ("+", Add); ("-", Sub) ]

and product r = left_associative r sign [ ("*", Mult); ("//", Floor_div); ("%", Mod) ]

and left_associative r operand operators =
  let rec loop a =
    match List.find_opt (fun (s, _) -> peek r = Symbol s) operators with
    | None -> a
    | Some (_, op) ->
        advance r;
        loop (Binary (a, op, operand r))
  in
  loop (operand r)

and sign r = if accept r (Symbol "-") then Unary (Neg, sign r) else primary r

and primary r =
  let rec loop a =
    if accept r (Symbol "(") then
      let arguments = elements r ")" in
      loop (Call (a, arguments, []))
    else if accept r (Symbol "[") then begin
      let index = subscript r in
      expect r (Symbol "]");
      loop (Subscript (a, index))
    end
    else if accept r (Symbol ".") then
      match peek r with
      | Word x ->
          advance r;
          loop (Attribute (a, x))
      | _ -> error r
    else a
  in
  loop (atom r)

and subscript r =
  let item () = if peek r = Symbol ":" then None else Some (expression r) in
  let first = item () in
  if accept r (Symbol ":") then
    let last = if peek r = Symbol "]" then None else Some (expression r) in
    Slice (first, last)
  else
    match first with
    | None -> error r
    | Some e -> if peek r = Symbol "," then Tuple (e :: indices r) else e

and indices r = if accept r (Symbol ",") then let e = expression r in e :: indices r else []

(* the elements of a display or the arguments of a call, and the closing bracket *)
and elements r closing =
  if accept r (Symbol closing) then []
  else
    let e = element r in
    if accept r (Symbol ",") then e :: elements r closing
    else begin
      expect r (Symbol closing);
      [ e ]
    end

and element r = if accept r (Symbol "*") then Starred (union r) else expression r

and atom r =
  let token = peek r in
  advance r;
  match token with
  | Word "None" -> none
  | Word "True" -> bool true
  | Word "False" -> bool false
  | Word x -> Name x
  | Hole x -> Name x
  | Number n -> Constant (Int n)
  | Symbol "..." -> Constant Ellipsis
  | Symbol "[" -> List (elements r "]")
  | Symbol "(" -> parenthesised r
  | Symbol _ | End -> error r

and parenthesised r =
  if accept r (Symbol ")") then Tuple []
  else
    let first = element r in
    if accept r (Symbol ",") then Tuple (first :: elements r ")")
    else begin
      expect r (Symbol ")");
      match first with Starred _ -> error r | e -> e
    end

let statement r =
  let target = expression r in
  let augmented = [ ("+=", Add); ("-=", Sub); ("*=", Mult); ("//=", Floor_div) ] in
  match List.find_opt (fun (s, _) -> peek r = Symbol s) augmented with
  | Some (_, op) ->
      advance r;
      Augmentation (target, op, expression r)
  | None -> if accept r (Symbol "=") then Assignment (target, expression r) else Expression target

let parse text =
  let r = { text; rest = tokens text } in
  let template = statement r in
  expect r End;
  template

(* {1 Use} *)

let all_names = function
  | Expression e -> Python_ast.names e
  | Assignment (a, b) | Augmentation (a, _, b) -> Python_ast.names a @ Python_ast.names b

let hole x = if x.[0] = '%' then int_of_string_opt (String.sub x 1 (String.length x - 1)) else None

let holes template = List.filter_map hole (all_names template)

let names template = List.filter (fun x -> hole x = None) (all_names template)

type result = Value of expr | Update of stmt

let is_update = function
  | Expression _ -> false
  | Assignment _ | Augmentation _ -> true

let instantiate template arguments =
  let argument x =
    match hole x with
    | Some n when 1 <= n && n <= List.length arguments -> List.nth arguments (n - 1)
    | Some _ | None -> Name x
  in
  let fill = substitute argument in
  match template with
  | Expression e -> Value (fill e)
  | Assignment (a, b) -> Update (Assign (fill a, fill b))
  | Augmentation (a, op, b) -> Update (Augmented (fill a, op, fill b))
