"""Bad values, how errors show them, and the parameters of public functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from array_strategies import Array

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference


class Weird:
    """An object of a type unknown to the package."""

    def __repr__(self) -> str:
        return "weird"


class Meaning(np.ndarray[tuple[int, ...], np.dtype[np.generic]]):
    """A subclass of ndarray whose only readable attribute is its class."""

    def __getattribute__(self, name: str) -> object:
        assert name == "__class__", f"asked the subclass for {name}"
        return Meaning


class Column:
    """An array of another library, with a text of several lines."""

    __array_interface__ = np.arange(3).__array_interface__

    def __repr__(self) -> str:
        return "0    1.0\n1    2.0\n" * 9


_LINES = r"0 1.0 1 2.0 .{,46}\.\.\..{,30}"
MEANINGFUL: list[tuple[object, str]] = [
    (
        value,
        rf"{shown} \({type(value).__name__}\); {type(value).__name__} may mean more than its "
        r"elements, such as a mask or a unit: numpy.asarray\(...\) makes a plain array of these",
    )
    for value, shown in (
        (np.array(3).view(Meaning), r"an array of shape \(\)"),
        (np.ma.masked, r"an array of shape \(\)"),
        (np.arange(2).view(Meaning), r"an array of shape \(2,\)"),
        (np.ma.MaskedArray([2, 3], [True, False]), r"an array of shape \(2,\)"),
        (np.ma.MaskedArray([2, 3]), r"an array of shape \(2,\)"),
        # As in other libraries: a scalar with a unit, an array with functions of its own.
        (type("Degree", (np.float64,), {})(3), ".*3.0.*"),
        (type("Quantity", (Column,), {"__array_function__": None})(), _LINES),
    )
]
NOT_INTEGERS: list[tuple[object, str]] = [
    (2.0, r"2.0 \(float\)"),
    (np.float64(2), r".*2.0.* \(float64\)"),
    ("2", r"'2' \(str\)"),
    (None, r"None \(NoneType\)"),
    (True, r"True \(bool\)"),
    (np.True_, r".*True.* \(bool_?\)"),
    ((2,), r"\(2,\) \(tuple\)"),
    (np.array([2]), r"an array of shape \(1,\) \(ndarray\)"),
    (Weird(), r"weird \(Weird\)"),
    ("x" * 10_000, r".{,60} \(str\)"),
    ([10**5000], r"an object \(list\)"),
    *MEANINGFUL[:2],
]


def bad_array(shown_dtype: str, *shape: int) -> str:
    return re.escape(f"an array of shape {shape} and dtype {shown_dtype}")


# These values are neither sequences nor arrays of integers.
NOT_VECTORS: list[tuple[object, str]] = [
    (5, r"5 \(int\); write \(5,\)"),
    (10**5000, r"2\*\*16609\+ \(int\); write \(2\*\*16609\+,\)"),
    (np.int64(5), r".*5.* \(int64\); write \(5,\)"),
    (True, r"True \(bool\)"),
    (2.5, r"2.5 \(float\)"),
    ("34", r"'34' \(str\)"),
    (b"\3\4", r"b'.*' \(bytes\)"),
    (memoryview(b"\3"), r"<memory.* \(memoryview\)"),
    ({3: 4}, r"\{3: 4\} \(dict\)"),
    (iter((3, 4)), r"<tuple_iter.*> \(tuple_iterator\)"),
    (Weird(), r"weird \(Weird\)"),
    (np.array(3), bad_array("int64")),
    (np.array([[2, 3]]), bad_array("int64", 1, 2)),
    (np.array([2.0, 3.0]), bad_array("float64", 2)),
    (np.array([True]), bad_array("bool", 1)),
    (np.array([2, 3], object), bad_array("object", 2)),
    (np.array([2], "m8[s]"), bad_array("timedelta64[s]", 1)),
    (np.zeros(1, [("x" * 99, "i4")]), r"an array of shape \(1,\) and dtype .{60}"),
    (Column(), _LINES + r" \(Column\)"),
    *MEANINGFUL,
]

VECTOR = "expected a sequence of integers or a one-dimensional array of an integer dtype, got "

# Values that are neither NumPy arrays nor NumPy scalars, by the hint in their error.
_MAKES = r"; numpy.asarray\(..., dtype\) makes an array"
_GUESS = r"; its dtype would be a guess: write numpy.{}\(...\), or whichever is meant"
_HINTS: dict[str, tuple[object, ...]] = {
    _MAKES: ([1.0, 2.0], (1.0, 2.0), memoryview(b"ab"), range(3), Column()),
    "": (None, Weird(), {3: 4}, {3, 4}, iter((3, 4)), np.ndarray),
    **{_GUESS.format(kind): (value,) for kind, value in [("bool_", True), ("int64", 3)]},
    **{_GUESS.format(kind): (value,) for kind, value in [("float32", 3.5), ("complex64", 2j)]},
    _GUESS.format("str_"): ("abc",),
}
NOT_ARRAYS: list[tuple[object, str]] = [
    (value, rf"expected a numpy.ndarray or a NumPy scalar, got {shown}")
    for value, shown in (
        *MEANINGFUL,
        *(
            (value, rf".{{,63}} \({type(value).__name__}\){hint}")
            for hint, values in _HINTS.items()
            for value in values
        ),
    )
]

NEGATIVE: list[tuple[Any, str]] = [
    (-1, "-1; -1 has no special meaning here"),
    (-2, "-2"),
    (np.int8(-3), "-3"),
    (-(10**5000), r"-2\*\*16609\+"),
]


class Parameter(NamedTuple):
    """A parameter of a public function, and a call in which only its value is bad."""

    call: Callable[[Any], object]
    # The parameter's name in an error.
    name: str
    # An error's word for a place in a sequence of integers.
    place: str = "axis"

    def __str__(self) -> str:
        # The called function and its parameter.
        return f"{self.call.__code__.co_names[1]}: {self.name}"


X = np.arange(6.0).reshape(2, 3)

# Shapes and targets.
SHAPES = (
    Parameter(lambda v: whycast.broadcast_shapes(v), "argument 0"),
    Parameter(lambda v: whycast.broadcast_shapes((3,), [1, 3], v, (4,)), "argument 2"),
    Parameter(lambda v: whycast.compatible(v), "argument 0"),
    Parameter(lambda v: whycast.compatible((3,), [1, 3], v, (4,)), "argument 2"),
    Parameter(lambda v: whycast.plan(v), "argument 0"),
    Parameter(lambda v: whycast.plan((3,), [1, 3], v, (4,)), "argument 2"),
    Parameter(lambda v: whycast.source_index(v, (3,), (0,)), "shape"),
    Parameter(lambda v: whycast.source_index((3,), v, (0,)), "target"),
    Parameter(lambda v: whycast.broadcast_strides(v, (8,), (3,)), "shape"),
    Parameter(lambda v: whycast.broadcast_strides((3,), (8,), v), "target"),
    Parameter(lambda v: whycast.broadcast_to(X, v), "shape"),
    Parameter(lambda v: whycast.sum_to_shape(X, v), "shape"),
    Parameter(lambda v: onnx.expand(X, v), "shape"),
    Parameter(lambda v: openvino.broadcast(X, v), "target_shape"),
    Parameter(lambda v: openvino.broadcast(X, v, [0, 1], "explicit"), "target_shape"),
    Parameter(lambda v: openvino.broadcast(X, v, None, "bidirectional"), "target_shape"),
    Parameter(lambda v: openvino.broadcast_adjoint(X, v), "data_shape"),
    Parameter(lambda v: ngraph.broadcast(X, v, {0}), "shape"),
    Parameter(lambda v: lax.broadcast_in_dim(X, v, (0, 1)), "shape"),
    Parameter(lambda v: reference.broadcast([1, 2], v, (2, 2)), "shape"),
    Parameter(lambda v: reference.broadcast([1, 2], (2,), v), "target"),
    Parameter(lambda v: reference.broadcast_all([([1], (1,)), ([1], v)]), "tensor 1, shape"),
)
# Other integers.
INTEGERS = (
    Parameter(lambda v: whycast.source_index((3,), (3,), v), "index"),
    Parameter(lambda v: whycast.broadcast_strides((3,), v, (3,)), "strides"),
    Parameter(lambda v: whycast.plan((3,), (1,), strides=((1,), v)), "strides 1"),
)
AXES = (
    Parameter(lambda v: openvino.broadcast(X, (2, 3), v, "explicit"), "axes_mapping", "position"),
    Parameter(
        lambda v: openvino.broadcast_adjoint(X, (2, 3), v, "explicit"), "axes_mapping", "position"
    ),
    Parameter(lambda v: lax.broadcast_in_dim(X, (2, 3, 4), v), "broadcast_dimensions", "position"),
)
AXIS_SETS = (
    Parameter(lambda v: ngraph.broadcast(X, (2, 3, 4), v), "broadcast_axes", "position"),
    Parameter(lambda v: ngraph.broadcast_adjoint(X, v), "broadcast_axes", "position"),
)
VECTORS = (*SHAPES, *INTEGERS, *AXES, *AXIS_SETS)
# Functions of NumPy's rule, which accept more values as shapes.
LOOSE_SHAPES = (
    Parameter(lambda v: numpy_rule.broadcast_shapes((3,), 1, v), "argument 2"),
    Parameter(lambda v: numpy_rule.broadcast_to(X, v), "shape"),
)
LOOSE_TENSORS = (
    Parameter(lambda v: numpy_rule.broadcast_arrays(X, v), "argument 1"),
    Parameter(lambda v: numpy_rule.broadcast_to(v, (2, 3)), "array"),
)
TENSORS = (
    Parameter(lambda v: whycast.broadcast(v), "argument 0"),
    Parameter(lambda v: whycast.broadcast(X, X, v), "argument 2"),
    Parameter(lambda v: whycast.broadcast_to(v, (2, 3)), "tensor"),
    Parameter(lambda v: whycast.sum_to_shape(v, (2, 3)), "delta"),
    Parameter(lambda v: onnx.expand(v, (2, 3)), "input"),
    Parameter(lambda v: openvino.broadcast(v, (2, 3)), "data"),
    Parameter(lambda v: openvino.broadcast(v, (2, 3), [0, 1], "explicit"), "data"),
    Parameter(lambda v: openvino.broadcast_adjoint(v, (2, 3)), "delta"),
    Parameter(lambda v: ngraph.broadcast(v, (2, 3), set()), "arg"),
    Parameter(lambda v: ngraph.broadcast_adjoint(v, {0}), "delta"),
    Parameter(lambda v: lax.broadcast_in_dim(v, (2, 3), (0, 1)), "operand"),
)


def parameters(*several: Parameter) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("parameter", several, ids=str)


def fails(
    expected: type[Exception], message: str, function: Callable[..., object], *arguments: object
) -> Any:
    """Demand an exception of exactly this type, whose text begins like `message`; return it."""
    with pytest.raises(expected, match=f"^{message}") as caught:
        function(*arguments)
    assert caught.type is expected
    return caught.value


def state(array: Array) -> tuple[object, ...]:
    """Return all properties of an array that a call may not change."""
    # Read the flags as one number: reading `writeable` alone may warn.
    return (array.tobytes(), array.shape, array.strides, array.dtype, array.flags.num)
