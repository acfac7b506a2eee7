"""`record LANE COMMAND ...` runs a lane: a command that takes too long for each change.

build/records keeps the output, exit code, date, commit, hash of all sources, and build/LANE.json,
if any. proofs/lanes.json, committed for clones, omits build/LANE.json and all but the last line of
the output. `record` without arguments rewrites lanes.json.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from gate import closed
from gate.closed import GIT, ROOT, sources

FOLDER, KEPT = "build/records", "proofs/lanes.json"

# Lanes, in the order of `make nightly`.
LANES = {
    "validate": "the extracted Python on unknown integers, along every path",
    "mutants": "definitions and programs changed one by one; a goal has to notice each",
    "mutants-c": "the C changed in one place at a time; the comparison has to notice each",
    "certify": "certificates of nine in ten parts or more, checked by a program of our own",
    "verify-c": "ESBMC and Frama-C's Eva on the C, within bounds",
    "object": "coverage of the C and of its object code, its stack, its instructions",
    "cross": "the C on a machine of 32 bits and on a big-endian one",
    "models": "the broadcasts of released models, made explicit and compared",
    "fuzz": "wild calls of the package's public functions",
    "coverage": "branches of the Python package that the tests take",
}


class Record(NamedTuple):
    """A run of a lane."""

    lane: str
    code: int
    seconds: int
    day: str
    commit: str
    sources: str
    said: list[str]
    facts: Any = None


def identity(root: Path) -> str:
    """Hash all sources."""
    return hashlib.sha256(sources(root).encode()).hexdigest()


def commit(root: Path) -> str:
    """Return the commit of a tree, and whether sources differ from it; "" without git."""
    if not closed.has_git(root):
        return ""
    head = closed.run(*GIT, "rev-parse", "HEAD", cwd=root).strip()
    changed = closed.run(*GIT, "status", "--porcelain", "--untracked-files=no", cwd=root)
    others = [line for line in changed.splitlines() if not closed.NOT_SOURCES.search(line[3:])]
    return f"{head} with changes" if others else head


def read(root: Path) -> dict[str, Record]:
    """Read the last run of each lane: from build/records, unless lanes.json has a later one."""
    file = root / KEPT
    kept = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    found = {lane: Record(**kept[lane]) for lane in LANES if lane in kept}
    for lane in LANES:
        if (file := root / FOLDER / f"{lane}.json").is_file():
            own = Record(**json.loads(file.read_text("utf-8")))
            if lane not in found or own.day >= found[lane].day:
                found[lane] = own
    return found


def keep(root: Path) -> None:
    """Write the last run of each lane into lanes.json, a line for each."""
    short = {lane: run._replace(said=run.said[-1:], facts=None) for lane, run in read(root).items()}
    lines = [f'"{lane}": {json.dumps(run._asdict())}' for lane, run in short.items()]
    (root / KEPT).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def told(run: Record | None, root: Path, now: str) -> str:
    """Describe the last run of a lane: its outcome and day, and whether its sources are `now`."""
    if not run:
        return "not run yet"
    said, head = f"{'FAILED' if run.code else 'passed'} on {run.day}", run.commit[:12]
    if run.sources == now:
        return f"{said}, on these sources"
    path = ("rev-list", "--count", "--ancestry-path", f"{head}..HEAD")
    try:
        later = int(closed.run(*GIT, *path, cwd=root)) if head else 0
    except closed.ToolError:
        later = 0
    many = "commit before" if later == 1 else "commits before"
    said += f" ({later} {many} these" if later else " (other sources than these"
    return f"{said}, {head or 'unknown commit'})"


def main(argv: list[str]) -> int:
    """Run a command, show its output and keep it; return its exit code."""
    if not argv:
        keep(ROOT)
        return 0
    lane, *command = argv
    if lane not in LANES or not command:
        raise closed.ToolError(f"{lane}: expected one of {', '.join(LANES)}, and a command")
    before, started, said = identity(ROOT), time.monotonic(), list[str]()
    written = ROOT / "build" / f"{lane}.json"
    written.unlink(missing_ok=True)
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            said.append(line.rstrip("\n").replace(f"{ROOT}/", ""))
    seconds = round(time.monotonic() - started)
    if identity(ROOT) != before:
        print(f"{lane}: the sources changed during the run, so nothing is recorded")
        return process.returncode or 1
    now, of = date.today().isoformat(), commit(ROOT)
    facts = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else None
    record = Record(lane, process.returncode, seconds, now, of, before, said, facts)
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    text = json.dumps(record._asdict(), indent=1, ensure_ascii=False) + "\n"
    (ROOT / FOLDER / f"{lane}.json").write_text(text, encoding="utf-8")
    keep(ROOT)
    return process.returncode
