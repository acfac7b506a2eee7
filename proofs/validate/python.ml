(** Formulas and terms as Python expressions.

    What is not known here is no expression: [No] says why, and the condition is not executable. No
    formula becomes true for want of a translation. What has no value by its contract, an element
    beyond the end of a sequence, is an error when it is asked for: the names that do so, [at] and
    the others, are those of the Python module that runs the result. *)

open Why3
open Term
open Format

exception No of string

let no form = ksprintf (fun reason -> raise (No reason)) form

(** {1 Names} *)

let reserved =
  [ "False"; "None"; "True"; "and"; "as"; "assert"; "async"; "await"; "break"; "class"; "continue";
    "def"; "del"; "elif"; "else"; "except"; "finally"; "for"; "from"; "global"; "if"; "import"; "in";
    "is"; "lambda"; "nonlocal"; "not"; "or"; "pass"; "raise"; "return"; "try"; "while"; "with";
    "yield"; "match"; "case"; "all"; "any"; "range"; "len"; "min"; "max"; "isinstance"; "tuple";
    "kernel"; "at"; "create"; "put"; "div"; "mod"; "every"; "some"; "indices"; "unreachable";
    "required"; "identical"; "dataclass"; "Any"; "quotient"; "elements"; "changed"; "replaced" ]

let sanitizer = Ident.sanitizer Ident.char_to_alpha Ident.char_to_alnumus

(** [symbols]: the functions in Python so far, or why there is none; [texts]: theirs, the last one
    first. [outside]: the types whose values come from the kernel. [tried]: the
    values are those of the trial of the trusted operations. *)
type t = {
  meaning : Meaning.t;
  outside : Ty.Sts.t;
  tried : bool;
  names : Ident.ident_printer;
  symbols : (string, string) result Hls.t;
  classes : unit Ty.Hts.t;
  mutable texts : string list;
}

let create meaning ~outside ~tried =
  { meaning; outside; tried; names = Ident.create_ident_printer reserved ~sanitizer;
    symbols = Hls.create 97; classes = Ty.Hts.create 17; texts = [] }

(** {1 Types} *)

let name_of_type ty = asprintf "@[<h>%a@]" Pretty.print_ty ty

let constructors p ts = Ty.Mts.find_opt ts p.meaning.Meaning.types

let types_of ts args (ls : lsymbol) =
  let result = Ty.ty_app ts args in
  let types = Ty.ty_match Ty.Mtv.empty (Option.get ls.ls_value) result in
  List.map (Ty.ty_inst types) ls.ls_args

(** Types of which a program has values, and no formula says more than that they are equal or not. *)
let plain = [ "seq.Seq.seq"; "array.Array.array"; "mach.int.Int64.int64" ]

let is_plain ts =
  match Name.resolved ts.Ty.ts_name with Some name -> List.mem name plain | None -> false

(** Whether Python's [==] is the equality of a type. Of functions it is not, unless the values are
    [tried]: all of those can be compared. *)
let rec is_comparable p ty =
  match ty.Ty.ty_node with
  | Tyvar _ -> true
  | Tyapp (ts, args) -> (
      if Ty.ts_equal ts Ty.ts_int || Ty.ts_equal ts Ty.ts_bool then true
      else if Ty.is_ts_tuple ts || is_plain ts then List.for_all (is_comparable p) args
      else if p.tried && (Ty.ts_equal ts Ty.ts_func || Ty.Mts.mem ts p.meaning.abstract) then true
      else
        match constructors p ts with
        | Some ((_ :: _) as found) ->
            List.for_all (fun (ls, _) -> List.for_all (is_comparable p) (types_of ts args ls)) found
        | _ -> false)

(** {1 The library} *)

(** The symbols of the standard library that have a meaning in Python, [$1] the first argument. *)
let library =
  [ ("int.Int.zero", "0"); ("int.Int.one", "1"); ("int.Int.prefix -", "(-$1)");
    ("int.Int.infix +", "($1 + $2)"); ("int.Int.infix -", "($1 - $2)");
    ("int.Int.infix *", "($1 * $2)"); ("int.Int.infix <", "($1 < $2)");
    ("int.Int.infix <=", "($1 <= $2)"); ("int.Int.infix >", "($1 > $2)");
    ("int.Int.infix >=", "($1 >= $2)"); ("int.MinMax.min", "min($1, $2)");
    ("int.MinMax.max", "max($1, $2)"); ("int.EuclideanDivision.div", "div($1, $2)");
    ("int.EuclideanDivision.mod", "mod($1, $2)"); ("seq.Seq.length", "len($1)");
    ("seq.Seq.get", "at($1, $2)"); ("seq.Seq.mixfix []", "at($1, $2)");
    ("seq.Seq.create", "create($1, $2)"); ("seq.Seq.empty", "()"); ("seq.Seq.snoc", "(*$1, $2)");
    ("seq.Seq.set", "put($1, $2, $3)"); ("seq.Seq.singleton", "($1,)");
    ("seq.Seq.cons", "($1, *$2)"); ("seq.Seq.infix ++", "($1 + $2)");
    ("array.Array.length", "len($1)"); ("array.Array.mixfix []", "at($1, $2)");
    ("array.Array.mixfix [<-]", "replaced($1, $2, $3)"); ("array.Array.elts", "elements($1)");
    ("map.Map.set", "changed($1, $2, $3)"); ("int.ComputerDivision.div", "quotient($1, $2)");
    ("mach.int.Int64.int64'int", "$1"); ("mach.int.Int64.int64'minInt", "(-2**63)");
    ("mach.int.Int64.int64'maxInt", "(2**63 - 1)") ]
  (* The bytes of a word. *)
  @ List.map (fun width -> ("c.trusted.Word" ^ width ^ ".part", "at($1, $2)")) [ "1"; "2"; "4"; "8"; "16" ]

let filled template arguments =
  let hole = Re.Str.regexp "\\$\\([1-9]\\)" in
  let fill text =
    let number = int_of_string (Re.Str.matched_group 1 text) in
    List.nth arguments (number - 1)
  in
  Re.Str.global_substitute hole fill template

(** {1 Expressions} *)

type scope = { p : t; locals : Ident.ident_printer }

let inside p = { p; locals = Ident.create_ident_printer reserved ~sanitizer }

let variable scope (v : vsymbol) = Ident.id_unique scope.locals v.vs_name

let commas = String.concat ", "

let lambda parameters body =
  sprintf "(lambda%s: %s)" (if parameters = [] then "" else " " ^ commas parameters) body

(** [Padding_pad]: it begins with the capital of its module, as no variable does. *)
let global p (id : Ident.ident) =
  let name =
    match Name.path id with
    | _, m, parts -> String.concat "_" (m :: parts)
    | exception Not_found -> "Local_" ^ id.id_string
  in
  Ident.id_unique p.names (Ident.id_register (Ident.id_derive name id))

let class_of p (ts : Ty.tysymbol) (c : Meaning.constructor) =
  if Ty.Sts.mem ts p.outside then "kernel." ^ c.name
  else
    match Hls.find_opt p.symbols c.symbol with
    | Some (Ok name) -> name
    | Some (Error reason) -> raise (No reason)
    | None ->
        let name = global p c.symbol.ls_name in
        Hls.add p.symbols c.symbol (Ok name);
        name

(** A class for each constructor of a type that only the theories know. *)
let declare p ts =
  if not (Ty.Sts.mem ts p.outside || Ty.Hts.mem p.classes ts) then begin
    Ty.Hts.add p.classes ts ();
    let one (ls, _) =
      let c = Mls.find ls p.meaning.Meaning.constructors in
      let body = if c.fields = [] then [ "pass" ] else List.map (fun f -> f ^ ": Any") c.fields in
      sprintf "@dataclass(frozen=True)\nclass %s:\n    %s\n" (class_of p ts c)
        (String.concat "\n    " body)
    in
    p.texts <- List.rev_append (List.map one (Ty.Mts.find ts p.meaning.types)) p.texts
  end

let rec expression scope (t : term) =
  match t.t_node with
  | Ttrue -> "True"
  | Tfalse -> "False"
  | Tvar v -> variable scope v
  | Tconst (ConstInt c) -> BigInt.to_string c.il_int
  | Tconst _ -> no "a literal that is no integer"
  | Tnot a -> sprintf "(not %s)" (expression scope a)
  | Tbinop (Tand, a, b) -> sprintf "(%s and %s)" (expression scope a) (expression scope b)
  | Tbinop (Tor, a, b) -> sprintf "(%s or %s)" (expression scope a) (expression scope b)
  | Tbinop (Timplies, a, b) -> sprintf "(not %s or %s)" (expression scope a) (expression scope b)
  | Tbinop (Tiff, a, b) -> sprintf "(%s is %s)" (expression scope a) (expression scope b)
  | Tif (a, b, c) ->
      sprintf "(%s if %s else %s)" (expression scope b) (expression scope a) (expression scope c)
  | Tlet (value, bound) ->
      let v, body = t_open_bound bound in
      let value = expression scope value in
      let v = variable scope v in
      sprintf "%s(%s)" (lambda [ v ] (expression scope body)) value
  | Tcase (value, branches) -> cases scope value branches
  | Tquant (quantifier, quantified) -> quantified_formula scope quantifier quantified
  | Teps _ -> (
      match t_open_lambda t with
      | [], _, _ -> no "a value that is described and not defined"
      | parameters, _, body ->
          let parameters = List.map (variable scope) parameters in
          List.fold_right (fun v body -> lambda [ v ] body) parameters (expression scope body))
  | Tapp (ls, [ a; b ]) when ls_equal ls ps_equ -> equality scope a b
  | Tapp (ls, [ f; x ]) when ls_equal ls fs_func_app ->
      sprintf "%s(%s)" (expression scope f) (expression scope x)
  | Tapp (ls, arguments) -> application scope ls (List.map (expression scope) arguments)

and application scope ls arguments =
  let { meaning; _ } = scope.p in
  let resolved = Option.value (Name.resolved ls.ls_name) ~default:"" in
  match List.assoc_opt resolved library with
  | Some template -> filled template arguments
  | None when ls_equal ls fs_bool_true -> "True"
  | None when ls_equal ls fs_bool_false -> "False"
  | None when is_fs_tuple ls -> (
      match arguments with [] -> "None" | [ one ] -> one | _ -> sprintf "(%s)" (commas arguments))
  | None -> (
      match (Mls.find_opt ls meaning.constructors, Mls.find_opt ls meaning.fields, arguments) with
      | Some c, _, _ ->
          declare scope.p c.made;
          sprintf "%s(%s)" (class_of scope.p c.made c) (commas arguments)
      | None, Some field, [ record ] -> sprintf "%s.%s" record field
      | _ -> sprintf "%s(%s)" (symbol scope.p ls) (commas arguments))

(** Values are compared where Python can; with what a constructor makes of such values it can. *)
and equality scope a b =
  let is_bool = Ty.oty_equal a.t_ty (Some Ty.ty_bool) in
  if is_bool && t_equal b t_bool_true then expression scope a
  else if is_bool && t_equal b t_bool_false then sprintf "(not %s)" (expression scope a)
  else if is_comparable scope.p (t_type a) || is_made scope.p a || is_made scope.p b then
    let a_text = expression scope a and b_text = expression scope b in
    if Ty.ty_closed (t_type a) then sprintf "(%s == %s)" a_text b_text
    else sprintf "identical(%s, %s)" a_text b_text
  else no "it compares values of the type %s, of which Python knows no equality" (name_of_type (t_type a))

and is_made p (t : term) =
  match t.t_node with
  | Tapp (ls, arguments) ->
      Mls.mem ls p.meaning.constructors
      && List.for_all (fun t -> is_comparable p (t_type t) || is_made p t) arguments
  | _ -> false

(** {2 Cases} *)

and cases scope value branches =
  let value = expression scope value in
  let subject = variable scope (create_vsymbol (Ident.id_fresh "subject") Ty.ty_int) in
  let branch bound rest =
    let pattern, body = t_open_branch bound in
    let tests, found = case scope subject pattern in
    let names = List.map (fun (v, _) -> variable scope v) found in
    let body = expression scope body in
    let body =
      if names = [] then body else sprintf "%s(%s)" (lambda names body) (commas (List.map snd found))
    in
    if tests = [] then body else sprintf "(%s if %s else %s)" body (String.concat " and " tests) rest
  in
  sprintf "%s(%s)" (lambda [ subject ] (List.fold_right branch branches "unreachable()")) value

(** What has to hold of a place for a pattern, and the variables with their places. *)
and case scope place (pattern : pattern) =
  match pattern.pat_node with
  | Pwild -> ([], [])
  | Pvar v -> ([], [ (v, place) ])
  | Pas (pattern, v) ->
      let tests, found = case scope place pattern in
      (tests, (v, place) :: found)
  | Por _ -> no "a pattern with alternatives"
  | Papp (ls, patterns) ->
      let test, part =
        match Mls.find_opt ls scope.p.meaning.constructors with
        | _ when is_fs_tuple ls -> ([], fun i -> sprintf "%s[%d]" place i)
        | _ when ls_equal ls fs_bool_true -> ([ place ], fun _ -> place)
        | _ when ls_equal ls fs_bool_false -> ([ sprintf "not %s" place ], fun _ -> place)
        | Some c ->
            declare scope.p c.made;
            ( [ sprintf "isinstance(%s, %s)" place (class_of scope.p c.made c) ],
              fun i -> sprintf "%s.%s" place (List.nth c.fields i) )
        | None -> no "a pattern that is no constructor's"
      in
      let inner = List.mapi (fun i pattern -> case scope (part i) pattern) patterns in
      (test @ List.concat_map fst inner, List.concat_map snd inner)

(** {2 Quantifiers} *)

and quantified_formula scope quantifier quantified =
  let variables, _, body = t_open_quant quantified in
  let guard =
    match quantifier with Tforall -> fst (Bounds.implication body) | Texists -> [ body ]
  in
  let known = List.concat_map (Bounds.facts scope.p.meaning) guard in
  let loop, beyond =
    match quantifier with Tforall -> ("all", "every") | Texists -> ("any", "some")
  in
  let sum (t, n) =
    let text = expression scope t in
    if n = 0 then text else sprintf "%s %+d" text n
  in
  let bound = Option.fold ~none:"None" ~some:sum in
  let rec over = function
    | [] -> expression scope body
    | v :: rest -> (
        let later = Svs.of_list (v :: rest) in
        match Bounds.domain ~later known v with
        | Range (Some low, Some high) ->
            let range = sprintf "range(%s, %s)" (sum low) (sum high) in
            let v = variable scope v in
            sprintf "%s(%s for %s in %s)" loop (over rest) v range
        | Range (low, high) ->
            let low = bound low and high = bound high in
            let v = variable scope v in
            sprintf "%s(%s, %s, %s)" beyond (lambda [ v ] (over rest)) low high
        | Sequences { length; at; guard; low; high } ->
            let length = expression scope length in
            let at = variable scope at in
            let inside = String.concat " and " (List.map (expression scope) guard) in
            let inside = if guard = [] then "True" else inside in
            let domain =
              sprintf "indices(%s, %s, %s, %s)" length (lambda [ at ] inside)
                (lambda [ at ] (sum low))
                (lambda [ at ] (sum high))
            in
            let v = variable scope v in
            sprintf "%s(%s for %s in %s)" loop (over rest) v domain
        | Unknown -> no "it speaks of all values of the type %s" (name_of_type v.vs_ty))
  in
  over variables

(** {1 Definitions} *)

(** The name of a function in Python that is a symbol of the logic. *)
and symbol p ls =
  match Hls.find_opt p.symbols ls with
  | Some (Ok name) -> name
  | Some (Error reason) -> raise (No reason)
  | None -> (
      let name = global p ls.ls_name in
      Hls.add p.symbols ls (Ok name);
      match define p ls name with
      | text ->
          p.texts <- text :: p.texts;
          name
      | exception No reason ->
          let reason = sprintf "%s: %s" (Name.with_scopes ls.ls_name) reason in
          Hls.replace p.symbols ls (Error reason);
          raise (No reason))

and define p ls name =
  match Mls.find_opt ls p.meaning.definitions with
  | None -> no "it has no definition"
  | Some { parameters; required; value } ->
      let scope = inside p in
      let parameters = List.map (variable scope) parameters in
      let require t = sprintf "    required(%s)\n" (expression scope (Formula.bare t)) in
      let required = String.concat "" (List.map require required) in
      let value = expression scope (Formula.bare value) in
      let title = Option.value (Name.resolved ls.ls_name) ~default:name in
      sprintf "def %s(%s):  # %s\n%s    return %s\n" name (commas parameters) title required value

(** {1 Types of values} *)

(** An expression that tells whether a value is one of a type. *)
let rec type_check p ty =
  match ty.Ty.ty_node with
  | Tyvar _ -> "is_anything"
  | Tyapp (ts, args) -> (
      let inside = List.map (type_check p) args in
      match (Name.resolved ts.ts_name, constructors p ts) with
      | _ when Ty.ts_equal ts Ty.ts_int -> "is_integer"
      | _ when Ty.ts_equal ts Ty.ts_bool -> "is_boolean"
      | _ when Ty.is_ts_tuple ts ->
          if args = [] then "is_nothing" else sprintf "is_tuple(%s)" (commas inside)
      | Some "seq.Seq.seq", _ -> sprintf "is_sequence(%s)" (commas inside)
      | Some "array.Array.array", _ -> sprintf "is_list(%s)" (commas inside)
      | _, Some found when Ty.Sts.mem ts p.outside ->
          let one (ls, _) =
            let c = Mls.find ls p.meaning.constructors in
            let types = List.map (type_check p) (types_of ts args ls) in
            sprintf "is_made(%s)" (commas (class_of p ts c :: types))
          in
          sprintf "is_one_of(%s)" (commas (List.map one found))
      | Some "mach.int.Int64.int64", _ -> "is_int64"
      | _ when p.tried && Ty.ts_equal ts Ty.ts_func -> sprintf "is_function(%s)" (commas inside)
      | Some name, None when p.tried && Ty.Mts.mem ts p.meaning.abstract ->
          let types = Ty.ts_match_args ts args in
          let field (ls : lsymbol) =
            let ty = Ty.ty_inst types (Option.get ls.ls_value) in
            sprintf "%s=%s" (Mls.find ls p.meaning.fields) (type_check p ty)
          in
          let fields = List.map field (Ty.Mts.find ts p.meaning.abstract) in
          sprintf "is_abstract(%s)" (commas (sprintf "%S" name :: fields))
      | _ -> no "a value of the type %s" (name_of_type ty))
