(* A small syntax tree of Python 3.10: what the kernel needs and no more.
   Types, decorators and assignment targets are expressions, as in Python itself. *)

open Why3

type unary = Neg | Not

type binary = Add | Sub | Mult | Bit_or

type comparison = Eq | Not_eq | Lt | Lt_eq | Gt | Gt_eq

type boolean = And | Or

(* A number is its digits, so that trees can be compared. *)
type constant = None_ | Bool of bool | Int of string | Str of string | Ellipsis

type expr =
  | Constant of constant
  | Name of string
  | Attribute of expr * string
  | Subscript of expr * expr
  | Slice of expr option * expr option
  | Call of expr * expr list * (string * expr) list  (* positional, then by keyword *)
  | Tuple of expr list
  | List of expr list
  | Unary of unary * expr
  | Binary of expr * binary * expr
  | Compare of expr * comparison * expr
  | Boolean of expr * boolean * expr
  | Conditional of { test : expr; body : expr; orelse : expr }

type pattern =
  | Wildcard
  | Capture of string
  | Class_pattern of string * pattern list
  | Alternative of pattern * pattern

type parameter = { name : string; annotation : expr option }

type stmt =
  | Docstring of string list
  | Expr of expr
  | Assign of expr * expr
  | Annotated of string * expr * expr option
  | Augmented of expr * binary * expr
  | Return of expr
  | Raise of { error : expr; from_none : bool }
  | If of expr * stmt list * stmt list
  | While of expr * stmt list
  | For of expr * expr * stmt list
  | Try of stmt list * (string * stmt list) list  (* the names of exceptions, each with a handler *)
  | Match of expr * (pattern * stmt list) list
  | Function of { name : string; parameters : parameter list; returns : expr; body : stmt list }
  | Class of { decorators : expr list; name : string; bases : expr list; body : stmt list }

let none = Constant None_

let bool b = Constant (Bool b)

let call f args = Call (Name f, args, [])

let int n =
  let digits = Constant (Int (BigInt.to_string (BigInt.abs n))) in
  if BigInt.sign n >= 0 then digits else Unary (Neg, digits)

let negate = function
  | Compare (a, Eq, b) -> Compare (a, Not_eq, b)
  | Compare (a, Not_eq, b) -> Compare (a, Eq, b)
  | e -> Unary (Not, e)

(* [e + k], computed where [e] is a number or ends in [- k] *)
let add_constant e k =
  match e with
  | Constant (Int n) -> int (BigInt.add (BigInt.of_string n) k)
  | Binary (a, Sub, b) when b = int k -> a
  | e -> Binary (e, (if BigInt.sign k > 0 then Add else Sub), int (BigInt.abs k))

(* Can control reach the end of these statements? The answer "yes" may be wrong, "no" never is. *)
let rec falls_through body =
  match List.rev body with
  | (Return _ | Raise _) :: _ -> false
  | If (_, yes, no) :: _ -> falls_through yes || falls_through no
  | _ -> true
