(** Templates: modules that others clone, and what these have from them.

    A theorem of a template holds of each instance, since its proof holds whatever its parameters
    are, as long as they keep what it supposes of them; Why3 asks for that where the instance is
    made, by a goal of its own for each program that takes the place of a parameter ([load'refn'vc]).
    So what a template has proved has no second goal in its instances. Unsubstituted parameters and
    axioms stay unproved in the instance. *)

open Why3
open Expr

let rec instances units =
  let inside = function
    | Pmodule.Uclone instance -> [ instance ]
    | Uscope (_, units) -> instances units
    | Udecl _ | Uuse _ | Umeta _ -> []
  in
  List.concat_map inside units

(** What a module declares and proves, by the goals that it has: lemmas, and programs with a body. *)
let proved (m : Pmodule.pmodule) =
  let of_program (rs, c) = if Audit.is_val c then [] else [ rs.rs_name ] in
  let of_pure (d : Decl.decl) =
    match d.d_node with Dprop (Plemma, pr, _) -> [ pr.pr_name ] | _ -> []
  in
  let of_declaration (d : Pdecl.pdecl) =
    match d.pd_node with
    | PDlet (LDsym (rs, c)) -> of_program (rs, c)
    | PDlet (LDrec definitions) ->
        List.concat_map (fun d -> of_program (d.rec_sym, d.rec_fun)) definitions
    | PDpure -> List.concat_map of_pure d.pd_pure
    | PDlet (LDvar _) | PDtype _ | PDexn _ -> []
  in
  Ident.Sid.of_list (List.concat_map of_declaration (Audit.declarations m.mod_units))

(** Programs, propositions, of an instance: each with what it is in the template. *)
let pairs (instance : Pmodule.mod_inst) =
  let programs = Mrs.bindings instance.mi_rs in
  let propositions = Decl.Mpr.bindings instance.mi_pr in
  List.map (fun (a, b) -> (b.rs_name, a.rs_name)) programs
  @ List.map (fun ((a : Decl.prsymbol), (b : Decl.prsymbol)) -> (b.pr_name, a.pr_name)) propositions

(** What a module has from templates: what it declares itself, and not what takes the place of a
    parameter; each with the template and what it is there. *)
let origins (m : Pmodule.pmodule) =
  let own = Audit.declared m in
  let add (instance : Pmodule.mod_inst) found (here, there) =
    if Ident.Sid.mem here own then Ident.Mid.add here (instance.mi_mod, there) found else found
  in
  let of_instance found instance = List.fold_left (add instance) found (pairs instance) in
  List.fold_left of_instance Ident.Mid.empty (instances m.mod_units)

(** What a module has from templates of ours that have proved it. *)
let proved_origins project m =
  let is_proved (template, there) =
    Audit.is_ours project template && Ident.Sid.mem there (proved template)
  in
  Ident.Mid.filter (fun _ origin -> is_proved origin) (origins m)

(** What Why3 asks for of an instance is no claim: only what rests on it is. It may be trivial, where
    a contract is the same in other words. No name of ours can end so. *)
let is_refinement (pr : Decl.prsymbol) = String.ends_with ~suffix:"'refn'vc" pr.pr_name.id_string
