(* What the extraction knows about WhyML symbols: their Python names, and the driver's syntax. *)

open Why3
open Ident
open Wstdlib

type constructor = { class_name : string; fields : string list; by_name : bool }

type symbol =
  | Function of string
  | Constant of string
  | Constructor of constructor
  | Field of string
  | Exception of string
  | Type of { type_name : string; is_union : bool }

type t = {
  emit : Python_ast.stmt -> unit;
  mutable demand : ident -> unit;
  reserved : Sstr.t;
  symbols : symbol Hid.t;
  globals : unit Hstr.t;  (* the module-level names taken so far *)
  templates : Python_template.t Mid.t;
  mutable type_variables : string Ty.Mtv.t;  (* those of the present definition *)
  declared_type_variables : string Hstr.t;  (* Python name, by WhyML name *)
}

let fail loc format = Loc.errorm ?loc format

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

let create (driver : Pdriver.printer_args) ~emit =
  let templates = Mid.mapi parse driver.syntax in
  let template_names = List.concat_map Python_template.names (Mid.values templates) in
  {
    emit;
    demand = ignore;
    reserved = Sstr.of_list (own_names @ driver.blacklist @ template_names);
    symbols = Hid.create 97;
    globals = Hstr.create 97;
    templates;
    type_variables = Ty.Mtv.empty;
    declared_type_variables = Hstr.create 7;
  }

let on_demand context demand = context.demand <- demand

let emit context = context.emit

let syntax context id = Mid.find_opt id context.templates

let new_global context base =
  let taken x = Sstr.mem x context.reserved || Hstr.mem context.globals x in
  let name = Python_scope.unused ~taken base in
  Hstr.add context.globals name ();
  name

let private_name x = "_" ^ Python_scope.camel_case x

let define context id symbol = Hid.replace context.symbols id symbol

let is_defined context id = Hid.mem context.symbols id

(* A definition that is made only because this place asks for it fails here, too. *)
let demand context loc id =
  try context.demand id with
  | Loc.Located (_, Loc.Message reason) | Loc.Message reason ->
      fail loc "%s is not extracted: %s" (qualified id) reason

let find context loc id =
  if not (is_defined context id) then demand context loc id;
  Hid.find_opt context.symbols id

let symbol context loc id =
  match find context loc id with
  | Some symbol -> symbol
  | None ->
      fail loc "%s has neither a definition that is extracted nor a syntax in the driver"
        (qualified id)

let python_name = function
  | Function name | Constant name | Field name | Exception name -> name
  | Constructor { class_name; _ } -> class_name
  | Type { type_name; _ } -> type_name

let exception_name context loc xs =
  if Mid.mem xs.Ity.xs_name context.templates then
    fail loc "exception %s: a syntax for exceptions is not supported" (qualified xs.Ity.xs_name);
  python_name (symbol context loc xs.Ity.xs_name)

let names_to_avoid context loc ids =
  let add names id =
    match find context loc id with
    | None | Some (Field _) -> names
    | Some symbol -> Sstr.add (python_name symbol) names
  in
  List.fold_left add context.reserved ids

(* {1 Types} *)

let in_definition context define =
  let outer = context.type_variables in
  context.type_variables <- Ty.Mtv.empty;
  define ();
  context.type_variables <- outer

(* Python type variables live at module level; every definition uses the same ones again. *)
let declare_type_variable context base =
  match Hstr.find_opt context.declared_type_variables base with
  | Some name -> name
  | None ->
      let name = new_global context base in
      Hstr.add context.declared_type_variables base name;
      let value = Python_ast.call "TypeVar" [ Python_ast.Constant (Str name) ] in
      context.emit (Assign (Name name, value));
      name

let type_variable context tv =
  match Ty.Mtv.find_opt tv context.type_variables with
  | Some name -> Python_ast.Name name
  | None ->
      let taken x = List.mem x (Ty.Mtv.values context.type_variables) in
      let base = private_name tv.Ty.tv_name.id_string in
      let rec choose n =
        let name =
          declare_type_variable context (if n = 1 then base else base ^ string_of_int n)
        in
        if taken name then choose (n + 1) else name
      in
      let name = choose 1 in
      context.type_variables <- Ty.Mtv.add tv name context.type_variables;
      Name name

let is_unit = function
  | Mltree.Ttuple [] -> true
  | _ -> false

let is_reference ity =
  match ity.Ity.ity_node with
  | Ityreg { reg_its = its; _ } | Ityapp (its, _, _) -> Ity.its_equal its Pmodule.its_ref
  | Ityvar _ -> false

let rec is_polymorphic = function
  | Mltree.Tvar _ -> true
  | Ttuple l | Tapp (_, l) -> List.exists is_polymorphic l
  | Tarrow (a, b) -> is_polymorphic a || is_polymorphic b

let instantiate_type loc id template args =
  if List.exists (fun n -> n > List.length args) (Python_template.holes template) then
    fail loc "the driver's syntax for type %s has too many holes" (qualified id);
  match Python_template.instantiate template args with
  | Value t -> t
  | Update _ -> fail loc "the driver's syntax for type %s is a statement" (qualified id)

let rec python_type context loc ty =
  let types = List.map (python_type context loc) in
  match ty with
  | Mltree.Tvar tv -> type_variable context tv
  | Ttuple [] -> Python_ast.none
  | Ttuple [ t ] -> python_type context loc t
  | Ttuple l -> Subscript (Name "tuple", Tuple (types l))
  | Tarrow _ -> fail loc "a function that is a value is not supported"
  | Tapp (id, _) when id_equal id Pmodule.ts_ref.ts_name ->
      fail loc
        "a reference may only be a local variable: this one is a parameter, a result or a part"
  | Tapp (id, args) -> (
      match syntax context id with
      | Some template -> instantiate_type loc id template (types args)
      | None -> (
          match symbol context loc id, args with
          | Type { type_name; _ }, [] -> Name type_name
          | Type { type_name; _ }, [ t ] -> Subscript (Name type_name, python_type context loc t)
          | Type { type_name; _ }, l -> Subscript (Name type_name, Tuple (types l))
          | _ -> fail loc "%s is not a type" (qualified id)))

let rec ml_type ty =
  match ty.Ty.ty_node with
  | Tyvar tv -> Mltree.Tvar tv
  | Tyapp (ts, args) when Ty.is_ts_tuple ts -> Ttuple (List.map ml_type args)
  | Tyapp (ts, [ a; b ]) when Ty.ts_equal ts Ty.ts_func -> Tarrow (ml_type a, ml_type b)
  | Tyapp (ts, args) -> Tapp (ts.ts_name, List.map ml_type args)

let rec mentions_union context ty =
  match ty with
  | Mltree.Tvar _ -> false
  | Tarrow (a, b) -> mentions_union context a || mentions_union context b
  | Ttuple l -> List.exists (mentions_union context) l
  | Tapp (id, args) -> (
      List.exists (mentions_union context) args
      || match find context None id with Some (Type { is_union; _ }) -> is_union | _ -> false)
