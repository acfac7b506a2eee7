(** The values of programs, and how they are read and printed.

    A call is read as [(name argument ...)]: an integer, or a sequence [(3 1)], or the name of a
    constructor with its arguments, [(Given Numpy)]. *)

open Why3

type value =
  | Int of BigInt.t
  | Bool of bool
  | Sequence of value array
  | Array of value array
  | Made of Expr.rsymbol * value array  (** a record or a variant; the fields of some can change *)

(** What the evaluation does not go on from. *)
exception Stuck of string

let stuck form = Format.ksprintf (fun text -> raise (Stuck text)) form

let unit = Made (Expr.rs_void, [||])
let integer = function Int i -> i | _ -> stuck "no integer"
let boolean = function Bool b -> b | _ -> stuck "no boolean"

(** {1 Read} *)

type text = Word of string | Group of text list

(** All that is in a line. *)
let parse line =
  let words = Re.Str.full_split (Re.Str.regexp "[() ]") line in
  let rec go found = function
    | [] -> (List.rev found, [])
    | Re.Str.Delim "(" :: rest ->
        let inside, rest = go [] rest in
        go (Group inside :: found) rest
    | Delim ")" :: rest -> (List.rev found, rest)
    | Delim _ :: rest -> go found rest
    | Text word :: rest -> go (Word word :: found) rest
  in
  fst (go [] words)

let is name (ts : Ty.tysymbol) = Name.resolved ts.ts_name = Some name

(** [known] has the constructors of a type. A type variable stands for the integers. *)
let rec read known (ty : Ty.ty) text =
  match (ty.ty_node, text) with
  | _, Word word when word <> "" && not ('A' <= word.[0] && word.[0] <= 'Z') ->
      Int (BigInt.of_string word)
  | Tyapp (ts, [ element ]), Group inside when is "seq.Seq.seq" ts ->
      Sequence (Array.of_list (List.map (read known element) inside))
  | Tyapp (ts, [ element ]), Group inside when is "array.Array.array" ts ->
      Array (Array.of_list (List.map (read known element) inside))
  | Tyapp (ts, arguments), (Word name | Group (Word name :: _)) -> (
      let inside = match text with Group (_ :: inside) -> inside | _ -> [] in
      let is_it (rs : Expr.rsymbol) = rs.rs_name.id_string = name in
      match (Ident.Mid.find ts.ts_name known).Pdecl.pd_node with
      | PDtype [ d ] ->
          let rs = List.find is_it d.itd_constructors in
          let types =
            List.fold_left2 (fun m v ty -> Ty.Mtv.add v ty m) Ty.Mtv.empty ts.ts_args arguments
          in
          let field (pv : Ity.pvsymbol) = read known (Ty.ty_inst types pv.pv_vs.vs_ty) in
          Made (rs, Array.of_list (List.map2 field rs.rs_cty.cty_args inside))
      | _ -> stuck "the type of %s" name)
  | _ -> stuck "an argument of another type"

(** {1 Printed} *)

(** A record or a variant, as Python names it. *)
let made (rs : Expr.rsymbol) fields : Json_base.json =
  let name =
    match rs.rs_cty.cty_result.ity_node with
    | Ityapp (its, _, _) when String.ends_with ~suffix:"'mk" rs.rs_name.id_string ->
        String.capitalize_ascii its.its_ts.ts_name.id_string
    | Ityreg _ | Ityapp _ | Ityvar _ -> rs.rs_name.id_string
  in
  Record [ ("made", String name); ("of", List fields) ]

(** An integer as a text, since it has no bounds. *)
let rec json value : Json_base.json =
  match value with
  | Int i -> String (BigInt.to_string i)
  | Bool b -> Bool b
  | Sequence found -> List (List.map json (Array.to_list found))
  | Array found -> Record [ ("list", List (List.map json (Array.to_list found))) ]
  | Made (rs, fields) when Expr.is_rs_tuple rs -> (
      match Array.to_list fields with [] -> Null | found -> List (List.map json found))
  | Made (rs, fields) -> made rs (List.map json (Array.to_list fields))
