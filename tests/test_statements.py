"""What goals and definitions state, as the gate sees it, and goals that say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import statements
from facts import Facts, full_name
from gate_tree import facts_of, proved_tree

__all__ = ["proved_tree"]

FORMS = """\
module Forms
  use int.Int
  use seq.Seq
  use array.Array as A
  type shape = seq int
  type point = { left: int; right: int }
  type tree 'a = Leaf | Node (tree 'a) 'a (tree 'a)
  exception Bad point
  predicate within (s: shape) (k: int) = 0 <= k /\\ k < length s
  inductive even int = Zero: even 0 | Step: forall n. even n -> even (n + 2)
  let ghost function first (s: seq 'a) : 'a
    requires { [@expl:an attribute] length s > 0 }
    ensures { result = s[0] }
  = s[0]
  let rec ghost function sum (s: shape) (n: int) : int
    requires { 0 <= n <= length s }
    variant { n }
  = if n = 0 then 0 else sum s (n - 1) + s[n - 1]
  let lemma sum_first (s: shape) (ghost k: int)
    requires { length s = 1 /\\ k = 0 }
    ensures { sum s 1 = first s + k }
  = ()
  let increase (a: A.array int) (k step: int) : int
    requires { 0 <= k < A.length a }
    ensures { A.(a[k]) = A.((old a)[k]) + step }
    raises { Bad p -> p.left = k /\\ step <= 0 }
  = if step <= 0 then raise (Bad { left = k; right = 0 });
    A.(a[k] <- a[k] + step);
    step
  let swap (x y: int) : (int, int)
    returns { (v, w) -> v = y /\\ w = x }
  = (y, x)
LEMMAS
end
"""

STATEMENTS = {
    "shape": "type shape = seq int",
    "point": "type point = { left: int; right: int }",
    "tree": "type tree 'a = Leaf | Node (tree 'a) 'a (tree 'a)",
    "Bad": "exception Bad point",
    "within": "predicate within (s: seq int) (k: int) = 0 <= k < length s",
    "even": (
        "inductive even (int) =\n| Zero: even 0\n| Step: forall n: int. even n -> even (n + 2)"
    ),
    "first": (
        "let ghost function first (s: seq 'a) : 'a\n"
        "  requires { length s > 0 }\n"
        "  ensures { result = s[0] }\n"
        "= s[0]"
    ),
    "sum": (
        "let rec ghost function sum (s: seq int) (n: int) : int\n"
        "  requires { 0 <= n <= length s }\n"
        "  variant { n }\n"
        "= if n = 0 then 0 else sum s (n - 1) + s[n - 1]"
    ),
    "sum_first": (
        "let lemma sum_first (s: seq int) (k: int)\n"
        "  requires { length s = 1 /\\ k = 0 }\n"
        "  ensures { sum s 1 = first s + k }"
    ),
    "increase": (
        "let increase (a: array int) (k step: int) : int\n"
        "  requires { 0 <= k < a.length }\n"
        "  writes { a }\n"
        "  ensures { a[k] = (old a)[k] + step }\n"
        "  raises { Bad p -> p.left = k /\\ step <= 0 }"
    ),
    "swap": "let swap (x y: int) : (int, int)\n  returns { (v, w) -> v = y /\\ w = x }",
}

# Formulas that are printed as they stand.
FORMULAS = [
    "forall s: seq int, k: int. 0 <= k < length s -> 0 <= s[k] <= s[0]",
    "forall a b c: int. a - b + c * (a + b) = a - (b - c) * a",
    "forall a: int. (forall b: int. b = a) -> a <> 0 /\\ exists c: int. c > a \\/ not c < a",
    "forall p q: int -> bool. (p 0 -> q 0) -> p 0 <-> (q 0 <-> q 1)",
    "forall p q: int -> bool. p 0 /\\ q 0 \\/ p 1 && (q 1 || not p 2)",
    "forall x: point. { left = x.right; right = 0 }.left = x.right",
    "forall a: int. let b = a + 1 in (if b < 0 then 0 else b) >= (- 1)",
    "forall f: int -> int -> int. (fun (k: int) -> f k 1) 2 = f 2 1",
    "forall s: seq int. s == (empty: seq int) <-> length s = 0",
]

# What only guides a proof is no part of what is stated.
HINTS = "forall a: int [a + 1]. a < a + 1 by 0 < 1 so a = a"

OTHER = """\
module Other
  use int.Int
  use seq.Seq
  use forms.Forms
  predicate within (s: seq int) (k: int) = 0 < k < length s
  lemma within_both: forall s k. within s k -> Forms.within s k
end
"""


@pytest.fixture(scope="module")
def forms(proved_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """Give what the gate sees of two theories with every kind of statement."""
    why3 = tmp_path_factory.mktemp("forms") / "why3"
    why3.mkdir()
    (why3.parent / "build").symlink_to(proved_tree / "build")
    lemmas = "\n".join(f"  lemma l{n}: {text}" for n, text in enumerate([*FORMULAS, HINTS]))
    (why3 / "forms.mlw").write_text(FORMS.replace("LEMMAS", lemmas), encoding="utf-8")
    (why3 / "other.mlw").write_text(OTHER, encoding="utf-8")
    facts = facts_of(why3.parent, "why3/other.mlw", "why3/forms.mlw")
    assert [found["errors"] for found in facts["theories"]] == [[], []]
    again = facts_of(why3.parent, "why3/forms.mlw", "why3/other.mlw")
    by_name = {(s["module"], s["name"]): s for s in facts["symbols"]}
    assert by_name == {(s["module"], s["name"]): s for s in again["symbols"]}
    return facts


def stated(facts: Facts) -> dict[str, str]:
    """Give the statements of all symbols."""
    return {f"{s['module']}.{s['name']}": s["statement"] for s in facts["symbols"]}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_is_that_of_the_source(forms: Facts, name: str) -> None:
    assert stated(forms)[f"Forms.{name}"] == STATEMENTS[name]


@pytest.mark.parametrize("number", range(len(FORMULAS)))
def test_a_formula_is_printed_as_it_is_written(forms: Facts, number: int) -> None:
    assert " ".join(stated(forms)[f"Forms.l{number}"].split()) == FORMULAS[number]


def test_hints_to_provers_are_left_out(forms: Facts) -> None:
    assert stated(forms)[f"Forms.l{len(FORMULAS)}"] == "forall a: int. a < a + 1"


def test_a_name_that_two_symbols_have_is_qualified(forms: Facts) -> None:
    expected = "forall s: seq int, k: int. within s k -> forms.Forms.within s k"
    assert " ".join(stated(forms)["Other.within_both"].split()) == expected


def test_the_kinds_of_goals_and_symbols(forms: Facts) -> None:
    goals = {full_name(goal): goal["kind"] for t in forms["theories"] for goal in t["goals"]}
    assert goals["Forms.first'vc"] == "definition"
    assert goals["Forms.sum_first'vc"] == "theorem"
    assert goals["Forms.increase'vc"] == "program"
    assert goals["Forms.l0"] == "lemma"
    symbols = {s["name"]: s for s in forms["symbols"] if s["module"] == "Forms"}
    kinds = [
        symbols[name]["kind"] for name in ("tree", "Bad", "even", "first", "swap", "sum_first")
    ]
    assert kinds == ["type", "exception", "predicate", "function", "program", "theorem"]
    assert [symbols[name]["hypotheses"] for name in ("first", "l0", "l1", "l2")] == [1, 1, 0, 1]
    assert (symbols["within"]["file"], symbols["within"]["line"]) == ("why3/forms.mlw", 9)
    assert (symbols["first"]["ghost"], symbols["swap"]["ghost"]) == (True, False)


# --- goals that say nothing -------------------------------------------------------------------

# Declarations of m, and what is wrong with the goal; empty if it says something.
TRUE = "says nothing: it is true whatever its symbols mean ("
NOTHING = [
    ("lemma m: true", f"{TRUE}true)"),
    ("goal m: forall x: int. x = x", f"{TRUE}forall x: int. x = x)"),
    ("lemma m: forall x y: int. x < y -> true /\\ y = y", TRUE),
    ("lemma m: forall x y: int. x < y /\\ 0 < x -> x < y", TRUE),
    ("lemma m: forall x: int. false -> x < x", TRUE),
    ("lemma m: forall x: int. x < 0 \\/ not x < 0", TRUE),
    ("lemma m: forall x: int. x < 0 <-> x < 0", TRUE),
    ("lemma m: forall x: int. let y = x in if x < 0 then y = x else x = y", TRUE),
    ("lemma m: exists x: int. x < 0 -> true", TRUE),
    ("lemma m: true by 1 < 2", f"{TRUE}true)"),
    ("lemma m: forall x: int. x < 0 -> x < 1", ""),
    ("lemma m: forall x: int. x + 0 = x", ""),
    ("lemma m: exists x: int. x < 0", ""),
    ("let lemma m (x: int) = assert { 1 < 2 }", "says nothing: it ensures nothing"),
    (
        "let lemma m (x: int) requires { 0 < x } ensures { 0 < x } = assert { 1 < 2 }",
        "says nothing: what it ensures is true whatever its symbols mean",
    ),
    ("let lemma m (x: int) ensures { true } ensures { x < x + 1 } = ()", ""),
    ("let m (x: int) : int = assert { 1 < 2 }; x", ""),
    (
        "let m (x: int) : int ensures { true } = assert { 1 < 2 }; x",
        "says nothing: what it ensures is true whatever its symbols mean",
    ),
    ("let function m (x: int) : int = assert { 1 < 2 }; x", ""),
]


@pytest.fixture(scope="module")
def saying(proved_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give what is wrong with the goals of a theory with all of `NOTHING`, a module for each."""
    why3 = tmp_path_factory.mktemp("nothing") / "why3"
    why3.mkdir()
    (why3.parent / "build").symlink_to(proved_tree / "build")
    modules = [
        f"module M{n}\n  use int.Int\n  {text}\nend\n" for n, (text, _) in enumerate(NOTHING)
    ]
    (why3 / "all.mlw").write_text("\n".join(modules), encoding="utf-8")
    facts = facts_of(why3.parent, "why3/all.mlw")
    assert facts["theories"][0]["errors"] == []
    assert len(facts["theories"][0]["goals"]) == len(NOTHING)
    return {failure.subject.split(".")[0]: failure.what for failure in statements.check(facts)}


@pytest.mark.parametrize("number", range(len(NOTHING)))
def test_a_goal_that_says_nothing(saying: dict[str, str], number: int) -> None:
    expected = NOTHING[number][1]
    what = saying.get(f"M{number}", "")
    assert what.startswith(expected)
    assert bool(what) == bool(expected)


def test_a_witness_need_not_ensure_anything(forms: Facts) -> None:
    goal = next(g for theory in forms["theories"] for g in theory["goals"] if g["goal"] == "l0")
    idle = goal | {"kind": "theorem", "statement": "let lemma w ()", "says_nothing": True}
    assert statements.fault("why3/witness_shapes.mlw", idle) == ""
    assert statements.fault("why3/shape.mlw", idle) == "says nothing: it ensures nothing"
    assert "nothing" in statements.fault(
        "why3/witness_shapes.mlw", idle | {"statement": "let lemma w ()\n  ensures { true }"}
    )


# --- what Why3 refuses itself -----------------------------------------------------------------

# Ghost code that may not end would prove anything.
ENDLESS = [
    ("let rec ghost g (x: int) : int = g x", "This ghost function may not terminate"),
    ("let rec ghost g (x: int) : int diverges = g x", "This ghost function may not terminate"),
    ("let rec ghost function g (x: int) : int = g x", "Cannot prove termination for g"),
    ("let rec lemma g (x: int) ensures { false } = g x", "Cannot prove termination for g"),
    ("let ghost g () = while true do () done", "This ghost expression may not terminate"),
    ("let g () diverges = ghost (while true do () done)", "This ghost expression may not"),
    ("let g () = let rec lemma h () ensures { false } = h () in ()", "Cannot prove termination"),
]


@pytest.fixture(scope="module")
def endless(proved_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Give the errors of theories with one of `ENDLESS` each."""
    tree = tmp_path_factory.mktemp("endless")
    (tree / "build").symlink_to(proved_tree / "build")
    (tree / "why3").mkdir()
    files = [f"why3/e{number}.mlw" for number in range(len(ENDLESS))]
    for file, (text, _) in zip(files, ENDLESS, strict=True):
        module = f"module M\n  use int.Int\n  {text}\nend\n"
        (tree / file).write_text(module, encoding="utf-8")
    return [audit["errors"] for audit in facts_of(tree, *files)["audit"]]


@pytest.mark.parametrize("number", range(len(ENDLESS)))
def test_ghost_code_that_may_not_end(endless: list[list[str]], number: int) -> None:
    (error,) = endless[number]
    assert ENDLESS[number][1] in error
