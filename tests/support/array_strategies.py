"""Arrays of every type and any memory layout."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from hypothesis import strategies as st
from plain_rule import Shape

from whycast.testing import strategies

DType: TypeAlias = "np.dtype[np.generic] | np.dtypes.StringDType[object]"
Array: TypeAlias = "np.ndarray[tuple[int, ...], DType]"

DTYPES: tuple[DType, ...] = (
    *(np.dtype(order + code) for code in ("f2", "f4", "f8") for order in "<>"),
    *(np.dtype(order + code) for code in ("i1", "i2", "i4", "i8", "q") for order in "<>"),
    *(np.dtype(order + code) for code in ("u1", "u2", "u4", "u8", "Q") for order in "<>"),
    np.dtype(np.bool_),
    *(np.dtype(name) for name in ("<U4", ">U4")),
    np.dtype(np.object_),
    np.dtypes.StringDType(),
    np.dtypes.StringDType(na_object=None),
)

# NumPy's other types.
OTHER_DTYPES: tuple[DType, ...] = (
    *(np.dtype(name) for name in ("<c8", ">c16", "clongdouble", "<M8[s]", ">m8[ns]", "S3", "V5")),
    np.dtype([("a", "<i2"), ("b", ">f8", (2,)), ("c", "S1")]),
    np.dtype({"names": ["a"], "formats": ["<i4"], "offsets": [4], "itemsize": 16}),
    np.dtype([("count", "i4"), ("thing", "O")]),
    np.dtype([]),
)


# A subclass that whycast accepts: it adds no mask, unit or the like to the elements.
Subclass = np.memmap


def plain(array: Array) -> Array:
    """Return a plain array on the memory of an array of any class."""
    return np.ndarray.view(array, np.ndarray)


def read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def bits(size: int, dtype: DType) -> Array:
    """Return elements with bits from a type's whole range; for floats, also zeros and NaNs."""
    width = dtype.itemsize
    # An odd multiplier permutes the patterns: the first 2**(8 * width) all differ.
    pattern = 0x9E3779B97F4A7C15 % 2 ** (8 * width) | 1
    values = [k * pattern % 2 ** (8 * width) for k in range(size)]
    if dtype.kind == "f":
        information = np.finfo(dtype.name)
        exponent_and_sign = 2 ** (8 * width) - 2**information.nmant
        special = [0, 2 ** (8 * width - 1), exponent_and_sign | 1, exponent_and_sign | 5]
        values[: len(special)] = special[:size]
    raw = b"".join(value.to_bytes(width, byte_order(dtype)) for value in values)
    return np.frombuffer(bytearray(raw), dtype=dtype) if size else np.empty(0, dtype)


def byte_order(dtype: DType) -> Literal["little", "big"]:
    if dtype.byteorder in "=|":
        return sys.byteorder
    return "little" if dtype.byteorder == "<" else "big"


def elements(size: int, dtype: DType) -> Array:
    """Return writable elements of a type, as different as the type permits."""
    if dtype.kind == "b":
        return np.array([k % 3 == 1 for k in range(size)], dtype=dtype)
    if dtype.kind == "U":
        return np.array([chr(0x10300 + k) + str(k % 1000) for k in range(size)], dtype=dtype)
    if dtype.itemsize == 0:
        return np.empty(size, dtype)
    if dtype.kind == "V" and dtype.hasobject:
        return np.array([(k, f"{k}") for k in range(size)], dtype=dtype)
    if dtype.kind in "OT":
        # StringDType stores some of these outside the array.
        return np.array([f"{k} " * (1 + k % 20) for k in range(size)], dtype=dtype)
    return bits(size, dtype)


@st.composite
def arrays_of_shape(draw: st.DrawFn, shape: Shape, dtype: DType | None = None) -> Array:
    """Draw an array with axes in any order, with gaps, reversed, repeated or offset."""
    if dtype is None:
        dtype = draw(st.sampled_from(DTYPES))
    rank = len(shape)
    order = draw(st.permutations(range(rank)))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in range(rank)]
    margins = [draw(st.sampled_from([0, 0, 1])) for _ in range(rank)]
    # An axis of stride 0 has one element in memory, as after an earlier broadcast.
    repeated = [draw(st.integers(0, 5)) == 0 for _ in range(rank)]

    stored = [1 if flag else size for flag, size in zip(repeated, shape, strict=True)]
    room = [size * abs(step) + gap for size, step, gap in zip(stored, steps, margins, strict=True)]
    memory = elements(int(np.prod([room[axis] for axis in order])), dtype)
    array = memory.reshape([room[axis] for axis in order])
    array = array.transpose(np.argsort(order)) if rank else array
    # Slice twice: a negative step would change the meaning of the bound.
    every: Any = (*[slice(None, None, step) for step in steps], ...)
    window: Any = (*[slice(0, size) for size in stored], ...)
    array = np.broadcast_to(array[every][window], shape)
    if draw(st.booleans()) and not any(repeated):
        array.flags.writeable = memory.flags.writeable
    assert array.shape == shape
    return array


@st.composite
def array_lists(
    draw: st.DrawFn,
    max_rank: int = 4,
    max_size: int = 3,
    max_tensors: int = 4,
    *,
    dtypes: tuple[DType, ...] = DTYPES,
    zero_meets_one: bool = False,
) -> tuple[Array, ...]:
    """Draw arrays of any types and layouts whose shapes broadcast, by SONNX's rule or NumPy's."""
    bounds = {"max_dims": max_rank, "max_side": max_size, "max_shapes": max_tensors}
    rule = "numpy" if zero_meets_one else "sonnx"
    shapes = draw(strategies.shape_lists(rule, compatible=True, **bounds))
    arrays = []
    for shape in shapes:
        array = draw(arrays_of_shape(shape, draw(st.sampled_from(dtypes))))
        arrays.append(array.view(Subclass) if draw(st.integers(0, 5)) == 0 else array)
    return tuple(arrays)


def distinct_arrays(shapes: Sequence[Shape]) -> list[Array]:
    arrays: list[Array] = []
    first = 1
    for shape in shapes:
        size = int(np.prod(shape))
        arrays.append(np.arange(first, first + size).reshape(shape))
        first += size
    return arrays
