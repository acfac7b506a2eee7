"""What rests on what, of small facts."""

from pathlib import Path
from typing import Any

import pytest
import small_evidence

from evidence.graph import Graph

SAME, MORE, LONG = (f"core.shape.Shape.{name}" for name in ("same", "more", "long"))
VAL = "kernel.trusted.Tuple.ix"


@pytest.fixture
def facts(tmp_path: Path) -> Any:
    return small_evidence.facts(tmp_path)


def test_a_goal_uses_what_its_proof_names_and_what_its_program_calls(facts: Any) -> None:
    graph = Graph(facts)
    assert graph.uses == {
        SAME: [LONG, MORE, "int.Int.Compat", "int.Int.infix +", VAL],
        MORE: [],
    }
    assert {name: users for name, users in graph.users.items() if name != "int.Int.infix +"} == {
        name: [SAME] for name in (LONG, MORE, "int.Int.Compat", VAL)
    }
    assert graph.assumed() == {"int.Int.Compat": 1}
    assert graph.whole == {MORE}


def test_the_way_to_an_assumption_is_a_shortest_one(facts: Any) -> None:
    symbols = [small_evidence.symbol(name, "theorem", 1) for name in "abcd"]
    facts["symbols"] += symbols
    graph = Graph(facts)
    a, b, c, d = (f"core.shape.Shape.{name}" for name in "abcd")
    graph.uses |= {a: [b, d], b: [c], c: [d, "int.Int.Assoc"], d: [a, "int.Int.Compat"]}
    assert graph.chains([a]) == [[a, b, c, "int.Int.Assoc"], [a, d, "int.Int.Compat"]]
    assert graph.chains([MORE]) == []
    # An instance rests on its template.
    symbols[0]["template"] = SAME
    assert Graph(facts).uses[a] == [SAME]


def test_a_lemma_that_nothing_uses(facts: Any) -> None:
    facts["symbols"].append({**small_evidence.symbol("idle", "lemma", 1), "goal": "idle"})
    assert Graph(facts).unused(facts) == ["core.shape.Shape.idle"]
    clause = facts["trace"]["clauses"][1]
    clause["theorems"] = [{"name": "Shape.idle", "place": small_evidence.SHAPE}]
    assert Graph(facts).unused(facts) == []
    clause["theorems"] = []
    facts["hypotheses"][0]["satisfied_by"] = "Shape.idle"
    assert Graph(facts).unused(facts) == []
