(* Python names. WhyML scopes are lexical, those of Python are whole functions. *)

(* a Python identifier that resembles the WhyML one; no keyword, and no underscore first *)
val identifier : string -> string

(* the same as for classes *)
val camel_case : string -> string

(* [base] or a variant of it of which [taken] does not hold *)
val unused : taken:(string -> bool) -> string -> string

(* A place in a function: which names are in use there. *)
type t

(* the outermost place of a function, where [avoid] are names with another meaning *)
val of_function : avoid:Why3.Wstdlib.Sstr.t -> t

(* the same place, seen from inside a function that is defined there *)
val of_nested_function : t -> t

type variable = {
  name : string;
  declared : bool;  (* the function has used this name before, for the same type *)
  inside : t;  (* the places where the variable is visible *)
}

(* A variable that begins here. A name that is no longer visible is taken again where the type is
   the same, so that a second loop over [k] is over [k]. *)
val bind : t -> string -> Python_ast.expr -> variable

(* a name used nowhere else in the function *)
val temporary : t -> string -> string

(* the name of a function that is defined here *)
val bind_function : t -> string -> variable
