"""Bad input: an error of a documented type that names argument and axis, and nothing changes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import SupportsIndex

import numpy as np
import pytest
from bad_values import (
    NEGATIVE,
    NOT_ARRAYS,
    NOT_INTEGERS,
    NOT_VECTORS,
    VECTOR,
    Caller,
    fails,
    state,
)

import whycast
from whycast import lax, ngraph, onnx, reference
from whycast._checks import MAX_TENSORS, check_count

# Under a looser type: the checker must not keep us from passing what has to be refused.
broadcast: Caller = vars(whycast)["broadcast"]
broadcast_shapes: Caller = vars(whycast)["broadcast_shapes"]
broadcast_strides: Caller = vars(whycast)["broadcast_strides"]
compatible: Caller = vars(whycast)["compatible"]
sum_to_shape: Caller = vars(whycast)["sum_to_shape"]
f: Caller = vars(whycast)["f"]
source_index: Caller = vars(whycast)["source_index"]


@pytest.mark.parametrize(("value", "shown"), NOT_VECTORS)
def test_not_a_shape(value: object, shown: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    message = f"{VECTOR}{shown}$"
    for function in (broadcast_shapes, compatible):
        fails(TypeError, f"argument 0: {message}", function, value)
        fails(TypeError, f"argument 2: {message}", function, (3,), [1, 3], value, (4,))
    fails(TypeError, f"shape: {message}", source_index, value, (3,), (0,))
    fails(TypeError, f"target: {message}", source_index, (3,), value, (0,))
    fails(TypeError, f"index: {message}", source_index, (3,), (3,), value)
    fails(TypeError, f"shape: {message}", broadcast_strides, value, (8,), (3,))
    fails(TypeError, f"strides: {message}", broadcast_strides, (3,), value, (3,))
    fails(TypeError, f"target: {message}", broadcast_strides, (3,), (8,), value)
    fails(TypeError, f"shape: {message}", sum_to_shape, np.zeros(3), value)


@pytest.mark.parametrize("make", [list, tuple])
@pytest.mark.parametrize("shapes", [[(3, 1), (4,)], [[3]], [(), ()], [np.array([3]), (4,)]])
def test_shapes_all_in_one(make: Callable[[object], object], shapes: list[object]) -> None:
    kind = make.__name__
    for function, name in ((broadcast_shapes, "broadcast_shapes"), (compatible, "compatible")):
        message = rf"argument 0: expected a shape, got a {kind} of {len(shapes)}; pass them one by "
        fails(TypeError, rf"{message}one: {name}\(\*shapes\)$", function, make(shapes))


@pytest.mark.parametrize("make", [list, tuple])
def test_arrays_all_in_one(make: Callable[[object], object]) -> None:
    message = rf"argument 0: expected a tensor, got a {make.__name__} of 2; pass them one by one: "
    arrays = make([np.zeros(2), np.zeros((3, 1))])
    fails(TypeError, rf"{message}broadcast\(\*tensors\)$", broadcast, arrays)
    # Where there are others it is one of them.
    message = r"argument 1: expected a numpy.ndarray or a NumPy scalar, got "
    fails(TypeError, message, broadcast, np.zeros(2), arrays)


def fails_as_size(error: type[Exception], message: str, value: object) -> None:
    """Demand the error wherever a size is taken, in tuples and in lists."""
    for make in (tuple, list):
        bad = make([3, value, 4])
        for function in (broadcast_shapes, compatible):
            fails(error, f"argument 0, axis 1: {message}", function, bad)
            fails(error, f"argument 2, axis 1: {message}", function, (4,), make([3, 4]), bad)
            fails(error, f"argument 0, axis 0: {message}", function, make([value]), bad)
        fails(error, f"shape, axis 1: {message}", broadcast_strides, bad, (1, 1, 1), (3, 3, 4))
        fails(error, f"target, axis 1: {message}", broadcast_strides, (4,), (8,), bad)
        fails(error, f"shape, axis 1: {message}", sum_to_shape, np.zeros((3, 3, 4)), bad)
        fails(error, f"shape, axis 1: {message}", source_index, bad, (3, 3, 4), (0, 0, 0))
        fails(error, f"target, axis 1: {message}", source_index, (4,), bad, (0, 0, 0))
    fails(error, f"b: {message}", f, 0, value, 1)
    fails(error, f"c: {message}", f, 0, 1, value)


@pytest.mark.parametrize(("value", "shown"), NOT_INTEGERS)
def test_not_an_integer(value: object, shown: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    message = f"expected an integer, got {shown}$"
    fails_as_size(TypeError, message, value)
    fails(TypeError, f"index, axis 1: {message}", source_index, (4,), (3, 4), (0, value))
    fails(TypeError, f"strides, axis 1: {message}", broadcast_strides, (1, 4), (0, value), (4,))
    fails(TypeError, f"a: {message}", f, value, 1, 1)


@pytest.mark.parametrize(("value", "shown"), NEGATIVE)
def test_negative(value: int, shown: str) -> None:
    """As a size it is no shape; as an index it is an integer, though one outside of any shape.

    [E_Broadcast_any_Derived_150]
    """
    fails_as_size(ValueError, f"expected a size of at least 0, got {shown}$", value)
    shown = shown.partition(";")[0]
    message = f"expected at least 0 and less than the target's size 4, got {shown}$"
    fails(IndexError, f"index, axis 1: {message}", source_index, (4,), (3, 4), (0, value))
    assert f(value, 2, 2) == value


def test_source_index_with_ranks_that_do_not_fit() -> None:
    for index in ((), (0,), (0, 0, 0)):
        message = r"target: expected a rank of at least 2, that of shape, got 1$"
        fails(ValueError, message, source_index, (1, 3), (3,), index)
    for index in ((), (0,), (0, 0, 0)):
        fails(
            ValueError,
            rf"index: expected 2 indices, one for each axis of target, got {len(index)}$",
            *(source_index, (3,), (2, 3), index),
        )


@pytest.mark.parametrize(
    ("index", "axis", "size", "value"), [((2, 0), 0, 2, 2), ((1, 3), 1, 3, 3), ((0, -1), 1, 3, -1)]
)
def test_source_index_outside(index: tuple[int, ...], axis: int, size: int, value: int) -> None:
    message = f"expected at least 0 and less than the target's size {size}, got {value}$"
    fails(IndexError, f"index, axis {axis}: {message}", source_index, (3,), (2, 3), index)


def test_nothing_given() -> None:
    """[E_Broadcast_any_Signature_020]"""
    fails(ValueError, r"no shape given: expected at least 1$", broadcast_shapes)
    fails(ValueError, r"no tensor given: expected at least 1$", broadcast)
    fails(ValueError, r"no shape given: expected at least 1$", compatible)


def test_number_of_tensors() -> None:
    """As many arguments as SONNX refuses do not fit into memory: the check stands alone.

    [E_Broadcast_any_Signature_020] [E_Broadcast_any_Signature_030]
    """
    assert MAX_TENSORS == 2147483647
    check_count(1, "shape")
    check_count(MAX_TENSORS, "shape")
    for count in (MAX_TENSORS + 1, 2**40):
        with pytest.raises(
            ValueError, match=rf"^{count} arrays given: SONNX admits at most 2147483647$"
        ):
            check_count(count, "array")


@pytest.mark.parametrize("function", [broadcast, broadcast_shapes])
def test_number_of_tensors_is_checked(function: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """[E_Broadcast_any_Signature_030]"""
    monkeypatch.setattr("whycast._checks.MAX_TENSORS", 2)
    # The accelerator takes fewer than that at once anyway.
    monkeypatch.setattr("whycast._accelerator.broadcast_shapes", lambda _: None)
    arguments = [np.zeros(3) if function is broadcast else (3,)] * 3
    function(*arguments[:2])
    fails(ValueError, r"3 (tensor|shape)s given: SONNX admits at most 2$", function, *arguments)


@pytest.mark.parametrize(("value", "message"), NOT_ARRAYS)
def test_not_an_array(value: object, message: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    fails(TypeError, f"argument 0: {message}$", broadcast, value)
    fails(TypeError, f"argument 2: {message}$", broadcast, np.zeros(2), np.zeros(2), value)


HINT = "; whycast.numpy_rule broadcasts any dtype$"


@pytest.mark.parametrize(
    "dtype",
    ["c8", "c16", "longdouble", "clongdouble", "M8[s]", "m8[s]", "S3", "V4", "i4,f4", "(2,)i4,f4"],
)
def test_type_that_sonnx_does_not_have(dtype: str) -> None:
    """[E_Broadcast_any_Types_010] [E_Broadcast_any_Derived_150]"""
    x = np.zeros(2, dtype)
    message = f"is not one of SONNX's types float16, float32, .*{HINT}"
    shown = str(x.dtype).replace("[", r"\[").replace("(", r"\(").replace(")", r"\)")
    shown = shown.replace("|", r"\|")
    fails(TypeError, f"argument 0: dtype {shown} {message}", broadcast, x)
    fails(TypeError, f"argument 1: dtype {shown} {message}", broadcast, np.zeros(2), x)


def test_type_of_a_subclass_is_checked() -> None:
    fails(TypeError, "argument 0: dtype", broadcast, np.zeros(2, "c8").view(np.matrix))
    fails(TypeError, "argument 0: dtype", broadcast, np.zeros(2, "i4,f4").view(np.recarray))


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


def test_integers_that_are_not_int() -> None:
    """They are computed with as Python ints: no wrap-around, no NumPy integer in the result."""
    kinds: list[type[np.integer]] = [
        np.int8,
        np.uint8,
        np.int16,
        np.uint16,
        np.int32,
        np.uint32,
        np.int64,
        np.uint64,
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


def test_inputs_are_untouched_by_failure() -> None:
    """[E_Broadcast_any_Derived_150]"""
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(4.0)[::-1], np.zeros(3, complex)]
    before = list(map(state, arrays))
    fails(whycast.BroadcastError, "shapes do not broadcast", broadcast, *arrays[:2])
    fails(TypeError, "argument 2", broadcast, *arrays)
    assert list(map(state, arrays)) == before

    shape: list[object] = [3, "x"]
    fails(TypeError, "argument 1, axis 1", broadcast_shapes, (2,), shape)
    assert shape == [3, "x"]


def test_repeated_failure_leaks_nothing() -> None:
    x, y = np.zeros((2, 3)), np.zeros((4, 1))
    failing: list[tuple[type[Exception], Callable[..., object], tuple[object, ...]]] = [
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
            fail_all(500)
            gc.collect()
            after = (tracemalloc.get_traced_memory()[0], len(gc.get_objects()))
            growth.append((after[0] - before[0], after[1] - before[1]))
    finally:
        tracemalloc.stop()
    # Caches, of attribute names for one, are filled now and then; a leak is there every time: one
    # object left behind by one of the calls is 500 objects, of 16 bytes at the least.
    assert min(memory for memory, _ in growth) < 500 * 16
    assert min(objects for _, objects in growth) < 500


def test_failure_holds_no_reference_to_the_arrays() -> None:
    x, y = np.zeros((2, 3)), np.zeros((4, 1))
    with pytest.raises(whycast.BroadcastError) as caught:
        whycast.broadcast(x, y)
    # Nor does an exception of the kernel that hangs on as its context.
    assert caught.value.__context__ is None
    assert not any(value is x or value is y for value in vars(caught.value).values())
