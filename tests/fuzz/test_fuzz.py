"""Wild calls: the harness sees what it is for, and a short run of it finds nothing.

`make fuzz` makes more of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import calls
import harness
import numpy as np
import pytest
from array_strategies import Subclass
from harness import once
from hypothesis import given, settings
from hypothesis import strategies as st

import whycast


@pytest.mark.parametrize("target", harness.TARGETS, ids=repr)
@settings(once, max_examples=100)
@given(st.data())
def test_wild_calls(target: harness.Target, data: st.DataObject) -> None:
    """[E_Broadcast_any_Derived_150]"""
    assert target.documented
    with harness.settled():
        harness.run(target, data.draw(target.calls))


# Each of these does something that no function may.

expand: Callable[..., Any] = vars(whycast.onnx)["expand"]


def _raises(error: type[Exception]) -> Callable[..., Any]:
    def wrong(*args: Any) -> Any:
        raise error(args)

    return wrong


def _writes(x: Any, shape: Any) -> Any:
    if isinstance(x, np.ndarray) and x.flags.writeable and x.dtype.kind == "f" and x.size:
        x[...] = 99
    return expand(x, shape)


def _sorts(x: Any, shape: Any) -> Any:
    if type(shape) is list:
        shape.append(1)
    return expand(x, tuple(shape)[:-1] if type(shape) is list else shape)


def _refuses_lists(x: Any, shape: Any) -> Any:
    if type(shape) is list:
        raise TypeError(shape)
    return expand(x, shape)


@pytest.mark.parametrize(
    "wrong",
    [
        *(_raises(KeyError), _raises(UnicodeError), _writes, _sorts, _refuses_lists),
        lambda x, shape: expand(x[::-1] if np.ndim(x) and type(shape) is list else x, shape),
    ],
)
def test_a_function_that_does_wrong_is_noticed(wrong: Callable[..., Any]) -> None:
    (right,) = (each for each in harness.TARGETS if each.name == "whycast.onnx.expand")
    # What is wrong must be what is noticed, not that a subclass is asked.
    plainly = right.calls.filter(lambda call: type(call.args[0]) is not Subclass)

    @settings(once, max_examples=2000)
    @given(plainly)
    def run(call: calls.Call) -> None:
        harness.run(right._replace(function=wrong), call)

    with harness.settled(), pytest.raises(harness.DefectError):
        run()
