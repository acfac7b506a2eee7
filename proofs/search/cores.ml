(** What a proof uses: the names by which [keep] makes its task small.

    A prover of SMT tells which assertions contradict each other, where each has a name, and Alt-Ergo
    writes the names of what it has used: so each hypothesis gets one, and each definition, as the
    hypothesis that it is true of what it defines. *)

open Why3
module Names = Wstdlib.Sstr

(** A proposition of Why3's library keeps its symbol: by that a driver leaves out what its prover
    knows. It is told by the name that Why3 prints, which may be that of several. *)
let is_of_library (pr : Decl.prsymbol) =
  match Theory.restore_path pr.pr_name with
  | first :: _, _, _ -> not (Sys.file_exists (Filename.concat Project.theories_dir first))
  | [], _, _ | (exception Not_found) -> false

(** The task with definitions as hypotheses, and hypotheses that can be told from each other by what
    Why3 prints of their names; what these stand for. [whole]: definitions stay as they are. *)
let labelled ~whole task =
  let named = Hashtbl.create 97 in
  let axiom pr name formula =
    Hashtbl.add named pr.Decl.pr_name.id_string name;
    Decl.create_prop_decl Paxiom pr formula
  in
  let fresh () =
    Decl.create_prsymbol (Ident.id_fresh (Printf.sprintf "core %d of it" (Hashtbl.length named)))
  in
  let definition (ls, meaning) =
    axiom (fresh ()) (Keep.of_symbol ls) (Decl.ls_defn_axiom meaning)
  in
  let parts (d : Decl.decl) =
    match d.d_node with
    | Dprop ((Paxiom | Plemma), pr, formula) ->
        [ axiom (if is_of_library pr then pr else fresh ()) (Keep.of_prop pr) formula ]
    | Dlogic definitions when not whole ->
        List.map (fun (ls, _) -> Decl.create_param_decl ls) definitions
        @ List.map definition definitions
    | _ -> [ d ]
  in
  let known task = function
    | Theory.MApr pr -> Ident.Mid.mem pr.Decl.pr_name (Task.task_known task)
    | _ -> true
  in
  let goal, before = Task.task_separate_goal task in
  let add task (td : Theory.tdecl) =
    match td.td_node with
    | Decl d -> List.fold_left Task.add_decl task (parts d)
    | Meta (_, arguments) when not (List.for_all (known task) arguments) -> task
    | Use _ | Clone _ | Meta _ -> Task.add_tdecl task td
  in
  (named, Task.add_tdecl (List.fold_left add None (Task.task_tdecls before)) goal)

(** {1 The core} *)

let is_check = Re.Str.regexp_string "(check-sat)"
let is_question = Re.Str.regexp_string "(get-info"

(** The text with a name for each assertion below a comment that has what is [named], as Why3 prints
    both: an assertion ends before an empty line. What an encoding makes several of has several
    names. *)
let with_names named text =
  let used = Hashtbl.create 97 in
  let starts line at = Re.Str.string_match at line 0 in
  let rec lines found = function
    | comment :: rest when Hashtbl.mem named (Project.after ";; " comment) ->
        assertion (comment :: found) (Project.after ";; " comment) [] rest
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

(** What the labels in an answer stand for. *)
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

(** What the lines of a file stand for: names as Why3 prints them for Alt-Ergo, a number behind each
    that it has printed before. *)
let names_of_lines named lines =
  let printed = Ident.sanitizer Ident.char_to_alpha Ident.char_to_alnumus in
  let known = Hashtbl.create 97 in
  Hashtbl.iter (fun id name -> Hashtbl.add known (printed id) name) named;
  let numbered = Re.Str.regexp "[0-9]+$" in
  let add found line =
    let names = Hashtbl.find_all known line in
    union found (names @ Hashtbl.find_all known (Re.Str.replace_first numbered "" line))
  in
  List.fold_left add Names.empty (String.split_on_char '\n' lines)

(** The names of what one prover uses for a task, if it proves it in so many seconds. *)
let by_prover (p : Prover.t) ~whole ~seconds task =
  let named, task = labelled ~whole task in
  let used_of ?options text names =
    let in_file file =
      let written = Filename.remove_extension file ^ ".used" in
      let finally () = if Sys.file_exists written then Sys.remove written in
      Fun.protect ~finally @@ fun () ->
      let (output, _, _) as said = Prover.run ?options p (Seconds seconds) file in
      if Prover.is_valid (Prover.read_answer p said) then Some (names output written) else None
    in
    Prover.with_file p task text in_file
  in
  let text = Prover.printed p task in
  if p.prover.prover.prover_name = "Alt-Ergo" then
    let names _ written = names_of_lines named (Sysutil.file_contents written) in
    used_of ~options:"-save-used-context " text names
  else
    let used, text = with_names named text in
    used_of text (fun output _ -> names_in used output)

(** Of definitions that stay as they are nobody says which are used: those that are still reached. *)
let with_definitions task names =
  let is_definition (d : Decl.decl) = match d.d_node with Dlogic _ -> true | _ -> false in
  let add found (td : Theory.tdecl) =
    match td.td_node with
    | Decl d when is_definition d -> union found (Keep.names d)
    | _ -> found
  in
  let all = Task.task_fold add names task in
  Names.of_list (Keep.of_task (Keep.keep (Names.elements all) task))

(** By the first of some provers that proves the task within its seconds. First with the definitions
    as they are, as provers know best what to do with these; then which of them are used, of what is
    left. *)
let find provers task =
  let ask ~whole task (p, seconds) =
    let found = Project.attempt (fun () -> by_prover p ~whole ~seconds task) in
    Result.value found ~default:None
  in
  let smaller names =
    let names = with_definitions task names in
    let small = Keep.keep (Names.elements names) task in
    Option.value (List.find_map (ask ~whole:false small) provers) ~default:names
  in
  Option.map smaller (List.find_map (ask ~whole:true task) provers)
