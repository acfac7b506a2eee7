"""How fast whycast is beside NumPy, torch and JAX: `make bench`, or `python tests/bench/bench.py`.

What is timed stands in `cells.py`.
Ratios mean something only where all that is compared ran at the same time on the same machine: see
`timing.py`. build/bench gets the table of all cells, and a run of all of them writes
python/BENCHMARKS.md.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import pyperf
from cells import MODULES, NUMPY, OURS, Peers, cells, find_peers
from report import page, table
from timing import Result, measure

from whycast import _accelerator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "python" / "BENCHMARKS.md"


def main(arguments: Sequence[str]) -> int:
    """Measure, show the table, write the files."""
    parser = argparse.ArgumentParser(prog="bench", description="Time whycast beside its peers.")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="time for each cell (default: %(default)s)"
    )
    parser.add_argument(
        "--cells", metavar="PATTERN", default="", help="cells in whose title this expression is"
    )
    parser.add_argument("--list", action="store_true", help="list the titles of the cells")
    parser.add_argument("--out", type=Path, help="folder for all that is written")
    options = parser.parse_args(arguments)
    wanted = re.compile(options.cells, re.IGNORECASE)
    peers = find_peers()
    chosen = [cell for cell in cells(peers) if wanted.search(cell.title)]
    if not chosen:
        parser.error(f"no cell has {options.cells!r} in its title: see --list")
    if options.list:
        print(*(cell.title for cell in chosen), sep="\n")
        return 0
    if not _accelerator.native:
        print("missing: the accelerator, and so all cells of memory in Python", file=sys.stderr)
    results = []
    for number, cell in enumerate(chosen, start=1):
        print(f"{number}/{len(chosen)} {cell.title}", file=sys.stderr)
        # Without time for a large one a small one is enough.
        if options.seconds or "64 MB" not in cell.group:
            results.append(measure(cell, options.seconds))
    written = table(results)
    folder: Path = options.out or ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(written, encoding="utf-8")
    if not options.cells:
        in_short = page(results, describe(peers, results))
        (options.out or PAGE.parent).joinpath(PAGE.name).write_text(in_short, "utf-8")
        written = in_short + written
    print(written)
    return 0


def describe(peers: Peers, results: Sequence[Result]) -> list[str]:
    """Say what ran where and when."""
    metadata = pyperf.Run([1.0]).get_metadata()
    packages = {OURS: "whycast", NUMPY: "numpy", **MODULES}
    absent = [peer for peer in MODULES if peer not in peers]
    versions = {
        package: importlib.metadata.version(package)
        for contender, package in packages.items()
        if contender not in absent
    }
    named = [f"{package} {version}" for package, version in versions.items()]
    processor = metadata.get("cpu_model_name") or platform.machine()
    rounds = [len(result.seconds[OURS]) for result in results]
    git = ("git", "-C", str(ROOT), "describe", "--always", "--dirty")
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    facts = [
        f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC, commit {commit or 'unknown'}",
        f"{processor}, {metadata['cpu_count']} cores; {platform.system()} {platform.machine()}",
        f"{platform.python_implementation()} {platform.python_version()}; {', '.join(named)}",
        f"{len(results)} cells, {min(rounds)} to {max(rounds)} rounds in each; "
        f"load of the machine: {metadata['load_avg_1min']}",
    ]
    return [*facts, *(f"absent, and so not compared: {peer}" for peer in absent)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
