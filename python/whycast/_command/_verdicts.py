"""The results of all rules for the same shapes, and why they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from whycast import _kernel
from whycast._command._arguments import answered, names_in, outcome, show_some
from whycast._errors import BroadcastError, IncompatibleError, show_int
from whycast._rules import RULES, Finding, Operands, Rule, rule_on_tensors
from whycast._types import Shape
from whycast.symbolic import Answer, NeverError


class Verdict(NamedTuple):
    """A rule's shape, `answer` (for names) or error; without `operands`, `note` is the reason."""

    rule: Rule
    operands: Operands | None
    result: Shape | None = None
    error: ValueError | None = None
    note: str = ""
    answer: Answer | None = None

    @property
    def compared(self) -> Shape | str | None:
        return self.result if self.answer is None else str(self.answer)

    @property
    def why(self) -> str:
        error = self.error
        if self.answer is not None:
            return "".join(str(self.answer).partition("if ")[1:])
        if isinstance(error, BroadcastError):
            if error.target is None:
                return f"axis {error.axis}: {show_int(error.size)}, none in the target"
            if isinstance(error, (IncompatibleError, NeverError)) and error.target_shape is None:
                return f"axis {error.axis}: {show_int(error.target)} beside {show_int(error.size)}"
            expected = [show_int(error.target)]
            if error.target != 1 and self.rule.grows:
                expected.append("1")
            return f"axis {error.axis}: {show_int(error.size)}, expected {' or '.join(expected)}"
        return self.note if error is None else str(error)

    def described(self) -> dict[str, Any]:
        said: dict[str, Any] = {"rule": self.rule.name}
        if self.operands is None:
            return said | {"asked": False, "reason": self.note}
        if self.operands.axes is not None:
            said["axes"] = self.operands.axes
        return said | outcome(self.error or self.answer or self.result)


def verdicts(
    rule: Rule,
    asked: Operands,
    axes: tuple[int, ...] | None,
    facts: Sequence[tuple[str, str]] = (),
) -> list[Verdict]:
    """Return a verdict of every rule.

    `axes` is the argument of `rule` or, if `rule` takes no axes, the axes of the target on
    which other rules put the tensor; by default, the last.
    """
    shapes = asked.shapes if asked.target is None else (asked.shapes[0], asked.target)
    mapping = _mapping(rule, shapes, axes) if len(shapes) == 2 else None
    found = []
    for other in RULES.values():
        operands = asked if other is rule else _operands(other, shapes, mapping)
        if other.named is None and names_in(shapes):
            operands = "takes numbers"
        if isinstance(operands, str):
            found.append(Verdict(other, None, note=operands))
            continue
        axes_of = show_some(operands.axes or ())
        note = f"{other.parameters[2]} {axes_of}" if other.takes == "axes" else ""
        verdict, said = Verdict(other, operands, note=note), answered(other, operands, facts)
        if isinstance(said, Answer):
            found.append(verdict._replace(answer=said))
        elif isinstance(said, ValueError):
            found.append(verdict._replace(error=said))
        else:
            found.append(verdict._replace(result=said))
    return found


def _operands(
    rule: Rule, shapes: tuple[Shape, ...], mapping: tuple[int, ...] | None
) -> Operands | str:
    if rule.takes == "tensors":
        return Operands(shapes)
    if len(shapes) != 2:
        return "takes two shapes"
    own, target = shapes
    if rule.takes == "target":
        return Operands((own,), target)
    if mapping is None:
        return "no axes of the target to lie on"
    if rule.alignment == "missing" and list(mapping) != sorted({*mapping} & {*range(len(target))}):
        return "its axes are a set of the target's"
    return Operands((own,), target, rule.axes_for(mapping, len(target)))


def _mapping(
    rule: Rule, shapes: tuple[Shape, ...], axes: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Return the axes of the second shape where the first shape lies; None if there are none."""
    own, target = shapes
    if axes is None:
        return _last_axes(own, target)
    if rule.alignment != "missing":
        return axes
    try:
        return rule.places(len(own), target, axes)
    except (_kernel.AxisOutOfRange, _kernel.AxesNotIncreasing):
        return None


def _last_axes(own: Shape, target: Shape) -> tuple[int, ...] | None:
    missing = len(target) - len(own)
    return None if missing < 0 else tuple(range(missing, len(target)))


_WHY = {kind: finding for rule in RULES.values() for kind, finding in rule.findings.items()}


def findings(said: list[Verdict]) -> list[Finding]:
    of = {verdict.rule: verdict for verdict in said}
    strict, loose = (of[rule_on_tensors(zero_meets_one=meets)] for meets in (False, True))
    one_way = next(v for v in said if v.rule.takes == "target" and not v.rule.bidirectional)
    along = {rule.alignment: of[rule] for rule in of if rule.takes == "axes"}
    increasing, distinct, missing = (along[k] for k in ("increasing", "distinct", "missing"))
    differ = {
        "zero": strict.compared != loose.compared,
        "one way": one_way.operands is not None and one_way.compared != loose.compared,
    }
    if increasing.operands is not None:
        (own,), target, axes = increasing.operands
        differ |= {
            "last axes": target is not None and axes != _last_axes(own, target),
            "order": increasing.result != distinct.result,
            "growth": missing.error is not None and increasing.error is None,
        }
    return [_WHY[kind] for kind, holds in differ.items() if holds]
