(** API differences between Why3 versions: this is for 1.5.1. *)

open Why3

type effects = Ity.effect

(** The file, line and column at which something begins. *)
let start loc =
  let file, line, column, _ = Loc.get loc in
  (file, line, column)

let driver_name (p : Whyconf.config_prover) = p.driver
let load_driver = Whyconf.load_driver
let load_printer_driver env file = Pdriver.load_driver env file []
