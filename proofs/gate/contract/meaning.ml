(** The meaning of a symbol of the logic: its definition in the typed modules.

    A function or predicate is defined in the logic, or is a program that formulas may use, [let
    function]. A constructor belongs to a type, a field to a constructor or an abstract type. *)

open Why3
open Term

type definition = { parameters : vsymbol list; required : term list; value : term }

type constructor = {
  symbol : lsymbol;
  made : Ty.tysymbol;
  name : string;
  fields : string list;
}

(** [fields] maps a projection to its component's name; [abstract], a type without definition to its
    projections. *)
type t = {
  definitions : definition Mls.t;
  constructors : constructor Mls.t;
  fields : string Mls.t;
  types : (lsymbol * lsymbol option list) list Ty.Mts.t;
  abstract : lsymbol list Ty.Mts.t;
}

let none =
  { definitions = Mls.empty; constructors = Mls.empty; fields = Mls.empty; types = Ty.Mts.empty;
    abstract = Ty.Mts.empty }

(** {1 Definitions} *)

let define ls definition found =
  { found with definitions = Mls.add ls definition found.definitions }

let of_logic found (ls, definition) =
  let parameters, value = Decl.open_ls_defn definition in
  define ls { parameters; required = []; value } found

(** Whether a precondition comes from the source. Why3 adds those named [DECR ...], for recursive
    calls. *)
let is_stated (t : term) =
  match t.t_node with
  | Tapp (ls, _) -> not (String.starts_with ~prefix:"DECR " ls.ls_name.id_string)
  | _ -> true

let of_program found ((rs : Expr.rsymbol), (c : Expr.cexp)) =
  match (rs.rs_logic, Statement.value rs c) with
  | RLls ls, Some value ->
      let parameters = List.map (fun (pv : Ity.pvsymbol) -> pv.pv_vs) c.c_cty.cty_args in
      define ls { parameters; required = List.filter is_stated c.c_cty.cty_pre; value } found
  | _ -> found

(** {1 Types} *)

(** The Python class of a constructor. A record's constructor, [violation'mk], takes the name of its
    type; [None], which Python uses itself, becomes [Nothing]. *)
let class_name (ts : Ty.tysymbol) (ls : lsymbol) =
  let word = ls.ls_name.id_string in
  let word = if String.ends_with ~suffix:"'mk" word then ts.ts_name.id_string else word in
  if word = "None" then "Nothing" else String.capitalize_ascii word

let of_type found ((ts : Ty.tysymbol), constructors) =
  let field i = function
    | Some (projection : lsymbol) -> projection.ls_name.id_string
    | None -> Printf.sprintf "item%d" i
  in
  let of_constructor found (ls, projections) =
    let fields = List.mapi field projections in
    let add all projection name =
      Option.fold ~none:all ~some:(fun ls -> Mls.add ls name all) projection
    in
    { found with
      constructors = Mls.add ls { symbol = ls; made = ts; name = class_name ts ls; fields } found.constructors;
      fields = List.fold_left2 add found.fields projections fields }
  in
  let found = List.fold_left of_constructor found constructors in
  { found with types = Ty.Mts.add ts constructors found.types }

(** {1 Modules} *)

let of_pure found (d : Decl.decl) =
  match d.d_node with
  | Dlogic definitions -> List.fold_left of_logic found definitions
  | Ddata types -> List.fold_left of_type found types
  | Dtype _ | Dparam _ | Dind _ | Dprop _ -> found

let of_let found = function
  | Expr.LDvar _ -> found
  | LDsym (rs, c) -> of_program found (rs, c)
  | LDrec definitions ->
      let inside = List.map (fun (d : Expr.rec_defn) -> (d.rec_rsym, d.rec_sym)) definitions in
      let outside = List.fold_left (fun m (a, b) -> Expr.Mrs.add a b m) Expr.Mrs.empty inside in
      let one found (d : Expr.rec_defn) =
        of_program found (d.rec_sym, Expr.c_rs_subst outside d.rec_fun)
      in
      List.fold_left one found definitions

(** The fields of an abstract type. *)
let projections (its : Pdecl.its_defn) =
  let projection (rs : Expr.rsymbol) =
    match rs.rs_logic with RLls ls -> Some ls | RLnone | RLlemma | RLpv _ -> None
  in
  List.filter_map projection its.itd_fields

let of_abstract found (its : Pdecl.its_defn) =
  let ts = its.itd_its.Ity.its_ts in
  let add all (ls : lsymbol) = Mls.add ls ls.ls_name.id_string all in
  if Ty.Mts.mem ts found.types || ts.ts_def <> NoDef then found
  else
    let seen = projections its in
    { found with
      abstract = Ty.Mts.add ts seen found.abstract;
      fields = List.fold_left add found.fields seen }

let of_declaration found (d : Pdecl.pdecl) =
  match d.pd_node with
  | PDlet definition -> of_let found definition
  | PDtype types -> List.fold_left of_abstract (List.fold_left of_pure found d.pd_pure) types
  | PDpure -> List.fold_left of_pure found d.pd_pure
  | PDexn _ -> found

(** The definitions of all modules that some modules reach. *)
let of_modules modules =
  let add found (m : Pmodule.pmodule) =
    List.fold_left of_declaration found (Audit.declarations m)
  in
  List.fold_left add none (Library.reached modules)
