"""broadcast_in_dim and OpenVINO's mode explicit: one rule under two sets of names."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from array_strategies import Array, plain
from axes_cases import arrays_along_axes, assert_elements, explicit_cases, numbered, outcome
from hypothesis import given
from plain_axes import are_axes, explicit, explicit_misfit
from plain_rule import Shape
from view_checks import assert_view

import whycast
from whycast import lax, openvino

Function = Callable[[Array, Shape, tuple[int, ...]], Array]


def openvino_explicit(data: Array, target_shape: Shape, axes_mapping: tuple[int, ...]) -> Array:
    return openvino.broadcast(data, target_shape, axes_mapping, mode="explicit")


FUNCTIONS = pytest.mark.parametrize(
    "function", [openvino_explicit, lax.broadcast_in_dim], ids=["openvino", "lax"]
)


@FUNCTIONS
def test_every_small_case(function: Function) -> None:
    """All shapes of rank <= 3 and sizes <= 3, with all mappings of axes, increasing or not.

    [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Inputs_020]
    [E_OpenvinoBroadcast_any_Inputs_030] [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_010]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Size_010]
    [E_BroadcastInDim_any_Data_010]
    """
    accepted = misfits = refused = 0
    for shape, target, axes in explicit_cases():
        z = outcome(function, numbered(shape), target, axes)
        if not are_axes(axes, len(target)):
            assert type(z) is ValueError
            assert "strictly increasing axes" in str(z)
            refused += 1
            continue
        misfit = explicit_misfit(shape, target, axes)
        if misfit is None:
            assert not isinstance(z, ValueError)
            assert_elements(z, shape, target, explicit(shape, target, axes))
            accepted += 1
            continue
        assert type(z) is whycast.AxisSizeError
        assert (z.tensor_axis, z.axes, z.axis) == (misfit, axes, axes[misfit])
        assert (z.shapes, z.target_shape) == ((shape,), target)
        assert (z.size, z.target) == (shape[misfit], target[axes[misfit]])
        misfits += 1
    # On an axis of the target alone all 4 sizes do, on one that the data lies on 7 of 16 pairs.
    assert accepted == sum((4 + 7) ** rank for rank in range(4))
    assert accepted + misfits == sum((4 + 16) ** rank for rank in range(4))
    assert accepted + misfits + refused == len(list(explicit_cases()))


@FUNCTIONS
def test_every_small_mapping(function: Function) -> None:
    """Mappings of any length, also with axes that the target does not have.

    [E_OpenvinoBroadcast_any_Inputs_040] [E_OpenvinoBroadcast_any_Axes_010]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020]
    """
    accepted = 0
    for rank, rank_of_target, count in product(range(4), range(4), range(5)):
        x = np.zeros((2,) * rank)
        for axes in product(range(-2, rank_of_target + 2), repeat=count):
            if count == rank and are_axes(axes, rank_of_target):
                assert function(x, (2,) * rank_of_target, axes).ndim == rank_of_target
                accepted += 1
                continue
            z = outcome(function, x, (2,) * rank_of_target, axes)
            assert type(z) is ValueError
            assert str(z).startswith(("axes_mapping", "broadcast_dimensions"))
    assert accepted == sum(2**rank for rank in range(4))


@FUNCTIONS
def test_every_small_case_as_numpy_has_it(function: Function) -> None:
    """Axes of size 1 put in where the target alone has axes, then broadcast to it."""
    accepted = 0
    for shape, target, axes in explicit_cases():
        if not are_axes(axes, len(target)):
            continue
        x = numbered(shape)
        others = tuple(axis for axis in range(len(target)) if axis not in axes)
        try:
            expected = np.broadcast_to(np.expand_dims(x, others), target)
        except ValueError:
            with pytest.raises(whycast.AxisSizeError):
                function(x, target, axes)
            continue
        z = function(x, target, axes)
        assert z.shape == expected.shape
        assert z.tobytes() == expected.tobytes()
        accepted += 1
    assert accepted == sum((4 + 7) ** rank for rank in range(4))


@FUNCTIONS
@given(case=arrays_along_axes())
def test_any_array(function: Function, case: tuple[Array, Shape, tuple[int, ...]]) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_010]"""
    x, target, axes = plain(case[0]), *case[1:]
    misfit = explicit_misfit(x.shape, target, axes)
    if misfit is None:
        sources = explicit(x.shape, target, axes)
        assert_view(function(case[0], target, axes), x, target, sources.__getitem__)
        return
    with pytest.raises(whycast.AxisSizeError) as caught:
        function(x, target, axes)
    assert caught.value.tensor_axis == misfit


@FUNCTIONS
def test_up_to_the_highest_rank_of_numpy(function: Function) -> None:
    x = numbered((3, 2))
    z = function(x, (2, *(1,) * 60, 3, 1, 2), (61, 63))
    assert z.shape == (2, *(1,) * 60, 3, 1, 2)
    assert z.tobytes() == x.tobytes() * 2


@FUNCTIONS
def test_axes_may_be_listed_in_any_type(function: Callable[..., Any]) -> None:
    x = numbered((2, 3))
    expected = explicit((2, 3), (2, 4, 3), (0, 2))
    listings: list[Any] = [(0, 2), [0, 2], range(0, 3, 2), [np.int8(0), np.uint64(2)]]
    listings += [np.array([0, 9, 2, 9], code)[::2] for code in ("<i8", ">i2", "u1", "q", "Q")]
    for axes in listings:
        for target in ((2, 4, 3), [2, 4, 3], np.array([2, 4, 3], "u1")):
            assert_elements(function(x, target, axes), (2, 3), (2, 4, 3), expected)
    empty = np.array([], np.uint8)
    assert function(np.array(7), empty, empty).tolist() == 7
