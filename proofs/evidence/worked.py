"""What the documentation shows of the package at work: figures, verdicts, a session.

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
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import whycast
from whycast import numpy_rule
from whycast._rules import RULES, Operands, Rule

Array = NDArray[np.int64]
Shape = tuple[int, ...]

SESSION = (
    "import numpy as np, whycast",
    "column = np.array([[1], [2], [3]])",
    "row = np.array([10, 20, 30, 40])",
    "z0, z1 = whycast.broadcast(column, row)",
    "z0 + z1",
)
REFUSED = ("whycast.broadcast_shapes((3, 2), (4,))",)
COLUMN: Array = np.array([[1], [2], [3]])
ROW: Array = np.array([10, 20, 30, 40])
MISFIT: Array = np.array([[1, 2], [3, 4], [5, 6]])


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


# --- figures ----------------------------------------------------------------------------------


class Size(NamedTuple):
    """A size of a tensor on an axis of the common shape."""

    own: int
    target: int | None  # None where the shapes have no common size.
    prepended: bool = False

    @property
    def fits(self) -> bool:
        """Whether it is the target, or grows to it."""
        return self.target is not None and self.own in (1, self.target)


class Cell(NamedTuple):
    """An element of a tensor, at its place; `source` is where it comes from, None from nowhere."""

    place: Shape
    value: str
    source: Shape | None
    number: int  # That of the source in row-major order: cells of one number are one element.
    copy: bool = False

    @property
    def row(self) -> int:
        """The index on axis 0."""
        return self.place[0]

    @property
    def column(self) -> int:
        """The index on axis 1."""
        return self.place[1]


@dataclass(frozen=True)
class Tensor:
    """A tensor of the running example beside what it becomes."""

    name: str
    shape: Shape
    target: Shape
    sizes: list[Size]
    own: list[Cell]
    broadcast: list[Cell]


def aligned(shape: Shape, target: Sequence[int | None]) -> list[Size]:
    """Align the last axes of a shape with those of the common shape."""
    missing = len(target) - len(shape)
    sizes = [Size(1, target[k], prepended=True) for k in range(missing)]
    return sizes + [Size(*pair) for pair in zip(shape, target[missing:], strict=True)]


def tensor(name: str, array: Array, target: Shape, sizes: list[Size]) -> Tensor:
    """Tell for every place of `target`, of rank 2, which element of an array stands there.

    Where a size does not fit, the places beyond it have none.
    """
    padded = array.reshape([size.own for size in sizes])

    def cell(place: Shape) -> Cell:
        fitting = zip(place, sizes, strict=True)
        if not all(size.fits or index < size.own for index, size in fitting):
            return Cell(place, "?", None, -1)
        # Without the axis at fault, whose places are those of the array.
        within = tuple(t if s.fits else s.own for s, t in zip(sizes, target, strict=True))
        source = whycast.source_index(array.shape, within, place)
        number = int(np.ravel_multi_index(source, array.shape)) if source else 0
        here = place == tuple(np.unravel_index(number, padded.shape))
        return Cell(place, str(array[source]), source, number, copy=not here)

    own = [
        Cell(place, str(padded[place]), None, number)
        for number, place in enumerate(product(*map(range, padded.shape)))
    ]
    places = product(*map(range, target))
    return Tensor(name, array.shape, target, sizes, own, [cell(place) for place in places])


def example() -> list[Tensor]:
    """Broadcast the column and the row of the running example."""
    target = whycast.broadcast_shapes(COLUMN.shape, ROW.shape)
    return [
        tensor(name, array, target, aligned(array.shape, target))
        for name, array in (("column", COLUMN), ("row", ROW))
    ]


def misfit() -> tuple[list[Tensor], whycast.BroadcastError]:
    """Try to broadcast (3, 2) with (4), and give the tensors and the error."""
    arrays = {"tensor 0": MISFIT, "tensor 1": ROW}
    try:
        whycast.broadcast(*arrays.values())
    except whycast.BroadcastError as found:
        error = found
    # What the shape would be if the size at fault were a 1.
    shapes = [list(shape) for shape in error.shapes]
    shapes[error.tensor][error.axis] = 1
    target = whycast.broadcast_shapes(*shapes)
    known = [None if axis == error.axis else size for axis, size in enumerate(target)]
    sizes = [aligned(array.shape, target) for array in arrays.values()]
    sizes[error.tensor] = aligned(error.shapes[error.tensor], known)
    return [
        tensor(name, array, target, own)
        for (name, array), own in zip(arrays.items(), sizes, strict=True)
    ], error


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
