"""Requests and answers: what `whycast serve` speaks, and programs under check.

A request names the rule and the level, and gives what the level takes (`fields`); an answer is what
a function would return, or a refusal. Both are JSON objects, one a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from whycast._checks import show
from whycast._errors import BroadcastError
from whycast._rules import Rule, rule_named
from whycast._types import AnyArray
from whycast.testing._case import Case, Level, level_named
from whycast.testing._elements import decoded, dtype_name, encoded
from whycast.testing._json import Message, field_of, integers_of, list_of, object_of, shape_of

# Fields that any request may have beside those that its level takes.
_COMMON_FIELDS = frozenset({"rule", "level", "id", "expected"})


class Request(NamedTuple):
    """What a request asks: at level ``data`` of the arrays, otherwise of the case alone."""

    rule: Rule
    level: Level
    case: Case
    arrays: tuple[AnyArray, ...] = ()


class Refusal(NamedTuple):
    """A refusal: why, and the axis and the tensor at fault where they are named."""

    text: str | None = None
    axis: int | None = None
    tensor: int | None = None


def refusal_of(error: Exception) -> Refusal:
    """Return a refusal that says what an error says.

    >>> refusal_of(ValueError("too long"))
    Refusal(text='too long', axis=None, tensor=None)
    """
    if isinstance(error, BroadcastError):
        return Refusal(str(error), error.axis, error.tensor)
    return Refusal(str(error))


def fields(rule: Rule, level: Level) -> tuple[str, ...]:
    """Name the fields of a request beside ``rule`` and ``level``.

    >>> fields(rule_named("in-dim"), "strides")
    ('shape', 'target', 'axes', 'strides')
    >>> fields(rule_named("sonnx"), "data")
    ('arrays',)
    """
    if rule.takes == "tensors" and level not in ("index", "strides"):
        return ("arrays" if level == "data" else "shapes",)
    tensor = "array" if level == "data" else "shape"
    axes = ("axes",) if rule.takes == "axes" else ()
    own = (level,) if level in ("index", "strides") else ()
    return (tensor, "target", *axes, *own)


def request(rule: Rule, level: Level, case: Case) -> Message:
    """Return the request for a case.

    >>> request(rule_named("sonnx"), "shape", Case(((3, 1), (4,))))
    {'rule': 'sonnx', 'level': 'shape', 'shapes': [[3, 1], [4]]}
    """
    message: Message = {"rule": rule.name, "level": level}
    for field in fields(rule, level):
        if field == "shapes":
            message[field] = list(map(list, case.shapes))
        elif field == "arrays":
            message[field] = list(map(encoded, case.arrays()))
        elif field == "array":
            (array,) = case.arrays()
            message[field] = encoded(array)
        else:
            numbers = {
                "shape": case.shapes[0],
                "target": case.target,
                "axes": case.axes,
                "index": case.multi_index,
                "strides": case.strides,
            }[field]
            message[field] = list(cast("tuple[int, ...]", numbers))
    return message


def read_request(message: object) -> Request:
    """Return what a request asks; a ValueError says what is wrong with it.

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
            raise ValueError(
                f"{_quoted(name)}: expected no such field; rule {rule.name} at level {level} takes "
                f"{', '.join(taken)}"
            )
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
    case = Case(
        shapes,
        target=shape_of(given["target"], "target") if "target" in given else None,
        axes=integers_of(given["axes"], "axes") if "axes" in given else None,
        dtypes=tuple(map(dtype_name, arrays)),
        multi_index=integers_of(given["index"], "index") if "index" in given else None,
        strides=integers_of(given["strides"], "strides") if "strides" in given else None,
    )
    if case.strides is not None and len(case.strides) != len(shapes[0]):
        raise ValueError(
            f"strides: expected {len(shapes[0])}, one for each axis of shape, "
            f"got {len(case.strides)}"
        )
    return Request(rule, level, case, arrays)


def answer(level: Level, value: object) -> Message:
    """Return the answer that stands for what a function returned, or for its refusal.

    A refusal is None, an exception, or a `Refusal`.

    >>> answer("index", (2, 0)), answer("verdict", (3, 4)), answer("shape", None)
    ({'index': [2, 0]}, {'accepted': True}, {'refused': True})
    """
    if isinstance(value, Exception):
        value = refusal_of(value)
    if value is None or isinstance(value, Refusal):
        refused = value or Refusal()
        message: Message = {"refused": True if refused.text is None else refused.text}
        named = {"axis": refused.axis, "tensor": refused.tensor}
        return message | {name: number for name, number in named.items() if number is not None}
    if level == "verdict":
        return {"accepted": True}
    if level == "data":
        if isinstance(value, np.ndarray):
            return {"array": encoded(value)}
        return {"arrays": list(map(encoded, cast("Sequence[AnyArray]", value)))}
    return {"shape" if level == "report" else level: list(cast("tuple[int, ...]", value))}


def read_answer(level: Level, message: object) -> object:
    """Return what a function would return whose answer this is, or a `Refusal`.

    At levels ``verdict`` and ``report`` an answer is ``accepted`` or ``shape``. A ValueError says
    why a message is no answer.

    >>> read_answer("shape", {"shape": [3, 4]}), read_answer("verdict", {"accepted": True})
    ((3, 4), True)
    >>> read_answer("report", {"refused": True, "axis": 1})
    Refusal(text=None, axis=1, tensor=None)
    >>> read_answer("index", {"shape": [3, 4]})
    Traceback (most recent call last):
    ValueError: answer: expected index or refused, got shape
    """
    found = object_of(message, "answer")
    if "error" in found:
        raise ValueError(f"answer: expected no error, got {show(found['error'])}")
    if "refused" in found:
        return _refusal(found)
    wanted = {
        "verdict": ("accepted", "shape"),
        "report": ("shape", "accepted"),
        "data": ("array", "arrays"),
    }.get(level, (level,))
    for name in wanted:
        if name not in found:
            continue
        value = found[name]
        if name == "accepted":
            if not isinstance(value, bool):
                raise ValueError(f"accepted: expected true or false, got {show(value)}")
            return value or Refusal()
        if name == "array":
            return decoded(value)
        if name == "arrays":
            return _arrays(value)
        return integers_of(value, name)
    got = ", ".join(map(_quoted, found)) or "none of them"
    raise ValueError(f"answer: expected {', '.join(wanted)} or refused, got {got}")


def _refusal(found: Mapping[str, object]) -> Refusal:
    text = found["refused"]
    if text is not True and not isinstance(text, str):
        raise ValueError(f"refused: expected true or a string, got {show(text)}")
    named = []
    for name in ("axis", "tensor"):
        number = found.get(name)
        if number is not None and type(number) is not int:
            raise ValueError(f"{name}: expected an integer, got {show(number)}")
        named.append(number)
    return Refusal(None if text is True else text, *named)


def _arrays(value: object) -> tuple[AnyArray, ...]:
    listed = list_of(value, "arrays", "arrays")
    return tuple([decoded(each, f"arrays, tensor {m}") for m, each in enumerate(listed)])


def _quoted(name: str) -> str:
    return name if name.isidentifier() and len(name) <= 40 else show(name)
