(** What every goal claims and every symbol of the theories means, in WhyML as Why3 prints it.

    A lemma says its formula; a definition all of itself; a program its contract. Each is printed for
    itself, without attributes and without the proof that its author wrote beside it, so that nothing
    but its meaning and its names can change its text. Since a name may stand for several symbols,
    the symbols that occur are given as well, resolved: [seq.Seq.length]. *)

open Why3
open Format
open Expr
open Pdecl

type t = {
  id : Ident.ident;
  kind : string;
  ghost : bool;
  statement : string;
  names : string list;
  goal : string option;  (** the name of the goal that has to be there *)
  template : string option;  (** what it is an instance of, which has the goal *)
  nothing : bool;  (** see [Nothing]; a lemma function that promises nothing is one more *)
}

(** {1 Formulas} *)

(** The formula without the proof beside it, [A by B] and [A so B] being [A], and without the
    attributes that only name or place something; those that give an operator its form stay. *)
let rec bare (f : Term.term) =
  let is_step (side : Term.term) =
    match side.t_node with
    | Tbinop (Tor, step, { t_node = Ttrue; _ }) -> Ident.Sattr.mem Term.asym_split step.t_attrs
    | _ -> false
  in
  match f.t_node with
  | Tbinop (Timplies, step, claim) when is_step step -> bare claim
  | Tbinop (Tand, claim, step) when is_step step -> bare claim
  | _ ->
      let kept = Ident.Sattr.filter (Ident.attr_equal Term.asym_split) f.t_attrs in
      Term.t_attr_set kept (Term.t_map bare f)

(** Names of symbols in the order in which they occur: the text has [below] and [below1] for two
    symbols of one name, and only the order tells which is which. *)
let resolved idents =
  let add found id =
    match Name.resolved id with
    | Some name when not (List.mem name found) -> name :: found
    | _ -> found
  in
  List.rev (List.fold_left add [] idents)

let in_types types =
  let add found ts = ts.Ty.ts_name :: found in
  List.rev (List.fold_left (Ty.ty_s_fold add) [] types)

(** Types included. *)
let in_terms terms =
  let add_type found ts = ts.Ty.ts_name :: found in
  let add found ls = ls.Term.ls_name :: found in
  List.rev (List.fold_left (Term.t_s_fold (Ty.ty_s_fold add_type) add) [] terms)

(** {1 Texts} *)

let margin = 96

let text print x =
  let buffer = Buffer.create 256 in
  let fmt = formatter_of_buffer buffer in
  pp_set_geometry fmt ~max_indent:(margin - 10) ~margin;
  (* Names are numbered in the order in which they are met: each text begins anew. *)
  Pretty.forget_all ();
  print fmt x;
  pp_print_flush fmt ();
  String.trim (Buffer.contents buffer)

let list print = Pp.print_list Pp.newline print

let formula = text Pretty.print_term

(** All parameters of a ghost symbol are ghost. *)
let parameter ~in_ghost fmt (pv : Ity.pvsymbol) =
  let ghost = if pv.pv_ghost && not in_ghost then "ghost " else "" in
  fprintf fmt "(%s%a)" ghost Pretty.print_vsty pv.pv_vs

let clause word fmt f = fprintf fmt "  %s { @[%a@] }" word Pretty.print_term (bare f)

let post word fmt f =
  let v, f = Ity.open_post f in
  let result fmt (v : Term.vsymbol) =
    if Term.t_v_occurs v f > 0 then fprintf fmt "%a -> " Pretty.print_vs v
  in
  fprintf fmt "  %s { @[%a%a@] }" word result v Pretty.print_term (bare f);
  Pretty.forget_var v

(** By name: Why3 keeps them in an order that depends on what else is loaded. *)
let exceptions (cty : Ity.cty) =
  let silent xs posts = if Ity.Mxs.mem xs posts then posts else Ity.Mxs.add xs [] posts in
  let all = Ity.Sxs.fold silent cty.cty_effect.eff_raises cty.cty_xpost in
  let name ((xs : Ity.xsymbol), _) = (xs.xs_name.id_string, Name.resolved xs.xs_name) in
  List.sort (fun a b -> compare (name a) (name b)) (Ity.Mxs.bindings all)

let raises fmt ((xs : Ity.xsymbol), posts) =
  let name = xs.xs_name.id_string in
  if posts = [] then fprintf fmt "  raises { %s }" name
  else list (fun fmt f -> post (sprintf "raises %s" name) fmt f) fmt posts

let contract ?(variants = []) word (rs : rsymbol) fmt (cty : Ity.cty) =
  let written pv = Ity.pv_affected cty.cty_effect.eff_writes pv in
  let old fmt ((o : Ity.pvsymbol), (pv : Ity.pvsymbol)) =
    fprintf fmt "  old %a = %a" Pretty.print_vs pv.pv_vs Pretty.print_vs o.pv_vs
  in
  let variant fmt (t, order) =
    let by fmt (ls : Term.lsymbol) = fprintf fmt " with %s" ls.ls_name.id_string in
    fprintf fmt "  variant { %a%a }" Pretty.print_term (bare t) (Pp.print_option by) order
  in
  fprintf fmt "@[<hov 4>%s %a%a :@ %a@]" word Ident.print_decoded rs.rs_name.id_string
    (Pp.print_list Pp.nothing (fun fmt pv -> fprintf fmt "@ %a" (parameter ~in_ghost:(rs_ghost rs)) pv))
    cty.cty_args Pretty.print_ty (Ity.ty_of_ity cty.cty_result);
  let all print lines = List.iter (fprintf fmt "@\n%a" print) lines in
  all (clause "requires") cty.cty_pre;
  all variant variants;
  all (fun fmt pv -> fprintf fmt "  writes { %a }" Pretty.print_vs pv.Ity.pv_vs)
    (List.filter written cty.cty_args);
  all old (Ity.Mpv.bindings cty.cty_oldies);
  all (post "ensures") cty.cty_post;
  all raises (exceptions cty);
  if Ity.diverges cty.cty_effect.eff_oneway then fprintf fmt "@\n  diverges"

let contract_terms ?(variants = []) (cty : Ity.cty) =
  let posts = List.concat (cty.cty_post :: Ity.Mxs.values cty.cty_xpost) in
  cty.cty_pre @ List.map fst variants @ List.map (fun f -> snd (Ity.open_post f)) posts

let contract_names cty terms =
  let of_type pv = Ity.ty_of_ity pv.Ity.pv_ity in
  let types = Ity.ty_of_ity cty.Ity.cty_result :: List.map of_type cty.cty_args in
  let xs = List.map (fun ((xs : Ity.xsymbol), _) -> xs.xs_name) (exceptions cty) in
  resolved (xs @ in_types types @ in_terms (List.map bare terms))

(** {1 Programs} *)

let symbol_kind rs c =
  match rs.rs_logic with
  | _ when Audit.is_val c -> "val"
  | RLlemma -> "theorem"
  | RLls { ls_value = None; _ } -> "predicate"
  | RLls _ -> if c.c_cty.cty_args = [] then "constant" else "function"
  | RLnone | RLpv _ -> "program"

(** The value by which Why3 defines a function that a formula may speak of. *)
let value rs c =
  match (rs.rs_logic, c.c_node) with
  | RLls ls, Cfun e -> term_of_expr ~prop:(ls.ls_value = None) e
  | _ -> None

(** What promises nothing and ends may still have a goal: what it calls requires something. *)
let of_symbol ~recursive (rs, c, variants) =
  let kind = symbol_kind rs c and cty = c.c_cty in
  let word = (if rs_ghost rs then "ghost " else "") ^ kind in
  let defined = value rs c in
  let print fmt () =
    contract ~variants word rs fmt cty;
    Pp.print_option (fun fmt t -> fprintf fmt "@\n  = @[%a@]" Pretty.print_term (bare t)) fmt defined
  in
  let promises = List.map (fun post -> snd (Ity.open_post post)) cty.cty_post in
  let claims = recursive || kind = "theorem" || promises <> [] || not (Ity.Mxs.is_empty cty.cty_xpost) in
  let nothing = Nothing.of_promises ~required:cty.cty_pre promises in
  { id = rs.rs_name; kind; ghost = rs_ghost rs; statement = text print ();
    names = contract_names cty (Option.to_list defined @ contract_terms ~variants cty);
    goal = (if kind <> "val" && claims then Some (Name.with_scopes rs.rs_name ^ "'vc") else None);
    template = None; nothing = nothing || (kind = "theorem" && promises = []) }

let of_variable (pv : Ity.pvsymbol) =
  { id = pv.pv_vs.vs_name; kind = "program"; ghost = pv.pv_ghost;
    statement = text (parameter ~in_ghost:false) pv;
    names = resolved (in_types [ Ity.ty_of_ity pv.pv_ity ]); goal = None; template = None;
    nothing = false }

let of_let = function
  | LDvar (pv, _) -> [ of_variable pv ]
  | LDsym (rs, c) -> [ of_symbol ~recursive:false (rs, c, []) ]
  | LDrec definitions ->
      let inside = List.map (fun d -> (d.rec_rsym, d.rec_sym)) definitions in
      let outside = List.fold_left (fun m (a, b) -> Mrs.add a b m) Mrs.empty inside in
      let one d = (d.rec_sym, c_rs_subst outside d.rec_fun, d.rec_varl) in
      List.map (fun d -> of_symbol ~recursive:true (one d)) definitions

(** {1 Logic} *)

let plain ?(types = []) id kind statement terms =
  let names = resolved (in_types types @ in_terms terms) in
  { id; kind; ghost = false; statement; names; goal = None; template = None; nothing = false }

let of_proposition kind (pr : Decl.prsymbol) f =
  let kind = match kind with Decl.Plemma -> "lemma" | Pgoal -> "goal" | Paxiom -> "axiom" in
  let f = bare f in
  { (plain pr.pr_name kind (formula f) [ f ]) with
    nothing = Nothing.of_formula f && not (Template.is_refinement pr);
    goal = (if kind = "axiom" then None else Some (Name.with_scopes pr.pr_name)) }

let logic_kind (ls : Term.lsymbol) =
  if ls.ls_value = None then "predicate" else if ls.ls_args = [] then "constant" else "function"

let signature (ls : Term.lsymbol) = ls.ls_args @ Option.to_list ls.ls_value

let of_definition ((ls : Term.lsymbol), definition) =
  let _, body = Decl.open_ls_defn definition in
  let statement = text Pretty.print_logic_decl (ls, definition) in
  plain ~types:(signature ls) ls.ls_name (logic_kind ls) statement [ body ]

let of_inductive sign ((ls : Term.lsymbol), cases) =
  let bodies = List.map snd cases in
  plain ls.ls_name "predicate" (text (fun fmt -> Pretty.print_ind_decl fmt sign) (ls, cases)) bodies

let of_pure (d : Decl.decl) =
  match d.d_node with
  | Dprop (kind, pr, f) -> [ of_proposition kind pr f ]
  | Dlogic definitions -> List.map of_definition definitions
  | Dparam ls ->
      let statement = text Pretty.print_param_decl ls in
      [ plain ~types:(signature ls) ls.ls_name (logic_kind ls) statement [] ]
  | Dind (sign, definitions) -> List.map (of_inductive sign) definitions
  | Dtype _ | Ddata _ -> []

(** {1 Types and exceptions} *)

(** A type with its fields or constructors, as formulas see it, and its invariants. *)
let of_type pure d =
  let its = d.itd_its in
  let ts = its.Ity.its_ts in
  let is_mutable = if its.its_mutable then "mutable " else "" in
  let hidden = if its.its_private then "private " else "" in
  let types_in (d : Decl.decl) =
    match d.d_node with
    | Dtype own when Ty.ts_equal own ts -> (
        match own.ts_def with Alias ty -> Some [ ty ] | NoDef | Range _ | Float _ -> Some [])
    | Ddata types when List.exists (fun (own, _) -> Ty.ts_equal own ts) types ->
        let constructors = List.concat_map snd types in
        Some (List.concat_map (fun ((ls : Term.lsymbol), _) -> ls.ls_args) constructors)
    | _ -> None
  in
  let types = List.concat (List.filter_map types_in pure) in
  let print fmt () =
    fprintf fmt "%s%s%a" hidden is_mutable (list Pretty.print_decl)
      (List.filter (fun d -> types_in d <> None) pure);
    List.iter (fprintf fmt "@\n%a" (clause "invariant")) d.itd_invariant
  in
  let goal = if d.itd_invariant = [] then None else Some (Name.with_scopes ts.ts_name ^ "'vc") in
  { (plain ~types ts.ts_name "type" (text print ()) d.itd_invariant) with goal }

let of_exception (xs : Ity.xsymbol) =
  let print fmt ty = fprintf fmt "exception %s %a" xs.xs_name.id_string Pretty.print_ty ty in
  let ty = Ity.ty_of_ity xs.xs_ity in
  plain ~types:[ ty ] xs.xs_name "exception" (text print ty) []

(** {1 Modules} *)

let of_declaration d =
  match d.pd_node with
  | PDtype definitions -> List.map (of_type d.pd_pure) definitions
  | PDlet definition -> of_let definition
  | PDexn xs -> [ of_exception xs ]
  | PDpure -> List.concat_map of_pure d.pd_pure

(** In the order of the source. *)
let of_module project (m : Pmodule.pmodule) =
  let origins = Template.proved_origins project m in
  let known s =
    match Ident.Mid.find_opt s.id origins with
    | None -> s
    | Some (template, there) ->
        let name = Audit.name template ^ "." ^ Name.with_scopes there in
        { s with goal = None; template = Some name }
  in
  List.map known (List.concat_map of_declaration (Audit.declarations m.mod_units))

(** {1 Facts} *)

open Json_base

(** The line is that of the file; what is cloned from another file has none. *)
let facts project file (m : Pmodule.pmodule) s =
  let line =
    match Option.map (Project.position project) s.id.id_loc with
    | Some (at, line) when at = file -> Int line
    | _ -> Null
  in
  Record
    [ ("file", String file); ("line", line); ("module", String m.mod_theory.th_name.id_string);
      ("name", String (Name.with_scopes s.id)); ("kind", String s.kind); ("ghost", Bool s.ghost);
      ("statement", String s.statement); ("names", Json.strings s.names);
      ("goal", Json.option (fun goal -> String goal) s.goal);
      ("template", Json.option (fun name -> String name) s.template);
      ("says_nothing", Bool s.nothing) ]
