"""Build and run `whygate`, the OCaml program that sees theories and sessions as Why3 does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from typing import cast

import shares
import sources
from facts import Facts

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "provers"))
import ocaml

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "gate"
TOOL = BUILD / "whygate"
WHY3_CONF = ROOT / "build" / "why3.conf"

# Programs for testing the extraction stand elsewhere below why3/; the audit refuses any theory that
# uses one of them.
THEORIES = ("why3/*.mlw", "why3/trusted/*.mlw")

# A proof took at most 15 s when it was found, usually 0.1 s. Thirty seconds forgive a machine that
# is busy or slow; ten times what a long proof took forgives it as well.
FLOOR_SECONDS = 30
FACTOR = 10

# Which proofs of each part to replay: the one that took least, or all but that one. A part with a
# single proof has it replayed in either case.
SHARES = ("quickest", "others", "sample")

# A sample has a sixth of the others; which one, depends on the sources.
SIXTHS = 6

# An obsolete proof fails the gate in any case: this only tells whether it would still do.
OBSOLETE_SECONDS = 3

# Why3 prepares the tasks on one thread and the provers wait for it: so the program runs several
# times, each with some of the theories, and each time with as many provers as it can keep busy.
PROCESSES = min(2, os.cpu_count() or 1)
PROVERS_EACH = 1

# Most provers run for some hundredths of a second, in which collecting garbage (Alt-Ergo is an
# OCaml program) and getting memory by the small page cost more than they save. Both settings
# together took 14 % of the processor time off a replay, in four interleaved rounds.
ENVIRONMENT = {"OCAMLRUNPARAM": "o=1000", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


class ToolError(Exception):
    """The program itself is missing or failed, which says nothing about the theories."""


def build() -> None:
    """Compile the program, unless it was compiled from these very sources."""
    if not WHY3_CONF.exists():
        raise ToolError(f"{WHY3_CONF} is missing: `make tools` installs the toolchain")
    sources = sorted(SOURCES.glob("*.ml"))
    ocaml.build(sources, TOOL, packages="why3,unix", options=["-linkpkg"])


def theory_files() -> list[str]:
    """Give the theories' paths, from the root of the tree."""
    found = [path for pattern in THEORIES for path in sorted(ROOT.glob(pattern))]
    return [path.relative_to(ROOT).as_posix() for path in found]


def command(name: str, *arguments: str) -> list[str]:
    """Put a command line for the program together; it runs in `ROOT`."""
    return [str(TOOL), str(WHY3_CONF), name, *arguments]


def facts(theories: list[str], share: str | None, progress: Callable[[int, int], None]) -> Facts:
    """Replay the proofs of the theories, all or one of the `SHARES`, and audit the theories."""
    limits = ["--width", str(PROVERS_EACH), "--floor", str(FLOOR_SECONDS), "--factor", str(FACTOR)]
    limits += ["--obsolete", str(OBSOLETE_SECONDS)]
    limits += [f"--{share}"] if share else []
    limits += [str(int(sources.digest(ROOT), 16) % SIXTHS)] if share == "sample" else []
    cost = shares.costs(ROOT, theories, share)
    parts = shares.shared_out(theories, cost, PROCESSES)
    # The first speaks about all of the theories, as only all of them together tell some things.
    about: list[list[str]] = [["--about", *theories], *([] for _ in parts[1:])]
    words = [
        command("facts", *limits, *part, *more) for part, more in zip(parts, about, strict=True)
    ]
    return shares.merged(theories, gather(words, progress))


def goals(theories: list[str]) -> Facts:
    """Gather the facts without replaying anything."""
    (found,) = gather([command("goals", *theories)], lambda done, total: None)
    return found


class Gathering(Thread):
    """A run of the program for the facts that it prints, and what it says meanwhile."""

    def __init__(self, words: list[str], report: Callable[[], None]) -> None:
        """Start the program, and read what it says of its progress; `report` after each line."""
        super().__init__(daemon=True)
        self.done = 0
        self.total: int | None = None
        self.messages: list[str] = []
        self.report = report
        # Of each run its own: tests run at the same time.
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self.process = subprocess.Popen(
            words,
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT},
            stdout=self.output,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self.start()

    def run(self) -> None:
        """Read the program's messages up to its end."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            done, slash, total = line.strip().partition("/")
            if slash and done.isdigit() and total.isdigit():
                self.done, self.total = int(done), int(total)
                self.report()
            else:
                self.messages.append(line)

    def facts(self) -> Facts:
        """Wait for the end, and give what the program printed."""
        self.join()
        code = self.process.wait()
        if code:
            raise ToolError(f"whygate ended with {code}:\n{''.join(self.messages)}")
        self.output.seek(0)
        return cast(Facts, json.load(self.output))

    def stop(self) -> None:
        """End the program, which ends its provers, if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        # Ended between the start of Why3's server and its first word to it, the program leaves the
        # server waiting; that holds the pipe open, which is read to its end here.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        self.output.close()


def gather(commands: list[list[str]], progress: Callable[[int, int], None]) -> list[Facts]:
    """Run the program once for each of the commands, side by side, and add up their progress."""
    running: list[Gathering] = []

    def report() -> None:
        # Until each of them has counted what it has to do, the whole is not known.
        totals = [one.total for one in running if one.total is not None]
        if len(totals) == len(commands):
            progress(sum(one.done for one in running), sum(totals))

    # However this ends, no program and no prover is left behind.
    with ExitStack() as stack:
        for words in commands:
            one = Gathering(words, report)
            stack.callback(one.stop)
            running.append(one)
        return [one.facts() for one in running]


def smoke(theories: list[str]) -> int:
    """List the parts of goals whose hypotheses are contradictory."""
    return subprocess.run(command("smoke", *theories), cwd=ROOT, check=False).returncode


def update(theories: list[str], options: list[str]) -> int:
    """Bring the sessions up to date; 0 if all is proved."""
    words = command("update", *options, *theories)
    # The recorded seconds are those of the replay.
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode
