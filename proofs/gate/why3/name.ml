(** Names of symbols, resolved: which library, which module, which scopes. *)

open Why3

(** Only what no module declares, a variable, has no path. *)
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

(** Nothing for what Why3 is born with, which needs no name of its own: a symbol of ours that takes
    the same word has one. *)
let resolved id =
  match path id with
  | "why3" :: _, _, _ | (exception Not_found) -> None
  | _ -> Some (full id)
