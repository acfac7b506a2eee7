(** What every goal says and what every symbol of the theories means, in WhyML, from Why3's own view
    of the typed modules.

    A lemma says its formula; a definition is all of itself; a program says its contract. Each is
    printed for itself, so that nothing but its meaning and its names can change its text: neither
    its place nor what else is read. *)

open Why3
open Format
open Expr
open Pdecl

type t = {
  id : Ident.ident;
  kind : string;
  ghost : bool;
  statement : string;
  hypotheses : int;  (** of a program or theorem its [requires], of a lemma what it supposes *)
  nothing : bool;  (** see [Nothing]; a program that promises nothing says its type *)
  goal_kind : string option;  (** of the goal that this is, or that has this name and ['vc] *)
}

let margin = 88

let text print =
  let buffer = Buffer.create 256 in
  let fmt = formatter_of_buffer buffer in
  pp_set_geometry fmt ~max_indent:(margin - 10) ~margin;
  print fmt;
  pp_print_flush fmt ();
  let trimmed line = Re.Str.global_replace (Re.Str.regexp " +$") "" line in
  String.concat "\n" (List.map trimmed (String.split_on_char '\n' (Buffer.contents buffer)))

(** {1 Programs} *)

let symbol_kind rs c =
  match rs.rs_logic with
  | _ when Audit.is_val c -> "val"
  | RLlemma -> "theorem"
  | RLls { ls_value = None; _ } -> "predicate"
  | RLls _ -> if c.c_cty.cty_args = [] then "constant" else "function"
  | RLnone | RLpv _ -> "program"

let of_symbol printer ~recursive (rs, c, variants) =
  let kind = symbol_kind rs c in
  let word = if kind = "val" then "val" else if recursive then "let rec" else "let" in
  let cty = c.c_cty in
  let promises = List.map (fun post -> snd (Ity.open_post post)) cty.cty_post in
  let nothing = Nothing.of_promises ~required:cty.cty_pre promises in
  let goal_kind =
    match kind with
    | "val" -> None
    | "theorem" -> Some kind
    | "program" when not (rs_ghost rs) -> Some kind
    | _ -> Some "definition"
  in
  { id = rs.rs_name; kind; ghost = rs_ghost rs;
    statement = text (fun fmt -> Contract.print (printer ()) fmt word (rs, c, variants));
    hypotheses = List.length cty.cty_pre;
    nothing = nothing || (kind = "theorem" && promises = []); goal_kind }

let of_variable printer (pv : Ity.pvsymbol) =
  let t = printer () in
  let print fmt = fprintf fmt "let %a" (Whyml.binders t) [ pv.pv_vs ] in
  { id = pv.pv_vs.vs_name; kind = "program"; ghost = pv.pv_ghost; statement = text print;
    hypotheses = 0; nothing = false; goal_kind = Some "program" }

let of_let printer = function
  | LDvar (pv, _) -> [ of_variable printer pv ]
  | LDsym (rs, c) -> [ of_symbol printer ~recursive:false (rs, c, []) ]
  | LDrec definitions ->
      let inside = List.map (fun d -> (d.rec_rsym, d.rec_sym)) definitions in
      let outside = List.fold_left (fun m (a, b) -> Mrs.add a b m) Mrs.empty inside in
      let one d = (d.rec_sym, c_rs_subst outside d.rec_fun, d.rec_varl) in
      List.map (fun d -> of_symbol printer ~recursive:true (one d)) definitions

(** {1 Logic} *)

let rec hypotheses f =
  match (Formulas.strip f).t_node with
  | Tquant (Tforall, bound) ->
      let _, _, body = Term.t_open_quant bound in
      hypotheses body
  | Tlet (value, bound) -> hypotheses (Term.t_open_bound_with value bound)
  | Tbinop (Timplies, _, conclusion) -> 1 + hypotheses conclusion
  | _ -> 0

let plain id kind print =
  { id; kind; ghost = false; statement = text print; hypotheses = 0; nothing = false;
    goal_kind = None }

let of_proposition printer kind (pr : Decl.prsymbol) f =
  let kind = match kind with Decl.Plemma -> "lemma" | Pgoal -> "goal" | Paxiom -> "axiom" in
  let print fmt = Terms.formula (printer ()) fmt f in
  { (plain pr.pr_name kind print) with
    hypotheses = hypotheses f; nothing = Nothing.of_formula f;
    goal_kind = (if kind = "axiom" then None else Some kind) }

let of_logic printer ((ls : Term.lsymbol), definition) =
  let kind = Definition.kind ls in
  plain ls.ls_name kind (fun fmt -> Definition.logic (printer ()) fmt ls definition)

let of_pure printer (d : Decl.decl) =
  match d.d_node with
  | Dprop (kind, pr, f) -> [ of_proposition printer kind pr f ]
  | Dlogic definitions -> List.map (fun (ls, d) -> of_logic printer (ls, Some d)) definitions
  | Dparam ls -> [ of_logic printer (ls, None) ]
  | Dind (sign, definitions) ->
      let one ((ls : Term.lsymbol), cases) =
        plain ls.ls_name "predicate" (fun fmt ->
            Definition.inductive (printer ()) fmt sign ls cases)
      in
      List.map one definitions
  | Dtype _ | Ddata _ -> []

(** {1 Modules} *)

let of_type printer d =
  let print fmt = Definition.data (printer ()) fmt d in
  { (plain d.itd_its.its_ts.ts_name "type" print) with goal_kind = Some "definition" }

let of_declaration printer d =
  match d.pd_node with
  | PDtype definitions -> List.map (of_type printer) definitions
  | PDlet definition -> of_let printer definition
  | PDexn xs ->
      let print fmt = Definition.exception_ (printer ()) fmt xs in
      [ plain xs.xs_name "exception" print ]
  | PDpure -> List.concat_map (of_pure printer) d.pd_pure

let rec of_unit printer = function
  | Pmodule.Udecl d -> of_declaration printer d
  | Uuse _ | Uclone _ | Umeta _ -> []
  | Uscope (_, units) -> List.concat_map (of_unit printer) units

(** In the order of the source. *)
let of_module (m : Pmodule.pmodule) =
  let names = Names.seen_by m in
  let printer () = Whyml.create names m.mod_theory.th_known in
  List.concat_map (of_unit printer) m.mod_units

(** {1 Facts} *)

open Json_base

type source = { file : string; m : Pmodule.pmodule; symbol : t }

(** All symbols of the theories that can be read. *)
let all theories =
  let of_module file m = List.map (fun symbol -> { file; m; symbol }) (of_module m) in
  let of_theory (file, modules) =
    List.concat_map (of_module file) (Result.value modules ~default:[])
  in
  List.concat_map of_theory theories

let module_name m = m.Pmodule.mod_theory.th_name.id_string

let full_name symbol = Names.with_scopes symbol.id

(** By module and goal. The goal of a symbol has its name with ['vc]. *)
let by_goal sources =
  let table = Hashtbl.create 997 in
  let add goal { m; symbol; _ } = Hashtbl.replace table (module_name m, goal) symbol in
  let add source =
    match source.symbol.goal_kind with
    | None -> ()
    | Some ("lemma" | "goal") -> add (full_name source.symbol) source
    | Some _ -> add (full_name source.symbol ^ "'vc") source
  in
  List.iter add sources;
  table

(** Empty where the theory cannot be read. *)
let goal_facts table m goal =
  let record statement kind nothing =
    [ ("statement", String statement); ("kind", String kind); ("says_nothing", Bool nothing) ]
  in
  match Hashtbl.find_opt table (m, goal) with
  | Some { statement; goal_kind = Some kind; nothing; _ } -> record statement kind nothing
  | Some _ | None -> record "" "" false

(** The line is that of the file; what is cloned from another file has none. *)
let symbol_facts project { file; m; symbol = s } =
  let line =
    match Option.map (Project.position project) s.id.id_loc with
    | Some (at, line) when at = file -> Int line
    | _ -> Null
  in
  Record
    [ ("file", String file); ("line", line); ("module", String (module_name m));
      ("name", String (full_name s)); ("kind", String s.kind); ("ghost", Bool s.ghost);
      ("statement", String s.statement); ("hypotheses", Int s.hypotheses) ]
