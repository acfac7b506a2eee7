"""Arrays in which a misplaced element shows."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, cast

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape

# DTYPES are SONNX's types, strings as NumPy's three types (str_ of fixed width, objects,
# StringDType), and two big-endian types.
NUMBERS = (
    *("int32", "float32", "float16", "float64", "bool", "int8", "int16", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
)
STRINGS = ("str", "object", "StringDType")
COMPLEX = ("complex64", "complex128")
DTYPES = (*NUMBERS, *STRINGS, ">i4", ">f8")
ALL_DTYPES = (*DTYPES, *COMPLEX, "datetime64[s]", "timedelta64[s]", "bytes")

# All layouts have the same elements, except "overlapping" and "broadcast", which repeat some.
LAYOUTS: tuple[str, ...] = ("C", "reversed", "transposed", "sliced", "overlapping", "readonly")
LAYOUTS += ("broadcast", "unaligned")
# Layouts in the memory of the previous tensor, if shape and dtype agree: as it is, or reversed.
SHARED = ("same", "backwards")


@cache
def dtypes_of(rule: Rule, level: str = "data") -> tuple[str, ...]:
    if level in ("vjp", "adjoint"):
        return tuple([name for name in (*NUMBERS, *COMPLEX) if name != "bool"])
    return {"numbers": NUMBERS, "strings": DTYPES, "any": ALL_DTYPES}[rule.dtypes]


@cache
def dtype_named(name: str) -> np.dtype[Any]:
    if name == "StringDType":
        return cast("np.dtype[Any]", np.dtypes.StringDType())
    return np.dtype({"str": "<U12", "bytes": "S12"}.get(name, name))


def number_at(m: int, level: str) -> int:
    """Return the number that `array` takes for tensor `m`.

    For an operator, no tensor may be largest everywhere: `maximum` would return it alone.
    """
    return -m if level in ("operator", "inplace", "vjp") else m


def array(m: int, shape: Shape, dtype: str, layout: str) -> AnyArray:
    """Make tensor number `m`; the number determines the elements.

    Two integers differ in every byte, as far as the type permits. Floating-point elements are
    thirds; if there are several, the first is a negative zero, the last a NaN with a payload. In an
    ``overlapping`` array the sum of the indices decides the element; in a ``broadcast`` array, all
    indices except the first.

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
            # NumPy 2.5 cannot wrap a buffer as StringDType: here each element has its own memory.
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
    if layout == "reversed" and shape:
        backwards = (slice(None, None, -1),) * len(shape)
        return plain[backwards].copy()[backwards]
    if layout == "sliced" and shape:
        gaps = _filled(m + 90, 2 * math.prod(shape), dtype)
        every_second = gaps.reshape((*shape[:-1], 2 * shape[-1]))[..., 1::2]
        every_second[...] = plain
        return every_second
    # NumPy always aligns objects.
    if layout == "unaligned" and not plain.dtype.hasobject:
        memory = np.zeros(plain.nbytes + 1, np.uint8)[1:]
        if plain.size:
            plain = np.ndarray(shape, plain.dtype, memory.data)
            plain[...] = array(m, shape, dtype, "C")
    return plain


def laid_on(before: AnyArray, shape: Shape, dtype: str, layout: str) -> AnyArray | None:
    """Return `before` in a layout of `SHARED`; None for another layout, shape or dtype.

    >>> laid_on(np.array([1, 2, 3]), (3,), "int64", "backwards").tolist()
    [3, 2, 1]
    """
    if layout not in SHARED or before.shape != shape or before.dtype != dtype_named(dtype):
        return None
    # With the ellipsis, a result of rank 0 is an array too.
    backwards: tuple[Any, ...] = (..., *[slice(None, None, -1)] * before.ndim)
    return before if layout == "same" else before[backwards]


def _filled(m: int, size: int, dtype: str) -> AnyArray:
    kind = dtype_named(dtype)
    places = np.arange(1 + 37 * m, 1 + 37 * m + size)
    if m < 0:
        turned = (np.arange(size) - m // 2 * (size // 2)) % max(1, size)
        places = 1 + (1 - m) * (turned[::-1] if m % 2 else turned)
    if not kind.isnative:
        return _filled(m, size, kind.name).astype(kind)
    if kind.kind == "c":
        return _filled(m, 2 * size, f"float{4 * kind.itemsize}").view(kind)
    if kind.kind in "mM":
        return places.astype(kind)
    if kind.kind == "f":
        # Large elements overflow float16.
        with np.errstate(over="ignore"):
            found = (places / 3).astype(kind)
        if size > 1:
            bits = found.view(f"u{kind.itemsize}")
            bits[0] = np.array(-0.0, kind).view(bits.dtype)
            # An operator may return the NaN of any tensor, so its tensors have the same NaN.
            payload = np.array(5 + max(m, 0), bits.dtype)
            bits[-1] = np.array(np.nan, kind).view(bits.dtype) + payload
        return found
    if kind.kind == "b":
        # The sequence is irregular, so that shifts and repetitions show.
        return (places * 2654435761 >> 7 & 1).astype(kind)
    if kind.kind in "iu":
        # Repeat the number in each byte; the product may overflow.
        ones = np.frombuffer(b"\1" * kind.itemsize, kind)
        return cast("AnyArray", places.astype(kind) * ones)
    middle = "-" if kind.kind == "S" else "é"
    return np.array([f"{m}{middle}{place}"[place % 2 :] for place in places.tolist()], kind)
