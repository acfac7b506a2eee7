"""Values of the wrong kind, how an error shows them, and what is demanded of it."""

from __future__ import annotations

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

NEGATIVE = [
    pytest.param(-1, "-1", id="int"),
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
