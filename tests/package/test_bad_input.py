"""Bad input: an error of a documented type that names the parameter and the axis."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any, SupportsIndex

import bad_values
import ml_dtypes
import numpy as np
import pytest
from bad_values import VECTORS, Parameter, X, fails, parameters

import whycast
from whycast import numpy_rule, onnx, openvino
from whycast._checks import PLAIN_TYPES, SONNX_TYPES, check_count

# With the type Any, the type checker accepts bad input.
broadcast: Any = whycast.broadcast
broadcast_shapes: Any = whycast.broadcast_shapes
source_index: Any = whycast.source_index
f: Any = whycast.f
OF_OPENVINO: tuple[Any, ...] = (openvino.broadcast, openvino.broadcast_adjoint)


@parameters(*VECTORS)
def test_not_a_vector_of_integers(parameter: Parameter) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_020] [E_OpenvinoBroadcast_any_Inputs_030]
    [E_NgraphBroadcast_any_Attributes_020] [E_Broadcast_any_Derived_150]
    """
    expected = bad_values.VECTOR
    if parameter in bad_values.AXIS_SETS:
        expected = bad_values.VECTOR.replace("expected ", "expected a set of integers, ")
    values = [*bad_values.NOT_VECTORS]
    if parameter.name != "axes_mapping":
        values.append((None, r"None \(NoneType\)"))
    if parameter not in bad_values.AXIS_SETS:
        values.append(({2, 3}, r"\{2, 3\} \(set\)"))
    for value, shown in values:
        fails(TypeError, f"{parameter.name}: {expected}{shown}$", parameter.call, value)


@parameters(*VECTORS)
def test_not_an_integer(parameter: Parameter) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for value, shown in bad_values.NOT_INTEGERS:
        message = f"{parameter.name}, {parameter.place} 1: expected an integer, got {shown}$"
        for bad in ((2, value, 3), [2, value, 3]):
            fails(TypeError, message, parameter.call, bad)
    for value in (2.0, "2", None, True, (2,)) if parameter in bad_values.AXIS_SETS else ():
        message = rf"{parameter.name}: expected an integer, got .* \({type(value).__name__}\)$"
        fails(TypeError, message, parameter.call, {value, 0})


@parameters(*bad_values.SHAPES)
def test_negative_size(parameter: Parameter) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for value, shown in bad_values.NEGATIVE:
        message = f"{parameter.name}, axis 1: expected a size of at least 0, got {shown}$"
        for bad in ((3, value, -1), [3, value, -1]):
            fails(ValueError, message, parameter.call, bad)
        if abs(value) < 100:
            fails(ValueError, message, parameter.call, np.array([3, value, -1], np.int16))


def test_arguments_of_f() -> None:
    """[E_Broadcast_any_Derived_150]"""
    for value, shown in bad_values.NOT_INTEGERS:
        for name, arguments in (("a", (value, 1, 1)), ("b", (0, value, 1)), ("c", (0, 1, value))):
            fails(TypeError, f"{name}: expected an integer, got {shown}$", f, *arguments)
    for name, arguments in (("b", (0, -2, 1)), ("c", (0, 1, -2))):
        fails(ValueError, f"{name}: expected a size of at least 0, got -2$", f, *arguments)
    assert f(-2, 3, 3) == -2


def test_source_index_outside_and_of_another_rank() -> None:
    for index in ((), (0,), (0, 0, 0)):
        message = rf"index: expected 2 indices, one for each axis of target, got {len(index)}$"
        fails(ValueError, message, source_index, (3,), (2, 3), index)
    for value, shown in (*bad_values.NEGATIVE, (4, "4")):
        shown = shown.partition(";")[0]
        message = f"expected at least 0 and less than the target's size 4, got {shown}$"
        fails(IndexError, f"index, axis 1: {message}", source_index, (4,), (3, 4), (0, value))


VARIADIC: list[tuple[Any, str, Any]] = [
    *(
        (function, "shape", shapes)
        for function in (broadcast_shapes, whycast.compatible, whycast.plan)
        for shapes in ([(3, 1), (4,)], ([3],), [(), ()], (np.array([3]), (4,)))
    ),
    (broadcast, "tensor", [np.zeros(2), np.zeros((3, 1))]),
]


def test_all_in_one() -> None:
    for function, noun, several in VARIADIC:
        message = f"argument 0: expected a {noun}, got a {type(several).__name__} of {len(several)}"
        call = rf"{function.__name__}\(\*{noun}s\)"
        fails(TypeError, f"{message}; pass them one by one: {call}$", function, several)
    # A list beside other arguments counts as a tensor.
    message = r"argument 1: expected a numpy.ndarray or a NumPy scalar, got "
    fails(TypeError, message, broadcast, np.zeros(2), [np.zeros(2), np.zeros((3, 1))])


def test_number_of_tensors() -> None:
    """Memory lacks room for more arguments than SONNX admits: the test calls the check itself.

    [E_Broadcast_any_Signature_020] [E_Broadcast_any_Signature_030]
    """
    for function, noun, _ in VARIADIC:
        fails(ValueError, rf"no {noun} given: expected at least 1$", function)
    check_count(2147483647, "shape")
    message = "2147483648 arrays given: SONNX admits at most 2147483647$"
    fails(ValueError, message, check_count, 2147483648, "array")


@parameters(*bad_values.TENSORS)
def test_not_an_array(parameter: Parameter) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for value, message in bad_values.NOT_ARRAYS:
        fails(TypeError, f"{parameter.name}: {message}$", parameter.call, value)


@parameters(*bad_values.LOOSE_TENSORS, *bad_values.LOOSE_SHAPES)
def test_what_numpys_rule_would_lose(parameter: Parameter) -> None:
    for value, shown in bad_values.MEANINGFUL:
        fails(TypeError, f"{parameter.name}: expected .*, got {shown}$", parameter.call, value)
    # NumPy's own view of a masked array would lack the mask.
    for value in (np.ma.ones((2, 1)), np.ma.masked):
        message = "array: .*Masked.* may mean more"
        fails(TypeError, message, numpy_rule.broadcast_to, value, (2, 3), True)


HINT = "; whycast.numpy_rule.broadcast_arrays takes any dtype$"


@pytest.mark.parametrize(
    "dtype",
    [
        *("c8", "c16", "longdouble", "clongdouble", "M8[s]", "m8[s]", "S3", "V4", "i4,f4"),
        *("(2,)i4,f4", ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4),
    ],
)
def test_type_that_sonnx_does_not_have(dtype: Any) -> None:
    """[E_Broadcast_any_Types_010] [E_Broadcast_any_Derived_150]"""
    x = np.zeros(2, dtype)
    message = f"is not one of SONNX's types {re.escape(SONNX_TYPES)}{HINT}"
    shown = re.escape(str(x.dtype))
    fails(TypeError, f"argument 0: dtype {shown} {message}", broadcast, x)
    fails(TypeError, f"argument 0: dtype .* {message}", broadcast, x[0])
    subclass = np.recarray if x.dtype.names else np.matrix
    fails(TypeError, f"argument 0: dtype .* {message}", broadcast, x.view(subclass))
    fails(TypeError, f"argument 1: dtype {shown} {message}", broadcast, np.zeros(2), x)
    # Expand takes any type.
    assert onnx.expand(x, (3, 2)).dtype == x.dtype


def test_types_that_the_readme_names() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"`whycast.broadcast` takes SONNX's types: {SONNX_TYPES}." in " ".join(readme.split())
    *names, string = SONNX_TYPES.partition(" (")[0].split(", ")
    assert {np.dtype(kind).name for kind in PLAIN_TYPES} == {*names, np.dtype(string[:3]).name}


@pytest.mark.parametrize("stranger", [1, None, 2.5, b"bytes", np.nan, ["a"]], ids=repr)
def test_object_array_with_an_element_that_is_no_string(stranger: object) -> None:
    x = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    x[1, 0] = stranger
    message = r"argument 1: dtype object is a SONNX type only if every element is a str, got .* at "
    name = rf"\({type(stranger).__name__}\)"
    for array, index in ((x, r"\(1, 0\)"), (x.T, r"\(0, 1\)"), (x[::-1], r"\(0, 0\)")):
        pattern = message.replace(".*", rf".* {name}") + index + HINT
        fails(TypeError, pattern, broadcast, np.zeros(()), array)
    fails(TypeError, message, broadcast, np.zeros(()), np.broadcast_to(x, (4, 2, 3)))


def test_object_arrays_of_strings() -> None:
    """[E_Broadcast_any_Types_010]"""
    for x in (np.array(["a", np.str_("b")], object), np.empty((0, 3), object)):
        (z,) = whycast.broadcast(x)
        assert z.dtype == np.dtype(object)


def test_unknown_mode() -> None:
    """[E_OpenvinoBroadcast_any_Modes_010]"""
    values = (1, b"numpy", ["numpy"], np.array("numpy"), True, "", "NUMPY", "pdpd")
    for function, value, axes in product(OF_OPENVINO, values, (None, [0, 1])):
        message = rf"mode: expected a str, got .*\({type(value).__name__}\)$"
        if isinstance(value, str):
            message = "mode: expected one of 'numpy', 'explicit', 'bidirectional', got "
        error = ValueError if isinstance(value, str) else TypeError
        fails(error, message, function, X, (2, 3), axes, value)


def test_third_input_where_it_does_not_belong_or_is_missing() -> None:
    """[E_OpenvinoBroadcast_any_Inputs_050]"""
    for function in OF_OPENVINO:
        for mode in ("numpy", "bidirectional", None):
            message = f"axes_mapping: mode '{mode or 'numpy'}' expects none, got "
            for axes in ([0, 1], (), [5], np.array([0, 1])):
                fails(ValueError, message, function, X, (2, 3), axes, mode)
            message = "axes_mapping: expected a sequence of integers or "
            for value in (7, "x"):
                fails(TypeError, message, function, X, (2, 3), value, mode)
        message = "axes_mapping: mode 'explicit' expects it, got none$"
        for x, target in ((X, (2, 3)), (np.zeros(()), ())):
            fails(ValueError, message, function, x, target, None, "explicit")


def test_shapes_of_any_integers_in_any_sequence() -> None:
    """NumPy integers become Python ints, which cannot wrap around; results contain Python ints."""

    class Named(tuple[SupportsIndex, ...]):
        """A user's own type of shapes."""

    for code in ("i1", ">u2", "i4", "i8", "u8"):
        kind = np.dtype(code).type
        array = np.array([100, 3, 1, 1], code)[::2]
        shapes: list[Any] = [(kind(100), 1), [kind(100), 1], Named((kind(100), 1)), array]
        for shape in shapes:
            common = whycast.broadcast_shapes(shape, [kind(1), 100], range(100, 101), ())
            strides = whycast.broadcast_strides(shape, array, (100, 100))
            index = whycast.source_index(shape, (100, 100), np.array([99, 4], code))
            assert (common, strides, index) == ((100, 100), (100, 0), (99, 0))
            assert {type(number) for number in (*common, *strides, *index)} == {int}
    assert whycast.broadcast_shapes(np.array([], int), (np.uint64(2**64 - 1),)) == (2**64 - 1,)
    assert type(whycast.f(np.int8(3), np.uint8(5), 5)) is int
    error = fails(whycast.BroadcastError, "", broadcast_shapes, (np.int64(3),), (np.int64(5),))
    assert {type(value) for value in vars(error).values()} == {int, tuple, type(None)}
