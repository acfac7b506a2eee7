"""Check that a view is read-only and plain, and has each element at its place in memory."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType

import numpy as np
from array_strategies import Array
from plain_rule import Shape, indices


def address(array: Array, index: tuple[int, ...]) -> int:
    start: int = array.__array_interface__["data"][0]
    return start + sum(i * stride for i, stride in zip(index, array.strides, strict=True))


def cell(array: Array, index: tuple[int, ...]) -> Array:
    """Return one element as an array of rank 0, which keeps its bytes."""
    key: tuple[int | EllipsisType, ...] = (*index, ...)
    return array[key]


def assert_view(
    z: Array, x: Array, shape: Shape, source: Callable[[tuple[int, ...]], tuple[int, ...]]
) -> None:
    """Demand a read-only plain view of `x`, with the elements that `source` names."""
    assert (type(z), z.shape, z.dtype.str) == (np.ndarray, shape, x.dtype.str)
    assert (z.dtype == x.dtype, z is x, z.flags.writeable) == (True, False, False)
    for index in indices(shape):
        from_x = source(index)
        assert address(z, index) == address(x, from_x)
        element, expected = cell(z, index), cell(x, from_x)
        if x.dtype.kind == "O":
            assert element.tolist() is expected.tolist()
        elif x.dtype.kind in "TV":
            # Do not compare bytes: long strings are stored elsewhere, structures may have gaps.
            assert repr(element.tolist()) == repr(expected.tolist())
        else:
            assert element.tobytes() == expected.tobytes()
