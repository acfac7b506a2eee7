"""Wild calls: the harness sees what it is for, and a short run of it finds nothing.

`make fuzz` makes more of them.
"""

from __future__ import annotations

import gc
import tracemalloc
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


def test_every_public_function_is_called() -> None:
    assert harness.FUNCTIONS.keys() == calls.MODELS.keys()


def test_what_is_documented() -> None:
    """It is read from the docstrings; none of them is without."""
    found = {target.name: {*target.documented} for target in harness.TARGETS}
    assert found["whycast.f"] == {TypeError, ValueError}
    assert whycast.ngraph.ArgShapeError in found["whycast.ngraph.broadcast"]
    assert all(found[name] for name in calls.MODELS)
    assert not harness.is_documented(UnicodeError(), (ValueError,))
    assert harness.is_documented(
        whycast.numpy_rule.IncompatibleError(0, 1, 0, ((2,), (3,))), (whycast.BroadcastError,)
    )


@pytest.mark.parametrize("target", harness.TARGETS, ids=repr)
@settings(once, max_examples=250)
@given(st.data())
def test_wild_calls(target: harness.Target, data: st.DataObject) -> None:
    """[E_Broadcast_any_Derived_150]"""
    with harness.settled():
        harness.run(target, data.draw(target.calls))


def test_memory_is_bounded() -> None:
    """Of calls that were made before nothing stays, and none takes much.

    [E_Broadcast_any_Derived_150]
    """
    drawn: list[tuple[harness.Target, calls.Call]] = []
    settings(once, max_examples=300)(given(harness.ANY_CALL)(lambda each: drawn.append(each)))()

    def run_all() -> None:
        for target, call in drawn:
            harness.run(target, call._replace(tame=False))
        gc.collect()

    with harness.settled():
        run_all()
        tracemalloc.start()
        try:
            run_all()
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            run_all()
            after, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert after - before < 2**16
    assert peak - before < 2**24


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


def _writable(x: Any, shape: Any) -> Any:
    view = expand(x, shape)
    if isinstance(x, np.ndarray) and x.flags.num >= 0 and x.flags.writeable:
        view.setflags(write=True)
    return view


def _refuses(x: Any, shape: Any) -> Any:
    if tuple(shape) == (1,):
        raise ValueError(shape)
    return expand(x, shape)


def _grows(x: Any, shape: Any) -> Any:
    try:
        return expand(x, shape)
    except whycast.BroadcastError:
        return x


@pytest.mark.parametrize(
    "wrong",
    [
        *(_raises(KeyError), _raises(UnicodeError), _writes, _sorts, _writable, _refuses, _grows),
        lambda x, shape: expand(x, shape).copy(),
        lambda x, shape: expand(x[::-1] if np.ndim(x) else x, shape),
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
