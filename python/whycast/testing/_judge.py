"""What a rule expects of an implementation, and in what an answer deviates from that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whycast._arrays import overlaps_itself
from whycast._errors import BroadcastError, show_shape
from whycast._rules import Rule
from whycast._types import AnyArray, Shape, Strides
from whycast.testing._case import Case, Level
from whycast.testing._compare import (
    Finding,
    as_array,
    as_integers,
    difference,
    first_line,
    one_line,
    show,
    show_array,
)
from whycast.testing._values import array

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
        return f"{type(self.error).__name__}: {first_line(self.error)}".removesuffix(": ")

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
    """What a rule expects: an error, or a value: a shape, an index, strides, or arrays."""

    error: ValueError | None
    value: object


def expected(rule: Rule, level: Level, case: Case) -> Expected:
    """Ask the verified programs about a case."""
    error = rule.refusal(case)
    if error is not None:
        return Expected(error, None)
    if level == "index":
        return Expected(None, rule.source(case, case.multi_index or ()))
    if level == "strides":
        layout = rule.layout(case, case.strides or ())
        return Expected(None, layout and layout.strides)
    if level == "data":
        return Expected(None, rule.broadcast(case.arrays(), case))
    return Expected(None, rule.shape(case))


class Judge:
    """Asks an implementation and compares its answers, at one level.

    Parameters
    ----------
    rule : Rule
        The rule that it should follow.
    level : str
        What it is asked.
    """

    def __init__(self, rule: Rule, level: Level) -> None:
        self.rule = rule
        self.level: Level = level
        self._prepared: dict[tuple[int, Shape, str, str], _Prepared] = {}
        self._kept_bytes = 0
        self._in_use: list[_Prepared] = []

    def arguments(self, case: Case) -> tuple[object, ...]:
        """Give what an implementation is called with."""
        level, rule = self.level, self.rule
        if level == "data":
            self._in_use = self._prepare(case)
            return rule.arguments([each.array for each in self._in_use], case)
        if level == "index":
            return (*rule.arguments(case.shapes, case), case.multi_index)
        if level == "strides":
            return rule.arguments((case.shapes[0], case.strides), case)
        return rule.arguments(case.shapes, case)

    def finding(self, case: Case, value: object) -> Finding | None:
        """Compare an answer, which is None or a Refusal where there was none; None if it is right.

        At level data the arrays that `arguments` gave last are looked at too.
        """
        wanted = self.rule.shape(case)
        if value is None or isinstance(value, Refusal) or _is_false(value, self.level):
            found = self._refused(case, value, wanted)
        elif wanted is None:
            found = Finding("accepts", _zeros(case), got=show(value))
        elif self.level == "data":
            found = self._compare_arrays(case, value)
        elif self.level == "verdict" or self.level == "report":
            found = None
        else:
            found = self._compare_integers(case, value, wanted)
        return self._changed() or found if self.level == "data" else found

    def expectation(self, case: Case) -> str:
        """Text of what the rule expects."""
        found = expected(self.rule, self.level, case)
        return f"refusal: {first_line(found.error)}" if found.error else show(found.value)

    # --- verdicts -----------------------------------------------------------------------------

    def _refused(self, case: Case, value: object, wanted: Shape | None) -> Finding | None:
        refusal = value if isinstance(value, Refusal) else Refusal()
        if wanted is not None:
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

    # --- integers -----------------------------------------------------------------------------

    def _compare_integers(self, case: Case, value: object, shape: Shape) -> Finding | None:
        # A size of 3.0 is equal to one of 3, and is none.
        usual = type(value) is tuple and list(map(type, value)).count(int) == len(value)
        if usual and value == shape and self.level == "shape":
            return None
        wanted: tuple[int, ...] | None = shape
        if self.level == "index":
            wanted = self.rule.source(case, case.multi_index or ())
        if self.level == "strides":
            layout = self.rule.layout(case, case.strides or ())
            wanted = layout and layout.strides
        assert wanted is not None
        got = as_integers(value)
        if got == wanted:
            return None
        if self.level == "strides" and got is not None and len(got) == len(shape):
            # By a stride along an axis of one index nobody ever steps, nor in an empty tensor.
            steps = zip(shape, got, wanted, strict=True)
            if 0 in shape or all(size == 1 or a == b for size, a, b in steps):
                return None
        return Finding(self.level, "", show_shape(wanted), show(value))

    # --- arrays -------------------------------------------------------------------------------

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

    def _compare_arrays(self, case: Case, value: object) -> Finding | None:
        wanted = self.rule.broadcast([each.kept for each in self._in_use], case)
        if self.rule.takes != "tensors":
            return self._compare_array(value, wanted[0], "")
        if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
            return Finding("no array", "", f"{_arrays(len(wanted))} in a sequence", show(value))
        if len(value) != len(wanted):
            return Finding("count", "", _arrays(len(wanted)), _arrays(len(value)))
        for m, (output, right) in enumerate(zip(value, wanted, strict=True)):
            if found := self._compare_array(output, right, f"array {m}: "):
                return found
        return None

    def _compare_array(self, output: object, right: AnyArray, where: str) -> Finding | None:
        try:
            found = as_array(output)
        except Exception as error:
            why = Refusal(error=error).shown
            got = f"{where}{show(output)}, of which no array can be made: {why}"
            return Finding("no array", "", f"{where}an array", got)
        if found is None:
            return Finding("no array", "", f"{where}an array", where + show(output))
        if deviation := difference(found, right, where):
            return deviation
        if isinstance(output, np.ndarray) and self._can_be_written_through(found):
            right_one = f"{where}read-only, or in memory of its own"
            return Finding("writable", "", right_one, f"{where}writable, in memory that it shares")
        return None

    def _can_be_written_through(self, output: AnyArray) -> bool:
        """Whether a write to one element of an output changes an input, or another element."""
        flags = output.flags
        # By the sign of its flags NumPy remembers that it is to warn of a write.
        if flags.num < 0 or not flags.writeable or output.size == 0:
            return False
        if overlaps_itself(output):
            return True
        return not self.rule.gives_back and any(
            np.may_share_memory(output, each.array) for each in self._in_use
        )


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


def _arrays(count: int) -> str:
    return f"{count} {'array' if count == 1 else 'arrays'}"


def _zeros(case: Case) -> str:
    return "with a size of 0" if any(0 in shape for shape in case.every_shape) else ""
