(** Calls of programs, as Why3 has typed them: neither extracted nor printed.

    [whyrun evaluate CONFIG], in the root of the tree: each line that is read is a call,
    [kernel.expand.COPExpand.expand_shape (3 1) (4)], evaluated by [Evaluator].
    [whyrun execute LIBRARY]: each function of [calls.Calls] in that library is a call, executed by
    Why3's own interpreter.

    For each call a line is printed, its outcome as a JSON value: what it gives, what it raises, or
    why there is no outcome. *)

open Why3
open Json_base

let called known (rs : Expr.rsymbol) texts =
  let argument (pv : Ity.pvsymbol) text = Value.read known pv.pv_vs.vs_ty text in
  match Evaluator.program known rs (List.map2 argument rs.rs_cty.cty_args texts) with
  | value -> Record [ ("value", Value.json value) ]
  | exception Evaluator.Raised (xs, value) ->
      Record [ ("raised", String xs.xs_name.id_string); ("value", Value.json value) ]
  | exception Value.Stuck reason -> Record [ ("stuck", String reason) ]

let answer (project : Project.t) line =
  match Value.parse line with
  | Word name :: arguments -> (
      match List.rev (String.split_on_char '.' name) with
      | name :: m :: path ->
          let m = Pmodule.read_module project.env (List.rev path) m in
          called m.mod_known (Pmodule.ns_find_rs m.mod_export [ name ]) arguments
      | _ -> Record [ ("stuck", String "no program") ])
  | _ -> Record [ ("stuck", String "no call") ]

let print found = print_endline (Json.to_string found)

let rec evaluate project =
  match input_line stdin with
  | line ->
      print (answer project line);
      evaluate project
  | exception End_of_file -> ()

let execute library =
  let env = Env.create_env [ library ] in
  let m = Pmodule.read_module env [ "calls" ] "Calls" in
  List.iter (fun body -> print (Interpreter.executed env m body)) (Interpreter.calls m)

let finish = function
  | Ok () -> ()
  | Error e ->
      prerr_endline (Interpreter.message e);
      exit 1

let () =
  match List.tl (Array.to_list Sys.argv) with
  | [ "evaluate"; config_file ] ->
      finish (Project.attempt (fun () -> evaluate (Project.load ~config_file)))
  | [ "execute"; library ] -> finish (Project.attempt (fun () -> execute library))
  | _ ->
      prerr_endline "usage: whyrun evaluate CONFIG | execute LIBRARY";
      exit 2
