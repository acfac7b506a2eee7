"""ONNX Expand against a reading of its text and against NumPy."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from array_strategies import DTYPES, OTHER_DTYPES, Array, array_lists, plain
from axes_cases import SHAPE_PAIRS, assert_elements, numbered, outcome
from hypothesis import given
from plain_axes import expand as reading
from plain_axes import expand_shape
from plain_rule import Shape
from view_checks import assert_view

import whycast
from whycast import numpy_rule
from whycast.onnx import expand


def lowest_misfit(shape: Shape, target: Shape) -> int:
    """Return the lowest axis of the common rank on which two sizes do not go together."""
    for from_right in range(min(len(shape), len(target)), 0, -1):
        a, b = shape[-from_right], target[-from_right]
        if a != b and 1 not in (a, b):
            return max(len(shape), len(target)) - from_right
    raise AssertionError("all sizes go together")


def test_every_small_case() -> None:
    """[E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Expand_any_Data_010]"""
    accepted = 0
    for shape, target in SHAPE_PAIRS:
        x = numbered(shape)
        sources = reading(shape, target)
        common = expand_shape(shape, target)
        z = outcome(expand, x, target)
        if sources is None or common is None:
            assert type(z) is numpy_rule.IncompatibleError
            assert z.axis == lowest_misfit(shape, target)
            from_right = max(len(shape), len(target)) - z.axis
            assert (z.target, z.size) == (shape[-from_right], target[-from_right])
            assert z.shapes == (shape, target)
            with pytest.raises(ValueError, match="could not be broadcast"):
                x * np.ones(target, x.dtype)
            continue
        assert not isinstance(z, ValueError)
        assert_elements(z, shape, common, sources)
        # Which is how the text explains it.
        assert z.tobytes() == (x * np.ones(target, x.dtype)).tobytes()
        accepted += 1
    assert accepted == sum(10 ** min(a, b) * 4 ** abs(a - b) for a in range(4) for b in range(4))


@given(array_lists(max_rank=6, max_tensors=2, zero_meets_one=True, dtypes=(*DTYPES, *OTHER_DTYPES)))
def test_any_array(arrays: tuple[Array, ...]) -> None:
    """[E_Expand_any_Data_010]"""
    x = plain(arrays[0])
    target = plain(arrays[-1]).shape
    sources = reading(x.shape, target)
    common = expand_shape(x.shape, target)
    assert sources is not None
    assert common is not None
    assert_view(expand(arrays[0], target), x, common, sources.__getitem__)


def test_module_of_the_same_name_is_another() -> None:
    assert whycast.onnx.expand is expand
    assert not hasattr(onnx, "expand")
    assert not hasattr(whycast.onnx, "ModelProto")
    assert hasattr(onnx, "ModelProto")


def test_zero_and_one() -> None:
    """By NumPy's rule the result is 0, whichever of the two is 0; SONNX would have error E1."""
    assert expand(np.ones((1, 2)), (0, 2)).shape == (0, 2)
    assert expand(np.ones((0, 2)), (1, 2)).shape == (0, 2)
    assert expand(np.ones(()), (3, 0)).shape == (3, 0)
    assert expand(np.ones((3, 0)), ()).shape == (3, 0)


def test_target_of_lower_rank_and_of_ones() -> None:
    """[E_Expand_any_Shape_010]"""
    x = numbered((2, 3))
    for target in ((), (1,), (3,), (1, 1), (2, 1), (1, 3), (2, 3)):
        z = expand(x, target)
        assert (z.shape, z.tobytes()) == ((2, 3), x.tobytes())
