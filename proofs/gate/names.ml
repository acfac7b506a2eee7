(** What a symbol is called in a statement: by its own name, as in the source, unless that would
    leave open which symbol is meant; then by its file and its module, as Why3 qualifies names.

    Two functions of one name are told apart by the types of their arguments, as a reader tells the
    length of a sequence from that of an array. Whatever a module can see counts, used or not, so
    that a statement cannot come to speak of something else and keep its words. *)

open Why3

type kind = Type | Exception | Function | Program

(** A constant has no arguments, nor has a type or an exception: nothing tells two of them apart. *)
type entry = { kind : kind; id : Ident.ident; arguments : Ty.ty list }

type t = { entries : (string, entry) Hashtbl.t; own : Ident.Sid.t }

(** {1 What a module can see} *)

let of_function (ls : Term.lsymbol) = { kind = Function; id = ls.ls_name; arguments = ls.ls_args }
let of_type (ts : Ty.tysymbol) = { kind = Type; id = ts.ts_name; arguments = [] }
let of_exception (xs : Ity.xsymbol) = { kind = Exception; id = xs.xs_name; arguments = [] }

let of_data (ts, constructors) =
  let symbols (ls, fields) = ls :: List.filter_map Fun.id fields in
  of_type ts :: List.map of_function (List.concat_map symbols constructors)

let of_pure (d : Decl.decl) =
  match d.d_node with
  | Dtype ts -> [ of_type ts ]
  | Ddata types -> List.concat_map of_data types
  | Dparam ls -> [ of_function ls ]
  | Dlogic definitions -> List.map (fun (ls, _) -> of_function ls) definitions
  | Dind (_, definitions) -> List.map (fun (ls, _) -> of_function ls) definitions
  | Dprop _ -> []

(** A program is no part of a formula, but who reads [result = f x] in the contract of [f] cannot
    know that. *)
let of_program (rs : Expr.rsymbol) =
  let arguments = List.map (fun pv -> pv.Ity.pv_vs.vs_ty) rs.rs_cty.cty_args in
  match rs.rs_logic with
  | RLnone -> [ { kind = Program; id = rs.rs_name; arguments } ]
  | RLls _ | RLlemma | RLpv _ -> []

let of_node (d : Pdecl.pdecl) =
  match d.pd_node with
  | PDexn xs -> [ of_exception xs ]
  | PDlet (LDsym (rs, _)) -> of_program rs
  | PDlet (LDrec definitions) -> List.concat_map (fun d -> of_program d.Expr.rec_sym) definitions
  | PDlet (LDvar _) | PDtype _ | PDpure -> []

let entries (d : Pdecl.pdecl) = of_node d @ List.concat_map of_pure d.pd_pure

(** The same declarations are seen by many modules. *)
let entries =
  let known = Hashtbl.create 997 in
  fun (d : Pdecl.pdecl) ->
    match Hashtbl.find_opt known d.pd_tag with
    | Some found -> found
    | None ->
        let found = entries d in
        Hashtbl.add known d.pd_tag found;
        found

let seen_by (m : Pmodule.pmodule) =
  let table = Hashtbl.create 997 in
  let counts e = e.kind <> Program || Ident.Sid.mem e.id m.mod_local in
  let add_entry e = if counts e then Hashtbl.add table e.id.Ident.id_string e in
  let add id d = List.iter (fun e -> if Ident.id_equal e.id id then add_entry e) (entries d) in
  (* A constructor or a field is known under its own name, with the declaration of its type. *)
  Ident.Mid.iter add m.mod_known;
  { entries = table; own = m.mod_local }

(** {1 Names} *)

let rec may_meet (a : Ty.ty) (b : Ty.ty) =
  match (a.ty_node, b.ty_node) with
  | Tyvar _, _ | _, Tyvar _ -> true
  | Tyapp (s, a), Tyapp (t, b) -> Ty.ts_equal s t && List.for_all2 may_meet a b

(** A constant may itself be a function. *)
let clash a b =
  (a.kind = b.kind || (a.kind = Function && b.kind = Program))
  && (not (Ident.id_equal a.id b.id))
  && (a.arguments = [] || b.arguments = []
     || List.compare_lengths a.arguments b.arguments = 0
        && List.for_all2 may_meet a.arguments b.arguments)

(** Library, module, and the name with its scopes. Only what no module declares, a variable, has no
    path. *)
let path id =
  match Pmodule.restore_path id with
  | path -> path
  | exception Not_found -> Theory.restore_path id

let with_scopes (id : Ident.ident) =
  match path id with
  | _, _, (_ :: _ as parts) -> String.concat "." parts
  | _ | (exception Not_found) -> id.id_string

(** What a module defines itself keeps its name, and others of that name are qualified. *)
let is_clear names entry =
  let is_own e = Ident.Sid.mem e.id names.own in
  let disturbs other = clash entry other && (is_own other || not (is_own entry)) in
  not (List.exists disturbs (Hashtbl.find_all names.entries entry.id.id_string))

(** [""], or what goes before a name that is not clear by itself: [seq.Seq.]. *)
let qualifier names entry =
  if is_clear names entry then ""
  else
    match path entry.id with
    | exception Not_found -> ""
    | library, m, scopes ->
        let scopes = List.rev (List.tl (List.rev scopes)) in
        String.concat "" (List.map (fun part -> part ^ ".") (library @ (m :: scopes)))

(** The name in the form that can be applied: [length], [seq.Seq.(==)]. *)
let name names entry =
  Format.asprintf "%s%a" (qualifier names entry) Ident.print_decoded entry.id.id_string
