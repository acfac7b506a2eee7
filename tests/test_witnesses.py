"""Whatever asks for something has a witness, and a witness is what it is called.

Most trees here are not proved: which witness calls and asserts what is seen without a prover.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import witnesses
from gate_tree import (
    ROOT,
    append,
    edit,
    facts_of,
    fails,
    proved_tree,
    run_gate,
    seal,
    small,
    theorems,
    theory,
)

__all__ = ["proved_tree", "small"]

ASKING = """\
module Asking

  use int.Int
  use ref.Ref

  predicate below (a b: int) = a < b

  exception Odd int

  function next (a: int) : int = a + 1

  lemma below_transitive:
    forall a b c. below a b -> below b c -> below a c

  lemma below_next:
    forall a. let b = next a in below b 7 /\\ (forall c. below c a -> below c b) -> below a 7
    by below a b

  lemma unconditional: forall a. a <= a by 0 <= 0

  let lemma below_different (a b: int)
    requires { below a b }
    ensures  { a <> b }
  = ()

  let rec ghost function count (a: int) : int
    requires { 0 <= a }
    variant  { a }
  = if a = 0 then 0 else 1 + count (a - 1)

  let half (a: int) : int
    requires { 0 <= a }
    requires { a < 100 }
    raises   { Odd b -> b = a }
  = if a = 1 then raise Odd a else 0

  let free (a: int) : int = a

  let reset_nothing () : unit = ()

  let reset (r: ref int) : unit
    writes { r }
  = r := 0

end
"""

WITNESS = """\
module WitnessAsking

  use int.Int
  use ref.Ref
  use Asking_

  let lemma numbers ()
  = let a = 1 in
    below_different a 3;
    assert { forall k. a <= k -> 0 <= k };
    let _ = count 2 in
    assert { below 4 5 /\\ a = 1 };
    assert { below a 4 };
    assert { below (next a) 7 /\\ forall z. below z a -> below z (next a) }

  let halves () : unit
    raises { Odd _ -> false }
  = let _ = half 4 in
    ()

end
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree with one theory that asks, and one that gives."""
    (tmp_path / "why3").mkdir()
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "why3.conf").symlink_to(ROOT / "build" / "why3.conf")
    (tmp_path / "why3" / "asking.mlw").write_text(ASKING, encoding="utf-8")
    text = WITNESS.replace("Asking_", "asking.Asking")
    (tmp_path / "why3" / "witness_asking.mlw").write_text(text, encoding="utf-8")
    return tmp_path


def witness(tree: Path) -> Path:
    """Give the theory with the witnesses."""
    return tree / "why3" / "witness_asking.mlw"


def failures(tree: Path) -> list[str]:
    """Give what the gate says of witnesses."""
    return [str(failure) for failure in witnesses.check(facts_of(tree, "why3/asking.mlw"))]


def test_all_that_asks_is_found_with_its_witnesses(tree: Path) -> None:
    facts = facts_of(tree, "why3/asking.mlw")
    found = [
        (asking["name"], asking["kind"], asking["count"], asking["witnesses"])
        for asking in facts["hypotheses"]
    ]
    numbers = ["WitnessAsking.numbers"]
    assert found == [
        ("below_transitive", "lemma", 2, numbers),
        ("below_next", "lemma", 1, numbers),
        ("below_different", "theorem", 1, numbers),
        ("count", "definition", 1, numbers),
        ("half", "program", 2, ["WitnessAsking.halves"]),
    ]
    assert witnesses.check(facts) == []
    assert "3 programs and 2 lemmas have some, 5 have a witness" in witnesses.summary(facts)


@pytest.mark.parametrize(
    ("old", "new", "lacking"),
    [
        ("below_different a 3;\n", "", "21: Asking.below_different has requires that no witness"),
        ("let _ = count 2 in\n", "", "26: Asking.count has requires that no witness satisfies"),
        ("let _ = half 4 in\n", "", "31: Asking.half has requires that no witness satisfies"),
        # What is called within a formula shows nothing.
        ("let _ = count 2", "let _ = pure { count 2 }", "26: Asking.count has requires that"),
        # The number in the middle is not one and the same.
        ("below a 4 }", "below a 3 }", "12: Asking.below_transitive has hypotheses that no"),
        # The second hypothesis is about another number.
        ("below z (next a)", "below z a", "15: Asking.below_next has hypotheses that no witness"),
        ("forall z. below z a ->", "forall z. below a z ->", "15: Asking.below_next has hypothe"),
    ],
)
def test_a_witness_taken_away(tree: Path, old: str, new: str, lacking: str) -> None:
    edit(witness(tree), old, new)
    (failure,) = failures(tree)
    assert lacking in failure
    assert failure.startswith("why3/asking.mlw:")
    assert "why3/witness_*.mlw" in failure


FAULTS = [
    ("let g (a: int) : int = a", "has a parameter"),
    ("let g () : int = if 0 < 1 then free 2 else free 4", "has a branch"),
    ("let g () : int = try half 2 with Odd b -> b end", "has a branch"),
    ("let g () : unit = while false do variant { 0 } () done", "has a loop"),
    ("let g () : unit = for i = 0 to 1 do () done", "has a loop"),
    ("let g () : int = assume { below 1 0 }; free 1", "has an assume"),
    ("let g () : int = any int", "has an any"),
    ("let g () : unit requires { below 1 0 } = ()", "requires something itself"),
    ("let g () : unit = absurd", "has an absurd"),
    ("let g () : int raises { Odd _ -> false } = raise Odd 1", "has an exception"),
    (
        "let g () : int raises { Odd b -> b = 2 } = half 2",
        "may end in an exception before its last call",
    ),
    ("let g () : int = let h () : int = 1 in h ()", "has a function in it"),
    (
        "let g () : int = begin ensures { result = 1 } 1 end",
        "has a function or a block with a contract in it",
    ),
    ("let r : ref int = ref 1  let g () : unit = reset r", "changes a value"),
    ("let r : ref int = ref 1  let g () : unit = r.contents <- 2", "changes a value"),
    ("let g = reset_nothing", "is another name for a program"),
    ("val g () : int", "has no body"),
]


def test_what_is_no_witness(tree: Path) -> None:
    """Each of these could call what it likes, and show nothing by it."""
    modules = [
        f"module M{number}\n  use int.Int\n  use ref.Ref\n  use asking.Asking\n{body}\nend\n"
        for number, (body, _) in enumerate(FAULTS)
    ]
    append(witness(tree), "".join(modules))
    found = [failure.partition(": ")[2] for failure in failures(tree)]
    after = "a witness takes nothing and does one thing after the other"
    assert found == [
        f"M{number}.g is no witness: it {fault}; {after}"
        for number, (_, fault) in enumerate(FAULTS)
    ]


def test_a_variable_of_its_own_is_a_value_like_any(tree: Path) -> None:
    before = "  let lemma numbers ()\n"
    edit(witness(tree), before, f"let g () : unit = let r = ref 1 in reset r\n\n{before}")
    assert failures(tree) == []


def test_what_no_witness_shows_is_not_shown(tree: Path) -> None:
    """A witness with a branch covers nothing."""
    edit(witness(tree), "let _ = half 4 in\n    ()", "if 0 < 1 then let _ = half 4 in ()")
    lacking, faulty = failures(tree)
    assert lacking.startswith("why3/asking.mlw:31: Asking.half has requires that no witness")
    assert faulty.startswith("why3/witness_asking.mlw:16: WitnessAsking.halves is no witness: it")


def test_requires_that_cannot_be_met(small: Path) -> None:
    """Without a witness they are refused; a witness that calls has no proof."""
    append(
        theory(small),
        "\nmodule More\n  use int.Int\n  let f (x: int) : int requires { x < 0 < x } = x\nend\n",
    )
    append(theorems(small), "More.f'vc  Nothing is computed.\n")
    assert run_gate(small, "--update", "--quick").returncode == 0
    seal(small)
    fails(small, "why3/small.mlw:19: More.f has requires that no witness satisfies: no program of")
    (small / "why3" / "witness_small.mlw").write_text(
        "module WitnessSmall\n  use small.More\n  let g () : int = f 0\nend\n", encoding="utf-8"
    )
    append(theorems(small), "# witness_small.mlw\nWitnessSmall.g'vc  Zero.\n")
    assert run_gate(small, "--update", "--quick").returncode == 1
    seal(small)
    printed = fails(small, "why3/witness_small.mlw:3: WitnessSmall.g'vc has no proof in the")
    assert "More.f has requires" not in printed
