"""NumPy's own tests of its broadcasting functions, run on ours."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from plain_rule import Shape

from whycast import numpy_rule

SUITE = importlib.import_module("numpy.lib.tests.test_stride_tricks")

# All that the module tests outside of its class for sliding windows, but for one that calls none of
# the functions that are ours.
TESTS = sorted({name for name in vars(SUITE) if name.startswith("test_")} - {"test_as_strided"})


def shape_of_arrays(*arrays: ArrayLike) -> Shape:
    """Do what NumPy's private _broadcast_shape does: broadcast_shapes for array-likes."""
    return numpy_rule.broadcast_shapes(*map(np.shape, arrays))


OURS: dict[str, Callable[..., object]] = {
    "_broadcast_shape": shape_of_arrays,
    "broadcast_arrays": numpy_rule.broadcast_arrays,
    "broadcast_shapes": numpy_rule.broadcast_shapes,
    "broadcast_to": numpy_rule.broadcast_to,
}


@pytest.mark.parametrize("name", TESTS)
def test_of_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[E_NumpyBroadcast_any_Functions_010] [E_NumpyBroadcast_any_Functions_020]
    [E_NumpyBroadcast_any_Functions_030]
    """
    assert len(TESTS) == 17
    calls = []

    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **keywords: object) -> object:
            calls.append(function)
            return function(*arguments, **keywords)

        return call

    for function_name, function in OURS.items():
        assert vars(SUITE)[function_name] is not function
        monkeypatch.setattr(SUITE, function_name, counted(function))
    if name == "test_subclasses":
        # An array of a subclass may mean more than its elements.
        with pytest.raises(TypeError, match="may mean more"):
            vars(SUITE)[name]()
    else:
        vars(SUITE)[name]()
    assert calls
