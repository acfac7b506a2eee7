(** JSON, exact on UTF-8.

    [Why3.Json_base] prints every byte above 126 as a code point of its own, which breaks the
    names and texts of the theories; its type is used, its printer is not. *)

open Why3.Json_base

let escape s =
  let b = Buffer.create (String.length s + 2) in
  let add = function
    | '"' -> Buffer.add_string b "\\\""
    | '\\' -> Buffer.add_string b "\\\\"
    | '\n' -> Buffer.add_string b "\\n"
    | c when Char.code c < 32 -> Buffer.add_string b (Printf.sprintf "\\u%04x" (Char.code c))
    | c -> Buffer.add_char b c
  in
  String.iter add s;
  Buffer.contents b

let rec to_string = function
  | Null -> "null"
  | Bool b -> string_of_bool b
  | Int i -> string_of_int i
  | Float f -> Printf.sprintf "%.2f" f
  | String s -> "\"" ^ escape s ^ "\""
  | List l -> "[" ^ String.concat ", " (List.map to_string l) ^ "]"
  | Record r -> "{" ^ String.concat ", " (List.map field r) ^ "}"

and field (name, value) = "\"" ^ escape name ^ "\": " ^ to_string value

let option f = function None -> Null | Some x -> f x
let strings l = List (List.map (fun s -> String s) l)

(** The two fields that say where something stands in the sources. *)
let place = function
  | None -> [ ("file", Null); ("line", Null) ]
  | Some (file, line) -> [ ("file", String file); ("line", Int line) ]
