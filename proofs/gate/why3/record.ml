(** The recorded proofs: the steps that split each goal of a theory, and the provers of the parts.

    A file lists a theory's goals; the parts of a line are indented below it:
{v
1.5.1 from 0b2f...
1.8.0 from 0b2f...
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
    [keep] and [split] transform the task before the provers get it. A line that begins with a
    version of Why3 and a colon names the provers that proved that version's task, with seconds. The
    lines below [instead] replace, for its version, all lines beside it. After [from] comes the hash
    that the theory, with all that it uses, had when the version last proved all goals. *)

type proof = { prover : string; seconds : float }

type t = {
  proofs : (string * proof list) list;  (** by the version of Why3 *)
  step : step option;
  instead : (string * t) list;
}

and step = Keep of string list * t | Split of t list

let nothing = { proofs = []; step = None; instead = [] }

(** {1 The record of one version} *)

(** The version of the linked Why3. *)
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

(** The versions that a record mentions. *)
let rec versions r =
  let of_others = List.concat_map (fun (version, r) -> version :: versions r) r.instead in
  List.sort_uniq compare
    (List.map fst r.proofs @ List.concat_map versions (below r.step) @ of_others)

(** Whether two families or more have proved each part with a version. *)
let rec is_complete r version =
  let r = of_version version r in
  match (proofs_of version r, r.step) with
  | [], Some step -> List.for_all (fun r -> is_complete r version) (below (Some step))
  | proofs, _ -> redundant proofs

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

(** The leading lines indented deeper than [d], and the other lines. *)
let rec lines_below d = function
  | line :: rest when depth line > d ->
      let below, others = lines_below d rest in
      (line :: below, others)
  | others -> ([], others)

(** [f] of each outermost line and the lines below it. *)
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

type file = { from : (string * string) list; goals : (string * t) list }

let empty = { from = []; goals = [] }

(** The record of a theory, empty without a file. *)
let read file =
  if not (Sys.file_exists file) then empty
  else
    let lines = String.split_on_char '\n' (Why3.Sysutil.file_contents file) in
    let item line below =
      match words ' ' line with
      | [ version; "from"; hash ] when below = [] -> Either.Left (version, hash)
      | _ -> Right (line, node below)
    in
    let from, goals = List.partition_map Fun.id (each item (List.filter (( <> ) "") lines)) in
    { from; goals }
