"""Compare the speed of whycast with NumPy and plain loops: `make bench` or `tests/bench/bench.py`.

In each round every contender runs once, so that disturbances of the machine hit all contenders. A
run of all cells writes python/BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from cells import NOTES, OURS, PEERS, Cell, cells

import whycast

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "python" / "BENCHMARKS.md"
HEAD = """\
# How fast whycast is beside NumPy and plain loops

`make bench` writes this page.

A number beside a peer is its time divided by that of whycast: above 1, whycast is faster. Numbers \
are medians over rounds in one process; in each round every contender ran once.
"""

# A contender runs for this many seconds at a time: longer than a reading of the clock, so short
# that other programs interrupt few rounds.
STRETCH = 0.0003

TRIES = 5


class Result(NamedTuple):
    """A cell, and each contender's seconds for one evaluation, by round."""

    cell: Cell
    seconds: dict[str, list[float]]

    def ratio(self, peer: str) -> float:
        pairs = zip(self.seconds[peer], self.seconds[OURS], strict=True)
        return statistics.median(theirs / ours for theirs, ours in pairs)


def measure(cell: Cell, seconds: float) -> Result:
    """Time a cell for about `seconds`, in at least two rounds for each contender.

    AssertionError: a contender's answer differs from whycast's.
    """
    names = dict(cell.names)
    ours = answer(cell.code[OURS], names)
    for contender, code in cell.code.items():
        np.testing.assert_equal(answer(code, names), ours, f"{cell.name}: {contender}")
    draws = "draws" in names
    timers: dict[str, Callable[[int], float]] = {
        contender: eval(f"lambda loops: {code}", names)
        if "loops" in code
        else timeit.Timer("for shapes in draws: " * draws + code, globals=names).timeit
        for contender, code in cell.code.items()
    }
    stretch = min(STRETCH, seconds / (2 * len(timers) ** 2))
    loops = {contender: calibrated(timer, stretch) for contender, timer in timers.items()}
    order, parts = list(timers), len(names.get("draws", "1"))
    taken: dict[str, list[float]] = {contender: [] for contender in order}
    end = perf_counter() + seconds
    # Each contender runs equally often at each place of the order.
    while perf_counter() < end or len(taken[OURS]) < 2 * len(order):
        for _ in timers:
            for contender in order:
                time = timers[contender](loops[contender])
                taken[contender].append(time / loops[contender] / parts)
            order.append(order.pop(0))
    return Result(cell, taken)


def answer(code: str, names: dict[str, Any]) -> object:
    """Return the value of an expression, or its values for all draws."""
    if "draws" in names:
        code = f"[{code} for shapes in draws]"
    if "z" not in names:
        return eval(code, names)
    names["z"].view("u1").fill(255)
    eval(code, names)
    return names["z"].copy()


def calibrated(timer: Callable[[int], float], stretch: float) -> int:
    """Return the number of loops that takes about `stretch` seconds."""
    loops = 1
    # Take the shortest time: a disturbed run would lead to too few loops in all rounds.
    while (time := min([timer(loops) for _ in range(TRIES)])) < stretch:
        # Increase the number in steps: the first loops are slower than later loops.
        loops = max(loops + 1, int(loops * min(10, stretch / max(time, 1e-9))))
    return loops


def show_ratio(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 0.0995 else f"{ratio:.{2 if ratio < 9.995 else 1}f}"


def show_time(seconds: float) -> str:
    """Write a time.

    >>> [show_time(seconds) for seconds in (4.2e-9, 4.567e-7, 0.000012345, 0.0123)]
    ['4.2 ns', '457 ns', '12.3 µs', '12.3 ms']
    """
    unit, name = next((u, n) for u, n in ((1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if seconds >= u)
    count = seconds / unit
    return f"{count:.{1 if count < 100 else 0}f} {name}"


def page(results: Sequence[Result]) -> str:
    lines = [HEAD, *(f"- {fact}" for fact in facts(results))]
    for group in dict.fromkeys(result.cell.group for result in results):
        members = [result for result in results if result.cell.group == group]
        peers = [peer for peer in PEERS if peer in members[0].seconds]
        lines += ["", f"## {group}", ""]
        lines += [note for about, note in NOTES.items() if re.match(about + r"\b", group)]
        lines += [
            "",
            f"| case | {' | '.join([OURS, *peers])} |",
            "| :-- |" + " --: |" * (len(peers) + 1),
        ]
        for result in members:
            ratios = [show_ratio(result.ratio(p)) if p in result.seconds else "" for p in peers]
            time = show_time(statistics.median(result.seconds[OURS]))
            lines.append(f"| {' | '.join([result.cell.name, time, *ratios])} |")
    return re.sub("\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def facts(results: Sequence[Result]) -> list[str]:
    git = ("git", "-C", str(ROOT), "describe", "--always", "--dirty")
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    processors = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"))
    rounds = [len(result.seconds[OURS]) for result in results]
    return [
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC, commit {commit or 'unknown'}",
        f"{next(iter(processors), platform.machine())}, {os.cpu_count()} cores; "
        f"{platform.system()} {platform.machine()}",
        f"{platform.python_implementation()} {platform.python_version()}; "
        f"whycast {whycast.__version__}, numpy {np.__version__}",
        f"{len(results)} cells, {min(rounds)} to {max(rounds)} rounds in each; "
        f"load of the machine: {os.getloadavg()[0]:.2f}",
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure, print the page, write it if it has all cells."""
    parser = argparse.ArgumentParser(prog="bench", description="Time whycast beside its peers.")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="time for each cell (default: %(default)s)"
    )
    parser.add_argument(
        "--cells", metavar="PATTERN", default="", help="cells in whose title this expression is"
    )
    parser.add_argument("--out", type=Path, default=PAGE, help="file to write")
    options = parser.parse_args(arguments)
    wanted = re.compile(options.cells, re.IGNORECASE)
    chosen = [cell for cell in cells() if wanted.search(f"{cell.group}: {cell.name}")]
    if not chosen:
        parser.error(f"no cell has {options.cells!r} in its title")
    written = page([measure(cell, options.seconds) for cell in chosen])
    if not options.cells:
        options.out.write_text(written, encoding="utf-8")
    print(written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
