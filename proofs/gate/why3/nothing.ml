(** Whether a formula says nothing: whether it is true whatever its symbols mean, as a glance can
    tell. [x = x], [p -> p], [false -> p], [p -> true], and what is put together from such.

    A theorem weakened to one of these is still proved, and still has its sentence. *)

open Why3
open Term

let is_false f = match f.t_node with Tfalse -> true | _ -> false

let rec conjuncts f =
  match f.t_node with
  | Tbinop (Tand, a, b) -> conjuncts a @ conjuncts b
  | _ -> [ f ]

(** [hypotheses]: what is known where [f] stands. *)
let rec is_trivial hypotheses f =
  let trivial = is_trivial hypotheses in
  let known g = List.exists (t_equal g) hypotheses in
  known f
  || List.exists is_false hypotheses
  ||
  match f.t_node with
  | Ttrue -> true
  | Tapp (ls, [ a; b ]) -> ls_equal ls ps_equ && t_equal a b
  | Tbinop (Tand, a, b) -> trivial a && trivial b
  | Tbinop (Tor, a, b) -> trivial a || trivial b || t_equal b (t_not a) || t_equal a (t_not b)
  | Tbinop (Timplies, a, b) -> is_trivial (conjuncts a @ hypotheses) b
  | Tbinop (Tiff, a, b) -> t_equal a b || (trivial a && trivial b)
  | Tnot a -> is_false a
  | Tquant (_, bound) ->
      let _, _, body = t_open_quant bound in
      trivial body
  | Tlet (a, bound) -> trivial (t_open_bound_with a bound)
  | Tif (_, a, b) -> trivial a && trivial b
  | Tcase (_, branches) ->
      List.for_all (fun bound -> trivial (snd (t_open_branch bound))) branches
  | Tvar _ | Tconst _ | Tapp _ | Teps _ | Tfalse -> false

(** Of a contract: every promise, and there is one. *)
let of_promises ~required promises =
  promises <> [] && List.for_all (is_trivial (List.concat_map conjuncts required)) promises

let of_formula = is_trivial []
