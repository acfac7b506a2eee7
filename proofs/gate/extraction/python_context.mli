(* What the extraction knows about WhyML symbols: their Python names, and the driver's syntax. *)

open Why3

type constructor = {
  class_name : string;
  fields : string list;
  by_name : bool;  (* the constructor of a record takes its arguments by name *)
}

type symbol =
  | Function of string
  | Constant of string
  | Constructor of constructor
  | Field of string
  | Exception of string
  | Type of { type_name : string; is_union : bool }

type t

val create : Pdriver.printer_args -> emit:(Python_ast.stmt -> unit) -> t

(* What to do when a symbol without a name is asked for: its definition may be waiting. *)
val on_demand : t -> (Ident.ident -> unit) -> unit

(* writes a definition now, before the one that is being made *)
val emit : t -> Python_ast.stmt -> unit

(* An extraction that cannot be exact fails here, with the place and the reason. *)
val fail : Loc.position option -> ('a, Format.formatter, unit, 'b) format4 -> 'a

(* the full WhyML name *)
val qualified : Ident.ident -> string

val syntax : t -> Ident.ident -> Python_template.t option

(* takes a module-level Python name close to this one *)
val new_global : t -> string -> string

(* a name for something that only the printer needs; no variable has such a name *)
val private_name : string -> string

val define : t -> Ident.ident -> symbol -> unit

val is_defined : t -> Ident.ident -> bool

(* the symbol, or a failure that says that it has neither a definition nor a syntax *)
val symbol : t -> Loc.position option -> Ident.ident -> symbol

(* the name of a local exception at module level *)
val exception_name : t -> Loc.position option -> Ity.xsymbol -> string

(* names that no variable may have in a definition, at this place, that depends on these symbols *)
val names_to_avoid : t -> Loc.position option -> Ident.ident list -> Wstdlib.Sstr.t

(* {1 Types} *)

(* makes a definition, with type variables of its own *)
val in_definition : t -> (unit -> unit) -> unit

val type_variable : t -> Ty.tvsymbol -> Python_ast.expr

val python_type : t -> Loc.position option -> Mltree.ty -> Python_ast.expr

val ml_type : Ty.ty -> Mltree.ty

val is_unit : Mltree.ty -> bool

val is_polymorphic : Mltree.ty -> bool

val is_reference : Ity.ity -> bool

(* does a type with more than one class of values occur in it? *)
val mentions_union : t -> Mltree.ty -> bool
