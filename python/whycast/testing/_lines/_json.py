"""Checked reading of JSON values; errors name the field."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, TypeAlias, cast

from whycast._checks import show
from whycast._types import Shape

Message: TypeAlias = dict[str, Any]


def parse(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, got {error.object[error.start]:#04x}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"expected JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("expected JSON that is nested less deeply") from None


def line_of(message: Message) -> bytes:
    return json.dumps(message, allow_nan=False).encode("ascii") + b"\n"


def shape_of(value: object, name: str) -> Shape:
    return integers_of(value, name, "axis", 0)


def integers_of(
    value: object, name: str, place: str = "position", least: int | None = None
) -> tuple[int, ...]:
    numbers = list_of(value, name, "integers")
    for k, number in enumerate(numbers):
        if type(number) is not int or (least is not None and number < least):
            bound = "" if least is None else f" of at least {least}"
            raise ValueError(f"{name}, {place} {k}: expected an integer{bound}, got {show(number)}")
    return tuple(cast("list[int]", numbers))


def list_of(value: object, name: str, noun: str) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{name}: expected a list of {noun}, got {show(value)}")
    return value


def object_of(value: object, name: str) -> Message:
    if not isinstance(value, dict):
        raise ValueError(f"{name}: expected an object, got {show(value)}")
    return value


def field_of(found: Message, field: str, owner: str | None = None) -> object:
    if field not in found:
        prefix = "" if owner is None else f"{owner}, "
        raise ValueError(f"{prefix}{field}: expected this field, got none")
    return found[field]


def _finite(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"expected JSON with numbers that a float can be, got {text:.40}")
    return number


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"expected JSON, which has no {text}")
