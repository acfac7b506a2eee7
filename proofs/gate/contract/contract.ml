(** The contracts of programs and operations, from the typed WhyML: see translation.ml.

    Modules such as [kernel.broadcast.COPBroadcast] contain the programs that run. [all] adds what
    programs may use: ghosts, constants, fields. A precondition is a function of the arguments; any
    other condition also of old values, and of the result or the exception's value. The parts of a
    conjunction are separate conditions. *)

open Why3
open Json

(** {1 Conditions} *)

(** [let x = e in A /\ B] and [match e with p -> A /\ B] are conjunctions too. *)
let rec parts (f : Term.term) =
  match f.t_node with
  | Tbinop (Tand, a, b) -> parts a @ parts b
  | Tlet (value, bound) ->
      let v, body = Term.t_open_bound bound in
      let only f = if Term.t_v_occurs v f > 0 then Term.t_let_close v value f else f in
      List.map only (parts body)
  | Tcase (value, [ bound ]) ->
      let pattern, body = Term.t_open_branch bound in
      List.map (fun f -> Term.t_case value [ Term.t_close_branch pattern f ]) (parts body)
  | _ -> [ f ]

let conditions p kind ?exn ?value arguments f =
  let condition f =
    Record
      [ ("kind", String kind); ("exception", text exn);
        ("text", String (Statement.formula f));
        ("holds", Translation.lambda (arguments @ Option.to_list value) (Translation.term p f)) ]
  in
  List.map condition (parts (Formula.bare f))

(** {1 Programs} *)

let names = List.map (fun (v : Term.vsymbol) -> v.vs_name.id_string)

(** The name by which a driver knows a symbol: [array.Array.([]<-)]. *)
let mapped (rs : Expr.rsymbol) =
  let written = Format.asprintf "%a" Ident.print_decoded rs.rs_name.id_string in
  let plain = String.concat "" (String.split_on_char ' ' written) in
  match Name.path rs.rs_name with
  | library, m, _ -> String.concat "." (library @ [ m; plain ])
  | exception Not_found -> plain

(** For each change: the argument's name ("" if only a part of an argument changes), the field. *)
let writes (cty : Ity.cty) =
  let of_region ((region : Ity.region), fields) =
    let is_whole (pv : Ity.pvsymbol) =
      match pv.pv_ity.ity_node with Ityreg r -> Ity.reg_equal r region | _ -> false
    in
    let whole = List.filter is_whole cty.cty_args in
    let found = if whole = [] then [ "" ] else names (List.map (fun pv -> pv.Ity.pv_vs) whole) in
    let fields = names (List.map (fun pv -> pv.Ity.pv_vs) (Ity.Spv.elements fields)) in
    List.concat_map (fun name -> List.map (fun field -> texts [ name; field ]) fields) found
  in
  List.concat_map of_region (Ity.Mreg.bindings cty.cty_effect.eff_writes)

(** Whether the result may be or contain an argument that can change. *)
let shares (cty : Ity.cty) =
  let add found (pv : Ity.pvsymbol) = Ity.ity_freeregs found pv.pv_ity in
  let given = List.fold_left add Ity.Sreg.empty cty.cty_args in
  not (Ity.Sreg.is_empty (Ity.Sreg.inter given (Ity.ity_freeregs Ity.Sreg.empty cty.cty_result)))

let kind p ity = Translation.kind p (Ity.ty_of_ity ity)

let program p (rs : Expr.rsymbol) =
  let cty = rs.rs_cty in
  let variables = List.map (fun (pv : Ity.pvsymbol) -> pv.pv_vs) in
  let arguments = variables cty.cty_args in
  let olds = Ity.Mpv.bindings cty.cty_oldies in
  let exceptions = Statement.exceptions cty in
  let post kind exn f =
    let value, f = Ity.open_post f in
    conditions p kind ?exn ~value (arguments @ variables (List.map fst olds)) f
  in
  let raised ((xs : Ity.xsymbol), posts) =
    List.concat_map (post "raises" (Some xs.xs_name.id_string)) posts
  in
  Record
    [ ("name", String (Option.value (Name.resolved rs.rs_name) ~default:""));
      ("mapped", String (mapped rs)); ("ghost", Bool (Expr.rs_ghost rs));
      ("arguments", texts (names arguments));
      ("olds", texts (names (variables (List.map snd olds))));
      ("argument_types", List (List.map (fun (pv : Ity.pvsymbol) -> kind p pv.pv_ity) cty.cty_args));
      ("result_type", kind p cty.cty_result);
      ("writes", List (writes cty)); ("shares", Bool (shares cty));
      ( "exceptions",
        let one ((xs : Ity.xsymbol), _) = (xs.xs_name.id_string, kind p xs.xs_ity) in
        Record (List.map one exceptions) );
      ( "conditions",
        List
          (List.concat_map (conditions p "requires" arguments) cty.cty_pre
          @ List.concat_map (post "ensures" None) cty.cty_post
          @ List.concat_map raised exceptions) ) ]

(** The programs that have arguments and are not ghost; if [all], also ghost programs, constants and
    fields. *)
let programs ~all (m : Pmodule.pmodule) =
  let runs (rs : Expr.rsymbol) = all || ((not (Expr.rs_ghost rs)) && rs.rs_cty.cty_args <> []) in
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with
    | PDlet (LDsym (rs, _)) -> List.filter runs [ rs ]
    | PDlet (LDrec definitions) ->
        List.filter runs (List.map (fun (d : Expr.rec_defn) -> d.rec_sym) definitions)
    | PDtype types when all -> List.concat_map (fun (its : Pdecl.its_defn) -> its.itd_fields) types
    | PDlet (LDvar _) | PDtype _ | PDexn _ | PDpure -> []
  in
  List.concat_map of_declaration (Audit.declarations m)

(** The types of the programs' arguments, results and exceptions, and of their parts. *)
let types_of_programs symbols =
  let add found ts = Ty.Sts.add ts found in
  let of_ity found ity = Ty.ty_s_fold add found (Ity.ty_of_ity ity) in
  let of_symbol found (rs : Expr.rsymbol) =
    let found = List.fold_left (fun found pv -> of_ity found pv.Ity.pv_ity) found rs.rs_cty.cty_args in
    let found = of_ity found rs.rs_cty.cty_result in
    let raised = List.map fst (Statement.exceptions rs.rs_cty) in
    List.fold_left (fun found (xs : Ity.xsymbol) -> of_ity found xs.xs_ity) found raised
  in
  List.fold_left of_symbol Ty.Sts.empty symbols

let find (project : Project.t) name =
  match List.rev (String.split_on_char '.' name) with
  | name :: path -> Pmodule.read_module project.env (List.rev path) name
  | [] -> invalid_arg "find"

(** The programs of some modules (if [all], the operations), or the errors in these modules. *)
let facts (project : Project.t) ~all names =
  match Project.attempt (fun () -> List.map (find project) names) with
  | Error e -> Error (Project.errors project e)
  | Ok modules ->
      let symbols = List.concat_map (programs ~all) modules in
      let outside = types_of_programs symbols in
      let p = Translation.create (Meaning.of_modules modules) ~outside in
      let found = List.map (program p) symbols in
      Ok
        (Record
           [ ("definitions", Record (List.of_seq (Hashtbl.to_seq p.definitions)));
             ("programs", List found) ])
