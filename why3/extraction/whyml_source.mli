(* What a Python docstring takes from the WhyML text: comments and contracts. *)

open Why3

(* the lines of the [(** ... *)] comment right before the definition of the name at this place *)
val doc_comment : Loc.position -> string list

type contract = { requires : string list; ensures : string list; raises : string list }

(* the clauses in the head of the function whose name stands at this place, one line each *)
val contract : Loc.position -> contract
