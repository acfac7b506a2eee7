"""What every rule makes of some shapes, as the package computes it for the documentation."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from whycast import numpy_rule
from whycast._rules import RULES, Operands, Rule

Shape = tuple[int, ...]


# The rules on tensors alone, those on a tensor and a target that grow both, and the others.
ROWS = sorted(
    RULES.values(),
    key=lambda rule: (rule.takes != "tensors", rule.takes == "axes", not rule.bidirectional),
)


def operands(rule: Rule, own: Shape, other: Shape, along: Shape | None) -> Operands | None:
    """Give what a rule is asked: along these axes, or the last ones; None if it cannot be.

    nGraph's has the axes that the tensor lacks, in no order.
    """
    if rule.takes != "axes":
        return Operands((own, other)) if rule.takes == "tensors" else Operands((own,), other)
    axes = tuple(range(max(0, len(other) - len(own)), len(other))) if along is None else along
    if rule.alignment == "missing" and list(axes) != sorted(axes):
        return None
    return Operands((own,), other, rule.axes_for(axes, len(other)))


def verdict(rule: Rule, own: Shape, other: Shape, along: Shape | None = None) -> str:
    """Ask the package what a rule makes of a shape with another one, or to it.

    † marks elements that lie on other axes than the last ones.
    """
    asked = operands(rule, own, other, along)
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
            verdict(rule, one, other) for rule in ROWS
        ]
        for one, other in product(shapes, repeat=2)
    }
    rules = [
        {"title": r.title, "size": r.told.size, "axes": r.told.axes.replace("`", "")} for r in ROWS
    ]
    return {"rules": rules, "answers": answers}
