"""Each installed built-in peer deviates from the rules exactly as `deviations.json` states.

The file contains the reasons and, for each peer, rule and level, the number of deviating cases in
this test, or null if the number depends on the machine.
"""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from whycast._rules import RULES
from whycast.testing import cases, check
from whycast.testing._cases._case import Level
from whycast.testing._peers import PEERS, absent

FILE = Path(__file__).with_name("deviations.json")
REGISTER: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def known_for(asked: str) -> dict[str, int | None]:
    counted = [each for each in REGISTER["deviations"] if asked in each["cases"]]
    return {each["kind"]: each["cases"][asked] for each in counted}


@pytest.fixture(autouse=True)
def _no_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Expect no files: by default ONNX Runtime and OpenVINO send telemetry and write files."""
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    yield
    assert [path.name for path in tmp_path.rglob("*")] == []


ASKED = [
    f"{name} {rule} {level}"
    for name in PEERS
    for rule in RULES
    # Checks of the level shape include the level verdict.
    for level in RULES[rule].peers.get(name, ())
    if level != "verdict"
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED)
def test_peer(asked: str) -> None:
    """[E_Broadcast_any_Origin_010] [E_Broadcast_any_Purpose_030] [E_Broadcast_any_Step2_020]
    [E_Broadcast_any_Steps_010] [E_NumpyBroadcast_any_Functions_010]
    [E_NumpyBroadcast_any_Functions_030] [E_NumpyBroadcast_any_Rule_010]
    [E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Expand_any_Data_010]
    [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Modes_020]
    [E_OpenvinoBroadcast_any_Modes_030] [E_OpenvinoThreeBroadcast_any_Modes_010]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020]
    [E_BroadcastInDim_any_Size_010] [E_BroadcastInDim_any_Data_010]
    [E_BroadcastInDim_any_Derived_030]
    """
    name, rule, word = asked.split()
    level: Level = word  # type: ignore[assignment]
    if missing := absent(PEERS[name]):
        pytest.skip(missing)
    if name == "jax":
        # A caller may import JAX before the check.
        importlib.import_module("jax")
    # Only NumPy is fast enough for all cases; JAX compiles each. Few cases with axes deviate.
    few = 9 if RULES[rule].takes == "axes" else 19 if name == "jax" else 7
    every = {"numpy": 1, "onnxruntime": 5}.get(name, few)
    report = check(name, rule=rule, level=level, seconds=None, every=every)
    assert report.complete, str(report)
    known, found = known_for(asked), Counter[str]()
    for each in report.deviations:
        # In some cases, a peer that changes elements changes only NaNs or zeros.
        also = "elements" in known and each.kind in ("nan", "zero")
        found["elements" if also else each.kind] += each.count
    assert found.keys() == known.keys(), str(report)
    assert {kind: count and found[kind] for kind, count in known.items()} == known, str(report)
    total = report.cases + sum(report.left_out.values())
    assert total == len(range(0, len(list(cases(rule, level))), every))


def test_the_register_is_of_what_is_asked() -> None:
    """The register contains only questions of `test_peer`, and the installed versions."""
    assert {asked for each in REGISTER["deviations"] for asked in each["cases"]} <= {*ASKED}
    for name, version in REGISTER["versions"].items():
        if not absent(PEERS[name]):
            assert PEERS[name].version.partition("+")[0] == version, name
