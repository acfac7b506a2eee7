(* Printing of the Python tree. Lines are not broken: a formatter does that. *)

val expr : Python_ast.expr -> string

(* a literal of type [str]; the argument is in ASCII *)
val string_literal : string -> string

(* a module-level statement *)
val toplevel : Format.formatter -> Python_ast.stmt -> unit
