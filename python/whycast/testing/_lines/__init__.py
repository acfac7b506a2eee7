"""Requests and answers of `whycast serve` and of programs under check.

A request contains the rule, the level and the level's arguments (`fields`); an answer contains a
result or a refusal. Requests and answers are JSON objects, one a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from whycast._checks import show
from whycast._errors import BroadcastError
from whycast._rules import Rule, rule_named
from whycast._types import AnyArray
from whycast.testing._cases._case import OF_ARRAYS, Case, Level, level_named
from whycast.testing._lines._elements import decoded, dtype_name, encoded
from whycast.testing._lines._json import (
    Message,
    field_of,
    integers_of,
    list_of,
    object_of,
    shape_of,
)
from whycast.testing._lines._memory import Memories
from whycast.testing._report._judge import Refusal

_COMMON_FIELDS = ("rule", "level", "id", "expected")

# The name of an answer's field, if it differs from the level's name.
_FIELDS = {"verdict": "shape", "report": "shape", **dict.fromkeys(OF_ARRAYS, "arrays")}


class Request(NamedTuple):
    rule: Rule
    level: Level
    case: Case
    arrays: tuple[AnyArray, ...] = ()


def fields(rule: Rule, level: Level) -> tuple[str, ...]:
    if level == "adjoint":
        return ("array", "shape")
    if not rule.has_target(level):
        return ("arrays" if level in OF_ARRAYS else "shapes",)
    tensor = "array" if level == "data" else "shape"
    axes = ("axes",) if rule.takes == "axes" else ()
    own = (level,) if level in ("index", "strides") else ()
    return (tensor, "target", *axes, *own)


def request(
    rule: Rule, level: Level, case: Case, tensors: Sequence[AnyArray] | None = None
) -> Message:
    """Return the request for a case, with the arrays of the case or other arrays.

    >>> request(rule_named("sonnx"), "shape", Case(((3, 1), (4,))))
    {'rule': 'sonnx', 'level': 'shape', 'shapes': [[3, 1], [4]]}
    """
    arrays: list[Any] = [None]
    if level == "inplace":
        given = case.arrays(level)
        out = np.zeros(rule.shape(case) or case.shapes[0], given[-1].dtype)
        return {"rule": rule.name, "level": level} | Memories(out, given).message
    if level in OF_ARRAYS:
        arrays = [encoded(x) for x in (case.arrays(level) if tensors is None else tensors)]
    known = {
        "shapes": list(map(list, case.shapes)),
        "arrays": arrays,
        "array": arrays[0],
        "shape": list(case.shapes[0]),
        "target": list(case.target or ()),
        "axes": list(case.axes or ()),
        "index": list(case.multi_index or ()),
        "strides": list(case.strides or ()),
    }
    taken = {field: known[field] for field in fields(rule, level)}
    return {"rule": rule.name, "level": level} | taken


def read_request(message: object) -> Request:
    """Read a parsed request; raise ValueError with the fault.

    >>> read_request({"rule": "expand", "level": "shape", "shape": [3, 1], "target": [2, -3]})
    Traceback (most recent call last):
    ValueError: target, axis 1: expected an integer of at least 0, got -3 (int)
    """
    found = object_of(message, "request")
    try:
        rule = rule_named(field_of(found, "rule"))
        level = level_named(field_of(found, "level"))
    except TypeError as error:
        raise ValueError(str(error)) from None
    taken = fields(rule, level)
    for name in found:
        if name not in _COMMON_FIELDS and name not in taken:
            text = f"rule {rule.name} at level {level} takes {', '.join(taken)}"
            raise ValueError(f"{_quoted(name)}: expected no such field; {text}")
    given = {name: field_of(found, name) for name in taken}
    arrays: tuple[AnyArray, ...] = ()
    if level == "data":
        arrays = _arrays(given["arrays"]) if "arrays" in given else (decoded(given["array"]),)
        shapes = tuple([array.shape for array in arrays])
    elif "shapes" in given:
        listed = list_of(given["shapes"], "shapes", "shapes")
        shapes = tuple([shape_of(shape, f"shapes, tensor {m}") for m, shape in enumerate(listed)])
    else:
        shapes = (shape_of(given["shape"], "shape"),)
    if not shapes:
        raise ValueError(f"{taken[0]}: expected at least 1, got none")
    axes, index, strides = (
        integers_of(given[name], name) if name in given else None
        for name in ("axes", "index", "strides")
    )
    target = shape_of(given["target"], "target") if "target" in given else None
    dtypes = tuple(map(dtype_name, arrays))
    case = Case(shapes, target, axes, dtypes, multi_index=index, strides=strides)
    if case.strides is not None and len(case.strides) != len(shapes[0]):
        text = f"{len(shapes[0])}, one for each axis of shape, got {len(case.strides)}"
        raise ValueError(f"strides: expected {text}")
    return Request(rule, level, case, arrays)


def answer(level: Level, value: object) -> Message:
    """Return the answer for a function's result, or for its error.

    >>> answer("index", (2, 0)), answer("verdict", (3, 4)), answer("shape", ValueError("too long"))
    ({'index': [2, 0]}, {'accepted': True}, {'refused': 'too long'})
    """
    if isinstance(value, BroadcastError):
        return {"refused": str(value), "axis": value.axis, "tensor": value.tensor}
    if value is None or isinstance(value, Exception):
        return {"refused": True if value is None else str(value)}
    if level == "verdict":
        return {"accepted": True}
    if level in OF_ARRAYS:
        if isinstance(value, np.ndarray):
            return {"array": encoded(value)}
        return {"arrays": list(map(encoded, cast("Sequence[AnyArray]", value)))}
    return {_FIELDS.get(level, level): list(cast("tuple[int, ...]", value))}


def read_answer(level: Level, message: object) -> object:
    """Return a result or `Refusal`, ignoring null fields; malformed answers raise ValueError."""
    given = object_of(message, "answer")
    found = {name: value for name, value in given.items() if value is not None}
    if "error" in found:
        raise ValueError(f"answer: expected no error, got {show(found['error'])}")
    if (text := found.get("refused", False)) is not False:
        axis = found.get("axis")
        if text is not True and not isinstance(text, str):
            raise ValueError(f"refused: expected true or a string, got {show(text)}")
        if axis is not None and type(axis) is not int:
            raise ValueError(f"axis: expected an integer, got {show(axis)}")
        return Refusal("" if text is True else text, axis)
    if level == "inplace":
        return found
    if level in ("verdict", "report") and "accepted" in found:
        accepted = found["accepted"]
        if not isinstance(accepted, bool):
            raise ValueError(f"accepted: expected true or false, got {show(accepted)}")
        return accepted or Refusal()
    if level in OF_ARRAYS and "array" in found:
        return decoded(found["array"])
    wanted = _FIELDS.get(level, level)
    if wanted not in found:
        other = {"shape": "accepted, ", "arrays": "array, "}[wanted] if level in _FIELDS else ""
        got = ", ".join(map(_quoted, given)) or "no field"
        raise ValueError(f"answer: expected {other}{wanted} or refused, got {got}")
    return _arrays(found[wanted]) if level in OF_ARRAYS else integers_of(found[wanted], wanted)


def _arrays(value: object) -> tuple[AnyArray, ...]:
    listed = list_of(value, "arrays", "arrays")
    return tuple([decoded(each, f"arrays, tensor {m}") for m, each in enumerate(listed)])


def _quoted(name: str) -> str:
    return name if name.isidentifier() and len(name) <= 40 else show(name)
