(** The assumptions in the modules of the standard library, and in Why3's built-in modules, that the
    theories use directly or through others.

    - axioms, symbols without a definition, programs without a body, as [Audit] finds them in a
      theory;
    - [lemma] and [contract]: lemmas, and contracts of functions and programs with a body, which
      Why3's own proofs cover and ours do not.

    A module that is only cloned is a template: its assumptions count where it is instantiated. *)

open Why3

(** All modules that some modules use, directly or through others. *)
let reached modules =
  let rec visit seen m =
    let uses = List.filter_map (fun (m, is_cloned) -> if is_cloned then None else Some m) in
    if Ident.Mid.mem (Audit.id m) seen then seen
    else List.fold_left visit (Ident.Mid.add (Audit.id m) m seen) (uses (Audit.used_by m))
  in
  Ident.Mid.values (List.fold_left visit Ident.Mid.empty modules)

(** Leaves out metas, which concern provers' input; [absurd], which is proved with the contract; and
    [untold], which concerns only our statements. *)
let items m =
  let counts (item : Audit.item) = not (List.mem item.kind [ "meta"; "absurd"; "untold" ]) in
  let promises (_, (c : Expr.cexp)) = not (Audit.is_val c || c.c_cty.cty_post = []) in
  let proved_elsewhere d =
    let programs = List.filter promises (Audit.programs d) in
    List.map (fun (rs, _) -> Audit.of_ident "contract" rs.Expr.rs_name) programs
    @ List.map (Audit.of_ident "lemma") (Audit.lemmas d)
  in
  List.filter counts (Audit.items m) @ List.concat_map proved_elsewhere (Audit.declarations m)

open Json

(** [theories]: files with their modules. A module in no file of the tree belongs to the library. *)
let facts project theories =
  let add user found m =
    let name = Audit.name m in
    if Audit.is_ours project m || Wstdlib.Mstr.mem name found then found
    else Wstdlib.Mstr.add name (m, user) found
  in
  let add_theory found (file, modules) =
    List.fold_left (add file) found (reached (Result.value modules ~default:[]))
  in
  let found = Wstdlib.Mstr.bindings (List.fold_left add_theory Wstdlib.Mstr.empty theories) in
  let item name (item : Audit.item) =
    Record [ ("module", String name); ("kind", String item.kind); ("name", String item.name) ]
  in
  let module_ (name, (m, user)) =
    Record
      [ ("module", String name); ("file", text (Audit.file project m)); ("user", String user) ]
  in
  let of_module (name, (m, _)) = List.map (item name) (items m) in
  [ ("reached", List (List.map module_ found));
    ("library", List (List.concat_map of_module found)) ]
