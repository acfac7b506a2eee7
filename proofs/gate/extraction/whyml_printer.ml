(* What the printers for Python and C tell Why3: each makes one file of all modules. *)

open Why3

let register name ~language ~extension ~desc print_decl =
  let refuse_modular _ ?old:_ ?fname:_ _ _ _ =
    Loc.errorm "%s is extracted to one file: use the option --flat" language
  in
  let file_name ?fname:_ (m : Pmodule.pmodule) =
    String.lowercase_ascii m.mod_theory.th_name.id_string ^ extension
  in
  let file_printer decl_printer =
    {
      Pdriver.filename_generator = file_name;
      decl_printer;
      header_printer = Pdriver.dummy_border_printer;
      prelude_printer = Pdriver.default_prelude_printer;
      footer_printer = Pdriver.dummy_border_printer;
    }
  in
  Pdriver.register_printer name
    {
      desc;
      implem_printer = file_printer refuse_modular;
      interf_printer = None;
      flat_printer = file_printer print_decl;
    }
