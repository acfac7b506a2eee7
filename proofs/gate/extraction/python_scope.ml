(* Python names. A WhyML variable gets a name that no variable visible at that place has; the name
   of a variable that is no longer visible is taken again only for the same type, since a checker
   gives a Python variable one type in all of its function. *)

open Why3
open Wstdlib

let keywords =
  [ "False"; "None"; "True"; "and"; "as"; "assert"; "async"; "await"; "break"; "case"; "class";
    "continue"; "def"; "del"; "elif"; "else"; "except"; "finally"; "for"; "from"; "global"; "if";
    "import"; "in"; "is"; "lambda"; "match"; "nonlocal"; "not"; "or"; "pass"; "raise"; "return";
    "try"; "type"; "while"; "with"; "yield" ]

(* Names with an underscore first are those that the printer makes itself. *)
let identifier loc x =
  let is_plain c =
    ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c = '_'
  in
  if x = "" || x.[0] = '_' || List.mem x keywords || not (String.for_all is_plain x) then
    Loc.errorm ?loc "the name %s is not supported" x;
  x

(* a name for a class *)
let camel_case loc x =
  let words = String.split_on_char '_' (identifier loc x) in
  identifier loc (String.concat "" (List.map String.capitalize_ascii words))

(* [base], or a variant of it that is not taken *)
let unused ~taken base =
  let rec number n =
    let x = Printf.sprintf "%s_%d" base n in
    if taken x then number (n + 1) else x
  in
  if taken base then number 2 else base

(* A place in a function: the names that are in use there, and the types of all names so far. *)
type t = { types : Python_ast.expr Hstr.t; visible : Sstr.t }

(* the outermost place of a function, where [avoid] are names with another meaning *)
let of_function ~avoid = { types = Hstr.create 17; visible = avoid }

(* A variable of a type begins here: its name, whether the function has used it before, and the
   places where it is visible. *)
let bind scope loc base annotation =
  let is_other_type x =
    Option.fold ~none:false ~some:(( <> ) annotation) (Hstr.find_opt scope.types x)
  in
  let taken x = Sstr.mem x scope.visible || is_other_type x in
  let name = unused ~taken (identifier loc base) in
  let is_used = Hstr.mem scope.types name in
  Hstr.replace scope.types name annotation;
  (name, is_used, { scope with visible = Sstr.add name scope.visible })
