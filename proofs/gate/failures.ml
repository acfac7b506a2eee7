(** Prover runs that did not prove, remembered between updates: a task is known by its checksum,
    and a prover that failed within some seconds is not asked again with fewer. *)

open Why3

type answer = { seconds : int; text : string }
type t = { known : (string * string, answer) Hashtbl.t; channel : out_channel }

let key task prover =
  let sum = Termcode.task_checksum task in
  (Termcode.string_of_checksum sum, Whyconf.prover_parseable_format prover)

let read file =
  let known = Hashtbl.create 997 in
  let line l =
    match String.split_on_char '\t' l with
    | [ sum; prover; seconds; text ] ->
        Hashtbl.replace known (sum, prover) { seconds = int_of_string seconds; text }
    | _ -> ()
  in
  if Sys.file_exists file then begin
    let ic = open_in file in
    (try while true do line (input_line ic) done with End_of_file -> close_in ic)
  end;
  known

let rec make_directory dir =
  if not (Sys.file_exists dir) then begin
    make_directory (Filename.dirname dir);
    Sys.mkdir dir 0o755
  end

(** [forget]: start without what is known. *)
let load ~forget file =
  make_directory (Filename.dirname file);
  if forget && Sys.file_exists file then Sys.remove file;
  let known = read file in
  { known; channel = open_out_gen [ Open_append; Open_creat ] 0o644 file }

let find t task prover = Hashtbl.find_opt t.known (key task prover)

let mem t task prover ~seconds =
  match find t task prover with Some a -> a.seconds >= seconds | None -> false

let add t task prover ~seconds answer =
  let text = Format.asprintf "%a" Call_provers.print_prover_answer answer in
  let text = String.map (function '\t' | '\n' -> ' ' | c -> c) text in
  let sum, name = key task prover in
  Hashtbl.replace t.known (sum, name) { seconds; text };
  Printf.fprintf t.channel "%s\t%s\t%d\t%s\n%!" sum name seconds text
