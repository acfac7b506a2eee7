"""Smoke: what holds only because nothing satisfies its hypotheses is found."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, cast

import pytest
import smoke
from facts import Facts
from gate_tree import append, fails, proved_tree, run_gate, small, theory

__all__ = ["proved_tree", "small"]

VACUOUS = """
module Vacuous
  use int.Int
  lemma contradictory: forall x. x < 0 -> x > 0 -> x = 1
  let impossible (x: int) : int requires { x < x } ensures { result = 2 * x } = x + x + x
  lemma satisfiable: forall x. 0 < x -> x < 2 -> x = 1
end
"""

CONTRADICTORY = """\
module Contradictory
  use int.Int
  axiom wrong: forall x. x + 1 = x
end
"""

BRANCH = """
module Branch
  use int.Int
  let sign (x: int) : int
    requires { 0 < x }
    ensures { result = 1 }
  = if x <= 0 then 2 else 1
end
"""


def test_goals_and_theories_that_are_contradictory(small: Path) -> None:
    append(theory(small), VACUOUS)
    (small / "why3" / "contradictory.mlw").write_text(CONTRADICTORY, encoding="utf-8")
    why = "smoke: Alt-Ergo proves its negation as well: its hypotheses contradict each other"
    printed = fails(
        small,
        f"why3/small.mlw:19: Vacuous.contradictory {why}",
        f"why3/small.mlw:20: Vacuous.impossible'vc {why}",
        "why3/contradictory.mlw: smoke: CVC5 proves false from what the theory uses, defines and "
        "proves",
    )
    assert printed.count(why) == 2
    assert "why3/small.mlw: smoke:" not in printed


def test_the_list_of_parts_that_hold_for_no_case(small: Path) -> None:
    """It has the branch that is never taken."""
    append(theory(small), BRANCH)
    result = run_gate(small, "--smoke", "small")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "why3/small.mlw:21: sign'vc.0 (postcondition)",
        "7 parts, 1 of them with contradictory hypotheses",
    ]


def facts_with(**changes: object) -> Facts:
    """Give the facts about one goal that is sound, with another smoke of its own or its theory."""
    run = {"prover": "CVC5", "answer": "Unknown (unknown)", "seconds": 0.0}
    tree = {"file": "why3/small.mlw", "line": 7}
    goal = {"module": "Small", "goal": "double_positive", "hypotheses": True, "tree": tree}
    goal["smoke"] = run
    found: dict[str, Any] = {"file": "why3/small.mlw", "errors": [], "smoke": [run]}
    found["goals"] = [goal]
    changed = copy.deepcopy(found)
    if "goal" in changes:
        changed["goals"][0]["smoke"] = changes["goal"]
    if "hypotheses" in changes:
        changed["goals"][0]["hypotheses"] = changes["hypotheses"]
    if "theory" in changes:
        changed["smoke"] = changes["theory"]
    return cast(Facts, {"theories": [changed]})


def said(answer: str) -> dict[str, object]:
    """Give what CVC5 said."""
    return {"prover": "CVC5", "answer": answer, "seconds": 0.0}


def messages(facts: Facts, share: str | None) -> list[str]:
    """Give the failures as they are printed."""
    return [str(failure) for failure in smoke.check(facts, share)]


@pytest.mark.parametrize("answer", ["Timeout", "Step limit exceeded", "Unknown ()"])
def test_who_gives_up_is_right(answer: str) -> None:
    facts = facts_with(goal=said(answer), theory=[said(answer)])
    assert messages(facts, None) == []


def test_what_nobody_was_asked_about_is_a_failure() -> None:
    here = "why3/small.mlw:7: Small.double_positive smoke: no prover was asked for its negation"
    there = "why3/small.mlw: smoke: no prover was asked for a contradiction"
    facts = facts_with(goal=None, theory=[])
    assert messages(facts, None) == [here, there]
    assert messages(facts, "quickest") == [here]
    assert messages(facts, "others") == [there]


def test_a_goal_without_hypotheses_has_none_that_contradict_each_other() -> None:
    assert messages(facts_with(goal=None, hypotheses=False), "quickest") == []


def test_a_prover_that_does_not_work_is_a_failure() -> None:
    facts = facts_with(goal=said("High failure"), theory=[said("Failure (no logic)")])
    assert messages(facts, None) == [
        "why3/small.mlw:7: Small.double_positive smoke: CVC5 does not work on its negation: "
        "High failure",
        "why3/small.mlw: smoke: CVC5 does not work on its negation: Failure (no logic)",
    ]
