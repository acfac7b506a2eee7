"""The views that functions for arrays return, by element and address, for every type and layout.

tests/dialects/test_targets.py tests the elements for all small and some drawn shapes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from array_strategies import Array, array_lists, plain
from bad_values import state
from hypothesis import given
from plain_rule import Shape, maxima, source
from view_checks import assert_view

import whycast
from whycast import lax, ngraph, onnx, openvino
from whycast._arrays import _iterated_view

Index = tuple[int, ...]


def assert_broadcast(z: Array, x: Array, common: Shape) -> None:
    """Demand a view whose elements follow steps 1 and 2."""
    assert_view(z, x, common, lambda index: source(x.shape, common, index))


@given(array_lists())
def test_any_arrays(arrays: tuple[Array, ...]) -> None:
    """[E_Broadcast_any_Signature_010] [E_Broadcast_any_Purpose_020] [E_Broadcast_any_Purpose_030]
    [E_Broadcast_any_Condition1_030] [E_Broadcast_any_Outputs_010] [E_Broadcast_any_Derived_110]
    [E_Broadcast_any_Inputs_010] [E_Broadcast_any_Inputs_020] [E_Broadcast_any_Restrictions_010]
    [E_Broadcast_any_Condition2_020] [E_Broadcast_any_Derived_070]
    """
    common = maxima([plain(x).shape for x in arrays])
    views = whycast.broadcast(*arrays)
    assert isinstance(views, tuple)
    for z, x in zip(views, map(plain, arrays), strict=True):
        assert_broadcast(z, x, common)


# Tests of each function


class Broadcast(NamedTuple):
    """A broadcast of an array of shape (2, 1, 3)."""

    function: Callable[[Array], Array]
    shape: Shape
    source: Callable[[Index], Index]


def sonnx(*others: Shape) -> Callable[[Array], Array]:
    return lambda x: whycast.broadcast(x, *map(np.zeros, others))[0]


# Except in `same`, the target has further axes. The size 1 grows, except in `same` and nGraph.
BROADCASTS = {
    "broadcast": Broadcast(sonnx((4, 1, 5, 1)), (4, 2, 5, 3), lambda i: (i[1], 0, i[3])),
    "expand": Broadcast(
        lambda x: onnx.expand(x, (4, 1, 5, 1)), (4, 2, 5, 3), lambda i: (i[1], 0, i[3])
    ),
    "explicit": Broadcast(
        lambda x: openvino.broadcast(x, (2, 4, 5, 3, 2), (0, 2, 3), "explicit"),
        *((2, 4, 5, 3, 2), lambda i: (i[0], 0, i[3])),
    ),
    "lax": Broadcast(
        lambda x: lax.broadcast_in_dim(x, (3, 2, 5, 2), (3, 2, 0)),
        *((3, 2, 5, 2), lambda i: (i[3], 0, i[0])),
    ),
    "ngraph": Broadcast(
        lambda x: ngraph.broadcast(x, (2, 4, 1, 3, 2), {1, 4}),
        *((2, 4, 1, 3, 2), lambda i: (i[0], i[2], i[3])),
    ),
    # The shape and the strides do not change.
    "same": Broadcast(sonnx((2, 1, 3)), (2, 1, 3), lambda i: i),
}
each_broadcast = pytest.mark.parametrize("broadcast", BROADCASTS.values(), ids=BROADCASTS)


# `array_lists` draws these layouts, except the one marked by NumPy.
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "C order": lambda a: a,
    "reversed": lambda a: a[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "marked by NumPy": lambda a: np.broadcast_arrays(a[:, :, :1], np.zeros(3))[0],
    "a permuted part": lambda a: a.transpose(1, 2, 0).copy().transpose(2, 0, 1)[::-1],
    "memory with gaps": lambda a: np.repeat(a[:, 0], 2, axis=1)[::-1, None, ::2],
}


@each_broadcast
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_function_in_each_named_layout(broadcast: Broadcast, layout: str) -> None:
    """[E_Broadcast_any_Derived_040] [E_Broadcast_any_Derived_160]"""
    for writeable in (False, True):
        x = LAYOUTS[layout](np.arange(6.0).reshape(2, 1, 3))
        if not writeable:
            x.flags.writeable = False
        before = state(x)
        z = broadcast.function(x)
        assert_view(z, x, broadcast.shape, broadcast.source)
        assert state(x) == before
    with pytest.raises(ValueError, match="read-only"):
        z[(0,) * z.ndim] = 99.0
    if layout != "marked by NumPy":
        x[1, 0, 2] = -7.0
        assert z[tuple(size - 1 for size in z.shape)] == -7.0


class Owner(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
    """An array that takes weak references and owns its memory."""


@each_broadcast
def test_view_keeps_the_memory_alive_and_no_longer_than_itself(broadcast: Broadcast) -> None:
    """[E_Broadcast_any_Derived_160]"""
    for step in (1, -1):
        owner = Owner((2, 1, 3))
        gone = weakref.ref(owner)
        view = broadcast.function(plain(owner)[::step])
        del owner
        assert gone() is not None
        del view
        assert gone() is None


# Tests of `broadcast` alone


def test_up_to_the_highest_rank_of_numpy() -> None:
    """[E_Broadcast_any_Restrictions_010]"""
    x = np.arange(6.0).reshape(2, 1, 3)
    for array in (x, x[::-1], x.astype("T"), x.astype("T")[::-1], x.astype(str).astype(object)):
        z, _ = whycast.broadcast(array, np.zeros((1,) * 61 + (1, 2, 1)))
        assert_broadcast(z, array, (1,) * 61 + (2, 2, 3))


def test_object_array_repeated_without_end() -> None:
    """The package checks only the elements in memory, which a stride of 0 repeats 10**15 times."""
    x = np.broadcast_to(np.array([["a"], ["b"]], object), (2, 10**15))
    (z,) = whycast.broadcast(x)
    assert (z.shape, z[1, 10**14]) == ((2, 10**15), "b")


def test_a_view_that_is_not_the_proved_one_is_refused() -> None:
    """NumPy's iterator makes the views of memory with gaps; the package checks their strides."""
    x = np.arange(12)[::2]
    assert _iterated_view(x, (4, 6), (0, 16), None).strides == (0, 16)
    for shape, strides in (((4, 6), (0, 8)), ((4, 6), (16, 16)), ((1, 6), (0, -16))):
        with pytest.raises(AssertionError, match="NumPy's view has strides"):
            _iterated_view(x, shape, strides, None)
    # On an axis of size 1, and in an array without elements, any stride is accepted.
    assert _iterated_view(x, (1, 6), (7, 16), None).shape == (1, 6)
    assert _iterated_view(x[:0][::2], (3, 0), (5, 5), None).shape == (3, 0)
