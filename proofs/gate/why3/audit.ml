(** What the theories take for granted, from Why3's own view of the typed modules: everything that
    has no definition and no proof, and everything that turns a proof obligation off.

    - [axiom];
    - a type, function, predicate or constant that is declared and not defined;
    - [val]: a program symbol without a body; [any]: an arbitrary value inside a body;
    - [assume]; [diverges] and [partial]: a program that is not proved to end;
      the attribute [vc:divergent], which drops the obligation to end;
    - [absurd]: a place that is not reached, by a claim that the goal of its program has to prove;
    - [meta], as some change what a prover is told ([syntax_logic], [infinite_type], [AC]).

    Which of them are allowed, and where, is for the gate to say. *)

open Why3
open Expr
open Pdecl

type item = { kind : string; name : string; loc : Loc.position option }

let divergent = Ident.create_attribute "vc:divergent"

(** {1 Programs} *)

let unnamed kind loc = { kind; name = ""; loc }

let termination rs =
  match rs.rs_cty.cty_effect.eff_oneway with
  | Ity.Total -> []
  | Ity.Partial -> [ unnamed "partial" rs.rs_name.id_loc ]
  | Ity.Diverges -> [ unnamed "diverges" rs.rs_name.id_loc ]

let rec in_expr e =
  let attribute =
    if Ident.Sattr.mem divergent e.e_attrs then [ unnamed "vc:divergent" e.e_loc ] else []
  in
  attribute @ in_node e

and in_node e =
  match e.e_node with
  | Evar _ | Econst _ | Eassign _ | Epure _ -> []
  | Eabsurd -> [ unnamed "absurd" e.e_loc ]
  | Eassert (Assume, _) -> [ unnamed "assume" e.e_loc ]
  | Eassert ((Assert | Check), _) -> []
  | Eexec ({ c_node = Cany; _ }, _) -> [ unnamed "any" e.e_loc ]
  | Eexec (c, _) -> in_callable ~loc:e.e_loc c
  | Eghost e | Eraise (_, e) | Eexn (_, e) | Efor (_, _, _, _, e) -> in_expr e
  | Elet (definition, e) -> in_local definition @ in_expr e
  | Eif (a, b, c) -> in_expr a @ in_expr b @ in_expr c
  | Ewhile (a, _, _, b) -> in_expr a @ in_expr b
  | Ematch (e, branches, handlers) ->
      let handlers = Ity.Mxs.values handlers in
      in_expr e
      @ List.concat_map (fun (_, e) -> in_expr e) branches
      @ List.concat_map (fun (_, e) -> in_expr e) handlers

and in_callable ~loc c =
  match c.c_node with
  | Capp _ | Cpur _ -> []
  | Cfun e -> in_expr e
  | Cany -> [ unnamed "any" loc ]

and in_local = function
  | LDvar (_, e) -> in_expr e
  | LDsym (rs, c) -> in_function rs c
  | LDrec definitions -> List.concat_map (fun d -> in_function d.rec_sym d.rec_fun) definitions

and in_function rs c = in_callable ~loc:rs.rs_name.id_loc c @ termination rs

(** {1 Top-level definitions} *)

let of_ident kind (id : Ident.ident) = { kind; name = Name.with_scopes id; loc = id.id_loc }

let named id item = { item with name = Name.with_scopes id }

(** [val constant] is a function without arguments around the missing value. *)
let is_val = function
  | { c_node = Cany; _ } -> true
  | { c_node = Cfun { e_node = Eexec ({ c_node = Cany; _ }, _); _ }; _ } -> true
  | _ -> false

let in_symbol rs c =
  let found =
    if is_val c then unnamed "val" rs.rs_name.id_loc :: termination rs else in_function rs c
  in
  List.map (named rs.rs_name) found

let in_variable (pv : Ity.pvsymbol) e =
  match e.e_node with
  | Eexec ({ c_node = Cany; _ }, _) -> [ of_ident "val" pv.pv_vs.vs_name ]
  | _ -> List.map (named pv.pv_vs.vs_name) (in_expr e)

let in_program = function
  | LDvar (pv, e) -> in_variable pv e
  | LDsym (rs, c) -> in_symbol rs c
  | LDrec definitions -> List.concat_map (fun d -> in_symbol d.rec_sym d.rec_fun) definitions

let in_type definition =
  let its = definition.itd_its in
  let name = its.Ity.its_ts.Ty.ts_name in
  let defined =
    match its.its_def with
    | Ty.NoDef -> definition.itd_constructors <> [] && not its.its_private
    | Ty.Alias _ | Ty.Range _ | Ty.Float _ -> true
  in
  let witness = match definition.itd_witness with None -> [] | Some e -> in_expr e in
  (if defined then [] else [ of_ident "type without definition" name ]) @ witness

let in_pure (d : Decl.decl) =
  match d.d_node with
  | Dprop (Paxiom, pr, _) -> [ of_ident "axiom" pr.pr_name ]
  | Dparam ls -> [ of_ident "symbol without definition" ls.ls_name ]
  | Dtype { ts_name; ts_def = NoDef; _ } -> [ of_ident "type without definition" ts_name ]
  | Dtype _ | Ddata _ | Dlogic _ | Dind _ | Dprop ((Plemma | Pgoal), _, _) -> []

(** The pure half of a type or program declaration restates what Why3 proves of it. *)
let in_declaration d =
  match d.pd_node with
  | PDtype definitions -> List.concat_map in_type definitions
  | PDlet definition -> in_program definition
  | PDexn _ -> []
  | PDpure -> List.concat_map in_pure d.pd_pure

let rec in_unit = function
  | Pmodule.Udecl d -> in_declaration d
  | Uuse _ | Uclone _ -> []
  | Umeta (meta, _) -> [ { kind = "meta"; name = meta.Theory.meta_name; loc = None } ]
  | Uscope (_, units) -> List.concat_map in_unit units

(** {1 Modules} *)

let id (m : Pmodule.pmodule) = m.mod_theory.Theory.th_name

let rec declarations units =
  let inside = function
    | Pmodule.Udecl d -> [ d ]
    | Uscope (_, units) -> declarations units
    | Uuse _ | Uclone _ | Umeta _ -> []
  in
  List.concat_map inside units

(** All that a module declares itself, what it has by clones included. *)
let declared (m : Pmodule.pmodule) =
  let add found (d : Pdecl.pdecl) = Ident.Sid.union found d.pd_news in
  List.fold_left add Ident.Sid.empty (declarations m.mod_units)

(** Each with whether it is cloned: a pattern, of which this module has an instance. *)
let rec used_by = function
  | Pmodule.Uuse m -> [ (m, false) ]
  | Uclone instance -> [ (instance.mi_mod, true) ]
  | Uscope (_, units) -> List.concat_map used_by units
  | Udecl _ | Umeta _ -> []

let in_order modules =
  let before a b = compare (Option.map Loc.get (id a).Ident.id_loc) (Option.map Loc.get (id b).Ident.id_loc) in
  List.sort before (Wstdlib.Mstr.values modules)

(** The modules of a theory file in the order of the source, or why it cannot be read. Read as the
    theories that use it read it, once for all of them: a symbol that one defines and another one
    uses is then the same. *)
let modules (project : Project.t) theory =
  let read () =
    Env.read_library Pmodule.mlw_language project.env (Project.library_path theory)
  in
  match Project.attempt read with
  | Ok found -> Ok (in_order found)
  | Error e -> Error (Project.errors project e)

(** The file that a module stands in: where its path leads, whatever its source says of its place.
    Those that Why3 is born with stand in none. *)
let file (project : Project.t) (m : Pmodule.pmodule) =
  match m.mod_theory.th_path with
  | [] | "why3" :: _ -> None
  | path -> Some (Project.relative project (Env.locate_library project.env path))

(** [seq.Seq]; [why3.Bool]. *)
let name (m : Pmodule.pmodule) =
  String.concat "." (m.mod_theory.th_path @ [ (id m).id_string ])

let is_ours project m =
  match file project m with None -> false | Some file -> Filename.is_relative file

let items (m : Pmodule.pmodule) = List.concat_map in_unit m.mod_units

open Json

let item_facts project m item =
  Record
    ([ ("kind", String item.kind); ("module", String (id m).id_string); ("name", String item.name) ]
    @ place project item.loc)

let use_facts project user (m, cloned) =
  Record
    [ ("module", String (name m)); ("file", text (file project m));
      ("by", String (name user)); ("cloned", Bool cloned) ]

let module_facts project (m : Pmodule.pmodule) =
  let used = List.concat_map used_by m.mod_units in
  (List.map (item_facts project m) (items m), List.map (use_facts project m) used)

let facts project theory modules =
  let errors, found =
    match modules with Error errors -> (errors, []) | Ok modules -> ([], modules)
  in
  let assumed, used = List.split (List.map (module_facts project) found) in
  Record
    [ ("file", String theory); ("errors", texts errors);
      ("assumed", List (List.concat assumed));
      ("uses", List (List.sort_uniq compare (List.concat used))) ]
