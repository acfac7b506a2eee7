"""The audit: assumptions, witnesses of hypotheses, trivial claims; templates."""

import re
from typing import Any

import pytest
from small_tree import files, install

from gate import judge, toolchain
from gate.closed import ROOT
from gate.facts import Facts
from gate.program import Program
from gate.theories import theory_files

TAKEN = "is taken for granted:"

# In Why3 1.8.0, a ghost without a definition is an `any`, not a `val`.
GHOST = "any" if toolchain.read()["Why3"].version == "1.8.0" else "val"

GRANTED = [
    ("axiom", "a", "axiom a: 1 = 2"),
    ("type without definition", "t", "type t"),
    ("symbol without definition", "g", "function g int : int"),
    ("val", "g", "val g (x: int) : int"),
    (GHOST, "c", "val ghost constant c : int"),
    ("any", "g", "let g (x: int) : int = x + any int"),
    ("assume", "g", "let g (x: int) : int = assume { x = 0 }; x"),
    ("assume", "g", "let g (x: int) : int\n= let h (y: int) = assume { y = 0 }; y in h x"),
    ("assume", "g", "let g (x: int) : int = ghost (assume { x = 0 }); x"),
    ("diverges", "g", "let rec g (x: int) : int diverges = g x"),
    ("diverges", "g", "let g (x: int) : int = while true do () done; x"),
    ("diverges", "g", "let g (x: int) : int\n= let rec h (y: int) : int diverges = h y in x"),
    ("vc:divergent", "g", "let rec g (x: int) : int variant { x } = [@vc:divergent] g x"),
    ("meta", "syntax_logic", 'function g int : int\nmeta "syntax_logic" function g, "0", 0'),
    ("axiom", "PartialOrder.Trans", "clone relations.PartialOrder with type t = int, axiom ."),
]

# TRUE: goals that hold whatever their symbols mean. MORE: other goals.
TRUE = [
    "lemma m: true",
    "goal m: forall x: int. x = x",
    "lemma m: forall x y: int. x < y -> true /\\ y = y",
    "lemma m: forall x y: int. x < y /\\ 0 < x -> x < y",
    "lemma m: forall x: int. false -> x < x",
    "lemma m: forall x: int. x < 0 \\/ not x < 0",
    "lemma m: forall x: int. x < 0 <-> x < 0",
    "lemma m: forall x: int. let y = x in if x < 0 then y = x else x = y",
    "lemma m: exists x: int. x < 0 -> true",
    "lemma m: true by 1 < 2",
    "let lemma m (x: int) = assert { 1 < 2 }",
    "let lemma m (x: int) requires { 0 < x } ensures { 0 < x } = assert { 1 < 2 }",
    "let m (x: int) : int ensures { true } = assert { 1 < 2 }; x",
]
MORE = [
    "lemma m: forall x: int. x < 0 -> x < 1",
    "lemma m: forall x: int. x + 0 = x",
    "lemma m: exists x: int. x < 0",
    "let lemma m (x: int) ensures { true } ensures { x < x + 1 } = ()",
    "let m (x: int) : int = assert { 1 < 2 }; x",
    "let function m (x: int) : int = assert { 1 < 2 }; x",
]

# `wanted` is a program or a lemma; in each module, the audit looks for its witness.
CALLED = "predicate q (a: int)  let wanted (a: int) : unit requires { q a } = ()  "
PREDICATES = "predicate q (a: int)  predicate r (a: int)  predicate t (a b: int)  "
STATED = PREDICATES + "lemma wanted: forall a. q a -> r a  "
BOTH = STATED.replace("q a ->", "q a -> t (a + 1) a ->")
NESTED = STATED.replace("q a ->", "let b = a in (forall c. t c b -> r c) ->")
BETWEEN = "let lemma between (a: int) requires { q a }"


def promise(formula: str, more: str = "") -> str:
    return f"{PREDICATES}let wanted (a: int) : int {more} ensures {{ {formula} }} = a  "


def lemma(formula: str) -> str:
    return f"{PREDICATES}lemma wanted: forall a. {formula}  "


TRIED = """let g () = assert { q 9 /\\ (if q 9 then Plus else Minus) = Plus };
  assert { not r 9 /\\ r 8 /\\ not (if q 8 then Plus else Minus) = Minus }"""

FEW = "requires { a < 9 }"

# These postconditions have no hypotheses, only cases and ranges.
UNCONDITIONAL = [
    "q result -> r a",
    "forall k. q k /\\ 0 <= k < result -> r k",
    "(q a -> r result) /\\ (not q a -> t a result)",
    "(q a /\\ r a -> result = 1) /\\ (not (q a /\\ r a) -> result = 2)",
    "(a < 9 -> result = 1) /\\ (a >= 9 -> result = 2)",
    "forall k. 0 <= k < a -> t k result",
    "forall k. not 0 <= k < a -> t k result",
    "if q a then result = 1 else result = 2",
    "not (if q a then result = 1 else result = 2)",
    "not q a",
    "q a -> false",
    "q a <-> result = 1",
    "result = (if q a then 1 else 2)",
]

SUPPOSING = [
    "if q a then r a else true",
    "if not q a then true else let b = a in r b",
    "(q a -> not r a -> t a a) <-> true",
    "a = a <-> (q a -> r a)",
    "a <> a <-> q a /\\ r a",
    "not ((q a -> r a) <-> false)",
    "a < 9 /\\ (q a -> r a) \\/ a >= 9",
    "exists b. q a -> t a b",
    "match (if q a then Plus else Minus) with Plus -> r a | Minus -> true end",
    "match a, (if q a then Plus else Minus) with _, Minus -> true | _ -> r a end",
    "(if q a then a + 1 else a) = a",
    "a = match (if q a then Plus else Minus) with Minus -> a | Plus -> a + 1 end",
    "not (q a /\\ r a)",
    "not q a \\/ not r a",
    "q a -> r a -> false",
    "not (q a /\\ not r a)",
    "not (if q a then r a else false)",
    "not (r a \\/ not (q a -> t a a))",
    "not (exists b. q a /\\ t a b)",
    "not not (q a -> r a)",
    "not (forall b. not (q a -> t a b))",
    "(q a -> r a) by r a",
    "(if q a then r a else true) so a = a",
]

SATISFIED_BY_G = [
    # `g` always calls `wanted`: first, or after a branch, loop, change or excluded error.
    f"{CALLED}let lemma g (a: int) = wanted 9",
    f"{CALLED}let g (a: int) = (if a = 2 then wanted a); wanted 9",
    f"{CALLED}let g () = for i = 0 to 1 do let _ = free i in () done; wanted 9",
    f"{CALLED}let g (r: ref int) = r := 9; r.contents <- 8; wanted 9",
    f"{CALLED}let g (r: ref int) = while !r > 0 do variant {{ !r }} r := !r - 1 done; wanted 9",
    f"{CALLED}let g () raises {{ Odd _ -> false }} = let _ = half 4 in wanted 9",
    "predicate q (a: int)  let rec ghost function wanted (a: int) : int requires { q a }"
    " variant { a } = a  let lemma g () = let _ = wanted 9 in ()",
    f"{NESTED}let lemma g () = assert {{ (forall z. t z 9 -> r z) by r 9 }}",
    # `g` calls `wanted` in a condition, or asserts the hypothesis of `wanted`.
    f"{CALLED}let g () : int = if (wanted 9; 0 < 1) then 2 else 3",
    f"{STATED}let g (r: ref int) = r := 0; assert {{ q 9 }}",
    # `g` calls `wanted`, and asserts the hypothesis of its postcondition.
    f"{promise('q a -> r a')}let g () = let _ = wanted 9 in assert {{ q 9 }}",
    f"{promise('q a -> r a')}let g () = let b = 9 in let _ = wanted b in assert {{ q b }}",
    f"{promise('forall k. t k a -> r k')}let g () = let _ = wanted 9 in assert {{ t 1 9 }}",
    f"{promise('q a -> r a', FEW)}let g () = let _ = wanted 7 in assert {{ q 7 }}",
    # The formula has hypotheses, but is no implication.
    *(f"{lemma(formula)}{TRIED}" for formula in SUPPOSING),
]
SATISFIED_BY_BETWEEN = [
    # `between` calls `wanted`, or requires or asserts its hypotheses.
    f"{CALLED}{BETWEEN} = wanted a  let lemma g () = between 9",
    f"{CALLED}{BETWEEN} = ()  let lemma g () = between 9",
    f"{STATED}{BETWEEN} = ()  let lemma g () = between 9",
    f"{BOTH}{BETWEEN} = assert {{ t (a + 1) a }}  let lemma g () = between 9",
    "predicate u (a: 'a)  lemma wanted: forall a: 'a, b: 'b. u a -> u (a, b)"
    "  let lemma between (a: int) requires { u a } = ()  let lemma g () = between 9",
]

# `wanted` has no witness: these calls, assertions and hypotheses do not suffice.
UNSATISFIED = [
    *map(lemma, SUPPOSING),
    *(promise(formula) for formula in SUPPOSING if "->" in formula or "not" in formula),
    # The hypotheses have another form, or belong to a postcondition.
    lemma("not (q a /\\ r a) \\/ a < 0"),
    lemma("a < 0 \\/ not q a \\/ not r a"),
    lemma("t a a /\\ (q a -> r a)"),
    promise("q a -> r a -> a < 0"),
    promise("result = a /\\ (a < 0 \\/ not q a)"),
    promise("result = result /\\ q a -> r a"),
    promise("forall k. 0 <= k < 0 -> r k"),
    promise("forall k. a <= k < a -> r k"),
    promise("(q a -> result = 1) /\\ (not r a -> result = 2)"),
    f"{promise('q a -> r a', FEW)}let g () = let _ = wanted 7 in assert {{ q 8 }}",
    f"{promise('q a -> r a', FEW)}let g () : int = assert {{ q 7 }}; if 1 = 2 then wanted 7 else 1",
    # A call within a formula shows nothing.
    "predicate q (a: int)  let function wanted (a: int) : int requires { q a } = a"
    "  let g () = let _ = pure { wanted 9 } in ()",
    # For all that the audit knows, a run may not reach the call.
    f"{CALLED}let g (a: int) : unit = if a = 2 then wanted 9",
    f"{CALLED}let g (a: sign) : unit = match a with Minus -> wanted 9 | Plus -> () end",
    f"{CALLED}let g () = for i = 0 to 1 do wanted 9 done",
    f"{CALLED}let g (r: ref int) = while !r > 0 do variant {{ !r }} wanted 9; r := !r - 1 done",
    f"{CALLED}let g () : int = try wanted 9; half 2 with Odd _ -> 1 end",
    f"{CALLED}let g () : int -> unit = fun _ -> wanted 9",
    # Some runs do not reach the call, or reach it by an unproved assumption.
    f"{CALLED}let g () : unit raises {{ Odd b -> b = 2 }} = let _ = half 2 in wanted 9",
    f"{CALLED}let g (a: int) : unit raises {{ Odd }} = if a = 2 then raise (Odd 2); wanted 9",
    f"{CALLED}let g () : unit diverges = while true do () done; wanted 9",
    f"{CALLED}let g () : unit = assume {{ below 1 0 }}; wanted 9",
    f"{CALLED}let g () : unit = wanted (any int ensures {{ result <> result }})",
    f"{CALLED}let g (a: int) : unit = if a = 2 then absurd; wanted 9",
    f"{CALLED}val h () : unit ensures {{ false }}  let g () : unit = h (); wanted 9",
    f"{CALLED}val h () : unit ensures {{ false }}  let k = h  let g () : unit = k (); wanted 9",
    f"{CALLED}let g () : unit = let h () : unit ensures {{ false }} = any unit in h (); wanted 9",
    # The items that call `wanted`, or share its hypothesis, have no witness either.
    f"{CALLED}{BETWEEN} = wanted a",
    "predicate q (a: int)  let rec lemma wanted (a: int) requires { q a } variant { a }"
    " = wanted (a - 1)",
    f"{STATED}lemma other: forall a. q a -> r a",
    f"{NESTED}let g () = assert {{ forall z. t 9 z -> r z }}",
    # Each hypothesis is shown, but for different values, moments or types, or by different items.
    f"{BOTH}{BETWEEN} = assert {{ t (9 + 1) 9 }}  let lemma g () = between 9",
    f"{BOTH}{BETWEEN} = ()  let lemma also (a: int) requires {{ t (a + 1) a }} = ()"
    "  let lemma g () = between 9; also 9",
    f"{BOTH}let g () = let x = ref 9 in assert {{ q !x }}; x := 8; assert {{ t (!x + 1) !x }}",
    "predicate u (a: 'a)  lemma wanted: forall a b: 'a. u a -> u (b, 1) -> u b"
    "  lemma between: forall a: int, b: bool. u a -> u (b, 1) -> 0 < a"
    "  let g () = assert { u 1 /\\ u (true, 1) }",
]

# A declaration, a part of it that is in no postcondition, and a replacement of this part.
EFFECTS = [
    ("val f (a: cell) : unit writes { a.left }", "a.left", "a.left, a.right"),
    ("val f (a: cell) : unit writes { a.left }", "writes { a.left }", ""),
    ("val f (a: cell) : unit reads { world }", "reads { world }", ""),
    ("val f (a: cell) : unit writes { world.left }", "world.left", "world.right"),
    ("val f (a: nest) : cell alias { result with a.inner }", "alias { result with a.inner }", ""),
    ("val f (a b: cell) : unit alias { a with b }", "alias { a with b }", ""),
    ("val f (a: int) : int", "(a", "(ghost a"),
    ("val f (a: int) : (int, int)", "(int, int)", "(int, ghost int)"),
    ("val f (a: int) : int", "val f", "val ghost f"),
    ("val f (a: int) : int", "val f", "val function f"),
    ("val f (a: int) : int", "val f", "val partial f"),
    ("let f (a: int) : int = a", "let f", "let function f"),
    ("type f = { one: int }", "one", "mutable one"),
    ("type f = { one: int }", "one", "ghost one"),
    ("type f = private { one: int }", "private", "private mutable"),
    ("type f = private { one: int }", "private", "abstract"),
    ("type f = private { one: int }", "one: int", "one: bool"),
    ("type f = private { one: int }", "private", ""),
    ("type f = { one: int } invariant { one > 0 } by { one = 1 }", "> 0", "> 1 - 1"),
    ("exception F (int, int)", "int)", "ghost int)"),
]

CELLS = """use int.Int
type cell = { mutable left: int; mutable right: int }
type nest = { inner: cell }
val world: cell"""

FILES = files("""
== conditional
module Conditional
  use int.Int
  predicate below (a b: int) = a < b
  exception Odd int
  type sign = Minus | Plus
  let half (a: int) : int raises { Odd b -> b = a } = if a = 1 then raise Odd a else 0
  let free (a: int) : int = a
end
== absurd
module Absurd
  use int.Int
  let behind (x: int) : int = return x; absurd
  let proved (x: int) : int = if x < x then absurd else x + 1
end
== names
module Names
  use seq.Seq as S
  use conditional.Conditional
  type seq = Nil
  predicate below (a b: int) = a = b
  lemma both: forall a b. below a b -> Conditional.below b a by a = a
  lemma changed: forall a b. Conditional.below a b -> below b a
  exception Odd seq
  type pair = { left: seq; right: S.seq int }
end
== template
module Pattern
  use int.Int
  type t
  function weight (x: t) : int
  val size (x: t) : int
    requires { 0 <= weight x }
    ensures { 0 <= result }
  val free (x: t) : int
  let twice (x: t) : int
    requires { 0 <= weight x }
    ensures { 0 <= result }
  = size x + size x
  let rec down (n: int) : int
    requires { 0 <= n } variant { n } ensures { result = 0 }
  = if n = 0 then 0 else down (n - 1)
  lemma heavy: forall x. 1 < weight x -> 0 < weight x
  predicate light (x: t) = weight x = 0
end
== instance
module Instance
  use int.Int
  function same (x: int) : int = x
  let nothing (_x: int) : int ensures { result = 0 } = 0
  clone template.Pattern as P with
    type t = int, function weight = same, val size = nothing, val free = nothing
  let lemma witness ()
  = let _ = P.twice 3 in
    let _ = P.down 2 in
    assert { 1 < same 7 }
end
== c/trusted
module Memory
  use int.Int
  type byte
  val copy (b: byte) : byte
end
module Word
  use int.Int
  val constant width : int
    ensures { 1 <= result }
  val load (x: int) : int
    requires { width <= x }
end
module Word1
  let constant width_1 : int = 1
  clone export Word with val width = width_1
end
module Other
  val copy () : unit
end
== exact
module Exact
  use int.Int
  val f (x: int) : int ensures { result = x }
end
module Exactly
  use int.Int
  let g (x: int) : int ensures { result = x } = x
  clone Exact as Exactly with val f = g
end
== users
module Users
  use c.trusted.Memory
end
== chain
module Middle
  use int.Int
  clone export template.Pattern with type t = int
  let more (x: int) : int requires { 7 = weight x } ensures { 1 <= result } = twice x + 1
end
module End
  use int.Int  use instance.Instance
  clone Middle as M with function weight = same, val size = nothing, val free = nothing
end
""")

# Instances, and their missing parameters.
LEFT = {
    "left": ("clone template.Pattern with type t = int, val free = minus", ["weight", "size"]),
    "all_left": ("clone export template.Pattern", ["t", "weight", "size", "free"]),
    "trusted": ("clone c.trusted.Memory as Mine", ["Mine.byte", "Mine.copy"]),
}

# These modules are no templates: they are used, are never cloned, or assume something themselves.
NO_TEMPLATES = {
    "used": ("val f (x: int) : int ensures { result < result }", ["clone", "use"], "val"),
    "uncloned": ("val f (x: int) : int ensures { result < result }", [], "val"),
    "axiomatic": ("axiom f: 1 = 2", ["clone"], "axiom"),
    "assuming": ("let f (x: int) : int = assume { x = 0 }; x", ["clone"], "assume"),
    "endless": ("let f (x: int) : int diverges = while true do () done; x", ["clone"], "diverges"),
}

# Programs that return a record, and whether their contract shows that `make 3` returns one.
MAKERS = {
    "val make (n: int) : box ensures { result.room = n }": True,
    "val make (n: int) : box requires { n > 0 } ensures { result.room = n /\\ 1 = 1 }": False,
    "val make (n: int) : box ensures { result.room = n } ensures { result.name = n }": True,
    "val make (n: int) : box ensures { result.room = n /\\ result.name = n }": True,
    "val ghost make (n: int) : box ensures { result.room = n }": True,
    "val make (n: int) : box": True,
    "val make (n: int) : box ensures { false }": False,
    "val make (n: int) : box ensures { result.room < n }": False,
    "val make (n: int) : box ensures { result.room = result.room + n }": False,
    "val make (n: int) : box ensures { result.room = n } ensures { result.room = 1 - n }": False,
    "val make (n: int) : box ensures { result.room = n \\/ result.room = 0 }": False,
    "val make (n: int) : box ensures { length result = n }": False,
    "val make (n: int) : plain ensures { result.width = n }": False,
    "val make (n: int) : bound ensures { result.top = n }": False,
    "val make (n: int) : box writes { cell } ensures { result.room = n }": False,
    "val make (n: int) : box ensures { result.room = n } raises { Odd }": False,
    "val make (n: int) : box ensures { result.room = n } diverges": False,
}

MAKER = """
  type box = abstract {{ mutable room: int; name: int }}
  type plain = {{ width: int }}
  type bound = abstract {{ top: int }} invariant {{ 0 <= top }}
  function length (b: box) : int = b.room
  exception Odd
  val cell : ref int
  {}
  predicate q (a: int)
  let wanted (a: int) : unit requires {{ q a }} = ()
  let g () : unit {} = let _ = make 3 in wanted 9"""

REACHED = ["random.Random", "real.Real", "witness.Witness"]


def modules(name: str, texts: list[str], uses: str = "use int.Int") -> str:
    return "".join(f"module {name}{n}\n{uses}\n{text}\nend\n" for n, text in enumerate(texts))


def theories() -> dict[str, str]:
    asking = "use int.Int  use ref.Ref  use conditional.Conditional"
    changed = [text.replace(old, new) for text, old, new in EFFECTS]
    effects = [" ".join(re.findall(r"raises { Odd }|diverges", text)) for text in MAKERS]
    makers = list(map(MAKER.format, MAKERS, effects))
    found = FILES | {
        "granted": modules("Granted", [text for *_, text in GRANTED]),
        "true": modules("True", TRUE),
        "more": modules("More", MORE),
        "satisfied": modules("Satisfied", SATISFIED_BY_G + SATISFIED_BY_BETWEEN, asking),
        "unsatisfied": modules("Unsatisfied", UNSATISFIED, asking),
        "unconditional": modules("Free", list(map(promise, UNCONDITIONAL)), asking),
        "effects": modules("Effects", [text for text, *_ in EFFECTS], CELLS),
        "changed": modules("Effects", changed, CELLS),
        "reaching": modules("Reaching", [f"use {module}" for module in REACHED]),
        "makers": modules("Maker", makers, "use int.Int  use ref.Ref"),
    }
    minus = "let minus (x: int) : int = - x\n"
    found |= {name: modules("M", [f"{minus}{text}"]) for name, (text, _) in LEFT.items()}
    for name, (text, users, _) in NO_TEMPLATES.items():
        found[name] = f"module Pattern\n  use int.Int\n  {text}\nend\n"
        found |= {f"{name}_{how}": f"module M\n  {how} {name}.Pattern\nend\n" for how in users}
    return {f"why3/{name}.mlw": text for name, text in found.items()}


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    tree = install(tmp_path_factory.mktemp("audit") / "tree", theories())
    found = Program(tree).audit(theory_files(tree))
    assert [theory["errors"] for theory in found["theories"] if theory["errors"]] == []
    return found


def of(audit: Facts, key: str, file: str) -> list[Any]:
    entries: list[Any] = audit[key]  # type: ignore[literal-required]
    return [entry for entry in entries if entry["file"] == f"why3/{file}.mlw"]


def faults(audit: Facts, file: str, *goals: tuple[str, str]) -> list[str]:
    (theory,) = of(audit, "theories", file)
    return list(map(str, judge.theory_faults(theory, {*goals}, judge.templates(audit))))


def test_what_is_taken_for_granted_is_refused(audit: Facts) -> None:
    found = faults(audit, "granted")
    for n, (kind, name, _) in enumerate(GRANTED):
        what = f"Granted{n}.{name} is taken for granted: {kind} (none is allowed here)"
        assert any(what in failure for failure in found), what
    # Two divergent programs also have vc:divergent; PartialOrder is cloned with all items.
    assert len(found) == len(GRANTED) + 2 + 1 + 3
    cloned = "Trans is taken for granted: axiom (none is allowed here), cloned from /usr"
    assert any(cloned in failure for failure in found)


def test_what_is_not_reached_has_a_goal(audit: Facts) -> None:
    (found,) = faults(audit, "absurd", ("why3/absurd.mlw", "Absurd.proved'vc"))
    assert found.startswith("why3/absurd.mlw:3: Absurd.behind claims by absurd that this is not")


def test_no_clause_of_a_contract_can_be_missing_or_weaker() -> None:
    """[E_Broadcast_any_Derived_230]"""
    names = [f"kernel/{name}" for name in ("broadcast", "numpy", "openvino", "views")]
    audit = Program(ROOT).audit(f"why3/{name}.mlw" for name in (*names, "c/broadcast_all"))
    assert list(judge.choice_faults(audit)) == []
    for symbol in audit["symbols"]:
        head, *clauses = re.split(r"\n  (?=ensures|raises)", symbol["statement"])
        if not (symbol["module"].startswith("COP") and re.search("_outcome|_answer", str(clauses))):
            continue
        for n, clause in enumerate(clauses):
            start, said = re.findall(r"(?s)^(.*?\{ (?:\w+ -> )?)(.*) \}$", clause)[0]
            changes = ["true", f"0 = 0 -> {said}"]
            if "_outcome" in said:
                other = re.sub(r"\w+_outcome", "other_outcome", said)
                anything = re.sub(r"\b[a-z]\)*: outcome", "(f 0): outcome", said)
                changes += [f"{said} \\/ 0 = 0", other, anything]
            for weak in {*changes} - {said}:
                parts = [*clauses[:n], f"{start}{weak} }}", *clauses[n + 1 :]]
                changed: Any = {**symbol, "statement": "\n  ".join([head, *parts])}
                # A clause with is_operator may be weak: the clause about bytes implies it.
                wanted = "is_operator" not in clause
                assert len([*judge.choice_faults({"symbols": [changed]})]) == wanted, parts


def test_what_the_library_takes_for_granted(audit: Facts) -> None:
    found = [failure.what.partition(":")[0] for failure in judge.library_faults(audit)]
    modules = sorted([*REACHED, "random.State", "ref.Ref"])
    assert found == [f"reaches {module} of Why3's library" for module in modules]
    kinds = {(entry["module"], entry["kind"]) for entry in audit["library"]}
    assert {("seq.Seq", "axiom"), ("seq.Seq", "contract"), ("int.Int", "lemma")} <= kinds
    assert ("why3.BuiltIn.BuiltIn", "type without definition") in kinds
    assert not any(module.startswith(("granted", "names")) for module, _ in kinds)


def test_a_goal_that_says_nothing(audit: Facts) -> None:
    for file, says_nothing, texts in (("true", True, TRUE), ("more", False, MORE)):
        symbols = [symbol for symbol in of(audit, "symbols", file) if symbol["name"] == "m"]
        assert len(symbols) == len(texts)
        assert {symbol["says_nothing"] for symbol in symbols} == {says_nothing}


def test_two_symbols_of_one_name_are_told_apart_and_hints_left_out(audit: Facts) -> None:
    found = {e["name"]: (e["statement"], e["names"]) for e in of(audit, "symbols", "names")}
    both = ["names.Names.below", "conditional.Conditional.below"]
    assert found["both"] == ("forall a:int, b:int. below a b -> below1 b a", both)
    assert found["changed"] == (found["both"][0], both[::-1])
    assert found["Odd"] == ("exception Odd seq", ["names.Names.seq"])
    assert found["pair"][1] == ["names.Names.seq", "seq.Seq.seq"]


def test_a_statement_has_all_that_a_proof_can_use(audit: Facts) -> None:
    said = list[dict[str, list[str]]]()
    for file in ("effects", "changed"):
        (theory,) = of(audit, "theories", file)
        symbols = [symbol for symbol in of(audit, "symbols", file) if symbol["name"] in "fF"]
        said.append({symbol["module"]: [symbol["statement"]] for symbol in symbols})
        for assumed in theory["assumed"]:
            said[-1][assumed["module"]].append(assumed["kind"])
    for n, effect in enumerate(EFFECTS):
        assert said[0][f"Effects{n}"] != said[1][f"Effects{n}"], effect


def satisfied_by(audit: Facts, file: str) -> dict[str, Any]:
    found = of(audit, "hypotheses", file)
    return {entry["module"]: entry["satisfied_by"] for entry in found if entry["name"] == "wanted"}


def test_what_satisfies_hypotheses(audit: Facts) -> None:
    """The audit finds each hypothesis without a witness: [E_Broadcast_any_Derived_180]."""
    names = ["g"] * len(SATISFIED_BY_G) + ["between"] * len(SATISFIED_BY_BETWEEN)
    expected = {f"Satisfied{n}": f"Satisfied{n}.{name}" for n, name in enumerate(names)}
    assert satisfied_by(audit, "satisfied") == expected
    nothing = {f"Unsatisfied{n}": None for n in range(len(UNSATISFIED))}
    assert satisfied_by(audit, "unsatisfied") == nothing
    assert of(audit, "hypotheses", "unconditional") == []
    made = {f"Maker{n}": f"Maker{n}.g" if sure else None for n, sure in enumerate(MAKERS.values())}
    assert satisfied_by(audit, "makers") == made


def test_a_template_may_have_parameters_and_an_instance_has_none(audit: Facts) -> None:
    for name in ("template", "instance", "chain"):
        assert faults(audit, name) == []
    for name, (_, left) in LEFT.items():
        found = faults(audit, name)
        assert [symbol for symbol in left if f".{symbol} {TAKEN}" not in str(found)] == []
        assert len(found) == len(left)
    for name, (*_, kind) in NO_TEMPLATES.items():
        assert f"Pattern.f {TAKEN} {kind} (none" in str(faults(audit, name))
    assert {"template.Pattern", "chain.Middle", "c.trusted.Word"} <= judge.templates(audit)
    trusted = [f"{entry['module']}.{entry['name']}" for entry in judge.trusted(audit)]
    assert trusted == ["Memory.copy", "Word1.load", "Other.copy"]


def test_an_instance_has_goals_for_its_parameters_alone(audit: Facts) -> None:
    def symbols(name: str) -> dict[str, Any]:
        found = of(audit, "symbols", name)
        return {f"{s['module']}.{s['name']}": (s["goal"], s["template"]) for s in found}

    found = symbols("instance")
    assert found["Instance.nothing"] == ("nothing'vc", None)
    for name in ("twice", "down", "heavy"):
        assert found[f"Instance.P.{name}"] == (None, f"template.Pattern.{name}")
    assert found["Instance.P.size'refn'vc"] == ("P.size'refn'vc", None)
    # Such a goal may be trivial: a parameter and its replacement may have the same contract.
    (same,) = (s for s in audit["symbols"] if s["name"] == "Exactly.f'refn'vc")
    assert (same["module"], same["says_nothing"]) == ("Exactly", False)
    assert found["Instance.P.light"] == (None, None)
    # End clones Middle, which clones a template: items that Middle adds have their goal in Middle.
    found = symbols("chain")
    assert found["Middle.twice"] == (None, "template.Pattern.twice")
    assert found["Middle.more"] == ("more'vc", None)
    assert found["End.M.twice"] == (None, "chain.Middle.twice")
    assert found["End.M.more"] == (None, "chain.Middle.more")
    assert found["End.M.size'refn'vc"] == ("M.size'refn'vc", None)
    # An instance must prove its template's axioms; the gate refuses `axiom .`, which assumes them.
    assert symbols("axiomatic_clone")["M.Pattern.f"] == ("Pattern.f", None)


def test_what_an_instance_satisfies_its_template_does(audit: Facts) -> None:
    by = {(e["module"], e["name"]): e["satisfied_by"] for e in audit["hypotheses"]}
    names = ("twice", "down", "heavy")
    for name in names:
        assert by["Instance", f"P.{name}"] == "Instance.witness"
        assert by["Pattern", name] in {f"Instance.P.{each}" for each in names}
    assert by["End", "M.more"] is by["Middle", "more"] is None
    # Neither Why3's own goals nor the requirements of a parameter are claims.
    assert not any(name.endswith("'refn'vc") for _, name in by)
    places = [{"place": f"{s['file']}:{s['line']}"} for s in audit["symbols"]]
    clause = dict.fromkeys(("definitions", "theorems", "programs"), places)
    facts: Any = {**audit, "trace": {"clauses": [clause]}}
    missed = {failure.subject for failure in judge.witness_faults(facts)}
    assert "Middle.more" in missed
    assert by["Word1", "load"] is by["Word", "load"] is None
    assert missed & {"Word1.load", "Word.load"} == {"Word1.load"}
    # If no item has a tag, only items without a body are claims.
    facts["trace"] = {"clauses": []}
    missed = {failure.subject for failure in judge.witness_faults(facts)}
    assert "Word1.load" in missed
    assert "Middle.more" not in missed
