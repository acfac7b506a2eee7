"""The extracted programs as such: every result and every exception they are specified to give."""

from __future__ import annotations

import dataclasses
from itertools import product
from math import prod

import numpy as np
import pytest
from array_strategies import arrays_of_shape
from hypothesis import example, given
from hypothesis import strategies as st
from plain_rule import (
    Shape,
    agreed,
    all_shapes,
    e1,
    first_mismatch,
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


def test_violation_is_an_immutable_record() -> None:
    record = _kernel.Violation(tensor=1, axis=2, size=3, target=4)
    assert record == _kernel.Violation(1, 2, 3, 4)
    assert record != _kernel.Violation(1, 2, 3, 5)
    assert hash(record) == hash(_kernel.Violation(1, 2, 3, 4))
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.size = 9  # type: ignore[misc]


def test_f_on_all_small_arguments() -> None:
    """[E_Broadcast_any_F_010] [E_Broadcast_any_F_020]"""
    for a, b, c in product(range(-2, 6), repeat=3):
        assert _kernel.f(a, b, c) == (a if b == c else 0)


def follows_the_rule(shapes: tuple[Shape, ...]) -> None:
    witness = e1(shapes)
    if witness is None:
        assert _kernel.broadcast_shapes(shapes) == maxima(shapes)
    else:
        with pytest.raises(_kernel.E1) as caught:
            _kernel.broadcast_shapes(shapes)
        assert violation(caught.value) == witness


@given(shape_lists())
def test_broadcast_shapes(shapes: tuple[Shape, ...]) -> None:
    """[E_Broadcast_any_E1_010]"""
    follows_the_rule(shapes)


@pytest.mark.parametrize(("max_rank", "max_size", "tensors"), [(2, 3, 2), (1, 3, 4), (1, 5, 3)])
def test_broadcast_shapes_on_all_small_shapes(max_rank: int, max_size: int, tensors: int) -> None:
    """[E_Broadcast_any_Step2_010] [E_Broadcast_any_Step2_030] [E_Broadcast_any_Step2_040]
    [E_Broadcast_any_E1_010] [E_Broadcast_any_Derived_140]
    """
    for shapes in product(all_shapes(max_rank, max_size), repeat=tensors):
        follows_the_rule(shapes)


def test_broadcast_shapes_of_nothing() -> None:
    """[E_Broadcast_any_Signature_020]"""
    with pytest.raises(_kernel.NoTensor):
        _kernel.broadcast_shapes(())


# All sequences of at most two sizes, one of them negative in some: no shapes then.
MAYBE_NEGATIVE = [sizes for rank in range(3) for sizes in product(range(-2, 3), repeat=rank)]


def some_negative(shapes: tuple[Shape, ...]) -> bool:
    return any(size < 0 for shape in shapes for size in shape)


def test_negative_sizes_come_first() -> None:
    """Before E1 and before a mismatch, in whichever shape and on whichever axis they are.

    [E_Broadcast_any_Restrictions_010] [E_Broadcast_any_Derived_140]
    """
    cases = [
        *product(MAYBE_NEGATIVE, repeat=2),
        *product(product(range(-1, 3), repeat=1), repeat=4),
    ]
    negative = 0
    for shapes in cases:
        strides = tuple((8,) * len(shape) for shape in shapes)
        data = tuple((0,) * max(prod(shape), 0) for shape in shapes)
        if some_negative(shapes):
            with pytest.raises(_kernel.NegativeSize):
                _kernel.broadcast_shapes(shapes)
            with pytest.raises(_kernel.NegativeSize):
                _kernel.numpy_broadcast_shapes(shapes)
            with pytest.raises(_kernel.NegativeSize):
                _kernel.broadcast_views(shapes, strides)
            with pytest.raises(_kernel.NegativeSize):
                _kernel.broadcast_all(shapes, data)
            with pytest.raises(_kernel.NegativeSize):
                _kernel.first_violation(shapes)
            with pytest.raises(_kernel.NegativeSize):
                _kernel.first_mismatch(shapes)
            with pytest.raises(_kernel.NegativeSize):
                _kernel.check_shapes(shapes)
            negative += 1
        else:
            follows_the_rule(shapes)
            follows_the_rule_of_numpy(shapes)
            _kernel.check_shapes(shapes)
    assert 0 < negative < len(cases)


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


def follows_the_rule_of_numpy(shapes: tuple[Shape, ...]) -> None:
    mismatch = first_mismatch(shapes)
    if mismatch is None:
        assert _kernel.numpy_broadcast_shapes(shapes) == agreed(shapes)
    else:
        with pytest.raises(_kernel.Incompatible) as caught:
            _kernel.numpy_broadcast_shapes(shapes)
        assert dataclasses.astuple(caught.value.value) == mismatch


@given(shape_lists())
def test_numpy_broadcast_shapes(shapes: tuple[Shape, ...]) -> None:
    """[E_NumpyBroadcast_any_Rule_040] [E_NumpyBroadcast_any_Error_010]"""
    follows_the_rule_of_numpy(shapes)


@pytest.mark.parametrize(("max_rank", "max_size", "tensors"), [(2, 3, 2), (1, 3, 4), (1, 5, 3)])
def test_numpy_broadcast_shapes_on_all_small_shapes(
    max_rank: int, max_size: int, tensors: int
) -> None:
    """[E_NumpyBroadcast_any_Rule_020] [E_NumpyBroadcast_any_Rule_040]
    [E_NumpyBroadcast_any_Error_010] [E_Broadcast_any_Derived_140]
    """
    for shapes in product(all_shapes(max_rank, max_size), repeat=tensors):
        follows_the_rule_of_numpy(shapes)
    assert _kernel.numpy_broadcast_shapes(()) == ()


@given(SHAPES, st.integers(0, 45))
def test_pad(shape: Shape, rank: int) -> None:
    """[E_Broadcast_any_Condition1_020] [E_Broadcast_any_Step1_020]"""
    if rank < len(shape):
        with pytest.raises(_kernel.RankMismatch):
            _kernel.pad(shape, rank)
    else:
        assert _kernel.pad(shape, rank) == prepend(shape, rank)


def test_source_index_on_all_small_shapes() -> None:
    """Index arrays carried along by NumPy's broadcast say where each element came from.

    [E_Broadcast_any_Step1_030] [E_Broadcast_any_Step2_050]
    """
    for shape, target in product(all_shapes(2, 3), all_shapes(3, 3)):
        if len(shape) > len(target) or fits(shape, target) is not None or 0 in target:
            continue
        origins = [np.broadcast_to(axis_index, target) for axis_index in np.indices(shape)]
        for index in indices(target):
            assert _kernel.source_index(shape, target, index) == tuple(
                int(origin[index]) for origin in origins
            )


def test_source_index_fails_in_the_documented_order() -> None:
    """All shapes, with multi-indices inside and outside: ranks first, then sizes, then indices.

    [E_Broadcast_any_Derived_140]
    """
    seen = set()
    for shape, target in product(all_shapes(2, 2), repeat=2):
        for rank in range(4):
            for index in product(range(-1, 3), repeat=rank):
                result: object
                expected: object
                try:
                    result = _kernel.source_index(shape, target, index)
                except _kernel.RankMismatch:
                    result = "ranks"
                except _kernel.NotBroadcastable as error:
                    result = violation(error)
                except _kernel.IndexOutOfRange as error:
                    result = error.value
                if len(shape) > len(target) or rank != len(target):
                    expected = "ranks"
                elif (axis := fits(shape, target)) is not None:
                    expected = (0, axis, prepend(shape, len(target))[axis], target[axis])
                else:
                    outside = [i for i in range(rank) if not 0 <= index[i] < target[i]]
                    expected = outside[0] if outside else source(shape, target, index)
                assert result == expected
                assert type(result) is type(expected)
                seen.add(type(result))
    assert seen == {str, tuple, int}


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


@given(shapes_and_target(max_rank=5, min_size=1), st.data())
def test_broadcast_strides_are_those_of_numpy(
    case: tuple[Shape, Shape], data: st.DataObject
) -> None:
    """On axes of at least 2: on others no stride is ever used, and NumPy puts what it likes."""
    shape, target = case
    if fits(shape, target) is None:
        x = data.draw(arrays_of_shape(shape))
        theirs = np.broadcast_to(x, target).strides
        ours = _kernel.broadcast_strides(shape, x.strides, target)
        for size, stride, expected in zip(target, ours, theirs, strict=True):
            assert size < 2 or stride == expected


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


def test_broadcast_views_on_all_small_shapes() -> None:
    """[E_Broadcast_any_Derived_110] [E_Broadcast_any_E1_020]"""
    cases = [
        *product(all_shapes(2, 3), repeat=2),
        *product(all_shapes(1, 3), repeat=3),
        *((shape,) for shape in all_shapes(3, 2)),
    ]
    accepted = sum(all_views_follow_the_rule(shapes) for shapes in cases)
    assert 0 < accepted < len(cases)
    with pytest.raises(_kernel.NoTensor):
        _kernel.broadcast_views((), ())


@given(shape_lists(max_rank=4, max_tensors=5, sizes=st.integers(0, 3)))
def test_broadcast_views(shapes: tuple[Shape, ...]) -> None:
    """[E_Broadcast_any_Derived_110]"""
    all_views_follow_the_rule(tuple(shapes))


def test_broadcast_all_counts_after_it_has_broadcast() -> None:
    """The first list of wrong length is reported, and none where E1 holds."""
    shapes = ((2,), (1, 2), (3, 2))
    for lengths in product((1, 2, 5, 6, 7), repeat=3):
        data = tuple((0,) * length for length in lengths)
        wrong = [m for m, length in enumerate(lengths) if length != (2, 2, 6)[m]]
        if wrong:
            with pytest.raises(_kernel.WrongLength) as caught:
                _kernel.broadcast_all(shapes, data)
            assert caught.value.value == wrong[0]
        else:
            assert _kernel.broadcast_all(shapes, data) == ((3, 2), ((0,) * 6,) * 3)
        with pytest.raises(_kernel.E1):
            _kernel.broadcast_all((*shapes, (4,)), (*data, ()))


def test_broadcast_strides_rank_mismatch_on_all_small_ranks() -> None:
    for rank, strides, target in product(range(4), repeat=3):
        arguments = ((1,) * rank, (8,) * strides, (1,) * target)
        if strides != rank or rank > target:
            with pytest.raises(_kernel.RankMismatch):
                _kernel.broadcast_strides(*arguments)
        else:
            assert _kernel.broadcast_strides(*arguments) == (0,) * (target - rank) + (8,) * rank


def test_rank_mismatch_comes_before_sizes() -> None:
    with pytest.raises(_kernel.RankMismatch):
        _kernel.broadcast_strides((3,), (), (2,))
    with pytest.raises(_kernel.RankMismatch):
        _kernel.broadcast_strides((3, 3), (1, 1), (2,))


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


def test_row_major_strides_are_those_of_numpy() -> None:
    """Where no size is 0: there NumPy counts it as 1."""
    for shape in all_shapes(4, 3):
        if 0 not in shape:
            strides = np.empty(shape, np.int8).strides
            assert _kernel.row_major_strides(shape) == strides


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


def test_row_major_offset_is_the_place_in_memory() -> None:
    """[E_Broadcast_any_Derived_120]"""
    for shape in all_shapes(4, 3):
        strides = _kernel.row_major_strides(shape)
        offsets = [_kernel.offset(index, strides) for index in indices(shape)]
        assert offsets == list(range(len(offsets)))
        if shape and offsets:
            theirs = [int(np.ravel_multi_index(index, shape)) for index in indices(shape)]
            assert offsets == theirs


def test_results_are_tuples_of_python_ints() -> None:
    for result in (
        _kernel.broadcast_shapes(((2, 1), (3,))),
        _kernel.pad((3,), 3),
        _kernel.source_index((2, 1), (2, 3), (1, 2)),
        _kernel.broadcast_strides((2, 1), (8, 8), (2, 3)),
        _kernel.row_major_strides((2, 3)),
    ):
        assert type(result) is tuple
        assert {type(size) for size in result} == {int}
