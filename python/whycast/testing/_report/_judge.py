"""What an answer is held against, and whether it deviates from that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whycast._errors import BroadcastError, show_shape
from whycast._rules import Rule
from whycast._types import AnyArray, Shape, Strides
from whycast.testing._cases._case import Case, Level, Stage, asked
from whycast.testing._cases._values import array
from whycast.testing._report._compare import (
    Finding,
    difference,
    first_line,
    one_line,
    show,
    show_array,
    show_error,
)
from whycast.testing._report._tally import Example

_AXIS = re.compile(r"(?i)\b(?:axis|dimension|dim)\b\W{0,3}(-?\d+)")

# At most so many prepared arrays are kept from one case to the next, and so many bytes of them.
_KEPT = 4096
_KEPT_BYTES = 2**23


class Refusal(NamedTuple):
    """How an implementation refused, if it said anything."""

    text: str = ""
    axis: int | None = None
    error: BaseException | None = None

    @property
    def shown(self) -> str:
        """Its text, with the type of the exception, on one line."""
        if self.error is None:
            return one_line(self.text.strip().partition("\n")[0]) or "a refusal"
        return show_error(self.error)

    @property
    def named_axis(self) -> int | None:
        """The axis that it names, in an attribute or in its text.

        >>> Refusal("a (3) must match b (4) at non-singleton dimension 1").named_axis
        1
        """
        axis = self.axis if self.error is None else getattr(self.error, "axis", None)
        if type(axis) is int:
            return axis
        match = _AXIS.search(first_line(self.error) if self.error is not None else self.text)
        return int(match[1]) if match else None


@dataclass(frozen=True)
class Expected:
    """What an answer is held against: an error, or what the rule's own function returns."""

    error: ValueError | None
    value: object

    @property
    def outcome(self) -> object:
        """The one or the other."""
        return self.value if self.error is None else self.error


def expected(
    rule: Rule, level: Level, case: Case, arrays: Sequence[AnyArray] | None = None
) -> Expected:
    """Ask the verified programs about a case, and about its arrays, or those that are given."""
    shape = rule.shape(case)
    if shape is None:
        return Expected(rule.refusal(case), None)
    if level == "data" and arrays is None:
        arrays = case.arrays()
    return Expected(None, right_answer(rule, level, case, shape, arrays or ()))


def right_answer(
    rule: Rule, level: Level, case: Case, shape: Shape, arrays: Sequence[AnyArray]
) -> object:
    """Return what a rule answers at a level where it accepts; the output has that shape."""
    if level == "index":
        return rule.source(case, case.multi_index or ())
    if level == "strides":
        layout = rule.layout(case, case.strides or ())
        return layout and layout.strides
    if level == "data":
        outputs = rule.broadcast(arrays, case)
        return outputs if rule.takes == "tensors" else outputs[0]
    return shape


class Judge:
    """Asks an implementation that should follow a rule, and compares its answers, at one level."""

    def __init__(self, rule: Rule, level: Level) -> None:
        self.rule = rule
        self.level: Level = level
        self._prepared: dict[tuple[int, Shape, str, str], _Prepared] = {}
        self._kept_bytes = 0
        self._in_use: list[_Prepared] = []

    def arguments(self, case: Case) -> tuple[object, ...]:
        """Give what an implementation is called with."""
        if self.level == "data":
            self._in_use = self._prepare(case)
        return asked(self.rule, self.level, case, [each.array for each in self._in_use])

    def finding(self, case: Case, value: object) -> Finding | None:
        """Compare an answer, which is None or a Refusal where there was none; None if it is right.

        At level data the arrays that `arguments` gave last are looked at too.
        """
        shape = self.rule.shape(case)
        if value is None or isinstance(value, Refusal) or _is_false(value, self.level):
            found = self._refused(case, value, accepted=shape is not None)
        elif shape is None:
            found = Finding("accepts", _zeros(case), got=show(value))
        else:
            kept = [each.kept for each in self._in_use]
            right = right_answer(self.rule, self.level, case, shape, kept)
            # Arrays that come back as they are share their own memory.
            inputs = [] if self.rule.gives_back else [each.array for each in self._in_use]
            found = difference(self.level, value, right, shape, inputs)
        return self._changed() or found

    def example(self, stage: Stage, case: Case, finding: Finding) -> Example:
        """Take down a case in which an implementation deviates."""
        text = finding.expected
        if text is None:
            found = expected(self.rule, self.level, case)
            text = f"refusal: {first_line(found.error)}" if found.error else show(found.value)
        return Example(stage, case, text, finding.got)

    def _refused(self, case: Case, value: object, *, accepted: bool) -> Finding | None:
        refusal = value if isinstance(value, Refusal) else Refusal()
        if accepted:
            name = type(refusal.error).__name__ if refusal.error is not None else ""
            return Finding("refuses", f"{name} {_zeros(case)}".strip(), got=refusal.shown)
        if self.level != "report":
            return None
        error = self.rule.refusal(case)
        if not isinstance(error, BroadcastError):
            return None
        from_the_end = error.axis - max(map(len, case.every_shape))
        axis = refusal.named_axis
        if axis in (error.axis, from_the_end, getattr(error, "tensor_axis", error.axis)):
            return None
        named = "no axis" if axis is None else f"axis {axis}"
        wanted_axis = f"axis {error.axis}: {first_line(error)}"
        return Finding(
            "axis", "(none)" if axis is None else "", wanted_axis, f"{named}: {refusal.shown}"
        )

    def _prepare(self, case: Case) -> list[_Prepared]:
        found: list[_Prepared] = []
        for m, tensor in enumerate(case.tensors()):
            key = (m, *tensor)
            prepared = self._prepared.get(key)
            if prepared is None:
                given, kept = array(*key), array(*key)
                prepared = _Prepared(given, kept, given.tobytes(), given.shape, given.strides)
                if len(self._prepared) >= _KEPT or self._kept_bytes > _KEPT_BYTES:
                    self._prepared.clear()
                    self._kept_bytes = 0
                self._prepared[key] = prepared
                self._kept_bytes += 3 * given.nbytes
            found.append(prepared)
        return found

    def _changed(self) -> Finding | None:
        for m, (given, kept, before, shape, strides) in enumerate(self._in_use):
            if (
                given.tobytes() != before
                or given.shape != shape
                or given.strides != strides
                or given.dtype != kept.dtype
                or given.flags.writeable != kept.flags.writeable
            ):
                self._prepared.clear()
                was, now = (f"argument {m}: {each}" for each in _told_apart(kept, given))
                return Finding("input changed", "", was, now)
        return None


class _Prepared(NamedTuple):
    """An array for an implementation, its twin, and what it was before."""

    array: AnyArray
    kept: AnyArray
    bytes: bytes
    shape: Shape
    strides: Strides


def _is_false(value: object, level: Level) -> bool:
    """Whether an answer says no; a verdict may be a number, as programs in C return it."""
    numbers = (bool, np.bool_, *((int, np.integer) if level == "verdict" else ()))
    return isinstance(value, numbers) and not value


def _told_apart(kept: AnyArray, given: AnyArray) -> list[str]:
    """Show what an argument was and is, with what is not seen of it where that alone differs."""
    shown = list(map(show_array, (kept, given)))
    if shown[0] == shown[1]:
        for k, each in enumerate((kept, given)):
            access = "writable" if each.flags.writeable else "read-only"
            shown[k] += f", strides {show_shape(each.strides)}, {access}"
    return shown


def _zeros(case: Case) -> str:
    return "with a size of 0" if any(0 in shape for shape in case.every_shape) else ""
