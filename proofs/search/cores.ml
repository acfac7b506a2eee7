(** The names that a proof uses; [keep] reduces its task to these.

    An SMT-LIB prover prints the names of assertions that contradict each other, so each hypothesis
    gets a name. *)

open Why3
module Names = Wstdlib.Sstr

(** A proposition of Why3's library keeps its symbol: by it, a driver omits facts that its prover
    knows. If several propositions print as the same used name, all are kept. *)
let is_of_library (pr : Decl.prsymbol) =
  match Theory.restore_path pr.pr_name with
  | first :: _, _, _ -> not (Sys.file_exists (Filename.concat Project.theories_dir first))
  | [], _, _ | (exception Not_found) -> false

(** The task with a new name for each hypothesis outside of Why3's library, and a table from printed
    names to those that [Keep] uses. *)
let labelled task =
  let named = Hashtbl.create 97 in
  let fresh () =
    Decl.create_prsymbol (Ident.id_fresh (Printf.sprintf "core %d of it" (Hashtbl.length named)))
  in
  let label (d : Decl.decl) =
    match d.d_node with
    | Dprop ((Paxiom | Plemma), pr, formula) ->
        let label = if is_of_library pr then pr else fresh () in
        Hashtbl.add named label.pr_name.id_string (Keep.of_prop pr);
        Decl.create_prop_decl Paxiom label formula
    | _ -> d
  in
  let known task = function
    | Theory.MApr pr -> Ident.Mid.mem pr.Decl.pr_name (Task.task_known task)
    | _ -> true
  in
  let goal, before = Task.task_separate_goal task in
  let add task (td : Theory.tdecl) =
    match td.td_node with
    | Decl d -> Task.add_decl task (label d)
    | Meta (_, arguments) when not (List.for_all (known task) arguments) -> task
    | Use _ | Clone _ | Meta _ -> Task.add_tdecl task td
  in
  (named, Task.add_tdecl (List.fold_left add None (Task.task_tdecls before)) goal)

(** {1 The core} *)

(** The text of a comment; Why3 1.8.0 quotes it. *)
let commented line =
  let text = Project.after ";; " line in
  try Scanf.sscanf text "%S%!" Fun.id with Scanf.Scan_failure _ | Failure _ | End_of_file -> text

let is_check = Re.Str.regexp_string "(check-sat)"
let is_question = Re.Str.regexp_string "(get-info"

(** Label each assertion below a comment that is a key of [named]; return the labels with the keys'
    values, and the text. Why3 prints an empty line after each assertion. An encoding may make
    several assertions of a hypothesis. *)
let with_names named text =
  let used = Hashtbl.create 97 in
  let starts line at = Re.Str.string_match at line 0 in
  let rec lines found = function
    | comment :: rest when Hashtbl.mem named (commented comment) ->
        assertion (comment :: found) (commented comment) [] rest
    | line :: rest when starts line is_check -> lines ("(get-unsat-core)" :: line :: found) rest
    | line :: rest when starts line is_question -> lines found rest
    | line :: rest -> lines (line :: found) rest
    | [] -> List.rev found
  and assertion found printed body = function
    | line :: rest when line <> "" -> assertion found printed (line :: body) rest
    | rest ->
        let label = Printf.sprintf "core_%d_" (Hashtbl.length used) in
        Hashtbl.replace used label (Hashtbl.find_all named printed);
        let text = String.trim (String.concat "\n" (List.rev body)) in
        let formula = Project.after "(assert" (String.sub text 0 (String.length text - 1)) in
        lines (Printf.sprintf "(assert (! %s :named %s))" formula label :: found) rest
  in
  let text = lines [] (String.split_on_char '\n' text) in
  (used, String.concat "\n" ("(set-option :produce-unsat-cores true)" :: text))

let union names lists = Names.union names (Names.of_list lists)

(** The names of the labels in an answer. *)
let names_in used answer =
  let label = Re.Str.regexp "core_[0-9]+_" in
  let rec from found place =
    match Re.Str.search_forward label answer place with
    | exception Not_found -> found
    | start ->
        let label = Re.Str.matched_string answer in
        from (union found (Hashtbl.find used label)) (start + String.length label)
  in
  from Names.empty 0

(** The names that one prover uses for a task, if it proves the task within its seconds. Alt-Ergo
    prints none; a goal needs a prover of another family anyway. *)
let by_prover task ((p : Prover.t), seconds) =
  let named, task = labelled task in
  let used, text = with_names named (Prover.printed p task) in
  let (output, _, _) as said = Prover.run p (Seconds seconds) task text in
  let tells = p.prover.prover.prover_name <> "Alt-Ergo" in
  if tells && Prover.is_valid (Prover.read_answer p said) then Some (names_in used output) else None

(** No prover names the definitions that it uses: take those that the goal and these hypotheses
    reach. *)
let with_definitions task names =
  let add found (td : Theory.tdecl) =
    match td.td_node with
    | Decl ({ d_node = Dlogic _; _ } as d) -> union found (Keep.names d)
    | _ -> found
  in
  let all = Task.task_fold add names task in
  Names.of_list (Keep.of_task (Keep.keep (Names.elements all) task))

(** The names of the first prover that proves the task within its seconds and prints names. *)
let find provers task =
  let ask prover =
    Result.value (Project.attempt (fun () -> by_prover task prover)) ~default:None
  in
  Option.map (with_definitions task) (List.find_map ask provers)
