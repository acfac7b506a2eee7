"""Values of the wrong kind, how an error shows them, and what is demanded of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

import numpy as np
import pytest
from array_strategies import Array


class Caller(Protocol):
    """Function that is called in the wrong way."""

    def __call__(self, *arguments: object) -> object:
        """Accept what the typed functions would not."""


class Weird:
    """Object that stands for any type unknown to the package."""

    def __repr__(self) -> str:
        return "weird"


NOT_INTEGERS = [
    pytest.param(2.0, r"2.0 \(float\)", id="float"),
    pytest.param(np.float64(2), r".*2.0.* \(float64\)", id="float64"),
    pytest.param("2", r"'2' \(str\)", id="str"),
    pytest.param(None, r"None \(NoneType\)", id="None"),
    pytest.param(True, r"True \(bool\)", id="bool"),
    pytest.param(False, r"False \(bool\)", id="bool that is 0"),
    pytest.param(np.True_, r".*True.* \(bool_?\)", id="bool of NumPy"),
    pytest.param(2 + 0j, r"\(2\+0j\) \(complex\)", id="complex"),
    pytest.param((2,), r"\(2,\) \(tuple\)", id="tuple"),
    pytest.param(np.array([2]), r"an array of shape \(1,\) \(ndarray\)", id="array"),
    pytest.param(Weird(), r"weird \(Weird\)", id="object"),
    pytest.param("x" * 10_000, r".{,60} \(str\)", id="long text"),
]


def bad_array(shown_dtype: str, *shape: int) -> str:
    return re.escape(f"an array of shape {shape} and dtype {shown_dtype}")


# What is neither a sequence of integers nor an array of them.
NOT_VECTORS = [
    pytest.param(5, r"5 \(int\); write \(5,\)", id="int"),
    pytest.param(-1, r"-1 \(int\); write \(-1,\)", id="-1"),
    pytest.param(np.int64(5), r".*5.* \(int64\); write \(5,\)", id="int64"),
    pytest.param(True, r"True \(bool\)", id="bool"),
    pytest.param(2.5, r"2.5 \(float\)", id="float"),
    pytest.param("34", r"'34' \(str\)", id="str"),
    pytest.param(b"\3\4", r"b'.*' \(bytes\)", id="bytes"),
    pytest.param(bytearray(b"\3"), r"bytearray.* \(bytearray\)", id="bytearray"),
    pytest.param(memoryview(b"\3"), r"<memory.* \(memoryview\)", id="memoryview"),
    pytest.param({3: 4}, r"\{3: 4\} \(dict\)", id="dict"),
    pytest.param(iter((3, 4)), r"<tuple_iter.*> \(tuple_iterator\)", id="iterator"),
    pytest.param(Weird(), r"weird \(Weird\)", id="object"),
    pytest.param(np.array(3), bad_array("int64"), id="array of rank 0"),
    pytest.param(np.array([[2, 3]]), bad_array("int64", 1, 2), id="array of rank 2"),
    pytest.param(np.zeros((0, 2), int), bad_array("int64", 0, 2), id="empty array of rank 2"),
    pytest.param(np.array([2.0, 3.0]), bad_array("float64", 2), id="array of floats"),
    pytest.param(np.array([]), bad_array("float64", 0), id="empty array of floats"),
    pytest.param(np.array([True]), bad_array("bool", 1), id="array of bools"),
    pytest.param(np.array([2, 3], object), bad_array("object", 2), id="array of objects"),
    pytest.param(np.array(["2"]), bad_array("<U1", 1), id="array of strings"),
    pytest.param(np.array([2], "m8[s]"), bad_array("timedelta64[s]", 1), id="array of durations"),
    pytest.param(np.ma.MaskedArray([2.0]), bad_array("float64", 1), id="array of a subclass"),
]

VECTOR = "expected a sequence of integers or a one-dimensional array of an integer dtype, got "

# What is neither an array nor a scalar of NumPy, and what the error advises.
_MAKES = r"numpy.asarray\(..., dtype\) makes an array"
NOT_ARRAYS = [
    pytest.param(
        value,
        rf"expected a numpy.ndarray or a NumPy scalar, got .* \({type(value).__name__}\); "
        + (
            rf"its dtype would be a guess: write numpy.{guess}\(...\), or whichever is meant"
            if guess
            else _MAKES
        ),
        id=f"{type(value).__name__}",
    )
    for value, guess in [
        *(([1.0, 2.0], ""), ((1.0, 2.0), ""), ("abc", ""), (None, ""), (Weird(), "")),
        *((memoryview(b"ab"), ""), (3, "int64"), (3.5, "float32"), (True, "bool_")),
        (2j, "complex64"),
    ]
]

NEGATIVE = [
    pytest.param(-1, "-1; -1 has no special meaning here", id="-1"),
    pytest.param(-2, "-2", id="int"),
    pytest.param(np.int8(-3), "-3", id="int8"),
    pytest.param(-(10**5000), r"-2\*\*16609\+", id="too long to print"),
]


def fails(
    expected: type[Exception], message: str, function: Callable[..., object], *arguments: object
) -> None:
    """Demand an exception of exactly this type whose text begins so."""
    with pytest.raises(expected, match=f"^{message}") as caught:
        function(*arguments)
    assert caught.type is expected


def state(array: Array) -> tuple[object, ...]:
    """All of an array that a call may not change."""
    return (array.tobytes(), array.shape, array.strides, array.dtype, str(array.flags))
