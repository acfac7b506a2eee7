(** Whether a formula is an instance of another one: equal to it once some of its variables, and its
    type variables, stand for terms and types. There is no computing here: what is written in
    another way is not found, which can only hide an instance. *)

open Why3
open Term

type instance = { values : term Mvs.t; types : Ty.ty Ty.Mtv.t }

let none = { values = Mvs.empty; types = Ty.Mtv.empty }

exception Different

(** [holes]: the variables that may stand for a term. [bound]: the variable of the formula for each
    variable that is bound above this place in the pattern. *)
type scope = { holes : Svs.t; bound : vsymbol Mvs.t }

let match_types found pattern formula =
  match Ty.oty_match found.types pattern formula with
  | types -> { found with types }
  | exception Ty.TypeMismatch _ -> raise Different

let bind scope found p v =
  let found = match_types found (Some p.vs_ty) (Some v.vs_ty) in
  ({ scope with bound = Mvs.add p v scope.bound }, found)

(** What a variable stands for means the same everywhere: it has nothing that is bound here. *)
let fill scope found hole term =
  let is_bound _ v = Mvs.mem v (t_vars term) in
  match Mvs.find_opt hole found.values with
  | Some known -> if t_equal known term then found else raise Different
  | None when Mvs.exists is_bound scope.bound -> raise Different
  | None -> { found with values = Mvs.add hole term found.values }

let rec go scope found p t =
  let found = match_types found p.t_ty t.t_ty in
  match (p.t_node, t.t_node) with
  | Tvar hole, _ when Svs.mem hole scope.holes -> fill scope found hole t
  | Tvar v, Tvar w when Mvs.mem v scope.bound && vs_equal (Mvs.find v scope.bound) w -> found
  | Tconst a, Tconst b when Constant.compare_const a b = 0 -> found
  | Tapp (f, ps), Tapp (g, ts) when ls_equal f g -> all scope found ps ts
  | Tif (a, b, c), Tif (x, y, z) -> all scope found [ a; b; c ] [ x; y; z ]
  | Tbinop (a, p, q), Tbinop (b, t, u) when a = b -> all scope found [ p; q ] [ t; u ]
  | Tnot p, Tnot t -> go scope found p t
  | Ttrue, Ttrue | Tfalse, Tfalse -> found
  | Tlet (p, q), Tlet (t, u) -> under scope (go scope found p t) q u
  | Teps p, Teps t -> under scope found p t
  | Tquant (a, p), Tquant (b, t) when a = b ->
      let vs, _, p = t_open_quant p and ws, _, t = t_open_quant t in
      if List.compare_lengths vs ws <> 0 then raise Different;
      let scope, found =
        List.fold_left2 (fun (scope, found) v w -> bind scope found v w) (scope, found) vs ws
      in
      go scope found p t
  | Tcase (p, ps), Tcase (t, ts) when List.compare_lengths ps ts = 0 ->
      List.fold_left2 (branch scope) (go scope found p t) ps ts
  | _ -> raise Different

and all scope found ps ts =
  if List.compare_lengths ps ts <> 0 then raise Different;
  List.fold_left2 (go scope) found ps ts

and under scope found p t =
  let v, p = t_open_bound p and w, t = t_open_bound t in
  let scope, found = bind scope found v w in
  go scope found p t

and branch scope found p t =
  let cp, p = t_open_branch p and ct, t = t_open_branch t in
  let scope, found = case (scope, found) cp ct in
  go scope found p t

and case (scope, found) cp ct =
  match (cp.pat_node, ct.pat_node) with
  | Pwild, Pwild -> (scope, found)
  | Pvar v, Pvar w -> bind scope found v w
  | Papp (f, ps), Papp (g, ts) when ls_equal f g -> List.fold_left2 case (scope, found) ps ts
  | Pas (p, v), Pas (t, w) ->
      let scope, found = bind scope found v w in
      case (scope, found) p t
  | Por (a, b), Por (c, d) -> case (case (scope, found) a c) b d
  | _ -> raise Different

(** The instance that makes [pattern] equal to [formula], if there is one that [found] allows. *)
let one ~holes found pattern formula =
  match go { holes; bound = Mvs.empty } found pattern formula with
  | found -> Some found
  | exception Different -> None

(** Whether one instance makes each pattern equal to one of the formulas. *)
let rec every ~holes ?(found = none) patterns formulas =
  match patterns with
  | [] -> true
  | pattern :: rest ->
      let follow found = every ~holes ~found rest formulas in
      List.exists
        (fun formula -> Option.fold ~none:false ~some:follow (one ~holes found pattern formula))
        formulas
