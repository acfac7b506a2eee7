"""The check judges operators without knowing their function."""

from __future__ import annotations

import sys
from functools import reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from operators import GRADIENTS, IN_PLACE, RIGHT, WRONG, sums

import whycast
from whycast._command import main
from whycast.testing import TargetError, check
from whycast.testing._run import _worker

PROGRAM = [sys.executable, str(Path(__file__).with_name("operators.py"))]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_operator_passes(name: str) -> None:
    """The check finds the level and the number of tensors; for a program, options set them."""
    tensors, function = RIGHT[name]
    few: Any = {"max_size": 300} if name == "one by one" else {}
    report = check(function, seconds=None, every=5, **few)
    assert report.ok, str(report)
    assert report.chosen == f", as an operator of {tensors} tensors"
    assert (report.rule, report.cases > 1500) == ("numpy", True)
    asked: Any = {"level": "operator", "tensors": tensors, "seconds": None, "every": 60}
    report = check([*PROGRAM, name, "operator"], memory=0, **asked, **few)
    assert report.ok, str(report)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_operator_is_caught(name: str) -> None:
    wrong = WRONG[name]
    report = check(wrong.function, seconds=None, dtypes=("int32", "float32", "bool"))
    (first, *_) = report.deviations
    assert (first.kind, first.case) == (wrong.kind, wrong.case), str(report)
    level = wrong.level or "operator"
    asked: Any = {"level": level, "tensors": wrong.tensors, "seconds": None, "every": 11}
    report = check([*PROGRAM, name, level], memory=0, **asked)
    kinds = {each.kind for each in report.deviations}
    # At level inplace, an output that is the first tensor shows more faults.
    assert bool(kinds & {wrong.kind, "out"}) == bool(wrong.level), report


@pytest.mark.parametrize("name", IN_PLACE)
def test_writing_into_an_output(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function must write only the output, with the result for tensors broadcast first."""
    function, kind = IN_PLACE[name]
    monkeypatch.setattr(_worker, "MOST_DEATHS", 2)
    dtypes = ("int32", "float32", "bool")
    report = check(function, level="inplace", seconds=None, every=9, dtypes=dtypes)
    kinds = {each.kind for each in report.deviations} or {""}
    assert kind in kinds, str(report)
    tensors = 3 if name == "fused" else 2
    assert report.chosen == (OF(tensors) if kind != "exit" else "")
    asked: Any = {"level": "inplace", "seconds": None, "every": 61, "tensors": tensors}
    program = check([*PROGRAM, name, "inplace"], memory=0, **asked)
    kinds = {each.kind.replace("stopped", "exit") for each in program.deviations} or {""}
    assert kind in kinds, str(program)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_several_tensors(name: str) -> None:
    """A gradient function (of shapes, or an operator's) must sum over broadcast axes."""
    function, kind = GRADIENTS[name]
    asked: Any = {"seconds": None, "dtypes": ("int32", "float32")}
    report = check(function, level="adjoint", every=9, **asked)
    assert kind in ({each.kind for each in report.deviations} or {""}), str(report)
    assert report.chosen == f", as gradients of {'2 or more' if name == 'sums' else 2} tensors"
    program = [*PROGRAM, name, "vjp"]
    report = check(program, level="vjp", tensors=2, every=61, memory=0, **asked)
    assert kind in ({each.kind for each in report.deviations} or {""}), str(report)


def pair(x: Any, y: Any, copy: bool = True) -> Any:
    return whycast.broadcast(x, y, copy=copy)


def summed(*arrays: Any) -> Any:
    return reduce(np.add, arrays)


def second(x: Any, y: Any) -> Any:
    return np.array(np.broadcast_arrays(x, y)[1])


def none_negative(x: Any, y: Any) -> Any:
    if (x < 0).any() or (y < 0).any():
        raise ValueError("negative")
    return x + y


NOTHING = "operator: tensor {} changes nothing: a misplaced element would not be seen"
OF = ", as an operator of {} tensors".format
GRADIENT = ", as gradients of 2 tensors"
TOO_MANY = "more tensors than 2"
NOT_ASKED = "a dtype that is not to be asked"
REFUSED = "refuses the tensors broadcast first, too, as by a refusal"
NEGATIVE = REFUSED.replace("a refusal", "ValueError: negative")


@pytest.mark.parametrize(
    ("function", "options", "chosen", "notes", "left_out"),
    [
        (pair, {}, "", (), [TOO_MANY]),
        (pair, {"level": "data"}, "", (), [TOO_MANY]),
        (SimpleNamespace(adjoint=sums), {"level": "vjp", "tensors": 2}, GRADIENT, (), [TOO_MANY]),
        (lambda *xs: pair(*xs), {"tensors": 2}, "", (), [TOO_MANY]),
        (whycast.broadcast, {"tensors": (1, 3)}, "", (), ["more tensors than 3"]),
        (lambda x, y: whycast.compatible(x, y), {"level": "verdict"}, "", (), [TOO_MANY]),
        (summed, {}, OF("2 or more"), (), []),
        (summed, {"tensors": (2, 3)}, OF("2 to 3"), (), ["more tensors than 3"]),
        (second, {}, OF(2), (NOTHING.format(0),), [TOO_MANY]),
        (
            lambda x, y: np.zeros(np.broadcast_shapes(x.shape, y.shape)),
            *({}, OF(2), (NOTHING.format(0), NOTHING.format(1)), [TOO_MANY]),
        ),
        # Refusals that depend on values, not on shapes, are no limit.
        (none_negative, {"dtypes": ["int32"]}, OF(2), (), [TOO_MANY, NOT_ASKED, NEGATIVE]),
        # The function answers for two tensors, and refuses more, even of the same shape.
        (lambda *xs: xs[0] * xs[1] if len(xs) < 3 else None, {}, OF("2 or more"), (), [REFUSED]),
    ],
)
def test_the_level_and_the_number_of_tensors(
    function: Any, options: Any, chosen: str, notes: tuple[str, ...], left_out: list[str]
) -> None:
    """The report names tensors that do not affect the result."""
    report = check(function, seconds=None, every=2, **options)
    assert report.ok, str(report)
    assert (report.chosen, report.notes, [*report.left_out]) == (chosen, notes, left_out)


def test_an_operator_that_refuses_everything_is_wrong() -> None:
    report = check(lambda x, y: None, level="operator", seconds=None, every=99)
    assert [each.kind for each in report.deviations] == ["undefined"], str(report)


@pytest.mark.parametrize(
    ("target", "level", "text"),
    [
        ("numpy:positive", None, "target numpy:positive: takes one tensor"),
        (["true"], "symbolic", "lines of JSON have no names of sizes"),
    ],
)
def test_targets_without_such_cases(target: Any, level: Any, text: str) -> None:
    with pytest.raises(TargetError, match=text):
        check(target, level=level)


def test_functions_of_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    for target, first in (
        ("numpy:add", "numpy:add, as an operator of 2 tensors by the rule numpy: 9,280 cases in "),
        ("numpy:where", "numpy:where, as an operator of 3 tensors by the rule numpy: 9,798 cases "),
        ("numpy:broadcast_arrays --rule numpy", "numpy:broadcast_arrays by the rule numpy: 10,471"),
    ):
        assert main(["check", *target.split(), "--seconds", "all"]) == 0
        said = capsys.readouterr().out
        assert said.startswith(first)
        assert said.endswith("\nnothing deviates\n")
        assert ("\n  limit: " in said) == (target != "numpy:where"), said
    assert (
        main(["check", "numpy:add", "--tensors", "3-4", "--seconds", "all", "--every", "99"]) == 1
    )
