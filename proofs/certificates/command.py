"""The command `certify`: ask cvc5 for a certificate of every part of every goal, and check it.

`whysearch` writes the tasks as CVC5 gets them; cvc5 1.4.2, in a process of its own, writes a
certificate; the checker in proofs/certify reads both. build/certify.json has the results.
build/certificates keeps cvc5's answers; each run checks the kept certificates again.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from certificates import faults
from certify import checker
from certify.terms import Refused
from gate import closed, toolchain
from gate.closed import ROOT
from gate.program import Program
from verdict import chosen

WHEELS = ROOT / "build" / "certify"
REQUIREMENTS = ROOT / "tests" / "requirements-certify.txt"
KEPT = ROOT / "build" / "certificates"
RESULT = ROOT / "build" / "certify.json"
ASK = (sys.executable, "-I", "-S", "-B", Path(__file__).with_name("ask.py"), WHEELS)

# Attempts with cvc5, in turn: its options, and seconds of processor time.
ATTEMPTS: tuple[tuple[dict[str, str], int], ...] = (({}, 3), ({"full-saturate-quant": "true"}, 4))

WANTED = 0.9

# About one in CHANGED certificates is checked with CHANGES changes, one at a time.
CHANGED, CHANGES = 20, 12

# Satisfiable tasks have no certificate.
SATISFIABLE = (
    "(assert true)",
    "(declare-fun n () Int) (assert (not (< (* n n) n)))",
    "(declare-fun n () Int) (assert (= (mod n 2) (div n 2)))",
    "(declare-sort s 0) (declare-fun p (s) Bool) (assert (not (forall ((x s)) (p x))))",
    "(declare-sort s 0) (assert (forall ((x s) (y s)) (= x y)))",
)


class Part(NamedTuple):
    """A part of a goal, and its result: `certified`, or the reason why it is not."""

    theory: str
    goal: str
    part: str
    result: str
    steps: int
    bytes: int


def certificates(version: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return for each task its first certificate, or "", and cvc5's answers."""
    found, said = dict[str, str](), {text: list[str]() for text in texts}
    for options, seconds in ATTEMPTS:
        left = [text for text in said if text not in found]
        for text, answer, certificate in attempts(version, left, options, seconds):
            said[text].append(answer)
            found |= {text: certificate} if certificate else {}
    return [(found.get(text, ""), ", ".join(said[text])) for text in texts]


def attempts(
    version: str, texts: Sequence[str], options: dict[str, str], seconds: int
) -> list[tuple[str, str, str]]:
    """Attempt the tasks without a kept answer; return each task, answer and certificate."""
    how = ("how", json.dumps([version, options, seconds]).encode())
    kept = {t: KEPT / f"{closed.digest([('task', t.encode()), how])}.gz" for t in texts}
    new = [text for text in texts if not kept[text].exists()]
    if new:
        question = {"tasks": new, "options": options, "seconds": seconds}
        asked = json.dumps(question).encode()
        done = subprocess.run(ASK, env=closed.environment(), input=asked, stdout=subprocess.PIPE)
        for text, line in zip(new, done.stdout.splitlines(), strict=False):
            part = kept[text].with_suffix(f".{threading.get_ident()}")
            part.write_bytes(gzip.compress(line, 6))  # Two threads may answer one task.
            part.replace(kept[text])
        if done.returncode:
            raise closed.ToolError("cvc5 cannot be asked: `make certify` installs it")
    return [(text, *json.loads(gzip.decompress(kept[text].read_bytes()))) for text in texts]


class Run:
    """The results so far; the checker's tables allow one thread at a time."""

    def __init__(self, files: int, keep: Path | None = None) -> None:
        ((_, self.version, _),) = toolchain.requirements(REQUIREMENTS)
        self.keep = keep
        self.whysearch, self.files, self.done = Program(ROOT, "whysearch"), files, 0
        self.parts: list[Part] = []
        self.changes: list[faults.Change] = []
        self.lock = threading.Lock()

    def theory(self, file: str) -> None:
        """Certify the parts of a theory; print the progress at each tenth."""
        folder = KEPT / "tasks" / file.removesuffix(".mlw").replace("/", ".")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        entries = self.whysearch.ask("tasks", str(folder), file)
        texts = [(folder / entry["file"]).read_text(encoding="utf-8") for entry in entries]
        shutil.rmtree(folder)
        answers = zip(entries, texts, certificates(self.version, texts), strict=True)
        with self.lock:
            for entry, text, (found, why) in answers:
                result, steps = f"not proved: {why}", 0
                if found:
                    if self.keep:
                        left(self.keep / folder.name / entry["file"], text, found)
                    try:
                        result, steps = "certified", checker.check(text, found)
                    except Refused as error:
                        result = f"refused: {error}"
                goal, part = entry["goal"], entry["part"]
                self.parts.append(Part(file, goal, part, result, steps, len(found)))
                place = f"{file} {goal} {part}"
                if steps and zlib.crc32(place.encode()) % CHANGED == 0:
                    self.changes += faults.tried(place, text, found, CHANGES)
            self.done += 1
            if 10 * self.done // self.files > 10 * (self.done - 1) // self.files:
                certified = sum(part.result == "certified" for part in self.parts)
                about = f"{certified} of {len(self.parts)} parts"
                print(f"{self.done} of {self.files} theories, {about}", flush=True)


def left(task: Path, text: str, certificate: str) -> None:
    """Write a task and, beside it, its certificate as commands that Ethos reads."""
    task.parent.mkdir(parents=True, exist_ok=True)
    task.write_text(text, encoding="utf-8")
    commands = certificate.strip().removeprefix("(").removesuffix(")").strip()
    task.with_suffix(".cpc").write_text(f"{commands}\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Certify all parts, print the results, write build/certify.json."""
    parser = argparse.ArgumentParser(prog="certify", description=main.__doc__)
    parser.add_argument("theories", nargs="*", metavar="THEORY", help="all of them unless given")
    parser.add_argument("--keep", type=Path, help="a folder for the tasks and their certificates")
    options = parser.parse_args(argv)
    started, files = time.monotonic(), chosen(options.theories)
    run = Run(len(files), options.keep)
    KEPT.mkdir(parents=True, exist_ok=True)
    sys.setrecursionlimit(checker.DEPTH)
    threading.stack_size(512 << 20)
    asked = [f"(set-logic ALL)\n{text}\n(check-sat)\n" for text in SATISFIABLE]
    answers = zip(SATISFIABLE, certificates(run.version, asked), strict=True)
    false = [text for text, (found, _) in answers if found]
    with run.whysearch.pool() as pool:
        list(pool.map(run.theory, files))
    return report(run, false, time.monotonic() - started)


def report(run: Run, false: list[str], seconds: float) -> int:
    """Write the results, print the totals, and judge them."""
    parts = sorted(run.parts)
    steps = [part.steps for part in parts if part.result == "certified"]
    reasons = Counter(part.result for part in parts if part.result != "certified")
    changes = Counter(change.accepted or "refused" for change in run.changes)
    others = [each for each in run.changes if each.accepted.startswith(faults.ANOTHER)]
    totals = {
        "parts": len(parts),
        "certified": len(steps),
        "steps": sum(steps),
        "changes": dict(changes.most_common()),
        "false goals": len(SATISFIABLE),
        "false goals with a certificate": false,
    }
    written = {"cvc5": run.version, "parts": [p._asdict() for p in parts], "totals": totals}
    RESULT.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    for reason, count in reasons.most_common(20):
        print(f"{count} parts {reason}")
    for reason, count in changes.most_common():
        print(f"{count} changes of certificates: {reason}")
    for change in others:
        print(f"{change.place}: {change.change}: {change.accepted}")
    for text in false:
        print(f"a certificate of a satisfiable task: {text}")
    share = len(steps) / max(len(parts), 1)
    print(
        f"certify: {len(steps)} of {len(parts)} parts of {run.files} theories certified, "
        f"{share:.1%}, by cvc5 {run.version} and our checker; {seconds:.0f} s"
    )
    return int(share < WANTED or bool(false or others))
