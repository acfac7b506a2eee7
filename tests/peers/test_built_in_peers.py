"""Each built-in peer that is installed against the rules: nothing deviates but what is registered.

What a peer is asked, and which of that it lacks, stands in `whycast.testing._peers`; where it is
known to deviate, in `deviations.json` beside it, from which an entry that no longer holds fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from asked import require

from whycast._rules import RULES
from whycast.testing import cases, check
from whycast.testing._cases._case import Level
from whycast.testing._peers import PEERS, absent
from whycast.testing._peers._conditions import CONDITIONS
from whycast.testing._peers._register import groups, register

# Where each peer's answers by NumPy's rule are judged in full, some of those by SONNX's are enough;
# and where all its arrays are, whose shapes it gives for all small cases, some shapes alone.
SOME = 7


@pytest.fixture(autouse=True)
def _no_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """ONNX Runtime and OpenVINO report about their use and leave files, unless kept from it."""
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    yield
    assert [path.name for path in tmp_path.rglob("*")] == []


def questions(*names: str) -> pytest.MarkDecorator:
    """All that peers offer; what is asked for a shape has the verdict in it."""
    return pytest.mark.parametrize(
        ("name", "rule", "level"),
        [
            pytest.param(name, rule, level, id=f"{name} {rule} {level}")
            for name in names
            for rule in RULES
            for level in RULES[rule].peers.get(name, ())
            if level != "verdict"
        ],
    )


@cache
def count(rule: str, level: Level) -> int:
    """Count the fixed cases."""
    return sum(1 for _ in cases(rule, level))


def hold(name: str, rule: str, level: Level) -> None:
    """Ask all fixed cases but those that the peer lacks."""
    require(name)
    has_data = level == "shape" and "data" in RULES[rule].peers[name]
    every = SOME if name != "numpy" and (rule == "sonnx" or has_data) else 1
    report = check(name, rule=rule, level=level, seconds=0, every=every)
    assert report.ok, str(report)
    asked = report.cases + sum(report.left_out.values())
    assert asked == len(range(0, count(rule, level), every))


@questions("numpy")
def test_numpy(name: str, rule: str, level: Level) -> None:
    """[E_Broadcast_any_Origin_010] [E_Broadcast_any_Purpose_030] [E_Broadcast_any_Step2_020]
    [E_Broadcast_any_Steps_010] [E_NumpyBroadcast_any_Functions_030]
    """
    hold(name, rule, level)


@questions("onnx-reference", "onnxruntime")
def test_onnx(name: str, rule: str, level: Level) -> None:
    """[E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Expand_any_Data_010]"""
    hold(name, rule, level)


@questions("openvino")
def test_openvino(name: str, rule: str, level: Level) -> None:
    """[E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Modes_020]
    [E_OpenvinoBroadcast_any_Modes_030] [E_OpenvinoThreeBroadcast_any_Modes_010]
    """
    hold(name, rule, level)


@questions("openvino-constants")
def test_openvino_where_shape_and_target_are_part_of_the_model(
    name: str, rule: str, level: Level
) -> None:
    hold(name, rule, level)


@questions("jax")
def test_jax(name: str, rule: str, level: Level) -> None:
    """[E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020]
    [E_BroadcastInDim_any_Size_010] [E_BroadcastInDim_any_Data_010]
    [E_BroadcastInDim_any_Derived_030] [E_NumpyBroadcast_any_Rule_010]
    """
    hold(name, rule, level)


@questions("torch")
def test_torch(name: str, rule: str, level: Level) -> None:
    hold(name, rule, level)


def test_every_peer_is_asked() -> None:
    asked = {"numpy", "onnx-reference", "onnxruntime", "openvino", "openvino-constants"}
    assert set(PEERS) == asked | {"jax", "torch"}


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
    for entry in register():
        peer = PEERS[entry.peer]
        # What is missing is named by the tests above.
        if not absent(peer):
            assert peer.version.partition("+")[0] == entry.version, entry.peer
