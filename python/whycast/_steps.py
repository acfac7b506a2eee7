"""The steps of a rule for given shapes, line by line, each with the clause that it follows."""

from __future__ import annotations

from typing import NamedTuple

from whycast._alignment import Alignment, Place, Row
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


class _Steps(NamedTuple):
    """What a rule's steps are called, and their clauses.

    `lies` puts a tensor on axes, `size` is the size of the output, `fails` says that a size does
    not fit, `kept` and `first` what becomes of an index.
    """

    lies: tuple[str, str]
    size: tuple[str, str, str]
    fails: tuple[str, str]
    kept: tuple[str, str]
    first: str


def _one_text(
    lies: str, name: str, size: str, fails: str, kept: str, first: str | None = None
) -> _Steps:
    """Name the steps of a text that does not number them."""
    return _Steps(
        ("sizes", lies), ("output", name, size), ("error", fails), ("index", kept), first or kept
    )


_STEPS = {
    "sonnx": _Steps(
        ("step 1", "E_Broadcast_any_Step1_020"),
        ("step 2", "dY", "E_Broadcast_any_Step2_030"),
        ("E1", "E_Broadcast_any_E1_010"),
        ("f", "E_Broadcast_any_F_010"),
        "E_Broadcast_any_F_020",
    ),
    "numpy": _one_text(
        "E_NumpyBroadcast_any_Rule_010",
        "result",
        "E_NumpyBroadcast_any_Rule_040",
        "E_NumpyBroadcast_any_Rule_020",
        "E_NumpyBroadcast_any_Functions_030",
        "E_NumpyBroadcast_any_Functions_020",
    ),
    "expand": _one_text(
        "E_Expand_any_Error_010",
        "output",
        "E_Expand_any_Shape_010",
        "E_Expand_any_Error_010",
        "E_Expand_any_Data_010",
    ),
    "openvino-numpy": _one_text(
        "E_OpenvinoBroadcast_any_Modes_020",
        "target_shape",
        "E_OpenvinoBroadcast_any_Inputs_020",
        "E_OpenvinoBroadcast_any_Modes_020",
        "E_OpenvinoBroadcast_any_Modes_020",
    ),
    "openvino-explicit": _one_text(
        "E_OpenvinoBroadcast_any_Modes_030",
        "target_shape",
        "E_OpenvinoBroadcast_any_Inputs_020",
        "E_OpenvinoBroadcast_any_Derived_010",
        "E_OpenvinoBroadcast_any_Modes_030",
        "E_OpenvinoBroadcast_any_Derived_010",
    ),
    "openvino-bidirectional": _one_text(
        "E_OpenvinoThreeBroadcast_any_Modes_010",
        "output",
        "E_OpenvinoThreeBroadcast_any_Modes_010",
        "E_OpenvinoThreeBroadcast_any_Modes_010",
        "E_OpenvinoThreeBroadcast_any_Modes_010",
    ),
    "ngraph": _one_text(
        "E_NgraphBroadcast_any_Definition_010",
        "shape",
        "E_NgraphBroadcast_any_Outputs_020",
        "E_NgraphBroadcast_any_Shape_010",
        "E_NgraphBroadcast_any_Definition_030",
    ),
    "in-dim": _one_text(
        "E_BroadcastInDim_any_Axes_010",
        "shape",
        "E_BroadcastInDim_any_Axes_010",
        "E_BroadcastInDim_any_Size_010",
        "E_BroadcastInDim_any_Data_010",
    ),
}


def lines(rule: Rule, aligned: Alignment, *, accepted: bool) -> list[Line]:
    """Give the lines of a rule's steps; those of the index only where there are outputs."""
    steps, sonnx = _STEPS[rule.name], rule.name == "sonnx"
    axes = range(len(aligned.sizes))

    def named(letter: str, number: int, row: Row) -> str:
        return f"{letter}{number}" if sonnx else row.name

    found = []
    for m, row in enumerate(aligned.rows):
        sizes = [row.places[k].size if k in row.places else None for k in axes]
        prepended = [k for k in axes if k in row.places and row.places[k].axis is None]
        found.append(
            Line(steps.lies[0], named("dY", m, row), tuple(sizes), steps.lies[1], tuple(prepended))
        )
        own = [row.places[k].axis if k in row.places else None for k in axes]
        if rule.takes == "axes":
            found.append(Line("", "its axes", tuple(own), steps.lies[1]))
    section, name, clause = steps.size
    found.append(Line(section, name, tuple("-" if s is None else s for s in aligned.sizes), clause))
    if not accepted:
        return found + [
            Line(steps.fails[0], named("dY", m, row), *_misfits(row, len(axes), steps.fails[1]))
            for m, row in enumerate(aligned.rows)
            if any(place.leads is None for place in row.places.values())
        ]
    if sonnx:
        found.append(Line(section, "dZ", aligned.sizes, "E_Broadcast_any_Step2_040"))
    for m, row in enumerate(aligned.rows):
        if row.is_tensor:
            cells = [_index(row.places.get(k), k) for k in axes]
            clause = steps.first if 0 in cells else steps.kept[1]
            found.append(Line(steps.kept[0], named("Z", m, row), tuple(cells), clause))
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
