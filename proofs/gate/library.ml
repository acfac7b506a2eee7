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

(** {1 Modules} *)

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

(** Those that Why3 is born with stand in no file. *)
let is_ours project m =
  match (Audit.id m).id_loc with
  | None -> false
  | Some loc -> Filename.is_relative (fst (Project.position project loc))

(** [seq.Seq]; [why3.Bool]. *)
let name (m : Pmodule.pmodule) =
  let own = (Audit.id m).id_string in
  match m.mod_theory.th_path with
  | "why3" :: _ -> "why3." ^ own
  | path -> String.concat "." (path @ [ own ])

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

let rec in_unit = function
  | Pmodule.Udecl d -> proved_elsewhere d
  | Uscope (_, units) -> List.concat_map in_unit units
  | Uuse _ | Uclone _ | Umeta _ -> []

(** Metas are about what a prover is told, and [absurd] is proved with the contract. *)
let items (m : Pmodule.pmodule) =
  let counts (item : Audit.item) = not (List.mem item.kind [ "meta"; "absurd" ]) in
  List.filter counts (List.concat_map Audit.in_unit m.mod_units)
  @ List.concat_map in_unit m.mod_units

(** {1 Facts} *)

open Json_base

(** [theories]: files with their modules. *)
let facts project theories =
  let users = Hashtbl.create 97 and found = Hashtbl.create 97 in
  let add file m =
    if not (is_ours project m) then begin
      Hashtbl.replace found (name m) m;
      Hashtbl.add users (name m) file
    end
  in
  let of_theory (file, modules) =
    List.iter (add file) (reached (Result.value modules ~default:[]))
  in
  List.iter of_theory theories;
  let record m (item : Audit.item) =
    let used_by = List.sort_uniq compare (Hashtbl.find_all users m) in
    Record
      [ ("module", String m); ("kind", String item.kind); ("name", String item.name);
        ("used_by", Json.strings used_by) ]
  in
  let by_name = List.sort compare (List.of_seq (Hashtbl.to_seq_keys found)) in
  List (List.concat_map (fun m -> List.map (record m) (items (Hashtbl.find found m))) by_name)
