(** API differences between Why3 versions: this is for 1.6.0. *)

open Why3

type effects = Ity.effect

(** The file, line and column at which something begins. *)
let start loc =
  let file, line, column, _, _ = Loc.get loc in
  (file, line, column)

let driver_name (p : Whyconf.config_prover) = p.driver
let load_driver = Driver.load_driver_for_prover

let load_printer_driver env file =
  Pdriver.load_driver (Whyconf.get_main (Whyconf.default_config "")) env file []
