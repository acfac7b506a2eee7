(** The project's tree as Why3 sees it: configuration, library path, provers, places.

    The tool runs in the root of the tree, so you can open each printed path. The theory
    [why3/core/shape.mlw] has its proofs in [proofs/sessions/core/shape.proofs]. *)

open Why3

let theories_dir = "why3"

type t = { config : Whyconf.config; main : Whyconf.main; env : Env.env; root : string }

(** The project in another tree. *)
let at root project =
  let library = Filename.concat (Whyconf.datadir project.main) "stdlib" in
  let root = Unix.realpath root in
  let loadpath = [ Filename.concat root theories_dir; library ] in
  { project with main = Whyconf.set_loadpath project.main loadpath; env = Env.create_env loadpath; root }

let load ~config_file =
  let config = Whyconf.init_config (Some config_file) in
  at (Sys.getcwd ()) { config; main = Whyconf.get_main config; env = Env.create_env []; root = "" }

(** [["core"; "shape"]] *)
let library_path theory =
  List.tl (String.split_on_char '/' (Filename.remove_extension theory))

let session_file theory = String.concat "/" ("proofs/sessions" :: library_path theory) ^ ".proofs"
let absolute project path = Filename.concat project.root path

let contains ~part text =
  match Re.Str.search_forward (Re.Str.regexp_string part) text 0 with
  | _ -> true
  | exception Not_found -> false

(** A text without this prefix. *)
let after prefix text =
  let n = String.length prefix in
  if String.starts_with ~prefix text then String.sub text n (String.length text - n) else text

let message e =
  let text =
    match e with Failure text -> text | _ -> Format.asprintf "@[<h>%a@]" Exn_printer.exn_printer e
  in
  String.concat " " (List.filter (( <> ) "") (String.split_on_char '\n' text))

(** [why3/core/shape.mlw] for a file of the tree, by any path to it; else the absolute path. *)
let relative project path =
  let absolute = if Filename.is_relative path then absolute project path else path in
  let real = try Unix.realpath absolute with Unix.Unix_error _ -> absolute in
  after (project.root ^ "/") real

(** ([file], [line]) of a source position. *)
let position project loc =
  let file, line, _ = Api.start loc in
  (relative project file, line)

(** [why3/core/shape.mlw:42] *)
let place project loc =
  let file, line = position project loc in
  Printf.sprintf "%s:%d" file line

(** The message of an exception, after [file:line: ] if it has a place. *)
let errors project = function
  | Loc.Located (loc, e) -> [ place project loc ^ ": " ^ message e ]
  | e -> [ message e ]

(** Catches all exceptions except an interruption and lack of memory. *)
let attempt f =
  match f () with
  | found -> Ok found
  | exception ((Sys.Break | Out_of_memory) as e) -> raise e
  | exception e -> Error e

(** {1 Provers} *)

(** From fast to slow. A search tries provers in this order, after those of recorded proofs, until
    two families prove the task. *)
let preference = [ "Alt-Ergo"; "Z3"; "CVC5"; "CVC4" ]

let provers project =
  let known = Whyconf.Mprover.values (Whyconf.get_provers project.config) in
  let is name (p : Whyconf.config_prover) = p.prover.prover_name = name in
  List.concat_map (fun name -> List.filter (is name) known) preference
