(** Prover runs, a few at a time, through Why3's own server. *)

open Why3

(** How many at a time: two cores, and a third run would only slow the first two. *)
let width = ref 2

let memory_megabytes = 2000

let start () = Prove_client.set_max_running_provers !width

let set_width provers =
  width := provers;
  start ()

type call = Call_provers.prover_call

let limit seconds =
  { Call_provers.empty_limit with limit_time = seconds; limit_mem = memory_megabytes }

(** With [steps] the prover counts its own steps; the seconds are then those of Why3 alone. *)
let submit ?steps (project : Project.t) (prover, driver) ~seconds task : call =
  let limit =
    match steps with None -> limit seconds | Some n -> { (limit seconds) with limit_steps = n }
  in
  Driver.prove_task
    ~command:(Whyconf.get_complete_command prover ~with_steps:(steps <> None))
    ~libdir:(Whyconf.libdir project.main) ~datadir:(Whyconf.datadir project.main) ~limit driver
    task

let cancel (project : Project.t) call =
  Call_provers.interrupt_call ~libdir:(Whyconf.libdir project.main) call

(** Provers that watch the clock themselves end with a word about it; on a busy machine Why3, which
    compares processor time with the limit, takes that for a crash. *)
let name_timeout (r : Call_provers.prover_result) =
  if r.pr_answer = Call_provers.HighFailure && Project.contains ~part:"timeout" r.pr_output then
    { r with pr_answer = Call_provers.Timeout }
  else r

(** Waits for the next finished runs; those of cancelled calls arrive too, and the caller, who no
    longer knows them, passes over them. *)
let rec wait () =
  let finished = function
    | call, Call_provers.ProverFinished result -> Some (call, name_timeout result)
    | _, Call_provers.InternalFailure e -> raise e
    | _ -> None
  in
  match List.filter_map finished (Call_provers.get_new_results ~blocking:true) with
  | [] -> wait ()
  | results -> results

(** A task that the prover's driver cannot print is a failure of the prover. *)
let unsupported e =
  { Call_provers.pr_answer = Failure (Project.message e); pr_status = WEXITED 1; pr_output = "";
    pr_time = 0.; pr_steps = -1; pr_models = [] }

(** Runs [jobs] in their order, [!width] at a time; [finished job result] as each ends and may say
    [`Stop], which cancels what is running and drops the rest. [wanted] is asked before a start. *)
let run project ~wanted ~start ~finished jobs =
  let running = Hashtbl.create 7 in
  let stop () =
    Hashtbl.iter (fun call _ -> cancel project call) running;
    Hashtbl.reset running
  in
  let rec fill = function
    | job :: rest when Hashtbl.length running < !width -> (
        match if wanted job then Hashtbl.replace running (start job) job with
        | () -> fill rest
        | exception ((Sys.Break | Out_of_memory) as e) -> raise e
        | exception e -> (
            match finished job (unsupported e) with `Go_on -> fill rest | `Stop -> stop (); []))
    | waiting -> waiting
  in
  let rec loop waiting =
    let waiting = fill waiting in
    if Hashtbl.length running > 0 then handle waiting (wait ())
  and handle waiting = function
    | [] -> loop waiting
    | (call, result) :: more -> (
        match Hashtbl.find_opt running call with
        | None -> handle waiting more
        | Some job -> (
            Hashtbl.remove running call;
            match finished job result with `Go_on -> handle waiting more | `Stop -> stop ()))
  in
  (* An interruption must not leave provers running. *)
  Fun.protect ~finally:stop (fun () -> loop jobs)
