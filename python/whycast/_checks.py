"""Checks of arguments: errors name the argument, any axis at fault and the expected value.

The checks return integers as Python ints, and only sizes of at least 0: for these the kernel is
proved.

Next: `_errors`.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable, Sequence, Set
from typing import Any, TypeGuard, cast

import numpy as np

from whycast._errors import show_int, show_shape
from whycast._types import AnyArray, Array, DTypeT, Shape, Tensor

MAX_TENSORS = 2**31 - 1

# SONNX's element types; str_ is the only type of strings here. On most machines int64 and uint64
# have two NumPy types each (long and longlong, ulong and ulonglong), whose dtypes are equal.
PLAIN_TYPES: frozenset[type[np.generic]] = frozenset(
    {
        *(np.bool_, np.str_, np.float16, np.float32, np.float64),
        *(np.int8, np.int16, np.int32, np.int64, np.intc, np.long, np.longlong),
        *(np.uint8, np.uint16, np.uint32, np.uint64, np.uintc, np.ulong, np.ulonglong),
    }
)
SONNX_TYPES = (
    "float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, "
    "string (str_, StringDType, or object with str elements only)"
)
_ANY_DTYPE = "whycast.numpy_rule.broadcast_arrays takes any dtype"

_GUESSES = {bool: "bool_", int: "int64", float: "float32", complex: "complex64", str: "str_"}

# Classes without meaning beyond their elements.
_PLAIN_CLASSES: tuple[type, ...] = (np.ndarray, np.matrix, np.memmap, np.recarray)
_PLAIN_CLASSES += (int, float, list, tuple)

# NumPy reads other libraries' arrays by these attributes.
_OFFERS = {"__array__", "__array_interface__"}

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _MOST_LETTERS = 60


def check_count(count: int, noun: str) -> None:
    """Raise a ValueError unless there are 1 to 2**31 - 1 tensors."""
    # [E_Broadcast_any_Signature_020] [E_Broadcast_any_Signature_030]
    if count == 0:
        raise ValueError(f"no {noun} given: expected at least 1")
    if count > MAX_TENSORS:
        raise ValueError(f"{count} {noun}s given: SONNX admits at most {MAX_TENSORS}")


def as_int(value: object, name: str) -> int:
    """Return an integer, also NumPy's, as a Python int; reject a bool."""
    hint = meaning_of(value) if isinstance(value, np.ndarray) else ""
    if not (hint or isinstance(value, (bool, np.bool_))):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise TypeError(f"{name}: expected an integer, got {show(value)}{hint}")


def as_size(value: object, name: str) -> int:
    size = as_int(value, name)
    if size < 0:
        hint = "; -1 has no special meaning here" if size == -1 else ""
        raise ValueError(f"{name}: expected a size of at least 0, got {show_int(size)}{hint}")
    return size


def as_shape(value: object, name: str) -> Shape:
    if is_exact(value):
        return value
    sizes = _integers_of(value, name)
    if is_exact(sizes):
        return sizes
    return tuple([as_size(size, f"{name}, axis {axis}") for axis, size in enumerate(sizes)])


def as_shapes(values: tuple[object, ...], function: str) -> tuple[Shape, ...]:
    check_count(len(values), "shape")
    if all(map(is_exact, values)):
        return cast("tuple[Shape, ...]", values)
    _refuse_all_in_one(values, "shape", function)
    return tuple([as_shape(value, f"argument {m}") for m, value in enumerate(values)])


def is_exact(value: object) -> TypeGuard[Shape]:
    """Whether a value is a tuple of Python ints of at least 0."""
    if type(value) is not tuple:
        return False
    for size in value:  # noqa: SIM110 (all() is three times slower)
        if type(size) is not int or size < 0:
            return False
    return True


def as_integers(
    value: object, name: str, place: str = "position", or_else: str = ""
) -> tuple[int, ...]:
    """Return integers of any sign, such as axes, an index or strides."""
    entries = _integers_of(value, name, or_else)
    for entry in entries:
        if type(entry) is not int:
            return tuple([as_int(entry, f"{name}, {place} {k}") for k, entry in enumerate(entries)])
    return cast("tuple[int, ...]", entries)


def as_axis_set(value: object, name: str) -> tuple[int, ...]:
    """Return axes as a tuple of Python ints; the axes of a set in increasing order."""
    # isinstance checks set and frozenset faster than Set.
    if isinstance(value, (set, frozenset, Set)):
        return tuple(sorted([axis if type(axis) is int else as_int(axis, name) for axis in value]))
    return as_integers(value, name, or_else="a set of integers, ")


def as_array(tensor: Tensor[DTypeT], name: str) -> Array[DTypeT]:
    """Return an array or a scalar of any dtype as a plain ndarray; copy no array."""
    kind = type(tensor)
    if isinstance(tensor, np.ndarray) and kind in _PLAIN_CLASSES:
        return plain(tensor)
    if isinstance(tensor, np.generic) and (array := np.asarray(tensor)).dtype.type is kind:
        return array
    hint = meaning_of(tensor)
    if guess := _GUESSES.get(kind):
        hint = f"; its dtype would be a guess: write numpy.{guess}(...), or whichever is meant"
    elif not hint and (isinstance(tensor, (Sequence, memoryview)) or _OFFERS & {*dir(kind)}):
        hint = "; numpy.asarray(..., dtype) makes an array"
    raise TypeError(f"{name}: expected a numpy.ndarray or a NumPy scalar, got {show(tensor)}{hint}")


def meaning_of(value: object) -> str:
    """Return a hint for an array that may mean more than its elements, else ""."""
    kind = type(value)
    if kind in _PLAIN_CLASSES:
        return ""
    # A subclass of a NumPy scalar type has the same dtype as that type.
    is_scalar = issubclass(kind, np.generic)
    if np.dtype(kind).type is kind if is_scalar else not hasattr(kind, "__array_function__"):
        return ""
    return (
        f"; {kind.__name__} may mean more than its elements, such as a mask or a unit: "
        "numpy.asarray(...) makes a plain array of these"
    )


def plain(array: Array[DTypeT]) -> Array[DTypeT]:
    """Return an array of a subclass as a plain array on the same memory."""
    # A subclass may redefine array.view().
    return array if type(array) is np.ndarray else np.ndarray.view(array, np.ndarray)


def as_tensor(tensor: Tensor[DTypeT], name: str) -> Array[DTypeT]:
    """Return a tensor as `as_array` does; reject types that SONNX lacks."""
    # [E_Broadcast_any_Types_010]
    array = as_array(tensor, name)
    dtype = array.dtype
    if dtype.type is np.object_:
        _check_strings(array, name)
    elif dtype.type not in PLAIN_TYPES and not isinstance(dtype, np.dtypes.StringDType):
        raise TypeError(
            f"{name}: dtype {cut(dtype)} is not one of SONNX's types {SONNX_TYPES}; {_ANY_DTYPE}"
        )
    return array


def as_tensors(tensors: tuple[Any, ...]) -> tuple[AnyArray, ...]:
    check_count(len(tensors), "tensor")
    _refuse_all_in_one(tensors, "tensor", "broadcast")
    return tuple(
        [
            # The most common case.
            tensor
            if type(tensor) is np.ndarray and tensor.dtype.type in PLAIN_TYPES
            else as_tensor(tensor, f"argument {m}")
            for m, tensor in enumerate(tensors)
        ]
    )


def stored(array: Array[DTypeT]) -> Array[DTypeT]:
    """Return a view with only the first element along each axis of stride 0."""
    return array[(*[slice(None if stride else 1) for stride in array.strides], ...)]


def _check_strings(array: Array[DTypeT], name: str) -> None:
    elements = stored(array)
    if all(issubclass(kind, str) for kind in set(map(type, elements.flat))):
        return
    found = ((index, each) for index, each in np.ndenumerate(elements) if not isinstance(each, str))
    index, stranger = next(found)
    raise TypeError(
        f"{name}: dtype object is a SONNX type only if every element is a str, "
        f"got {show(stranger)} at {index}; {_ANY_DTYPE}"
    )


def _refuse_all_in_one(values: tuple[Any, ...], noun: str, function: str) -> None:
    """Reject one list that contains all arguments."""
    several = values[0]
    if len(values) > 1 or type(several) not in (list, tuple) or not several:
        return
    if all(isinstance(each, (tuple, list, np.ndarray)) for each in several):
        raise TypeError(
            f"argument 0: expected a {noun}, got a {type(several).__name__} of {len(several)}; "
            f"pass them one by one: {function}(*{noun}s)"
        )


def entries_of(value: Iterable[object], name: str, noun: str = "integers") -> tuple[object, ...]:
    """Return a sequence's entries, read once, as a tuple; reject more than memory can hold."""
    try:
        return tuple(value)
    except (OverflowError, MemoryError):
        pass
    # Raised outside the handler, so that the new error has no context.
    raise ValueError(f"{name}: expected no more {noun} than memory holds, got {show(value)}")


def _integers_of(value: object, name: str, or_else: str = "") -> tuple[object, ...]:
    """Return the entries of a sequence (unchecked) or a 1-D array of integers."""
    # isinstance checks tuple and list faster than Sequence.
    is_sequence = isinstance(value, (tuple, list, Sequence))
    if is_sequence and not isinstance(value, (str, bytes, bytearray, memoryview)):
        return entries_of(cast("Iterable[object]", value), name)
    shown = show(value) + (hint := meaning_of(value))
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and not hint:
        shown += f"; write ({show_int(int(value))},)"
    if isinstance(value, np.ndarray) and not hint:
        array = plain(value)
        if array.ndim == 1 and array.dtype.kind in "iu":
            return entries_of(array, name)
        shown = f"an array of shape {show_shape(array.shape)} and dtype {cut(array.dtype)}"
    raise TypeError(
        f"{name}: expected {or_else}a sequence of integers or a one-dimensional array of an "
        f"integer dtype, got {shown}"
    )


def cut(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 3]}..."


def show(value: object) -> str:
    """Return the text and the type of a value in a short line.

    >>> show("x" * 99), show([{}, [[0] * 9] * 9])  # doctest: +NORMALIZE_WHITESPACE
    ("'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx' (str)",
     '[{}, [[0, 0, 0, 0, 0, 0, ...], [0, 0, 0, 0, 0, 0, ...], [... (list)')
    """
    kind = type(value).__name__
    if isinstance(value, int):
        return f"{value if isinstance(value, bool) else show_int(value)} ({kind})"
    if isinstance(value, np.ndarray):
        return f"an array of shape {show_shape(plain(value).shape)} ({kind})"
    try:
        return f"{cut(_REPR.repr(value))} ({kind})"
    except Exception:
        # An int in a list may have too many digits.
        return f"an object ({kind})"
