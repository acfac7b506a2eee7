"""The command `certify`: for every part of every goal, a certificate by cvc5, and what checks it.

`whysearch` writes the tasks as CVC5 is sent them; cvc5 1.4.2, in a process of its own, writes a
certificate; the checker in proofs/certify reads both. build/certify.json has what came of each.
What cvc5 said of a task is kept in build/certificates, under the hash of the task; every
certificate is checked again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from certificates import faults
from certify import checker
from certify.terms import Refused
from gate import closed
from gate.closed import ROOT
from gate.program import PROCESSES, Program
from verdict import chosen

WHEELS = ROOT / "build" / "certify"
REQUIREMENTS = ROOT / "tests" / "requirements-certify.txt"
KEPT = ROOT / "build" / "certificates"
RESULT = ROOT / "build" / "certify.json"

# How cvc5 is asked, one after the other: its options, and seconds of its processor.
ATTEMPTS: tuple[tuple[dict[str, str], int], ...] = (
    ({}, 3),
    ({"full-saturate-quant": "true"}, 4),
)

# The share of the parts that is to be certified.
WANTED = 0.9

# Certificates that are changed in one place at a time: one of so many, so often.
CHANGED, CHANGES = 20, 12

# What is not contradictory has no certificate.
SATISFIABLE = (
    "(assert true)",
    "(declare-fun n () Int) (assert (not (< (* n n) n)))",
    "(declare-fun n () Int) (assert (= (mod n 2) (div n 2)))",
    "(declare-sort s 0) (declare-fun p (s) Bool) (assert (not (forall ((x s)) (p x))))",
    "(declare-sort s 0) (assert (forall ((x s) (y s)) (= x y)))",
)


class Solver:
    """A process that asks cvc5."""

    def __init__(self) -> None:
        program = (sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("ask.py")))
        self.process = subprocess.Popen(
            [*program, str(WHEELS)],
            env=closed.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version = self.hear()

    def hear(self) -> str:
        """Return what the process says next."""
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise closed.ToolError("cvc5 cannot be asked: `make certify` installs it")
        return str(json.loads(line))

    def ask(self, task: Path, certificate: Path, options: dict[str, str], seconds: int) -> str:
        """Ask for a certificate of a task, to be written to a file."""
        question = {
            "task": str(task),
            "certificate": str(certificate),
            "options": options,
            "seconds": seconds,
        }
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self.hear()


@contextmanager
def solver() -> Iterator[Solver]:
    """Lend a process that asks cvc5, and end it."""
    found = Solver()
    try:
        yield found
    finally:
        found.process.kill()
        found.process.communicate()


class Part(NamedTuple):
    """A part of a goal, and what came of it: `certified`, or why not."""

    theory: str
    goal: str
    part: str
    result: str
    steps: int
    bytes: int


def certificate(by: Solver, text: str) -> tuple[str, str]:
    """Ask for a certificate of a task, one way after the other: the certificate, or why not."""
    said = list[str]()
    for options, seconds in ATTEMPTS:
        answer, found = attempt(by, text, options, seconds)
        if found:
            return found, ""
        said.append(answer)
    return "", ", ".join(said)


def attempt(by: Solver, text: str, options: dict[str, str], seconds: int) -> tuple[str, str]:
    """Ask in one way, unless that was done before: the answer, and the certificate."""
    how = json.dumps([by.version, options, seconds])
    key = closed.digest([("task", text.encode()), ("how", how.encode())])
    kept = KEPT / f"{key}.gz"
    if not kept.exists():
        own = f"{key}.{os.getpid()}.{threading.get_ident()}"  # Two theories may have one task.
        task, written, new = (KEPT / f"{own}.{kind}" for kind in ("smt2", "cpc", "new"))
        task.write_text(text, encoding="utf-8")
        answer = by.ask(task, written, options, seconds)
        found = written.read_text(encoding="utf-8") if answer == "unsat" else ""
        new.write_bytes(gzip.compress(json.dumps([answer, found]).encode(), 6))
        new.replace(kept)
        task.unlink()
        written.unlink(missing_ok=True)
    answer, found = json.loads(gzip.decompress(kept.read_bytes()))
    return str(answer), str(found)


class Run:
    """What has come of the parts so far; the checker's tables allow one thread at a time."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.changes: list[faults.Change] = []
        self.lock = threading.Lock()

    def judged(self, by: Solver, text: str) -> tuple[str, int, str]:
        """Certify a task: `certified` or why not, the steps, and the certificate."""
        found, why = certificate(by, text)
        if not found:
            return f"not proved: {why}", 0, ""
        with self.lock:
            try:
                return "certified", checker.check(text, found), found
            except Refused as error:
                return f"refused: {error}", 0, found

    def theory(self, whysearch: Program, by: Solver, file: str) -> None:
        """Certify the parts of a theory."""
        folder = KEPT / "tasks" / file.removesuffix(".mlw").replace("/", ".")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for entry in whysearch.ask("tasks", str(folder), file):
            place = f"{file} {entry['goal']} {entry['part']}"
            text = (folder / entry["file"]).read_text(encoding="utf-8")
            result, steps, found = self.judged(by, text)
            self.parts.append(Part(file, entry["goal"], entry["part"], result, steps, len(found)))
            if steps and zlib.crc32(place.encode()) % CHANGED == 0:
                with self.lock:
                    self.changes += faults.tried(place, text, found, CHANGES)
        shutil.rmtree(folder)


def main(argv: list[str]) -> int:
    """Certify all parts, print what came of them, write build/certify.json."""
    parser = argparse.ArgumentParser(prog="certify", description=main.__doc__)
    parser.add_argument("theories", nargs="*", metavar="THEORY", help="all of them unless given")
    options = parser.parse_args(argv)
    started, files, run = time.monotonic(), chosen(options.theories), Run()
    whysearch = Program(ROOT, "whysearch")
    KEPT.mkdir(parents=True, exist_ok=True)
    sys.setrecursionlimit(checker.DEPTH)
    threading.stack_size(512 << 20)
    versions, left, errors = set[str](), list(reversed(files)), list[BaseException]()

    def work() -> None:
        try:
            with solver() as by:
                versions.add(by.version)
                while left and not errors:
                    run.theory(whysearch, by, left.pop())
                    told(run, len(files) - len(left), len(files))
        except BaseException as error:
            errors.append(error)

    with solver() as by:
        false = [text for text in SATISFIABLE if run.judged(by, asked(text))[2]]
    threads = [threading.Thread(target=work, daemon=True) for _ in range(PROCESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    (version,) = versions
    return report(run, version, len(files), false, time.monotonic() - started)


def asked(text: str) -> str:
    """Write a task as Why3 does."""
    return f"(set-logic ALL)\n{text}\n(check-sat)\n"


def told(run: Run, done: int, files: int) -> None:
    """Tell how far it is, now and then."""
    if 10 * done // files > 10 * (done - 1) // files:
        certified = sum(part.result == "certified" for part in run.parts)
        print(f"{done} of {files} theories, {certified} of {len(run.parts)} parts", flush=True)


def report(run: Run, version: str, files: int, false: list[str], seconds: float) -> int:
    """Write what came of all parts, print the totals, and judge them."""
    parts = sorted(run.parts)
    certified = [part for part in parts if part.result == "certified"]
    reasons = Counter(part.result for part in parts if part.result != "certified")
    accepted = [change for change in run.changes if change.accepted]
    outcome = Counter(change.accepted or "refused" for change in run.changes)
    others = [change for change in accepted if change.accepted.startswith(faults.ANOTHER)]
    share = len(certified) / max(len(parts), 1)
    text = json.dumps(
        {
            "cvc5": version,
            "parts": [part._asdict() for part in parts],
            "totals": {
                "parts": len(parts),
                "certified": len(certified),
                "steps": sum(part.steps for part in certified),
                "reasons": dict(reasons.most_common()),
                "changes": dict(outcome.most_common()),
                "false goals": len(SATISFIABLE),
                "false goals with a certificate": false,
            },
            "accepted changes": [change._asdict() for change in accepted],
        },
        indent=1,
    )
    RESULT.write_text(text + "\n", encoding="utf-8")
    for reason, count in reasons.most_common(20):
        print(f"{count} parts {reason}")
    for reason, count in outcome.most_common():
        print(f"{count} changes of certificates: {reason}")
    for change in others:
        print(f"{change.place}: {change.change}: {change.accepted}")
    for text in false:
        print(f"a certificate of what is not contradictory: {text}")
    print(
        f"certify: {len(certified)} of {len(parts)} parts of {files} theories certified, "
        f"{share:.1%}, by cvc5 {version} and our checker; {seconds:.0f} s"
    )
    return int(share < WANTED or bool(false or others))
