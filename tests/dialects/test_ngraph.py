"""nGraph Broadcast and its adjoint, against a reading of the text and against NumPy."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from array_strategies import Array, Subclass, arrays_of_shape, elements, plain
from axes_cases import (
    SHAPES,
    arrays_along_axes,
    assert_elements,
    axis_set_cases,
    inner,
    numbered,
    outcome,
)
from hypothesis import given
from hypothesis import strategies as st
from plain_axes import axis_sets, p
from plain_axes import ngraph as reading
from plain_rule import Shape, indices
from view_checks import assert_view

from whycast import ngraph
from whycast.ngraph import broadcast, broadcast_adjoint


def test_every_small_case() -> None:
    """All shapes of rank <= 3 and sizes <= 3, all shapes of arg, all sets of axes.

    [E_NgraphBroadcast_any_Purpose_010] [E_NgraphBroadcast_any_Attributes_010]
    [E_NgraphBroadcast_any_Attributes_020] [E_NgraphBroadcast_any_Outputs_020]
    [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Definition_010]
    [E_NgraphBroadcast_any_Definition_030] [E_NgraphBroadcast_any_Interface_010]
    [E_NgraphBroadcast_any_Interface_020]
    """
    accepted = misfits = 0
    for shape, target, axes in axis_set_cases():
        z = outcome(broadcast, numbered(shape), target, set(axes))
        sources = reading(shape, target, axes)
        kept = p(range(len(target)), axes)
        if sources is not None:
            assert not isinstance(z, ValueError)
            assert_elements(z, shape, target, sources)
            expected = np.broadcast_to(np.expand_dims(numbered(shape), axes), target)
            assert z.tobytes() == expected.tobytes()
            accepted += 1
        elif len(kept) == len(shape):
            assert type(z) is ngraph.ArgShapeError
            wanted = p(target, axes)
            assert shape[: z.tensor_axis] == wanted[: z.tensor_axis]
            assert (z.size, z.target) == (shape[z.tensor_axis], wanted[z.tensor_axis])
            assert z.size != z.target
            assert (z.axes, z.axis, z.broadcast_axes) == (kept, kept[z.tensor_axis], axes)
            assert (z.shapes, z.target_shape) == ((shape,), target)
            misfits += 1
        else:
            assert type(z) is ValueError
            assert str(z).startswith(("broadcast_axes: expected ", "shape: expected a rank"))
    # On an axis of the target alone all 4 sizes do, on one that arg has 4 of 16 pairs.
    assert accepted == sum((4 + 4) ** rank for rank in range(4))
    assert accepted + misfits == sum((4 + 16) ** rank for rank in range(4))


def test_every_small_sequence_of_axes() -> None:
    """Repeated, unsorted and out of range, with any number of axes.

    [E_NgraphBroadcast_any_Attributes_020] [E_NgraphBroadcast_any_Interface_020]
    """
    accepted = 0
    for rank, count in product(range(4), range(5)):
        for axes in product(range(-2, rank + 2), repeat=count):
            valid = axes in axis_sets(rank)
            left = rank - count if valid else 0
            z = outcome(broadcast, numbered((2,) * left), (2,) * rank, axes)
            sums = outcome(broadcast_adjoint, numbered((2,) * rank), axes)
            if valid:
                assert not isinstance(z, ValueError)
                assert not isinstance(sums, ValueError)
                assert (z.shape, sums.shape) == ((2,) * rank, (2,) * left)
                accepted += 1
                continue
            for error in (z, sums):
                assert type(error) is ValueError
                assert str(error).startswith("broadcast_axes, position ")
    assert accepted == sum(2**rank for rank in range(4))


def test_examples_of_the_text() -> None:
    """[E_NgraphBroadcast_any_Examples_010] [E_NgraphBroadcast_any_Examples_020]
    [E_NgraphBroadcast_any_Definition_020]
    """
    a, b, c = 10, 20, 30
    arg = np.array([a, b, c])
    assert broadcast(arg, (2, 3), {0}).tolist() == [[a, b, c], [a, b, c]]
    assert broadcast(arg, (3, 2), {1}).tolist() == [[a, a], [b, b], [c, c]]
    # p([d0, d1, d2, d3, d4]) = [d0, d2, d4]
    arg = numbered((2, 4, 6))
    z = broadcast(arg, (2, 3, 4, 5, 6), {1, 3})
    assert all(z[d] == arg[d[0], d[2], d[4]] for d in np.ndindex(2, 3, 4, 5, 6))


@given(arrays_along_axes(grow=False))
def test_any_array(case: tuple[Array, Shape, tuple[int, ...]]) -> None:
    """[E_NgraphBroadcast_any_Inputs_010] [E_NgraphBroadcast_any_Outputs_010]"""
    array, target, axes = case
    x = plain(array)
    broadcast_axes = {axis for axis in range(len(target)) if axis not in axes}
    sources = reading(x.shape, target, broadcast_axes)
    if sources is None:
        with pytest.raises(ngraph.ArgShapeError):
            broadcast(array, target, broadcast_axes)
    else:
        z = broadcast(array, target, broadcast_axes)
        assert_view(z, x, target, sources.__getitem__)


def test_sizes_do_not_grow() -> None:
    """Neither from 1 to any other size; on the broadcast axes there is any size, 0 included.

    [E_NgraphBroadcast_any_Shape_010]
    """
    for size in (0, 2, 3):
        with pytest.raises(ngraph.ArgShapeError, match="nGraph grows no size of 1: reshape arg"):
            broadcast(np.zeros((1,)), (5, size), {0})
        assert broadcast(np.zeros(()), (5, size), {0, 1}).shape == (5, size)
        assert broadcast(np.zeros((5,)), (5, size), {1}).shape == (5, size)
    assert broadcast(np.zeros((1,)), (5, 1), {0}).shape == (5, 1)


def test_axes_may_be_listed_in_any_type() -> None:
    x = numbered((3,))
    expected = reading((3,), (2, 3, 2), (0, 2))
    assert expected is not None
    listings: list[Any] = [{0, 2}, frozenset({2, 0}), {0: "a", 2: "b"}.keys(), {np.int8(2), 0}]
    listings += [(0, 2), [0, 2], range(0, 3, 2), [np.uint64(0), np.int8(2)]]
    listings += [np.array([0, 9, 2, 9], code)[::2] for code in ("<i8", ">i2", "u1", "q", "Q")]
    for axes in listings:
        assert_elements(broadcast(x, (2, 3, 2), axes), (3,), (2, 3, 2), expected)
        assert broadcast_adjoint(numbered((2, 3, 2)), axes).shape == (3,)
    # A set whose elements come as 8, 1.
    assert broadcast_adjoint(np.ones((2,) * 9), {8, 1}).tolist() == np.full((2,) * 7, 4.0).tolist()
    none: list[Any] = [set(), (), [], np.array([], int)]
    for axes in none:
        assert broadcast(x, (3,), axes).tobytes() == x.tobytes()
        assert broadcast_adjoint(x, axes).tobytes() == x.tobytes()


def test_up_to_the_highest_rank_of_numpy() -> None:
    x = numbered((2, 3))
    z = broadcast(x, (2, 4, *(1,) * 61, 3), {1, *range(2, 63)})
    assert z.tobytes() == np.broadcast_to(x[:, None], (2, 4, 3)).tobytes()
    assert broadcast_adjoint(z, set(range(1, 63))).tolist() == (4 * x).tolist()


# The adjoint


def integers(shape: Shape, seed: int, dtype: np.dtype[np.integer[Any]], bound: int = 2**64) -> Any:
    """Array of a type with numbers from -bound to bound, or as far as the type has them."""
    generator = random.Random(f"{shape} {seed}")
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -bound), min(limits.max, bound)
    numbers = [generator.randint(low, high) for _ in indices(shape)]
    return np.array(numbers, dtype).reshape(shape)


INT64 = np.dtype(np.int64)


def adjoint_cases() -> list[tuple[Shape, tuple[int, ...]]]:
    """All shapes of rank <= 3 and sizes <= 3 with all sets of their axes."""
    cases = [(target, axes) for target in SHAPES for axes in axis_sets(len(target))]
    assert len(cases) == sum(4**rank * 2**rank for rank in range(4))
    return cases


def test_adjoint_is_exact_on_integers() -> None:
    """<Broadcast(x), delta> = <x, Sum(delta)>, no sum or product anywhere near 2**63.

    [E_NgraphBroadcast_ring_Adjoint_010] [E_NgraphBroadcast_ring_Derived_010]
    """
    for target, axes in adjoint_cases():
        x = integers(p(target, axes), 1, INT64, 10**6)
        delta = integers(target, 2, INT64, 10**6)
        sums = broadcast_adjoint(delta, set(axes))
        assert sums.shape == x.shape
        assert inner(broadcast(x, target, set(axes)), delta) == inner(x, sums)


@pytest.mark.parametrize("code", ["i1", "u1", ">i2", "u2", ">u4", "i8", "u8", "q"])
def test_adjoint_is_exact_where_integers_wrap_around(code: str) -> None:
    """Modulo 2**n, with elements over the whole range.

    [E_NgraphBroadcast_ring_Adjoint_010] [E_NgraphBroadcast_ring_Derived_030]
    """
    dtype = np.dtype(code)
    modulus = 2 ** (8 * dtype.itemsize)
    wrapped = 0
    for target, axes in adjoint_cases():
        x = integers(p(target, axes), 3, dtype)
        delta = integers(target, 4, dtype)
        sums = broadcast_adjoint(delta, set(axes))
        assert sums.dtype.str == dtype.str
        difference = inner(broadcast(x, target, set(axes)), delta) - inner(x, sums)
        assert difference % modulus == 0
        wrapped += difference != 0
        with np.errstate(all="raise"):
            expected = np.sum(delta, axis=axes, dtype=dtype.type)
        assert sums.tobytes() == np.asarray(expected).astype(dtype).tobytes()
    assert wrapped > 50


def test_adjoint_adds_what_lies_on_the_broadcast_axes() -> None:
    """Element by element: at C all delta_D with p(D) = C. [E_NgraphBroadcast_ring_Adjoint_010]"""
    for target, axes in adjoint_cases():
        delta = integers(target, 5, np.dtype(np.int32), 10**6)
        sums = broadcast_adjoint(delta, axes)
        expected = dict.fromkeys(indices(p(target, axes)), 0)
        for index in indices(target):
            expected[p(index, axes)] += delta[index].item()
        assert sums.shape == p(target, axes)
        assert {index: sums[index].item() for index in expected} == expected


@pytest.mark.parametrize("code", ["e", "f", "d", "g", "F", "D", "G", ">f4", ">c16"])
def test_adjoint_of_floats_is_the_sum_of_numpy(code: str) -> None:
    dtype = np.dtype(code)
    for target, axes in adjoint_cases():
        delta = np.asarray(integers(target, 6, INT64, 1000) / 7).astype(dtype)
        sums = broadcast_adjoint(delta, axes)
        # NumPy has no sum in an order of bytes that is not the machine's.
        expected = np.asarray(np.sum(delta, axis=axes, dtype=dtype.type)).astype(dtype)
        assert (sums.shape, sums.dtype.str) == (expected.shape, dtype.str)
        if code in "gG":
            # Some bytes of a long double mean nothing.
            assert sums.tolist() == expected.tolist()
        else:
            assert sums.tobytes() == expected.tobytes()


def test_adjoint_of_floats_rounds() -> None:
    """What rounds is not exact: the nearest double of the sum may be another one."""
    delta = np.array([1.0, 2.0**-53, 2.0**-53])
    assert broadcast_adjoint(delta, {0}) == 1.0
    assert sum(map(Fraction, delta.tolist())) == 1 + Fraction(1, 2**52)
    # As in numpy.sum, the first addition is one to 0.
    assert not np.signbit(broadcast_adjoint(np.array([-0.0]), {0}))


@given(st.data())
def test_adjoint_of_any_array(data: st.DataObject) -> None:
    """In any memory layout, also beyond rank 3."""
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=6)))
    code = data.draw(st.sampled_from(["i1", ">u2", "<i4", ">i8", "u8", "f2", ">f4", "f8"]))
    delta = data.draw(arrays_of_shape(shape, np.dtype(code)))
    axes = data.draw(st.sets(st.integers(0, max(0, len(shape) - 1)))) if shape else set()
    with np.errstate(all="ignore"):
        expected = np.sum(delta, axis=tuple(sorted(axes)), dtype=delta.dtype.type)
        sums = broadcast_adjoint(delta, axes)
    assert sums.dtype.str == delta.dtype.str
    assert sums.shape == p(shape, axes)
    assert sums.tobytes() == np.asarray(expected).astype(delta.dtype).tobytes()


def test_adjoint_is_a_new_writeable_array() -> None:
    delta = np.arange(6.0).reshape(2, 3)
    delta.flags.writeable = False
    axis_sets_of_2: list[set[int]] = [set(), {0}, {1}, {0, 1}]
    for axes in axis_sets_of_2:
        for array in (delta, delta[:, ::-1], delta.view(Subclass)):
            sums = broadcast_adjoint(array, axes)
            assert type(sums) is np.ndarray
            assert sums.flags.writeable
            assert sums.flags.owndata
            assert sums.flags.c_contiguous
            assert not np.may_share_memory(sums, delta)
            sums[...] = -1.0
    assert delta.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


@pytest.mark.parametrize("code", ["?", "O", "U3", "S3", "M8[s]", "m8[s]", "V4", "i4,f4", "T"])
def test_adjoint_of_what_has_no_sum(code: str) -> None:
    delta = elements(6, np.dtype(code)) if code in "OT?" else np.zeros(6, code)
    message = r"^delta: expected an integer, floating-point or complex dtype, got "
    with pytest.raises(TypeError, match=message) as caught:
        broadcast_adjoint(delta, {0})
    assert str(caught.value).endswith(str(delta.dtype))


def test_adjoint_of_a_broadcast_counts() -> None:
    """Of a sum over n equal elements remains n times the element: Sum(Broadcast(x)) = n * x."""
    for target, axes in adjoint_cases():
        x = integers(p(target, axes), 7, INT64, 1000)
        count = int(np.prod([target[axis] for axis in axes], dtype=int))
        assert (broadcast_adjoint(broadcast(x, target, axes), axes) == count * x).all()
