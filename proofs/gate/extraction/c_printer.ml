(* The extraction of WhyML programs to C: Why3's own printer, with a line before each definition that
   says what is defined, and the comment that stands before it in WhyML. Names, layout and what is
   seen from outside are for who reads that: gate/c_extraction.py. *)

open Why3

(* Why3's printer is found by what a driver names, and in no other way. *)
let why3_printer (args : Pdriver.printer_args) =
  let file, channel = Filename.open_temp_file "why3" ".drv" in
  output_string channel "printer \"c\"\n";
  close_out channel;
  let find () = snd (Pdriver.lookup_printer (Pdriver.load_driver args.env file [])) in
  Fun.protect ~finally:(fun () -> Sys.remove file) find

(* {1 What is defined} *)

let rec instances units =
  let inside = function
    | Pmodule.Uclone instance -> [ instance ]
    | Uscope (_, units) -> instances units
    | Udecl _ | Uuse _ | Umeta _ -> []
  in
  List.concat_map inside units

(* where the name is defined: what an instance has from a template stands there *)
let rec place (m : Pmodule.pmodule) (id : Ident.ident) =
  let of_instance (instance : Pmodule.mod_inst) =
    let is_it (_, (here : Expr.rsymbol)) = Ident.id_equal here.rs_name id in
    let found = List.find_opt is_it (Expr.Mrs.bindings instance.mi_rs) in
    Option.map (fun ((there : Expr.rsymbol), _) -> (instance.mi_mod, there.rs_name)) found
  in
  match List.find_map of_instance (instances m.mod_units) with
  | Some (template, there) when not (Ident.id_equal there id) -> place template there
  | _ -> id.id_loc

let qualified id =
  let library, m, scopes = Pmodule.restore_path id in
  String.concat "." (library @ (m :: scopes))

let print_head m output id =
  let comment = Option.fold ~none:[] ~some:Whyml_source.doc_comment (place m id) in
  Format.fprintf output "@\n/*@@ %s@\n" (qualified id);
  List.iter (Format.fprintf output "%s@\n") comment;
  Format.fprintf output "@@*/@\n"

(* {1 The printer} *)

let printer = ref None

let get_printer args =
  match !printer with
  | Some known -> known
  | None ->
      let found = (why3_printer args).Pdriver.flat_printer in
      printer := Some found;
      found

let print_decl args ?old ?fname m output decl =
  List.iter (print_head m output) (Mltree.get_decl_name decl);
  (get_printer args).Pdriver.decl_printer args ?old ?fname m output decl

let () =
  Whyml_printer.register "documented-c" ~language:"C" ~extension:".c"
    ~desc:"Why3's printer for C, with names and comments of WhyML" print_decl
