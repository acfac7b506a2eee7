(** Programs as Why3 has typed them, evaluated: nothing of the extraction takes part.

    An expression means what the WhyML manual says of it. Ghost code is left out, assertions too.
    What the kernel does not use stops the evaluation. The operations that the proofs trust, and
    those of the standard library without a body, are the few in [Operations]. *)

open Why3
open Expr
open Value

exception Raised of Ity.xsymbol * value

type state = {
  known : Pdecl.known_map;
  locals : cexp Mrs.t;
  variables : value Term.Mvs.t;
}

let bind state (v : Term.vsymbol) value =
  { state with variables = Term.Mvs.add v value state.variables }

(** A ghost variable has no value, and nothing that runs asks for it. *)
let lookup state (pv : Ity.pvsymbol) =
  if pv.pv_ghost then unit
  else
    match Term.Mvs.find_opt pv.pv_vs state.variables with
    | Some value -> value
    | None -> stuck "the variable %s has no value" pv.pv_vs.vs_name.id_string

(** {1 What a symbol is} *)

type meaning = Constructor | Field | Function of cexp

let meaning state rs =
  match Mrs.find_opt rs state.locals with
  | Some c -> Function c
  | None -> (
      let in_type (d : Pdecl.its_defn) =
        if List.exists (rs_equal rs) d.itd_constructors then Some Constructor
        else if List.exists (rs_equal rs) d.itd_fields then Some Field
        else None
      in
      match (Ident.Mid.find rs.rs_name state.known).pd_node with
      | PDtype types -> (
          match List.find_map in_type types with
          | Some found -> found
          | None -> stuck "%s" rs.rs_name.id_string)
      | PDlet (LDsym (_, c)) -> Function c
      | PDlet (LDrec found) ->
          let is_it d = rs_equal rs d.rec_sym || rs_equal rs d.rec_rsym in
          Function (List.find is_it found).rec_fun
      | PDlet (LDvar _) | PDexn _ | PDpure -> stuck "%s is no program" rs.rs_name.id_string)

let field_of (made : rsymbol) (rs : rsymbol) =
  let rec index i = function
    | pv :: rest -> if Ity.pv_equal pv (Option.get rs.rs_field) then i else index (i + 1) rest
    | [] -> stuck "the field %s" rs.rs_name.id_string
  in
  index 0 made.rs_cty.cty_args

(** {1 Patterns} *)

let rec matches state (p : Term.pattern) value =
  match (p.pat_node, value) with
  | Pwild, _ -> Some state
  | Pvar v, _ -> Some (bind state v value)
  | Pas (p, v), _ -> matches (bind state v value) p value
  | Por (p, q), _ -> (
      match matches state p value with Some found -> Some found | None -> matches state q value)
  | Papp (ls, _), Bool b ->
      if Term.ls_equal ls (if b then Term.fs_bool_true else Term.fs_bool_false) then Some state
      else None
  | Papp (ls, patterns), Made (rs, fields) ->
      let part found p value = Option.bind found (fun state -> matches state p value) in
      if Term.ls_equal ls (ls_of_rs rs) then
        List.fold_left2 part (Some state) patterns (Array.to_list fields)
      else None
  | Papp _, _ -> stuck "a pattern of another type"

(** {1 Expressions} *)

let rec evaluate state e =
  if e_ghost e then unit
  else
    match e.e_node with
    | Evar pv -> lookup state pv
    | Econst (ConstInt c) -> Int c.il_int
    | Econst _ -> stuck "a literal that is no integer"
    | Eexec (c, { cty_args = []; _ }) -> (
        match c.c_node with
        | Capp (rs, arguments) -> call state rs (List.map (lookup state) arguments)
        | Cfun e -> evaluate state e
        | Cpur _ | Cany -> stuck "an arbitrary value")
    | Eexec _ -> stuck "a function as a value"
    | Eassign changes ->
        let change (pv, rs, value) =
          match lookup state pv with
          | Made (made, fields) -> fields.(field_of made rs) <- lookup state value
          | _ -> stuck "a record"
        in
        List.iter change changes;
        unit
    | Elet (LDvar (pv, value), e) ->
        let value = if pv.pv_ghost then unit else evaluate state value in
        evaluate (bind state pv.pv_vs value) e
    | Elet (LDsym (rs, c), e) -> evaluate { state with locals = Mrs.add rs c state.locals } e
    | Elet (LDrec found, e) ->
        let add locals d = Mrs.add d.rec_sym d.rec_fun (Mrs.add d.rec_rsym d.rec_fun locals) in
        evaluate { state with locals = List.fold_left add state.locals found } e
    | Eif (test, a, b) -> evaluate state (if boolean (evaluate state test) then a else b)
    | Ematch (e, branches, handlers) -> (
        match evaluate state e with
        | value when branches = [] -> value
        | value -> chosen state value branches
        | exception Raised (xs, value) when Ity.Mxs.mem xs handlers ->
            let variables, e = Ity.Mxs.find xs handlers in
            evaluate (received state variables value) e)
    | Ewhile (test, _, _, body) ->
        while boolean (evaluate state test) do
          ignore (evaluate state body)
        done;
        unit
    | Efor (k, (first, direction, last), _, _, body) ->
        let first = integer (lookup state first) and last = integer (lookup state last) in
        let one i = ignore (evaluate (bind state k.pv_vs (Int i)) body) in
        let rec up i = if BigInt.le i last then (one i; up (BigInt.succ i)) in
        let rec down i = if BigInt.ge i last then (one i; down (BigInt.pred i)) in
        (match direction with To -> up first | DownTo -> down first);
        unit
    | Eraise (xs, value) -> raise (Raised (xs, evaluate state value))
    | Eexn (_, e) -> evaluate state e
    | Eassert _ | Eghost _ | Epure _ -> unit
    | Eabsurd -> stuck "a place that is not reached"

and chosen state value = function
  | [] -> stuck "no case fits"
  | (p, e) :: rest -> (
      match matches state p.pp_pat value with
      | Some state -> evaluate state e
      | None -> chosen state value rest)

(** What an exception carries, in one variable or in one for each component. *)
and received state variables value =
  match (variables, value) with
  | [], _ -> state
  | [ pv ], _ -> bind state pv.pv_vs value
  | _, Made (_, fields) ->
      List.fold_left2 (fun state (pv : Ity.pvsymbol) v -> bind state pv.pv_vs v) state variables
        (Array.to_list fields)
  | _ -> stuck "the value of an exception"

and call state rs arguments =
  if rs_equal rs rs_true then Bool true
  else if rs_equal rs rs_false then Bool false
  else
    match Operations.find rs with
    | Some operation -> operation arguments
    | None -> (
        match (meaning state rs, arguments) with
        | Constructor, _ -> Made (rs, Array.of_list arguments)
        | Field, [ Made (made, fields) ] -> fields.(field_of made rs)
        | Function { c_node = Cfun e; c_cty; _ }, _ ->
            let bind state (pv : Ity.pvsymbol) value = bind state pv.pv_vs value in
            evaluate (List.fold_left2 bind state c_cty.cty_args arguments) e
        | Function { c_node = Capp (rs, before); _ }, _ ->
            call state rs (List.map (lookup state) before @ arguments)
        | _ -> stuck "%s has no body" rs.rs_name.id_string)

let program known rs arguments =
  call { known; locals = Mrs.empty; variables = Term.Mvs.empty } rs arguments
