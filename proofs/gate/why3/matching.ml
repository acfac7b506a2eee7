(** Whether formulas are instances of others: equal to them once some of the variables of these, and
    their type variables, stand for terms and types. There is no computing here: what is written in
    another way is not found, which can only hide an instance. *)

open Why3

(** What Why3 raises where there is none is not documented: anything is taken for it. *)
let is_instance ~holes pairs =
  let patterns, formulas = List.split pairs in
  let find () = Reduction_engine.first_order_matching holes patterns formulas in
  Result.is_ok (Project.attempt find)

(** Whether one instance makes each pattern equal to one of the formulas, and those of [pairs] equal. *)
let rec every ~holes ?(pairs = []) patterns formulas =
  match patterns with
  | [] -> is_instance ~holes pairs
  | pattern :: rest ->
      let fits formula =
        let pairs = (pattern, formula) :: pairs in
        is_instance ~holes pairs && every ~holes ~pairs rest formulas
      in
      List.exists fits formulas
