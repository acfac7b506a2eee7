(* Type annotations of Python variables, where a checker would infer another type. *)

open Why3

(* [declare context loc name ty body]: annotates in [body] the first assignment of the variable
   [name], which holds values of type [ty]. *)
val declare :
  Python_context.t -> Loc.position option -> string -> Mltree.ty -> Python_ast.stmt list ->
  Python_ast.stmt list
