(** Templates: modules that others clone, and what these have from them.

    A theorem of a template holds of each instance, since its proof holds whatever its parameters
    are, as long as they keep what it supposes of them; Why3 asks for that where the instance is
    made, by a goal of its own for each program that takes the place of a parameter ([load'refn'vc]).
    So what a template has proved has no second goal in its instances. Unsubstituted parameters and
    axioms stay unproved in the instance. *)

open Why3
open Expr

let instances m =
  List.filter_map (function Pmodule.Uclone instance -> Some instance | _ -> None) (Audit.units m)

(** What a module declares and proves, by the goals that it has: lemmas, and programs with a body. *)
let proved m =
  let of_program (rs, c) = if Audit.is_val c then None else Some rs.rs_name in
  let of_declaration d = List.filter_map of_program (Audit.programs d) @ Audit.lemmas d in
  Ident.Sid.of_list (List.concat_map of_declaration (Audit.declarations m))

(** What a module has from templates, programs and propositions: what it declares itself, and not what
    takes the place of a parameter; each with the template and what it is there. *)
let origins m =
  let own = Audit.declared m in
  let of_instance found (instance : Pmodule.mod_inst) =
    let add there here found =
      if Ident.Sid.mem here own then Ident.Mid.add here (instance.mi_mod, there) found else found
    in
    let add_program a b = add a.rs_name b.rs_name in
    let add_proposition (a : Decl.prsymbol) (b : Decl.prsymbol) = add a.pr_name b.pr_name in
    Mrs.fold add_program instance.mi_rs (Decl.Mpr.fold add_proposition instance.mi_pr found)
  in
  List.fold_left of_instance Ident.Mid.empty (instances m)

(** What a module has from templates of ours that have proved it. *)
let proved_origins project m =
  let is_proved (template, there) =
    Audit.is_ours project template && Ident.Sid.mem there (proved template)
  in
  Ident.Mid.filter (fun _ origin -> is_proved origin) (origins m)

(** What Why3 asks for of an instance is no claim: only what rests on it is. It may be trivial, where
    a contract is the same in other words. No name of ours can end so. *)
let is_refinement (pr : Decl.prsymbol) = String.ends_with ~suffix:"'refn'vc" pr.pr_name.id_string
