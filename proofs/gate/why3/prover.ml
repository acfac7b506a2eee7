(** Prover runs: Why3's driver prints the task to a file, which the prover reads and answers. *)

open Why3

(** {1 Provers} *)

type t = { prover : Whyconf.config_prover; driver : Driver.driver }

let loaded : t list option ref = ref None

(** The configured provers, each with its driver. *)
let all (project : Project.t) =
  let load prover = { prover; driver = Api.load_driver project.main project.env prover } in
  if !loaded = None then loaded := Some (List.map load (Project.provers project));
  Option.get !loaded

let name p = p.prover.prover.prover_name
let find project wanted = List.find_opt (fun p -> name p = wanted) (all project)

(** {1 Runs} *)

type limit = Seconds of int | Steps of int * int  (** steps, with a limit in seconds too *)

let memory_kilobytes = 2_000_000

(** A shell script that sets the limits and becomes the prover. *)
let script by limit file =
  let seconds, steps = match limit with Seconds n -> (n, None) | Steps (s, n) -> (n, Some s) in
  let put text (mark, value) =
    Re.Str.global_substitute (Re.Str.regexp_string mark) (fun _ -> value) text
  in
  let command = Whyconf.get_complete_command by.prover ~with_steps:(steps <> None) in
  Printf.sprintf "ulimit -t %d; ulimit -v %d; exec %s 2>&1" (seconds + 1) memory_kilobytes
    (List.fold_left put command
       [ ("%t", string_of_int seconds); ("%S", string_of_int (Option.value steps ~default:0));
         ("%f", Filename.quote file) ])

let printed by = Format.asprintf "%a" (fun fmt -> Driver.print_task by.driver fmt)

(** Processor time of all runs that have ended. *)
let spent () =
  let times = Unix.times () in
  times.tms_cutime +. times.tms_cstime

(** The prover's answer to a task's text, whether the prover was killed, and its processor seconds.
    In any case the prover stops, and its file is removed. *)
let run by limit task text =
  let kind = Filename.extension (Driver.file_of_task by.driver "" "" task) in
  let file = Filename.temp_file "whygate" kind in
  Fun.protect ~finally:(fun () -> Sys.remove file) @@ fun () ->
  Sysutil.write_file file text;
  let before = spent () in
  let output = Unix.open_process_in (script by limit file) in
  match Sysutil.channel_contents output with
  | said ->
      let killed = match Unix.close_process_in output with WSIGNALED _ -> true | _ -> false in
      (said, killed, spent () -. before)
  | exception e ->
      Unix.kill (Unix.process_in_pid output) Sys.sigkill;
      ignore (Unix.close_process_in output);
      raise e

(** {1 Answers} *)

(** [text] is [Valid], [Timeout], [nothing], the prover's own answer, or an error in printing. *)
type answer = { text : string; seconds : float }

let is_valid answer = answer.text = "Valid"

(** The pattern of the line that reports a proof. Only Alt-Ergo's [Inconsistent assumption] may come
    before this line: after an error the prover may have failed to read its goal. *)
let valid_line by =
  match name by with
  | "Alt-Ergo" -> {|^File "[^"]*", line [0-9]+, characters [0-9]+-[0-9]+:Valid ([0-9.]+) ([0-9]+ steps)$|}
  | _ -> "^unsat$"

let read_answer by (output, killed, seconds) =
  let proves line = Re.Str.string_match (Re.Str.regexp (valid_line by)) line 0 in
  let is_said line = not (line = "" || String.ends_with ~suffix:":Inconsistent assumption" line) in
  let text =
    match List.filter is_said (String.split_on_char '\n' output) with
    | first :: _ when proves first -> "Valid"
    | _ when killed || Project.contains ~part:"timeout" (String.lowercase_ascii output) -> "Timeout"
    | [] -> "nothing"
    | first :: _ -> Re.Str.replace_first (Re.Str.regexp {|^File "[^"]*", line [^:]*:|}) "" first
  in
  { text; seconds }

let ask by limit task =
  match Project.attempt (fun () -> printed by task) with
  | Ok text -> read_answer by (run by limit task text)
  | Error e -> { text = Project.message e; seconds = 0. }
