(* Local exceptions that are a return, a break or a continue. Why3 makes such exceptions of the
   statements of WhyML; a program may also spell them out. *)

open Why3

(* [try body with xs -> ()] around one loop, where each [raise xs] is directly in that loop *)
val is_break : Ity.xsymbol -> Mltree.expr -> bool

(* [try body with xs -> ()] as the body of a loop, where no [raise xs] is in an inner loop *)
val is_continue : Ity.xsymbol -> Mltree.expr -> bool

(* [try body with xs x -> x] as the body of a function, with no [raise xs] in an inner function *)
val is_return : Ity.xsymbol -> Mltree.expr -> bool
