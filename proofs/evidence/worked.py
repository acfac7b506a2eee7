"""The results of every rule for some shapes, computed by the package for the documentation."""

from __future__ import annotations

from itertools import product
from typing import Any

from whycast._command._verdicts import Verdict, findings, verdicts
from whycast._errors import show_shape
from whycast._rules import RULES, Operands, Rule

Shape = tuple[int, ...]

# Rules on tensors alone; then rules with a target, bidirectional ones first; then with axes.
ROWS = sorted(
    RULES.values(),
    key=lambda rule: (rule.takes != "tensors", rule.takes == "axes", not rule.bidirectional),
)


def public_name(rule: Rule) -> str:
    """Return the full name of a rule's function."""
    function = getattr(rule.function, "func", rule.function)
    return f"{function.__module__}.{function.__name__}"


def asked(own: Shape, other: Shape, along: Shape | None = None) -> list[Verdict]:
    """Ask each rule about two shapes, or a shape and a target, along these or the last axes."""
    said = verdicts(ROWS[0], Operands((own, other)), along)
    return sorted(said, key=lambda verdict: ROWS.index(verdict.rule))


def cell(verdict: Verdict) -> str:
    """Write a verdict as a table's cell."""
    if verdict.operands is None:
        return "–"
    return "error" if verdict.result is None else show_shape(verdict.result)


def small() -> dict[str, Any]:
    """Return each rule's result for any two small shapes, and why rules differ."""
    shapes = [shape for rank in range(3) for shape in product(range(5), repeat=rank)]
    answers, why = {}, dict[str, str]()
    for one, other in product(shapes, repeat=2):
        said = asked(one, other)
        found = findings(said)
        why |= dict(found)
        key = " ".join("x".join(map(str, shape)) for shape in (one, other))
        answers[key] = [[*map(cell, said)], [each.id for each in found]]
    rules = [
        {"title": r.title, "size": r.told.size, "axes": r.told.axes.replace("`", "")} for r in ROWS
    ]
    return {"rules": rules, "why": why, "answers": answers}
