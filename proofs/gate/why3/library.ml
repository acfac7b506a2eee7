(** What the standard library takes for granted in the modules that the theories reach, directly or
    through one another, those that Why3 is born with included.

    - whatever [Audit] finds in a theory: axioms, what is declared and not defined, programs without
      a body;
    - [lemma] and [contract]: what has a proof, but among Why3's own proofs and not among ours: a
      lemma, and the promises of a function or program that has a body.

    A module that is only cloned is a pattern: what it supposes of its own symbols counts where an
    instance of it is made. *)

open Why3
open Pdecl

let rec uses = function
  | Pmodule.Uuse m -> [ m ]
  | Uscope (_, units) -> List.concat_map uses units
  | Uclone _ | Udecl _ | Umeta _ -> []

(** All modules that some modules use, and theirs. *)
let reached modules =
  let rec visit seen (m : Pmodule.pmodule) =
    let id = Audit.id m in
    if Ident.Mid.mem id seen then seen
    else List.fold_left visit (Ident.Mid.add id m seen) (List.concat_map uses m.mod_units)
  in
  Ident.Mid.values (List.fold_left visit Ident.Mid.empty modules)

(** {1 What they take for granted} *)

let promises (rs, (c : Expr.cexp)) =
  match rs.Expr.rs_logic with
  | _ when Audit.is_val c || c.c_cty.cty_post = [] -> []
  | RLlemma -> [ Audit.of_ident "lemma" rs.rs_name ]
  | RLls _ | RLnone | RLpv _ -> [ Audit.of_ident "contract" rs.rs_name ]

let proved_elsewhere d =
  match d.pd_node with
  | PDlet (LDsym (rs, c)) -> promises (rs, c)
  | PDlet (LDrec definitions) ->
      List.concat_map (fun d -> promises (d.Expr.rec_sym, d.rec_fun)) definitions
  | PDpure ->
      let lemma (d : Decl.decl) =
        match d.d_node with
        | Dprop (Plemma, pr, _) -> [ Audit.of_ident "lemma" pr.pr_name ]
        | _ -> []
      in
      List.concat_map lemma d.pd_pure
  | PDlet (LDvar _) | PDtype _ | PDexn _ -> []

(** Metas are about what a prover is told, and [absurd] is proved with the contract. *)
let items (m : Pmodule.pmodule) =
  let counts (item : Audit.item) = not (List.mem item.kind [ "meta"; "absurd" ]) in
  List.filter counts (Audit.items m)
  @ List.concat_map proved_elsewhere (Audit.declarations m.mod_units)

(** {1 Facts} *)

open Json

(** [theories]: files with their modules. What stands in no file of the tree is the library's. *)
let facts project theories =
  let users = Hashtbl.create 97 and found = Hashtbl.create 97 in
  let add file m =
    if not (Audit.is_ours project m) then begin
      Hashtbl.replace found (Audit.name m) m;
      Hashtbl.add users (Audit.name m) file
    end
  in
  let of_theory (file, modules) =
    List.iter (add file) (reached (Result.value modules ~default:[]))
  in
  List.iter of_theory theories;
  let used_by name = texts (List.sort_uniq compare (Hashtbl.find_all users name)) in
  let item name (item : Audit.item) =
    Record [ ("module", String name); ("kind", String item.kind); ("name", String item.name) ]
  in
  let module_ name m =
    let file = text (Audit.file project m) in
    Record [ ("module", String name); ("file", file); ("used_by", used_by name) ]
  in
  let all = List.sort compare (List.of_seq (Hashtbl.to_seq_keys found)) in
  let of_all one = List.concat_map (fun name -> one name (Hashtbl.find found name)) all in
  [ ("reached", List (of_all (fun name m -> [ module_ name m ])));
    ("library", List (of_all (fun name m -> List.map (item name) (items m)))) ]
