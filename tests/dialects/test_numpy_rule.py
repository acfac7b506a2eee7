"""whycast.numpy_rule on shapes: the verdicts of NumPy, its signatures, and errors of our own."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from plain_rule import Pair, Shape, agreed, all_shapes, first_mismatch
from shape_strategies import shape_lists

import whycast
from whycast import numpy_rule

# Under a looser type: the checker must not keep us from passing what has to be refused.
Function = Callable[..., Any]
broadcast_arrays: Function = vars(numpy_rule)["broadcast_arrays"]
broadcast_shapes: Function = vars(numpy_rule)["broadcast_shapes"]
broadcast_to: Function = vars(numpy_rule)["broadcast_to"]
PAIRS = [(vars(numpy_rule)[name], vars(np)[name]) for name in numpy_rule.__all__[1:]]


def test_names_are_those_of_numpy() -> None:
    assert numpy_rule.__all__ == [
        *("IncompatibleError", "broadcast_arrays", "broadcast_shapes", "broadcast_to")
    ]
    assert whycast.numpy_rule is numpy_rule


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_signature(ours: Function, theirs: Function) -> None:
    def parameters(function: Function) -> list[tuple[str, object, object]]:
        described = inspect.signature(function).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in described]

    assert parameters(ours) == parameters(theirs)


def outcome(shapes: tuple[Shape, ...]) -> Shape | Pair:
    """Return the common shape, or the pair that the error names."""
    try:
        return numpy_rule.broadcast_shapes(*shapes)
    except numpy_rule.IncompatibleError as error:
        return Pair(error.other, error.tensor, error.axis)


@given(shape_lists())
@example(())
@example(((),))
@example(((0, 2), (2,)))
@example(((2,), (1, 1), (4, 3), (5, 3)))
def test_shape_or_pair_is_that_of_the_plain_rule(shapes: tuple[Shape, ...]) -> None:
    """[E_NumpyBroadcast_any_Rule_010] [E_NumpyBroadcast_any_Rule_020]
    [E_NumpyBroadcast_any_Rule_030] [E_NumpyBroadcast_any_Rule_040] [E_NumpyBroadcast_any_Error_010]
    [E_NumpyBroadcast_any_Functions_010]
    """
    pair = first_mismatch(shapes)
    assert outcome(shapes) == (agreed(shapes) if pair is None else pair)


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
    high = (1, 2) * 50
    assert broadcast_shapes((), (2,), high, (0, 1) * 50) == (0, 2) * 50
    assert broadcast_shapes(*[(1, 3)] * 20_000, (0, 1)) == (0, 3)
    assert broadcast_shapes((2**70, 1), 10**5000) == (2**70, 10**5000)
    assert outcome(((7,) * 100, (7,) * 60 + (8,) + (7,) * 39)) == (0, 1, 60)


class Index:
    """Integer of an unknown type."""

    def __index__(self) -> int:
        return 3


class LooseSequence:
    """Sequence by its methods alone."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> int:
        return (3, 2)[i]


# Made anew for each call: an iterator is used up by the first.
SHAPES: dict[str, Callable[[], object]] = {
    "int": lambda: 3,
    "zero": lambda: 0,
    "int8": lambda: np.int8(3),
    "array of rank 0": lambda: np.array(3),
    "array": lambda: np.array([3, 2]),
    "empty array": lambda: np.array([], int),
    "array of rank 2": lambda: np.array([[3, 2]]),
    "array of floats": lambda: np.array([3.0, 2.0]),
    "list": lambda: [3, 2],
    "empty list": lambda: [],
    "range": lambda: range(2),
    "bytes": lambda: b"\3\2",
    "bytearray": lambda: bytearray(b"\3\2"),
    "memoryview": lambda: memoryview(b"\3\2"),
    "loose sequence": LooseSequence,
    "tuple of arrays of rank 0": lambda: (np.array(3), np.array(2)),
    "tuple of an array of rank 1": lambda: (np.array([3]),),
    "generator": lambda: (size for size in (3, 2)),
    "iterator": lambda: iter([3, 2]),
    "set": lambda: {3},
    "dict": lambda: {3: 1},
    "text": lambda: "32",
    "empty text": lambda: "",
    "bool": lambda: True,
    "bool of NumPy": lambda: np.True_,
    "tuple of bool": lambda: (True, 2),
    "tuple of bool of NumPy": lambda: (np.True_,),
    "None": lambda: None,
    "tuple of None": lambda: (None,),
    "float": lambda: 3.0,
    "tuple of float": lambda: (3, 2.0),
    "float64": lambda: np.float64(3),
    "complex": lambda: 3j,
    "nested tuple": lambda: ((3,),),
    "tuple with text": lambda: (3, "2"),
    "object": object,
    "negative int": lambda: -1,
    "negative int8": lambda: np.int8(-1),
    "negative in a tuple": lambda: (2, -1),
    "hugely negative": lambda: (-(2**70),),
}


def shape_or_error(function: Callable[[], object]) -> object:
    try:
        result = function()
    except (TypeError, ValueError) as error:
        return type(error)
    return result.shape if isinstance(result, np.ndarray) else result


@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES)
def test_what_is_a_shape(make: Callable[[], object]) -> None:
    """The same things are shapes, and the others fail with the same type of error."""
    ours = shape_or_error(lambda: broadcast_shapes(make()))
    assert ours == shape_or_error(lambda: np.broadcast_shapes(make()))  # type: ignore[arg-type]
    if isinstance(ours, tuple):
        assert {type(size) for size in ours} <= {int}

    ours = shape_or_error(lambda: broadcast_to(7, make()))
    theirs = shape_or_error(lambda: np.broadcast_to(7, make()))  # type: ignore[call-overload]
    if make is SHAPES["array of rank 2"]:
        # NumPy stumbles over it: the truth value of an array with more than one element.
        assert (ours, theirs) == (TypeError, ValueError)
    else:
        assert ours == theirs


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (None, TypeError, "expected an integer or a sequence of integers, got None (NoneType)"),
        (True, TypeError, "expected an integer or a sequence of integers, got True (bool)"),
        (2.5, TypeError, "expected an integer or a sequence of integers, got 2.5 (float)"),
        (-1, ValueError, "expected a size of at least 0, got -1; -1 has no special meaning here"),
    ],
)
def test_text_for_what_is_no_shape(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        broadcast_shapes((3,), 1, value)
    assert str(caught.value) == f"argument 2: {message}"
    with pytest.raises(error) as caught:
        broadcast_to(np.zeros(3), value)
    assert str(caught.value) == f"shape: {message}"


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("2", TypeError, "expected an integer, got '2' (str)"),
        (2.0, TypeError, "expected an integer, got 2.0 (float)"),
        pytest.param(
            *([10**5000], TypeError, "expected an integer, got an object (list)"), id="long in list"
        ),
        pytest.param(
            *(-(10**5000), ValueError, "expected a size of at least 0, got -2**16609+"), id="long"
        ),
    ],
)
def test_text_for_what_is_no_size(value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        broadcast_shapes((3,), [1, value])
    assert str(caught.value) == f"argument 1, axis 1: {message}"
    with pytest.raises(error) as caught:
        broadcast_to(np.zeros(3), (1, value, 3))
    assert str(caught.value) == f"shape, axis 1: {message}"


@pytest.mark.parametrize("value", [{3, 2}, {3: 2}, iter((3, 2))], ids=lambda v: type(v).__name__)
def test_text_for_what_has_no_order(value: object) -> None:
    message = "^argument 1: expected an integer or a sequence of integers, got .*{}.*$"
    with pytest.raises(TypeError, match=message.format(type(value).__name__)):
        broadcast_shapes((3,), value)


def error_of(*shapes: Shape) -> numpy_rule.IncompatibleError:
    with pytest.raises(numpy_rule.IncompatibleError) as caught:
        numpy_rule.broadcast_shapes(*shapes)
    return caught.value


def test_error_is_that_of_broadcast_and_a_value_error() -> None:
    error = error_of((3, 4), (2, 5, 1))
    assert isinstance(error, whycast.BroadcastError)
    assert isinstance(error, ValueError)
    kind = type(error)
    assert f"{kind.__module__}.{kind.__qualname__}" == "whycast.numpy_rule.IncompatibleError"
    assert (error.__context__, error.__cause__) == (None, None)
    assert vars(error) == {
        **{"other": 0, "tensor": 1, "axis": 1, "size": 5, "target": 3},
        **{"shapes": ((3, 4), (2, 5, 1)), "target_shape": None, "names": None},
    }


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        (
            ((3, 4), (2, 5, 1)),
            "shapes do not broadcast (NumPy's rule): axis 1 of the common rank 3, "
            "argument 0 has size 3, argument 1 has size 5, expected equal sizes or 1\n"
            "  argument 0:     [3]  4\n"
            "  argument 1:  2  >5<  1",
        ),
        (
            # A size of 0 is at fault where another is neither 0 nor 1.
            ((1,), (0, 1), (), (2, 1)),
            "shapes do not broadcast (NumPy's rule): axis 0 of the common rank 2, "
            "argument 1 has size 0, argument 3 has size 2, expected equal sizes or 1\n"
            "  argument 0:      1\n"
            "  argument 1: [0]  1\n"
            "  argument 2:\n"
            "  argument 3: >2<  1",
        ),
        (
            (*[(1,)] * 11, (2,), *[()] * 30, (3,), ()),
            "shapes do not broadcast (NumPy's rule): axis 0 of the common rank 1, "
            "argument 11 has size 2, argument 42 has size 3, expected equal sizes or 1\n"
            "  argument 0:   1\n"
            "  argument 1:   1\n"
            "  argument 2:   1\n"
            "  argument 3:   1\n"
            "  argument 4:   1\n"
            "  argument 5:   1\n"
            "  ...\n"
            "  argument 11: [2]\n"
            "  ...\n"
            "  argument 42: >3<\n"
            "  ... (44 arguments)",
        ),
    ],
)
def test_text(shapes: tuple[Shape, ...], text: str) -> None:
    assert str(error_of(*shapes)) == text
    with pytest.raises(numpy_rule.IncompatibleError) as caught:
        numpy_rule.broadcast_arrays(*map(np.zeros, shapes))
    assert str(caught.value) == text
    assert caught.value.__context__ is None


@given(shape_lists())
def test_every_text_names_both_sizes(shapes: tuple[Shape, ...]) -> None:
    pair = first_mismatch(shapes)
    if pair is None:
        return
    error = error_of(*shapes)
    headline, *table = str(error).splitlines()
    assert f"argument {pair.lower} has size {error.target}, " in headline
    assert f"argument {pair.higher} has size {error.size}, " in headline
    rows = {line.split(":")[0].strip(): line for line in table if ":" in line}
    assert f"[{error.target}]" in rows[f"argument {pair.lower}"]
    assert f">{error.size}<" in rows[f"argument {pair.higher}"]


def test_text_of_broadcast_to() -> None:
    with pytest.raises(whycast.BroadcastError) as caught:
        broadcast_to(np.zeros((3, 1)), (2, 4, 1))
    assert str(caught.value) == (
        "shape (3, 1) does not broadcast to (2, 4, 1): axis 1 of the target's rank 3, "
        "the shape has size 3, expected 4 or 1\n"
        "  shape:      >3<  1\n"
        "  target:  2  [4]  1"
    )
    assert caught.value.__context__ is None


@pytest.mark.parametrize(("shape", "target"), [((1, 1), (1,)), ((3,), ()), ((0, 2), 2)])
def test_broadcast_to_a_lower_rank(shape: Shape, target: int | Shape) -> None:
    rank = len(target) if isinstance(target, tuple) else 1
    with pytest.raises(ValueError, match=r"^shape: expected") as caught:
        broadcast_to(np.zeros(shape), target)
    assert str(caught.value) == (
        f"shape: expected a rank of at least {len(shape)}, that of the array, got {rank}"
    )
    assert caught.value.__context__ is None


def pickle_and_load(error: numpy_rule.IncompatibleError) -> numpy_rule.IncompatibleError:
    loaded = pickle.loads(pickle.dumps(error))
    assert isinstance(loaded, numpy_rule.IncompatibleError)
    return loaded


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle_and_load])
def test_copies_of_an_error(
    duplicate: Callable[[numpy_rule.IncompatibleError], numpy_rule.IncompatibleError],
) -> None:
    error = error_of((3, 4), (), (2, 5, 1))
    twin = duplicate(error)
    assert type(twin) is numpy_rule.IncompatibleError
    assert twin is not error
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)
