"""Judge an answer: whether it deviates, and how."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from whycast._errors import BroadcastError, show_shape
from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.symbolic import Answer
from whycast.testing._cases._case import OF_ARRAYS, OPERATORS, Case, Level
from whycast.testing._cases._fixed import MOST_ELEMENTS
from whycast.testing._cases._values import array, laid_on, number_at
from whycast.testing._report import _symbolic
from whycast.testing._report._compare import (
    KINDS,
    Finding,
    NoAnswerError,
    array_differs,
    as_array,
    difference,
    first_line,
    one_line,
    show,
    show_array,
    show_error,
)
from whycast.testing._report._lifted import Lifted, gradient_differs

# Asks an implementation about a case, with the tensors of the case or others.
Ask: TypeAlias = Callable[[Case, Sequence[AnyArray]], object]

_AXIS = re.compile(r"(?i)\b(?:axis|dimension|dim)\b\W{0,3}(-?\d+)")


class Refusal(NamedTuple):
    """A refusal: the text, axis and exception, if the implementation provides any."""

    text: str = ""
    axis: int | None = None
    error: BaseException | None = None

    @property
    def shown(self) -> str:
        if self.error is None:
            return one_line(self.text.strip().partition("\n")[0]) or "a refusal"
        return show_error(self.error)

    @property
    def named_axis(self) -> int | None:
        """The axis that an attribute or the text names.

        >>> Refusal("a (3) must match b (4) at non-singleton dimension 1").named_axis
        1
        """
        axis = self.axis if self.error is None else getattr(self.error, "axis", None)
        if type(axis) is int:
            return axis
        match = _AXIS.search(first_line(self.error) if self.error is not None else self.text)
        return int(match[1]) if match else None


def expected(
    rule: Rule, level: Level, case: Case, arrays: Sequence[AnyArray] | None = None
) -> object:
    """Return the verified programs' answer or refusal; at level data, for `arrays` if given."""
    if level == "symbolic":
        return _symbolic.right_answer(rule, case)
    shape = rule.shape(case)
    if shape is None:
        return rule.refusal(case)
    if level == "adjoint":
        return case.shapes[0]
    if level == "index":
        return rule.source(case, case.multi_index or ())
    if level == "strides":
        layout = rule.layout(case, case.strides or ())
        return layout and layout.strides
    if level == "data":
        outputs = rule.broadcast(case.arrays() if arrays is None else arrays, case)
        return outputs if rule.takes == "tensors" else outputs[0]
    return shape


def no_answer(rule: Rule, level: Level, case: Case, error: NoAnswerError) -> Finding:
    right = expected(rule, level, case)
    return Finding(error.kind, error.detail, _right_text(right), error.text)


class Judge:
    """Asks and judges an implementation; if `refuses` names exceptions, only these refuse."""

    def __init__(self, rule: Rule, level: Level, ask: Ask, refuses: Sequence[str] = ()) -> None:
        self.rule = rule
        self.level: Level = level
        self.ask = ask
        self.refuses = frozenset(refuses)
        # At level symbolic, counts refusals of shapes that broadcast for some sizes, not for all.
        self.cautious = 0
        self.accepts = False
        self._in_use: list[_Prepared] = []
        # The last case with an output, and its pairs of returned and right arrays.
        self._before: tuple[Case, list[tuple[AnyArray | None, AnyArray]]] | None = None

    def judged(self, case: Case) -> Finding | None:
        self._in_use = []
        for m, tensor in enumerate(case.tensors(self.level) if self.level in OF_ARRAYS else ()):
            shared = self._in_use[-1].shared(*tensor) if m else None
            # Large arrays are not kept: they would fill the memory.
            make = _prepared if prod(tensor[0]) <= MOST_ELEMENTS else _prepare
            number = number_at(m, self.level)
            self._in_use.append(make(number, *tensor) if shared is None else shared)
        try:
            return self.finding(case, self._answer(case, [each.array for each in self._in_use]))
        except NoAnswerError as error:
            return no_answer(self.rule, self.level, case, error)

    def finding(self, case: Case, value: object) -> Finding | None:
        """Judge the tensors after the call, and the answer or refusal; None if all are right."""
        found = self._changed() or self._compared(case, value)
        if found is not None:
            # An earlier result may share memory with the changed argument.
            self._before = None
        return found

    def _answer(self, case: Case, tensors: Sequence[AnyArray]) -> object:
        try:
            answer = self.ask(case, tensors)
            # A generator runs only now.
            is_lazy = type(answer) is not tuple and isinstance(answer, Iterator)
            return list(cast("Iterator[object]", answer)) if is_lazy else answer
        except (MemoryError, SystemExit) as error:
            kind = "memory" if isinstance(error, MemoryError) else "exit"
            raise NoAnswerError(kind, show_error(error)) from None
        except (NoAnswerError, KeyboardInterrupt):
            raise
        except BaseException as error:
            # Any other exception is a refusal, even outside the class Exception.
            return Refusal(error=error)

    def _compared(self, case: Case, value: object) -> Finding | None:
        refuses = value is None or isinstance(value, Refusal) or _is_false(value, self.level)
        refusal = value if isinstance(value, Refusal) else Refusal()
        if self.level == "symbolic":
            return self._names_judged(case, None if refuses else value, refusal)
        shape = self.rule.shape(case)
        self.accepts = shape is not None
        if self.level in OPERATORS and shape is not None:
            return self._lifted(case, shape, value, refusal if refuses else None)
        if refuses and shape is None:
            found = self._no_refusal(refusal)
            # Do not compute the rule's reason here: it takes longer than the verdict.
            if found is not None or self.level != "report":
                return found
        right = expected(self.rule, self.level, case, [each.kept for each in self._in_use])
        if refuses:
            return self._refused(case, refusal, right)
        if shape is None:
            return Finding("accepts", _zeros(case), _right_text(right), show(value))
        if self.level == "adjoint":
            return gradient_differs(value, self._in_use[0].kept, case.shapes[0])
        # If a rule returns an unchanged argument itself, the result shares its memory.
        inputs = [] if self.rule.gives_back else [each.array for each in self._in_use]
        found = difference(self.level, value, right, shape, inputs)
        if found is None and self.level == "data":
            found = self._overwritten(case, value, right)
        return found

    def _lifted(
        self, case: Case, shape: Shape, value: object, refusal: Refusal | None
    ) -> Finding | None:
        sums = case.shapes if self.level == "vjp" else None
        broadcast = self.rule.broadcast([each.kept for each in self._in_use], case)
        lifted = Lifted(value, broadcast, sums)
        answers = [self._answer(case, part) for part in lifted.parts()]
        refused = [each or Refusal() for each in answers if isinstance(each, Refusal | None)]
        if refusal is None and not refused:
            return lifted.finding(answers)
        if refusal is None:
            wanted = "an answer, as for these tensors, for the broadcast tensors"
            return Finding("refuses", "broadcast first", wanted, refused[0].shown)
        every = enumerate(case.tensors(self.level))
        ones = [array(m, (1,), dtype, "C") for m, (_, dtype, _) in every]
        # If tensors of one element are accepted, `parts` were refused because they have none.
        if refused and (0 not in shape or isinstance(self._answer(case, ones), Refusal | None)):
            return Finding("undefined", "", "", refused[0].shown)
        return self._refused(case, refusal, shape)

    def _names_judged(self, case: Case, value: Any, refusal: Refusal) -> Finding | None:
        try:
            claim = None if value is None else _symbolic.read_claim(value)
            found = _symbolic.judged(self.rule, case, claim)
            if found.verdict in KINDS:
                return _symbolic.finding(self.rule, case, claim, refusal.shown, found)
        except Exception as error:
            # The answer may be an object that raises any exception.
            right = _right_text(expected(self.rule, self.level, case))
            return Finding("garbage", "", right, f"{show(value)}: {show_error(error)}")
        self.cautious += found.verdict == "cautious"
        return self._no_refusal(refusal)

    def _overwritten(self, case: Case, value: Any, right: Any) -> Finding | None:
        values, wanted = (value, right) if self.rule.takes == "tensors" else ([value], [right])
        pairs = [(as_array(each), kept) for each, kept in zip(values, wanted, strict=True)]
        before, self._before = self._before, (case, pairs)
        if before is not None:
            for m, (output, kept) in enumerate(before[1]):
                found = None if output is None else array_differs(output, kept, "")
                if found is not None:
                    where = f"after {before[0]!r}, array {m} of its result: "
                    shown = (where + each for each in (found.expected, found.got))
                    return Finding("overwritten", "", *shown)
        return None

    def _no_refusal(self, refusal: Refusal) -> Finding | None:
        if refusal.error is None or not self.refuses:
            return None
        if any(each.__name__ in self.refuses for each in type(refusal.error).__mro__):
            return None
        wanted = f"a refusal by {' or '.join(sorted(self.refuses))}"
        return Finding("error", type(refusal.error).__name__, wanted, refusal.shown)

    def _refused(self, case: Case, refusal: Refusal, right: object) -> Finding | None:
        if not isinstance(right, ValueError):
            name = type(refusal.error).__name__ if refusal.error is not None else ""
            detail = f"{name} {_zeros(case)}".strip()
            return Finding("refuses", detail, _right_text(right), refusal.shown)
        if not isinstance(right, BroadcastError) or right.target is None:
            return None
        from_the_end = right.axis - max(map(len, case.every_shape))
        axis = refusal.named_axis
        if axis in (right.axis, from_the_end, getattr(right, "tensor_axis", right.axis)):
            return None
        named, detail = ("no axis", "(none)") if axis is None else (f"axis {axis}", "")
        wanted = f"axis {right.axis}: {first_line(right)}"
        return Finding("axis", detail, wanted, f"{named}: {refusal.shown}")

    def _changed(self) -> Finding | None:
        for m, (given, kept, before) in enumerate(self._in_use):
            states = [(x.shape, x.strides, x.dtype, x.flags.writeable) for x in (given, kept)]
            if given.ravel().tobytes() != before or states[0] != states[1]:
                _prepared.cache_clear()
                was, now = (f"argument {m}: {each}" for each in _told_apart(kept, given))
                return Finding("input changed", "", was, now)
        return None


class _Prepared(NamedTuple):
    array: AnyArray
    # `kept`: an equal array of the same layout; `bytes`: the array's bytes before the call (the
    # bytes of objects are addresses).
    kept: AnyArray
    bytes: bytes

    def shared(self, shape: Shape, dtype: str, layout: str) -> _Prepared | None:
        """Return the next tensor in this memory, if it has a layout of `SHARED` and fits."""
        given, kept = (laid_on(each, shape, dtype, layout) for each in self[:2])
        if given is None or kept is None:
            return None
        return _Prepared(given, kept, given.ravel().tobytes())


def _prepare(m: int, shape: Shape, dtype: str, layout: str) -> _Prepared:
    given, kept = (array(m, shape, dtype, layout) for _ in range(2))
    return _Prepared(given, kept, given.ravel().tobytes())


_prepared = lru_cache(128)(_prepare)


def _is_false(value: object, level: Level) -> bool:
    """Whether an answer is False or, at level verdict, the 0 of functions in C."""
    numbers = (bool, np.bool_, *((int, np.integer) if level == "verdict" else ()))
    # An operator may compute False.
    return level not in (*OPERATORS, "adjoint") and isinstance(value, numbers) and not value


def _right_text(right: object) -> str:
    if isinstance(right, Answer):
        return str(right)
    return f"refusal: {first_line(right)}" if isinstance(right, ValueError) else show(right)


def _told_apart(kept: AnyArray, given: AnyArray) -> list[str]:
    """Show an argument before and after the call; if these are equal, with strides and access."""
    shown = list(map(show_array, (kept, given)))
    if shown[0] == shown[1]:
        for k, each in enumerate((kept, given)):
            access = "writable" if each.flags.writeable else "read-only"
            shown[k] += f", strides {show_shape(each.strides)}, {access}"
    return shown


def _zeros(case: Case) -> str:
    return "with a size of 0" if any(0 in shape for shape in case.every_shape) else ""
