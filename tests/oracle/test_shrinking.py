"""How a smaller example is looked for, by targets that are wrong where nothing small is."""

from __future__ import annotations

import os
from typing import Any

import pytest

import whycast
from whycast._rules import RULES, Operands
from whycast.testing import Case, Report, _check, cases, check

Shape = tuple[int, ...]


def verdicts(function: Any, **options: Any) -> Report:
    return check(function, level="verdict", seconds=0, **options)


def refuses_65(*shapes: Shape) -> bool:
    return whycast.compatible(*shapes) and not any(65 in shape for shape in shapes)


def refuses_rank_16(*shapes: Shape) -> bool:
    return whycast.compatible(*shapes) and max(map(len, shapes)) < 16


def test_no_more_steps_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """None where there is no time, one where there is one, else as many as are needed."""
    found = []
    for name, value in (("_SECONDS", -1.0), ("_STEPS", 1), ("_STEPS", 40)):
        with monkeypatch.context() as changed:
            changed.setattr(_check, name, value)
            *_, last = verdicts(refuses_rank_16).deviations
        found.append(last.case)
    as_met, one_step, smallest = found
    assert as_met in list(cases(level="verdict"))
    assert smallest == Case(((1,) * 16,))
    assert as_met.weight > one_step.weight > smallest.weight


@pytest.mark.parametrize("deadly", [((32,),), ((64,),)])
def test_a_step_on_which_the_target_dies_is_none(deadly: tuple[Shape, ...]) -> None:
    """Neither before others that are asked then, nor as the last one."""
    assert deadly not in [case.shapes for case in cases(level="verdict")]

    def function(*shapes: Shape) -> bool:
        if shapes == deadly:
            os._exit(3)
        return refuses_65(*shapes)

    report = verdicts(function)
    assert [(each.kind, each.case) for each in report.deviations] == [("refuses", Case(((65,),)))]


def test_what_follows_a_deadly_step_is_asked() -> None:
    def function(*shapes: Shape) -> bool:
        if shapes == ((31,),):
            os._exit(3)
        return whycast.compatible(*shapes) and not any(
            max(shape, default=0) > 50 for shape in shapes
        )

    *_, last = verdicts(function).deviations
    assert last.case == Case(((51,),))


def test_a_deadly_case_is_made_smaller_too() -> None:
    def function(*shapes: Shape) -> bool:
        if any(65 in shape for shape in shapes):
            os._exit(3)
        return whycast.compatible(*shapes)

    (found,) = verdicts(function).deviations
    assert (found.kind, found.case) == ("exit", Case(((65,),)))
    assert found.got == "the process ended with exit code 3"


def test_axes_are_left_out_with_what_lies_on_them() -> None:
    def function(shape: Shape, target: Shape, axes: tuple[int, ...]) -> Shape | None:
        accepted = RULES["in-dim"].shape(Operands((shape,), target, axes))
        return None if len(target) > 4 and len(axes) > 2 else accepted

    *_, last = verdicts(function, rule="in-dim").deviations
    assert (last.kind, last.case) == ("refuses", Case(((1,) * 3,), (1,) * 5, (0, 1, 2)))


def test_a_multi_index_stays_with_its_shapes() -> None:
    def function(shape: Shape, target: Shape, index: tuple[int, ...]) -> Shape:
        found = whycast.source_index(shape, target, index)
        return found[::-1] if len(found) > 4 else found

    (found,) = check(function, level="index", seconds=0).deviations
    assert found.kind == "index"
    assert found.case in list(cases(level="index"))
