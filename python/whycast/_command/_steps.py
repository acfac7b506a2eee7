"""The steps of a rule for given shapes, line by line, each with the clause that it follows."""

from __future__ import annotations

from typing import NamedTuple

from whycast._command._alignment import Alignment, Place, Row
from whycast._errors import show_int
from whycast._rules import Rule

# A size, an index of the output such as "i0", or nothing.
Cell = int | str | None


class Line(NamedTuple):
    """A line of the explanation: what stands on each axis of the output, and by which clause."""

    step: str
    name: str
    cells: tuple[Cell, ...]
    clause: str
    prepended: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()

    def texts(self) -> list[str]:
        """Texts of the cells: a 1 that is prepended stands in parentheses, a misfit is marked."""
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
    """Give the lines of a rule's steps; those of the index only where there are outputs."""
    steps, clauses = rule.steps, rule.clauses
    axes = range(len(aligned.sizes))

    def named(letter: str, number: int, row: Row) -> str:
        return f"{letter}{number}" if steps.letters else row.name

    found = []
    for m, row in enumerate(aligned.rows):
        sizes = [row.places[k].size if k in row.places else None for k in axes]
        prepended = [k for k in axes if k in row.places and row.places[k].axis is None]
        found.append(
            Line(steps.lies, named("dY", m, row), tuple(sizes), clauses["lies"], tuple(prepended))
        )
        own = [row.places[k].axis if k in row.places else None for k in axes]
        if rule.takes == "axes":
            found.append(Line("", "its axes", tuple(own), clauses["lies"]))
    output = tuple("-" if size is None else size for size in aligned.sizes)
    found.append(Line(steps.output, steps.size, output, clauses["size"]))
    if not accepted:
        return found + [
            Line(steps.fails, named("dY", m, row), *_misfits(row, len(axes), clauses["fails"]))
            for m, row in enumerate(aligned.rows)
            if any(place.leads is None for place in row.places.values())
        ]
    if steps.letters:
        found.append(Line(steps.output, "dZ", aligned.sizes, clauses["shape"]))
    for m, row in enumerate(aligned.rows):
        if row.is_tensor:
            cells = [_index(row.places.get(k), k) for k in axes]
            clause = clauses["first" if 0 in cells else "kept"]
            found.append(Line(steps.leads, named("Z", m, row), tuple(cells), clause))
    return found


def _misfits(
    row: Row, rank: int, clause: str
) -> tuple[tuple[Cell, ...], str, tuple[int, ...], tuple[int, ...]]:
    wrong = tuple(k for k, place in sorted(row.places.items()) if place.leads is None)
    cells = tuple(row.places[k].size if k in wrong else None for k in range(rank))
    return cells, clause, (), wrong


def _index(place: Place | None, axis: int) -> Cell:
    if place is None:
        return None
    return f"i{axis}" if place.leads == "kept" else 0
