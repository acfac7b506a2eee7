"""A first look at a function: how many tensors it takes, and what it returns for them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whycast.testing._cases._case import OPERATORS, Case, Level, Tensors
from whycast.testing._cases._values import array, number_at
from whycast.testing._report._compare import NoAnswerError, as_array, outputs_of
from whycast.testing._report._judge import Ask

_SHAPE = (2, 3)
# The numbers of tensors to try if the signature says nothing, the usual number first.
_COUNTS = (2, 1, 3, 4)
# Other elements for one tensor: another tensor's, larger ones, and another order.
_OTHERS = (0, 20, -5)


class Seen(NamedTuple):
    """The level, the number of tensors, the first dtype if it differs, tensors without effect."""

    level: Level
    tensors: Tensors
    first: str = ""
    blind: tuple[int, ...] = ()


def look(
    function: object,
    level: Level | None,
    tensors: Tensors | None,
    dtypes: tuple[str, ...],
    ask: Ask,
) -> Seen:
    """Find out what to ask; call the function only for an operator, or without a level."""
    least, most, known = taken_by(function)
    if level == "inplace":
        least, most = max(0, least - 1), most - 1
    usual = tensors or (least, math.inf if most == math.inf else least)
    if level is not None and level not in OPERATORS:
        return Seen(level, usual)
    low, high = (max(1, end) for end in tensors or (least, most))
    tried = _COUNTS if high == math.inf else range(int(low), int(high) + 1)
    plain = "int32" if not dtypes or "int32" in dtypes else dtypes[0]
    for count in tried:
        try:
            found = _tried(count, plain, level, ask) if low <= count <= high else None
        except NoAnswerError:
            # The function dies: the first cases report that.
            return Seen(level or "data", tensors or (count, count))
        if found is not None:
            if found.level == "data":
                return Seen("data", usual)
            own = (max(2, least), math.inf) if known and high == math.inf else (count, count)
            return found._replace(level=level or found.level, tensors=tensors or own)
    return Seen(level or "data", usual)


def taken_by(function: object) -> tuple[int, float, bool]:
    """Return the least and the greatest number of tensors, and whether the signature says so.

    >>> taken_by(lambda a, b, out=None: a), taken_by(lambda *xs: xs), taken_by(max)
    ((2, 3, True), (0, inf, True), (0, inf, False))
    """
    try:
        parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0, math.inf, False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [each for each in parameters if each.kind in kinds]
    least = sum(each.default is each.empty for each in places)
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    return least, math.inf if several else len(places), True


def _tried(count: int, plain: str, level: Level | None, ask: Ask) -> Seen | None:
    """Ask about tensors of one shape; the first tensor may have to be a condition."""
    found: list[Seen] = []
    for first in ("", "bool"):
        case = Case((_SHAPE,) * count, dtypes=(first or plain, *(plain,) * (count - 1)))
        numbers = [number_at(m, "operator") for m in range(count)]
        given = _given(ask, case, numbers)
        if given is None:
            continue
        if level is None and given[0] == count:
            return Seen("data", (count, count))
        blind = [
            m
            for m in range(count)
            if all(
                _given(ask, case, [*numbers[:m], n, *numbers[m + 1 :]]) == given for n in _OTHERS
            )
        ]
        found.append(Seen("operator", (count, count), first, tuple(blind)))
    return min(found, key=lambda each: len(each.blind), default=None)


def _given(ask: Ask, case: Case, numbers: Sequence[int]) -> list[object] | None:
    """Return the number of arrays in the sequence, and their bytes, if the shapes are right."""
    made = [array(m, *tensor) for m, tensor in zip(numbers, case.tensors(), strict=True)]
    try:
        value = ask(case, made)
        found = [as_array(each) for each in outputs_of(value)]
        right = bool(found) and all(each is not None and each.shape == _SHAPE for each in found)
        several = len(found) if isinstance(value, (list, tuple)) else 0
        return [several, *(np.asarray(each).tobytes() for each in found)] if right else None
    except NoAnswerError:
        raise
    except Exception:
        # A refusal; and the answer may be any object, and raise anything.
        return None
