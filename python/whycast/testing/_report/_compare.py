"""The difference between an answer and the right answer: its kind, and its text."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np

from whycast._arrays import overlaps_itself
from whycast._errors import show_shape
from whycast._types import AnyArray, Shape
from whycast.testing._cases._case import OF_ARRAYS, Level

_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__")

_MOST_CHARACTERS = 500


class Kind(NamedTuple):
    """A kind of deviation, and the clause that it violates, if there is one."""

    says: str
    clause: str = ""


KINDS = {
    "accepts": Kind("accepts what is refused", "verdict"),
    # The operator refuses even the broadcast tensors: a limit, or values outside its domain.
    "undefined": Kind("refuses the tensors broadcast first, too"),
    "refuses": Kind("refuses what is accepted", "verdict"),
    "shape": Kind("another shape", "shape"),
    "dtype": Kind("another dtype", "data"),
    "elements": Kind("other elements", "data"),
    "nan": Kind("a NaN of other bits", "bits"),
    "zero": Kind("a zero of the other sign", "bits"),
    "count": Kind("another number of arrays", "data"),
    "no array": Kind("no array", "data"),
    "input changed": Kind("changes its input"),
    "writable": Kind("a writable result in memory that it shares"),
    "overwritten": Kind("overwrites the result of the call before"),
    "index": Kind("another index", "index"),
    "strides": Kind("other strides", "strides"),
    "condition": Kind("a condition under which shapes do not broadcast", "condition"),
    "axis": Kind("names another axis than the one at fault", "report"),
    "error": Kind("raises another exception than a refusal"),
    "outside": Kind("writes outside of its output"),
    "out": Kind("continues with an output that it cannot write right"),
    "crash": Kind("crashes"),
    "hang": Kind("does not come to an end"),
    "memory": Kind("takes too much memory"),
    "exit": Kind("ends the process"),
    "garbage": Kind("gives a malformed answer"),
    "stopped": Kind("stops before it has answered"),
}


class Finding(NamedTuple):
    """A deviation: a key of `KINDS`, a detail that subdivides the kind, and texts for people."""

    kind: str
    detail: str
    expected: str
    got: str


class NoAnswerError(Exception):
    def __init__(self, kind: str, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.detail = detail


def as_array(value: object) -> AnyArray | None:
    if type(value) is np.ndarray:
        return cast("AnyArray", value)
    if isinstance(value, np.ndarray):
        return np.ndarray.view(value, np.ndarray)
    if isinstance(value, memoryview) or any(hasattr(value, name) for name in _PROTOCOLS):
        return np.asarray(value)
    return np.from_dlpack(value) if hasattr(value, "__dlpack__") else None


def outputs_of(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else [value]


def show(value: object) -> str:
    """Return a value's text on one line, even if ``repr()`` raises an exception."""
    try:
        if isinstance(value, (tuple, list)):
            if value and all(as_array(each) is not None for each in value):
                return ", ".join(map(show, value))
            integers = as_integers(value)
            if integers is not None:
                return show_shape(integers)
        array = as_array(value)
        return one_line(repr(value)) if array is None else show_array(array)
    except Exception:
        return f"an object of type {type(value).__name__}"


def one_line(text: str) -> str:
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[:_MOST_CHARACTERS]}…"
    return "".join([each if each.isprintable() else repr(each)[1:-1] for each in text])


def show_array(array: AnyArray) -> str:
    elements = array.ravel()[:12].tolist() if array.size <= 2**20 else []
    shown = ", ".join(map(repr, elements))
    more = ", …" if array.size > len(elements) else ""
    return f"{array.dtype} {show_shape(array.shape)} [{shown}{more}]"


def difference(
    level: Level, value: object, right: object, shape: Shape, inputs: Sequence[AnyArray]
) -> Finding | None:
    """Compare an answer with the right one; None if it is right. `shape` is the output's shape.

    At level ``data`` no returned array that overlaps the `inputs` or itself may be writable.
    """
    if level in ("verdict", "report"):
        return None
    if level not in OF_ARRAYS:
        return _integers_differ(level, value, cast("tuple[int, ...]", right), shape)
    if isinstance(right, np.ndarray):
        return _output_differs(value, right, "", inputs)
    wanted = cast("Sequence[AnyArray]", right)
    count = _arrays(len(wanted))
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        return Finding("no array", "", f"{count} in a sequence", show(value))
    if len(value) != len(wanted):
        return Finding("count", "", count, _arrays(len(value)))
    found = (
        _output_differs(output, one, f"array {m}: ", inputs)
        for m, (output, one) in enumerate(zip(value, wanted, strict=True))
    )
    return next(filter(None, found), None)


def _arrays(count: int) -> str:
    return f"{count} {'array' if count == 1 else 'arrays'}"


def _integers_differ(
    level: Level, value: object, right: tuple[int, ...], shape: Shape
) -> Finding | None:
    # A size of 3.0 equals 3, but is no integer.
    got = as_integers(value)
    if got == right:
        return None
    if level == "strides" and got is not None and len(got) == len(shape):
        # On an axis of size 1, or in an empty tensor, no element needs the stride.
        steps = zip(shape, got, right, strict=True)
        if 0 in shape or all(size == 1 or a == b for size, a, b in steps):
            return None
    return Finding(level, "", show_shape(right), show(value))


def _output_differs(
    output: object, right: AnyArray, where: str, inputs: Sequence[AnyArray]
) -> Finding | None:
    why = ""
    try:
        found = as_array(output)
    except Exception as error:
        found, why = None, f", of which no array can be made: {show_error(error)}"
    if found is None:
        return Finding("no array", "", f"{where}an array", f"{where}{show(output)}{why}")
    if deviation := array_differs(found, right, where):
        return deviation
    # Negative flags are NumPy's mark of an array that warns of writes.
    writable = found.flags.num >= 0 and found.flags.writeable and found.size > 0
    shares = (np.may_share_memory(found, each) for each in inputs)
    if isinstance(output, np.ndarray) and writable and (overlaps_itself(found) or any(shares)):
        right_one = f"{where}read-only, or in memory of its own"
        return Finding("writable", "", right_one, f"{where}writable, in memory that it shares")
    return None


def array_differs(array: AnyArray, right: AnyArray, where: str) -> Finding | None:
    """Compare an array with the right one; the byte orders may differ."""
    array, right = (
        each if each.dtype.isnative else each.astype(each.dtype.newbyteorder("="))
        for each in (array, right)
    )
    if array.shape != right.shape:
        shapes = (where + show_shape(each.shape) for each in (right, array))
        return Finding("shape", "", *shapes)
    # Arrays of equal strings may have different widths.
    strings = array.dtype.kind == right.dtype.kind in ("U", "S")
    if array.dtype != right.dtype and not strings:
        return Finding("dtype", "", f"{where}{right.dtype}", f"{where}{array.dtype}")
    if right.dtype.kind in "OTUS":
        elements, wanted = array.ravel().tolist(), right.ravel().tolist()
        same = [type(a) is type(b) and a == b for a, b in zip(elements, wanted, strict=True)]
        return None if all(same) else _first(array, right, same.index(False), "elements", where)
    if array.ravel().tobytes() == right.ravel().tobytes():
        return None
    own, other = (np.frombuffer(each.ravel().tobytes(), right.dtype) for each in (array, right))
    own_bytes, other_bytes = (
        each.view(np.uint8).reshape(-1, right.dtype.itemsize) for each in (own, other)
    )
    differs = (own_bytes != other_bytes).any(axis=1)
    kind = "elements"
    if right.dtype.kind in "fc":
        nan, zero = np.isnan(own) & np.isnan(other), (own == 0) & (other == 0)
        kinds = (("elements", ~(nan | zero)), ("nan", nan), ("zero", zero))
        kind, differs = next((kind, differs & of) for kind, of in kinds if (differs & of).any())
    return _first(array, right, int(differs.argmax()), kind, where)


def _first(array: AnyArray, right: AnyArray, number: int, kind: str, where: str) -> Finding:
    at = tuple(map(int, np.unravel_index(number, right.shape)))
    shown = []
    for each in (right, array):
        element = each.reshape(-1)[number : number + 1]
        bits = f", bits {element.tobytes()[::-1].hex()}" if element.dtype.kind == "f" else ""
        shown.append(f"{where}at {show_shape(at)} {element.tolist()[0]!r}{bits}")
    return Finding(kind, "", *shown)


def as_integers(value: object) -> tuple[int, ...] | None:
    """Return any sequence of integers, such as a shape, as a tuple; else None."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return None
    found: list[int] = []
    try:
        for each in value:
            if isinstance(each, bool):
                return None
            found.append(operator.index(each))
    except Exception:
        # The answer may be an object that raises any exception.
        return None
    return tuple(found)


def first_line(error: BaseException) -> str:
    try:
        return one_line(str(error).strip().partition("\n")[0])
    except Exception:
        return ""


def show_error(error: BaseException) -> str:
    return f"{type(error).__name__}: {first_line(error)}".removesuffix(": ")
