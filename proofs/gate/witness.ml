(** What asks for something, and which witness shows that it can be had, from Why3's own view of the
    typed modules.

    A program with [requires] and a lemma with hypotheses are true of nothing if nothing satisfies
    them. The witnesses are the programs of [why3/witness_*.mlw]: each names concrete values, and
    its verification condition says that they satisfy what is asked for.
    - A program is witnessed where it is called. A call within a formula checks nothing and does not
      count.
    - A lemma is witnessed where one choice of its variables makes each of its hypotheses equal to
      something that the witness asserts.

    Both hold only if every call and every assertion of the witness is reached whatever happens, and
    has nothing in front of it that is taken for granted: [faults] says what stands against that. *)

open Why3
open Expr

let directory = Project.theories_dir
let prefix = "witness_"

(** {1 Modules}

    Through the library of the environment, which reads a file once: a symbol that one theory
    defines and another one uses is then the same. *)

let id (m : Pmodule.pmodule) = m.mod_theory.Theory.th_name

let modules (project : Project.t) theory =
  let inside = Filename.remove_extension theory in
  let path = List.tl (String.split_on_char '/' inside) in
  let found = Env.read_library Pmodule.mlw_language project.env path in
  let before a b = compare (Option.map Loc.get (id a).id_loc) (Option.map Loc.get (id b).id_loc) in
  List.sort before (Wstdlib.Mstr.values found)

let rec declarations units =
  let inside = function
    | Pmodule.Udecl d -> [ d ]
    | Uscope (_, units) -> declarations units
    | Uuse _ | Uclone _ | Umeta _ -> []
  in
  List.concat_map inside units

(** Program symbols with what they are bound to. *)
let programs (d : Pdecl.pdecl) =
  match d.pd_node with
  | PDlet (LDsym (rs, c)) -> [ (rs, c) ]
  | PDlet (LDrec definitions) -> List.map (fun d -> (d.rec_sym, d.rec_fun)) definitions
  | PDlet (LDvar _) | PDtype _ | PDexn _ | PDpure -> []

(** {1 What asks for something} *)

type subject = Program of rsymbol | Formula of Term.Svs.t * Term.term list

type asking = { name : Ident.ident; kind : string; count : int; subject : subject }

(** Why3 writes [a by b] as [b \/ true -> a]. *)
let is_by_hint (t : Term.term) =
  match t.t_node with Tbinop (Tor, _, { t_node = Ttrue; _ }) -> true | _ -> false

let rec conjuncts (t : Term.term) =
  match t.t_node with
  | Tbinop (Tand, a, b) -> conjuncts a @ conjuncts b
  | Tbinop (Timplies, hint, a) when is_by_hint hint -> conjuncts a
  | _ -> [ t ]

(** The variables of a lemma and its hypotheses. *)
let rec hypotheses (t : Term.term) =
  match t.t_node with
  | Tquant (Tforall, quantified) ->
      let variables, _, t = Term.t_open_quant quantified in
      let holes, found = hypotheses t in
      (Term.Svs.union (Term.Svs.of_list variables) holes, found)
  | Tbinop (Timplies, hint, a) when is_by_hint hint -> hypotheses a
  | Tbinop (Timplies, a, b) ->
      let holes, found = hypotheses b in
      (holes, a :: found)
  | Tlet (value, bound) ->
      let variable, t = Term.t_open_bound bound in
      hypotheses (Term.t_subst_single variable value t)
  | _ -> (Term.Svs.empty, [])

let program_kind rs =
  match rs.rs_logic with
  | RLlemma -> "theorem"
  | RLls _ -> "definition"
  | RLnone | RLpv _ -> if Ity.cty_ghost rs.rs_cty then "definition" else "program"

let asking_program (rs, _) =
  match List.length rs.rs_cty.cty_pre with
  | 0 -> []
  | count -> [ { name = rs.rs_name; kind = program_kind rs; count; subject = Program rs } ]

let asking_formula (d : Decl.decl) =
  match d.d_node with
  | Dprop (((Plemma | Pgoal) as prop), pr, t) -> (
      match hypotheses t with
      | _, [] -> []
      | holes, found ->
          let kind = if prop = Plemma then "lemma" else "goal" in
          let subject = Formula (holes, List.concat_map conjuncts found) in
          [ { name = pr.pr_name; kind; count = List.length found; subject } ])
  | _ -> []

let askings (m : Pmodule.pmodule) =
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with
    | PDpure -> List.concat_map asking_formula d.pd_pure
    | _ -> List.concat_map asking_program (programs d)
  in
  List.concat_map of_declaration (declarations m.mod_units)

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

let covers asking { body; _ } =
  body.faults = []
  &&
  match asking.subject with
  | Program rs -> List.exists (rs_equal rs) body.called
  | Formula (holes, hypotheses) -> Matching.every ~holes hypotheses body.asserted

let witnesses (m : Pmodule.pmodule) =
  List.map witness (List.concat_map programs (declarations m.mod_units))

(** {1 Facts} *)

open Json_base

let is_witness_file file =
  String.starts_with ~prefix (Filename.basename file) && Filename.check_suffix file ".mlw"

(** All of them, whichever theories the facts are about. *)
let files () =
  let found = List.filter is_witness_file (Array.to_list (Sys.readdir directory)) in
  List.map (Filename.concat directory) (List.sort compare found)

let place project (name : Ident.ident) =
  Json.place (Option.map (Project.position project) name.id_loc)

let asking_facts project witnesses m asking =
  let covering = List.filter (fun (_, w) -> covers asking w) witnesses in
  let name (m, w) = (id m).id_string ^ "." ^ w.rs.rs_name.id_string in
  Record
    (place project asking.name
    @ [ ("module", String (id m).id_string); ("name", String asking.name.id_string);
        ("kind", String asking.kind); ("count", Int asking.count);
        ("witnesses", Json.strings (List.sort compare (List.map name covering))) ])

let fault_facts project (m, { rs; body }) =
  let record what =
    Record
      (place project rs.rs_name
      @ [ ("module", String (id m).id_string); ("name", String rs.rs_name.id_string);
          ("what", String what) ])
  in
  List.map record body.faults

(** A theory that cannot be read has no modules here; that it cannot be is said with its goals. *)
let readable project theory =
  match modules project theory with
  | found -> found
  | exception ((Sys.Break | Out_of_memory) as e) -> raise e
  | exception _ -> []

let facts project theories =
  let witnesses_of m = List.map (fun w -> (m, w)) (witnesses m) in
  let all =
    List.concat_map (fun file -> List.concat_map witnesses_of (readable project file)) (files ())
  in
  let askings_of m = List.map (asking_facts project all m) (askings m) in
  [ ( "hypotheses",
      List
        (List.concat_map
           (fun theory -> List.concat_map askings_of (readable project theory))
           theories) );
    ("witness_faults", List (List.concat_map (fault_facts project) all)) ]
