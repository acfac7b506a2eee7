(** Calls of programs, evaluated as Why3 has typed them.

    [whyrun CONFIG MODULE ...], in the root of the tree: each line that is read is a call,
    [kernel.expand.COPExpand.expand_shape (3 1) (4)], and for each a line is printed, the outcome as
    a JSON value: what it gives, what it raises, or why there is no outcome. *)

open Why3
open Json_base

let called known (rs : Expr.rsymbol) texts =
  let argument (pv : Ity.pvsymbol) text = Value.read known pv.pv_vs.vs_ty text in
  match Evaluator.program known rs (List.map2 argument rs.rs_cty.cty_args texts) with
  | value -> Record [ ("value", Value.json value) ]
  | exception Evaluator.Raised (xs, value) ->
      Record [ ("raised", String xs.xs_name.id_string); ("value", Value.json value) ]
  | exception Value.Stuck reason -> Record [ ("stuck", String reason) ]

let answer (find : string -> Pmodule.pmodule * Expr.rsymbol) line =
  match Value.parse line with
  | Word name :: arguments ->
      let m, rs = find name in
      called m.mod_known rs arguments
  | _ -> Record [ ("stuck", String "no call") ]

let () =
  match List.tl (Array.to_list Sys.argv) with
  | [ config_file ] -> (
      let project = Project.load ~config_file in
      let find name =
        match List.rev (String.split_on_char '.' name) with
        | name :: m :: path ->
            let m = Pmodule.read_module project.env (List.rev path) m in
            (m, Pmodule.ns_find_rs m.mod_export [ name ])
        | _ -> raise Not_found
      in
      let rec all () =
        match input_line stdin with
        | line ->
            print_endline (Json.to_string (answer find line));
            all ()
        | exception End_of_file -> ()
      in
      match Project.attempt all with
      | Ok () -> ()
      | Error e ->
          List.iter prerr_endline (Project.errors project e);
          exit 1)
  | _ ->
      prerr_endline "usage: whyrun CONFIG";
      exit 2
