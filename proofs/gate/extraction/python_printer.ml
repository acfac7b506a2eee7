(* The extraction of WhyML programs to Python 3.10, as a printer of Why3.

   It fails closed: a symbol that has neither a definition among those that are extracted nor a
   syntax in the driver is an error, and so is whatever has no exact meaning in Python, or no use in
   the kernel. *)

open Why3
open Ident
open Mltree
module P = Python_ast

(* {1 Docstrings} *)

let comment id =
  let lines = Option.fold ~none:[] ~some:Whyml_source.doc_comment id.id_loc in
  if List.exists (fun line -> String.contains line '"' || String.contains line '\\') lines then
    Python_context.fail id.id_loc "a comment with a quote or a backslash is not supported";
  lines

let docstring id = match comment id with [] -> [] | lines -> [ P.Docstring lines ]

(* The comment, the exceptions, and the WhyML name, under which the contract is to be found: its
   formulas are in words of logic that the Python does not have. *)
let function_doc context { Expr.rs_name = id; rs_cty; _ } =
  let name xs = Python_context.exception_name context id.id_loc xs in
  let origin = [ "WhyML: " ^ Python_context.qualified id ] in
  let facts =
    match Ity.Sxs.elements rs_cty.cty_effect.eff_raises with
    | [] -> origin
    | raised -> ("Raises: " ^ String.concat ", " (List.map name raised)) :: origin
  in
  match comment id with [] -> facts | text -> text @ ("" :: facts)

(* {1 Types} *)

let generic context id name variables =
  match List.map (Python_context.type_variable context) variables with
  | [] -> P.Name name
  | [ t ] -> Subscript (Name name, t)
  | _ -> Python_context.fail id.id_loc "a type with two parameters is not supported"

(* a class whose objects do not change, with these fields *)
let data_class context id ~name ~variables fields =
  let field (label, ty) =
    P.Annotated (label, Python_context.python_type context id.id_loc ty, None)
  in
  let options = [ ("frozen", P.bool true); ("slots", P.bool true) ] in
  let bases = if variables = [] then [] else [ generic context id "Generic" variables ] in
  let decorators = [ P.Call (Name "dataclass", [], options) ] in
  P.Class { decorators; name; bases; body = docstring id @ List.map field fields }

(* the program that makes a record *)
let record_constructor (m : Pmodule.pmodule) id =
  let is_it d = id_equal d.Pdecl.itd_its.its_ts.ts_name id in
  match Mid.find_opt id m.mod_known with
  | Some { Pdecl.pd_node = PDtype l; _ } -> List.hd (List.find is_it l).itd_constructors
  | _ -> Python_context.fail id.id_loc "type %s is not known" id.id_string

let global context id =
  Python_context.new_global context (Python_scope.camel_case id.id_loc id.id_string)

let define_type context m { its_name = id; its_args = variables; its_def; its_private; _ } =
  let fail reason = Python_context.fail id.id_loc "the type %s %s" id.id_string reason in
  match its_def with
  | Some (Drecord fields) when (not its_private) && fields <> [] ->
      let field (is_mutable, id, ty) =
        if is_mutable then fail "has a field that changes";
        (Python_scope.identifier id.id_loc id.id_string, ty)
      in
      let name = global context id in
      let fields = List.map field fields in
      let symbol = Python_context.Record (name, List.map fst fields) in
      Python_context.define context id symbol;
      Python_context.define context (record_constructor m id).rs_name symbol;
      context.emit (data_class context id ~name ~variables fields)
  | Some (Ddata (_ :: _ :: _ as constructors)) ->
      let define (id, types) =
        let name = global context id in
        Python_context.define context id (Constructor name);
        let field i ty = (Printf.sprintf "item%d" i, ty) in
        let emit () =
          context.emit (data_class context id ~name ~variables (List.mapi field types));
          generic context id name variables
        in
        emit
      in
      let classes = List.map define constructors in
      let name = global context id in
      Python_context.define context id (Type name);
      let union a b = P.Binary (a, Bit_or, b) in
      let cases = List.map (fun emit -> emit ()) classes in
      let cases = List.fold_left union (List.hd cases) (List.tl cases) in
      context.emit (P.Annotated (name, Name "TypeAlias", Some cases))
  | _ -> fail "has no syntax in the driver, and is neither a record nor one of several classes"

(* {1 Programs} *)

(* the symbols in a definition; Why3 leaves out the bounds of loops *)
let dependencies decl body =
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
  bounds () body;
  !ids

(* the class of an exception *)
let exception_class id ~name payload =
  let init annotation =
    let self = P.Name "self" and value = P.Name "value" in
    let super = P.Attribute (P.call "super" [], "__init__") in
    let set = P.Assign (Attribute (self, "value"), value) in
    let parameters =
      [ { P.name = "self"; annotation = None }; { name = "value"; annotation = Some annotation } ]
    in
    let body = [ P.Expr (Call (super, [ value ], [])); set ] in
    P.Function { name = "__init__"; parameters; returns = P.none; body }
  in
  let body = docstring id @ Option.to_list (Option.map init payload) in
  P.Class { decorators = []; name; bases = [ Name "Exception" ]; body }

let define (context : Python_context.t) m decl =
  let refuse reason =
    let id = List.hd (get_decl_name decl) in
    Python_context.fail id.id_loc "%s %s" (Python_context.qualified id) reason
  in
  match decl with
  | Dtype [ ty ] -> define_type context m ty
  | Dexn (xs, payload) ->
      let id = xs.Ity.xs_name in
      let payload = Option.map (Python_context.python_type context id.id_loc) payload in
      let name = global context id in
      Python_context.define context id (Exception name);
      context.emit (exception_class id ~name payload)
  | Dlet (Lsym (symbol, _, result, (_ :: _ as arguments), body)) ->
      let id = symbol.rs_name in
      let depends = dependencies decl body in
      let name = Python_context.new_global context (Python_scope.identifier id.id_loc id.id_string) in
      Python_context.define context id (Function name);
      let doc = function_doc context symbol in
      context.emit
        (Python_program.function_ context ~name ~doc ~depends symbol arguments result body)
  | Dlet (Lsym _ | Lvar _) -> refuse "is a constant, which is not supported"
  | Dlet (Lrec _) | Dtype _ -> refuse "is recursive, which is not supported"
  | Dlet (Lany _) | Dval _ | Dmodule _ -> refuse "has no body and no syntax in the driver"

(* {1 The printer} *)

type state = {
  context : Python_context.t;
  modules : (string list * string) list;  (* those that the driver knows *)
}

let output = ref Format.std_formatter

let waiting : (Pmodule.pmodule * decl) Hid.t = Hid.create 97

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

let define_once context m decl =
  let is_done id = Python_context.(is_defined context id || syntax context id <> None) in
  match get_decl_name decl with
  | id :: _ when not (is_done id) -> define context m (Mid.find id (translate m))
  | _ -> ()

let create (driver : Pdriver.printer_args) =
  let rec context =
    lazy
      (let demand id =
         match Hid.find_opt waiting id with
         | None | Some (_, (Dlet (Lany _) | Dval _)) -> ()
         | Some (m, decl) ->
             List.iter (Hid.remove waiting) (get_decl_name decl);
             define_once (Lazy.force context) m decl
       in
       let emit s = Python_print.toplevel !output s in
       Python_context.create driver ~emit ~demand)
  in
  let module_of id =
    match Pmodule.restore_path id with
    | path, name, _ -> [ (path, name) ]
    | exception Not_found -> []
  in
  { context = Lazy.force context; modules = List.concat_map module_of (Mid.keys driver.syntax) }

let state = ref None

(* Why3 gives the definitions one by one, those that others need first. The rest of a module that
   the driver knows is printed only if something needs it. *)
let print_decl driver ?old:_ ?fname:_ (m : Pmodule.pmodule) formatter decl =
  output := formatter;
  if !state = None then state := Some (create driver);
  let { context; modules } = Option.get !state in
  let theory = m.mod_theory in
  if List.mem (theory.th_path, theory.th_name.id_string) modules then
    List.iter (fun id -> Hid.replace waiting id (m, decl)) (get_decl_name decl)
  else define_once context m decl

let () =
  Whyml_printer.register "python" ~language:"Python" ~extension:".py"
    ~desc:"printer for Python 3.10" print_decl
