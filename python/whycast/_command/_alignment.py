"""Tensors on the output's axes, and the steps of a rule, each with its clause.

For sizes without names, proved programs decide each axis, from tensors with only this axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from whycast import _kernel
from whycast._errors import show_int
from whycast._rules import Operands, Rule
from whycast.symbolic import Answer, NeverError, Size

# An output index leads to the same index of the tensor (kept), to index 0 (first), or to either if
# a name can be 1. None if the size does not fit.
Leads: TypeAlias = Literal["kept", "first", "either"] | None


class Place(NamedTuple):
    """A tensor on an axis of the output; the tensor's `axis` is None for a prepended 1."""

    size: int | str
    axis: int | None
    leads: Leads


class Row(NamedTuple):
    """A tensor, or a target that grows, and its places on the output's axes."""

    name: str
    places: dict[int, Place]
    is_tensor: bool = True


class Alignment(NamedTuple):
    """Tensors on the output's axes; a size is None if the rule defines none."""

    sizes: tuple[int | str | None, ...]
    rows: tuple[Row, ...]


def alignment(rule: Rule, operands: Operands) -> Alignment | None:
    """Align operands; None if a tensor has no place: wrong axes, or a target of too low rank."""
    error, (shapes, target, axes) = rule.refusal(operands), operands
    if error is not None and getattr(error, "target", None) is None:
        return None
    if rule.takes == "axes":
        assert target is not None
        own = shapes[0]
        places = {
            axis: Place(own[j], j, _index(own[j], target[axis], grows=rule.grows))
            for j, axis in enumerate(rule.places(len(own), target, axes))
        }
        return Alignment(target, (Row(rule.parameters[0], places),))
    sizes: tuple[int | None, ...] | None = target
    if target is None or rule.bidirectional:
        sizes = tuple(_size(rule, column) for column in zip(*_padded(operands), strict=True))
    common = sizes or ()
    return Alignment(common, _rows(rule, operands, lambda _, k, size: _index(size, common[k])))


def named_alignment(
    rule: Rule, operands: Operands, said: Answer | NeverError, facts: Sequence[tuple[str, str]]
) -> Alignment | None:
    """Align operands whose sizes have names; None if the target has too low a rank."""
    if isinstance(said, NeverError) and said.target is None:
        return None
    columns = [*zip(*_padded(operands), strict=True)]

    def alone(axis: int) -> Size | None:
        assert rule.named is not None
        if axis == getattr(said, "axis", None):
            return None
        try:
            return rule.named(*[(size,) for size in columns[axis]], known=dict(facts)).shape[0]
        except NeverError:
            return None

    sizes = [*said.shape] if isinstance(said, Answer) else [*map(alone, range(len(columns)))]
    texts = [size if size is None or isinstance(size, int) else str(size) for size in sizes]

    def leads(m: int, axis: int, own: Any) -> Leads:
        if isinstance(said, NeverError):
            return None if (m, axis) == (said.tensor, said.axis) else "kept"
        if texts[axis] in (own, 1):
            return "kept" if own == texts[axis] else "first"
        if isinstance(own, int):
            return "first" if own == 1 else "kept"
        try:
            said.substitute({own: 1})
        except ValueError:
            return "kept"
        return "either"

    return Alignment(tuple(texts), _rows(rule, operands, leads))


def _padded(operands: Operands) -> list[tuple[Any, ...]]:
    shapes = (*operands.shapes, *([] if operands.target is None else [operands.target]))
    rank = max(map(len, shapes))
    return [(1,) * (rank - len(own)) + own for own in shapes]


def _rows(
    rule: Rule, operands: Operands, leads: Callable[[int, int, Any], Leads]
) -> tuple[Row, ...]:
    """Return a row for each tensor, and for a target that grows, aligned at the last axes."""
    names = [f"{rule.parameters[0]} {m}" for m in range(len(operands.shapes))]
    if operands.target is not None:
        names = [*rule.parameters][: 1 + rule.bidirectional]
    rows = []
    for m, (name, shape) in enumerate(zip(names, _padded(operands), strict=False)):
        is_tensor = m < len(operands.shapes)
        own = operands.shapes[m] if is_tensor else operands.target
        missing = len(shape) - len(own or ())
        places = {
            k: Place(size, k - missing if k >= missing else None, leads(m, k, size))
            for k, size in enumerate(shape)
        }
        rows.append(Row(name, places, is_tensor))
    return tuple(rows)


def _size(rule: Rule, column: tuple[int, ...]) -> int | None:
    """Return the output's size on an axis; for SONNX the maximum, even if a size does not fit."""
    assert rule.common is not None
    try:
        return rule.common(tuple((size,) for size in column))[0]
    except _kernel.E1 as error:
        return error.value.target
    except _kernel.Incompatible:
        return None


def _index(size: int, target: int | None, *, grows: bool = True) -> Literal["kept", "first"] | None:
    """Return where an index leads: kept if a view keeps the stride, first if its stride is 0."""
    if target is None:
        return "first" if size == 1 else None
    try:
        (stride,) = _kernel.broadcast_strides((size,), (1,), (target,))
    except _kernel.NotBroadcastable:
        return None
    if stride:
        return "kept"
    return "first" if grows else None


Cell = int | str | None


class Line(NamedTuple):
    """A line of the explanation: for each axis a size, an axis, an index such as "i0", or None."""

    step: str
    name: str
    cells: tuple[Cell, ...]
    clause: str
    prepended: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()

    def texts(self) -> list[str]:
        shown = []
        for axis, cell in enumerate(self.cells):
            text = show_int(cell) if isinstance(cell, int) else cell or ""
            if axis in self.wrong:
                text = f">{text}<"
            elif axis in self.prepended:
                text = f"({text})"
            shown.append(text)
        return shown


def lines(rule: Rule, aligned: Alignment, *, accepted: bool) -> list[Line]:
    """Return the lines of a rule's steps, with indices only if the rule accepts."""
    steps, clauses, sizes = rule.steps, rule.clauses, aligned.sizes

    def on_axes(row: Row, cell: Callable[[int, Place], Cell]) -> tuple[Cell, ...]:
        places = [row.places.get(k) for k in range(len(sizes))]
        return tuple([None if place is None else cell(k, place) for k, place in enumerate(places)])

    def leads(axis: int, place: Place) -> Cell:
        if place.leads == "either":
            return f"i{axis}|0"
        return f"i{axis}" if place.leads == "kept" else 0

    names = [
        [f"{letter}{m}" if steps.letters else row.name for letter in ("dY", "Z")]
        for m, row in enumerate(aligned.rows)
    ]
    found = []
    for row, (name, _) in zip(aligned.rows, names, strict=True):
        prepended = tuple(sorted(k for k, place in row.places.items() if place.axis is None))
        own = on_axes(row, lambda _, place: place.size)
        found.append(Line(steps.lies, name, own, clauses["lies"], prepended))
        if rule.takes == "axes":
            axes = on_axes(row, lambda _, place: place.axis)
            found.append(Line("", "its axes", axes, clauses["lies"]))
    output = tuple("-" if size is None else size for size in sizes)
    found.append(Line(steps.output, steps.size, output, clauses["size"]))
    if accepted and steps.letters:
        found.append(Line(steps.output, "dZ", sizes, clauses["shape"]))
    for row, (before, after) in zip(aligned.rows, names, strict=True):
        wrong = tuple(sorted(k for k, place in row.places.items() if place.leads is None))
        if accepted and row.is_tensor:
            cells = on_axes(row, leads)
            grown = any(place.leads != "kept" for place in row.places.values())
            found.append(Line(steps.leads, after, cells, clauses["first" if grown else "kept"]))
        elif not accepted and wrong:
            cells = on_axes(row, lambda _, place: place.size if place.leads is None else None)
            found.append(Line(steps.fails, before, cells, clauses["fails"], wrong=wrong))
    return found
