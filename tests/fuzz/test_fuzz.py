"""Wild calls: the harness sees what it is for, and a short run of it finds nothing.

`make fuzz` makes a million of them.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from itertools import islice
from typing import Any

import calls
import harness
import numpy as np
import pytest
import wild

import fuzz
import whycast

CALLS = 8000


def test_every_public_function_is_called() -> None:
    assert harness.public().keys() == calls.MAKERS.keys()


def test_what_is_documented() -> None:
    """It is read from the docstrings; none of them is without."""
    found = {target.name: {*target.documented} - {wild.MineError} for target in harness.TARGETS}
    assert found["whycast.f"] == {TypeError, ValueError}
    assert found["whycast.ngraph.broadcast"] == {
        whycast.ngraph.ArgShapeError,
        TypeError,
        ValueError,
    }
    assert all(found[name] for name in calls.MAKERS)
    assert not harness.is_documented(UnicodeError(), (ValueError,))
    assert harness.is_documented(
        whycast.numpy_rule.IncompatibleError(0, 1, 0, ((2,), (3,))), (whycast.BroadcastError,)
    )


@pytest.mark.parametrize("seed", range(4))
def test_wild_calls(seed: int) -> None:
    """[E_Broadcast_any_Derived_150]"""
    reached = set()
    with harness.settled():
        for data in (*fuzz.seeds()[seed::4], *islice(fuzz.random_inputs(seed), CALLS // 4)):
            reached.add(harness.run(data).target.name)
    assert reached == {target.name for target in harness.TARGETS}


def test_memory_is_bounded() -> None:
    """Of inputs that were run before nothing stays, and none takes much.

    [E_Broadcast_any_Derived_150]
    """
    inputs = [*islice(fuzz.random_inputs(9), 300)]

    def run_all() -> None:
        for data in inputs:
            harness.run(data)
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


def _undocumented(*args: Any, **_: Any) -> Any:
    raise KeyError(args)


def _too_particular(*args: Any, **_: Any) -> Any:
    raise UnicodeError(args)


def _writes(x: Any, shape: Any) -> Any:
    if isinstance(x, np.ndarray) and x.flags.writeable and x.dtype.kind == "f" and x.size:
        x[...] = 99
    return whycast.onnx.expand(x, shape)


def _sorts(x: Any, shape: Any) -> Any:
    if type(shape) is list:
        shape.append(1)
    return whycast.onnx.expand(x, tuple(shape)[:-1] if type(shape) is list else shape)


def _copies(x: Any, shape: Any) -> Any:
    return whycast.onnx.expand(x, shape).copy()


def _writable(x: Any, shape: Any) -> Any:
    view = whycast.onnx.expand(x, shape)
    if isinstance(x, np.ndarray) and x.flags.num >= 0 and x.flags.writeable:
        view.setflags(write=True)
    return view


def _refuses(x: Any, shape: Any) -> Any:
    if tuple(shape) == (1,):
        raise ValueError(shape)
    return whycast.onnx.expand(x, shape)


def _grows(x: Any, shape: Any) -> Any:
    try:
        return whycast.onnx.expand(x, shape)
    except whycast.BroadcastError:
        return x


def _turns(x: Any, shape: Any) -> Any:
    return whycast.onnx.expand(x[::-1] if np.ndim(x) else x, shape)


@pytest.mark.parametrize(
    "wrong",
    [_undocumented, _too_particular, _writes, _sorts, _copies, _writable, _refuses, _grows, _turns],
)
def test_a_function_that_does_wrong_is_noticed(
    wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (expand, *_) = (each for each in harness.TARGETS if each.name == "whycast.onnx.expand")
    monkeypatch.setattr(harness, "TARGETS", (expand._replace(function=wrong),))
    with harness.settled(), pytest.raises(harness.DefectError):  # noqa: PT012
        for data in islice(fuzz.random_inputs(0), 2000):
            harness.run(data)
