(** The project's tree as Why3 sees it: configuration, library path, theories and their sessions.

    The tool runs in the root of the tree, so that every path it prints is one that a reader can
    open: the theory [why3/shape.mlw] has its session in [proofs/shape/]. *)

open Why3

let theories_dir = "why3"
let proofs_dir = "proofs"

type t = { config : Whyconf.config; main : Whyconf.main; env : Env.env; root : string }

let load ~config_file =
  let config = Whyconf.init_config (Some config_file) in
  let main = Whyconf.get_main config in
  let root = Sys.getcwd () in
  let loadpath = Filename.concat root theories_dir :: Whyconf.loadpath main in
  let main = Whyconf.set_loadpath main loadpath in
  let config = Whyconf.set_main config main in
  Whyconf.load_plugins main;
  { config; main; env = Env.create_env loadpath; root }

let contains ~part text =
  match Re.Str.search_forward (Re.Str.regexp_string part) text 0 with
  | _ -> true
  | exception Not_found -> false

let stem theory_file = Filename.remove_extension (Filename.basename theory_file)
let session_dir theory_file = Filename.concat proofs_dir (stem theory_file)

let message e =
  let text = Format.asprintf "@[<h>%a@]" Exn_printer.exn_printer e in
  String.concat " " (List.filter (( <> ) "") (String.split_on_char '\n' text))

(** Collapses [a/../b] and takes the root away: [why3/shape.mlw] for our own files, the library's
    absolute path for the rest. *)
let relative project path =
  let step acc = function
    | "" | "." -> acc
    | ".." -> ( match acc with _ :: up -> up | [] -> [])
    | part -> part :: acc
  in
  let absolute = if Filename.is_relative path then Filename.concat project.root path else path in
  let parts = List.fold_left step [] (String.split_on_char '/' absolute) in
  let path = "/" ^ String.concat "/" (List.rev parts) in
  let prefix = project.root ^ "/" in
  let n = String.length prefix in
  if String.length path > n && String.sub path 0 n = prefix then
    String.sub path n (String.length path - n)
  else path

(** ([file], [line]) of a source position. *)
let position project loc =
  let file, line, _, _ = Loc.get loc in
  (relative project file, line)

(** Errors of parsing and typing, as [file:line: message]. *)
let rec errors project = function
  | Controller_itp.Errors_list l -> List.concat_map (errors project) l
  | Loc.Located (loc, e) ->
      let file, line = position project loc in
      [ Printf.sprintf "%s:%d: %s" file line (message e) ]
  | e -> [ message e ]

(** The provers from cheap to dear. A search starts them in this order and keeps the two families
    that answer first: what it finds is what every replay pays for. *)
let preference = [ "Alt-Ergo"; "Z3"; "CVC5"; "CVC4" ]

let rank name =
  let rec go i = function
    | [] -> i
    | x :: rest -> if x = name then i else go (i + 1) rest
  in
  go 0 preference

(** CVC5 is CVC4's successor and shares its ideas and code: one family. *)
let family (p : Whyconf.prover) =
  match p.prover_name with "CVC4" | "CVC5" -> "CVC" | name -> name

(** Why3 adds alternatives of its own to a detected prover (counterexamples and the like); a proof
    is by the prover itself. *)
let provers config =
  let plain (p : Whyconf.config_prover) = p.prover.prover_altern = "" in
  let compare_provers (a : Whyconf.config_prover) (b : Whyconf.config_prover) =
    compare (rank a.prover.prover_name, a.prover) (rank b.prover.prover_name, b.prover)
  in
  let known = Whyconf.Mprover.values (Whyconf.get_provers config) in
  List.sort compare_provers (List.filter plain known)
