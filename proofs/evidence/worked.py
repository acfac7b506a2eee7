"""What every rule makes of some shapes, as the package computes it for the documentation."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from whycast import numpy_rule
from whycast._rules import RULES, Operands, Rule

Shape = tuple[int, ...]


class Case(NamedTuple):
    """A shape that is broadcast with or to another one, and on which axes of that it lies."""

    shape: Shape
    other: Shape
    what: str = ""
    along: Shape | None = None


# The rules on tensors alone, those on a tensor and a target that grow both, and the others.
ROWS = sorted(
    RULES.values(),
    key=lambda rule: (rule.takes != "tensors", rule.takes == "axes", not rule.bidirectional),
)

QUESTIONS = (
    Case((1,), (3,), "Does 1 grow?"),
    Case((1,), (0,), "To 0, too?"),
    Case((0,), (1,), "May 0 meet 1?"),
    Case((3,), (1,), "May the target be smaller?"),
    Case((2, 3), (3,), "May it have fewer axes?"),
)
CASES = (
    Case((3, 1), (4,), "a column and a row"),
    Case((3, 2), (4,), "two sizes, neither of them 1"),
    Case((), (2, 3), "a scalar"),
    Case((4,), (3, 4), "a row, repeated downwards"),
    Case((3, 1), (3, 4), "a column, repeated sideways"),
    Case((3,), (3, 4), "a vector, repeated sideways", (0,)),
    Case((3,), (3, 3), "a vector on axis 0 of a square", (0,)),
    Case((2, 3), (3, 2), "axes in another order", (1, 0)),
    Case((3, 4), (1, 4), "a target with a smaller size"),
    Case((2, 3), (3,), "a target with fewer axes"),
    Case((1,), (0,), "1 becomes 0"),
    Case((0,), (1,), "0 meets 1"),
    Case((), (0,), "a scalar becomes empty"),
    Case((1, 0), (2, 0), "0 meets 0, and 1 grows"),
)


def operands(rule: Rule, case: Case) -> Operands | None:
    """Give what a rule is asked: along the axes of the case, or the last ones; None if it cannot.

    nGraph's has the axes that the tensor lacks, in no order.
    """
    own, other, _, along = case
    if rule.takes == "tensors":
        return Operands((own, other))
    if rule.takes == "target":
        return Operands((own,), other)
    axes = tuple(range(max(0, len(other) - len(own)), len(other))) if along is None else along
    if rule.alignment == "missing" and list(axes) != sorted(axes):
        return None
    return Operands((own,), other, rule.axes_for(axes, len(other)))


def verdict(rule: Rule, case: Case) -> str:
    """Ask the package what a rule makes of a case; † marks elements that lie on other axes."""
    asked = operands(rule, case)
    if asked is None:
        return "–"
    arrays = [np.arange(math.prod(shape)).reshape(shape) for shape in asked.shapes]
    try:
        found = rule.broadcast(arrays, asked)[0]
    except ValueError:
        return "error"
    try:
        same = np.array_equal(found, numpy_rule.broadcast_to(arrays[0], found.shape))
    except ValueError:
        same = False
    return written(found.shape) + " †" * (not same)


def written(shape: Shape) -> str:
    """Write a shape as the texts do: (3) for one axis."""
    return f"({', '.join(map(str, shape))})"


def small() -> dict[str, Any]:
    """Give what each rule makes of any two small shapes, for the page to play with."""
    shapes = [shape for rank in range(3) for shape in product(range(5), repeat=rank)]
    answers = {
        f"{'x'.join(map(str, one))} {'x'.join(map(str, other))}": [
            verdict(rule, Case(one, other)) for rule in ROWS
        ]
        for one, other in product(shapes, repeat=2)
    }
    rules = [
        {"title": r.title, "size": r.told.size, "axes": r.told.axes.replace("`", "")} for r in ROWS
    ]
    return {"rules": rules, "answers": answers}
