(** The statement of every goal and symbol of the theories, in WhyML as Why3 prints it.

    The statement of a lemma is its formula, of a definition the whole definition, of a program its
    contract. Each is printed alone, without attributes and the proof beside it, so its text changes
    only with its meaning and names. A name may stand for several symbols, so the statement also
    lists its symbols, resolved: [seq.Seq.length]. *)

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
  goal : string option;  (** the name of its goal *)
  template : string option;  (** its template, which has the goal *)
  nothing : bool;  (** trivial, see [Formula]; or a lemma function that ensures nothing *)
  calls : string list;  (** programs and lemmas that its body calls *)
}

(** {1 Names} *)

(** Names of symbols in the order of the text, which calls two symbols with one name [below] and
    [below1]: only the order distinguishes them. *)
let resolved idents =
  let add found id =
    match Name.resolved id with
    | Some name when not (List.mem name found) -> name :: found
    | _ -> found
  in
  List.rev (List.fold_left add [] idents)

(** The names in types, then in terms with their types. *)
let idents types terms =
  let of_type found ty = Ty.ty_s_fold (fun found ts -> ts.Ty.ts_name :: found) found ty in
  let of_term = Term.t_s_fold of_type (fun found ls -> ls.Term.ls_name :: found) in
  List.rev (List.fold_left of_term (List.fold_left of_type [] types) terms)

let plain ?(types = []) id kind statement terms =
  { id; kind; ghost = false; statement; names = resolved (idents types terms); goal = None;
    template = None; nothing = false; calls = [] }

(** {1 Texts} *)

let text print x =
  let print fmt =
    pp_set_geometry fmt ~max_indent:86 ~margin:96;
    print fmt x
  in
  (* Why3 numbers names in the order of their use; each text starts again. *)
  Pretty.forget_all ();
  String.trim (asprintf "%t" print)

let list print = Pp.print_list Pp.newline print

let term fmt f = Pretty.print_term fmt (Formula.printable f)
let formula = text term

(** All parameters of a ghost symbol are ghost. *)
let parameter ~in_ghost fmt (pv : Ity.pvsymbol) =
  let ghost = if pv.pv_ghost && not in_ghost then "ghost " else "" in
  fprintf fmt "(%s%a)" ghost Pretty.print_vsty pv.pv_vs

let clause word fmt f = fprintf fmt "  %s { @[%a@] }" word term (Formula.bare f)

let post word fmt f =
  let v, f = Ity.open_post f in
  let result fmt (v : Term.vsymbol) =
    if Term.t_v_occurs v f > 0 then fprintf fmt "%a -> " Pretty.print_vs v
  in
  fprintf fmt "  %s { @[%a%a@] }" word result v term (Formula.bare f);
  Pretty.forget_var v

(** Sorted by name: Why3's order depends on the other loaded files. *)
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

    A caller's proof relies on a program's postconditions, and assumes other memory unchanged. So a
    statement lists the memory that the program may write, and new memory; [Audit] finds all other
    effects on memory. *)

(** [named]: the name of a variable in the text. *)
let effects named fmt (cty : Ity.cty) =
  let own name (ity : Ity.ity) = match ity.ity_node with Ityreg r -> Some (r, name) | _ -> None in
  let of_variable (pv : Ity.pvsymbol) = own (named pv) pv.pv_ity in
  let known = List.filter_map of_variable cty.cty_args in
  let known = Option.to_list (own "result" cty.cty_result) @ known in
  let name r =
    match List.find_opt (fun (s, _) -> Ity.reg_equal r s) known with
    | Some (_, name) -> name
    | None -> "what nothing here names"
  in
  let names regions = List.map name (Ity.Sreg.elements regions) in
  let writes (r, fields) =
    let field (pv : Ity.pvsymbol) = name r ^ "." ^ pv.pv_vs.vs_name.id_string in
    if Ity.Spv.is_empty fields then [ name r ] else List.map field (Ity.Spv.elements fields)
  in
  let in_braces word = function
    | [] -> ()
    | names -> fprintf fmt "@\n  %s { %s }" word (String.concat ", " (List.sort compare names))
  in
  in_braces "writes" (List.concat_map writes (Ity.Mreg.bindings cty.cty_effect.eff_writes));
  in_braces "writes in ghost code" (names cty.cty_effect.eff_taints);
  in_braces "resets" (names cty.cty_effect.eff_resets)

let contract ~variants word (rs : rsymbol) fmt (cty : Ity.cty) =
  let old fmt ((o : Ity.pvsymbol), (pv : Ity.pvsymbol)) =
    fprintf fmt "  old %a = %a" Pretty.print_vs pv.pv_vs Pretty.print_vs o.pv_vs
  in
  let variant fmt t = fprintf fmt "  variant { %a }" term (Formula.bare t) in
  fprintf fmt "@[<hov 4>%s %a%a :@ %a@]" word Ident.print_decoded rs.rs_name.id_string
    (Pp.print_list Pp.nothing (fun fmt pv -> fprintf fmt "@ %a" (parameter ~in_ghost:(rs_ghost rs)) pv))
    cty.cty_args Pretty.print_ty (Ity.ty_of_ity cty.cty_result);
  let all print lines = List.iter (fprintf fmt "@\n%a" print) lines in
  all (clause "requires") cty.cty_pre;
  all variant variants;
  effects (fun pv -> asprintf "%a" Pretty.print_vs pv.pv_vs) fmt cty;
  all old (Ity.Mpv.bindings cty.cty_oldies);
  all (post "ensures") cty.cty_post;
  all raises (exceptions cty)

let contract_names ~variants ~defined (cty : Ity.cty) =
  let of_type pv = Ity.ty_of_ity pv.Ity.pv_ity in
  let types = Ity.ty_of_ity cty.cty_result :: List.map of_type cty.cty_args in
  let xs = List.map (fun ((xs : Ity.xsymbol), _) -> xs.xs_name) (exceptions cty) in
  let posts = List.concat (cty.cty_post :: Ity.Mxs.values cty.cty_xpost) in
  let promised = List.map (fun post -> snd (Ity.open_post post)) posts in
  let terms = Option.to_list defined @ cty.cty_pre @ variants @ promised in
  resolved (xs @ idents types (List.map Formula.bare terms))

(** {1 Programs} *)

let logic_kind (ls : Term.lsymbol) =
  if ls.ls_value = None then "predicate" else if ls.ls_args = [] then "constant" else "function"

let symbol_kind rs c =
  match rs.rs_logic with
  | _ when Audit.is_val c -> "val"
  | RLlemma -> "theorem"
  | RLls ls -> logic_kind ls
  | RLnone | RLpv _ -> "program"

(** The value by which Why3 defines a function that formulas may use. *)
let value rs c =
  match (rs.rs_logic, c.c_node) with
  | RLls ls, Cfun e -> term_of_expr ~prop:(ls.ls_value = None) e
  | _ -> None

(** The programs and lemmas that a program calls. *)
let called c =
  let name c = match c.c_node with Capp (rs, _) -> Some rs.rs_name | _ -> None in
  let names = List.filter_map name in
  match c.c_node with
  | Cfun e -> Audit.fold (fun found e -> names (Audit.callables e) @ found) [] e
  | _ -> names [ c ]

(** If a program has no postcondition and is not recursive, [goal] is [None], although Why3 makes a
    goal if one of its calls requires something. *)
let of_symbol ~recursive (rs, c, variants) =
  let kind = symbol_kind rs c and cty = c.c_cty in
  let word =
    (if rs_ghost rs then "ghost " else "")
    ^ kind ^
    match rs.rs_logic with
    | RLls { ls_value; _ } when kind = "val" -> if ls_value = None then " predicate" else " function"
    | RLlemma when kind = "val" -> " lemma"
    | _ -> ""
  in
  let defined = value rs c in
  let print fmt () =
    contract ~variants word rs fmt cty;
    let value t = fprintf fmt "@\n  = @[%a@]" term (Formula.bare t) in
    Option.iter value defined
  in
  let promises = List.map (fun post -> snd (Ity.open_post post)) cty.cty_post in
  let claims = recursive || kind = "theorem" || promises <> [] || not (Ity.Mxs.is_empty cty.cty_xpost) in
  let nothing = Formula.say_nothing ~required:cty.cty_pre promises in
  { id = rs.rs_name; kind; ghost = rs_ghost rs; statement = text print ();
    names = contract_names ~variants ~defined cty;
    goal = (if kind <> "val" && claims then Some (Name.with_scopes rs.rs_name ^ "'vc") else None);
    template = None; nothing = nothing || (kind = "theorem" && promises = []);
    calls = List.sort compare (resolved (called c)) }

let of_variable (pv : Ity.pvsymbol) =
  let statement = text (parameter ~in_ghost:false) pv in
  let symbol = plain ~types:[ Ity.ty_of_ity pv.pv_ity ] pv.pv_vs.vs_name "program" statement [] in
  { symbol with ghost = pv.pv_ghost }

let of_let = function
  | LDvar (pv, _) -> [ of_variable pv ]
  | LDsym (rs, c) -> [ of_symbol ~recursive:false (rs, c, []) ]
  | LDrec definitions ->
      let outside = Mrs.of_list (List.map (fun d -> (d.rec_rsym, d.rec_sym)) definitions) in
      let one d = (d.rec_sym, c_rs_subst outside d.rec_fun, List.map fst d.rec_varl) in
      List.map (fun d -> of_symbol ~recursive:true (one d)) definitions

(** {1 Logic} *)

let of_proposition kind (pr : Decl.prsymbol) f =
  let kind = match kind with Decl.Plemma -> "lemma" | Pgoal -> "goal" | Paxiom -> "axiom" in
  let f = Formula.bare f in
  { (plain pr.pr_name kind (formula f) [ f ]) with
    nothing = Formula.say_nothing [ f ] && not (Template.is_refinement pr);
    goal = (if kind = "axiom" then None else Some (Name.with_scopes pr.pr_name)) }

let signature (ls : Term.lsymbol) = ls.ls_args @ Option.to_list ls.ls_value

let of_definition ((ls : Term.lsymbol), definition) =
  let arguments, body = Decl.open_ls_defn definition in
  let definition = snd (Decl.make_ls_defn ls arguments (Formula.printable body)) in
  let statement = text Pretty.print_logic_decl (ls, definition) in
  plain ~types:(signature ls) ls.ls_name (logic_kind ls) statement [ body ]

let of_pure (d : Decl.decl) =
  match d.d_node with
  | Dprop (kind, pr, f) -> [ of_proposition kind pr f ]
  | Dlogic definitions -> List.map of_definition definitions
  | Dparam ls ->
      let statement = text Pretty.print_param_decl ls in
      [ plain ~types:(signature ls) ls.ls_name (logic_kind ls) statement [] ]
  | Dtype _ | Ddata _ | Dind _ -> []

(** {1 Types and exceptions} *)

(** A type with its fields or constructors, as formulas see it, and its invariants. The fields
    of a private type, and fields that can change or are ghost, follow. *)
let of_type pure d =
  let its = d.itd_its in
  let ts = its.Ity.its_ts in
  let is_mutable = if its.its_mutable then "mutable " else "" in
  let hidden = if its.its_private then "private " else "" in
  let own = List.filter (fun (d : Decl.decl) -> Ident.Sid.mem ts.ts_name d.d_news) pure in
  let types_in (d : Decl.decl) =
    match d.d_node with
    | Dtype { ts_def = Alias ty; _ } -> [ ty ]
    | Ddata types ->
        let constructors = List.concat_map snd types in
        List.concat_map (fun ((ls : Term.lsymbol), _) -> ls.ls_args) constructors
    | _ -> []
  in
  let fields = List.filter_map (fun rs -> rs.rs_field) d.itd_fields in
  let in_fields = List.map (fun (pv : Ity.pvsymbol) -> Ity.ty_of_ity pv.pv_ity) fields in
  let types = List.concat_map types_in own @ in_fields in
  let field fmt (pv : Ity.pvsymbol) =
    let changes = List.exists (Ity.pv_equal pv) its.its_mfields in
    if its.its_private || changes || pv.pv_ghost then
      fprintf fmt "@\n  @[<hov 4>%s%sfield %s : %a@]"
        (if changes then "mutable " else "")
        (if pv.pv_ghost then "ghost " else "")
        pv.pv_vs.vs_name.id_string Pretty.print_ty (Ity.ty_of_ity pv.pv_ity)
  in
  let print fmt () =
    fprintf fmt "%s%s%a" hidden is_mutable (list Pretty.print_decl) own;
    List.iter (field fmt) fields;
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
  List.map known (List.concat_map of_declaration (Audit.declarations m))

(** {1 Facts} *)

open Json

(** The line in the file; symbols cloned from another file have none. *)
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
      ("goal", Json.text s.goal); ("template", Json.text s.template);
      ("says_nothing", Bool s.nothing); ("calls", texts s.calls) ]
