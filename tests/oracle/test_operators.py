"""Operators are judged without knowing what they compute."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from operators import RIGHT, WRONG

from whycast.testing import check

PROGRAM = [sys.executable, str(Path(__file__).with_name("operators.py"))]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_operator_passes(name: str) -> None:
    """What it is and takes is found out; of a program that is told."""
    tensors, function = RIGHT[name]
    few: Any = {"max_size": 300} if name == "one by one" else {}
    report = check(function, seconds=None, every=3, **few)
    assert report.ok, str(report)
    assert report.chosen == f", as an operator of {tensors} tensors"
    assert (report.rule, report.cases > 2500) == ("numpy", True)
    asked: Any = {"level": "operator", "tensors": tensors, "seconds": None, "every": 60}
    report = check([*PROGRAM, name], memory=0, **asked, **few)
    assert report.ok, str(report)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_operator_is_caught(name: str) -> None:
    wrong = WRONG[name]
    report = check(wrong.function, seconds=None, dtypes=("int32", "float32", "bool"))
    (first, *_) = report.deviations
    assert (first.kind, first.case) == (wrong.kind, wrong.case), str(report)
    asked: Any = {"level": "operator", "tensors": wrong.tensors, "seconds": None, "every": 11}
    report = check([*PROGRAM, name], memory=0, **asked)
    assert (wrong.kind in {each.kind for each in report.deviations}) == wrong.by_program, report
