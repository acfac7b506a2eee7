"""Each built-in peer that is installed against the rules: nothing deviates but what is registered.

What a peer is asked, and which of that it lacks, stands in `whycast.testing._peers`; where it is
known to deviate, in `deviations.json` beside it, from which an entry that no longer holds fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from whycast._rules import RULES
from whycast.testing import cases, check
from whycast.testing._cases._case import Level
from whycast.testing._peers import PEERS, absent
from whycast.testing._peers._conditions import CONDITIONS
from whycast.testing._peers._register import groups, register

# NumPy answers all fixed cases, another peer one in so many: its calls are slow. `whycast check`
# asks all of them.
SOME = 7


@pytest.fixture(autouse=True)
def _no_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """ONNX Runtime and OpenVINO report about their use and leave files, unless kept from it."""
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    yield
    assert [path.name for path in tmp_path.rglob("*")] == []


@cache
def count(rule: str, level: Level) -> int:
    """Count the fixed cases."""
    return sum(1 for _ in cases(rule, level))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rule", "level"),
    [
        pytest.param(name, rule, level, id=f"{name} {rule} {level}")
        for name in PEERS
        for rule in RULES
        # What is asked for a shape has the verdict in it.
        for level in RULES[rule].peers.get(name, ())
        if level != "verdict"
    ],
)
def test_peer(name: str, rule: str, level: Level) -> None:
    """[E_Broadcast_any_Origin_010] [E_Broadcast_any_Purpose_030] [E_Broadcast_any_Step2_020]
    [E_Broadcast_any_Steps_010] [E_NumpyBroadcast_any_Functions_030] [E_NumpyBroadcast_any_Rule_010]
    [E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Expand_any_Data_010]
    [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Modes_020]
    [E_OpenvinoBroadcast_any_Modes_030] [E_OpenvinoThreeBroadcast_any_Modes_010]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020]
    [E_BroadcastInDim_any_Size_010] [E_BroadcastInDim_any_Data_010]
    [E_BroadcastInDim_any_Derived_030]
    """
    if missing := absent(PEERS[name]):
        # The summary names what is missing.
        pytest.skip(missing)
    every = 1 if name == "numpy" else SOME
    report = check(name, rule=rule, level=level, seconds=None, every=every)
    assert report.ok, str(report)
    asked = report.cases + sum(report.left_out.values())
    assert asked == len(range(0, count(rule, level), every))


def test_every_entry_of_the_register_is_looked_at() -> None:
    """One about what no peer of its group offers would never be found to be stale."""
    for group in groups()[1]:
        seen = [each for each in register() if each.reason == group["reason"]]
        assert {each.peer for each in seen} == set(group["peers"]), group
        assert {each.rule for each in seen} == set(group["rules"]), group
        assert {level for each in seen for level in each.levels} == set(group["levels"]), group
    assert {name for entry in register() for name in entry.where} == set(CONDITIONS)


def test_versions_of_the_register() -> None:
    """They are those that the tests have: what the entries say has been seen with them."""
    for name, version in groups()[0].items():
        peer = PEERS[name]
        # What is missing is named by the tests above.
        if not absent(peer):
            assert peer.version.partition("+")[0] == version, name
