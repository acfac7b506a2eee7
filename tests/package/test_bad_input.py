"""Bad input: an error of a documented type that names parameter and axis, and nothing changes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np
import pytest
from bad_values import (
    AXES,
    AXIS_SETS,
    INTEGERS,
    LOOSE_SHAPES,
    NEGATIVE,
    NOT_ARRAYS,
    NOT_INTEGERS,
    NOT_VECTORS,
    SHAPES,
    TENSORS,
    VECTOR,
    Parameter,
    X,
    fails,
    parameters,
    state,
)

import whycast
from whycast import lax, ngraph, onnx, openvino, reference
from whycast._checks import MAX_TENSORS, check_count

# Under a looser type: the checker must not keep us from passing what has to be refused.
Function = Callable[..., Any]
broadcast: Function = vars(whycast)["broadcast"]
broadcast_shapes: Function = vars(whycast)["broadcast_shapes"]
compatible: Function = vars(whycast)["compatible"]
openvino_broadcast: Function = vars(openvino)["broadcast"]
source_index: Function = vars(whycast)["source_index"]
f: Function = vars(whycast)["f"]


# Integers


@parameters(*SHAPES, *INTEGERS, *AXES, *AXIS_SETS)
def test_not_a_vector_of_integers(parameter: Parameter) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_020] [E_OpenvinoBroadcast_any_Inputs_030]
    [E_NgraphBroadcast_any_Attributes_020] [E_Broadcast_any_Derived_150]
    """
    expected = VECTOR
    if parameter in AXIS_SETS:
        expected = VECTOR.replace("expected ", "expected a set of integers, ")
    values = [*NOT_VECTORS]
    if parameter.name != "axes_mapping":
        values.append((None, r"None \(NoneType\)"))
    if parameter not in AXIS_SETS:
        values.append(({2, 3}, r"\{2, 3\} \(set\)"))
    for value, shown in values:
        fails(TypeError, f"{parameter.name}: {expected}{shown}$", parameter.call, value)


@parameters(*SHAPES, *INTEGERS, *AXES, *AXIS_SETS)
def test_not_an_integer(parameter: Parameter) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for value, shown in NOT_INTEGERS:
        message = f"{parameter.name}, {parameter.place} 1: expected an integer, got {shown}$"
        for bad in ((2, value, 3), [2, value, 3]):
            fails(TypeError, message, parameter.call, bad)


@parameters(*AXIS_SETS)
@pytest.mark.parametrize("value", [2.0, "2", None, True, np.False_, (2,)], ids=repr)
def test_not_an_integer_in_a_set(parameter: Parameter, value: object) -> None:
    message = rf"{parameter.name}: expected an integer, got .* \({type(value).__name__}_?\)$"
    fails(TypeError, message, parameter.call, {value, 0} if value is not np.False_ else {value})


@parameters(*SHAPES)
def test_negative_size(parameter: Parameter) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for value, shown in NEGATIVE:
        message = f"{parameter.name}, axis 1: expected a size of at least 0, got {shown}$"
        for bad in ((3, value, -1), [3, value, -1]):
            fails(ValueError, message, parameter.call, bad)
        if abs(value) < 100:
            fails(ValueError, message, parameter.call, np.array([3, value, -1], np.int16))


def test_arguments_of_f() -> None:
    """As a size a negative one is refused, as an index it is an integer.

    [E_Broadcast_any_Derived_150]
    """
    for value, shown in NOT_INTEGERS:
        for name, arguments in (("a", (value, 1, 1)), ("b", (0, value, 1)), ("c", (0, 1, value))):
            fails(TypeError, f"{name}: expected an integer, got {shown}$", f, *arguments)
    for name, arguments in (("b", (0, -2, 1)), ("c", (0, 1, -2))):
        fails(ValueError, f"{name}: expected a size of at least 0, got -2$", f, *arguments)
    assert f(-2, 3, 3) == -2


@parameters(*LOOSE_SHAPES)
def test_no_shape_by_the_rule_of_numpy(parameter: Parameter) -> None:
    no_vector: list[tuple[object, str]] = [(None, "None"), (True, "True"), (2.5, "2.5")]
    if parameter is LOOSE_SHAPES[0]:
        # What has no order: as to broadcast_to, NumPy takes it.
        no_vector += [({3, 2}, r"\{2, 3\}"), ({3: 2}, ".*"), (iter((3, 2)), ".*")]
    for value, shown in no_vector:
        message = f"expected an integer or a sequence of integers, got {shown}"
        fails(
            TypeError,
            rf"{parameter.name}: {message} \({type(value).__name__}\)$",
            *(parameter.call, value),
        )
    size = "expected a size of at least 0, got"
    for value, error, message in (
        (-1, ValueError, f": {size} -1; -1 has no special meaning here$"),
        ([1, "2"], TypeError, r", axis 1: expected an integer, got '2' \(str\)$"),
        ([1, 2.0, 3], TypeError, r", axis 1: expected an integer, got 2.0 \(float\)$"),
        ((1, [10**5000]), TypeError, r", axis 1: expected an integer, got an object \(list\)$"),
        ((1, -(10**5000)), ValueError, rf", axis 1: {size} -2\*\*16609\+$"),
    ):
        fails(error, f"{parameter.name}{message}", parameter.call, value)


def test_source_index_outside_and_of_another_rank() -> None:
    for index in ((), (0,), (0, 0, 0)):
        message = r"target: expected a rank of at least 2, that of shape, got 1$"
        fails(ValueError, message, source_index, (1, 3), (3,), index)
        message = rf"index: expected 2 indices, one for each axis of target, got {len(index)}$"
        fails(ValueError, message, source_index, (3,), (2, 3), index)
    for value, shown in (*NEGATIVE, (4, "4")):
        shown = shown.partition(";")[0]
        message = f"expected at least 0 and less than the target's size 4, got {shown}$"
        fails(IndexError, f"index, axis 1: {message}", source_index, (4,), (3, 4), (0, value))


# How many arguments, and how they are given


@pytest.mark.parametrize("make", [list, tuple])
def test_all_in_one(make: Callable[[object], Any]) -> None:
    kind = make.__name__
    several: list[list[object]] = [[(3, 1), (4,)], [[3]], [(), ()], [np.array([3]), (4,)]]
    for shapes in several:
        message = rf"argument 0: expected a shape, got a {kind} of {len(shapes)}; pass them one by "
        fails(TypeError, rf"{message}one: broadcast_shapes\(\*sh", broadcast_shapes, make(shapes))
        fails(TypeError, rf"{message}one: compatible\(\*shapes\)$", compatible, make(shapes))
    message = rf"argument 0: expected a tensor, got a {kind} of 2; pass them one by one: "
    arrays = make([np.zeros(2), np.zeros((3, 1))])
    fails(TypeError, rf"{message}broadcast\(\*tensors\)$", broadcast, arrays)
    # Where there are others it is one of them.
    message = r"argument 1: expected a numpy.ndarray or a NumPy scalar, got "
    fails(TypeError, message, broadcast, np.zeros(2), arrays)


def test_number_of_tensors() -> None:
    """As many arguments as SONNX refuses do not fit into memory: the check stands alone.

    [E_Broadcast_any_Signature_020] [E_Broadcast_any_Signature_030]
    """
    for function, noun in (
        (broadcast_shapes, "shape"),
        (compatible, "shape"),
        (broadcast, "tensor"),
    ):
        fails(ValueError, rf"no {noun} given: expected at least 1$", function)
    assert MAX_TENSORS == 2147483647
    check_count(1, "shape")
    check_count(MAX_TENSORS, "shape")
    for count in (MAX_TENSORS + 1, 2**40):
        message = rf"{count} arrays given: SONNX admits at most 2147483647$"
        fails(ValueError, message, check_count, count, "array")


@pytest.mark.parametrize("function", [broadcast, broadcast_shapes])
def test_number_of_tensors_is_checked(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    """[E_Broadcast_any_Signature_030]"""
    monkeypatch.setattr("whycast._checks.MAX_TENSORS", 2)
    # The accelerator takes fewer than that at once anyway.
    monkeypatch.setattr("whycast._accelerator.broadcast_shapes", lambda _: None)
    arguments = [np.zeros(3) if function is broadcast else (3,)] * 3
    function(*arguments[:2])
    fails(ValueError, r"3 (tensor|shape)s given: SONNX admits at most 2$", function, *arguments)


# Tensors


@parameters(*TENSORS)
def test_not_an_array(parameter: Parameter) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for value, message in NOT_ARRAYS:
        fails(TypeError, f"{parameter.name}: {message}$", parameter.call, value)


@pytest.mark.parametrize("value", [(1, 2), np.zeros(2), "ab", None, iter([1, 2]), {1, 2}])
def test_not_a_list(value: object) -> None:
    message = rf"data: expected a list, got .*\({type(value).__name__}\)$"
    fails(TypeError, message, vars(reference)["broadcast"], value, (2,), (2,))


HINT = "; whycast.numpy_rule broadcasts any dtype$"


@pytest.mark.parametrize(
    "dtype",
    ["c8", "c16", "longdouble", "clongdouble", "M8[s]", "m8[s]", "S3", "V4", "i4,f4", "(2,)i4,f4"],
)
def test_type_that_sonnx_does_not_have(dtype: str) -> None:
    """Of a scalar, too, and of a subclass.

    [E_Broadcast_any_Types_010] [E_Broadcast_any_Derived_150]
    """
    x = np.zeros(2, dtype)
    message = f"is not one of SONNX's types float16, float32, .*{HINT}"
    shown = str(x.dtype).replace("[", r"\[").replace("(", r"\(").replace(")", r"\)")
    shown = shown.replace("|", r"\|")
    fails(TypeError, f"argument 0: dtype {shown} {message}", broadcast, x)
    fails(TypeError, f"argument 0: dtype .* {message}", broadcast, x[0])
    subclass = np.recarray if x.dtype.names else np.matrix
    fails(TypeError, f"argument 0: dtype .* {message}", broadcast, x.view(subclass))
    fails(TypeError, f"argument 1: dtype {shown} {message}", broadcast, np.zeros(2), x)
    # Others take any type.
    assert onnx.expand(x, (3, 2)).dtype == x.dtype


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
    """Elements of subclasses of str are strings, and an array without elements has no other.

    [E_Broadcast_any_Types_010]
    """
    for x in (np.array(["a", np.str_("b")], object), np.empty((0, 3), object)):
        (z,) = whycast.broadcast(x)
        assert z.dtype == np.dtype(object)


# Modes


@pytest.mark.parametrize("value", [1, b"numpy", ["numpy"], np.array("numpy"), True])
def test_mode_that_is_no_string(value: object) -> None:
    """[E_OpenvinoBroadcast_any_Modes_010]"""
    message = rf"mode: expected a str, got .*\({type(value).__name__}\)$"
    fails(TypeError, message, openvino_broadcast, X, (2, 3), None, value)


@pytest.mark.parametrize("value", ["", "NUMPY", "numpy ", "pdpd", "Explicit"])
def test_unknown_mode(value: str) -> None:
    """[E_OpenvinoBroadcast_any_Modes_010]"""
    message = f"mode: expected one of 'numpy', 'explicit', 'bidirectional', got {value!r}$"
    for function in (openvino_broadcast, vars(openvino)["broadcast_adjoint"]):
        fails(ValueError, message, function, X, (2, 3), None, value)
        fails(ValueError, message, function, X, (2, 3), [0, 1], value)


def test_third_input_where_it_does_not_belong_or_is_missing() -> None:
    """[E_OpenvinoBroadcast_any_Inputs_050]"""
    for function in (openvino_broadcast, vars(openvino)["broadcast_adjoint"]):
        for mode in ("numpy", "bidirectional", None):
            for axes in ([0, 1], (), [5], np.array([0, 1])):
                message = f"axes_mapping: mode '{mode or 'numpy'}' expects none, got "
                fails(ValueError, message, function, X, (2, 3), axes, mode)
            for value in (7, "x"):
                message = "axes_mapping: expected a sequence of integers or "
                fails(TypeError, message, function, X, (2, 3), value, mode)
        message = "axes_mapping: mode 'explicit' expects it, got none$"
        for x, target in ((X, (2, 3)), (np.zeros(()), ())):
            fails(ValueError, message, function, x, target, None, "explicit")


# What is accepted


def test_integers_that_are_not_int() -> None:
    """They are computed with as Python ints: no wrap-around, no NumPy integer in the result."""
    kinds: list[type[np.integer]] = [
        *(np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
    ]
    for kind in kinds:
        hundred, one = kind(100), kind(1)
        result = whycast.broadcast_shapes((hundred, 1), [one, hundred])
        assert result == (100, 100)
        assert {type(size) for size in result} == {int}
    big = np.uint64(2**64 - 1)
    assert whycast.broadcast_shapes((big,), (1,), range(1, 2)) == (2**64 - 1,)
    assert type(whycast.f(np.int8(3), np.uint8(5), 5)) is int
    index = whycast.source_index([np.int8(5)], (np.uint8(2), 5), np.array([1, 4]).tolist())
    assert index == (4,)
    assert type(whycast.source_index((5,), (5,), (np.int64(4),))[0]) is int
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.broadcast_shapes((np.int64(3),), (np.int64(5),))
    assert {type(value) for value in vars(caught.value).values()} == {int, tuple, type(None)}


def test_shapes_of_any_sequence_type() -> None:
    class Named(tuple[SupportsIndex, ...]):
        """Shape of a type of its own."""

    for given_shape in (Named((3, 1)), Named((np.int8(3), 1)), [3, 1], range(3, 0, -2)):
        for shape in (
            whycast.broadcast_shapes(given_shape),
            whycast.broadcast_shapes((), given_shape),
        ):
            assert type(shape) is tuple
            assert (shape, {type(size) for size in shape}) == ((3, 1), {int})
    for code in ("i1", ">u2", "i8", "u8"):
        array = np.array([9, 3, 9, 1], code)[1::2]
        assert whycast.broadcast_shapes(array, [1, 4], range(4, 5), ()) == (3, 4)
        assert whycast.broadcast_strides(array, array, array) == (3, 1)
        assert whycast.source_index(array, (3, 4), np.array([2, 3], code)) == (2, 0)
    assert whycast.broadcast_shapes(np.array([], int), np.array([2])) == (2,)


# What stays as it was


def test_arguments_are_left_as_they_were() -> None:
    """[E_Broadcast_any_Derived_150]"""
    x = X[:, ::-1]
    target, axes, axis_set = [2, 4, 3], np.array([0, 2]), {1}
    arrays = [x, np.arange(4.0)[::-1], np.zeros(3, complex), axes]
    before = list(map(state, arrays))
    for _ in range(2):
        lax.broadcast_in_dim(x, target, axes)
        ngraph.broadcast(x, target, axis_set)
        ngraph.broadcast_adjoint(x, axis_set)
        fails(whycast.AxisSizeError, "operand", lax.broadcast_in_dim, x, [2, 4, 4], axes)
        fails(ValueError, "broadcast_axes: ", ngraph.broadcast, x, target, axis_set | {2})
        fails(whycast.BroadcastError, "shapes do not broadcast", broadcast, *arrays[:2])
        fails(TypeError, "argument 2", broadcast, *arrays)
    assert list(map(state, arrays)) == before
    assert (target, axis_set) == ([2, 4, 3], {1})
    shape: list[object] = [3, "x"]
    fails(TypeError, "argument 1, axis 1", broadcast_shapes, (2,), shape)
    assert shape == [3, "x"]


def test_repeated_failure_leaks_nothing() -> None:
    x, y = np.zeros((2, 3)), np.zeros((4, 1))
    failing: list[tuple[type[Exception], Function, tuple[object, ...]]] = [
        (whycast.BroadcastError, broadcast, (x, y)),
        (TypeError, broadcast, (x, x.astype(complex))),
        (TypeError, broadcast, (x, np.array([1], object))),
        (ValueError, broadcast, tuple(np.broadcast_to(0.0, s) for s in [(2**40, 1), (2**40,)])),
        (whycast.BroadcastError, broadcast_shapes, ((2, 3), (4, 1))),
        (TypeError, broadcast_shapes, ((2, None),)),
        (whycast.BroadcastError, source_index, ((2,), (3,), (0,))),
        (IndexError, source_index, ((3,), (3,), (3,))),
        (whycast.BroadcastError, onnx.expand, (x, (4, 1))),
        (whycast.AxisSizeError, lax.broadcast_in_dim, (x, (2, 4, 5), (0, 1))),
        (ValueError, lax.broadcast_in_dim, (x, (2, 3), (1, 1))),
        (whycast.BroadcastError, ngraph.broadcast, (y, (4, 2), set())),
        (TypeError, ngraph.broadcast_adjoint, (x > 0, {0})),
        (ValueError, reference.broadcast, ([1, 2], (3,), (3,))),
    ]

    def fail_all(times: int) -> None:
        for _ in range(times):
            for error, function, arguments in failing:
                try:
                    function(*arguments)
                except error:
                    pass
                else:
                    raise AssertionError(f"{function} did not fail")

    fail_all(100)
    growth = []
    tracemalloc.start()
    try:
        for _ in range(5):
            gc.collect()
            before = (tracemalloc.get_traced_memory()[0], len(gc.get_objects()))
            fail_all(300)
            gc.collect()
            after = (tracemalloc.get_traced_memory()[0], len(gc.get_objects()))
            growth.append((after[0] - before[0], after[1] - before[1]))
    finally:
        tracemalloc.stop()
    # Caches, of attribute names for one, are filled now and then; a leak is there every time: one
    # object left behind by one of the calls is 300 objects, of 16 bytes at the least.
    assert min(memory for memory, _ in growth) < 300 * 16
    assert min(objects for _, objects in growth) < 300
