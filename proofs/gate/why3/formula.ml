(** Formulas: what they claim, of what and under which hypotheses, and whether they say anything. *)

open Why3
open Term

(** The formula without the proof beside it, [A by B] and [A so B] being [A], without names that
    nothing uses, of which each Why3 makes its own, and without the attributes that only name or place
    something; those that give an operator its form stay. *)
let rec bare f =
  let is_step side =
    match side.t_node with
    | Tbinop (Tor, step, { t_node = Ttrue; _ }) -> Ident.Sattr.mem asym_split step.t_attrs
    | _ -> false
  in
  let is_unused bound = let v, f = t_open_bound bound in t_v_occurs v f = 0 in
  match f.t_node with
  | Tbinop (Timplies, step, claim) when is_step step -> bare claim
  | Tbinop (Tand, claim, step) when is_step step -> bare claim
  | Tlet (_, bound) when is_unused bound -> bare (snd (t_open_bound bound))
  | _ ->
      let kept = Ident.Sattr.filter (Ident.attr_equal asym_split) f.t_attrs in
      t_attr_set kept (t_map bare f)

(** The function that gives a field. *)
let of_field =
  let known = Hls.create 17 in
  fun ls ->
    match Hls.find_opt known ls with
    | Some found -> found
    | None ->
        let name = Ident.id_fresh (ls.ls_name.id_string ^ "_of") in
        let made = create_lsymbol name ls.ls_args ls.ls_value in
        Hls.add known ls made;
        made

(** The formula as it is printed: the field of anything but a name or an element is [data_of (f x)].
    Why3 1.5.1 prints [f x.data] for it, later versions [(f x).data]. *)
let rec printable f =
  let is_plain t =
    match t.t_node with
    | Tapp (ls, _ :: _) -> (
        match Ident.sn_decode ls.ls_name.id_string with SNget _ -> true | _ -> false)
    | Tvar _ | Tconst _ | Tapp (_, []) -> true
    | _ -> false
  in
  let f = t_map printable f in
  match f.t_node with
  | Tapp (ls, [ t ]) when Ident.Sattr.mem Ident.is_field_id_attr ls.ls_name.id_attrs && not (is_plain t) ->
      t_app (of_field ls) [ t ] f.t_ty
  | _ -> f

let rec parts operator f =
  match f.t_node with
  | Tbinop (found, a, b) when found = operator -> parts operator a @ parts operator b
  | _ -> [ f ]

let conjuncts f = parts Tand (bare f)

(** {1 Claims} *)

(** A claim that holds where some hypotheses do, of some variables. *)
type claim = { variables : Svs.t; hypotheses : term list; conclusion : term }

(** The claims that a formula makes together. What a disjunction negates is a hypothesis, as what
    stands in front of an implication is. *)
let rec claims f =
  let under hypotheses claim = { claim with hypotheses = hypotheses @ claim.hypotheses } in
  let negated f = match f.t_node with Tnot g -> Either.Left g | _ -> Either.Right f in
  let plain = [ { variables = Svs.empty; hypotheses = []; conclusion = f } ] in
  match f.t_node with
  | Tquant (Tforall, quantified) ->
      let own, _, f = t_open_quant quantified in
      let add claim = { claim with variables = Svs.union (Svs.of_list own) claim.variables } in
      List.map add (claims f)
  | Tbinop (Timplies, a, b) -> List.map (under (conjuncts a)) (claims b)
  | Tbinop (Tand, a, b) -> claims a @ claims b
  | Tbinop (Tor, _, _) -> (
      match List.partition_map negated (parts Tor f) with
      | [], _ | _, [] -> plain
      | supposed, rest ->
          List.map (under (List.concat_map conjuncts supposed)) (claims (t_or_l rest)))
  | Tlet (value, bound) -> claims (t_open_bound_with value bound)
  | _ -> plain

(** {1 Nothing}

    A theorem weakened to what is true whatever its symbols mean, [x = x], [p -> p], [false -> p],
    [p -> true], or put together from such, is still proved, and still has its sentence. *)

(** Whether a glance can tell that [f] is true where it stands, by what is [known] there. *)
let rec is_true known f =
  let holds { hypotheses; conclusion = f; _ } =
    let known = hypotheses @ known in
    let is_true = is_true known in
    List.exists (fun g -> t_equal g t_false || t_equal g f) known
    ||
    match f.t_node with
    | Ttrue -> true
    | Tapp (ls, [ a; b ]) -> ls_equal ls ps_equ && t_equal a b
    | Tbinop (Tor, a, b) -> is_true a || is_true b
    | Tbinop (Tiff, a, b) -> t_equal a b || (is_true a && is_true b)
    | Tnot a -> t_equal a t_false
    | Tquant (_, bound) ->
        let _, _, body = t_open_quant bound in
        is_true body
    | Tif (_, a, b) -> is_true a && is_true b
    | Tcase (_, branches) ->
        List.for_all (fun bound -> is_true (snd (t_open_branch bound))) branches
    | _ -> false
  in
  List.for_all holds (claims f)

(** Of each formula, and there is one; where others are required. *)
let say_nothing ?(required = []) found =
  let known = List.concat_map conjuncts required in
  found <> [] && List.for_all (fun f -> is_true known (bare f)) found
