"""What the documentation shows of the package at work: sessions, and verdicts of each rule.

All of it is what the package itself answers when the pages are made.
"""

from __future__ import annotations

import inspect
import io
import math
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import whycast
from whycast import numpy_rule
from whycast._rules import RULES, Operands, Rule

Shape = tuple[int, ...]

SESSION = (
    "import numpy as np, whycast",
    "column = np.array([[1], [2], [3]])",
    "row = np.array([10, 20, 30, 40])",
    "z0, z1 = whycast.broadcast(column, row)",
    "z0 + z1",
)
FIGURES = {"example.svg": ("3x1", "4"), "misfit.svg": ("3x2", "4")}
REFUSED = ("whycast.broadcast_shapes((3, 2), (4,))",)


def session(lines: Sequence[str]) -> str:
    """Run lines as Python's prompt does, and give what stands there then."""
    said, names = io.StringIO(), {"whycast": whycast}
    with redirect_stdout(said):
        for line in lines:
            print(f">>> {line}")
            try:
                exec(compile(line, "<documentation>", "single"), names)
            except ValueError as error:
                print("Traceback (most recent call last):\n    ...")
                print("".join(traceback.format_exception_only(error)), end="")
    return said.getvalue()


# --- rules ------------------------------------------------------------------------------------


class Case(NamedTuple):
    """A shape that is broadcast with or to another one, and on which axes of that it lies."""

    shape: Shape
    other: Shape
    what: str = ""
    along: Shape | None = None


@dataclass(frozen=True)
class Row:
    """A rule in the tables, and what it says there of itself."""

    rule: Rule
    theory: str
    takes: str
    size: str
    axes: str

    @property
    def function(self) -> str:
        """The name of the package's function."""
        return self.rule.call.partition("(")[0]

    @property
    def arguments(self) -> str:
        """What stands in a call of it."""
        names = self.rule.parameters
        if self.rule.takes == "tensors":
            names = (f"*{next(iter(inspect.signature(self.rule.function).parameters))}",)
        return self.rule.call.partition("(")[2].removesuffix(")").format(", ".join(names))


class Verdict(NamedTuple):
    """What a rule says of a case: a shape, an error, or neither where it cannot be asked."""

    shape: Shape | None
    error: str = ""
    others: bool = False  # Whether other elements stand there than with the last axes aligned.


# The rules on tensors alone, those on a tensor and a target that grow both, and the others.
ROWS = tuple(
    Row(rule, *rule.told)
    for rule in sorted(
        RULES.values(),
        key=lambda rule: (rule.takes != "tensors", rule.takes == "axes", not rule.bidirectional),
    )
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


def verdict(rule: Rule, case: Case) -> Verdict:
    """Ask the package what a rule makes of a case."""
    asked = operands(rule, case)
    if asked is None:
        return Verdict(None)
    arrays = [np.arange(math.prod(shape)).reshape(shape) for shape in asked.shapes]
    try:
        found = rule.broadcast(arrays, asked)[0]
    except ValueError as error:
        return Verdict(None, str(error).partition("\n")[0])
    try:
        others = not np.array_equal(found, numpy_rule.broadcast_to(arrays[0], found.shape))
    except ValueError:
        others = True
    return Verdict(found.shape, others=others)
