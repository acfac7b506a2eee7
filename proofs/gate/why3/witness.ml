(** What has hypotheses, and by what it is seen that some values satisfy them, from Why3's own view
    of the typed modules.

    A program with [requires] and a lemma with hypotheses are true of nothing if nothing satisfies
    them: call them conditionals. What satisfies them is found from one end.
    - A program that requires nothing runs for any arguments, and every type has a value. Those in
      the files [witness_*.mlw] take none and name concrete values: they are the witnesses.
    - Where a program that runs calls a conditional, the arguments satisfy this: it is what the
      proved condition of the caller says there. The conditional runs then, for these arguments.
    - What a program promises under hypotheses about its arguments is a conditional of its own:
      [ensures { a -> b }], or [not a \/ b]. It is satisfied where a call of the program is, for
      arguments for which they are asserted. Hypotheses about what the program gives tell its
      outcomes apart, [a -> b] and [not a -> c] are two cases of which there is always one, and the
      range of a quantifier is none.
    - A conditional is satisfied if one choice of its variables, and of its type variables, makes
      each of its hypotheses equal to something that holds in one run of a program: to what that
      requires, or asserts.

    - What a template supposes, which its instances suppose in their own terms, is satisfied if one
      of them satisfies it: by some values, for some parameters.

    It is a least fixed point: nothing is satisfied through itself. What a program calls and asserts
    counts where every run comes to it, and nothing in front of it in that program is taken for
    granted: [line] says where that ends. What the programs promise that it calls is proved; what
    that may rest on, the trusted operations, the gate asks for contradictions. Of those without a
    body only makers, who promise what nothing can contradict, are in front of more. *)

open Why3
open Expr

let prefix = "witness_"

let id = Audit.id

(** Program symbols with what they are bound to. *)
let programs (d : Pdecl.pdecl) =
  match d.pd_node with
  | PDlet (LDsym (rs, c)) -> [ (rs, c) ]
  | PDlet (LDrec definitions) -> List.map (fun d -> (d.rec_sym, d.rec_fun)) definitions
  | PDlet (LDvar _) | PDtype _ | PDexn _ | PDpure -> []

(** {1 What runs} *)

(** What a program calls, on what, and asserts wherever it runs; whether a run comes to what is after
    it. *)
type line = { called : (rsymbol * Term.term list) list; asserted : Term.term list; goes_on : bool }

let nothing = { called = []; asserted = []; goes_on = true }
let the_end = { nothing with goes_on = false }

let followed a b =
  if not a.goes_on then a
  else { b with called = a.called @ b.called; asserted = a.asserted @ b.asserted }

let conjuncts t = Nothing.conjuncts (Statement.bare t)

(** An assertion holds of its moment: one about a variable that can change does not count. *)
let stays t =
  let is_fixed (v : Term.vsymbol) =
    let pv = Ity.restore_pv v in
    Ity.Sreg.is_empty (Ity.ity_freeregs Ity.Sreg.empty pv.pv_ity)
  in
  Term.Mvs.for_all (fun v _ -> is_fixed v) (Term.t_vars t)

let lasting formulas = List.filter stays (List.concat_map conjuncts formulas)

(** Where a variable is a name for a term. *)
let named (pv : Ity.pvsymbol) value found =
  match if Ity.eff_pure value.e_effect then term_of_expr ~prop:false value else None with
  | Some t when stays t ->
      let named = Term.t_subst_single pv.pv_vs t in
      { found with asserted = List.map named found.asserted;
        called = List.map (fun (rs, on) -> (rs, List.map named on)) found.called }
  | _ -> found

(** [returns effect]: no exception comes, and the end does. [kept rs]: what [rs] promises is proved.
    A call within a formula checks nothing, and is none here. *)
let rec line ~returns ~kept e =
  let line = line ~returns ~kept in
  (* Not every run comes to this, or it is proved for itself; whether it goes on matters alone. *)
  let beside e = { nothing with goes_on = (line e).goes_on } in
  match e.e_node with
  | Evar _ | Econst _ | Epure _ | Eassign _ -> nothing
  | Eassert ((Assert | Check), t) -> { nothing with asserted = lasting [ t ] }
  | Eexec ({ c_node = Capp (rs, on); _ }, { cty_args = []; cty_effect; _ }) ->
      let on = List.map (fun (pv : Ity.pvsymbol) -> Term.t_var pv.pv_vs) on in
      { nothing with called = [ (rs, on) ]; goes_on = returns cty_effect && kept rs }
  | Eexec ({ c_node = Capp _ | Cpur _; _ }, _) -> nothing
  | Eexec ({ c_node = Cfun e; _ }, _) -> beside e
  | Elet (LDvar (pv, value), rest) -> followed (line value) (named pv value (line rest))
  | Eghost e -> line e
  | Eif (test, a, b) -> List.fold_left followed (line test) [ beside a; beside b ]
  | Ematch (e, branches, handlers) when Ity.Mxs.is_empty handlers ->
      List.fold_left followed (line e) (List.map (fun (_, e) -> beside e) branches)
  | Ewhile (test, _, _, body) when returns e.e_effect -> followed (beside test) (beside body)
  | Efor (_, _, _, _, e) -> beside e
  | Eassert (Assume, _) | Eexec ({ c_node = Cany; _ }, _) | Eabsurd -> the_end
  | Elet ((LDsym _ | LDrec _), _) | Ematch _ | Ewhile _ | Eraise _ | Eexn _ -> the_end

(** The line of a program. An exception cannot come if the contract says [raises { E -> false }]. *)
let line_of ~kept c =
  let is_false post = Term.t_equal (snd (Ity.open_post post)) Term.t_false in
  let excluded exn = List.exists is_false (Ity.Mxs.find_def [] exn c.c_cty.cty_xpost) in
  let returns (effect : Ity.effect) =
    effect.eff_oneway = Total && Ity.Sxs.for_all excluded effect.eff_raises
  in
  match c.c_node with Cfun e -> line ~returns ~kept e | Capp _ | Cpur _ | Cany -> the_end

(** {1 What has hypotheses} *)

(** A claim that holds where some hypotheses do, of some variables. *)
type claim = { variables : Term.Svs.t; hypotheses : Term.term list }

let plain = { variables = Term.Svs.empty; hypotheses = [] }

let rec disjuncts (t : Term.term) =
  match t.t_node with Tbinop (Tor, a, b) -> disjuncts a @ disjuncts b | _ -> [ t ]

let negated (t : Term.term) =
  match t.t_node with Tnot a -> Either.Left a | _ -> Either.Right t

(** The claims that a formula makes together. What a disjunction negates is a hypothesis, as what
    stands in front of an implication is. *)
let rec claims (t : Term.term) =
  let over variables claim = { claim with variables = Term.Svs.union variables claim.variables } in
  let under found claim = { claim with hypotheses = found @ claim.hypotheses } in
  match t.t_node with
  | Tquant (Tforall, quantified) ->
      let variables, _, t = Term.t_open_quant quantified in
      List.map (over (Term.Svs.of_list variables)) (claims t)
  | Tbinop (Timplies, a, b) -> List.map (under (conjuncts a)) (claims b)
  | Tbinop (Tand, a, b) -> claims a @ claims b
  | Tbinop (Tor, _, _) -> (
      match List.partition_map negated (disjuncts t) with
      | [], _ | _, [] -> [ plain ]
      | supposed, rest ->
          List.map (under (List.concat_map conjuncts supposed)) (claims (Term.t_or_l rest)))
  | Tlet (value, bound) ->
      let variable, t = Term.t_open_bound bound in
      claims (Term.t_subst_single variable value t)
  | _ -> [ plain ]

(** Those that suppose something, each once. *)
let conditional found =
  let same a b = List.equal Term.t_equal a.hypotheses b.hypotheses in
  let add kept claim =
    if claim.hypotheses = [] || List.exists (same claim) kept then kept else claim :: kept
  in
  List.rev (List.fold_left add [] found)

(** [(strict, a, b)] for [a < b], or [a <= b]. *)
let comparison (t : Term.term) =
  match t.t_node with
  | Tapp (ls, [ a; b ]) -> (
      match Name.resolved ls.ls_name with
      | Some "int.Int.infix <" -> Some (true, a, b)
      | Some "int.Int.infix <=" -> Some (false, a, b)
      | Some "int.Int.infix >" -> Some (true, b, a)
      | Some "int.Int.infix >=" -> Some (false, b, a)
      | _ -> None)
  | _ -> None

let mentions variables t = Term.Svs.exists (fun v -> Term.t_v_occurs v t > 0) variables

(** Whether hypotheses say of a variable no more than that it is in a range, whose bounds the
    arguments decide, or not in it. *)
let is_range v found =
  let is_bound t = Term.t_v_occurs v t = 0 in
  let is_v (t : Term.term) = match t.t_node with Tvar w -> Term.vs_equal v w | _ -> false in
  let is_open (a : Term.term) (b : Term.term) =
    match (a.t_node, b.t_node) with Tconst _, Tconst _ -> false | _ -> not (Term.t_equal a b)
  in
  let rec inside found =
    match List.map comparison found with
    | [ Some (_, a, b) ] -> (is_v a && is_bound b) || (is_v b && is_bound a)
    | [ Some (_, a, x); Some (_, y, b) ] when is_v x && is_v y -> is_bound a && is_bound b && is_open a b
    | [ None ] -> (
        match List.map (fun (t : Term.term) -> t.t_node) found with
        | [ Tnot t ] -> inside (conjuncts t)
        | _ -> false)
    | _ -> false
  in
  inside found

(** The variables that a promise ranges over are no hypotheses of it. *)
let without_ranges claim =
  let drop v hypotheses =
    let about, others = List.partition (fun t -> Term.t_v_occurs v t > 0) hypotheses in
    if about <> [] && is_range v about then others else hypotheses
  in
  { claim with hypotheses = Term.Svs.fold drop claim.variables claim.hypotheses }

let within found t = List.exists (Term.t_equal t) found
let apart a b = List.filter (fun t -> not (within b t)) a

(** Two cases of which there is always one: [a] and [not a]. *)
let opposite a b =
  let is_not found = function
    | [ ({ t_node = Tnot t; _ } : Term.term) ] ->
        let negated = conjuncts t in
        apart negated found = [] && apart found negated = []
    | _ -> false
  in
  match (List.map comparison a, List.map comparison b) with
  | [ Some (strict, x, y) ], [ Some (weak, z, w) ] ->
      strict <> weak && Term.t_equal x w && Term.t_equal y z
  | _ -> is_not a b || is_not b a

(** What cases suppose that together are all: what they have in common. *)
let rec without_cases found =
  let joined a b =
    if opposite (apart a.hypotheses b.hypotheses) (apart b.hypotheses a.hypotheses) then
      Some { a with hypotheses = List.filter (within b.hypotheses) a.hypotheses }
    else None
  in
  let rec first = function
    | [] -> None
    | a :: rest -> (
        match List.find_map (fun b -> Option.map (fun c -> (b, c)) (joined a b)) rest with
        | Some (b, c) -> Some (a, b, c)
        | None -> first rest)
  in
  match first found with
  | None -> found
  | Some (a, b, c) -> without_cases (c :: List.filter (fun d -> d != a && d != b) found)

(** What a program promises under hypotheses about its arguments. Those that speak of what it gives
    or leaves, or of a variable that ranges over this, tell outcomes apart. *)
let promised (cty : Ity.cty) =
  let variable (pv : Ity.pvsymbol) = pv.pv_vs in
  let is_new pv = Ity.pv_affected cty.cty_effect.eff_writes pv in
  let written = List.filter is_new (cty.cty_args @ Ity.Spv.elements (Ity.cty_reads cty)) in
  let before (o, pv) = (variable o, Term.t_var (variable pv)) in
  let old = Term.Mvs.of_list (List.map before (Ity.Mpv.bindings cty.cty_oldies)) in
  let of_claim outcome claim =
    let ranging t = Term.Svs.filter (fun v -> Term.t_v_occurs v t > 0) claim.variables in
    let add found t = if mentions found t then Term.Svs.union (ranging t) found else found in
    let outcome = List.fold_left add outcome claim.hypotheses in
    let kept = List.filter (fun t -> not (mentions outcome t)) claim.hypotheses in
    without_ranges { claim with hypotheses = List.map (Term.t_subst old) kept }
  in
  let of_post post =
    let result, t = Ity.open_post post in
    let outcome = Term.Svs.of_list (result :: List.map variable written) in
    List.map (of_claim outcome) (claims (Statement.bare t))
  in
  let posts = List.concat (cty.cty_post :: Ity.Mxs.values cty.cty_xpost) in
  conditional (without_cases (conditional (List.concat_map of_post posts)))

(** A program or a lemma: what it supposes of its variables, [count] formulas; of a program, what
    holds in each run, and what is called there. The first [part] of a program is what it requires;
    each other one, and each of a lemma, is a claim under hypotheses: [under] are those that the
    call of a program does not show. *)
type t = {
  m : Pmodule.pmodule;
  name : Ident.ident;
  part : int;
  kind : string;
  symbol : rsymbol option;
  count : int;
  holes : Term.Svs.t;
  supposed : Term.term list;
  under : Term.term list;
  holding : Term.term list;
  called : (rsymbol * Term.term list) list;
}

let key one = (Weakhtbl.tag_hash one.name.id_tag, one.part)

let of_program ~kept m (rs, c) =
  let { called; asserted; _ } = line_of ~kept c in
  let variable (pv : Ity.pvsymbol) = pv.pv_vs in
  let holes = Term.Svs.of_list (List.map variable rs.rs_cty.cty_args) in
  let supposed = List.concat_map conjuncts rs.rs_cty.cty_pre in
  let whole =
    { m; name = rs.rs_name; part = 0; kind = Statement.symbol_kind rs c; symbol = Some rs;
      count = List.length rs.rs_cty.cty_pre; holes; supposed; under = [];
      holding = lasting c.c_cty.cty_pre @ asserted; called }
  in
  let of_claim i claim =
    let supposed = supposed @ claim.hypotheses in
    { whole with part = i + 1; count = List.length supposed;
      holes = Term.Svs.union holes claim.variables; supposed; under = claim.hypotheses; holding = [];
      called = [] }
  in
  whole :: List.mapi of_claim (promised rs.rs_cty)

let of_formula m (d : Decl.decl) =
  match d.d_node with
  | Dprop (Pgoal, pr, _) when Template.is_refinement pr -> []
  | Dprop (((Plemma | Pgoal) as prop), pr, t) ->
      let of_claim part { variables; hypotheses } =
        { m; name = pr.pr_name; part; kind = (if prop = Plemma then "lemma" else "goal");
          symbol = None; count = List.length hypotheses; holes = variables; supposed = hypotheses;
          under = []; holding = []; called = [] }
      in
      List.mapi of_claim (conditional (claims (Statement.bare t)))
  | _ -> []

let of_module ~kept (m : Pmodule.pmodule) =
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with
    | PDpure -> List.concat_map (of_formula m) d.pd_pure
    | _ -> List.concat_map (of_program ~kept m) (programs d)
  in
  List.concat_map of_declaration (Audit.declarations m.mod_units)

(** {1 Makers}

    A maker has no body and gives a value of an abstract record: what it promises is what some of the
    fields are, each by one term that is not about the value. There is such a value, as an abstract
    record without an invariant can have any fields. *)

(** The fields of the abstract records without an invariant, of all modules. *)
let free_fields modules =
  let of_type (d : Pdecl.its_defn) =
    if d.itd_its.its_private && d.itd_invariant = [] then List.map ls_of_rs d.itd_fields else []
  in
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with PDtype definitions -> List.concat_map of_type definitions | _ -> []
  in
  let of_module (m : Pmodule.pmodule) =
    List.concat_map of_declaration (Audit.declarations m.mod_units)
  in
  Term.Sls.of_list (List.concat_map of_module modules)

(** The field of [result] that a promise is about, if it is of the form [result.field = term]. *)
let field_of result (promise : Term.term) =
  match promise.t_node with
  | Tapp (equals, [ { t_node = Tapp (field, [ { t_node = Tvar v; _ } ]); _ }; value ])
    when Term.ls_equal equals Term.ps_equ && Term.vs_equal v result
         && Term.t_v_occurs result value = 0 ->
      Some field
  | _ -> None

let is_maker fields (rs, c) =
  let promised post =
    let result, promise = Ity.open_post post in
    List.map (field_of result) (conjuncts promise)
  in
  let found = List.concat_map promised rs.rs_cty.cty_post in
  let named = List.filter_map Fun.id found in
  Audit.is_val c
  && Ity.eff_pure rs.rs_cty.cty_effect
  && List.length named = List.length found
  && Term.Sls.cardinal (Term.Sls.of_list named) = List.length named
  && List.for_all (fun field -> Term.Sls.mem field fields) named

(** Those of our programs whose promise is not proved, and may be wrong. *)
let without_body modules =
  let has_none (_, c) = match c.c_node with Cfun _ -> false | Capp _ | Cpur _ | Cany -> true in
  let fields = free_fields modules in
  let counts program = has_none program && not (is_maker fields program) in
  let of_module (m : Pmodule.pmodule) =
    List.filter counts (List.concat_map programs (Audit.declarations m.mod_units))
  in
  Srs.of_list (List.map fst (List.concat_map of_module modules))

(** {1 What is satisfied} *)

let full_name { m; name; _ } = (id m).id_string ^ "." ^ Name.with_scopes name

(** [template]: what something is an instance of. *)
let satisfies ~template conditional by =
  let holes = conditional.holes in
  let is_called rs (called, on) =
    let args = List.map (fun (pv : Ity.pvsymbol) -> Term.t_var pv.pv_vs) rs.rs_cty.cty_args in
    rs_equal rs called
    && (conditional.under = []
       || List.compare_lengths args on = 0
          && Matching.every ~holes ~pairs:(List.combine args on) conditional.under by.holding)
  in
  let is_called rs = List.exists (is_called rs) by.called in
  let is_its_template there =
    Ident.id_equal there conditional.name && by.part = conditional.part
  in
  Option.fold ~none:false ~some:is_called conditional.symbol
  || Option.fold ~none:false ~some:is_its_template (template by)
  || Matching.every ~holes:conditional.holes conditional.supposed by.holding

module Parts = Map.Make (struct
  type t = int * int

  let compare = compare
end)

(** [found]: what is satisfied, each with the name of what satisfies it; [last]: what was found
    last, at first what requires nothing; [waiting]: those for which nothing was found yet. *)
let rec closure ~template found last waiting =
  let look (found, now, later) one =
    match List.find_opt (satisfies ~template one) last with
    | Some by -> (Parts.add (key one) (full_name by) found, one :: now, later)
    | None -> (found, now, one :: later)
  in
  match List.fold_left look (found, [], []) waiting with
  | found, [], _ -> found
  | found, now, later -> closure ~template found (List.rev now) (List.rev later)

(** {1 Facts} *)

open Json

let is_witness project one =
  let is_its file = String.starts_with ~prefix (Filename.basename file) in
  Option.fold ~none:false ~some:is_its (Audit.file project one.m)

let conditional_facts project found one =
  let by = Parts.find_opt (key one) found in
  Record
    (Json.place project one.name.id_loc
    @ [ ("module", String (id one.m).id_string); ("name", String (Name.with_scopes one.name));
        ("kind", String one.kind); ("count", Int one.count);
        ("supposes", texts (List.map Statement.formula one.supposed));
        ("satisfied_by", text by) ])

(** Of all theories. A program that requires nothing comes first if it is a witness, to be named. *)
let facts project theories =
  let modules = List.concat_map (fun (_, found) -> List.concat (Result.to_list found)) theories in
  let open_ones = without_body modules in
  let kept rs = not (Srs.mem rs open_ones) in
  let all = List.concat_map (of_module ~kept) modules in
  let conditionals, free = List.partition (fun one -> one.count > 0) all in
  let witnesses, others = List.partition (is_witness project) free in
  let add_origins all m = Ident.Mid.set_union (Ident.Mid.map snd (Template.origins m)) all in
  let origins = List.fold_left add_origins Ident.Mid.empty modules in
  let template by = if by.count = 0 then None else Ident.Mid.find_opt by.name origins in
  let found = closure ~template Parts.empty (witnesses @ others) conditionals in
  [ ("hypotheses", List (List.map (conditional_facts project found) conditionals)) ]
