(** Programs executed by Why3's own interpreter.

    It cannot compute with a symbol that has no body. Those of [seq.Seq] and [kernel.trusted.Tuple]
    get one here, by their names: that of the same name in [bodies.Bodies], where a sequence is an
    array. The interpreter does not look at types. *)

open Why3
open Expr
open Pinterp_core.Value

exception No_value of string

let rec json v : Json_base.json =
  match Pinterp_core.v_desc v with
  | Vnum n -> String (BigInt.to_string n)
  | Vbool b -> Bool b
  | Varray found -> List (List.map json (Array.to_list found))
  | Vconstr (rs, _, fields) ->
      let fields = List.map (fun f -> json (Pinterp_core.field_get f)) fields in
      if not (is_rs_tuple rs) then Value.made rs fields
      else if fields = [] then Null
      else List fields
  | _ -> raise (No_value "no value that is printed")

(** {1 Bodies} *)

let callable (m : Pmodule.pmodule) (rs : rsymbol) =
  match (Ident.Mid.find rs.rs_name m.mod_known).pd_node with
  | PDlet (LDsym (_, ({ c_node = Cfun _; _ } as c))) -> Some c
  | _ -> None

let with_bodies (env : Pinterp_core.env) =
  let bodies = Pmodule.read_module env.why_env [ "bodies" ] "Bodies" in
  let add name (symbol : Pmodule.prog_symbol) found =
    match symbol with
    | RS rs -> (
        match Pmodule.ns_find_rs bodies.mod_export [ name ] with
        | body when not (rs_equal body rs) -> (
            match callable bodies body with
            | Some c -> Mrs.add rs (c, None) found
            | None -> found)
        | _ | (exception Not_found) -> found)
    | PV _ | OO _ -> found
  in
  let of_module found (path, name) =
    let m = Pmodule.read_module env.why_env path name in
    Wstdlib.Mstr.fold add m.mod_export.ns_ps found
  in
  let modules = [ ([ "array" ], "Array"); ([ "seq" ], "Seq"); ([ "kernel"; "trusted" ], "Tuple") ] in
  let found = List.fold_left of_module env.funenv modules in
  let of_bodies name = Pmodule.ns_find_rs bodies.mod_export [ name ] in
  let identity = Option.get (callable bodies (of_bodies "identity")) in
  { env with funenv = Mrs.add (of_bodies "as_new") (identity, None) found }

(** {1 Calls} *)

let message e =
  let text = Format.asprintf "%a" Exn_printer.exn_printer e in
  String.concat " " (String.split_on_char '\n' text)

(** What the interpreter raises where it fails is not documented: anything is taken for it. *)
let executed env m body : Json_base.json =
  let run () : Json_base.json =
    let context = Pinterp.mk_ctx (with_bodies (Pinterp.mk_empty_env env m)) () in
    match Pinterp.exec_global_fundef context [] None body with
    | Pinterp.Normal v, _, _ -> Record [ ("value", json v) ]
    | Excep (xs, v), _, _ ->
        Record [ ("raised", String xs.xs_name.id_string); ("value", json v) ]
    | Irred _, _, _ -> raise (No_value "an expression that is not reduced")
  in
  match Project.attempt run with
  | Ok found -> found
  | Error (No_value reason) -> Record [ ("stuck", String reason) ]
  | Error e -> Record [ ("stuck", String (message e)) ]

(** Each function of the module is a call, those of its source in their order. *)
let calls (m : Pmodule.pmodule) =
  let of_unit = function
    | Pmodule.Udecl { pd_node = PDlet (LDsym (_, { c_node = Cfun body; _ })); _ } -> [ body ]
    | _ -> []
  in
  List.concat_map of_unit m.mod_units
