(** Prover runs: what a prover is sent, what it answers, and the answers that are kept.

    A prover reads a file that Why3's driver for it prints of the task. Its answer is kept in
    [build/] under the SHA-256 of the whole task, of the pinned tools and this file, and of its
    command with its limits, wherever the tree lies: the same question need not be asked twice, nor
    printed. No clone has [build/], so that a clean run asks everything. *)

open Why3

(** {1 Questions} *)

type limit = Seconds of int | Steps of int * int  (** steps, and seconds all the same *)

type t = { prover : Whyconf.config_prover; driver : Driver.driver; root : string }

type question = { by : t; limit : limit; text : string Lazy.t; extension : string; key : string }

let seconds = function Seconds n | Steps (_, n) -> n
let memory_kilobytes = 2_000_000

(** Of what decides an answer, all together: the gate has compared it before it tells. *)
let tools = ref ""

let known : (Whyconf.prover, t) Hashtbl.t = Hashtbl.create 7

(** The prover with its driver, if it is configured. *)
let find (project : Project.t) prover =
  match Hashtbl.find_opt known prover with
  | Some found -> Some found
  | None ->
      let load p =
        let driver = Whyconf.load_driver project.main project.env p in
        let found = { prover = p; driver; root = project.root } in
        Hashtbl.replace known prover found;
        found
      in
      let same (p : Whyconf.config_prover) = p.prover = prover in
      Option.map load (List.find_opt same (Project.provers project))

let all project =
  List.filter_map
    (fun (p : Whyconf.config_prover) -> find project p.prover)
    (Project.provers project)

(** The command for the shell; [%f] is left for the file. *)
let command by limit =
  let with_steps = match limit with Steps _ -> true | Seconds _ -> false in
  let steps = match limit with Steps (n, _) -> n | Seconds _ -> 0 in
  let put text (mark, value) =
    Re.Str.global_substitute (Re.Str.regexp_string mark) (fun _ -> value) text
  in
  List.fold_left put
    (Whyconf.get_complete_command by.prover ~with_steps)
    [ ("%t", string_of_int (seconds limit)); ("%S", string_of_int steps) ]

let sha256 text = Sha256.to_hex (Sha256.string text)

let printed by task =
  let buffer = Buffer.create 100_000 in
  let fmt = Format.formatter_of_buffer buffer in
  Driver.print_task by.driver fmt task;
  Format.pp_print_flush fmt ();
  Buffer.contents buffer

(** What is asked of a prover about a task. *)
let question by limit task =
  let options = Printf.sprintf "%s\000%d" (command by limit) memory_kilobytes in
  (* The command has the path of a prover. *)
  let anywhere = Re.Str.global_replace (Re.Str.regexp_string (by.root ^ "/")) "" in
  { by; limit; text = lazy (printed by task);
    extension = Filename.extension (Driver.file_of_task by.driver "" "" task);
    key = sha256 (String.concat "\000" [ !tools; anywhere options; Whole_task.text task ]) }

(** {1 Answers} *)

(** [text] is [Valid], [Timeout], or what the prover said; [kept]: in an earlier run. *)
type answer = { text : string; seconds : float; kept : bool }

let is_valid answer = answer.text = "Valid"

(** What a prover says first of a task that it has proved; Alt-Ergo may say before that it did not
    need the goal for it. After an error it is no answer: what the prover could not read may have
    been what it had to prove. Statistics may follow. *)
let valid_line (p : Whyconf.prover) =
  match p.prover_name with
  | "Alt-Ergo" -> {|^File "[^"]*", line [0-9]+, characters [0-9]+-[0-9]+:Valid ([0-9.]+) ([0-9]+ steps)$|}
  | _ -> "^unsat$"

let read_answer (p : Whyconf.prover) output ~out_of_time =
  let says line = Re.Str.string_match (Re.Str.regexp (valid_line p)) line 0 in
  let is_said line = not (line = "" || String.ends_with ~suffix:":Inconsistent assumption" line) in
  let lines = List.filter is_said (String.split_on_char '\n' output) in
  match lines with
  | first :: _ when says first -> "Valid"
  | _ when out_of_time || Project.contains ~part:"timeout" (String.lowercase_ascii output) ->
      "Timeout"
  | [] -> "nothing"
  | first :: _ -> Re.Str.replace_first (Re.Str.regexp {|^File "[^"]*", line [^:]*:|}) "" first

(** {1 Kept answers} *)

let kept : (string, answer) Hashtbl.t = Hashtbl.create 9973
let keeping = ref None

(** A line for each: key, seconds, answer. What another version of this wrote is passed over. *)
let keep_in file =
  let line l =
    match String.split_on_char '\t' l with
    | [ key; seconds; text ] ->
        Option.iter
          (fun seconds -> Hashtbl.replace kept key { text; seconds; kept = true })
          (float_of_string_opt seconds)
    | _ -> ()
  in
  if Sys.file_exists file then begin
    let channel = open_in file in
    (try while true do line (input_line channel) done with End_of_file -> close_in channel)
  end;
  keeping := Some (open_out_gen [ Open_append; Open_creat ] 0o644 file)

let keep (question : question) answer =
  let text = String.map (function '\t' | '\r' -> ' ' | c -> c) answer.text in
  let write channel = Printf.fprintf channel "%s\t%.2f\t%s\n%!" question.key answer.seconds text in
  let is_known known = known.text = text in
  if not (Option.fold ~none:false ~some:is_known (Hashtbl.find_opt kept question.key)) then
    Option.iter write !keeping;
  Hashtbl.replace kept question.key answer

(** {1 Runs} *)

type 'job run = { job : 'job; question : question; input : string; output : string }

let read_file file =
  let channel = open_in_bin file in
  Fun.protect
    ~finally:(fun () -> close_in channel)
    (fun () -> really_input_string channel (in_channel_length channel))

let redirected file flags = Unix.openfile file (O_CLOEXEC :: flags) 0o600

(** For a shell, which sets the limits and becomes the prover. *)
let script ?(options = "") (question : question) input =
  let file = Re.Str.regexp_string "%f" and name _ = options ^ Filename.quote input in
  Printf.sprintf "ulimit -t %d; ulimit -v %d; exec %s" (seconds question.limit + 1) memory_kilobytes
    (Re.Str.global_substitute file name (command question.by question.limit))

let write_file file text =
  let channel = open_out_bin file in
  output_string channel text;
  close_out channel

(** No interruption comes before it is among those
    that are [running], which an interruption ends. *)
let start running job (question : question) =
  let mask = Unix.sigprocmask SIG_BLOCK [ Sys.sigint; Sys.sigterm ] in
  Fun.protect ~finally:(fun () -> ignore (Unix.sigprocmask SIG_SETMASK mask)) @@ fun () ->
  let input = Filename.temp_file "whygate" question.extension in
  let output = input ^ ".answer" in
  write_file input (Lazy.force question.text);
  let nothing = redirected "/dev/null" [ O_RDONLY ] in
  let answer = redirected output [ O_WRONLY; O_CREAT; O_TRUNC ] in
  let pid = Unix.create_process "/bin/sh" [| "sh"; "-c"; script question input |] nothing answer answer in
  Hashtbl.replace running pid { job; question; input; output };
  Unix.close nothing;
  Unix.close answer

(** Processor time of all runs that have ended. *)
let spent () =
  let times = Unix.times () in
  times.tms_cutime +. times.tms_cstime

let clean run =
  List.iter (fun file -> if Sys.file_exists file then Sys.remove file) [ run.input; run.output ]

(** Waits for the next run that ends; gives it with its answer. *)
let rec wait running =
  let before = spent () in
  match Unix.wait () with
  | exception Unix.Unix_error (EINTR, _, _) -> wait running
  | pid, status -> (
      let seconds = spent () -. before in
      match Hashtbl.find_opt running pid with
      | None -> wait running
      | Some run ->
          let output = read_file run.output in
          clean run;
          Hashtbl.remove running pid;
          let out_of_time = match status with WSIGNALED _ -> true | _ -> false in
          let text = read_answer run.question.by.prover.prover output ~out_of_time in
          (run, { text; seconds; kept = false }))

(** Asks in the order of the jobs, [width] at a time. [ask job] is the question, or nothing if it is
    no longer wanted; [finished job answer], as each ends, may say [`Stop], which ends the others.
    An answer that is kept is taken where [believed] says so. *)
let ask_all ~width ~believed ~ask ~finished jobs =
  let running = Hashtbl.create 7 in
  let stop () =
    (* An interruption may come when one has just ended. *)
    let finish pid run =
      (try Unix.kill pid Sys.sigkill; ignore (Unix.waitpid [] pid) with Unix.Unix_error _ -> ());
      clean run
    in
    Hashtbl.iter finish running;
    Hashtbl.reset running
  in
  let settle job answer waiting =
    match finished job answer with
    | `Go_on -> waiting
    | `Stop -> stop (); []
  in
  let rec loop waiting =
    match waiting with
    | job :: rest when Hashtbl.length running < width -> (
        match ask job with
        | None -> loop rest
        | Some question -> (
            match Hashtbl.find_opt kept question.key with
            | Some answer when believed answer -> loop (settle job answer rest)
            | _ -> (
                match Project.attempt (fun () -> Lazy.force question.text) with
                | Ok _ ->
                    start running job question;
                    loop rest
                | Error e ->
                    let text = Project.message e in
                    loop (settle job { text; seconds = 0.; kept = false } rest))))
    | _ when Hashtbl.length running > 0 ->
        let run, answer = wait running in
        keep run.question answer;
        loop (settle run.job answer waiting)
    | _ -> ()
  in
  (* An interruption must not leave provers running. *)
  Fun.protect ~finally:stop (fun () -> loop jobs)

(** One question, whose answer is kept. *)
let ask ~believed question =
  let found = ref None in
  let finished () answer = found := Some answer; `Go_on in
  ask_all ~width:1 ~believed ~ask:(fun () -> Some question) ~finished [ () ];
  Option.get !found
