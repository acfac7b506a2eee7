(** Merges the results of a search into the record, which keeps those of other versions of Why3. *)

open Record

let proved proofs = if proofs = [] then nothing else { nothing with proofs = [ (here, proofs) ] }
let taken_apart step = { nothing with step = Some step }

(** Results join a record with the same steps, go below [instead] in a record of other versions
    only, and replace any other record. *)
let rec merged known found =
  let known = { known with instead = List.remove_assoc here known.instead } in
  let add step =
    let proofs = List.remove_assoc here known.proofs @ found.proofs in
    { known with proofs = List.sort compare proofs; step }
  in
  match (known.step, found.step) with
  | None, None -> add None
  | Some (Keep (a, x)), Some (Keep (b, y)) when a = b -> add (Some (Keep (a, merged x y)))
  | Some (Split xs), Some (Split ys) when List.compare_lengths xs ys = 0 ->
      add (Some (Split (List.map2 merged xs ys)))
  | _ ->
      let is_of_others = known.proofs <> [] || known.step <> None in
      if is_of_others && not (List.mem here (versions { known with instead = [] })) then
        { known with instead = (here, found) :: known.instead }
      else { found with instead = known.instead }

(** The record without the results of this version of Why3. *)
let rec of_others r =
  let step =
    match r.step with
    | Some (Keep (names, r)) -> Some (Keep (names, of_others r))
    | Some (Split parts) -> Some (Split (List.map of_others parts))
    | None -> None
  in
  { proofs = List.remove_assoc here r.proofs; step; instead = List.remove_assoc here r.instead }

(** {1 Files} *)

let rec printed indent r =
  let line words = indent ^ words ^ "\n" in
  let proof { prover; seconds } = Printf.sprintf "%s %.2f" prover seconds in
  let proofs (version, proofs) =
    line (Printf.sprintf "%s: %s" version (String.concat ", " (List.map proof proofs)))
  in
  let indented = indent ^ " " in
  let step = function
    | Keep (names, r) -> line (String.trim ("keep " ^ String.concat ", " names)) ^ printed indented r
    | Split parts ->
        let part r = indented ^ "part\n" ^ printed (indented ^ " ") r in
        line "split" ^ String.concat "" (List.map part parts)
  in
  let instead (version, r) = line ("instead " ^ version) ^ printed indented r in
  String.concat ""
    (List.map proofs r.proofs @ List.map step (Option.to_list r.step) @ List.map instead r.instead)

let write file { from; goals } =
  let source (version, hash) = Printf.sprintf "%s from %s\n" version hash in
  let text (goal, r) = goal ^ "\n" ^ printed " " r in
  Why3.Sysutil.write_file file (String.concat "" (List.map source from @ List.map text goals))
