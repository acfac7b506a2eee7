(** Names of symbols, resolved: library, module, scopes. *)

open Why3

(** Variables, which no module declares, have no path. *)
let path id =
  match Pmodule.restore_path id with
  | found -> found
  | exception Not_found -> Theory.restore_path id

(** [Scope.name] *)
let with_scopes (id : Ident.ident) =
  match path id with
  | _, _, (_ :: _ as parts) -> String.concat "." parts
  | _ | (exception Not_found) -> id.id_string

(** [seq.Seq.length], wherever it is used. *)
let full (id : Ident.ident) =
  match path id with
  | library, m, parts -> String.concat "." (library @ (m :: parts))
  | exception Not_found -> id.id_string

(** [None] for variables and Why3's built-in symbols; a symbol of ours with the same word has a full
    name. *)
let resolved id =
  match path id with
  | "why3" :: _, _, _ | (exception Not_found) -> None
  | _ -> Some (full id)
