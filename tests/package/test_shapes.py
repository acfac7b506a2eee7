"""broadcast_shapes and source_index at ranks and counts beyond NumPy's."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from plain_rule import Shape, e1, fits, indices, maxima, prepend, source
from shape_strategies import shape_lists, shapes_and_target

import whycast

SHAPES = shape_lists()


def outcome(shapes: tuple[Shape, ...]) -> tuple[int | None, ...]:
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
