"""Every small case against NumPy: shapes, and data on arrays whose every element is different."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
import whycast
from plain_rule import Shape, all_shapes, mixes_zero_and_one


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
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def whycast_shape(shapes: Sequence[Shape]) -> Shape | None:
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError:
        return None


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
    both = numpy_only = neither = 0
    for shapes in cases:
        theirs, ours = numpy_shape(shapes), whycast_shape(shapes)
        if ours is not None:
            assert ours == theirs, shapes
            assert not mixes_zero_and_one(shapes), shapes
            both += 1
        elif theirs is not None:
            assert mixes_zero_and_one(shapes), shapes
            numpy_only += 1
        else:
            neither += 1
    assert Tally(both, numpy_only, neither) == expected


def distinct_arrays(
    shapes: Sequence[Shape],
) -> list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Arrays that have no element in common, within one or between two."""
    arrays = []
    first = 1
    for shape in shapes:
        size = int(np.prod(shape))
        arrays.append(np.arange(first, first + size).reshape(shape))
        first += size
    return arrays


@pytest.mark.parametrize(
    ("max_rank", "tensors", "expected"), [(3, 1, 85), (3, 2, 1239), (2, 3, 1083)]
)
def test_data(max_rank: int, tensors: int, expected: int) -> None:
    compared = 0
    for shapes in product(all_shapes(max_rank, 3), repeat=tensors):
        arrays = distinct_arrays(shapes)
        if whycast_shape(shapes) is None:
            with pytest.raises(whycast.BroadcastError):
                whycast.broadcast(*arrays)
            continue
        ours, theirs = whycast.broadcast(*arrays), np.broadcast_arrays(*arrays)
        assert len(ours) == len(theirs)
        for z, expected_z in zip(ours, theirs, strict=True):
            assert z.shape == expected_z.shape, shapes
            assert z.tobytes() == expected_z.tobytes(), shapes
        compared += 1
    assert compared == expected
