"""Checks of what a caller passes: each names the argument and the axis, and says what it expected.

The kernel is proved for shapes of non-negative Python ints. These functions let nothing else
through to it; they compute nothing that the kernel computes.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Sequence, Set
from typing import Any, SupportsIndex, TypeAlias, TypeGuard, TypeVar

import numpy as np

from whycast._errors import Shape, show_int

# L + 1 tensors with L < 2**31 - 1.
MAX_TENSORS = 2**31 - 1

# What specifications call a one-dimensional tensor of integers.
Integers: TypeAlias = (
    "Sequence[SupportsIndex] | np.ndarray[tuple[int, ...], np.dtype[np.integer[Any]]]"
)

DTypeT = TypeVar("DTypeT", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]")

# The scalar types of SONNX's element types but for the strings that need a closer look. int64 and
# uint64 have two C types each on most machines (long, long long); NumPy treats them as equal.
PLAIN_TYPES: frozenset[type[np.generic]] = frozenset(
    {
        *(np.bool_, np.str_, np.float16, np.float32, np.float64),
        *(np.int8, np.int16, np.int32, np.int64, np.intc, np.long, np.longlong),
        *(np.uint8, np.uint16, np.uint32, np.uint64, np.uintc, np.ulong, np.ulonglong),
    }
)
_SONNX_TYPES = (
    "float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, "
    "string (str_, StringDType, or object with str elements only)"
)


def check_count(count: int, noun: str) -> None:
    """Demand between 1 and 2**31 - 1 tensors.

    Clauses: [E_Broadcast_any_Signature_020] [E_Broadcast_any_Signature_030]

    >>> check_count(0, "shape")
    Traceback (most recent call last):
    ValueError: no shape given: expected at least 1
    """
    if count == 0:
        raise ValueError(f"no {noun} given: expected at least 1")
    if count > MAX_TENSORS:
        raise ValueError(f"{count} {noun}s given: SONNX admits at most {MAX_TENSORS}")


def as_int(value: object, name: str) -> int:
    """Return an integer, NumPy's included, as a Python int; refuse a bool.

    >>> as_int(2.0, "a")
    Traceback (most recent call last):
    TypeError: a: expected an integer, got 2.0 (float)
    """
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise TypeError(f"{name}: expected an integer, got {show(value)}")


def as_size(value: object, name: str) -> int:
    """Return the size of an axis as a Python int.

    >>> as_size(-1, "argument 0, axis 2")
    Traceback (most recent call last):
    ValueError: argument 0, axis 2: expected a size of at least 0, got -1
    """
    size = as_int(value, name)
    if size < 0:
        raise ValueError(f"{name}: expected a size of at least 0, got {show_int(size)}")
    return size


def as_shape(value: object, name: str) -> Shape:
    """Return a sequence of sizes as a tuple of Python ints.

    >>> as_shape([2, np.int8(3)], "target")
    (2, 3)
    >>> as_shape(3, "target")
    Traceback (most recent call last):
    TypeError: target: expected a shape, got 3 (int); write (3,)
    """
    return tuple(
        as_size(size, f"{name}, axis {axis}")
        for axis, size in enumerate(_as_sequence(value, name, "shape"))
    )


def as_shapes(values: tuple[object, ...]) -> tuple[Shape, ...]:
    """Return the arguments of a variadic function as shapes; they are named by their number."""
    if are_exact(values):
        return values
    return tuple([as_shape(value, f"argument {m}") for m, value in enumerate(values)])


def are_exact(values: tuple[object, ...]) -> TypeGuard[tuple[Shape, ...]]:
    """Whether all values are tuples of Python ints of at least 0, as in almost every call."""
    # This loop calls nothing but type: it has to keep up with the kernel.
    for shape in values:
        if type(shape) is not tuple:
            return False
        for size in shape:
            if type(size) is not int or size < 0:
                return False
    return True


def as_index(value: object, name: str) -> tuple[int, ...]:
    """Return a multi-index as a tuple of Python ints of either sign.

    >>> as_index((0, None), "index")
    Traceback (most recent call last):
    TypeError: index, axis 1: expected an integer, got None (NoneType)
    """
    return tuple(
        as_int(entry, f"{name}, axis {axis}")
        for axis, entry in enumerate(_as_sequence(value, name, "multi-index"))
    )


def as_target(value: object, name: str) -> Shape:
    """Return sizes, in a sequence or an array of one dimension, as a tuple of Python ints.

    >>> as_target(np.array([2, 3], np.uint8), "target_shape")
    (2, 3)
    >>> as_target((2, -1), "target_shape")
    Traceback (most recent call last):
    ValueError: target_shape, axis 1: expected a size of at least 0, got -1; -1 has no special \
meaning here
    """
    sizes = _as_integers(value, name, "axis")
    for axis, size in enumerate(sizes):
        if size < 0:
            hint = "; -1 has no special meaning here" if size == -1 else ""
            raise ValueError(
                f"{name}, axis {axis}: expected a size of at least 0, got {show_int(size)}{hint}"
            )
    return sizes


def as_axes(value: object, name: str) -> tuple[int, ...]:
    """Return axes, in a sequence or an array of one dimension, as a tuple of Python ints.

    That they increase and are axes of the target is left to the kernel.

    >>> as_axes([1, "2"], "axes_mapping")
    Traceback (most recent call last):
    TypeError: axes_mapping, position 1: expected an integer, got '2' (str)
    """
    return _as_integers(value, name, "position")


def as_axis_set(value: object, name: str) -> tuple[int, ...]:
    """Return axes as a tuple of Python ints, those of a set in increasing order.

    >>> as_axis_set({3, 1}, "broadcast_axes")
    (1, 3)
    """
    if isinstance(value, Set):
        return tuple(sorted([as_int(axis, name) for axis in value]))
    return _as_integers(value, name, "position", or_else="a set of integers, ")


def as_array(
    array: np.ndarray[tuple[int, ...], DTypeT], name: str
) -> np.ndarray[tuple[int, ...], DTypeT]:
    """Return an array of any type as a plain ndarray on the same memory.

    >>> as_array([1, 2], "data")
    Traceback (most recent call last):
    TypeError: data: expected a numpy.ndarray, got [1, 2] (list); numpy.asarray makes one
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"{name}: expected a numpy.ndarray, got {show(array)}; numpy.asarray makes one"
        )
    # Not array.view(): a subclass may have given its own meaning to that and to the attributes.
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)


def as_tensor(
    array: np.ndarray[tuple[int, ...], DTypeT], name: str
) -> np.ndarray[tuple[int, ...], DTypeT]:
    """Return an array of one of SONNX's types as a plain ndarray on the same memory.

    Clause: [E_Broadcast_any_Types_010]

    >>> as_tensor(np.zeros(2, np.complex64), "argument 1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: argument 1: dtype complex64 is not one of SONNX's types float16, ...
    """
    plain = as_array(array, name)
    dtype = plain.dtype
    if dtype.type is np.object_:
        _check_strings(plain, name)
    elif dtype.type not in PLAIN_TYPES and not isinstance(dtype, np.dtypes.StringDType):
        raise TypeError(f"{name}: dtype {dtype} is not one of SONNX's types {_SONNX_TYPES}")
    return plain


def _check_strings(array: np.ndarray[tuple[int, ...], DTypeT], name: str) -> None:
    # Along an axis of stride 0 there is one element in memory, however often it is repeated.
    stored = array[tuple([slice(None, None if stride else 1) for stride in array.strides])]
    for index, element in np.ndenumerate(stored):
        if not isinstance(element, str):
            raise TypeError(
                f"{name}: dtype object is a SONNX type only if every element is a str, "
                f"got {show(element)} at {index}"
            )


def _as_integers(value: object, name: str, place: str, or_else: str = "") -> tuple[int, ...]:
    values = (value,)
    if are_exact(values):
        return values[0]
    if _is_sequence(value):
        return tuple([as_int(entry, f"{name}, {place} {k}") for k, entry in enumerate(value)])
    shown = show(value) + _hint_for_int(value)
    if isinstance(value, np.ndarray):
        array = np.ndarray.view(value, np.ndarray)
        if array.ndim == 1 and array.dtype.kind in "iu":
            return tuple(array.tolist())
        shown = f"an array of shape {array.shape} and dtype {array.dtype}"
    raise TypeError(
        f"{name}: expected {or_else}a sequence of integers or a one-dimensional array of an "
        f"integer dtype, got {shown}"
    )


def _as_sequence(value: object, name: str, noun: str) -> Sequence[object]:
    if _is_sequence(value):
        return value
    hint = _hint_for_int(value)
    if isinstance(value, np.ndarray):
        hint = "; write array.shape for its shape, tuple(array) for its elements"
    raise TypeError(f"{name}: expected a {noun}, got {show(value)}{hint}")


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(
        value, (str, bytes, bytearray, memoryview)
    )


def _hint_for_int(value: object) -> str:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return f"; write ({show_int(int(value))},)"
    return ""


def show(value: object) -> str:
    kind = type(value).__name__
    if isinstance(value, int):
        return f"{value if isinstance(value, bool) else show_int(value)} ({kind})"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} ({kind})"
    try:
        return f"{reprlib.repr(value)} ({kind})"
    except ValueError:
        # Python refuses to print an int of more than some thousand digits, in a list for instance.
        return f"an object ({kind})"
