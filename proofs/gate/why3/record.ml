(** The recorded proofs: how each goal of a theory is taken apart, and who proves the parts.

    A file has the goals of a theory, and below a line, further to the right, what belongs to it:
{v
Padding.pad_is_shape
 keep Padding.pad'spec, Padding.padded_size
  1.5.1: Z3 0.02, Alt-Ergo 0.01
  1.8.0: Z3 0.02, Alt-Ergo 0.01
Padding.unpad_valid'vc
 split
  part
   1.5.1: Z3 0.02, Alt-Ergo 0.01
   instead 1.8.0
    keep Padding.unpad'spec
     1.8.0: Z3 0.02, Alt-Ergo 0.01
  part
  ...
v}
    [keep] and [split] say what is done to the task before the provers get it; a line with a version
    of Why3 says which provers have answered to the task as it makes it, and in how many seconds. What
    stands below [instead] takes the place of all that stands beside it, for that version. *)

type proof = { prover : string; seconds : float }

type t = {
  proofs : (string * proof list) list;  (** by the version of Why3 *)
  step : step option;
  instead : (string * t) list;
}

and step = Keep of string list * t | Split of t list

let nothing = { proofs = []; step = None; instead = [] }

(** {1 One version's part in it} *)

(** The version whose library this is. *)
let here = Why3.Config.version

let below = function
  | Some (Keep (_, r)) -> [ r ]
  | Some (Split parts) -> parts
  | None -> []

let of_version version r = Option.value (List.assoc_opt version r.instead) ~default:r
let proofs_of version r = Option.value (List.assoc_opt version r.proofs) ~default:[]
let mine r = of_version here r
let own r = proofs_of here r

(** CVC5 is CVC4's successor and shares its ideas and code: one family. *)
let family prover = match prover with "CVC4" | "CVC5" -> "CVC" | name -> name

let families proofs = List.sort_uniq compare (List.map (fun p -> family p.prover) proofs)
let redundant proofs = List.length (families proofs) >= 2

(** The versions that somebody has recorded anything for. *)
let rec versions r =
  let of_others = List.concat_map (fun (version, r) -> version :: versions r) r.instead in
  List.sort_uniq compare
    (List.map fst r.proofs @ List.concat_map versions (below r.step) @ of_others)

(** Whether two families have proved all of it with a version. *)
let rec is_complete r version =
  let r = of_version version r in
  match (proofs_of version r, r.step) with
  | [], Some step -> List.for_all (fun r -> is_complete r version) (below (Some step))
  | proofs, _ -> redundant proofs

(** What is written for a node, from its proofs or its step. *)
let proved proofs = if proofs = [] then nothing else { nothing with proofs = [ (here, proofs) ] }
let taken_apart step = { nothing with step = Some step }

(** What is known with what this version has found now. It takes part in a tree that fits it, takes the
    place of one in which it had a part, and stands beside one of others alone. *)
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

(** What is known without this version's part. *)
let rec of_others r =
  let step =
    match r.step with
    | Some (Keep (names, r)) -> Some (Keep (names, of_others r))
    | Some (Split parts) -> Some (Split (List.map of_others parts))
    | None -> None
  in
  { proofs = List.remove_assoc here r.proofs; step; instead = List.remove_assoc here r.instead }

(** {1 Files} *)

let words separator text = List.map String.trim (String.split_on_char separator text)

let proof text =
  match words ' ' text with
  | [ prover; seconds ] -> { prover; seconds = float_of_string seconds }
  | _ -> failwith ("expected a prover and its seconds: " ^ text)

let depth line =
  let n = String.length line in
  let rec from i = if i < n && line.[i] = ' ' then from (i + 1) else i in
  from 0

(** The lines that stand below the first of some, and the others. *)
let rec lines_below d = function
  | line :: rest when depth line > d ->
      let below, others = lines_below d rest in
      (line :: below, others)
  | others -> ([], others)

(** [f] of each line that stands farthest to the left, and of those below it. *)
let rec each f = function
  | [] -> []
  | line :: rest ->
      let below, others = lines_below (depth line) rest in
      let first = f (String.trim line) below in
      first :: each f others

let rec node lines =
  let add line below r =
    match (words ':' line, String.split_on_char ' ' line) with
    | [ version; proofs ], _ when below = [] ->
        { r with proofs = r.proofs @ [ (version, List.map proof (words ',' proofs)) ] }
    | _, "keep" :: _ when r.step = None ->
        let names = words ',' (Project.after "keep" line) in
        { r with step = Some (Keep (List.filter (( <> ) "") names, node below)) }
    | _, [ "split" ] when r.step = None -> { r with step = Some (Split (each part below)) }
    | _, [ "instead"; version ] -> { r with instead = r.instead @ [ (version, node below) ] }
    | _ -> failwith ("not understood: " ^ line)
  in
  List.fold_left (fun r f -> f r) nothing (each add lines)

and part line below = if line = "part" then node below else failwith ("no part: " ^ line)

(** The goals of a file, none if there is no file. *)
let read file =
  if not (Sys.file_exists file) then []
  else
    let lines = String.split_on_char '\n' (Why3.Sysutil.file_contents file) in
    each (fun goal below -> (goal, node below)) (List.filter (( <> ) "") lines)

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

let write file goals =
  let text (goal, r) = goal ^ "\n" ^ printed " " r in
  Why3.Sysutil.write_file file (String.concat "" (List.map text goals))
