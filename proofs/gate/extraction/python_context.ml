(* What the extraction knows about WhyML symbols: their Python names, and the driver's syntax. *)

open Why3
open Ident
open Wstdlib

type symbol =
  | Function of string
  | Exception of string
  | Type of string
  | Constructor of string  (* its class; arguments by position *)
  | Record of string * string list  (* its class and fields; arguments by name *)

type t = {
  emit : Python_ast.stmt -> unit;  (* writes a definition, before the one that is being made *)
  demand : ident -> unit;  (* defines a symbol whose definition has been waiting *)
  reserved : Sstr.t;
  symbols : symbol Hid.t;
  globals : unit Hstr.t;  (* the names of the module that are taken *)
  templates : Python_template.t Mid.t;
  type_variables : string Hstr.t;  (* Python name, by WhyML name *)
}

(* An extraction that cannot be exact fails here, with the place and the reason. *)
let fail loc format = Loc.errorm ?loc format

(* the full WhyML name *)
let qualified id =
  let local = Format.asprintf "%a" Ident.print_decoded id.id_string in
  match Pmodule.restore_path id with
  | path, name, _ -> String.concat "." (path @ [ name; local ])
  | exception Not_found -> local

let parse id (text, _) =
  match Python_template.parse text with
  | template -> template
  | exception Python_template.Syntax_error _ ->
      fail None "the driver's syntax \"%s\" for %s is not understood" text (qualified id)

(* names that the printer itself writes *)
let own_names =
  [ "AssertionError"; "Exception"; "Generic"; "TypeAlias"; "TypeVar"; "dataclass"; "enumerate";
    "range"; "super"; "tuple" ]

let create (driver : Pdriver.printer_args) ~emit ~demand =
  let templates = Mid.mapi parse driver.syntax in
  let template_names = List.concat_map Python_template.names (Mid.values templates) in
  {
    emit;
    demand;
    reserved = Sstr.of_list (own_names @ driver.blacklist @ template_names);
    symbols = Hid.create 97;
    globals = Hstr.create 97;
    templates;
    type_variables = Hstr.create 7;
  }

let syntax context id = Mid.find_opt id context.templates

(* takes a name of the module that is close to this one *)
let new_global context base =
  let taken x = Sstr.mem x context.reserved || Hstr.mem context.globals x in
  let name = Python_scope.unused ~taken base in
  Hstr.add context.globals name ();
  name

let define context id symbol = Hid.replace context.symbols id symbol

let is_defined context id = Hid.mem context.symbols id

(* A definition that is made only because this place asks for it fails here, too. *)
let find context loc id =
  (try if not (is_defined context id) then context.demand id with
  | Loc.Located (_, Loc.Message reason) | Loc.Message reason ->
      fail loc "%s is not extracted: %s" (qualified id) reason);
  Hid.find_opt context.symbols id

(* the symbol, or a failure that says that it has neither a definition nor a syntax *)
let symbol context loc id =
  match find context loc id with
  | Some symbol -> symbol
  | None ->
      fail loc "%s has neither a definition that is extracted nor a syntax in the driver"
        (qualified id)

let exception_name context loc xs =
  match symbol context loc xs.Ity.xs_name with
  | Exception name -> name
  | _ -> fail loc "%s is not an exception" (qualified xs.xs_name)

(* names that no variable may have in a definition, at this place, that depends on these symbols *)
let names_to_avoid context loc ids =
  let add names id =
    match find context loc id with
    | None -> names
    | Some (Function name | Exception name | Type name | Constructor name | Record (name, _)) ->
        Sstr.add name names
  in
  List.fold_left add context.reserved ids

(* {1 Types} *)

(* Type variables live at module level; every definition uses the same ones again. *)
let type_variable context (tv : Ty.tvsymbol) =
  let base = tv.tv_name.id_string in
  match Hstr.find_opt context.type_variables base with
  | Some name -> Python_ast.Name name
  | None ->
      let name = new_global context ("_" ^ Python_scope.camel_case tv.tv_name.id_loc base) in
      Hstr.add context.type_variables base name;
      let value = Python_ast.call "TypeVar" [ Python_ast.Constant (Str name) ] in
      context.emit (Assign (Name name, value));
      Name name

let is_unit = function
  | Mltree.Ttuple [] -> true
  | _ -> false

let is_reference ity =
  match ity.Ity.ity_node with
  | Ityreg { reg_its = its; _ } | Ityapp (its, _, _) -> Ity.its_equal its Pmodule.its_ref
  | Ityvar _ -> false

let rec python_type context loc ty =
  match ty with
  | Mltree.Tvar tv -> type_variable context tv
  | Ttuple [] -> Python_ast.none
  | Ttuple l -> Subscript (Name "tuple", Tuple (List.map (python_type context loc) l))
  | Tarrow _ -> fail loc "a function that is a value is not supported"
  | Tapp (id, _) when id_equal id Pmodule.ts_ref.ts_name ->
      fail loc
        "a reference may only be a local variable: this one is a parameter, a result or a part"
  | Tapp (id, args) -> (
      let args = List.map (python_type context loc) args in
      match syntax context id with
      | Some template -> (
          if List.exists (fun n -> n < 1 || n > List.length args) (Python_template.holes template)
          then fail loc "the driver's syntax for type %s has too many holes" (qualified id);
          match Python_template.instantiate template args with
          | Value t -> t
          | Update _ -> fail loc "the driver's syntax for type %s is a statement" (qualified id))
      | None -> (
          match (symbol context loc id, args) with
          | (Type name | Record (name, _)), [] -> Name name
          | Type name, [ t ] -> Subscript (Name name, t)
          | _ -> fail loc "%s is not a type of at most one parameter" (qualified id)))
