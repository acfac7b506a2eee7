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
  calls : string list;  (** programs and lemmas whose contracts its goal takes from its body *)
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

(** {1 Effects}

    A proof that calls a program uses what this leaves alone as much as what it promises: what it may
    write, what is one and the same memory. [resets]: no older name of this memory can be used, as
    it is new, or as other memory was put there. *)

(** The memory that a value of a type has, with the path that leads to each part of it. *)
let rec memory ?(above = []) path (ity : Ity.ity) =
  let within (its : Ity.itysymbol) args regions =
    if List.exists (Ity.its_equal its) above then []
    else
      let types = Ity.its_match_regs its args regions and above = its :: above in
      let field (pv : Ity.pvsymbol) =
        memory ~above (path ^ "." ^ pv.pv_vs.vs_name.id_string) (Ity.ity_full_inst types pv.pv_ity)
      in
      List.concat_map field (its.its_mfields @ its.its_ofields)
  in
  let found =
    match ity.ity_node with
    | Ityreg r -> (r, path) :: within r.reg_its r.reg_args r.reg_regs
    | Ityapp (its, args, regions) -> within its args regions
    | Ityvar _ -> []
  in
  let reached r = List.exists (fun (s, _) -> Ity.reg_equal r s) found in
  let others = Ity.Sreg.filter (fun r -> not (reached r)) (Ity.ity_freeregs Ity.Sreg.empty ity) in
  found @ List.map (fun r -> (r, path ^ "[..]")) (Ity.Sreg.elements others)

let in_braces word names fmt =
  if names <> [] then fprintf fmt "@\n  %s { %s }" word (String.concat ", " names)

(** [named]: the name of a variable as the text has it. *)
let effects named fmt (cty : Ity.cty) =
  let effect = cty.cty_effect and globals = Ity.Spv.elements (Ity.cty_reads cty) in
  let of_variable (pv : Ity.pvsymbol) = memory (named pv) pv.pv_ity in
  let known = List.concat_map of_variable (cty.cty_args @ globals) in
  let found = known @ memory "result" cty.cty_result in
  let path r =
    match List.find_opt (fun (s, _) -> Ity.reg_equal r s) found with
    | Some (_, path) -> path
    | None -> "what nothing here names"
  in
  let paths regions = List.sort compare (List.map path (Ity.Sreg.elements regions)) in
  let writes (r, fields) =
    let field (pv : Ity.pvsymbol) = path r ^ "." ^ pv.pv_vs.vs_name.id_string in
    if Ity.Spv.is_empty fields then [ path r ] else List.map field (Ity.Spv.elements fields)
  in
  let alias (r, other) = if path r = other then None else Some (other ^ " with " ^ path r) in
  let survive = Ity.Mreg.map ignore effect.eff_writes in
  let written = List.concat_map writes (Ity.Mreg.bindings effect.eff_writes) in
  in_braces "reads" (List.sort compare (List.map named globals)) fmt;
  in_braces "writes" (List.sort compare written) fmt;
  in_braces "writes in ghost code" (paths effect.eff_taints) fmt;
  in_braces "replaces" (paths (Ity.Sreg.diff survive effect.eff_covers)) fmt;
  in_braces "resets" (paths effect.eff_resets) fmt;
  in_braces "alias" (List.filter_map alias found) fmt;
  match effect.eff_oneway with
  | Total -> ()
  | Partial -> fprintf fmt "@\n  partial"
  | Diverges -> fprintf fmt "@\n  diverges"

let rec mask fmt : Ity.mask -> unit = function
  | MaskVisible -> fprintf fmt "_"
  | MaskGhost -> fprintf fmt "ghost"
  | MaskTuple parts -> fprintf fmt "(%a)" (Pp.print_list Pp.comma mask) parts

let contract ?(variants = []) word (rs : rsymbol) fmt (cty : Ity.cty) =
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
  if not (rs_ghost rs || cty.cty_mask = MaskVisible) then
    fprintf fmt "@\n  of which %a" mask cty.cty_mask;
  effects (fun pv -> asprintf "%a" Pretty.print_vs pv.pv_vs) fmt cty;
  all old (Ity.Mpv.bindings cty.cty_oldies);
  all (post "ensures") cty.cty_post;
  all raises (exceptions cty)

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

(** Whatever a program calls, lemmas included. *)
let rec called c =
  match c.c_node with
  | Capp (rs, _) -> [ rs.rs_name ]
  | Cfun e -> called_in [] e
  | Cpur _ | Cany -> []

and called_in found e =
  let inside =
    match e.e_node with
    | Eexec (c, _) | Elet (LDsym (_, c), _) -> called c
    | Elet (LDrec definitions, _) -> List.concat_map (fun d -> called d.rec_fun) definitions
    | _ -> []
  in
  e_fold called_in (inside @ found) e

(** What promises nothing and ends may still have a goal: what it calls requires something. *)
let of_symbol ~recursive (rs, c, variants) =
  let kind = symbol_kind rs c and cty = c.c_cty in
  let word =
    (if rs_ghost rs then "ghost " else "")
    ^ kind
    ^
    match rs.rs_logic with
    | RLls { ls_value; _ } when kind = "val" -> if ls_value = None then " predicate" else " function"
    | RLlemma when kind = "val" -> " lemma"
    | _ -> ""
  in
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
    template = None; nothing = nothing || (kind = "theorem" && promises = []);
    calls = List.sort compare (resolved (called c)) }

let of_variable (pv : Ity.pvsymbol) =
  { id = pv.pv_vs.vs_name; kind = "program"; ghost = pv.pv_ghost;
    statement = text (parameter ~in_ghost:false) pv;
    names = resolved (in_types [ Ity.ty_of_ity pv.pv_ity ]); goal = None; template = None;
    nothing = false; calls = [] }

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
  { id; kind; ghost = false; statement; names; goal = None; template = None; nothing = false;
    calls = [] }

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

(** A type with its fields or constructors, as formulas see it, and its invariants. The fields that a
    formula does not see, or that can change or are ghost, stand below it. *)
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
  let fields = List.filter_map (fun rs -> rs.rs_field) d.itd_fields in
  let in_fields = List.map (fun (pv : Ity.pvsymbol) -> Ity.ty_of_ity pv.pv_ity) fields in
  let types = List.concat (List.filter_map types_in pure) @ in_fields in
  let field fmt (pv : Ity.pvsymbol) =
    let changes = List.exists (Ity.pv_equal pv) its.its_mfields in
    if its.its_private || changes || pv.pv_ghost then
      fprintf fmt "@\n  @[<hov 4>%s%sfield %s : %a@]"
        (if changes then "mutable " else "")
        (if pv.pv_ghost then "ghost " else "")
        pv.pv_vs.vs_name.id_string Pretty.print_ty (Ity.ty_of_ity pv.pv_ity)
  in
  let print fmt () =
    fprintf fmt "%s%s%a" hidden is_mutable (list Pretty.print_decl)
      (List.filter (fun d -> types_in d <> None) pure);
    List.iter (field fmt) fields;
    List.iter (fprintf fmt "@\n%a" (clause "invariant")) d.itd_invariant
  in
  let goal = if d.itd_invariant = [] then None else Some (Name.with_scopes ts.ts_name ^ "'vc") in
  { (plain ~types ts.ts_name "type" (text print ()) d.itd_invariant) with goal }

let of_exception (xs : Ity.xsymbol) =
  let of_ghost = if Ity.mask_ghost xs.xs_mask then "ghost " else "" in
  let print fmt ty =
    fprintf fmt "exception %s%s %a" of_ghost xs.xs_name.id_string Pretty.print_ty ty
  in
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

open Json

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
      ("statement", String s.statement); ("names", texts s.names);
      ("goal", Json.text s.goal);
      ("template", Json.text s.template);
      ("says_nothing", Bool s.nothing); ("calls", texts s.calls) ]
