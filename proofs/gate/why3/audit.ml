(** The assumptions of the theories, from Why3's own view of the typed modules: everything without
    definition or proof, and everything that turns off a proof obligation.

    - [axiom];
    - a type, function, predicate or constant that is declared and not defined;
    - [val]: a program symbol without a body; [any]: an arbitrary value inside a body;
    - [assume]; [diverges] and [partial]: a program that is not proved to end;
      the attribute [vc:divergent], which drops the obligation to end;
    - [absurd]: a place that the program's goal has to prove unreachable;
    - [untold]: an effect, order, ghost part or inductive predicate that no statement shows;
    - [meta]: some change the prover's input ([syntax_logic], [infinite_type], [AC]).

    The gate decides which are allowed, and where. *)

open Why3
open Expr
open Pdecl

type item = { kind : string; name : string; loc : Loc.position option }

let divergent = Ident.create_attribute "vc:divergent"

(** {1 Programs} *)

let bound = function
  | LDsym (rs, c) -> [ (rs, c) ]
  | LDrec definitions -> List.map (fun d -> (d.rec_sym, d.rec_fun)) definitions
  | LDvar _ -> []

(** Program symbols with their definitions. *)
let programs d = match d.pd_node with PDlet definition -> bound definition | _ -> []

(** The functions that an expression calls, or defines for calls within it. *)
let callables e =
  match e.e_node with
  | Eexec (c, _) -> [ c ]
  | Elet (definition, _) -> List.map snd (bound definition)
  | _ -> []

(** Folds over all subexpressions, including those of local functions. *)
let rec fold f found e =
  let inside found c = match c.c_node with Cfun e -> fold f found e | _ -> found in
  e_fold (fold f) (List.fold_left inside (f found e) (callables e)) e

(** [owner]: the top-level symbol around the item. *)
let item kind (owner : Ident.ident) loc = { kind; name = Name.with_scopes owner; loc }

let of_ident kind (id : Ident.ident) = item kind id id.id_loc

let termination owner rs =
  match rs.rs_cty.cty_effect.eff_oneway with
  | Ity.Total -> []
  | Ity.Partial -> [ item "partial" owner rs.rs_name.id_loc ]
  | Ity.Diverges -> [ item "diverges" owner rs.rs_name.id_loc ]

let in_expr owner =
  let any loc c = if c.c_node = Cany then [ item "any" owner loc ] else [] in
  let local (rs, c) = any rs.rs_name.id_loc c @ termination owner rs in
  let here found e =
    let is_divergent = Ident.Sattr.mem divergent e.e_attrs in
    let own =
      match e.e_node with
      | Eabsurd -> [ item "absurd" owner e.e_loc ]
      | Eassert (Assume, _) -> [ item "assume" owner e.e_loc ]
      | Eexec (c, _) -> any e.e_loc c
      | Elet (definition, _) -> List.concat_map local (bound definition)
      | _ -> []
    in
    found @ (if is_divergent then [ item "vc:divergent" owner e.e_loc ] else []) @ own
  in
  fold here []

(** {1 Top-level definitions} *)

(** [val constant] is a function without arguments and without a body. *)
let is_val = function
  | { c_node = Cany; _ } -> true
  | { c_node = Cfun { e_node = Eexec ({ c_node = Cany; _ }, _); _ }; _ } -> true
  | _ -> false

(** Whether a program does more than read and write its arguments themselves, and return new memory:
    statements show no other effect. Results with a ghost part count, too. *)
let has_untold_effect rs ({ cty_effect = effects; _ } as cty : Ity.cty) =
  let open Ity in
  let own ity = match ity.ity_node with Ityreg r -> Sreg.singleton r | _ -> Sreg.empty in
  let given = List.map (fun pv -> pv.pv_ity) cty.cty_args in
  let share (known, shared) ity =
    let regions = ity_freeregs Sreg.empty ity in
    (Sreg.union known regions, shared || not (Sreg.disjoint known regions))
  in
  let written = Mreg.map ignore effects.eff_writes in
  let may_write = List.fold_left Sreg.union Sreg.empty (List.map own given) in
  snd (List.fold_left share (Sreg.empty, false) (cty.cty_result :: given))
  || not (Spv.is_empty (cty_reads cty))
  || not (Sreg.subset (Sreg.union written effects.eff_taints) may_write)
  || not (Sreg.subset written effects.eff_covers)
  || not (Sreg.subset effects.eff_resets (own cty.cty_result))
  || not (rs_ghost rs || cty.cty_mask = MaskVisible)

let untold is_so id = if is_so then [ of_ident "untold" id ] else []

let in_symbol (rs, c) =
  let inside =
    match c.c_node with
    | _ when is_val c -> [ of_ident "val" rs.rs_name ]
    | Cfun e -> in_expr rs.rs_name e
    | _ -> []
  in
  inside @ termination rs.rs_name rs @ untold (has_untold_effect rs c.c_cty) rs.rs_name

(** The order that a variant names is untold: no statement shows it. *)
let in_program = function
  | LDvar ({ pv_vs = { vs_name; _ }; _ }, { e_node = Eexec ({ c_node = Cany; _ }, _); _ }) ->
      [ of_ident "val" vs_name ]
  | LDvar (pv, e) -> in_expr pv.pv_vs.vs_name e
  | LDsym (rs, c) -> in_symbol (rs, c)
  | LDrec definitions ->
      let has_order d = List.exists (fun (_, order) -> order <> None) d.rec_varl in
      let of_one d = in_symbol (d.rec_sym, d.rec_fun) @ untold (has_order d) d.rec_sym.rs_name in
      List.concat_map of_one definitions

let in_type definition =
  let its = definition.itd_its in
  let name = its.Ity.its_ts.Ty.ts_name in
  let defined =
    match its.its_def with
    | Ty.NoDef -> definition.itd_constructors <> [] && not its.its_private
    | Ty.Alias _ | Ty.Range _ | Ty.Float _ -> true
  in
  (if defined then [] else [ of_ident "type without definition" name ])
  @ Option.fold ~none:[] ~some:(in_expr name) definition.itd_witness

let in_pure (d : Decl.decl) =
  match d.d_node with
  | Dprop (Paxiom, pr, _) -> [ of_ident "axiom" pr.pr_name ]
  | Dparam ls -> [ of_ident "symbol without definition" ls.ls_name ]
  | Dtype { ts_name; ts_def = NoDef; _ } -> [ of_ident "type without definition" ts_name ]
  | Dind (_, l) -> List.concat_map (fun ((ls : Term.lsymbol), _) -> untold true ls.ls_name) l
  | Dtype _ | Ddata _ | Dlogic _ | Dprop ((Plemma | Pgoal), _, _) -> []

(** The pure half of a type or program declaration only restates the other half. *)
let in_declaration d =
  match d.pd_node with
  | PDtype definitions -> List.concat_map in_type definitions
  | PDlet definition -> in_program definition
  | PDexn xs -> untold (Ity.mask_ghost xs.xs_mask) xs.xs_name
  | PDpure -> List.concat_map in_pure d.pd_pure

(** {1 Modules} *)

let id (m : Pmodule.pmodule) = m.mod_theory.Theory.th_name

(** From 1.6.0 on, Why3 declares a program for each lemma, so that programs can call it. No name in
    a source can have this ending. *)
let is_made_of_lemma rs = String.ends_with ~suffix:"'lemma" rs.rs_name.id_string

(** The units of a module, in scopes too, without the programs that Why3 makes of lemmas. *)
let units (m : Pmodule.pmodule) =
  let rec inside = function
    | Pmodule.Uscope (_, units) -> List.concat_map inside units
    | Udecl { pd_node = PDlet (LDsym (rs, _)); _ } when is_made_of_lemma rs -> []
    | unit -> [ unit ]
  in
  List.concat_map inside m.mod_units

let declarations m =
  List.filter_map (function Pmodule.Udecl d -> Some d | _ -> None) (units m)

let place m = Option.map Api.start (id m).Ident.id_loc

(** All names that a module declares, also by clones. *)
let declared m =
  let add found (d : Pdecl.pdecl) = Ident.Sid.union found d.pd_news in
  List.fold_left add Ident.Sid.empty (declarations m)

(** The lemmas that a declaration states, without those that Why3 adds for types and programs. *)
let lemmas d =
  let lemma (d : Decl.decl) =
    match d.d_node with Dprop (Plemma, pr, _) -> Some pr.pr_name | _ -> None
  in
  match d.pd_node with PDpure -> List.filter_map lemma d.pd_pure | _ -> []

let items m =
  let in_unit = function
    | Pmodule.Udecl d -> in_declaration d
    | Umeta (meta, _) -> [ { kind = "meta"; name = meta.Theory.meta_name; loc = None } ]
    | Uuse _ | Uclone _ | Uscope _ -> []
  in
  List.concat_map in_unit (units m)

(** The modules that a module uses, with [false], or clones, with [true]. *)
let used_by m =
  let used = function
    | Pmodule.Uuse m -> Some (m, false)
    | Uclone instance -> Some (instance.mi_mod, true)
    | Uscope _ | Udecl _ | Umeta _ -> None
  in
  List.filter_map used (units m)

(** The modules of a theory file in the order of the source, or the errors in it. Why3 reads a file
    once for all theories that use it, so a symbol is the same everywhere. *)
let modules (project : Project.t) theory =
  let path = Project.library_path theory in
  let by_place a b = compare (place a) (place b) in
  match Project.attempt (fun () -> Env.read_library Pmodule.mlw_language project.env path) with
  | Ok found -> Ok (List.sort by_place (Wstdlib.Mstr.values found))
  | Error e -> Error (Project.errors project e)

(** The file of a module, by the module's path: positions in sources can be forged. Why3's built-in
    modules have no file. *)
let file (project : Project.t) (m : Pmodule.pmodule) =
  match m.mod_theory.th_path with
  | [] | "why3" :: _ -> None
  | path -> Some (Project.relative project (Env.locate_library project.env path))

(** The full name of a module: [seq.Seq], [why3.Bool]. *)
let name (m : Pmodule.pmodule) =
  String.concat "." (m.mod_theory.th_path @ [ (id m).id_string ])

let is_ours project m =
  match file project m with None -> false | Some file -> Filename.is_relative file

open Json

let item_facts project m item =
  Record
    ([ ("kind", String item.kind); ("module", String (id m).id_string); ("name", String item.name) ]
    @ place project item.loc)

let use_facts project (m, cloned) =
  Record
    [ ("module", String (name m)); ("file", text (file project m)); ("cloned", Bool cloned) ]

let facts project theory modules =
  let found = Result.value modules ~default:[] in
  let assumed m = List.map (item_facts project m) (items m) in
  let uses = List.map (use_facts project) (List.concat_map used_by found) in
  Record
    [ ("file", String theory); ("errors", texts (match modules with Ok _ -> [] | Error e -> e));
      ("assumed", List (List.concat_map assumed found));
      ("uses", List (List.sort_uniq compare uses)) ]
