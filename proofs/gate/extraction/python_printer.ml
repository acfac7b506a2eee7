(* The extraction of WhyML programs to Python 3.10, as a printer of Why3.

   It fails closed: a symbol that has neither a definition among those that are extracted nor a
   syntax in the driver is an error, and so is whatever has no exact meaning in Python. *)

open Why3
open Ident
open Mltree
module P = Python_ast

(* {1 Docstrings} *)

let comment id = Option.fold ~none:[] ~some:Whyml_source.doc_comment id.id_loc

(* at most 100 characters in a line, with what indents and opens a docstring *)
let rec filled line = function
  | [] -> [ line ]
  | word :: words when String.length line + String.length word < 92 ->
      filled (line ^ " " ^ word) words
  | word :: words -> line :: filled ("    " ^ word) words

let rec with_commas = function
  | word :: (_ :: _ as words) -> (word ^ ",") :: with_commas words
  | words -> words

(* The comment, the exceptions, and the WhyML name, under which the contract is to be found: its
   formulas are in words of logic that the Python does not have. *)
let function_doc context { Expr.rs_name = id; rs_cty; _ } =
  let name xs = Python_context.exception_name context id.id_loc xs in
  let origin = [ "WhyML: " ^ Python_context.qualified id ] in
  let facts =
    match Ity.Sxs.elements rs_cty.cty_effect.eff_raises with
    | [] -> origin
    | raised -> filled "Raises:" (with_commas (List.map name raised)) @ origin
  in
  let text = comment id in
  if text = [] then facts else text @ ("" :: facts)

(* {1 Types} *)

let dataclass ~mutable_ =
  let option name value = (name, P.bool value) in
  let options =
    if mutable_ then [ option "slots" true; option "eq" false ]
    else [ option "frozen" true; option "slots" true ]
  in
  P.Call (Name "dataclass", [], options)

let rec type_variables ty =
  match ty with
  | Tvar tv -> [ tv ]
  | Ttuple l | Tapp (_, l) -> List.concat_map type_variables l
  | Tarrow (a, b) -> type_variables a @ type_variables b

let apply_generic context name variables =
  match List.map (Python_context.type_variable context) variables with
  | [] -> P.Name name
  | [ t ] -> Subscript (Name name, t)
  | l -> Subscript (Name name, Tuple l)

let data_class context id ~name ~mutable_ ~variables fields =
  let loc = id.id_loc in
  let field (label, ty) = P.Annotated (label, Python_context.python_type context loc ty, None) in
  let doc = comment id in
  let bases = if variables = [] then [] else [ apply_generic context "Generic" variables ] in
  let body = (if doc = [] then [] else [ P.Docstring doc ]) @ List.map field fields in
  P.Class { decorators = [ dataclass ~mutable_ ]; name; bases; body }

(* Distinct labels that resemble the names of the fields. A checker takes a type in the class for
   the field of that name, hence the names to avoid. *)
let labels context names =
  let avoid = Python_context.names_to_avoid context None [] in
  let add labels name =
    let taken x = List.mem x labels || Wstdlib.Sstr.mem x avoid in
    Python_scope.unused ~taken (Python_scope.identifier name) :: labels
  in
  List.rev (List.fold_left add [] names)

let positional types = List.mapi (fun i _ -> Printf.sprintf "item%d" i) types

let record_constructor (m : Pmodule.pmodule) id =
  match Mid.find_opt id m.mod_known with
  | Some { Pdecl.pd_node = PDtype l; _ } -> (
      let is_it d = id_equal d.Pdecl.itd_its.its_ts.ts_name id in
      match (List.find is_it l).itd_constructors with
      | [ rs ] -> rs
      | _ -> Python_context.fail id.id_loc "type %s has no constructor" id.id_string)
  | _ -> Python_context.fail id.id_loc "type %s is not known" id.id_string

(* gives names to a type, its constructors and its fields *)
let declare_type context m { its_name = id; its_def; its_private; _ } =
  let global base = Python_context.new_global context (Python_scope.camel_case base) in
  let define = Python_context.define context in
  match its_def with
  | Some (Drecord fields) when not its_private ->
      let name = global id.id_string in
      let ids = List.map (fun (_, id, _) -> id) fields in
      let labels = labels context (List.map (fun id -> id.id_string) ids) in
      define id (Type { type_name = name; is_union = false });
      List.iter2 (fun id label -> define id (Field label)) ids labels;
      define (record_constructor m id).rs_name
        (Constructor { class_name = name; fields = labels; by_name = true })
  | Some (Ddata [ (constructor, types) ]) ->
      let class_name = global constructor.id_string in
      define id (Type { type_name = class_name; is_union = false });
      define constructor (Constructor { class_name; fields = positional types; by_name = false })
  | Some (Ddata constructors) ->
      let declare (id, types) =
        let class_name = global id.id_string in
        define id (Constructor { class_name; fields = positional types; by_name = false })
      in
      List.iter declare constructors;
      define id (Type { type_name = global id.id_string; is_union = true })
  | Some (Dalias ty) when not (Python_context.is_unit ty) ->
      define id (Type { type_name = global id.id_string; is_union = false })
  | Some (Dalias _) ->
      Python_context.fail id.id_loc "type %s has no field that is not ghost" id.id_string
  | Some (Drange _) ->
      Python_context.fail id.id_loc "the range type %s has no syntax in the driver" id.id_string
  | Some (Dfloat _) ->
      Python_context.fail id.id_loc "the float type %s has no syntax in the driver" id.id_string
  | Some (Drecord _) | None ->
      Python_context.fail id.id_loc "the abstract type %s has no syntax in the driver" id.id_string

let constructor_class context ~variables (id, types) =
  match Python_context.symbol context id.id_loc id with
  | Constructor { class_name = name; fields; _ } ->
      data_class context id ~name ~mutable_:false ~variables (List.combine fields types)
  | _ -> Python_context.fail id.id_loc "%s is not a constructor" id.id_string

let field context (_, id, ty) =
  match Python_context.symbol context id.id_loc id with
  | Field label -> (label, ty)
  | _ -> Python_context.fail id.id_loc "%s is not a field" id.id_string

let type_name context id =
  match Python_context.symbol context id.id_loc id with
  | Type { type_name; _ } -> type_name
  | _ -> Python_context.fail id.id_loc "%s is not a type" id.id_string

let alias name value = P.Annotated (name, Name "TypeAlias", Some value)

(* Python orders the parameters of an alias by their first occurrence in it. *)
let check_parameters id variables ty =
  let add seen tv = if List.exists (Ty.tv_equal tv) seen then seen else tv :: seen in
  let occurring = List.rev (List.fold_left add [] (type_variables ty)) in
  if not (Lists.equal Ty.tv_equal occurring variables) then
    Python_context.fail id.id_loc
      "the parameters of the alias %s must all occur in its definition, in their order"
      id.id_string

(* the classes of a type, then its alias, which has to come after all classes *)
let type_definition context { its_name = id; its_args = variables; its_def; _ } =
  let name = type_name context id in
  match its_def with
  | Some (Drecord fields) ->
      let mutable_ = List.exists (fun (is_mutable, _, _) -> is_mutable) fields in
      let fields = List.map (field context) fields in
      ([ data_class context id ~name ~mutable_ ~variables fields ], [])
  | Some (Ddata [ constructor ]) -> ([ constructor_class context ~variables constructor ], [])
  | Some (Ddata constructors) ->
      let classes = List.map (constructor_class context ~variables) constructors in
      let case = function
        | P.Class { name; _ } -> apply_generic context name variables
        | _ -> invalid_arg "Python_printer.type_definition"
      in
      let union a b = P.Binary (a, Bit_or, b) in
      let cases = List.map case classes in
      (classes, [ alias name (List.fold_left union (List.hd cases) (List.tl cases)) ])
  | Some (Dalias ty) ->
      check_parameters id variables ty;
      ([], [ alias name (Python_context.python_type context id.id_loc ty) ])
  | Some (Drange _ | Dfloat _) | None -> ([], [])

let define_types context m types =
  let is_extracted d = Python_context.syntax context d.its_name = None in
  let types = List.filter is_extracted types in
  List.iter (declare_type context m) types;
  let classes, aliases = List.split (List.map (type_definition context) types) in
  List.iter (Python_context.emit context) (List.concat classes @ List.concat aliases)

(* {1 Programs} *)

(* the symbols in a definition; Why3 leaves out the bounds of loops *)
let dependencies decl definitions =
  let ids = ref [] in
  let add id = ids := id :: !ids in
  let rec bounds () e =
    (match e.e_node with
    | Efor (_, _, lower, _, upper, _) ->
        add lower.pv_vs.vs_name;
        add upper.pv_vs.vs_name
    | _ -> ());
    e_fold bounds () e
  in
  Mltree.iter_deps add decl;
  List.iter (fun d -> bounds () d.Python_program.body) definitions;
  !ids

let global_function context rs =
  let id = rs.Expr.rs_name in
  let name = Python_context.new_global context (Python_scope.identifier id.id_string) in
  Python_context.define context id (Function name);
  name

let define_functions context decl definitions =
  let depends = dependencies decl definitions in
  let is_extracted { Python_program.symbol; _ } =
    Python_context.syntax context symbol.rs_name = None
  in
  let definitions = List.filter is_extracted definitions in
  let named =
    List.map (fun d -> (global_function context d.Python_program.symbol, d)) definitions
  in
  let define (name, (d : Python_program.definition)) =
    let doc = function_doc context d.symbol in
    Python_context.in_definition context (fun () ->
        Python_context.emit context (Python_program.function_ context ~name ~doc ~depends d))
  in
  List.iter define named

let define_constant context id ity ty e =
  if not ity.Ity.ity_pure then
    Python_context.fail id.id_loc "%s is mutable: a global state is not supported" id.id_string;
  if Python_context.is_polymorphic ty then
    Python_context.fail id.id_loc "the polymorphic constant %s is not supported" id.id_string;
  let annotation = Python_context.python_type context id.id_loc ty in
  let value = Python_program.constant context id.id_loc e in
  let name = Python_context.new_global context (Python_scope.identifier id.id_string) in
  Python_context.define context id (Constant name);
  Python_context.emit context (Annotated (name, annotation, Some value))

let define_exception context xs payload =
  let id = xs.Ity.xs_name in
  let payload = Option.map (Python_context.python_type context id.id_loc) payload in
  let name = Python_context.new_global context (Python_scope.camel_case id.id_string) in
  Python_context.define context id (Exception name);
  let doc = comment id in
  Python_context.emit context (Python_program.exception_class ~name ~doc ~payload)

let no_body id =
  Python_context.fail id.id_loc "%s has no body and no syntax in the driver"
    (Python_context.qualified id)

let rec define context m decl =
  match decl with
  | Dtype types -> Python_context.in_definition context (fun () -> define_types context m types)
  | Dexn (xs, payload) -> define_exception context xs payload
  | Dlet (Lvar (pv, e)) -> define_constant context pv.pv_vs.vs_name pv.pv_ity e.e_mlty e
  | Dlet (Lsym (rs, _, result, [], body)) ->
      define_constant context rs.rs_name rs.rs_cty.cty_result result body
  | Dlet (Lsym (symbol, _, result, arguments, body)) ->
      define_functions context decl [ { symbol; arguments; result; body } ]
  | Dlet (Lrec definitions) ->
      define_functions context decl (List.map Python_program.definition definitions)
  | Dlet (Lany (rs, _, _, _)) -> no_body rs.rs_name
  | Dval (pv, _) -> no_body pv.pv_vs.vs_name
  | Dmodule (_, decls) -> List.iter (define context m) decls

(* {1 The printer} *)

type state = {
  context : Python_context.t;
  mutable output : Format.formatter;
  modules : (string list * string) list;  (* those that the driver knows *)
  waiting : (Pmodule.pmodule * decl) Hid.t;
}

let module_of id =
  match Pmodule.restore_path id with
  | path, name, _ -> [ (path, name) ]
  | exception Not_found -> []

(* Why3's own tree of a module, without two of its passes: [Python_inline] replaces one, and the one
   that puts functions into others does not rename all that it should in Why3 1.5.1. *)
let programs : known_map Hid.t = Hid.create 7

let translate (m : Pmodule.pmodule) =
  let id = m.mod_theory.th_name in
  match Hid.find_opt programs id with
  | Some known -> known
  | None ->
      let { mod_known; _ } = Compile.(ExprSimplifications.module_ (Translate.module_ m)) in
      Hid.add programs id mod_known;
      mod_known

let define_once state m decl =
  let is_done id =
    Python_context.is_defined state.context id
    || Python_context.syntax state.context id <> None
  in
  match get_decl_name decl with
  | id :: _ when not (is_done id) -> define state.context m (Mid.find id (translate m))
  | _ -> ()

let demand state id =
  match Hid.find_opt state.waiting id with
  | None | Some (_, (Dlet (Lany _) | Dval _)) -> ()
  | Some (m, decl) ->
      List.iter (Hid.remove state.waiting) (get_decl_name decl);
      define_once state m decl

let create_state (driver : Pdriver.printer_args) output =
  let rec state =
    lazy
      (let emit s = Python_print.toplevel (Lazy.force state).output s in
       {
         context = Python_context.create driver ~emit;
         output;
         modules = List.concat_map module_of (Mid.keys driver.syntax);
         waiting = Hid.create 97;
       })
  in
  let state = Lazy.force state in
  Python_context.on_demand state.context (demand state);
  state

let state = ref None

let get_state driver output =
  match !state with
  | Some state ->
      state.output <- output;
      state
  | None ->
      let created = create_state driver output in
      state := Some created;
      created

(* Why3 gives the definitions one by one, those that others need first. The rest of a module that
   the driver knows is printed only if something needs it. *)
let print_decl driver ?old:_ ?fname:_ (m : Pmodule.pmodule) output decl =
  let state = get_state driver output in
  let theory = m.mod_theory in
  if List.mem (theory.th_path, theory.th_name.id_string) state.modules then
    List.iter (fun id -> Hid.replace state.waiting id (m, decl)) (get_decl_name decl)
  else define_once state m decl

let () =
  Whyml_printer.register "python" ~language:"Python" ~extension:".py" ~desc:"printer for Python 3.10"
    print_decl
