"""Wild values: the harness notices faults, and a short run of it finds none (`make fuzz`: more)."""

from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import pytest
import wild
from bad_values import SHAPES
from hypothesis import given, settings
from hypothesis import strategies as st

import whycast


@pytest.mark.parametrize("target", harness.TARGETS, ids=repr)
@settings(harness.once, max_examples=settings().max_examples // 5)
@given(st.data())
def test_wild_values(target: harness.Target, data: st.DataObject) -> None:
    """[E_Broadcast_any_Derived_150]"""
    assert target.documented
    with harness.settled():
        harness.run(target, data.draw(target.values))


def _raises(shape: Any) -> Any:
    raise UnicodeError(shape)


def _sorts(shape: Any) -> Any:
    if type(shape) is list:
        shape.sort()
    return whycast.broadcast_shapes(shape)


def _refuses_lists(shape: Any) -> Any:
    if type(shape) is list:
        raise TypeError(shape)
    return whycast.broadcast_shapes(shape)


def _keeps_integers(shape: Any) -> Any:
    whycast.broadcast_shapes(shape)
    return tuple(shape)


@pytest.mark.parametrize("wrong", [_raises, _sorts, _refuses_lists, _keeps_integers])
def test_a_function_that_does_wrong_is_noticed(wrong: Callable[..., Any]) -> None:
    (right, *_) = (each for each in harness.TARGETS if each.parameter == SHAPES[0])
    target = right._replace(parameter=right.parameter._replace(call=wrong))

    @settings(harness.once, max_examples=2000, report_multiple_bugs=False)
    @given(wild.vectors())
    def run(value: wild.Value) -> None:
        harness.run(target, value)

    with harness.settled(), pytest.raises(harness.DefectError):
        run()


def test_a_copy_is_no_view() -> None:
    x = np.arange(3.0)
    assert harness.same(x[:2], x[:2])
    assert not harness.same(x[:2], x[:2].copy()[:])
