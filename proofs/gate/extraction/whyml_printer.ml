(* Shared by the printers for Python and C: names, places, registration with Why3. *)

open Why3

let fail (id : Ident.ident) reason = Loc.errorm ?loc:id.id_loc "%s %s" id.id_string reason

(* the full WhyML name *)
let qualified (id : Ident.ident) =
  match Pmodule.restore_path id with
  | library, m, scopes -> String.concat "." (library @ (m :: scopes))
  | exception Not_found -> id.id_string

(* The place of the name. Why3 drops comments: extraction.py reads the comment before this place. *)
let place (id : Ident.ident) =
  match id.id_loc with
  | None -> fail id "has no place"
  | Some loc ->
      let file, line, column = Api.start loc in
      Printf.sprintf "%s:%d:%d" file line column

(* All modules become one file. *)
let register name ~desc decl_printer =
  let printer =
    {
      Pdriver.filename_generator = (fun ?fname:_ _ -> name);
      decl_printer;
      header_printer = Pdriver.dummy_border_printer;
      prelude_printer = Pdriver.default_prelude_printer;
      footer_printer = Pdriver.dummy_border_printer;
    }
  in
  Pdriver.register_printer name
    { desc; implem_printer = printer; interf_printer = None; flat_printer = printer }
