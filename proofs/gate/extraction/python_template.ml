(* The syntax strings of a driver, such as ["%1[%2] = %3"], read as Python. Because a template is
   a tree, an argument put into a hole gets its parentheses from the printer; a driver needs no
   precedences. A hole is held as a name that no Python program can contain, such as ["%1"]. *)

open Python_ast

type t = Expression of expr | Assignment of expr * expr

exception Syntax_error of string

(* {1 Words} *)

let is_word c =
  ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c = '_' || c = '%'

let rec words text i =
  let starts s =
    i + String.length s <= String.length text && String.sub text i (String.length s) = s
  in
  let rec run i = if i < String.length text && is_word text.[i] then run (i + 1) else i in
  if i >= String.length text then []
  else if text.[i] = ' ' then words text (i + 1)
  else
    let symbol = List.find_opt starts [ "..."; "=="; "<="; ">=" ] in
    let length = max (run i - i) (Option.fold ~none:1 ~some:String.length symbol) in
    String.sub text i length :: words text (i + length)

(* {1 Grammar} *)

type reader = { text : string; mutable rest : string list }

let error r = raise (Syntax_error r.text)

let peek r = match r.rest with [] -> "" | word :: _ -> word

let take r =
  match r.rest with
  | [] -> error r
  | word :: rest ->
      r.rest <- rest;
      word

let accept r word =
  let found = peek r = word in
  if found then ignore (take r);
  found

let expect r word = if not (accept r word) then error r

(* the level of an operator, and what it makes; a comparison of comparisons is refused *)
let operator r word =
  let compare op a b =
    match (a, b) with Compare _, _ | _, Compare _ -> error r | _ -> Compare (a, op, b)
  in
  let binary op a b = Binary (a, op, b) in
  match word with
  | "==" -> Some (1, compare Eq)
  | "<" -> Some (1, compare Lt)
  | "<=" -> Some (1, compare Lt_eq)
  | ">" -> Some (1, compare Gt)
  | ">=" -> Some (1, compare Gt_eq)
  | "+" -> Some (2, binary Add)
  | "-" -> Some (2, binary Sub)
  | "*" -> Some (3, binary Mult)
  | _ -> None

let rec expression ?(above = 0) r =
  let rec loop a =
    match operator r (peek r) with
    | Some (level, make) when level > above ->
        ignore (take r);
        loop (make a (expression ~above:level r))
    | _ -> a
  in
  loop (if accept r "-" then Unary (Neg, primary r) else primary r)

and primary r =
  let rec loop a =
    if accept r "(" then loop (Call (a, elements r ")", []))
    else if accept r "[" then loop (Subscript (a, subscript r))
    else a
  in
  loop (atom r)

and subscript r =
  let bound stop = if peek r = stop then None else Some (expression r) in
  let first = bound ":" in
  if accept r ":" then begin
    let last = bound "]" in
    expect r "]";
    Slice (first, last)
  end
  else if accept r "," then Tuple (Option.get first :: elements r "]")
  else begin
    expect r "]";
    Option.get first
  end

(* the elements of a display or the arguments of a call, and the closing bracket *)
and elements r closing =
  if accept r closing then []
  else
    let e = expression r in
    if accept r "," then e :: elements r closing
    else begin
      expect r closing;
      [ e ]
    end

and atom r =
  match take r with
  | "..." -> Constant Ellipsis
  | "[" -> List (elements r "]")
  | "(" ->
      expect r ")";
      Tuple []
  | word when '0' <= word.[0] && word.[0] <= '9' -> Constant (Int word)
  | word when is_word word.[0] -> Name word
  | _ -> error r

(* an expression, or an assignment *)
let parse text =
  let r = { text; rest = words text 0 } in
  let target = expression r in
  let template =
    if accept r "=" then Assignment (target, expression r) else Expression target
  in
  if r.rest <> [] then error r;
  template

(* {1 Use} *)

(* [e] with every [Name x] replaced by [f x] *)
let rec substitute f e =
  let sub = substitute f in
  match e with
  | Name x -> f x
  | Subscript (a, b) -> Subscript (sub a, sub b)
  | Slice (a, b) -> Slice (Option.map sub a, Option.map sub b)
  | Call (g, l, _) -> Call (sub g, List.map sub l, [])
  | Tuple l -> Tuple (List.map sub l)
  | List l -> List (List.map sub l)
  | Unary (op, a) -> Unary (op, sub a)
  | Binary (a, op, b) -> Binary (sub a, op, sub b)
  | Compare (a, op, b) -> Compare (sub a, op, sub b)
  | Constant _ | Attribute _ | Boolean _ | Conditional _ -> e

(* the names that occur, with repetition, holes among them *)
let all_names template =
  let found = ref [] in
  let visit x =
    found := x :: !found;
    Name x
  in
  let add e = ignore (substitute visit e) in
  (match template with
  | Expression e -> add e
  | Assignment (a, b) ->
      add a;
      add b);
  !found

let hole x = if x.[0] = '%' then int_of_string_opt (String.sub x 1 (String.length x - 1)) else None

let holes template = List.filter_map hole (all_names template)

let names template = List.filter (fun x -> hole x = None) (all_names template)

type result = Value of expr | Update of expr * expr

(* puts the arguments into the holes, the first into [%1] and so on *)
let instantiate template arguments =
  let argument x =
    match hole x with Some n -> List.nth arguments (n - 1) | None -> Name x
  in
  match template with
  | Expression e -> Value (substitute argument e)
  | Assignment (a, b) -> Update (substitute argument a, substitute argument b)
