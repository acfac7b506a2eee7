(* Local exceptions that are a return, a break or a continue. *)

open Why3
open Mltree

let rec raises xs e =
  match e.e_node with
  | Eraise (x, _) when Ity.xs_equal x xs -> true
  | Efun (_, body) -> raises xs body
  | _ -> e_fold (fun found e -> found || raises xs e) false e

(* Every [raise xs] is caught by the handler around [e], is not in an inner function, and is not in
   a loop unless [loops] allows it. *)
let rec is_jump ~loops xs e =
  match e.e_node with
  | Ematch (_, _, handlers) when List.exists (fun (x, _, _) -> Ity.xs_equal x xs) handlers -> false
  | Efun _ -> not (raises xs e)
  | Elet (((Lsym _ | Lrec _) as local), rest) ->
      (not (ld_fold (fun found e -> found || raises xs e) false local)) && is_jump ~loops xs rest
  | (Ewhile _ | Efor _) when not loops -> not (raises xs e)
  | _ -> e_fold (fun ok e -> ok && is_jump ~loops xs e) true e

(* bounds that are computed before the loop belong to it *)
let rec is_break xs e =
  match e.e_node with
  | Ewhile (test, body) -> (not (raises xs test)) && is_jump ~loops:false xs body
  | Efor (_, _, _, _, _, body) -> is_jump ~loops:false xs body
  | Elet (Lvar (_, bound), rest) -> (not (raises xs bound)) && is_break xs rest
  | Eblock [ e ] -> is_break xs e
  | _ -> false

let is_continue xs e = is_jump ~loops:false xs e

let is_return xs e = is_jump ~loops:true xs e
