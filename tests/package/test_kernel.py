"""The extracted programs on drawn arguments of any rank; test_small_cases.py has all small ones."""

from __future__ import annotations

import dataclasses

import plain_axes
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_rule import (
    Shape,
    e1,
    fits,
    indices,
    maxima,
    prepend,
    source,
)
from shape_strategies import SIZES, shape_lists, shapes_and_target

from whycast import _kernel

SHAPES = st.lists(SIZES, max_size=40).map(tuple)
INTEGERS = st.lists(st.integers(-(2**70), 2**70), max_size=40).map(tuple)


def violation(error: _kernel.E1 | _kernel.NotBroadcastable) -> tuple[int, int, int, int]:
    return dataclasses.astuple(error.value)


@given(shape_lists(), st.data())
def test_one_negative_size(shapes: tuple[Shape, ...], data: st.DataObject) -> None:
    """Among many sizes, whether the shapes agree or not. [E_Broadcast_any_Derived_140]"""
    places = [(m, i) for m, shape in enumerate(shapes) for i in range(len(shape))]
    if places:
        m, i = data.draw(st.sampled_from(places))
        size = data.draw(st.sampled_from([-1, -2, -(2**70)]))
        wrong = (*shapes[m][:i], size, *shapes[m][i + 1 :])
        shapes = (*shapes[:m], wrong, *shapes[m + 1 :])
        for program in (_kernel.broadcast_shapes, _kernel.numpy_broadcast_shapes):
            with pytest.raises(_kernel.NegativeSize):
                program(shapes)


@given(SHAPES, st.integers(0, 45))
def test_pad(shape: Shape, rank: int) -> None:
    """[E_Broadcast_any_Condition1_020] [E_Broadcast_any_Step1_020]"""
    if rank < len(shape):
        with pytest.raises(_kernel.RankMismatch):
            _kernel.pad(shape, rank)
    else:
        assert _kernel.pad(shape, rank) == prepend(shape, rank)


@given(shapes_and_target(max_rank=8), st.data())
def test_broadcast_strides(case: tuple[Shape, Shape], data: st.DataObject) -> None:
    """[E_Broadcast_any_F_020] [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_140]"""
    shape, target = case
    strides = tuple(data.draw(st.integers(-(2**70), 2**70)) for _ in shape)
    misfit = fits(shape, target)
    if misfit is not None:
        with pytest.raises(_kernel.NotBroadcastable) as caught:
            _kernel.broadcast_strides(shape, strides, target)
        size = prepend(shape, len(target))[misfit]
        assert violation(caught.value) == (0, misfit, size, target[misfit])
        return
    result = _kernel.broadcast_strides(shape, strides, target)
    extra = len(target) - len(shape)
    assert result == (0,) * extra + tuple(
        stride if size == target[extra + i] else 0
        for i, (size, stride) in enumerate(zip(shape, strides, strict=True))
    )
    # What the strides are for: they lead to the element that step 1 and step 2 lead to.
    index = tuple(data.draw(st.integers(0, size - 1)) if size else 0 for size in target)
    assert _kernel.offset(index, result) == sum(
        i * stride for i, stride in zip(source(shape, target, index), strides, strict=True)
    )


def all_views_follow_the_rule(shapes: tuple[Shape, ...]) -> bool:
    """Whether there are views: then they read what the two steps name, or E1 is reported."""
    # No two axes of no two tensors have the same stride: one in the wrong place shows.
    strides = tuple(
        tuple(1000**m * (7 + axis) for axis in range(len(shape))) for m, shape in enumerate(shapes)
    )
    witness = e1(shapes)
    if witness is not None:
        with pytest.raises(_kernel.E1) as caught:
            _kernel.broadcast_views(shapes, strides)
        assert violation(caught.value) == witness
        return False
    common, views = _kernel.broadcast_views(shapes, strides)
    assert common == maxima(shapes)
    for shape, own, view in zip(shapes, strides, views, strict=True):
        assert view == _kernel.broadcast_strides(shape, own, common)
        for index in indices(common):
            element = source(shape, common, index)
            assert _kernel.offset(index, view) == _kernel.offset(element, own)
        # A tensor of the common shape keeps its very strides: by that the package knows it.
        assert (view is own) == (shape == common)
    return True


@given(shape_lists(max_rank=4, max_tensors=5, sizes=st.integers(0, 3)))
def test_broadcast_views(shapes: tuple[Shape, ...]) -> None:
    """[E_Broadcast_any_Derived_110]"""
    all_views_follow_the_rule(tuple(shapes))


@given(SHAPES)
@example((3, 0, 2))
@example((0, 0, 5, 1))
def test_row_major_strides(shape: Shape) -> None:
    """[E_Broadcast_any_Derived_120]"""
    expected = []
    for axis in range(len(shape)):
        product_after = 1
        for size in shape[axis + 1 :]:
            product_after *= size
        expected.append(product_after)
    assert _kernel.row_major_strides(shape) == tuple(expected)


@given(INTEGERS, INTEGERS)
def test_offset(index: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """[E_Broadcast_any_Derived_110]"""
    if len(index) != len(strides):
        with pytest.raises(_kernel.RankMismatch):
            _kernel.offset(index, strides)
    common = min(len(index), len(strides))
    total = 0
    for i in range(common):
        total += index[i] * strides[i]
    assert _kernel.offset(index[:common], strides[:common]) == total


# Explicit axes


@given(st.lists(st.tuples(st.integers(-(2**70), 2**70), st.booleans()), max_size=40))
def test_p_and_kept_axes_of_any_rank(components: list[tuple[int, bool]]) -> None:
    coordinate = tuple(component for component, _ in components)
    axes = tuple(axis for axis, (_, removed) in enumerate(components) if removed)
    kept = tuple(axis for axis, (_, removed) in enumerate(components) if not removed)
    assert _kernel.kept_axes(len(coordinate), axes) == kept
    assert _kernel.p(coordinate, axes) == plain_axes.p(coordinate, axes)


@given(
    st.lists(st.tuples(SIZES, st.integers(-(2**70), 2**70), st.integers(0, 3)), max_size=40),
    st.data(),
)
def test_strides_of_any_rank(described: list[tuple[int, int, int]], data: st.DataObject) -> None:
    """An axis of the target has no axis of the data (0), one of size 1 (1), or of its own size."""
    target = tuple(size for size, _, _ in described)
    axes = tuple(axis for axis, (_, _, kind) in enumerate(described) if kind)
    shape = tuple(1 if kind == 1 else size for size, _, kind in described if kind)
    strides = tuple(stride for _, stride, kind in described if kind)
    removed = tuple(axis for axis in range(len(target)) if axis not in axes)
    expected = tuple(
        stride if kind > 1 or (kind == 1 and size == 1) else 0 for size, stride, kind in described
    )
    assert _kernel.explicit_strides(shape, strides, target, axes) == expected
    growing = [j for j, axis in enumerate(axes) if shape[j] != target[axis]]
    if growing:
        with pytest.raises(_kernel.AxisMisfit) as caught:
            _kernel.ngraph_strides(shape, strides, target, removed)
        assert caught.value.value == growing[0]
    else:
        assert _kernel.ngraph_strides(shape, strides, target, removed) == expected
    if shape:
        j = data.draw(st.integers(0, len(shape) - 1))
        wrong = (*shape[:j], target[axes[j]] + 2, *shape[j + 1 :])
        with pytest.raises(_kernel.AxisMisfit) as caught:
            _kernel.explicit_strides(wrong, strides, target, axes)
        assert caught.value.value == j


@given(st.lists(st.tuples(SIZES, st.integers(0, 2)), max_size=40), st.integers(0, 40))
def test_expand_shape_of_any_rank(described: list[tuple[int, int]], dropped: int) -> None:
    result = tuple(size for size, _ in described)
    one = tuple(1 if who == 1 else size for size, who in described)
    other = tuple(1 if who == 2 else size for size, who in described)
    # A shape may as well end early, where it would have ones alone.
    start = min(dropped, next((i for i, size in enumerate(one) if size != 1), len(one)))
    assert _kernel.expand_shape(one[start:], other) == result
    assert _kernel.expand_shape(other, one[start:]) == result
