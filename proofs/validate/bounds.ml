(** Between what bounds a bound variable has to be looked for.

    Of [forall v. A -> B] only the values with [A] matter, of [exists v. A] the same. The conjuncts
    of [A], and of what its predicates stand for, bound the variable: any bound that follows from
    [A] may be used, as [A] itself is still asked of each value between. *)

open Why3
open Term

type fact =
  | Below of term * term  (** [a < b] *)
  | At_most of term * term  (** [a <= b] *)
  | Equal of term * term
  | Each of vsymbol * term list * fact list  (** of each integer for which something holds *)

let is name (ls : lsymbol) = Name.resolved ls.ls_name = Some name

(** How many predicates within one another are looked into. *)
let depth = 3

let rec conjuncts (f : term) =
  match f.t_node with Tbinop (Tand, a, b) -> conjuncts a @ conjuncts b | _ -> [ f ]

let rec implication (f : term) =
  match f.t_node with
  | Tbinop (Timplies, a, b) ->
      let hypotheses, conclusion = implication b in
      (conjuncts a @ hypotheses, conclusion)
  | _ -> ([], f)

let rec facts ?(depth = depth) meaning (f : term) =
  let inside = facts ~depth meaning in
  match f.t_node with
  | Tbinop (Tand, a, b) -> inside a @ inside b
  | Tapp (ls, [ a; b ]) when is "int.Int.infix <" ls -> [ Below (a, b) ]
  | Tapp (ls, [ a; b ]) when is "int.Int.infix <=" ls -> [ At_most (a, b) ]
  | Tapp (ls, [ a; b ]) when is "int.Int.infix >" ls -> [ Below (b, a) ]
  | Tapp (ls, [ a; b ]) when is "int.Int.infix >=" ls -> [ At_most (b, a) ]
  | Tapp (ls, [ a; b ]) when ls_equal ls ps_equ -> [ Equal (a, b) ]
  | Tapp (ls, arguments) when depth > 0 -> (
      match Mls.find_opt ls meaning.Meaning.definitions with
      | None -> []
      | Some definition ->
          facts ~depth:(depth - 1) meaning
            (Formula.bare (Meaning.instance definition arguments)))
  | Tquant (Tforall, quantified) -> (
      match t_open_quant quantified with
      | [ v ], _, body when Ty.ty_equal v.vs_ty Ty.ty_int ->
          let guard, conclusion = implication body in
          [ Each (v, guard, inside conclusion) ]
      | _ -> [])
  | _ -> []

type domain =
  | Range of (term * int) option * (term * int) option
      (** from the first, up to the second without it; each a term plus a number *)
  | Sequences of { length : term; at : vsymbol; guard : term list; low : term * int; high : term * int }
  | Unknown

let more n (t, k) = (t, k + n)

(** [later]: the variables that have no value yet where the bound is asked for. A bound that is one
    of these is as good as its own. *)
let rec low ~later known v =
  let bound = function
    | At_most (e, x) when is_var v x -> above ~later known e 0
    | Below (e, x) when is_var v x -> above ~later known e 1
    | Equal (x, e) when is_var v x -> above ~later known e 0
    | _ -> None
  in
  List.find_map bound known

and above ~later known e n =
  match e.t_node with
  | Tvar w when Svs.mem w later -> Option.map (more n) (low ~later:(Svs.remove w later) known w)
  | _ -> if Svs.exists (fun w -> t_v_occurs w e > 0) later then None else Some (e, n)

and is_var v (x : term) = match x.t_node with Tvar w -> vs_equal v w | _ -> false

let rec high ~later known v =
  let bound = function
    | At_most (x, e) when is_var v x -> under ~later known e 1
    | Below (x, e) when is_var v x -> under ~later known e 0
    | Equal (x, e) when is_var v x -> under ~later known e 1
    | _ -> None
  in
  List.find_map bound known

(** A variable is below its own bound: [n] counts from there. *)
and under ~later known e n =
  match e.t_node with
  | Tvar w when Svs.mem w later ->
      Option.map (more (n - 1)) (high ~later:(Svs.remove w later) known w)
  | _ -> if Svs.exists (fun w -> t_v_occurs w e > 0) later then None else Some (e, n)

(** A sequence of integers whose length is known, and the bounds of each of its elements. *)
let sequences ~later known v =
  let is_length (x : term) =
    match x.t_node with Tapp (ls, [ x ]) -> is "seq.Seq.length" ls && is_var v x | _ -> false
  in
  let free e = not (Svs.exists (fun w -> t_v_occurs w e > 0) later) in
  let length = function
    | Equal (x, e) when is_length x && free e -> Some e
    | Equal (e, x) when is_length x && free e -> Some e
    | _ -> None
  in
  let is_element at (x : term) =
    match x.t_node with
    | Tapp (ls, [ x; k ]) -> is "seq.Seq.mixfix []" ls && is_var v x && is_var at k
    | _ -> false
  in
  let elements = function
    | Each (at, guard, inside) -> (
        let low = function
          | At_most (e, x) when is_element at x && free e -> Some (e, 0)
          | Below (e, x) when is_element at x && free e -> Some (e, 1)
          | _ -> None
        and high = function
          | At_most (x, e) when is_element at x && free e -> Some (e, 1)
          | Below (x, e) when is_element at x && free e -> Some (e, 0)
          | _ -> None
        in
        match (List.find_map low inside, List.find_map high inside) with
        | Some low, Some high when List.for_all free guard -> Some (at, guard, low, high)
        | _ -> None)
    | _ -> None
  in
  match (List.find_map length known, List.find_map elements known) with
  | Some length, Some (at, guard, low, high) -> Sequences { length; at; guard; low; high }
  | _ -> Unknown

let is_sequence_of_integers ty =
  match ty.Ty.ty_node with
  | Tyapp (ts, [ element ]) ->
      Name.resolved ts.ts_name = Some "seq.Seq.seq" && Ty.ty_equal element Ty.ty_int
  | _ -> false

let domain ~later known (v : vsymbol) =
  if Ty.ty_equal v.vs_ty Ty.ty_int then Range (low ~later known v, high ~later known v)
  else if is_sequence_of_integers v.vs_ty then sequences ~later known v
  else Unknown
