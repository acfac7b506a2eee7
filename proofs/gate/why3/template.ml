(** Templates, modules that others clone, and the symbols of their instances.

    A theorem of a template holds for each instance: its proof holds for all parameters that meet
    the template's assumptions. So a proved theorem has no second goal in instances. Why3 makes a
    goal for each program that replaces a parameter ([load'refn'vc]). Other parameters and axioms
    stay unproved in the instance. *)

open Why3
open Expr

let instances m =
  List.filter_map (function Pmodule.Uclone instance -> Some instance | _ -> None) (Audit.units m)

(** The symbols that a module proves by goals of its own: lemmas, and programs with a body. *)
let proved m =
  let of_program (rs, c) = if Audit.is_val c then None else Some rs.rs_name in
  let of_declaration d = List.filter_map of_program (Audit.programs d) @ Audit.lemmas d in
  Ident.Sid.of_list (List.concat_map of_declaration (Audit.declarations m))

(** The programs and propositions that a module has from templates, without those that replace a
    parameter; each with its template and its symbol there. *)
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

(** The origins that templates of ours prove. *)
let proved_origins project m =
  let is_proved (template, there) =
    Audit.is_ours project template && Ident.Sid.mem there (proved template)
  in
  Ident.Mid.filter (fun _ origin -> is_proved origin) (origins m)

(** Whether Why3 has made the goal for a program that replaces a parameter. This goal is no claim,
    though claims rest on it. No name in a source can have this ending. *)
let is_refinement (pr : Decl.prsymbol) = String.ends_with ~suffix:"'refn'vc" pr.pr_name.id_string
