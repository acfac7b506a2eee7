(** Where a term stands within another, which decides whether it needs parentheses. *)

(** {1 Levels of the grammar}

    What binds tighter has a higher level. An operator of level [n] wants operands of level [n + 1],
    on the side where it associates of level [n]. *)

let level_open = 0 (* if, let, fun, forall *)
let level_implies = 1
let level_or = 2
let level_and = 3
let level_not = 4
let level_compare = 5 (* and 6, 7, 8: the other operators *)
let level_prefix = 9
let level_apply = 10
let level_tight = 11
let level_atom = 12

(** By the weakest of its characters, as Why3's lexer has it. *)
let infix_level operator =
  let has characters = String.exists (String.contains characters) operator in
  if has "=<>~" then level_compare else if has "+-" then 6 else if has "*/%\\" then 7 else 8

(** {1 Places} *)

(** [last]: nothing follows before the next closing parenthesis, so that a quantifier or an [if],
    which reaches as far as it can, needs none of its own. *)
type place = { level : int; last : bool }

let whole_place = { level = level_open; last = true }
let tight level = { level; last = false }

(** [body] for the place that it has, in parentheses if its operator is weaker than the place. *)
let at place limit body fmt =
  let needed = place.level > limit in
  let last = place.last || needed in
  Whyml.parens needed (fun fmt () -> body ~last fmt) fmt ()

(** For what has no end of its own. *)
let reaching place body fmt =
  let needed = place.level > level_compare || ((not place.last) && place.level > level_open) in
  Whyml.parens needed (fun fmt () -> body fmt) fmt ()
