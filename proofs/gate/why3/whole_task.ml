(** A task as a text that has all of it: what is declared and supposed in its order, with names, but
    nothing that differs from one run to the next. Attributes have places in the source, and mean
    nothing.

    Two tasks with the same text are the same question. A symbol is written where it first stands, by
    the module that declares it, and by a number from there on; each list and each name with its
    length, so that nothing can be read in two ways. *)

open Why3

type t = { text : Buffer.t; numbers : int Ident.Hid.t }

let sign w = Buffer.add_string w.text
let number w n = sign w (string_of_int n); sign w "."
let word w s = number w (String.length s); sign w s
let list put w l = number w (List.length l); List.iter (put w) l
let option put w o = list put w (Option.to_list o)

let ident w (id : Ident.ident) =
  match Ident.Hid.find_opt w.numbers id with
  | Some n -> number w n
  | None ->
      Ident.Hid.add w.numbers id (Ident.Hid.length w.numbers);
      sign w "!";
      (match Theory.restore_path id with
      | library, theory, path -> list word w library; word w theory; list word w path
      | exception Not_found -> ());
      word w id.id_string

(** {1 Types and terms} *)

let type_variable w (v : Ty.tvsymbol) = ident w v.tv_name

let rec ty w (t : Ty.ty) =
  match t.ty_node with
  | Tyvar v -> sign w "V"; type_variable w v
  | Tyapp (s, l) -> sign w "A"; ident w s.ts_name; list ty w l

let variable w (v : Term.vsymbol) = ident w v.vs_name; ty w v.vs_ty
let symbol w (s : Term.lsymbol) = ident w s.ls_name
let named w (pr : Decl.prsymbol) = ident w pr.pr_name

let rec pattern w (p : Term.pattern) =
  match p.pat_node with
  | Pwild -> sign w "_"
  | Pvar v -> sign w "v"; variable w v
  | Papp (s, l) -> sign w "a"; symbol w s; list pattern w l
  | Pas (p, v) -> sign w "s"; pattern w p; variable w v
  | Por (p, q) -> sign w "o"; pattern w p; pattern w q

let quantifier : Term.quant -> string = function Tforall -> "F" | Texists -> "E"

let connective : Term.binop -> string = function
  | Tand -> "&" | Tor -> "|" | Timplies -> ">" | Tiff -> "="

let rec term w (t : Term.term) =
  match t.t_node with
  | Tvar v -> sign w "v"; ident w v.vs_name
  | Tconst c -> sign w "c"; word w (Format.asprintf "%a" Constant.print_def c); option ty w t.t_ty
  | Tapp (s, l) -> sign w "a"; symbol w s; list term w l; option ty w t.t_ty
  | Tif (f, a, b) -> sign w "i"; List.iter (term w) [ f; a; b ]
  | Tlet (a, bound) -> sign w "l"; term w a; abstraction w bound
  | Tcase (a, branches) -> sign w "m"; term w a; list branch w branches
  | Teps bound -> sign w "e"; abstraction w bound
  | Tquant (q, quantified) ->
      let variables, triggers, f = Term.t_open_quant quantified in
      sign w (quantifier q);
      list variable w variables;
      list (list term) w triggers;
      term w f
  | Tbinop (o, f, g) -> sign w (connective o); term w f; term w g
  | Tnot f -> sign w "n"; term w f
  | Ttrue -> sign w "t"
  | Tfalse -> sign w "f"

and abstraction w bound =
  let v, t = Term.t_open_bound bound in
  variable w v;
  term w t

and branch w b =
  let p, t = Term.t_open_branch b in
  pattern w p;
  term w t

(** {1 Declarations} *)

let declared_type w (s : Ty.tysymbol) =
  ident w s.ts_name;
  list type_variable w s.ts_args;
  match s.ts_def with
  | NoDef -> sign w "n"
  | Alias t -> sign w "a"; ty w t
  | Range { ir_lower; ir_upper } ->
      List.iter (fun bound -> word w (BigInt.to_string bound)) [ ir_lower; ir_upper ]
  | Float { fp_exponent_digits; fp_significand_digits } ->
      List.iter (number w) [ fp_exponent_digits; fp_significand_digits ]

let declared w (s : Term.lsymbol) =
  symbol w s;
  list ty w s.ls_args;
  option ty w s.ls_value;
  number w s.ls_constr

let fields w (constructor, projections) =
  declared w constructor;
  list (option declared) w projections

let definition w (s, meaning) =
  let variables, t = Decl.open_ls_defn meaning in
  declared w s;
  list variable w variables;
  term w t

let supposed w (pr, f) = named w pr; term w f
let cases w (s, l) = declared w s; list supposed w l

let decl w (d : Decl.decl) =
  match d.d_node with
  | Dtype s -> sign w "T"; declared_type w s
  | Ddata l -> sign w "D"; list (fun w (s, l) -> declared_type w s; list fields w l) w l
  | Dparam s -> sign w "R"; declared w s
  | Dlogic l -> sign w "L"; list definition w l
  | Dind (Ind, l) -> sign w "I"; list cases w l
  | Dind (Coind, l) -> sign w "C"; list cases w l
  | Dprop (Pgoal, pr, f) -> sign w "G"; supposed w (pr, f)
  | Dprop ((Paxiom | Plemma), pr, f) -> sign w "P"; supposed w (pr, f)

let argument w = function
  | Theory.MAty t -> sign w "y"; ty w t
  | MAts s -> sign w "t"; ident w s.ts_name
  | MAls s -> sign w "l"; symbol w s
  | MApr pr -> sign w "p"; named w pr
  | MAid id -> sign w "d"; ident w id
  | MAstr s -> sign w "s"; word w s
  | MAint n -> sign w "i"; number w n

let tdecl w (td : Theory.tdecl) =
  match td.td_node with
  | Decl d -> decl w d
  | Use th | Clone (th, _) -> sign w "U"; ident w th.th_name; list word w th.th_path
  | Meta (m, arguments) -> sign w "M"; word w m.meta_name; list argument w arguments

let text task =
  let w = { text = Buffer.create 100_000; numbers = Ident.Hid.create 997 } in
  List.iter (tdecl w) (Task.task_tdecls task);
  Buffer.contents w.text
