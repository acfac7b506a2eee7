(** Hypotheses, and the witnesses that show that some values satisfy them.

    A conditional (a program with [requires], or a lemma with hypotheses) is vacuous if no values
    satisfy its hypotheses. The search for witnesses starts at programs without [requires].
    - A program that requires nothing runs for any arguments, and every type has a value. The
      witnesses, in the files [witness_*.mlw], name concrete values.
    - If a running program calls a conditional, the arguments satisfy its hypotheses: the caller's
      goal proves this. The conditional then runs, for these arguments.
    - A promise of a program under hypotheses about its arguments is a conditional of its own:
      [ensures { a -> b }], or another form ({!Formula.claims}). A call satisfies it if the
      hypotheses are asserted for the call's arguments. The cases [a -> b] and [not a -> c], of
      which one always applies, and the range of a quantifier need no witness.
    - A conditional is satisfied if one choice of its variables and type variables makes each of its
      hypotheses equal to a formula that the same running program requires or asserts in each run.
    - A template's conditional is satisfied if the same conditional of some instance is satisfied.

    The search is a least fixed point: nothing is satisfied through itself. A program's calls and
    assertions count if every run reaches them, and the program assumes nothing before them: [line]
    lists these. The promises of called programs are proved; the gate searches for contradictions in
    the trusted operations on which they may rest. Code after a call of an operation of ours without
    a body counts only if the operation is a maker, whose promises nothing can contradict. *)

open Why3
open Expr
open Formula

(** {1 What runs} *)

(** The calls, with arguments, and assertions that every run of some code makes. [goes_on]: every
    run reaches the code after it. *)
type line = { called : (rsymbol * Term.term list) list; asserted : Term.term list; goes_on : bool }

let nothing = { called = []; asserted = []; goes_on = true }
let the_end = { nothing with goes_on = false }

let followed a b =
  if not a.goes_on then a
  else { b with called = a.called @ b.called; asserted = a.asserted @ b.asserted }

(** An assertion about a variable that can change does not count: it holds only at its place. *)
let stays t =
  let is_fixed (v : Term.vsymbol) =
    let pv = Ity.restore_pv v in
    Ity.Sreg.is_empty (Ity.ity_freeregs Ity.Sreg.empty pv.pv_ity)
  in
  Term.Mvs.for_all (fun v _ -> is_fixed v) (Term.t_vars t)

let lasting formulas = List.filter stays (List.concat_map conjuncts formulas)

(** Replaces a variable by the term that it names. *)
let named (pv : Ity.pvsymbol) value found =
  match if Ity.eff_pure value.e_effect then term_of_expr ~prop:false value else None with
  | Some t when stays t ->
      let named = Term.t_subst_single pv.pv_vs t in
      { found with asserted = List.map named found.asserted;
        called = List.map (fun (rs, on) -> (rs, List.map named on)) found.called }
  | _ -> found

(** [returns effects]: code with these effects raises nothing and ends. [kept rs]: [rs] has a
    body, is a maker, or belongs to Why3's library. A call within a formula does not count. *)
let rec line ~returns ~kept e =
  let line = line ~returns ~kept in
  (* For code that some runs skip, or that has its own proof, only [goes_on] matters. *)
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

(** The line of a program, which cannot raise E if its contract has [raises { E -> false }]. *)
let line_of ~kept c =
  let is_false post = Term.t_equal (snd (Ity.open_post post)) Term.t_false in
  let excluded exn = List.exists is_false (Ity.Mxs.find_def [] exn c.c_cty.cty_xpost) in
  let returns (effects : Api.effects) =
    effects.eff_oneway = Total && Ity.Sxs.for_all excluded effects.eff_raises
  in
  match c.c_node with Cfun e -> line ~returns ~kept e | Capp _ | Cpur _ | Cany -> the_end

(** {1 Conditionals} *)

(** The claims with hypotheses, one for each list of hypotheses. *)
let conditional found =
  let same a b = List.equal Term.t_equal a.hypotheses b.hypotheses in
  let add kept claim =
    if claim.hypotheses = [] || List.exists (same claim) kept then kept else claim :: kept
  in
  List.rev (List.fold_left add [] found)

(** [(strict, a, b)]: [a < b] if [strict], else [a <= b]. *)
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

let occurs t v = Term.t_v_occurs v t > 0

(** Whether hypotheses only put a variable into a range, or out of it, with different bounds, at
    most one of them constant. *)
let rec is_range v found =
  let is_bound t = not (occurs t v) in
  let is_v (t : Term.term) = match t.t_node with Tvar w -> Term.vs_equal v w | _ -> false in
  let is_open (a : Term.term) (b : Term.term) =
    match (a.t_node, b.t_node) with Tconst _, Tconst _ -> false | _ -> not (Term.t_equal a b)
  in
  match (found, List.map comparison found) with
  | _, [ Some (_, a, x); Some (_, y, b) ] when is_v x && is_v y ->
      is_bound a && is_bound b && is_open a b
  | [ ({ t_node = Tnot t; _ } : Term.term) ], _ -> is_range v (conjuncts t)
  | _ -> false

(** The range of a promise's variables is no hypothesis. *)
let without_ranges claim =
  let drop v hypotheses =
    let about, others = List.partition (fun t -> occurs t v) hypotheses in
    if about <> [] && is_range v about then others else hypotheses
  in
  { claim with hypotheses = Term.Svs.fold drop claim.variables claim.hypotheses }

let within found t = List.exists (Term.t_equal t) found
let apart a b = List.filter (fun t -> not (within b t)) a

(** Two cases of which one always applies: [a] and [not a]. *)
let opposite a b =
  let is_not found = function
    | [ ({ t_node = Tnot t; _ } : Term.term) ] -> List.equal Term.t_equal (conjuncts t) found
    | _ -> false
  in
  match (List.map comparison a, List.map comparison b) with
  | [ Some (strict, x, y) ], [ Some (weak, z, w) ] ->
      strict <> weak && Term.t_equal x w && Term.t_equal y z
  | _ -> is_not a b || is_not b a

(** Cases that cover everything become one, with the hypotheses that they share. *)
let without_cases found =
  let rec add kept claim =
    let a = claim.hypotheses in
    let completes { hypotheses = b; _ } = opposite (apart a b) (apart b a) in
    match List.partition completes kept with
    | other :: more, others ->
        let hypotheses = List.filter (within other.hypotheses) a in
        add (more @ others) { claim with hypotheses }
    | [], _ -> claim :: kept
  in
  List.rev (List.fold_left add [] found)

(** The promises of a program under hypotheses about its arguments. Drops each
    hypothesis about results, memory after the run, or a variable that shares a hypothesis with
    these: it only tells outcomes apart. *)
let promised (cty : Ity.cty) =
  let is_written = Ity.pv_affected cty.cty_effect.eff_writes in
  let written = List.map (fun pv -> pv.Ity.pv_vs) (List.filter is_written cty.cty_args) in
  let of_post post =
    let result, t = Ity.open_post post in
    let of_claim claim =
      let speaks_of found t = List.exists (occurs t) found in
      let ranging t = List.filter (occurs t) (Term.Svs.elements claim.variables) in
      let add found t = if speaks_of found t then ranging t @ found else found in
      let outcome = List.fold_left add (result :: written) claim.hypotheses in
      let is_about_arguments t = not (speaks_of outcome t) in
      without_ranges { claim with hypotheses = List.filter is_about_arguments claim.hypotheses }
    in
    List.map of_claim (claims (bare t))
  in
  let posts = List.concat (cty.cty_post :: Ity.Mxs.values cty.cty_xpost) in
  conditional (without_cases (conditional (List.concat_map of_post posts)))

(** A program, lemma or goal: the hypotheses on its variables; for a program, the formulas that hold
    in each run, and the calls there. The first [part] of a program is its [requires]. Each other
    part is a claim under hypotheses. [under]: the claim's own hypotheses, which no call of the
    program proves. [by]: the name of its witness. *)
type t = {
  m : Pmodule.pmodule;
  name : Ident.ident;
  part : int;
  kind : string;
  symbol : rsymbol option;
  holes : Term.Svs.t;
  supposed : Term.term list;
  under : Term.term list;
  holding : Term.term list;
  called : (rsymbol * Term.term list) list;
  mutable by : string option;
}

let of_program ~kept m (rs, c) =
  let { called; asserted; _ } = line_of ~kept c in
  let supposed = List.concat_map conjuncts rs.rs_cty.cty_pre in
  let whole =
    { m; name = rs.rs_name; part = 0; kind = Statement.symbol_kind rs c; symbol = Some rs;
      holes = Term.Svs.of_list (List.map (fun pv -> pv.Ity.pv_vs) rs.rs_cty.cty_args); supposed;
      under = []; holding = lasting c.c_cty.cty_pre @ asserted; called; by = None }
  in
  let of_claim i claim =
    { whole with part = i + 1; holes = Term.Svs.union whole.holes claim.variables;
      supposed = supposed @ claim.hypotheses; under = claim.hypotheses; holding = []; called = [] }
  in
  whole :: List.mapi of_claim (promised rs.rs_cty)

let of_formula m (d : Decl.decl) =
  match d.d_node with
  | Dprop (Pgoal, pr, _) when Template.is_refinement pr -> []
  | Dprop (((Plemma | Pgoal) as prop), pr, t) ->
      let of_claim part claim =
        { m; name = pr.pr_name; part; kind = (if prop = Plemma then "lemma" else "goal");
          symbol = None; holes = claim.variables; supposed = claim.hypotheses; under = [];
          holding = []; called = []; by = None }
      in
      List.mapi of_claim (conditional (claims (bare t)))
  | _ -> []

let of_module ~kept m =
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with
    | PDpure -> List.concat_map (of_formula m) d.pd_pure
    | _ -> List.concat_map (of_program ~kept m) (Audit.programs d)
  in
  List.concat_map of_declaration (Audit.declarations m)

(** {1 Makers}

    A maker has no body and returns a value of an abstract record. It promises the values of some
    fields, each by one term that does not mention the result. Such a value exists: an abstract
    record without an invariant can have any fields. *)

(** [fields]: the fields of the abstract records without an invariant. *)
let is_maker fields (rs, c) =
  (* The field of a promise of the form [result.field = term]. *)
  let field_of result (promise : Term.term) =
    match promise.t_node with
    | Tapp (equals, [ { t_node = Tapp (field, [ { t_node = Tvar v; _ } ]); _ }; value ])
      when Term.ls_equal equals Term.ps_equ && Term.vs_equal v result
           && not (occurs value result) && Term.Sls.mem field fields ->
        Some field
    | _ -> None
  in
  let promised post =
    let result, promise = Ity.open_post post in
    List.map (field_of result) (conjuncts promise)
  in
  let found = List.concat_map promised rs.rs_cty.cty_post in
  let named = Term.Sls.of_list (List.filter_map Fun.id found) in
  Audit.is_val c
  && Ity.eff_pure rs.rs_cty.cty_effect
  && Term.Sls.cardinal named = List.length found

(** Our programs without a body, except makers: their promises may be wrong. *)
let without_body modules =
  let declarations = List.concat_map Audit.declarations modules in
  let free (d : Pdecl.its_defn) =
    if d.itd_its.its_private && d.itd_invariant = [] then List.map ls_of_rs d.itd_fields else []
  in
  let fields (d : Pdecl.pdecl) =
    match d.pd_node with PDtype definitions -> List.concat_map free definitions | _ -> []
  in
  let fields = Term.Sls.of_list (List.concat_map fields declarations) in
  let counts (rs, c) =
    match c.c_node with
    | Cfun _ -> None
    | Capp _ | Cpur _ | Cany -> if is_maker fields (rs, c) then None else Some rs
  in
  Srs.of_list (List.filter_map counts (List.concat_map Audit.programs declarations))

(** {1 Satisfaction}

    Nothing is computed: an instance in another form is not found, and leaves a conditional without
    a witness. *)

(** Why3 does not document its exception for a failed match: any exception counts. *)
let is_instance ~holes pairs =
  let patterns, formulas = List.split pairs in
  let find () = Reduction_engine.first_order_matching holes patterns formulas in
  Result.is_ok (Project.attempt find)

(** Whether one choice of [holes] and type variables makes each pattern equal to some formula, and
    the terms of each pair equal. *)
let rec every ~holes ?(pairs = []) patterns formulas =
  match patterns with
  | [] -> is_instance ~holes pairs
  | pattern :: rest ->
      let fits formula =
        let pairs = (pattern, formula) :: pairs in
        is_instance ~holes pairs && every ~holes ~pairs rest formulas
      in
      List.exists fits formulas

let full_name { m; name; _ } = (Audit.id m).id_string ^ "." ^ Name.with_scopes name

(** Whether [by] satisfies [one]; [template] returns the template of an instance. *)
let satisfies ~template one by =
  let every = every ~holes:one.holes in
  let is_call rs (called, on) =
    let args = List.map (fun pv -> Term.t_var pv.Ity.pv_vs) rs.rs_cty.cty_args in
    rs_equal rs called
    && (one.under = []
       || List.compare_lengths args on = 0
          && every ~pairs:(List.combine args on) one.under by.holding)
  in
  let is_called rs = List.exists (is_call rs) by.called in
  let is_origin there = Ident.id_equal there one.name && by.part = one.part in
  Option.fold ~none:false ~some:is_called one.symbol
  || Option.fold ~none:false ~some:is_origin (template by)
  || every one.supposed by.holding

(** [last]: the conditionals satisfied last, at first the programs that require nothing; [waiting]:
    those without a witness so far. *)
let rec close ~template last waiting =
  let look one = one.by <- Option.map full_name (List.find_opt (satisfies ~template one) last) in
  List.iter look waiting;
  match List.partition (fun one -> one.by <> None) waiting with
  | [], _ -> ()
  | found, waiting -> close ~template found waiting

(** {1 Facts} *)

open Json

let is_witness project one =
  let is_its file = String.starts_with ~prefix:"witness_" (Filename.basename file) in
  Option.fold ~none:false ~some:is_its (Audit.file project one.m)

let conditional_facts project one =
  Record
    (place project one.name.id_loc
    @ [ ("module", String (Audit.id one.m).id_string); ("name", String (Name.with_scopes one.name));
        ("kind", String one.kind); ("supposes", texts (List.map Statement.formula one.supposed));
        ("satisfied_by", text one.by) ])

(** Witnesses come first, so that [by] names them. *)
let facts project theories =
  let modules = List.concat_map (fun (_, found) -> List.concat (Result.to_list found)) theories in
  let open_ones = without_body modules in
  let all = List.concat_map (of_module ~kept:(fun rs -> not (Srs.mem rs open_ones))) modules in
  let free, conditionals = List.partition (fun one -> one.supposed = []) all in
  let witnesses, others = List.partition (is_witness project) free in
  let add_origins all m = Ident.Mid.set_union (Ident.Mid.map snd (Template.origins m)) all in
  let origins = List.fold_left add_origins Ident.Mid.empty modules in
  let template by = if by.supposed = [] then None else Ident.Mid.find_opt by.name origins in
  close ~template (witnesses @ others) conditionals;
  [ ("hypotheses", List (List.map (conditional_facts project) conditionals)) ]
