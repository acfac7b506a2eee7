"""The reference on lists: new lists, results that no list can hold, and errors."""

from __future__ import annotations

import math
import tracemalloc

from bad_values import fails

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
    message = r"data: expected 2\*\*16609\+ elements, .*, got 1$"
    fails(ValueError, message, reference.broadcast, [0], (10**5000,), (10**5000,))
    message = r"target: no list has as many elements as a tensor of shape \(2, 2\*\*5000\+\)$"
    error = fails(ValueError, message, reference.broadcast, [0], (1,), (2, 2**5000))
    assert error.__context__ is None
    assert reference.broadcast([0], (1,), (2**5000, 0)) == []


def test_no_list_is_made_on_the_way_to_one_that_cannot_be() -> None:
    """The target is too large for a list, and its last axis alone has 2**33 elements."""
    message = r"target: no list has as many elements as a tensor of shape \(2, .*, 8589934592\)$"
    asked, large = reference.broadcast, (2, 2**40, 2**33)
    tracemalloc.start()
    try:
        fails(ValueError, message, asked, [0, 1], (2, 1, 1), large)
        axes = range(4)
        shapes = [tuple(2**17 if axis == m else 1 for axis in axes) for m in axes]
        lists = [[0] * 2**17] * 4
        before = tracemalloc.get_traced_memory()[1]
        pairs = list(zip(lists, shapes, strict=True))
        fails(ValueError, "tensors: no list has as many elements", reference.broadcast_all, pairs)
        assert tracemalloc.get_traced_memory()[1] < before + 2**17
    finally:
        tracemalloc.stop()
    # Other faults of such arguments are still reported.
    fails(ValueError, "data: expected 2 elements", asked, [0], (2, 1, 1), large)
    fails(whycast.BroadcastError, "", asked, [0, 1], (2, 1, 1), (3, *large[1:]))
    message = "shape .*; expected a rank of at least 3, got"
    fails(whycast.BroadcastError, message, asked, [0, 1], (2, 1, 1), large[1:])
    pairs[2] = ([0], shapes[2])
    fails(ValueError, "tensor 2, data: expected 131072 el", reference.broadcast_all, pairs)


def test_errors() -> None:
    message = r"no memory for the elements of a tensor of shape \(2, 1125899906842624\)$"
    fails(MemoryError, f"target: {message}", reference.broadcast, [0], (1,), (2, 2**50))
    pairs = [([0] * 2**23, (2**23,)), ([0] * 2**22, (2**22, 1))]
    fails(MemoryError, "tensors: no memory for the elements", reference.broadcast_all, pairs)
    message = r"data: expected a list, got \(1,\) \(tuple\)$"
    fails(TypeError, message, reference.broadcast, (1,), (1,), (1,))
    fails(ValueError, "no tensor given: expected at least 1$", reference.broadcast_all, [])
    for tensors, text in (
        (1, r"tensors: expected a sequence of pairs of a list and a shape, got 1 \(int\)$"),
        ("ab", r"tensors: expected a sequence of pairs of a list and a shape, got 'ab' \(str\)$"),
        ([([1], (1,)), [1]], r"tensor 1: expected a pair of a list and a shape, got \[1\] "),
        ([([1], (1,)), ((2,), (1,))], r"tensor 1, data: expected a list, got \(2,\) \(tuple\)$"),
    ):
        fails(TypeError, text, reference.broadcast_all, tensors)
    message = (
        r"tensor 1, data: expected 2 elements, the product of the sizes of shape \(2,\), got 3$"
    )
    for data in ([[1, 2], [1, 2, 3]], [[1, 2], [1, 2, 3], [1]]):
        pairs = [(elements, (2,)) for elements in data]
        assert fails(ValueError, message, reference.broadcast_all, pairs).__context__ is None
    # The error E1 comes before the error about the number of elements.
    fails(whycast.BroadcastError, "", reference.broadcast_all, [([1], (2,)), ([1], (3,))])
