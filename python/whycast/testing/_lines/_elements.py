"""Arrays as JSON objects: dtype, shape, and the elements in row-major order.

Elements are the hexadecimal digits of their little-endian bytes, or a list of strings.
"""

from __future__ import annotations

import math

import numpy as np

from whycast._checks import show
from whycast._errors import show_int, show_shape
from whycast._rules import Rule
from whycast._types import AnyArray
from whycast.testing._cases._case import Case
from whycast.testing._cases._values import STRINGS
from whycast.testing._lines._json import Message, field_of, list_of, object_of, shape_of

FIXED_WIDTH = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128"),
)

# The dtypes that lines can contain.
NAMED = frozenset((*FIXED_WIDTH, *STRINGS, ">i4", ">f8"))
# The most elements of an output: a line contains them as text.
_MOST_ELEMENTS = 2**18


def left_out(rule: Rule, case: Case) -> str | None:
    if not NAMED.issuperset(case.dtypes):
        return "lines cannot contain the dtype"
    if math.prod(rule.shape(case) or ()) > _MOST_ELEMENTS:
        return f"more than {_MOST_ELEMENTS:,} elements, too many for a line"
    return None


def encoded(array: AnyArray) -> Message:
    """Return an array as a JSON object.

    >>> encoded(np.array([[1], [-2]], np.int16))
    {'dtype': 'int16', 'shape': [2, 1], 'elements': '0100feff'}
    """
    name = dtype_name(array)
    elements: object = array.ravel().tolist()
    if name not in STRINGS:
        elements = array.astype(array.dtype.newbyteorder("<")).ravel().tobytes().hex()
    return {"dtype": name, "shape": list(array.shape), "elements": elements}


def decoded(value: object, name: str = "array") -> AnyArray:
    found = object_of(value, name)
    dtype = field_of(found, "dtype", name)
    shape = shape_of(field_of(found, "shape", name), f"{name}, shape")
    elements = field_of(found, "elements", name)
    if dtype not in STRINGS and dtype not in FIXED_WIDTH:
        known = ", ".join([*FIXED_WIDTH, *STRINGS])
        raise ValueError(f"{name}, dtype: expected one of {known}, got {show(dtype)}")
    read = _strings if dtype in STRINGS else _numbers
    flat = read(elements, dtype, math.prod(shape), f"{name}, elements")
    try:
        return flat.reshape(shape)
    except (ValueError, OverflowError) as error:
        text = f"NumPy can represent no array of shape {show_shape(shape)}: {error}"
        raise ValueError(f"{name}: {text}") from None


def dtype_name(array: AnyArray) -> str:
    dtype = array.dtype
    if isinstance(dtype, np.dtypes.StringDType):
        return "StringDType"
    name = "str" if dtype.kind == "U" else dtype.name
    if name not in STRINGS and name not in FIXED_WIDTH:
        known = ", ".join([*FIXED_WIDTH, *STRINGS])
        raise ValueError(f"dtype: expected one of {known}, got {dtype}")
    return name


def _numbers(elements: object, dtype: str, count: int, name: str) -> AnyArray:
    kind = np.dtype(dtype).newbyteorder("<")
    if not isinstance(elements, str):
        raise ValueError(f"{name}: expected a string of hexadecimal digits, got {show(elements)}")
    wanted = 2 * count * kind.itemsize
    if len(elements) != wanted:
        text = f"{show_int(wanted)} hexadecimal digits, got {len(elements)}"
        raise ValueError(f"{name}: expected {text}")
    try:
        data = bytes.fromhex(elements)
    except ValueError:
        data = b""
    # bytes.fromhex accepts white space.
    if 2 * len(data) != wanted:
        raise ValueError(f"{name}: expected hexadecimal digits alone, got {show(elements)}")
    if dtype == "bool" and data.strip(b"\0\1"):
        raise ValueError(f"{name}: expected 00 or 01 for a bool, got {show(elements)}")
    return np.frombuffer(data, kind).astype(kind.newbyteorder("="))


def _strings(elements: object, dtype: str, count: int, name: str) -> AnyArray:
    listed = list_of(elements, name, "strings")
    if len(listed) != count:
        raise ValueError(f"{name}: expected {show_int(count)} strings, got {len(listed)}")
    for number, element in enumerate(listed):
        if not isinstance(element, str):
            raise ValueError(f"{name}, number {number}: expected a string, got {show(element)}")
    if dtype == "object":
        return np.array(listed, np.object_)
    if dtype == "StringDType":
        try:
            return np.array(listed, np.dtypes.StringDType())
        except UnicodeEncodeError:
            raise ValueError(f"{name}: NumPy's StringDType takes no lone surrogate") from None
    array = np.array(listed, np.str_)
    if array.tolist() != listed:
        raise ValueError(f"{name}: NumPy's str_ drops NUL at the end of a string; use StringDType")
    return array
