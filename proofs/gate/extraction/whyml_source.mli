(* The documentation comments of a WhyML text. *)

open Why3

(* the lines of the [(** ... *)] comment right before the definition of the name at this place *)
val doc_comment : Loc.position -> string list
