(** What has hypotheses, and which witness shows that they can be satisfied, from Why3's own view of
    the typed modules.

    A program with [requires] and a lemma with hypotheses are true of nothing if nothing satisfies
    them. The witnesses are the programs of [why3/witness_*.mlw]: each names concrete values, and
    its verification condition says that they satisfy the hypotheses.
    - A program is witnessed where it is called. A call within a formula checks nothing and does not
      count.
    - A lemma is witnessed where one choice of its variables makes each of its hypotheses equal to
      something that the witness asserts.

    Both hold only if every call and every assertion of the witness is reached whatever happens, and
    has nothing in front of it that is taken for granted: [faults] says what stands against that. *)

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

(** {1 What has hypotheses} *)

type subject = Program of rsymbol | Formula of Term.Svs.t * Term.term list

type conditional = { name : Ident.ident; kind : string; count : int; subject : subject }

let conjuncts t = Nothing.conjuncts (Statement.bare t)

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

let of_program (rs, c) =
  match List.length rs.rs_cty.cty_pre with
  | 0 -> []
  | count ->
      [ { name = rs.rs_name; kind = Statement.symbol_kind rs c; count; subject = Program rs } ]

let of_formula (d : Decl.decl) =
  match d.d_node with
  | Dprop (((Plemma | Pgoal) as prop), pr, t) -> (
      match hypotheses (Statement.bare t) with
      | _, [] -> []
      | holes, found ->
          let kind = if prop = Plemma then "lemma" else "goal" in
          let subject = Formula (holes, List.concat_map conjuncts found) in
          [ { name = pr.pr_name; kind; count = List.length found; subject } ])
  | _ -> []

let conditionals (m : Pmodule.pmodule) =
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with
    | PDpure -> List.concat_map of_formula d.pd_pure
    | _ -> List.concat_map of_program (programs d)
  in
  List.concat_map of_declaration (Audit.declarations m.mod_units)

(** {1 Witnesses} *)

(** What a body calls and asserts, and what it must not have. *)
type body = { called : rsymbol list; asserted : Term.term list; faults : string list }

let nothing = { called = []; asserted = []; faults = [] }
let fault what = { nothing with faults = [ what ] }

let both a b =
  { called = a.called @ b.called; asserted = a.asserted @ b.asserted; faults = a.faults @ b.faults }

let rec in_expr e =
  match e.e_node with
  | Evar _ | Econst _ | Epure _ -> nothing
  | Eassert ((Assert | Check), t) -> { nothing with asserted = conjuncts t }
  | Eassert (Assume, _) -> fault "has an assume"
  | Eexec ({ c_node = Capp (rs, _); _ }, { cty_args = []; _ }) -> { nothing with called = [ rs ] }
  | Eexec ({ c_node = Capp _ | Cpur _; _ }, _) -> nothing
  | Eexec ({ c_node = Cany; _ }, _) -> fault "has an any"
  | Eexec ({ c_node = Cfun _; _ }, _) -> fault "has a function or a block with a contract in it"
  | Elet (LDvar (_, value), rest) -> both (in_expr value) (in_expr rest)
  | Elet ((LDsym _ | LDrec _), _) -> fault "has a function in it"
  | Eghost e -> in_expr e
  | Eif _ | Ematch _ -> fault "has a branch"
  | Ewhile _ | Efor _ -> fault "has a loop"
  | Eraise _ | Eexn _ -> fault "has an exception"
  | Eabsurd -> fault "has an absurd"
  | Eassign _ -> fault "changes a value"

type t = { rs : rsymbol; body : body }

(** An exception cannot come if the contract says [raises { E -> false }]. *)
let is_excluded posts =
  List.exists (fun post -> Term.t_equal (snd (Ity.open_post post)) Term.t_false) posts

let contract_faults rs =
  let cty = rs.rs_cty in
  let excluded exn = is_excluded (Ity.Mxs.find_def [] exn cty.cty_xpost) in
  let when_ holds what = if holds then [ what ] else [] in
  let is_unit (pv : Ity.pvsymbol) = Ity.ity_equal pv.pv_ity Ity.ity_unit in
  when_ (not (List.for_all is_unit cty.cty_args)) "has a parameter"
  @ when_ (cty.cty_pre <> []) "requires something itself"
  @ when_ (not (Ity.Mreg.is_empty cty.cty_effect.eff_writes)) "changes a value"
  @ when_ (not (Ity.Sxs.for_all excluded cty.cty_effect.eff_raises))
      "may end in an exception before its last call"

let witness (rs, c) =
  let body =
    match c.c_node with
    | Cfun e -> in_expr e
    | Capp _ | Cpur _ -> fault "is another name for a program"
    | Cany -> fault "has no body"
  in
  { rs; body = { body with faults = List.sort_uniq compare (contract_faults rs @ body.faults) } }

let covers conditional { body; _ } =
  body.faults = []
  &&
  match conditional.subject with
  | Program rs -> List.exists (rs_equal rs) body.called
  | Formula (holes, hypotheses) -> Matching.every ~holes hypotheses body.asserted

let witnesses (m : Pmodule.pmodule) =
  List.map witness (List.concat_map programs (Audit.declarations m.mod_units))

(** {1 Facts} *)

open Json_base

let is_witness_file file =
  String.starts_with ~prefix (Filename.basename file)

let place project (name : Ident.ident) =
  Json.place (Option.map (Project.position project) name.id_loc)

let conditional_facts project witnesses m conditional =
  let covering = List.filter (fun (_, w) -> covers conditional w) witnesses in
  let name (m, w) = (id m).id_string ^ "." ^ w.rs.rs_name.id_string in
  Record
    (place project conditional.name
    @ [ ("module", String (id m).id_string); ("name", String conditional.name.id_string);
        ("kind", String conditional.kind); ("count", Int conditional.count);
        ("witnesses", Json.strings (List.sort compare (List.map name covering))) ])

let fault_facts project (m, { rs; body }) =
  let record what =
    Record
      (place project rs.rs_name
      @ [ ("module", String (id m).id_string); ("name", String rs.rs_name.id_string);
          ("what", String what) ])
  in
  List.map record body.faults

(** [theories]: files with their modules, all of them: any witness may serve any theory. *)
let facts project theories =
  let of_all one = List.concat_map one theories in
  let modules (_, found) = Result.value found ~default:[] in
  let witnesses_of m = List.map (fun w -> (m, w)) (witnesses m) in
  let is_witness (file, _) = is_witness_file file in
  let all =
    List.concat_map
      (fun theory -> List.concat_map witnesses_of (modules theory))
      (List.filter is_witness theories)
  in
  let conditionals_of m = List.map (conditional_facts project all m) (conditionals m) in
  [ ( "hypotheses", List (of_all (fun theory -> List.concat_map conditionals_of (modules theory))) );
    ("witness_faults", List (List.concat_map (fault_facts project) all)) ]
