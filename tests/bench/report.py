"""Show what was measured, in Markdown: a page with the groups in short, a table of each cell."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import groupby

from cells import OURS, PEERS
from timing import Quartiles, Result

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
    peers = peers_in(results)
    lines = [
        *("# How fast whycast is beside its peers", "", "`make bench` writes this page.", ""),
        *(EXPLANATION, "", *(f"- {fact}" for fact in facts), ""),
        *("Geometric mean of the cells of a group, and the least and the greatest of them:", ""),
        *rows_of(
            ["group (cells)", *peers],
            [
                [f"{group} ({len(members)})", *(in_short(members, peer) for peer in peers)]
                for group, members in groups(results)
            ],
        ),
    ]
    return "\n".join([*lines, "", *notes_of(results)]) + "\n"


def table(results: Sequence[Result]) -> str:
    """Markdown: each cell of each group."""
    lines = ["", RANGES]
    for group, members in groups(results):
        here = peers_in(members)
        rows = [
            [
                *(result.cell.name, show_time(result.median(OURS))),
                *(show(result.ratio(peer)) if peer in result.seconds else "" for peer in here),
            ]
            for result in members
        ]
        lines += ["", f"## {group}", "", *rows_of(["cell", OURS, *here], rows), ""]
        ahead = [f"{peer} in {faster(members, peer)}" for peer in here]
        lines += [f"Cells in which whycast is faster: than {', than '.join(ahead)}."]
        lines += ["", "What is timed, in the first of them:", ""]
        lines += [f"- {name}: `{code}`" for name, code in members[0].cell.code.items()]
    return "\n".join([*lines, "", "## Notes", "", *notes_of(results)]) + "\n"


def rows_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, the first column to the left, numbers to the right."""
    rule = [":--", *("--:" for _ in head[1:])]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]


def show(ratio: Quartiles) -> str:
    """Text of a ratio with its range."""
    return f"{show_ratio(ratio.median)} ({show_ratio(ratio.low)}–{show_ratio(ratio.high)})"


def in_short(members: Sequence[Result], peer: str) -> str:
    """Text of a peer's ratios in a group."""
    ratios = [result.ratio(peer).median for result in members if peer in result.seconds]
    if not ratios:
        return ""
    return show(Quartiles(min(ratios), statistics.geometric_mean(ratios), max(ratios)))


def faster(members: Sequence[Result], peer: str) -> str:
    """Text of how many cells whycast wins, of those in which the peer takes part."""
    ratios = [result.ratio(peer).median for result in members if peer in result.seconds]
    return f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}"


def notes_of(results: Sequence[Result]) -> list[str]:
    """Lines of the notes: in which groups, and what."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        for note in result.cell.notes:
            found.setdefault(note, {})[result.cell.group] = None
    return [f"- {', '.join(groups)}: {note}" for note, groups in found.items()]
