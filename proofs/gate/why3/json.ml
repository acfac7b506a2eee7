(** Why3's JSON, with common fields of the facts. Why3 prints each byte above 126 as a code point;
    names have no such bytes. *)

open Why3
include Json_base

let text = function None -> Null | Some s -> String s
let texts l = List (List.map (fun s -> String s) l)

(** A place in the sources. *)
let place project loc =
  match Option.map (Project.position project) loc with
  | None -> [ ("file", Null); ("line", Null) ]
  | Some (file, line) -> [ ("file", String file); ("line", Int line) ]
