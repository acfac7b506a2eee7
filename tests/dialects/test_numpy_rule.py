"""whycast.numpy_rule on shapes: the verdicts of NumPy, and its signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from plain_rule import Pair, Shape, all_shapes

from whycast import numpy_rule

# Under a looser type: the checker must not keep us from passing what has to be refused.
Function = Callable[..., Any]
broadcast_arrays: Function = vars(numpy_rule)["broadcast_arrays"]
broadcast_shapes: Function = vars(numpy_rule)["broadcast_shapes"]
broadcast_to: Function = vars(numpy_rule)["broadcast_to"]
PAIRS = [(vars(numpy_rule)[name], vars(np)[name]) for name in numpy_rule.__all__[1:]]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_signature(ours: Function, theirs: Function) -> None:
    mine, numpys = (
        [(each.name, each.kind, each.default) for each in inspect.signature(f).parameters.values()]
        for f in (ours, theirs)
    )
    assert mine == numpys


def outcome(shapes: tuple[Shape, ...]) -> Shape | Pair:
    """Return the common shape, or the pair that the error names."""
    try:
        return numpy_rule.broadcast_shapes(*shapes)
    except numpy_rule.IncompatibleError as error:
        return Pair(error.other, error.tensor, error.axis)


def test_pair_is_the_one_that_numpy_names() -> None:
    """[E_NumpyBroadcast_any_Derived_030]"""
    named = 0
    cases = [
        *product(all_shapes(1, 3), repeat=4),
        *product(all_shapes(2, 2), repeat=3),
        *product(all_shapes(2, 3), repeat=2),
    ]
    for shapes in cases:
        try:
            np.broadcast_shapes(*shapes)
        except ValueError as error:
            numbers = re.findall(r"arg (\d+) with shape", str(error))
            pair = outcome(shapes)
            assert isinstance(pair, Pair)
            assert numbers == [str(pair.lower), str(pair.higher)]
            named += 1
    assert named > 1500


def test_neither_rank_nor_number_nor_size_is_limited() -> None:
    """NumPy itself ends at rank 32, and at sizes and products of 2**63."""
    assert broadcast_shapes(*[(2**70, 3)] * 20_000, (0, *(1,) * 99)) == (0, *(1,) * 97, 2**70, 3)


class LooseSequence:
    """Sequence by its methods alone."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> int:
        return (3, 2)[i]


RANK_2 = np.array([[3, 2]])
VALUES: list[Any] = [
    *(3, 0, -1, True, None, 3.0, 3j, "32", "", b"\3\2", bytearray(b"\3\2"), memoryview(b"\3\2")),
    *(np.int8(3), np.int8(-1), np.True_, np.float64(3), np.array(3), np.array([3, 2]), RANK_2),
    *(np.array([], int), np.array([3.0, 2.0]), [3, 2], [], range(2), {3}, {3: 1}, object()),
    *((2, -1), (-(2**70),), (True, 2), (np.True_,), (None,), (3, 2.0), (3, "2"), ((3,),)),
    *((np.array(3), np.array(2)), (np.array([3]),), LooseSequence()),
]
# An iterator is used up by the first call.
MAKERS: list[Callable[[], Any]] = [
    *(lambda value=value: value for value in VALUES),
    *(lambda: (size for size in (3, 2)), lambda: iter([3, 2])),
]


def shape_or_error(function: Callable[[], object]) -> object:
    try:
        result = function()
    except (TypeError, ValueError) as error:
        return type(error)
    return result.shape if isinstance(result, np.ndarray) else result


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_a_shape(make: Callable[[], Any]) -> None:
    """The same things are shapes, and the others fail with the same type of error."""
    ours = shape_or_error(lambda: broadcast_shapes(make()))
    assert ours == shape_or_error(lambda: np.broadcast_shapes(make()))
    if isinstance(ours, tuple):
        assert {type(size) for size in ours} <= {int}

    ours = shape_or_error(lambda: broadcast_to(7, make()))
    theirs = shape_or_error(lambda: np.broadcast_to(7, make()))
    if make() is RANK_2:
        # NumPy stumbles over it: the truth value of an array with more than one element.
        assert (ours, theirs) == (TypeError, ValueError)
    else:
        assert ours == theirs
