"""`record LANE COMMAND ...` runs a command and keeps its output, with its sources and date.

A lane that takes too long for each change runs by itself, before the evidence. Its record in
build/records has the output, the exit code, the commit, the date, the hash of all sources, and the
facts in build/LANE.json, if any.
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

FOLDER = "build/records"

# Lanes, in the order of `make nightly`.
LANES = {
    "validate": "the extracted Python on unknown integers, along every path",
    "mutants": "definitions and programs changed one by one; a goal has to notice each",
    "mutants-c": "the C changed in one place at a time; the comparison has to notice each",
    "certify": "a certificate of each part, checked by a program of our own",
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
    """Name the commit of a tree, and whether files differ; nothing without git."""
    if not closed.has_git(root):
        return ""
    head = closed.run(*GIT, "rev-parse", "HEAD", cwd=root).strip()
    changed = closed.run(*GIT, "status", "--porcelain", "--untracked-files=no", cwd=root)
    others = [line for line in changed.splitlines() if not line.endswith("BENCHMARKS.md")]
    return f"{head} with changes" if others else head


def read(root: Path) -> dict[str, Record]:
    """Read the records that there are."""
    files = {lane: root / FOLDER / f"{lane}.json" for lane in LANES}
    found = {lane: file.read_text("utf-8") for lane, file in files.items() if file.is_file()}
    return {lane: Record(**json.loads(text)) for lane, text in found.items()}


def main(argv: list[str]) -> int:
    """Run a command, show its output and keep it; return its exit code."""
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
        print(f"{lane}: the sources were changed meanwhile, so that nothing is recorded")
        return process.returncode or 1
    now, of = date.today().isoformat(), commit(ROOT)
    facts = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else None
    record = Record(lane, process.returncode, seconds, now, of, before, said, facts)
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    text = json.dumps(record._asdict(), indent=1, ensure_ascii=False) + "\n"
    (ROOT / FOLDER / f"{lane}.json").write_text(text, encoding="utf-8")
    return process.returncode
