"""The benchmark works; no test measures time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cells import NUMPY, OURS, WITHOUT, Cell, cells, without_accelerator

from bench import Result, main, measure, page
from whycast import _accelerator

CODE = {OURS: "shapes * shapes", NUMPY: "shapes ** 2", WITHOUT: "shapes + 2"}


def test_all_cells_are_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.md"
    assert main(["--seconds", "0", "--out", str(file)]) == 0
    written = file.read_text(encoding="utf-8")
    assert capsys.readouterr().out == written + "\n"
    every = [*cells()]
    assert len(re.findall(r"(?m)^\| (?!case |:--)", written)) == len(every)
    for cell in every:
        assert f"\n| {cell.name} | " in written.partition(f"\n## {cell.group}\n")[2]
    assert re.search(r"\n- 20\d\d-\d\d-\d\d \d\d:\d\d UTC, commit \S+\n", written)


def test_what_is_timed_without_the_accelerator_has_none() -> None:
    assert not without_accelerator()._accelerator.native
    assert without_accelerator()._accelerator is not _accelerator


def test_a_contender_with_another_answer_is_not_timed() -> None:
    with pytest.raises(AssertionError, match="cell: without the accelerator"):
        measure(Cell("group", "cell", CODE, {"draws": [2, 3]}), 0.0)


def test_the_ratio_is_the_median_of_the_rounds_ratios() -> None:
    seconds = {OURS: [1.0, 1.0, 10.0, 1.0, 2.0], NUMPY: [2.0, 3.0, 40.0, 5.0, 12.0]}
    assert "| cell | 1000 ms | 4.00 |" in page([Result(Cell("group", "cell", CODE, {}), seconds)])
