(* The syntax strings of a driver, such as ["%1[%2] = %3"], read as Python. *)

type t

exception Syntax_error of string

(* Reads an expression, or an assignment; raises [Syntax_error]. *)
val parse : string -> t

(* the numbers of the holes that occur, with repetition *)
val holes : t -> int list

(* the names that occur, which the extracted program must not use for anything else *)
val names : t -> string list

type result = Value of Python_ast.expr | Update of Python_ast.stmt

(* does the template stand for a statement? *)
val is_update : t -> bool

(* puts the arguments into the holes, the first into [%1] and so on, as far as there are any *)
val instantiate : t -> Python_ast.expr list -> result
