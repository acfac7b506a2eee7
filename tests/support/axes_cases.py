"""Arrays, shapes and axes for the tests of broadcasts to a target; comparison of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import TypeVar

import numpy as np
from array_strategies import DTYPES, OTHER_DTYPES, Array, Subclass, arrays_of_shape
from hypothesis import strategies as st
from plain_axes import Index, Sources, axis_sets
from plain_rule import Shape, all_shapes

_T = TypeVar("_T")

# Rank 3 and size 3 at most: what the tests try without gaps.
SHAPES = all_shapes(3, 3)
SHAPE_PAIRS = tuple(product(SHAPES, repeat=2))


@cache
def numbered(shape: Shape) -> Array:
    """Array whose every element is different, and none is 0."""
    size = int(np.prod(shape))
    return np.arange(1, 1 + size, dtype=np.int16).reshape(shape)


@cache
def _element_at(shape: Shape) -> dict[Index, int]:
    return dict(np.ndenumerate(numbered(shape)))


def assert_elements(z: Array, shape: Shape, target: Shape, sources: Sources) -> None:
    """Demand from a broadcast of `numbered(shape)` the elements that a reading leads to."""
    element = _element_at(shape)
    expected = np.array([element[index] for index in sources.values()], np.int16)
    assert (z.shape, z.dtype) == (target, expected.dtype)
    assert z.tobytes() == expected.tobytes()


def inner(x: Array, y: Array) -> int:
    """Inner product in Python ints."""
    assert x.shape == y.shape
    return sum(a * b for a, b in zip(x.ravel().tolist(), y.ravel().tolist(), strict=True))


def outcome(function: Callable[..., _T], *arguments: object) -> _T | ValueError:
    """Return what a function returns, or the ValueError that it raises."""
    try:
        return function(*arguments)
    except ValueError as error:
        return error


def explicit_cases() -> Iterator[tuple[Shape, Shape, tuple[int, ...]]]:
    """All shapes and targets, and all ways to give every axis of the shape one of the target."""
    for shape, target in SHAPE_PAIRS:
        for axes in product(range(len(target)), repeat=len(shape)):
            yield shape, target, axes


def axis_set_cases() -> Iterator[tuple[Shape, Shape, tuple[int, ...]]]:
    """All shapes and targets with all sets of axes of the target."""
    for shape, target in SHAPE_PAIRS:
        for axes in axis_sets(len(target)):
            yield shape, target, axes


@st.composite
def arrays_along_axes(
    draw: st.DrawFn, max_rank: int = 8, *, grow: bool = True, turn: bool = False
) -> tuple[Array, Shape, tuple[int, ...]]:
    """Array of any type and layout, a target, and the axes of the target on which its own lie.

    The array broadcasts to the target but for an occasional misfit. The axes increase, unless they
    may turn.
    """
    target = draw(st.lists(st.integers(0, 3), max_size=max_rank))
    # Elements are compared one by one: no more than some hundred of them.
    while np.prod(target, dtype=int) > 300:
        target[target.index(max(target))] -= 1
    axes = tuple(axis for axis in range(len(target)) if draw(st.integers(0, 2)))
    if turn:
        axes = tuple(draw(st.permutations(axes)))
    shape = [target[axis] for axis in axes]
    for j in range(len(shape)):
        if grow and draw(st.integers(0, 2)) == 0:
            shape[j] = 1
    if shape and draw(st.integers(0, 4)) == 0:
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(0, 4))
    array = draw(arrays_of_shape(tuple(shape), draw(st.sampled_from((*DTYPES, *OTHER_DTYPES)))))
    if draw(st.integers(0, 5)) == 0:
        array = array.view(Subclass)
    return array, tuple(target), axes
