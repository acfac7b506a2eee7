"""Every small case of both rules against NumPy: shapes and verdicts.

Executed are the theorems of why3/numpy/comparison.mlw that compare the two rules:
sonnx_numpy_shape, e1_numpy, numpy_size_differs, numpy_shape_differs. The data of
test_built_in_peers.py is that of sonnx_numpy_data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from array_strategies import distinct_arrays
from plain_rule import Shape, all_shapes, common_rank, maxima, mixes_zero_and_one, prepend

import whycast
from whycast import numpy_rule


class Tally(NamedTuple):
    """How often both rules accept, only NumPy's does, and neither does."""

    both: int
    numpy_only: int
    neither: int


# The expected counts follow by axis: of the 16 pairs of sizes that two tensors may have on an axis
# both rules accept 8 and NumPy alone 2; where one tensor lacks the axis, it is 3 and 1 of 4.
PAIRS_OF_RANK_2 = product(all_shapes(2, 3), repeat=2)
PAIRS_OF_RANK_3 = product(all_shapes(3, 3), repeat=2)
TRIPLES_OF_RANK_2 = product(all_shapes(2, 3), repeat=3)


def numpy_shape(shapes: Sequence[Shape]) -> Shape | None:
    """Return NumPy's shape, having compared it with that of our program for NumPy's rule."""
    try:
        theirs = np.broadcast_shapes(*shapes)
    except ValueError:
        with pytest.raises(numpy_rule.IncompatibleError):
            numpy_rule.broadcast_shapes(*shapes)
        return None
    assert numpy_rule.broadcast_shapes(*shapes) == theirs, shapes
    return theirs


def sonnx_shape(shapes: Sequence[Shape]) -> Shape | None:
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError:
        return None


def differs_by_zeros_alone(theirs: Shape, shapes: Sequence[Shape]) -> bool:
    """Whether NumPy's size is 0 on every axis that mixes a 0 and a 1, and elsewhere the maximum."""
    extended = [prepend(shape, common_rank(shapes)) for shape in shapes]
    expected = []
    for i, maximum in enumerate(maxima(shapes)):
        mixed = {0, 1} <= {sizes[i] for sizes in extended}
        # Compatible sizes have no third one besides 0 and 1.
        assert not mixed or maximum == 1
        expected.append(0 if mixed else maximum)
    return theirs == tuple(expected)


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        pytest.param(
            PAIRS_OF_RANK_2, Tally(both=145, numpy_only=86, neither=210), id="pairs of rank <= 2"
        ),
        pytest.param(
            PAIRS_OF_RANK_3,
            Tally(both=1239, numpy_only=1240, neither=4746),
            id="pairs of rank <= 3",
        ),
        pytest.param(
            TRIPLES_OF_RANK_2,
            Tally(both=1083, numpy_only=978, neither=7200),
            id="triples of rank <= 2",
        ),
    ],
)
def test_shapes(cases: Iterable[tuple[Shape, ...]], expected: Tally) -> None:
    """[E_Broadcast_any_Origin_010] [E_Broadcast_any_E1_030] [E_SonnxOneBroadcast_any_Origin_010]
    [E_SonnxZeroBroadcast_any_Origin_010]
    """
    both = numpy_only = neither = 0
    for shapes in cases:
        theirs, ours = numpy_shape(shapes), sonnx_shape(shapes)
        # SONNX rejects exactly what NumPy rejects and what mixes a 0 with a 1 on some axis.
        assert (ours is None) == (theirs is None or mixes_zero_and_one(shapes)), shapes
        if ours is not None:
            assert ours == theirs, shapes
            both += 1
        elif theirs is not None:
            assert differs_by_zeros_alone(theirs, shapes), shapes
            numpy_only += 1
        else:
            neither += 1
    assert Tally(both, numpy_only, neither) == expected


def test_broadcast_to_data() -> None:
    """Every array of rank <= 3 to every target of rank <= 3: one rule, for SONNX and NumPy.

    [E_Broadcast_any_Steps_010] [E_NumpyBroadcast_any_Functions_020]
    """
    compared = 0
    for shape in all_shapes(3, 3):
        (array,) = distinct_arrays([shape])
        for target in all_shapes(3, 3):
            try:
                theirs = np.broadcast_to(array, target)
            except ValueError:
                with pytest.raises(ValueError, match="expected"):
                    numpy_rule.broadcast_to(array, target)
                continue
            ours = numpy_rule.broadcast_to(array, target)
            assert (ours.shape, ours.tobytes()) == (theirs.shape, theirs.tobytes())
            compared += 1
    # On an axis that both have 7 of 16 pairs of sizes fit, on one that the target alone has all 4.
    assert compared == sum(7**rank * 4**more for rank in range(4) for more in range(4 - rank))
