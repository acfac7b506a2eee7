"""broadcast_shapes and source_index at ranks and counts beyond NumPy's."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_rule import Shape, e1, fits, indices, maxima, prepend, source
from shape_strategies import shape_lists, shapes_and_target

import whycast

SHAPES = shape_lists()


def outcome(shapes: tuple[Shape, ...]) -> Shape | tuple[int, int, int, int]:
    """Return the common shape, or the witness of E1."""
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError as error:
        return (error.tensor, error.axis, error.size, error.target)


@given(SHAPES)
@example(((),))
@example(((0,), (1,)))
@example(((), (0,)))
@example(((0, 1), (1, 3)))
@example(((3,) * 40,) * 40)
def test_shape_or_witness_is_that_of_the_plain_rule(shapes: tuple[Shape, ...]) -> None:
    """[E_Broadcast_any_Condition1_010] [E_Broadcast_any_Condition2_010] [E_Broadcast_any_Step1_010]
    [E_Broadcast_any_Step2_010] [E_Broadcast_any_Step2_030] [E_Broadcast_any_Step2_040]
    [E_Broadcast_any_E1_010] [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010]
    """
    witness = e1(shapes)
    assert outcome(shapes) == (maxima(shapes) if witness is None else tuple(witness))


@pytest.mark.parametrize("misfit", range(0, 39, 3))
def test_witness_in_forty_tensors_of_rank_forty(misfit: int) -> None:
    """A misfit further on, though on a lower axis, is not the first.

    [E_Broadcast_any_Derived_010]
    """
    shapes = [[1 if (m + i) % 3 else 7 for i in range(40)] for m in range(40)]
    shapes[misfit][misfit // 2] = 5
    shapes[39][0] = 6
    assert outcome(tuple(map(tuple, shapes))) == (misfit, misfit // 2, 5, 7)


@pytest.mark.parametrize(
    ("shapes", "witness"),
    [
        # The lowest tensor comes before the lowest axis.
        (((2, 3), (1, 4), (5, 1)), (0, 0, 2, 5)),
        (((1, 3), (2, 4), (5, 1)), (0, 1, 3, 4)),
        (((4, 3), (2, 3)), (1, 0, 2, 4)),
        # The maximum is over all tensors, not over those met so far.
        (((2,), (3,), (9,)), (0, 0, 2, 9)),
        # The axis counts in the common rank, whatever the rank of the tensor at fault.
        (((2, 1, 5), (3,)), (1, 2, 3, 5)),
        # A size of 0 meets a 1, own or prepended: the maximum is then 1.
        (((0,), (1,)), (0, 0, 0, 1)),
        (((1,), (0,)), (1, 0, 0, 1)),
        (((), (0,)), (1, 0, 0, 1)),
        (((3,), (0, 3)), (1, 0, 0, 1)),
        (((0,), (3,)), (0, 0, 0, 3)),
        (((0, 1), (1, 3)), (0, 0, 0, 1)),
    ],
)
def test_witness(shapes: tuple[Shape, ...], witness: tuple[int, int, int, int]) -> None:
    """[E_Broadcast_any_E1_010] [E_Broadcast_any_Derived_010]"""
    assert outcome(shapes) == witness


@given(st.lists(st.integers(0, 2**70), max_size=40).map(tuple))
def test_one_shape_is_its_own_common_shape(shape: Shape) -> None:
    """[E_Broadcast_any_Signature_020] [E_Broadcast_any_Derived_040]"""
    assert whycast.broadcast_shapes(shape) == shape
    assert whycast.broadcast_shapes(shape, shape, shape) == shape


@given(SHAPES)
def test_common_shape_and_ones_add_nothing(shapes: tuple[Shape, ...]) -> None:
    if e1(shapes) is None:
        common = whycast.broadcast_shapes(*shapes)
        assert whycast.broadcast_shapes(common, *shapes) == common
        extended = [prepend(shape, len(common)) for shape in shapes]
        assert whycast.broadcast_shapes(*extended) == common
        if 0 not in common:
            assert whycast.broadcast_shapes(*shapes, (), (1,) * len(common)) == common


def test_many_tensors_and_high_rank() -> None:
    """[E_Broadcast_any_Restrictions_010]"""
    many = [(1, 3)] * 20_000 + [(5, 1)]
    assert whycast.broadcast_shapes(*many) == (5, 3)
    high = (1, 2) * 1000
    assert whycast.broadcast_shapes((), (2,), high, (3, 1) * 1000) == (3, 2) * 1000


def test_sizes_are_unbounded() -> None:
    """[E_Broadcast_any_Restrictions_010]"""
    assert whycast.broadcast_shapes((10**5000, 1), (2**64,)) == (10**5000, 2**64)


@given(shapes_and_target(max_rank=5, max_size=3))
def test_source_index_is_that_of_the_plain_rule(case: tuple[Shape, Shape]) -> None:
    """[E_Broadcast_any_Step1_030] [E_Broadcast_any_Step2_050]"""
    shape, target = case
    misfit = fits(shape, target)
    if misfit is None:
        for index in indices(target):
            assert whycast.source_index(shape, target, index) == source(shape, target, index)
        return
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.source_index(shape, target, (0,) * len(target))
    error = caught.value
    assert (error.tensor, error.axis, error.size, error.target, error.target_shape) == (
        *(0, misfit, prepend(shape, len(target))[misfit], target[misfit]),
        target,
    )


@given(shapes_and_target(max_rank=5, max_size=3), st.data())
def test_source_index_outside_the_target(case: tuple[Shape, Shape], data: st.DataObject) -> None:
    shape, target = case
    index = tuple(data.draw(st.integers(-2, size + 1)) for size in target)
    outside = [i for i, size in enumerate(target) if not 0 <= index[i] < size]
    if fits(shape, target) is None and outside:
        with pytest.raises(
            IndexError, match=rf"^index, axis {outside[0]}: .*got {index[outside[0]]}$"
        ):
            whycast.source_index(shape, target, index)


@given(st.integers(), st.integers(0, 9), st.integers(0, 9))
def test_f(a: int, b: int, c: int) -> None:
    """[E_Broadcast_any_F_010]"""
    assert whycast.f(a, b, c) == (a if b == c else 0)


def _error(shapes: tuple[Shape, ...]) -> whycast.BroadcastError:
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.broadcast_shapes(*shapes)
    return caught.value
