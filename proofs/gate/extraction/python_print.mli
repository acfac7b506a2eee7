(* Printing of the Python tree. Lines are not broken: a formatter does that. *)

(* a module-level statement *)
val toplevel : Format.formatter -> Python_ast.stmt -> unit
