(** Formulas as their author saw them: without the proof written beside them, comparisons in chains,
    connectives as rows. *)

open Why3
open Term

(** The formula without the proof that its author wrote beside it: [A by B], [A so B] are [A]. *)
let rec strip f =
  let is_step side =
    match side.t_node with
    | Tbinop (Tor, step, { t_node = Ttrue; _ }) -> Ident.Sattr.mem asym_split step.t_attrs
    | _ -> false
  in
  match f.t_node with
  | Tbinop (Timplies, step, claim) when is_step step -> strip claim
  | Tbinop (Tand, claim, step) when is_step step -> strip claim
  | _ -> f

let is_true t = match t.t_node with Tapp (ls, []) -> ls_equal ls fs_bool_true | _ -> false
let is_false t = match t.t_node with Tapp (ls, []) -> ls_equal ls fs_bool_false | _ -> false

(** A chain of comparisons, [a <= b < c], or anything else. *)
type item = Chain of term * (string * term) list | Plain of term

let comparison f =
  match f.t_node with
  | Tapp (ls, [ a; b ]) -> (
      match Ident.sn_decode ls.ls_name.id_string with
      | SNinfix (("=" | "<" | "<=" | ">" | ">=") as operator) when not (is_true b) ->
          Some (a, operator, b)
      | _ -> None)
  | _ -> None

(** Why3 reads [a <= b < c] as [a <= b /\ b < c]. Two equations are left apart. *)
let rec join = function
  | (Chain (a, links), "/\\") :: (Chain (b, more), connective) :: rest
    when t_equal (snd (List.hd (List.rev links))) b
         && List.exists (fun (operator, _) -> operator <> "=") (links @ more) ->
      join ((Chain (a, links @ more), connective) :: rest)
  | item :: rest -> item :: join rest
  | [] -> []

(** What a connective connects, from left to right; each with what follows it. An equivalence ends
    the row: [a -> b <-> c] is clear to a reader, [a <-> b <-> c] is not. *)
let rec spine kind f =
  match (strip f).t_node with
  | Tbinop (op, a, b) when kind op ->
      let asymmetric = Ident.Sattr.mem asym_split a.t_attrs in
      let text = Format.asprintf "%a" (Pretty.print_binop ~asym:asymmetric) op in
      (strip a, text) :: (if op = Tiff then [ (strip b, "") ] else spine kind b)
  | _ -> [ (strip f, "") ]

let rec conjuncts f = join (List.map (fun (f, text) -> (item f, text)) (spine (( = ) Tand) f))

and item f =
  match (comparison f, f.t_node) with
  | Some (a, operator, b), _ -> Chain (a, [ (operator, b) ])
  | None, Tbinop (Tand, _, _) -> (
      match conjuncts f with [ ((Chain _ as chain), _) ] -> chain | _ -> Plain f)
  | None, _ -> Plain f

(** [f x y] for [((f @ x) @ y)]. *)
let rec unapply t arguments =
  match t.t_node with
  | Tapp (ls, [ f; x ]) when ls_equal ls fs_func_app -> unapply f (x :: arguments)
  | _ -> (t, arguments)

(** Whether the arguments settle the type of the value. *)
let settled (ls : lsymbol) =
  let variables = List.fold_left Ty.ty_freevars Ty.Stv.empty in
  Ty.Stv.subset (variables (Option.to_list ls.ls_value)) (variables ls.ls_args)
