"""whycast.numpy_rule on shapes: NumPy's verdicts and signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from bad_values import fails
from plain_rule import all_shapes

from whycast import numpy_rule

# With the type Any, the type checker accepts bad input.
broadcast_shapes: Any = numpy_rule.broadcast_shapes
broadcast_to: Any = numpy_rule.broadcast_to


@pytest.mark.parametrize("name", numpy_rule.__all__[1:])
def test_signature(name: str) -> None:
    ours, theirs = (
        [(each.name, each.kind, each.default) for each in inspect.signature(f).parameters.values()]
        for f in (vars(numpy_rule)[name], vars(np)[name])
    )
    assert ours == theirs


def test_pair_is_the_one_that_numpy_names() -> None:
    """[E_NumpyBroadcast_any_Derived_030]"""
    named = 0
    cases = ((all_shapes(1, 3), 4), (all_shapes(2, 2), 3), (all_shapes(2, 3), 2))
    for shapes in (each for some, count in cases for each in product(some, repeat=count)):
        try:
            np.broadcast_shapes(*shapes)
        except ValueError as error:
            numbers = re.findall(r"arg (\d+) with shape", str(error))
            ours = fails(numpy_rule.IncompatibleError, "", broadcast_shapes, *shapes)
            assert numbers == [str(ours.other), str(ours.tensor)]
            named += 1
    assert named > 1500


def test_neither_rank_nor_number_nor_size_is_limited() -> None:
    """NumPy's own function refuses ranks above 32, and sizes or products of 2**63 or more."""
    assert broadcast_shapes(*[(2**70, 3)] * 20_000, (0, *(1,) * 99)) == (0, *(1,) * 97, 2**70, 3)


class LooseSequence:
    """A class with a sequence's methods, but without the base class."""

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
# Each call makes a new value: the first use exhausts an iterator.
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
    """Our functions accept what NumPy's accept, and raise the same types, except for one value."""
    ours = shape_or_error(lambda: broadcast_shapes(make()))
    assert ours == shape_or_error(lambda: np.broadcast_shapes(make()))
    if isinstance(ours, tuple):
        assert {type(size) for size in ours} <= {int}

    ours = shape_or_error(lambda: broadcast_to(7, make()))
    theirs = shape_or_error(lambda: np.broadcast_to(7, make()))
    if make() is RANK_2:
        # NumPy takes the truth value of this array, which raises ValueError.
        assert (ours, theirs) == (TypeError, ValueError)
    else:
        assert ours == theirs
