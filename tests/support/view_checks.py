"""What a view must be: read-only, plain, on the memory of its array, each element in its place."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType

import numpy as np
from array_strategies import Array
from plain_rule import Shape, indices


def address(array: Array, index: tuple[int, ...]) -> int:
    """Return where in memory an element lies."""
    start: int = array.__array_interface__["data"][0]
    return start + sum(i * stride for i, stride in zip(index, array.strides, strict=True))


def cell(array: Array, index: tuple[int, ...]) -> Array:
    """Return one element as an array of rank 0: a scalar is a conversion away from its bytes."""
    key: tuple[int | EllipsisType, ...] = (*index, ...)
    return array[key]


def assert_view(
    z: Array, x: Array, shape: Shape, source: Callable[[tuple[int, ...]], tuple[int, ...]]
) -> None:
    """Demand a read-only plain view of `x`, each element the one that `source` leads to."""
    assert type(z) is np.ndarray
    assert z is not x
    assert z.shape == shape
    assert z.dtype == x.dtype
    assert z.dtype.str == x.dtype.str
    assert not z.flags.writeable
    for index in indices(shape):
        from_x = source(index)
        assert address(z, index) == address(x, from_x)
        element, expected = cell(z, index), cell(x, from_x)
        if x.dtype.kind == "O":
            assert element.tolist() is expected.tolist()
        elif x.dtype.kind in "TV":
            # Bytes do not tell: those of a long string are elsewhere, a structure may have gaps.
            assert repr(element.tolist()) == repr(expected.tolist())
        else:
            assert element.tobytes() == expected.tobytes()
