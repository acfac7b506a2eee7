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

let plain_characters c = if c = '\'' then "_prime" else Ident.char_to_alnumus c

(* Leading underscores go: names that have one are those that the printer makes itself. So does the
   apostrophe of names that Why3 makes. *)
let identifier x =
  let is_dropped c = c = '_' || c = '\'' in
  let rec from i = if i < String.length x && is_dropped x.[i] then from (i + 1) else i in
  let plain = String.sub x (from 0) (String.length x - from 0) in
  let stem = Ident.sanitizer plain_characters plain_characters plain in
  if stem = "" then "unused" else if List.mem stem keywords then stem ^ "_" else stem

let camel_case x =
  let words = String.split_on_char '_' (identifier x) in
  let name = String.concat "" (List.map String.capitalize_ascii words) in
  if List.mem name keywords then name ^ "_" else name

let unused ~taken base =
  let rec number n =
    let x = Printf.sprintf "%s_%d" base n in
    if taken x then number (n + 1) else x
  in
  if not (taken base) then base else number 2

type frame = { types : Python_ast.expr option Hstr.t }

type t = { frame : frame; visible : Sstr.t }

let of_function ~avoid = { frame = { types = Hstr.create 17 }; visible = avoid }

let of_nested_function scope = of_function ~avoid:scope.visible

type variable = { name : string; declared : bool; inside : t }

let bind scope base annotation =
  let is_other_type x =
    match Hstr.find_opt scope.frame.types x with
    | None -> false
    | Some known -> known <> Some annotation
  in
  let taken x = Sstr.mem x scope.visible || is_other_type x in
  let name = unused ~taken (identifier base) in
  let declared = Hstr.mem scope.frame.types name in
  Hstr.replace scope.frame.types name (Some annotation);
  { name; declared; inside = { scope with visible = Sstr.add name scope.visible } }

let temporary scope base =
  let taken x = Sstr.mem x scope.visible || Hstr.mem scope.frame.types x in
  let name = unused ~taken base in
  Hstr.replace scope.frame.types name None;
  name

let bind_function scope base =
  let name = temporary scope (identifier base) in
  { name; declared = false; inside = { scope with visible = Sstr.add name scope.visible } }
