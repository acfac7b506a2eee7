(* A small syntax tree of Python 3.10: what the extraction of WhyML needs and no more.
   Types, decorators and assignment targets are expressions, as in Python itself. *)

open Why3

type unary = Neg | Not

type binary = Add | Sub | Mult | Floor_div | Mod | Bit_or

type comparison = Eq | Not_eq | Lt | Lt_eq | Gt | Gt_eq

type boolean = And | Or

type constant =
  | None_
  | Bool of bool
  | Int of string  (* decimal digits, so that trees can be compared; see [int] *)
  | Str of string
  | Ellipsis

type expr =
  | Constant of constant
  | Name of string
  | Attribute of expr * string
  | Subscript of expr * expr
  | Slice of expr option * expr option
  | Call of expr * expr list * (string * expr) list  (* positional, then by keyword *)
  | Tuple of expr list
  | List of expr list
  | Starred of expr
  | Unary of unary * expr
  | Binary of expr * binary * expr
  | Compare of expr * comparison * expr
  | Boolean of expr * boolean * expr
  | Conditional of { test : expr; body : expr; orelse : expr }

type pattern =
  | Wildcard
  | Capture of string
  | Literal of bool
  | Sequence of pattern list
  | Class_pattern of string * pattern list * (string * pattern) list
  | Alternative of pattern * pattern
  | As of pattern * string

type parameter = { name : string; annotation : expr option }

type stmt =
  | Docstring of string list
  | Expr of expr
  | Assign of expr * expr
  | Annotated of string * expr * expr option
  | Augmented of expr * binary * expr
  | Nonlocal of string list
  | Return of expr option
  | Raise of { error : expr; from_none : bool }
  | Break
  | Continue
  | If of expr * stmt list * stmt list
  | While of expr * stmt list
  | For of expr * expr * stmt list
  | Try of { body : stmt list; handlers : handler list; orelse : stmt list }
  | Match of expr * (pattern * stmt list) list
  | Function of { name : string; parameters : parameter list; returns : expr; body : stmt list }
  | Class of { decorators : expr list; name : string; bases : expr list; body : stmt list }

and handler = { exn : string; binder : string option; body : stmt list }

let none = Constant None_

let bool b = Constant (Bool b)

let call f args = Call (Name f, args, [])

let int n =
  let digits = Constant (Int (BigInt.to_string (BigInt.abs n))) in
  if BigInt.sign n >= 0 then digits else Unary (Neg, digits)

let small n = int (BigInt.of_int n)

let integer = function
  | Constant (Int digits) -> Some (BigInt.of_string digits)
  | Unary (Neg, Constant (Int digits)) -> Some (BigInt.minus (BigInt.of_string digits))
  | _ -> None

let unreachable ~from_none =
  Raise { error = call "AssertionError" [ Constant (Str "unreachable") ]; from_none }

let negate = function
  | Compare (a, Eq, b) -> Compare (a, Not_eq, b)
  | Compare (a, Not_eq, b) -> Compare (a, Eq, b)
  | Constant (Bool b) -> bool (not b)
  | Unary (Not, e) -> e
  | e -> Unary (Not, e)

(* [e + k], computed as far as the constants in [e] allow *)
let add_constant e k =
  let plus a k =
    match BigInt.sign k with
    | 0 -> a
    | 1 -> Binary (a, Add, int k)
    | _ -> Binary (a, Sub, int (BigInt.minus k))
  in
  match (integer e, e) with
  | Some n, _ -> int (BigInt.add n k)
  | None, Binary (a, Add, Constant (Int n)) -> plus a (BigInt.add k (BigInt.of_string n))
  | None, Binary (a, Sub, Constant (Int n)) -> plus a (BigInt.sub k (BigInt.of_string n))
  | None, _ -> plus e k

(* [e] with every [Name x] replaced by [f x] *)
let rec substitute f e =
  let sub = substitute f in
  match e with
  | Constant _ -> e
  | Name x -> f x
  | Attribute (a, x) -> Attribute (sub a, x)
  | Subscript (a, b) -> Subscript (sub a, sub b)
  | Slice (a, b) -> Slice (Option.map sub a, Option.map sub b)
  | Call (g, l, k) -> Call (sub g, List.map sub l, List.map (fun (x, a) -> (x, sub a)) k)
  | Tuple l -> Tuple (List.map sub l)
  | List l -> List (List.map sub l)
  | Starred a -> Starred (sub a)
  | Unary (op, a) -> Unary (op, sub a)
  | Binary (a, op, b) -> Binary (sub a, op, sub b)
  | Compare (a, op, b) -> Compare (sub a, op, sub b)
  | Boolean (a, op, b) -> Boolean (sub a, op, sub b)
  | Conditional { test; body; orelse } ->
      Conditional { test = sub test; body = sub body; orelse = sub orelse }

(* the names that occur in [e], with repetition *)
let names e =
  let found = ref [] in
  let visit x =
    found := x :: !found;
    Name x
  in
  ignore (substitute visit e);
  List.rev !found

(* Can control reach the end of these statements? The answer "yes" may be wrong, "no" never is. *)
let rec falls_through body =
  match List.rev body with
  | [] -> true
  | (Return _ | Raise _ | Break | Continue) :: _ -> false
  | If (_, yes, no) :: _ -> falls_through yes || falls_through no
  | While (Constant (Bool true), body) :: _ -> breaks body
  | Try { body; handlers; orelse } :: _ ->
      falls_through (body @ orelse)
      || List.exists (fun (h : handler) -> falls_through h.body) handlers
  | Match (_, cases) :: _ ->
      (not (List.exists (fun (p, _) -> p = Wildcard) cases))
      || List.exists (fun (_, body) -> falls_through body) cases
  | _ -> true

(* a [break] that leaves the loop whose body this is *)
and breaks body =
  let breaks_in = function
    | Break -> true
    | If (_, yes, no) -> breaks yes || breaks no
    | Try { body; handlers; orelse } ->
        breaks body || breaks orelse || List.exists (fun (h : handler) -> breaks h.body) handlers
    | Match (_, cases) -> List.exists (fun (_, body) -> breaks body) cases
    | _ -> false
  in
  List.exists breaks_in body

(* [first] followed by [rest], which is dropped where control cannot reach it *)
let sequence first rest = if falls_through first then first @ rest else first

(* every statement of [body], also inside others, but not inside nested functions and classes *)
let rec iter_stmts f body =
  let visit s =
    f s;
    match s with
    | If (_, yes, no) ->
        iter_stmts f yes;
        iter_stmts f no
    | While (_, body) | For (_, _, body) -> iter_stmts f body
    | Try { body; handlers; orelse } ->
        iter_stmts f body;
        List.iter (fun (h : handler) -> iter_stmts f h.body) handlers;
        iter_stmts f orelse
    | Match (_, cases) -> List.iter (fun (_, body) -> iter_stmts f body) cases
    | _ -> ()
  in
  List.iter visit body
