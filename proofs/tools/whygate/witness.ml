(** What has hypotheses, and by what it is seen that some values satisfy them, from Why3's own view
    of the typed modules.

    A program with [requires] and a lemma with hypotheses are true of nothing if nothing satisfies
    them: call them conditionals. What satisfies them is found from one end.
    - A program that requires nothing runs for any arguments, and every type has a value. Those in
      the files [witness_*.mlw] take none and name concrete values: they are the witnesses.
    - Where a program that runs calls a conditional, the arguments satisfy this: it is what the
      proved condition of the caller says there. The conditional runs then, for these arguments.
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

(** What a program calls and asserts wherever it runs; whether a run comes to what is after it. *)
type line = { called : rsymbol list; asserted : Term.term list; goes_on : bool }

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

(** [returns effect]: no exception comes, and the end does. [kept rs]: what [rs] promises is proved.
    A call within a formula checks nothing, and is none here. *)
let rec line ~returns ~kept e =
  let line = line ~returns ~kept in
  (* Not every run comes to this, or it is proved for itself; whether it goes on matters alone. *)
  let beside e = { nothing with goes_on = (line e).goes_on } in
  match e.e_node with
  | Evar _ | Econst _ | Epure _ | Eassign _ -> nothing
  | Eassert ((Assert | Check), t) -> { nothing with asserted = lasting [ t ] }
  | Eexec ({ c_node = Capp (rs, _); _ }, { cty_args = []; cty_effect; _ }) ->
      { nothing with called = [ rs ]; goes_on = returns cty_effect && kept rs }
  | Eexec ({ c_node = Capp _ | Cpur _; _ }, _) -> nothing
  | Eexec ({ c_node = Cfun e; _ }, _) -> beside e
  | Elet (LDvar (_, value), rest) -> followed (line value) (line rest)
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

(** The variables of a lemma and its hypotheses. *)
let rec hypotheses (t : Term.term) =
  match t.t_node with
  | Tquant (Tforall, quantified) ->
      let variables, _, t = Term.t_open_quant quantified in
      let holes, found = hypotheses t in
      (Term.Svs.union (Term.Svs.of_list variables) holes, found)
  | Tbinop (Timplies, a, b) ->
      let holes, found = hypotheses b in
      (holes, a :: found)
  | Tlet (value, bound) ->
      let variable, t = Term.t_open_bound bound in
      hypotheses (Term.t_subst_single variable value t)
  | _ -> (Term.Svs.empty, [])

(** A program or a lemma: what it supposes of its variables, [count] formulas; of a program, what
    holds in each run, and what is called there. *)
type t = {
  m : Pmodule.pmodule;
  name : Ident.ident;
  kind : string;
  symbol : rsymbol option;
  count : int;
  holes : Term.Svs.t;
  supposed : Term.term list;
  holding : Term.term list;
  called : rsymbol list;
}

let of_program ~kept m (rs, c) =
  let { called; asserted; _ } = line_of ~kept c in
  let variable (pv : Ity.pvsymbol) = pv.pv_vs in
  { m; name = rs.rs_name; kind = Statement.symbol_kind rs c; symbol = Some rs;
    count = List.length rs.rs_cty.cty_pre;
    holes = Term.Svs.of_list (List.map variable rs.rs_cty.cty_args);
    supposed = List.concat_map conjuncts rs.rs_cty.cty_pre;
    holding = lasting c.c_cty.cty_pre @ asserted; called }

let of_formula m (d : Decl.decl) =
  match d.d_node with
  | Dprop (Pgoal, pr, _) when Template.is_refinement pr -> []
  | Dprop (((Plemma | Pgoal) as prop), pr, t) ->
      let holes, found = hypotheses (Statement.bare t) in
      let supposed = List.concat_map conjuncts found in
      [ { m; name = pr.pr_name; kind = (if prop = Plemma then "lemma" else "goal"); symbol = None;
          count = List.length found; holes; supposed; holding = []; called = [] } ]
  | _ -> []

let of_module ~kept (m : Pmodule.pmodule) =
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with
    | PDpure -> List.concat_map (of_formula m) d.pd_pure
    | _ -> List.map (of_program ~kept m) (programs d)
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
  let is_called rs = List.exists (rs_equal rs) by.called in
  let is_its_template there = Ident.id_equal there conditional.name in
  Option.fold ~none:false ~some:is_called conditional.symbol
  || Option.fold ~none:false ~some:is_its_template (template by)
  || Matching.every ~holes:conditional.holes conditional.supposed by.holding

(** [found]: what is satisfied, each with the name of what satisfies it; [last]: what was found
    last, at first what requires nothing; [waiting]: those for which nothing was found yet. *)
let rec closure ~template found last waiting =
  let look (found, now, later) one =
    match List.find_opt (satisfies ~template one) last with
    | Some by -> (Ident.Mid.add one.name (full_name by) found, one :: now, later)
    | None -> (found, now, one :: later)
  in
  match List.fold_left look (found, [], []) waiting with
  | found, [], _ -> found
  | found, now, later -> closure ~template found (List.rev now) (List.rev later)

(** {1 Facts} *)

open Json_base

let is_witness project one =
  let is_its file = String.starts_with ~prefix (Filename.basename file) in
  Option.fold ~none:false ~some:is_its (Audit.file project one.m)

let conditional_facts project found one =
  let by = Ident.Mid.find_opt one.name found in
  Record
    (Json.place (Option.map (Project.position project) one.name.id_loc)
    @ [ ("module", String (id one.m).id_string); ("name", String (Name.with_scopes one.name));
        ("kind", String one.kind); ("count", Int one.count);
        ("satisfied_by", Json.option (fun name -> String name) by) ])

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
  let found = closure ~template Ident.Mid.empty (witnesses @ others) conditionals in
  [ ("hypotheses", List (List.map (conditional_facts project found) conditionals)) ]
