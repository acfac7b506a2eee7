(* The documentation comments of a WhyML text. Why3 forgets comments, so the text is read again:
   split into words, once per file, and looked up from the place of a name. *)

open Why3

(* {1 Words} *)

type kind = Comment | Attribute | Word

type token = { kind : kind; text : string; start : int }

let is_space c = c = ' ' || c = '\t' || c = '\n' || c = '\r'

let is_name c =
  ('a' <= c && c <= 'z')
  || ('A' <= c && c <= 'Z')
  || ('0' <= c && c <= '9')
  || c = '_' || c = '\'' || Char.code c >= 128

let starts_with source i s =
  i + String.length s <= String.length source && String.sub source i (String.length s) = s

(* the place after the comment that opens at [i]; comments nest *)
let end_of_comment source i =
  let rec from depth i =
    if i >= String.length source then i
    else if starts_with source i "(*)" then from depth (i + 3)
    else if starts_with source i "(*" then from (depth + 1) (i + 2)
    else if starts_with source i "*)" then if depth = 1 then i + 2 else from (depth - 1) (i + 2)
    else from depth (i + 1)
  in
  from 0 i

let rec end_of_string source i =
  if i >= String.length source then i
  else if source.[i] = '\\' then end_of_string source (i + 2)
  else if source.[i] = '"' then i + 1
  else end_of_string source (i + 1)

let rec end_of_run test source i =
  if i < String.length source && test source.[i] then end_of_run test source (i + 1) else i

(* the kind of the word that starts at [i], and the place after it *)
let word source i =
  let c = source.[i] in
  if starts_with source i "(*)" then (Word, i + 3)
  else if starts_with source i "(*" then (Comment, end_of_comment source i)
  else if starts_with source i "[@" then
    (Attribute, end_of_run (fun c -> c <> ']') source i + 1)
  else if c = '"' then (Word, end_of_string source (i + 1))
  else (Word, if is_name c then end_of_run is_name source i else i + 1)

let tokens source =
  let rec from i =
    let start = end_of_run is_space source i in
    if start >= String.length source then []
    else
      let kind, stop = word source start in
      let stop = min stop (String.length source) in
      { kind; text = String.sub source start (stop - start); start } :: from stop
  in
  Array.of_list (from 0)

let read_file file =
  let channel = open_in_bin file in
  Fun.protect
    ~finally:(fun () -> close_in channel)
    (fun () -> really_input_string channel (in_channel_length channel))

type source = { words : token array; line_starts : int array }

let load file =
  let text = read_file file in
  let starts = ref [ 0 ] in
  String.iteri (fun i c -> if c = '\n' then starts := (i + 1) :: !starts) text;
  { words = tokens text; line_starts = Array.of_list (List.rev !starts) }

let sources : source Wstdlib.Hstr.t = Wstdlib.Hstr.create 7

let source file =
  match Wstdlib.Hstr.find_opt sources file with
  | Some s -> s
  | None ->
      let s = load file in
      Wstdlib.Hstr.add sources file s;
      s

(* the words of the file and the index of the one at this place *)
let find position =
  let file, line, column, _ = Loc.get position in
  if not (Sys.file_exists file) then None
  else
    let { words; line_starts } = source file in
    let place = if line <= Array.length line_starts then line_starts.(line - 1) + column else -1 in
    let rec search i =
      if i >= Array.length words || words.(i).start > place then None
      else if words.(i).start = place then Some (words, i)
      else search (i + 1)
    in
    search 0

(* {1 Comments} *)

let trim_right s =
  let rec last i = if i > 0 && is_space s.[i - 1] then last (i - 1) else i in
  String.sub s 0 (last (String.length s))

let rec drop_blank = function
  | "" :: rest -> drop_blank rest
  | lines -> lines

let drop_blank_edges lines = List.rev (drop_blank (List.rev (drop_blank lines)))

(* the lines between [(**] and [*)], without the indentation that they share *)
let lines_of_comment text =
  let inside = String.sub text 3 (String.length text - 5) in
  let margin_of line = end_of_run is_space line 0 in
  match List.map trim_right (String.split_on_char '\n' inside) with
  | [] -> []
  | first :: rest ->
      let margins = List.map margin_of (List.filter (fun l -> l <> "") rest) in
      let margin = List.fold_left min max_int margins in
      let cut l = if l = "" then l else String.sub l margin (String.length l - margin) in
      drop_blank_edges (String.trim first :: List.map cut rest)

(* documentation, but not a heading such as [(** {2 Title} *)] *)
let is_documentation text =
  let is_heading line =
    String.length line > 1 && line.[0] = '{' && '0' <= line.[1] && line.[1] <= '9'
  in
  starts_with text 0 "(**"
  && (not (starts_with text 0 "(***"))
  && String.length text >= 5
  &&
  match lines_of_comment text with
  | [] -> false
  | first :: _ -> not (is_heading first)

(* words that may stand between a documentation comment and the name it is about *)
let before_a_name =
  [ "let"; "rec"; "with"; "function"; "predicate"; "constant"; "partial"; "type"; "exception";
    "mutable"; "|" ]

let doc_comment position =
  let rec before words i =
    if i < 0 then []
    else
      let { kind; text; _ } = words.(i) in
      match kind with
      | Comment -> if is_documentation text then lines_of_comment text else before words (i - 1)
      | Attribute -> before words (i - 1)
      | Word -> if List.mem text before_a_name then before words (i - 1) else []
  in
  match find position with
  | None -> []
  | Some (words, i) -> before words (i - 1)
