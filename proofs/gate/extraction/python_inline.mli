(* Which of the variables that Why3 introduces for operands need no Python variable.

   Why3 has a pass for that, Compile.InlineProxyVars, which is not used: in 1.5.1 it loses track
   of what an expression reads once something has been put into it, and then moves a read of a
   reference across an assignment. *)

open Why3

(* a variable that Why3 introduced, not the program *)
val is_proxy : Ity.pvsymbol -> bool

(* no effects: no writes, no exceptions, always an end *)
val is_pure : Mltree.expr -> bool

val occurs : Ity.pvsymbol -> Mltree.expr -> bool

(* The variables whose contents matter for the value of an expression. [moved] gives them for a
   variable whose definition has itself been moved. *)
val reads : moved:(Ity.pvsymbol -> Ity.Spv.t option) -> Mltree.expr -> Ity.Spv.t

(* [may_move pv e1 ~reads e2]: in [let pv = e1 in e2], where [e1] reads [reads], may [e1] be
   evaluated where [pv] is used instead? *)
val may_move : Ity.pvsymbol -> Mltree.expr -> reads:Ity.Spv.t -> Mltree.expr -> bool
