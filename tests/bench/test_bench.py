"""The benchmark works. What it measures is no matter of tests: none of these looks at a time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from cells import BY_HAND, JAX, NUMPY, OURS, PEERS, TORCH, Cell, Peers, cells
from report import page, table
from timing import TRIES, DisagreementError, Result, calibrated, check, measure, same

import bench

NO_PEERS: Peers = {}
EMPTY = Cell("group", "cell", {OURS: "0", NUMPY: "0"}, dict)


class Run(NamedTuple):
    """A run that is as short as can be: what it printed, and its folder."""

    printed: str
    folder: Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run it in a process of its own: JAX starts threads. Answers that differ would end it."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("bench")
    program = Path(bench.__file__)
    places = {"HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": ":".join(sys.path)}
    places["PATH"] = os.defpath
    done = subprocess.run(
        [sys.executable, "-W", "error", program, "--seconds", "0", "--out", folder],
        env=places,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(home.rglob("*")) == []
    return Run(done.stdout, folder)


def test_all_cells_are_in_the_table(run: Run) -> None:
    written = (run.folder / "table.md").read_text(encoding="utf-8")
    in_short = (run.folder / bench.PAGE.name).read_text(encoding="utf-8")
    assert run.printed == f"{in_short}{written}\n"
    for cell in [cell for cell in cells(NO_PEERS) if "64 MB" not in cell.group]:
        assert f"\n| {cell.name} " in written
        assert f"\n## {cell.group}\n" in written
        assert f"\n| {cell.group} (" in in_short
    assert re.search(r"\n- 20\d\d-\d\d-\d\d \d\d:\d\d UTC, commit \S+\n", in_short)


def test_some_cells_alone_write_no_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "find_peers", lambda: NO_PEERS)
    words = ["--seconds", "0", "--cells", "copies: 2 arrays, equal", "--out", str(tmp_path)]
    assert bench.main(words) == 0
    assert capsys.readouterr().out.count("\n| 2 arrays, equal shapes | ") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["table.md"]
    assert bench.main(["--list", "--cells", "TUPLES: 10 shapes .*rank [14]$"]) == 0
    titles = [f"broadcast_shapes, tuples: 10 shapes of rank {rank}" for rank in (1, 4)]
    assert capsys.readouterr().out.splitlines() == titles
    with pytest.raises(SystemExit):
        bench.main(["--cells", "no such cell"])


def test_a_peer_that_is_absent_is_named(run: Run) -> None:
    absent = "- absent, and so not compared: torch\n" in run.printed
    assert absent == ("| torch" not in run.printed)
    assert "not compared: JAX" not in run.printed


def test_every_cell_has_whycast_and_another_and_a_title_of_its_own() -> None:
    found = cells(NO_PEERS)
    assert len({cell.title for cell in found}) == len(found)
    for cell in found:
        other = BY_HAND if "from C" in cell.group else NUMPY
        assert {OURS, other} <= cell.code.keys() <= {OURS, *PEERS} - {TORCH, JAX}


# Answers


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ((2, 3), (2, 3), True),
        ((2, 3), (3, 2), False),
        ((2, 3), (2,), False),
        ((2, 3), np.array([2, 3]), False),
        (2, np.array(2), False),
        ([np.arange(3)], (np.arange(3),), True),
        ([np.arange(3)], [np.arange(3.0)], False),
        ([np.arange(3)], [np.arange(3)[None]], False),
        ([np.arange(3)], [np.arange(3)[::-1]], False),
        (np.array(["a"], object), np.array(["a"], object), True),
    ],
)
def test_same_shapes_and_values(one: object, other: object, verdict: bool) -> None:
    assert same(one, other) is verdict
    assert same(other, one) is verdict


def test_who_gives_another_answer_is_not_timed() -> None:
    right = {OURS: "shapes * shapes", NUMPY: "shapes ** 2", JAX: "shapes + 2"}
    cell = replace(EMPTY, code=right)
    check(cell, {"draws": [2]})
    with pytest.raises(DisagreementError, match=r"^group: cell: JAX gives something else"):
        measure(replace(cell, names=lambda: {"draws": [2, 3]}), 0.0)


# Times


def test_everyone_runs_in_each_round_and_in_each_place_equally_often() -> None:
    seen: list[str] = []
    code = {contender: f"seen.append({contender!r})" for contender in (OURS, NUMPY, JAX)}
    result = measure(replace(EMPTY, code=code, names=lambda: {"seen": seen}), 0.0)
    # Before that each gave an answer, and was calibrated.
    start = 3 * (1 + TRIES)
    rounds = [seen[place : place + 3] for place in range(start, len(seen), 3)]
    assert len(rounds) == len(result.seconds[OURS]) == 6
    for place in zip(*rounds, strict=True):
        assert {contender: place.count(contender) for contender in code} == dict.fromkeys(code, 2)


def test_a_disturbance_while_loops_are_counted_is_no_matter() -> None:
    disturbed = iter([1.0, 0.0, 0.0] * 100)
    assert calibrated(lambda loops: loops * 1e-5 + next(disturbed), 0.002) >= 200


def test_the_ratio_is_the_median_of_the_rounds_ratios() -> None:
    seconds = {OURS: [1.0, 1.0, 10.0, 1.0, 2.0], NUMPY: [2.0, 3.0, 40.0, 5.0, 12.0]}
    result = Result(EMPTY, seconds)
    assert result.ratio(NUMPY) == (3.0, 4.0, 5.0)
    assert "| cell | 1000 ms | 4.00 (3.00–5.00) |" in table([result])
    assert "faster: than NumPy in 1 of 1." in table([result])
    assert "| group (1) | 4.00 (4.00–4.00) |" in page([result], [])
