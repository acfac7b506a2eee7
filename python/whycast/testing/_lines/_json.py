"""JSON values with the checks that requests and answers need: each names the field."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, TypeAlias, cast

from whycast._checks import show
from whycast._types import Shape

Message: TypeAlias = dict[str, Any]


def parse(line: bytes) -> object:
    """Return the JSON value of a line; a ValueError says why there is none."""
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, got {error.object[error.start]:#04x}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"expected JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("expected JSON that is nested less deeply") from None


def line_of(message: Message) -> bytes:
    """Return a message as a line, its end included."""
    return json.dumps(message, allow_nan=False).encode("ascii") + b"\n"


def shape_of(value: object, name: str) -> Shape:
    """Return a list of integers of at least 0 as a shape."""
    return integers_of(value, name, "axis", 0)


def integers_of(
    value: object, name: str, place: str = "position", least: int | None = None
) -> tuple[int, ...]:
    """Return a list of integers as a tuple."""
    numbers = list_of(value, name, "integers")
    for k, number in enumerate(numbers):
        if type(number) is not int or (least is not None and number < least):
            bound = "" if least is None else f" of at least {least}"
            raise ValueError(f"{name}, {place} {k}: expected an integer{bound}, got {show(number)}")
    return tuple(cast("list[int]", numbers))


def list_of(value: object, name: str, noun: str) -> list[object]:
    """Return a list."""
    if not isinstance(value, list):
        raise ValueError(f"{name}: expected a list of {noun}, got {show(value)}")
    return value


def object_of(value: object, name: str) -> Message:
    """Return an object."""
    if not isinstance(value, dict):
        raise ValueError(f"{name}: expected an object, got {show(value)}")
    return value


def field_of(found: Message, field: str, owner: str | None = None) -> object:
    """Return a field of an object."""
    if field not in found:
        prefix = "" if owner is None else f"{owner}, "
        raise ValueError(f"{prefix}{field}: expected this field, got none")
    return found[field]


def _finite(text: str) -> float:
    # It could not be written down again.
    if math.isinf(number := float(text)):
        raise ValueError(f"expected JSON with numbers that a float can be, got {text:.40}")
    return number


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"expected JSON, which has no {text}")
