"""The reference on lists: new lists, results that no list can hold, and errors."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import pytest

import whycast
from whycast import reference


def test_result_is_new_and_the_argument_untouched() -> None:
    for shape, target in [((2, 2), (2, 2)), ((2, 2), (3, 2, 2)), ((0,), (0,)), ((), ())]:
        data = list(range(math.prod(shape)))
        before = [*data]
        result = reference.broadcast(data, shape, target)
        assert type(result) is list
        assert result is not data
        result.append(-1)
        assert data == before


def test_what_no_list_can_have() -> None:
    with pytest.raises(ValueError, match=r"^data: expected 2\*\*16609\+ elements, .*, got 1$"):
        reference.broadcast([0], (10**5000,), (10**5000,))
    message = r"^target: no list has as many elements as a tensor of shape \(2, 2\*\*5000\+\)$"
    with pytest.raises(ValueError, match=message) as caught:
        reference.broadcast([0], (1,), (2, 2**5000))
    assert caught.value.__context__ is None
    assert reference.broadcast([0], (1,), (2**5000, 0)) == []


def test_no_list_is_made_on_the_way_to_one_that_cannot_be() -> None:
    """The last axes of the target alone have 2**33 elements."""
    message = r"^target: no list has as many elements as a tensor of shape \(2, .*, 8589934592\)$"
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            reference.broadcast([0, 1], (2, 1, 1), (2, 2**40, 2**33))
        axes = range(4)
        shapes = [tuple(2**17 if axis == m else 1 for axis in axes) for m in axes]
        lists = [[0] * 2**17] * 4
        before = tracemalloc.get_traced_memory()[1]
        with pytest.raises(ValueError, match=r"^tensors: no list has as many elements"):
            reference.broadcast_all(list(zip(lists, shapes, strict=True)))
        assert tracemalloc.get_traced_memory()[1] < before + 2**17
    finally:
        tracemalloc.stop()
    # Other faults of such arguments are still reported.
    with pytest.raises(ValueError, match=r"^data: expected 2 elements"):
        reference.broadcast([0], (2, 1, 1), (2, 2**40, 2**33))
    with pytest.raises(whycast.BroadcastError):
        reference.broadcast([0, 1], (2, 1, 1), (3, 2**40, 2**33))
    with pytest.raises(whycast.BroadcastError, match=r"; expected a rank of at least 3, got"):
        reference.broadcast([0, 1], (2, 1, 1), (2**40, 2**33))
    lists[2] = [0]
    with pytest.raises(ValueError, match=r"^tensor 2, data: expected 131072 elements"):
        reference.broadcast_all(list(zip(lists, shapes, strict=True)))


def test_errors() -> None:
    message = r"no room for a list of the elements of a tensor of shape \(2, 1125899906842624\)$"
    with pytest.raises(MemoryError, match=f"^target: {message}"):
        reference.broadcast([0], (1,), (2, 2**50))
    with pytest.raises(TypeError, match=r"^data: expected a list, got \(1,\) \(tuple\)$"):
        vars(reference)["broadcast"]((1,), (1,), (1,))
    with pytest.raises(ValueError, match=r"^no tensor given: expected at least 1$"):
        reference.broadcast_all([])
    wrong: list[tuple[Any, str]] = [
        (1, r"^tensors: expected a sequence of pairs of a list and a shape, got 1 \(int\)$"),
        ("ab", r"^tensors: expected a sequence of pairs of a list and a shape, got 'ab' \(str\)$"),
        ([([1], (1,)), [1]], r"^tensor 1: expected a pair of a list and a shape, got \[1\] "),
        ([([1], (1,)), ((2,), (1,))], r"^tensor 1, data: expected a list, got \(2,\) \(tuple\)$"),
    ]
    for tensors, text in wrong:
        with pytest.raises(TypeError, match=text):
            reference.broadcast_all(tensors)
    message = r"expected 2 elements, the product of the sizes of shape \(2,\), got 3$"
    for data in ([[1, 2], [1, 2, 3]], [[1, 2], [1, 2, 3], [1]]):
        with pytest.raises(ValueError, match=rf"^tensor 1, data: {message}") as caught:
            reference.broadcast_all([(elements, (2,)) for elements in data])
        assert caught.value.__context__ is None
    # E1 comes before the count of elements.
    with pytest.raises(whycast.BroadcastError):
        reference.broadcast_all([([1], (2,)), ([1], (3,))])
