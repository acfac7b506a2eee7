"""broadcast_in_dim and OpenVINO's mode explicit: one rule, but for the order of the axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import comb, perm
from typing import Any, NamedTuple

import numpy as np
import pytest
from array_strategies import Array, plain
from axes_cases import arrays_along_axes, assert_elements, explicit_cases, numbered, outcome
from hypothesis import given
from plain_axes import are_axes, are_distinct, explicit, explicit_misfit
from plain_rule import Shape
from view_checks import assert_view

import whycast
from whycast import lax, openvino


class Dialect(NamedTuple):
    """One of the two: its function, which axes it takes, and what it says of others."""

    broadcast: Callable[[Array, Shape, tuple[int, ...]], Array]
    takes: Callable[[Sequence[int], int], bool]
    refusal: str
    # How many axes of a rank a text takes, all in all.
    ways: Callable[[int, int], int]


def openvino_explicit(data: Array, target_shape: Shape, axes_mapping: tuple[int, ...]) -> Array:
    return openvino.broadcast(data, target_shape, axes_mapping, mode="explicit")


OPENVINO = Dialect(openvino_explicit, are_axes, "strictly increasing axes", comb)
LAX = Dialect(lax.broadcast_in_dim, are_distinct, "distinct axes", perm)
DIALECTS = pytest.mark.parametrize("dialect", [OPENVINO, LAX], ids=["openvino", "lax"])


def number_of_cases(dialect: Dialect, pairs: int) -> int:
    """Count cases of rank 3 at most: on an axis of the target alone all 4 sizes do.

    On one that the data lies on, so many pairs of sizes do: 7 of the 16 fit.
    """
    return sum(
        dialect.ways(rank, own) * pairs**own * 4 ** (rank - own)
        for rank in range(4)
        for own in range(rank + 1)
    )


@DIALECTS
def test_every_small_case(dialect: Dialect) -> None:
    """All shapes of rank <= 3 and sizes <= 3, with all mappings of axes, increasing or not.

    [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Inputs_020]
    [E_OpenvinoBroadcast_any_Inputs_030] [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_010]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Size_010]
    [E_BroadcastInDim_any_Data_010]
    """
    accepted = misfits = refused = 0
    for shape, target, axes in explicit_cases():
        z = outcome(dialect.broadcast, numbered(shape), target, axes)
        if not dialect.takes(axes, len(target)):
            assert type(z) is ValueError
            assert dialect.refusal in str(z)
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
    assert accepted == number_of_cases(dialect, 7)
    assert accepted + misfits == number_of_cases(dialect, 16)
    assert accepted + misfits + refused == len(list(explicit_cases()))


@DIALECTS
def test_every_small_mapping(dialect: Dialect) -> None:
    """Mappings of any length, also with axes that the target does not have.

    [E_OpenvinoBroadcast_any_Inputs_040] [E_OpenvinoBroadcast_any_Axes_010]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020]
    """
    accepted = 0
    for rank, rank_of_target, count in product(range(4), range(4), range(5)):
        x = np.zeros((2,) * rank)
        for axes in product(range(-2, rank_of_target + 2), repeat=count):
            if count == rank and dialect.takes(axes, rank_of_target):
                assert dialect.broadcast(x, (2,) * rank_of_target, axes).ndim == rank_of_target
                accepted += 1
                continue
            z = outcome(dialect.broadcast, x, (2,) * rank_of_target, axes)
            assert type(z) is ValueError
            assert str(z).startswith(("axes_mapping", "broadcast_dimensions"))
    assert accepted == sum(dialect.ways(n, k) for n in range(4) for k in range(n + 1))


@DIALECTS
def test_every_small_case_as_numpy_has_it(dialect: Dialect) -> None:
    """Transposed until the axes increase, axes of size 1 put in for the others, then broadcast.

    [E_BroadcastInDim_any_Derived_030]
    """
    accepted = 0
    for shape, target, axes in explicit_cases():
        if not dialect.takes(axes, len(target)):
            continue
        x = numbered(shape)
        others = tuple(axis for axis in range(len(target)) if axis not in axes)
        try:
            y = np.expand_dims(x.transpose(np.argsort(axes)) if axes else x, others)
            expected = np.broadcast_to(y, target)
        except ValueError:
            with pytest.raises(whycast.AxisSizeError):
                dialect.broadcast(x, target, axes)
            continue
        z = dialect.broadcast(x, target, axes)
        assert z.shape == expected.shape
        assert z.tobytes() == expected.tobytes()
        accepted += 1
    assert accepted == number_of_cases(dialect, 7)


def test_what_the_two_have_in_common() -> None:
    """Mode explicit takes what broadcast_in_dim takes along axes that increase, and no more.

    [E_BroadcastInDim_any_Derived_010]
    """
    unsorted = 0
    for shape, target, axes in explicit_cases():
        x = numbered(shape)
        z = outcome(lax.broadcast_in_dim, x, target, axes)
        w = outcome(openvino_explicit, x, target, axes)
        if are_axes(axes, len(target)):
            assert type(z) is type(w)
            if not isinstance(z, ValueError) and not isinstance(w, ValueError):
                assert z.tobytes() == w.tobytes()
        else:
            assert isinstance(w, ValueError)
            unsorted += not isinstance(z, ValueError)
    assert unsorted == number_of_cases(LAX, 7) - number_of_cases(OPENVINO, 7)


def test_the_example_of_stablehlo() -> None:
    """[E_BroadcastInDim_any_Examples_010]"""
    z = lax.broadcast_in_dim(np.array([[1, 2, 3]]), (2, 3, 2), (2, 1))
    assert z.tolist() == [[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]


@given(case=arrays_along_axes(turn=True))
def test_any_array_along_axes_in_any_order(case: tuple[Array, Shape, tuple[int, ...]]) -> None:
    check_any_array(lax.broadcast_in_dim, case)


@DIALECTS
@given(case=arrays_along_axes())
def test_any_array(dialect: Dialect, case: tuple[Array, Shape, tuple[int, ...]]) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_010]"""
    check_any_array(dialect.broadcast, case)


def check_any_array(
    function: Callable[[Array, Shape, tuple[int, ...]], Array],
    case: tuple[Array, Shape, tuple[int, ...]],
) -> None:
    x, target, axes = plain(case[0]), *case[1:]
    misfit = explicit_misfit(x.shape, target, axes)
    if misfit is None:
        sources = explicit(x.shape, target, axes)
        assert_view(function(case[0], target, axes), x, target, sources.__getitem__)
        return
    with pytest.raises(whycast.AxisSizeError) as caught:
        function(x, target, axes)
    assert caught.value.tensor_axis == misfit


@DIALECTS
def test_up_to_the_highest_rank_of_numpy(dialect: Dialect) -> None:
    x = numbered((3, 2))
    z = dialect.broadcast(x, (2, *(1,) * 60, 3, 1, 2), (61, 63))
    assert z.shape == (2, *(1,) * 60, 3, 1, 2)
    assert z.tobytes() == x.tobytes() * 2


@DIALECTS
def test_axes_may_be_listed_in_any_type(dialect: Dialect) -> None:
    function: Callable[..., Any] = dialect.broadcast
    x = numbered((2, 3))
    expected = explicit((2, 3), (2, 4, 3), (0, 2))
    listings: list[Any] = [(0, 2), [0, 2], range(0, 3, 2), [np.int8(0), np.uint64(2)]]
    listings += [np.array([0, 9, 2, 9], code)[::2] for code in ("<i8", ">i2", "u1", "q", "Q")]
    for axes in listings:
        for target in ((2, 4, 3), [2, 4, 3], np.array([2, 4, 3], "u1")):
            assert_elements(function(x, target, axes), (2, 3), (2, 4, 3), expected)
    empty = np.array([], np.uint8)
    assert function(np.array(7), empty, empty).tolist() == 7
