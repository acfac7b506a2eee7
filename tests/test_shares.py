"""A replay of a share of the proofs, and the processes that share a replay out."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import prooftool
import pytest
import shares
from facts import Attempt, Facts, Node, attempts, left_alone, nodes, proved
from gate_tree import fails, passes, proved_tree, run_gate, session, small

__all__ = ["proved_tree", "small"]

# --- a share of the proofs ------------------------------------------------------------------------


def attempts_of(tree: Path) -> list[Attempt]:
    """Give the attempts that the last run of the gate found in the small session."""
    facts = json.loads((tree / "build" / "gate" / "facts.json").read_text(encoding="utf-8"))
    return [attempt for theory in facts["theories"] for attempt in attempts(theory)]


def test_two_replays_share_the_proofs(small: Path) -> None:
    passes(small)
    assert [attempt["replayed"] is not None for attempt in attempts_of(small)] == [True] * 6
    # Nobody can have taken less than no time: this is the quickest.
    slow = re.sub(r'time="[0-9.]+"', 'time="0.5"', session(small).read_text(encoding="utf-8"))
    quick = slow.replace('time="0.5"', 'time="0.0"', 1)
    session(small).write_text(quick, encoding="utf-8")
    shares = []
    for share, other in [("--quickest", "--others"), ("--others", "--quickest")]:
        printed = passes(small, share)
        assert f"recorded proofs left to a replay with {other}: 3" in printed
        shares.append([attempt["replayed"] is not None for attempt in attempts_of(small)])
    first, second = shares
    assert sorted(zip(first, second, strict=True)) == [(False, True)] * 3 + [(True, False)] * 3
    is_quickest = [
        attempt["recorded"]["seconds"] == 0.0
        for attempt in attempts_of(small)
        if attempt["recorded"]
    ]
    assert first[is_quickest.index(True)]


@pytest.mark.parametrize("share", ["--quickest", "--others"])
def test_parts_with_one_proof(small: Path, share: str) -> None:
    """They are refused; none goes by without a replay."""
    text = session(small).read_text(encoding="utf-8")
    alone, count = re.subn(r"(<proof [^\n]*\n) *<proof [^\n]*\n", r"\1", text)
    assert count == 3
    session(small).write_text(alone, encoding="utf-8")
    printed = fails(small, only=(share,))
    assert printed.count("has proofs by one family of provers only, ") == 3
    assert "gate: FAILED, 3 failures" in printed
    assert [attempt["replayed"] is not None for attempt in attempts_of(small)] == [True] * 3


@pytest.mark.parametrize("share", ["--quickest", "--others"])
def test_a_proof_that_a_replay_leaves_out_is_still_looked_at(small: Path, share: str) -> None:
    """Its prover, its version and what it is said to have answered."""
    slow = re.sub(r'time="[0-9.]+"', 'time="0.5"', session(small).read_text(encoding="utf-8"))
    head, _, tail = slow.rpartition('status="valid"')
    session(small).write_text(head + 'status="timeout"' + tail, encoding="utf-8")
    result = run_gate(small, share)
    assert result.returncode == 1
    assert "that proves nothing" in result.stdout


def sample(tree: Path, sixth: int) -> Facts:
    """Replay a sixth of what the quickest proofs leave out."""
    limits = ["--width", "1", "--floor", "30", "--factor", "10", "--obsolete", "3"]
    command = [str(prooftool.TOOL), "build/why3.conf", "facts", *limits, "--sample", str(sixth)]
    result = subprocess.run(
        [*command, "why3/small.mlw"], cwd=tree, capture_output=True, text=True, check=True
    )
    facts: Facts = json.loads(result.stdout)
    return facts


def replayed(facts: Facts) -> list[tuple[str, str]]:
    """Name what was replayed: the goals' parts, and by whom."""
    return [
        (node["name"], attempt["prover"])
        for theory in facts["theories"]
        for goal in theory["goals"]
        for node in nodes(goal["tree"])
        for attempt in node["attempts"]
        if attempt["replayed"] is not None
    ]


def test_six_samples_are_what_the_quickest_leave_out(small: Path) -> None:
    found = [name for sixth in range(prooftool.SIXTHS) for name in replayed(sample(small, sixth))]
    passes(small, "--others")
    printed = (small / "build" / "gate" / "facts.json").read_text(encoding="utf-8")
    others = replayed(json.loads(printed))
    assert len(others) == 3
    assert sorted(found) == sorted(others)


def test_a_sample_does_not_claim_to_have_proved_all(small: Path) -> None:
    result = run_gate(small, "--sample")
    assert result.returncode == 0, result.stdout
    again = sum(attempt["replayed"] is not None for attempt in attempts_of(small))
    assert again < 3, "the seed of the small tree happens to choose all of it"
    assert "all proved" not in result.stdout
    recorded = f"{3 - again} goals taken as recorded, wholly or in part; 3 goals of 2 theories"
    assert f"gate: passed, all of the sample proved; {recorded}" in result.stdout


def attempt(*, chosen: bool, answers: bool = True) -> Attempt:
    """Make a recorded proof, replayed if it was chosen."""
    now = "Valid" if answers else "Timeout"
    return {
        "prover": "Z3",
        "version": "1",
        "alternative": "",
        "obsolete": False,
        "installed": True,
        "chosen": chosen,
        "recorded": {"answer": "Valid", "seconds": 0.1},
        "replayed": {"answer": now, "seconds": 0.1} if chosen else None,
    }


@pytest.mark.parametrize(
    ("tried", "recorded", "is_proved"),
    [
        ([], False, False),
        ([attempt(chosen=False)], True, True),
        ([attempt(chosen=True)], False, True),
        ([attempt(chosen=True, answers=False)], False, False),
        ([attempt(chosen=False), attempt(chosen=True, answers=False)], False, False),
        ([attempt(chosen=False), attempt(chosen=True)], False, True),
        ([{**attempt(chosen=False), "obsolete": True}], False, False),
        ([{**attempt(chosen=False), "installed": False}], False, False),
        ([{**attempt(chosen=False), "recorded": None}], False, False),
    ],
)
def test_only_a_node_with_nothing_to_replay_is_taken_as_recorded(
    tried: list[Attempt], recorded: bool, is_proved: bool
) -> None:
    node: Node = {
        "name": "goal",
        "explanation": "",
        "file": None,
        "line": None,
        "attempts": tried,
        "transformations": [],
    }
    assert left_alone(node) is recorded
    assert proved(node) is is_proved


# --- side by side ---------------------------------------------------------------------------------


def test_the_theories_are_shared_out_by_what_they_cost() -> None:
    theories = ["a", "b", "c", "d", "e"]
    cost = {"a": 1.0, "b": 5.0, "c": 2.0, "d": 2.0, "e": 1.0}
    assert shares.shared_out(theories, cost, 2) == [["b", "e"], ["a", "c", "d"]]
    assert shares.shared_out(theories, cost, 1) == [theories]
    assert shares.shared_out(["a"], cost, 2) == [["a"]]


def test_a_session_with_more_or_longer_proofs_costs_more(small: Path) -> None:
    before = shares.cost(session(small).parent, None)
    text = session(small).read_text(encoding="utf-8")
    longer, count = re.subn(r'time="[0-9.]+"', 'time="2.0"', text)
    session(small).write_text(longer, encoding="utf-8")
    assert count == 6
    assert shares.cost(session(small).parent, None) > before + 11
    assert shares.cost(small / "proofs" / "none", None) < before


def test_what_a_share_leaves_out_costs_nothing(small: Path) -> None:
    text = session(small).read_text(encoding="utf-8")
    times = iter(["1.0", "3.0", "5.0", "2.0", "0.0", "0.0"])
    longer = re.sub(r'time="[0-9.]+"', lambda _: f'time="{next(times)}"', text)
    session(small).write_text(longer, encoding="utf-8")
    here, started = session(small).parent, 3 * shares.PER_PROOF + shares.PER_THEORY
    assert shares.cost(here, "quickest") == pytest.approx(1 + 2 + 0 + started)
    assert shares.cost(here, "others") == pytest.approx(3 + 5 + 0 + started)


def test_the_facts_are_in_the_order_of_the_theories(small: Path) -> None:
    """Whoever replayed them."""
    (small / "why3" / "another.mlw").write_text("module Another\nend\n", encoding="utf-8")
    printed = passes(small, "--quickest")
    assert printed.index("why3/another.mlw") < printed.index("why3/small.mlw")
    assert "replayed 4 of 4" not in printed
    assert "replayed 3 of 3" in printed
