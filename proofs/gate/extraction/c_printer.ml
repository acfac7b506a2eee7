(* The extraction of WhyML programs to C, by Why3's own printer. Each function and its calls first
   get their C names. A line before each definition has its WhyML name and place, which
   extraction.py reads to make the files. *)

open Why3
open Mltree
open Whyml_printer

(* The public functions; all others are static. *)
let public =
  [ "c.shapes.COPShape.broadcast_shape"; "c.numpy_shape.COPNumpyShape.numpy_shape";
    "c.strides.COPStrides.broadcast_strides";
    "c.sizes.COPSize.byte_size"; "c.broadcast.COPBroadcast.broadcast";
    "c.broadcast_all.COPBroadcastAll.broadcast_all"; "c.plan.COPPlan.plan";
    "c.plan.COPPlan.plan_views"; "c.steps.COPSteps.first"; "c.steps.COPSteps.next" ]

(* Why3 finds its printer only by the name in a driver. *)
let why3_printer =
  let find (args : Pdriver.printer_args) =
    let file, channel = Filename.open_temp_file "why3" ".drv" in
    output_string channel "printer \"c\"\n";
    close_out channel;
    let find () = snd (Pdriver.lookup_printer (Api.load_printer_driver args.env file)) in
    Fun.protect ~finally:(fun () -> Sys.remove file) find
  in
  let found = ref None in
  fun args ->
    if !found = None then found := Some (find args).flat_printer;
    Option.get !found

(* {1 Definitions} *)

let rec instances units =
  let inside = function
    | Pmodule.Uclone instance -> [ instance ]
    | Uscope (_, units) -> instances units
    | Udecl _ | Uuse _ | Umeta _ -> []
  in
  List.concat_map inside units

(* the identifier at its definition: for a symbol of an instance, in the template *)
let rec original (m : Pmodule.pmodule) (id : Ident.ident) =
  let of_instance (instance : Pmodule.mod_inst) =
    let is_it (_, (here : Expr.rsymbol)) = Ident.id_equal here.rs_name id in
    let found = List.find_opt is_it (Expr.Mrs.bindings instance.mi_rs) in
    Option.map (fun ((there : Expr.rsymbol), _) -> (instance.mi_mod, there.rs_name)) found
  in
  match List.find_map of_instance (instances m.mod_units) with
  | Some (template, there) when not (Ident.id_equal there id) -> original template there
  | _ -> id

let is_public id =
  match Pmodule.restore_path id with
  | [ "c"; "codes" ], _, _ -> true
  | _ -> List.mem (qualified id) public

(* {1 Names} *)

(* In the instance [W2], for words of two bytes, a name ends in [_2]. Public functions and codes
   begin with [whycast_], other names with [wc_]: none clashes if files are compiled as one. *)
let c_name id =
  let _, _, scopes = Pmodule.restore_path id in
  let width scope =
    match int_of_string_opt (String.sub scope 1 (String.length scope - 1)) with
    | Some width when scope = Printf.sprintf "W%d" width -> "_" ^ string_of_int width
    | _ -> fail id "stands in a scope that is not named as W2 is, for words of 2 bytes"
  in
  match List.rev scopes with
  | [ name ] when is_public id -> "whycast_" ^ name
  | name :: scopes -> String.concat "" ("wc_" :: name :: List.rev_map width scopes)
  | [] -> fail id "has no name"

let static = Ident.create_attribute "extraction:c_static_inline"

(* The printed definitions, with their names in C. *)
let known : Expr.rsymbol Ident.Hid.t = Ident.Hid.create 97

(* A new symbol for the definition, with its name in C. Why3's printer uses this name, and appends a
   number if another definition has the same name. *)
let define (rs : Expr.rsymbol) =
  let id = rs.rs_name in
  let attrs = if is_public id then Ident.Sattr.empty else Ident.Sattr.singleton static in
  let named = Expr.create_rsymbol (Ident.id_fresh ~attrs ?loc:id.id_loc (c_name id)) rs.rs_cty in
  Ident.Hid.add known id named;
  named

(* Built into Why3's printer: references, true and false. *)
let built_in = [ Pmodule.rs_ref; Pmodule.rs_ref_proj; Expr.rs_true; Expr.rs_false ]

(* The body with the C names of definitions above. *)
let rec rename (args : Pdriver.printer_args) e =
  let { e_node; _ } as e = e_map (rename args) e in
  match e_node with
  | Eapp (rs, arguments, partial) when not (Ident.Mid.mem rs.rs_name args.syntax) -> (
      match Ident.Hid.find_opt known rs.rs_name with
      | Some named -> { e with e_node = Eapp (named, arguments, partial) }
      | None when List.exists (Expr.rs_equal rs) built_in -> e
      | None -> fail rs.rs_name "has neither a definition above nor a syntax in the driver")
  (* Why3's printer evaluates bounds in another order, and their references in each round. *)
  | Efor (i, _, _, _, _, _) -> fail i.pv_vs.vs_name "counts a loop, which has no C here"
  | _ -> e

(* {1 The printer} *)

let print_decl (args : Pdriver.printer_args) ?old ?fname m output decl =
  let is_in_driver id = Ident.Mid.mem id args.syntax in
  match decl with
  | _ when List.for_all is_in_driver (get_decl_name decl) -> ()
  | Dlet (Lsym ({ rs_name = id; _ }, _, _, _, _)) ->
      let rs, arguments, body = Erase.program m id in
      Format.fprintf output "@\n/*@@ %s %s @@*/@\n" (qualified id) (place (original m id));
      let body = rename args body in
      let parameter pv = (pv.Ity.pv_vs.vs_name, Erase.type_of pv.pv_ity, false) in
      let result = Erase.type_of rs.rs_cty.cty_result in
      let parameters = List.map parameter arguments in
      let named = Dlet (Lsym (define rs, Ty.Stv.empty, result, parameters, body)) in
      (why3_printer args).Pdriver.decl_printer args ?old ?fname m output named
  | _ -> List.iter (fun id -> fail id "has no C here") (get_decl_name decl)

let () =
  register "documented-c" ~desc:"Why3's printer for C, with names and places of WhyML" print_decl
