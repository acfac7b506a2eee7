(** JSON: Why3's own, with the fields that several facts have. It prints a byte above 126 as a code
    point of its own: names have none, and a message that has some is still one. *)

open Why3
include Json_base

let text = function None -> Null | Some s -> String s
let texts l = List (List.map (fun s -> String s) l)

(** Where something stands in the sources. *)
let place project loc =
  match Option.map (Project.position project) loc with
  | None -> [ ("file", Null); ("line", Null) ]
  | Some (file, line) -> [ ("file", String file); ("line", Int line) ]
