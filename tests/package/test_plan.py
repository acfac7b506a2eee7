"""Loop plans visit every element by as few loops as possible; wrong calls raise errors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from bad_values import fails
from hypothesis import example, given
from hypothesis import strategies as st
from plain_rule import Shape, all_shapes, e1, offsets, row_major, walk

import whycast
from whycast.testing import strategies

plan: Any = whycast.plan

SMALL = all_shapes(3, 3)


def check(shapes: tuple[Shape, ...], strides: tuple[Shape, ...] | None = None) -> None:
    """Demand that as few loops as possible visit all elements in row-major order."""
    sizes, steps = found = plan(*shapes, strides=strides)
    assert type(found) is whycast.LoopPlan
    own = strides or tuple(map(row_major, shapes))
    assert walk(sizes, steps) == offsets(shapes, own), (shapes, own)
    assert len(sizes) == len(steps) > 0
    assert 1 not in sizes or sizes == (1,), (shapes, own)
    for j in range(1, len(sizes)):
        goes_on = [a == sizes[j] * b for a, b in zip(steps[j - 1], steps[j], strict=True)]
        assert not all(goes_on), (shapes, own)
    if 0 in sizes or sizes == (1,):
        assert (len(sizes), steps) == (1, ((0,) * len(shapes),)), (shapes, own)


def test_small_shapes() -> None:
    """[E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_560]"""
    pairs = 0
    for shapes in (*product(SMALL, repeat=2), *product(all_shapes(2, 2), repeat=3)):
        wrong = e1(shapes)
        if wrong is None:
            check(shapes)
            pairs += len(shapes) == 2
            continue
        error = fails(whycast.BroadcastError, "", plan, *shapes)
        assert (error.tensor, error.axis, error.size, error.target, error.shapes) == (
            *wrong,
            shapes,
        )
    assert pairs > 1000


@st.composite
def strided(draw: st.DrawFn) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    bounds: dict[str, Any] = {"max_dims": 5, "max_side": 3, "max_shapes": 4}
    shapes = draw(strategies.shape_lists(compatible=True, **bounds))
    strides = []
    for shape in shapes:
        times = draw(st.sampled_from((-2, 0, 1, 8)))
        own = [times * stride for stride in row_major(shape)]
        if draw(st.booleans()) and shape:
            own[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(-3, 6))
        strides.append(tuple(own))
    return shapes, tuple(strides)


@given(strided())
@example((((2, 3), (2, 3)), ((3, 1), (1, 2))))
@example((((2, 3), (2, 3)), ((-3, -1), (0, 0))))
@example((((2, 3),), ((-3, 1),)))
def test_strides(case: tuple[tuple[Shape, ...], tuple[Shape, ...]]) -> None:
    """[E_Broadcast_any_Derived_560]"""
    check(*case)


def test_strides_that_do_not_fit() -> None:
    """[E_Broadcast_any_Derived_560]"""
    shapes = (2, 3), (1, 2, 3)
    for wrong, said in (
        (((3, 1), (6, 3, 1), ()), "strides: expected 2, one sequence for each shape, got 3"),
        ((), "strides: expected 2, one sequence for each shape, got 0"),
        (((3, 1), (3, 1)), "strides 1: expected 3, one for each axis of shape 1, got 2"),
        (((3, 1, 1), ()), "strides 0: expected 2, one for each axis of shape 0, got 3"),
    ):
        fails(ValueError, f"{said}$", lambda wrong=wrong: plan(*shapes, strides=wrong))
    message = "strides: expected a sequence of sequences of integers, got "
    others: list[object] = [3, "31", b"31", {}, iter(()), np.zeros((2, 3), int)]
    for value in others:
        shown = f"{message}.* .{type(value).__name__}.$"
        fails(TypeError, shown, lambda value=value: plan(*shapes, strides=value))
