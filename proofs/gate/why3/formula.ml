(** Formulas: their claims with variables and hypotheses, and whether a claim is trivial. *)

open Why3
open Term

(** The formula without proofs ([A by B] and [A so B] become [A]), unused names (they differ between
    Why3 versions), and attributes other than that of [&&] and [||]. *)
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

(** The function that replaces a field in print: [data_of] for [data]. *)
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

(** The formula to print: a field is [data_of (f x)], except in [x.data] and [a[i].data]. Why3 1.5.1
    would print [f x.data], later versions [(f x).data]. *)
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

(** A claim about some variables, under hypotheses. *)
type claim = { variables : Svs.t; hypotheses : term list; conclusion : term }

(** The negation of a formula, moved one step inside, if possible. *)
let dual f =
  let negated bound = let p, f = t_open_branch bound in t_close_branch p (t_not f) in
  match f.t_node with
  | Ttrue -> Some t_false
  | Tfalse -> Some t_true
  | Tnot f -> Some f
  | Tbinop (Tand, a, b) -> Some (t_or (t_not a) (t_not b))
  | Tbinop (Tor, a, b) -> Some (t_and (t_not a) (t_not b))
  | Tbinop (Timplies, a, b) -> Some (t_and a (t_not b))
  | Tif (test, a, b) -> Some (t_if test (t_not a) (t_not b))
  | Tcase (t, branches) -> Some (t_case t (List.map negated branches))
  | Tlet (value, bound) -> Some (t_not (t_open_bound_with value bound))
  | Tquant (Texists, quantified) ->
      let own, _, f = t_open_quant quantified in
      Some (t_forall_close own [] (t_not f))
  | _ -> None

(** An equation with a conditional term, as a conditional formula, if some case of it is trivial. *)
let decided f =
  let cases branches = List.map t_open_branch branches in
  let rec is_somewhere t other =
    match t.t_node with
    | Tif (_, a, b) -> is_somewhere a other || is_somewhere b other
    | Tcase (_, branches) -> List.exists (fun (_, t) -> is_somewhere t other) (cases branches)
    | _ -> t_equal t other
  in
  let rec equation t other =
    match t.t_node with
    | Tif (test, a, b) -> t_if test (equation a other) (equation b other)
    | Tcase (on, branches) ->
        t_case on (List.map (fun (p, t) -> t_close_branch p (equation t other)) (cases branches))
    | _ -> t_equ t other
  in
  match f.t_node with
  | Tapp (ls, [ a; b ]) when ls_equal ls ps_equ ->
      if is_somewhere a b then Some (equation a b)
      else if is_somewhere b a then Some (equation b a)
      else None
  | _ -> None

(** The term with the form of a pattern. *)
let rec of_pattern p =
  match p.pat_node with
  | Pwild -> t_var (create_vsymbol (Ident.id_fresh "any") p.pat_ty)
  | Pvar v -> t_var v
  | Papp (ls, ps) -> t_app ls (List.map of_pattern ps) (Some p.pat_ty)
  | Por (p, _) | Pas (p, _) -> of_pattern p

(** The equations that hold if a term matches a pattern. *)
let rec equations t p =
  match (t.t_node, p.pat_node) with
  | _, (Pwild | Pvar _) -> []
  | Tapp (ls, on), Papp (constructor, ps) when ls_equal ls constructor ->
      List.concat (List.map2 equations on ps)
  | _ -> [ t_equ t (of_pattern p) ]

(** For each case of a [match]: the pattern's variables; its equations or, if it has none, the
    claim that no earlier case applies; the case's formula. *)
let cases t branches =
  let variables = List.fold_left (fun found t -> Mvs.set_union found (t_vars t)) Mvs.empty in
  let case passed bound =
    let p, f = t_open_branch bound in
    let own = equations t p in
    let free = Mvs.domain (Mvs.set_diff (variables own) (variables [ t ])) in
    let supposed = if own = [] && passed <> [] then [ t_not (t_or_l passed) ] else own in
    (t_exists_close (Svs.elements free) [] (t_and_l own) :: passed, (free, supposed, f))
  in
  snd (List.fold_left_map case [] branches)

(** The claims of a formula. Hypotheses are: the left side of an implication, the negation of a part
    of a disjunction, the condition of [if] or its negation, those of {!cases}; in an equivalence or
    below [exists], the hypotheses within it. If all parts of a disjunction are negations, as in
    [not a \/ not b], all but the last are hypotheses. *)
let rec claims f =
  let add ?(free = Svs.empty) supposed claim =
    { claim with variables = Svs.union free claim.variables; hypotheses = claim.hypotheses @ supposed }
  in
  (* [kept]: the parts of a disjunction that cannot be split. *)
  let rec split claim kept = function
    | { t_node = Ttrue; _ } :: _ -> []
    | { t_node = Tapp (ls, [ a; b ]); _ } :: _ when ls_equal ls ps_equ && t_equal a b -> []
    | { t_node = Tfalse; _ } :: rest -> split claim kept rest
    | f :: rest -> (
        let under ?free supposed f = split (add ?free supposed claim) kept (f @ rest) in
        (* [within]: the claims of formulas in this one. *)
        let whole ?free within =
          let split claim = split claim (f :: kept) rest in
          let suppose c = split (add ~free:c.variables c.hypotheses (add ?free [] claim)) in
          let conditional = List.filter (fun c -> c.hypotheses <> []) within in
          split claim @ List.concat_map suppose conditional
        in
        match f.t_node with
        | Tquant (quantifier, quantified) -> (
            let own, _, body = t_open_quant quantified in
            let free = Svs.of_list own in
            match quantifier with
            | Tforall -> under ~free [] [ body ]
            | Texists -> whole ~free (claims body))
        | Tbinop (Timplies, a, b) -> under (conjuncts a) [ b ]
        | Tbinop (Tand, a, b) -> under [] [ a ] @ under [] [ b ]
        | Tbinop (Tor, a, b) -> under [] [ a; b ]
        | Tbinop (Tiff, a, b) when claims (t_not a) = [] -> under [] [ t_not b ]
        | Tbinop (Tiff, a, b) when claims (t_not b) = [] -> under [] [ t_not a ]
        | Tbinop (Tiff, a, b) -> whole (claims a @ claims b)
        | Tlet (value, bound) -> under [] [ t_open_bound_with value bound ]
        | Tif (test, a, b) -> under (conjuncts test) [ a ] @ under [ t_not_simp test ] [ b ]
        | Tcase (t, branches) ->
            let of_case (free, supposed, f) = under ~free supposed [ f ] in
            List.concat_map of_case (cases t branches)
        | Tnot g -> (match dual g with Some f -> under [] [ f ] | None -> under [ g ] [])
        | _ -> ( match decided f with Some f -> under [] [ f ] | None -> whole []))
    | [] -> (
        match (kept, List.rev claim.hypotheses) with
        | [], denied :: others -> (
            let claim = { claim with hypotheses = List.rev others; conclusion = t_not denied } in
            match denied.t_node with
            | Tquant (Tforall, quantified) ->
                let own, _, f = t_open_quant quantified in
                split claim [] [ t_exists_close own [] (t_not f) ]
            | Tbinop (Tiff, a, b) -> split claim [] [ t_iff a (t_not b) ]
            | _ -> [ claim ])
        | [], [] -> [ claim ]
        | _ -> [ { claim with conclusion = t_or_l (List.rev kept) } ])
  in
  split { variables = Svs.empty; hypotheses = []; conclusion = t_false } [] [ f ]

(** {1 Nothing}

    If a theorem is weakened to a formula that is true whatever its symbols mean, such as [x = x],
    [p -> p], [false -> p] or [p -> true], it is still proved, and still has its sentence. *)

(** Whether [f] is trivially true, given the formulas [known]. *)
let rec is_true known f =
  let holds { hypotheses; conclusion = f; _ } =
    let known = hypotheses @ known in
    let is_true = is_true known in
    List.exists (fun g -> t_equal g t_false || t_equal g f) known
    ||
    match f.t_node with
    | Tbinop (Tor, a, b) -> is_true a || is_true b
    | Tbinop (Tiff, a, b) -> t_equal a b || (is_true a && is_true b)
    | Tquant (_, bound) ->
        let _, _, body = t_open_quant bound in
        is_true body
    | _ -> false
  in
  List.for_all holds (claims f)

(** Whether [found] has formulas, and all are trivial, given those in [required]. *)
let say_nothing ?(required = []) found =
  let known = List.concat_map conjuncts required in
  found <> [] && List.for_all (fun f -> is_true known (bare f)) found
