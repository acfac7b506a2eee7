"""Arrays whose elements tell where they belong."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, cast

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape

# The types of SONNX. Of strings NumPy has three: fixed width, objects, and its own. Numbers may lie
# in memory with their highest byte first. The last five are not SONNX's.
NUMBERS = (
    *("int32", "float32", "float16", "float64", "bool", "int8", "int16", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
STRINGS = ("str", "object", "StringDType")
COMPLEX = ("complex64", "complex128")
DTYPES = (*NUMBERS, *STRINGS, ">i4", ">f8")
ALL_DTYPES = (*DTYPES, *COMPLEX, "datetime64[s]", "timedelta64[s]", "bytes")

# Each holds the same elements at the same multi-indices, but the two that repeat some.
LAYOUTS = (
    *("C", "reversed", "transposed", "sliced", "overlapping", "readonly", "broadcast", "unaligned"),
)
# A tensor like the one before it is that array itself, or lies backwards in its memory.
SHARED = ("same", "backwards")


@cache
def dtypes_of(rule: Rule) -> tuple[str, ...]:
    """Give the dtypes of the cases of a rule: many texts have numbers and truth values alone."""
    return {"numbers": NUMBERS, "strings": DTYPES, "any": ALL_DTYPES}[rule.dtypes]


@cache
def dtype_named(name: str) -> np.dtype[Any]:
    """Return the dtype of a name in `ALL_DTYPES`, or of NumPy."""
    if name == "StringDType":
        return cast("np.dtype[Any]", np.dtypes.StringDType())
    return np.dtype({"str": "<U12", "bytes": "S12"}.get(name, name))


def array(m: int, shape: Shape, dtype: str, layout: str) -> AnyArray:
    """Make tensor number `m`, its elements unlike those of the other tensors.

    Numbers differ from place to place in all their bytes, as far as there are as many. Those of
    floating-point types are thirds, but for a negative zero and a NaN with a payload. An
    overlapping array has the same element wherever the sum of the indices is the same, and one that
    is broadcast wherever they differ in the first alone.

    >>> array(1, (2, 2), "uint16", "reversed").tolist()
    [[9766, 10023], [10280, 10537]]
    >>> array(0, (3,), "float32", "C").view("uint32").tolist()
    [2147483648, 1059760811, 2143289349]
    """
    if layout == "overlapping":
        span = 1 + sum([size - 1 for size in shape]) if 0 not in shape else 0
        base = _filled(m, span, dtype)
        try:
            view: AnyArray = np.ndarray(shape, base.dtype, base, 0, base.strides * len(shape))
        except TypeError:
            # Of a StringDType NumPy 2.5 makes no array on a buffer: each element has its own place.
            view = base[np.indices(shape).sum(0, int).ravel()].reshape(shape)
        view.flags.writeable = False
        return view
    if layout == "broadcast" and shape:
        return np.broadcast_to(_filled(m, math.prod(shape[1:]), dtype).reshape(shape[1:]), shape)
    plain = _filled(m, math.prod(shape), dtype).reshape(shape)
    if layout == "C":
        return plain
    if layout == "readonly":
        plain.flags.writeable = False
        return plain
    if layout == "transposed":
        return np.copy(plain.T, order="C").T
    # Rank 0 has no axis to lay out in another way.
    if layout == "reversed" and shape:
        backwards = (slice(None, None, -1),) * len(shape)
        return plain[backwards].copy()[backwards]
    if layout == "sliced" and shape:
        gaps = _filled(m + 90, 2 * math.prod(shape), dtype)
        every_second = gaps.reshape((*shape[:-1], 2 * shape[-1]))[..., 1::2]
        every_second[...] = plain
        return every_second
    # NumPy puts objects nowhere else.
    if layout == "unaligned" and not plain.dtype.hasobject:
        memory = np.zeros(plain.nbytes + 1, np.uint8)[1:]
        if plain.size:
            plain = np.ndarray(shape, plain.dtype, memory.data)
            plain[...] = array(m, shape, dtype, "C")
    return plain


def laid_on(before: AnyArray, shape: Shape, dtype: str, layout: str) -> AnyArray | None:
    """Take the array before for a tensor of one of the layouts `SHARED`, if it is like that one.

    >>> laid_on(np.array([1, 2, 3]), (3,), "int64", "backwards").tolist()
    [3, 2, 1]
    """
    if layout not in SHARED or before.shape != shape or before.dtype != dtype_named(dtype):
        return None
    # With the dots one of rank 0 stays an array.
    backwards: tuple[Any, ...] = (..., *[slice(None, None, -1)] * before.ndim)
    return before if layout == "same" else before[backwards]


def _filled(m: int, size: int, dtype: str) -> AnyArray:
    """Make an array of rank 1 whose elements tell the tensor and their number."""
    kind = dtype_named(dtype)
    places = np.arange(1 + 37 * m, 1 + 37 * m + size)
    if not kind.isnative:
        return _filled(m, size, kind.name).astype(kind)
    if kind.kind == "c":
        return _filled(m, 2 * size, f"float{4 * kind.itemsize}").view(kind)
    if kind.kind in "mM":
        return places.astype(kind)
    if kind.kind == "f":
        # Of many elements the last are beyond float16.
        with np.errstate(over="ignore"):
            found = (places / 3).astype(kind)
        if size > 1:
            bits = found.view(f"u{kind.itemsize}")
            bits[0] = np.array(-0.0, kind).view(bits.dtype)
            bits[-1] = np.array(np.nan, kind).view(bits.dtype) + np.array(5 + m, bits.dtype)
        return found
    if kind.kind == "b":
        # Neither even nor periodic.
        return (places * 2654435761 >> 7 & 1).astype(kind)
    if kind.kind in "iu":
        # Each byte is the number, but those that are not the lowest lose what they would carry.
        ones = np.frombuffer(b"\1" * kind.itemsize, kind)
        return cast("AnyArray", places.astype(kind) * ones)
    # Not all in one script, nor of one length.
    middle = "-" if kind.kind == "S" else "é"
    return np.array([f"{m}{middle}{place}"[place % 2 :] for place in places.tolist()], kind)
