(* Expressions and functions of WhyML, after erasure of ghost code, as Python. *)

open Why3

type definition = {
  symbol : Expr.rsymbol;
  arguments : Mltree.var list;
  result : Mltree.ty;
  body : Mltree.expr;
}

val definition : Mltree.rdef -> definition

(* A Python function of this name. [depends] are the symbols that the definition mentions. *)
val function_ :
  Python_context.t -> name:string -> doc:string list -> depends:Ident.ident list -> definition ->
  Python_ast.stmt

(* the value of a constant *)
val constant : Python_context.t -> Loc.position option -> Mltree.expr -> Python_ast.expr

(* the class of an exception *)
val exception_class :
  name:string -> doc:string list -> payload:Python_ast.expr option -> Python_ast.stmt
