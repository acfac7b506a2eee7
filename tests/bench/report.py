"""Show what was measured, in Markdown: a page with the groups in short, a table of each cell."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import groupby

from cells import OURS, PEERS
from timing import Result

EXPLANATION = (
    "A number beside a peer is its time divided by that of whycast: above 1, whycast is faster. It "
    "is the median over rounds in one process, in each of which every contender ran once in turn."
)
RANGES = "The range behind a number is that of the middle half of the rounds."


def show_ratio(ratio: float) -> str:
    """Text of a ratio, with two or three digits.

    >>> [show_ratio(ratio) for ratio in (0.00713, 0.0996, 0.5, 9.994, 9.996, 123.4)]
    ['0.0071', '0.10', '0.50', '9.99', '10.0', '123']
    """
    if ratio < 0.0995:
        return f"{ratio:.2g}"
    return f"{ratio:.{2 if ratio < 9.995 else 1 if ratio < 99.95 else 0}f}"


def show_time(seconds: float) -> str:
    """Text of a time.

    >>> [show_time(seconds) for seconds in (4.2e-9, 4.567e-7, 0.000012345, 0.0123)]
    ['4.2 ns', '457 ns', '12.3 µs', '12.3 ms']
    """
    for unit, name in ((1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= unit or name == "ns":
            break
    count = seconds / unit
    return f"{count:.{2 if count < 1 else 1 if count < 100 else 0}f} {name}"


def groups(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """The results of each group, in the order of the cells."""
    by_group = groupby(results, key=lambda result: result.cell.group)
    return [(group, list(members)) for group, members in by_group]


def peers_in(results: Iterable[Result]) -> list[str]:
    """The peers that have a number somewhere."""
    present = {peer for result in results for peer in result.peers}
    return [peer for peer in PEERS if peer in present]


def page(results: Sequence[Result], facts: Sequence[str]) -> str:
    """Markdown: what was measured where, and the groups in short."""
    notes: dict[str, int] = {}
    lines = [
        *("# How fast whycast is beside its peers", "", "`make bench` writes this page.", ""),
        *(EXPLANATION, "", *(f"- {fact}" for fact in facts), ""),
        *("Geometric mean of the cells of a group, and the least and the greatest of them:", ""),
    ]
    peers = peers_in(results)
    rows = [
        [
            f"{group} ({len(members)}){marks(members, OURS, notes)}",
            *(short(members, peer, notes) for peer in peers),
        ]
        for group, members in groups(results)
    ]
    lines += rows_of(["group (cells)", *peers], rows)
    return "\n".join([*lines, "", *shown(notes)]) + "\n"


def table(results: Sequence[Result]) -> str:
    """Markdown: each cell of each group."""
    lines = ["", RANGES]
    notes: dict[str, int] = {}
    for group, members in groups(results):
        lines += ["", f"## {group}", ""]
        here = peers_in(members)
        rows = []
        for result in members:
            row = [result.cell.name, show_time(result.median(OURS)) + mark(result, OURS, notes)]
            row += [show_cell(result, peer) + mark(result, peer, notes) for peer in here]
            rows.append(row)
        lines += rows_of(["cell", OURS, *here], rows)
        lines += ["", "What is timed, in the first of them:", ""]
        lines += [f"- {name}: `{code}`" for name, code in members[0].cell.code.items()]
    return "\n".join([*lines, "", "## Notes", "", *shown(notes)]) + "\n"


def shown(notes: dict[str, int]) -> list[str]:
    """Lines of the notes that were referred to."""
    return [f"{number}. {note}" for note, number in notes.items()]


def rows_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, the first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(texts: Sequence[str]) -> str:
        first, *rest = zip(texts, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]
        return f"| {' | '.join(cells)} |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [line(head), f"|{'|'.join(f' {part} ' for part in rule)}|", *map(line, rows)]


def show_cell(result: Result, peer: str) -> str:
    """Text of a peer's ratio in a cell, with its quartiles."""
    if peer not in result.seconds:
        return ""
    ratio = result.ratio(peer)
    return f"{show_ratio(ratio.median)} ({show_ratio(ratio.low)}–{show_ratio(ratio.high)})"


def short(members: Sequence[Result], peer: str, notes: dict[str, int]) -> str:
    """Text of a peer's ratios in a group."""
    here = [result for result in members if peer in result.seconds]
    if not here:
        return ""
    ratios = [result.ratio(peer).median for result in here]
    mean, least, most = statistics.geometric_mean(ratios), min(ratios), max(ratios)
    text = f"{show_ratio(mean)} ({show_ratio(least)}–{show_ratio(most)})"
    return text + marks(here, peer, notes)


def marks(members: Sequence[Result], contender: str, notes: dict[str, int]) -> str:
    """Numbers of the notes on a contender in a group."""
    return "".join(dict.fromkeys(mark(result, contender, notes) for result in members))


def mark(result: Result, contender: str, notes: dict[str, int]) -> str:
    """Number of the note on a contender in a cell; new notes are numbered as they come."""
    note = result.cell.notes.get(contender)
    if note is None or contender not in result.seconds:
        return ""
    return f" [{notes.setdefault(note, len(notes) + 1)}]"
