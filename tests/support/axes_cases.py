"""Arrays, shapes and axes for tests of broadcasts to a target, and comparisons of results."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import TypeVar

import numpy as np
from array_strategies import DTYPES, OTHER_DTYPES, Array, Subclass, arrays_of_shape
from hypothesis import strategies as st
from plain_axes import Placed, sources
from plain_rule import Shape

_T = TypeVar("_T")


@cache
def numbered(shape: Shape) -> Array:
    """Return an array of different elements without 0."""
    size = int(np.prod(shape))
    return np.arange(1, 1 + size, dtype=np.int16).reshape(shape)


def assert_elements(z: Array, shape: Shape, placed: Placed) -> None:
    """Demand that `z` is `numbered(shape)`, broadcast along the axes of `placed`."""
    x = numbered(shape)
    expected = [x[index] for index in sources(shape, placed).values()]
    assert (z.shape, z.dtype) == (placed.shape, x.dtype)
    assert z.ravel().tolist() == expected


def outcome(function: Callable[..., _T], *arguments: object) -> _T | ValueError:
    try:
        return function(*arguments)
    except ValueError as error:
        return error


@st.composite
def shapes_along_axes(
    draw: st.DrawFn, max_rank: int = 8, *, grow: bool = True, turn: bool = False
) -> tuple[Shape, Shape, tuple[int, ...]]:
    """Draw a shape, a target, and the axes of the shape in the target; some shapes do not fit."""
    target = draw(st.lists(st.integers(0, 3), max_size=max_rank))
    # Keep the target small: tests compare the elements one by one.
    while prod(target) > 300:
        target[target.index(max(target))] -= 1
    axes = [axis for axis in range(len(target)) if draw(st.integers(0, 2))]
    if turn:
        axes = draw(st.permutations(axes))
    shape = [1 if grow and not draw(st.integers(0, 2)) else target[axis] for axis in axes]
    if shape and draw(st.integers(0, 4)) == 0:
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(0, 4))
    return tuple(shape), tuple(target), tuple(axes)


@st.composite
def any_array(draw: st.DrawFn, shape: Shape) -> Array:
    """Draw an array of any type and layout, sometimes of a subclass."""
    array = draw(arrays_of_shape(shape, draw(st.sampled_from((*DTYPES, *OTHER_DTYPES)))))
    return array.view(Subclass) if draw(st.integers(0, 5)) == 0 else array
