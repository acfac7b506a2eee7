"""The functions to check: a first look at them, and operators made from those with an `out`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from whycast._rules import Operands, Rule
from whycast._types import AnyArray, Shape
from whycast.testing._cases._case import OPERATORS, Case, Level, Tensors
from whycast.testing._cases._values import array, number_at
from whycast.testing._peers import Function
from whycast.testing._report._compare import NoAnswerError, array_differs, as_array, outputs_of
from whycast.testing._report._judge import Ask

_SHAPE = (2, 3)
# The numbers of tensors to try if the signature has no greatest number, the usual number first.
_COUNTS = (2, 1, 3, 4)
# Other numbers for a tensor: another tensor's elements, larger elements, another order.
_OTHERS = (0, 20, -5)
# _MARGIN: the least bytes before and after an output. _MOST: the most elements of an output for
# which bad outputs are tried, too.
_MARGIN = 64
_MOST = 64


class Seen(NamedTuple):
    """The level and form of a function, as its first calls show.

    `first` is "bool" if the first tensor is a condition. `blind` contains the numbers of tensors
    without effect on the result. `form` is the form of gradients: "pair", "shapes", or "".
    """

    level: Level
    tensors: Tensors
    first: str = ""
    blind: tuple[int, ...] = ()
    form: str = ""


def look(
    function: object,
    level: Level | None,
    tensors: Tensors | None,
    dtypes: tuple[str, ...],
    form: str,
    ask: Ask,
) -> Seen:
    """Find out what to ask; call the function only at levels of operators, or without a level."""
    least, most, known = taken_by(function)
    if level == "inplace" or form == "shapes":
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
            # The function dies: the first cases will report that.
            return Seen(level or "data", tensors or (count, count))
        if found is not None:
            if found.level == "data":
                return Seen("data", usual)
            own = (max(2, least), math.inf) if known and high == math.inf else (count, count)
            tensors = tensors or own
            return found._replace(level=level or found.level, tensors=tensors, form=form)
    return Seen(level or "data", usual)


def taken_by(function: object) -> tuple[int, float, bool]:
    """Return the least and the greatest number of tensors, and whether there is a signature.

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
    """Ask about tensors of one shape; also with a condition as the first tensor."""
    found: list[Seen] = []
    for first in ("", "bool"):
        case = Case((_SHAPE,) * count, dtypes=(first or plain, *(plain,) * (count - 1)))
        tensors = list(case.tensors(level or "data"))
        numbers = [number_at(m, "operator") for m in range(len(tensors))]
        given = _given(ask, case, tensors, numbers)
        if given is None:
            continue
        if level is None and given[0] == count:
            return Seen("data", (count, count))
        blind = [
            m
            for m in range(count if level != "vjp" else 0)
            if all(
                _given(ask, case, tensors, [*numbers[:m], n, *numbers[m + 1 :]]) == given
                for n in _OTHERS
            )
        ]
        found.append(Seen("operator", (count, count), first, tuple(blind)))
    return min(found, key=lambda each: len(each.blind), default=None)


def _given(
    ask: Ask, case: Case, tensors: Sequence[tuple[Shape, str, str]], numbers: Sequence[int]
) -> list[object] | None:
    """Return a sequence's length, else 0, and the arrays' bytes; None for a wrong answer."""
    made = [array(m, *tensor) for m, tensor in zip(numbers, tensors, strict=True)]
    try:
        value = ask(case, made)
        found = [as_array(each) for each in outputs_of(value)]
        right = bool(found) and all(each is not None and each.shape == _SHAPE for each in found)
        several = len(found) if isinstance(value, (list, tuple)) else 0
        return [several, *(np.asarray(each).tobytes() for each in found)] if right else None
    except NoAnswerError:
        raise
    except Exception:
        return None


def form_of(function: object, dtypes: Sequence[str]) -> str:
    """Find the form of gradients; a "pair" is an output and a function of the output's gradient."""
    least, most, known = taken_by(function)
    if not callable(function):
        return ""
    tensors = [array(-m, _SHAPE, (*dtypes, "float64")[0], "C") for m in range(least or 2)]
    try:
        _, pull = function(*tensors)
    except Exception:
        pull = None
    return "pair" if callable(pull) else "shapes" if known and most > 2 else ""


# For each form: code that makes `f` take the output's gradient and the tensors; reports show it.
PULLS = {
    "pair": "g = f; f = lambda d, *x: g(*x)[1](d)",
    "shapes": "g = f; f = lambda d, *x: g(d, *[z.shape for z in x])",
    "": "",
}


def pulling(function: Function, form: str) -> Function:
    known = {"f": function}
    exec(PULLS[form], known)
    return known["f"]


def writing(function: Function, rule: Rule) -> Function:
    """Make an operator from ``f(out, a, ...)``; `out` has the dtype of the last tensor."""
    # Fill the memory differently each time: an output that is not written then differs.
    fills = cycle((0x5A, 0xA5))

    def operator(*arrays: Any) -> Any:
        dtype = arrays[-1].dtype
        shape = rule.shape(Operands(tuple([x.shape for x in arrays])))
        if shape is None or dtype.hasobject:
            out = np.zeros(arrays[0].shape if shape is None else shape, dtype)
            function(out, *arrays)
            return out
        place, memory = _output(shape, dtype, next(fills))
        before, was = memory.copy(), place.copy()
        function(place, *arrays)
        out, place[...] = np.array(place), was
        if (memory != before).any():
            raise NoAnswerError("outside", f"writes outside of out, of strides {place.strides}")
        if 0 < out.size <= _MOST:
            for wrong, why in _to_refuse(shape, dtype):
                if _is_taken(function, wrong, arrays):
                    raise NoAnswerError("out", f"accepts an out {why}")
            if arrays[0].shape == shape and arrays[0].dtype == dtype:
                _check_overlaps(function, out, arrays)
        return out

    return operator


def _check_overlaps(function: Function, out: AnyArray, arrays: Any) -> None:
    """Check an `out` that is the first tensor and, unless refused, one shifted by an element."""
    for start in (0, 1, -1):
        memory = np.empty(out.size + abs(start), out.dtype)
        first, alias = (
            memory[at : at + out.size].reshape(out.shape) for at in (max(0, -start), max(0, start))
        )
        first[...] = arrays[0]
        if start and not _is_taken(function, alias, (first, *arrays[1:])):
            continue
        if not start:
            function(alias, first, *arrays[1:])
        where = "out overlaps the first tensor: " if start else "out is the first tensor: "
        if found := array_differs(alias, out, where):
            raise NoAnswerError("out", found.got)


def _output(shape: Shape, dtype: np.dtype[Any], fill: int) -> tuple[AnyArray, AnyArray]:
    """Make an output of some layout; return it with its memory of bytes."""
    plain = np.empty(shape, dtype, order="F" if sum(shape) % 2 else "C")
    step = 1 + len(shape) % 2
    strides = tuple([step * stride for stride in plain.strides])
    # A function that assumes other strides still writes within the memory.
    margin = step * plain.nbytes + _MARGIN
    memory = np.full(3 * margin, fill, np.uint8)
    out: AnyArray = np.ndarray(shape, dtype, memory.data, margin, strides)
    backwards: Any = (..., *[slice(None, None, -1)] * len(shape))
    return (out[backwards] if sum(shape) % 3 == 0 else out), memory


def _to_refuse(shape: Shape, dtype: np.dtype[Any]) -> Iterator[tuple[AnyArray, str]]:
    fixed = np.zeros(shape, dtype)
    fixed.flags.writeable = False
    yield fixed, "that is read-only"
    for axis, size in enumerate(shape):
        if size > 1:
            smaller = (*shape[:axis], size - 1, *shape[axis + 1 :])
            yield np.zeros(smaller, dtype), f"of shape {smaller}, for {shape}"
            repeated = np.zeros((*shape[:axis], 1, *shape[axis + 1 :]), dtype)
            strides = (*repeated.strides[:axis], 0, *repeated.strides[axis + 1 :])
            yield as_strided(repeated, shape, strides), f"with a stride of 0, of shape {shape}"
            break
    span = 1 + sum(size - 1 for size in shape)
    if math.prod(shape) > span:
        windows = as_strided(np.zeros(span, dtype), shape, (dtype.itemsize,) * len(shape))
        yield windows, f"of shape {shape} whose elements overlap"


def _is_taken(function: Function, out: AnyArray, arrays: Any) -> bool:
    try:
        found = function(out, *arrays)
    except NoAnswerError:
        raise
    except Exception:
        return False
    return found is not False
