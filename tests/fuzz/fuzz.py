"""Wild calls of the public functions, by the million: `make fuzz`.

Inputs come from atheris, which keeps those that reach what none has reached before and changes
them. The run goes on after a defect, and then exits with 1.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import harness

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).with_name("corpus.txt")
OUT = ROOT / "build" / "fuzz"
MAX_LENGTH = 96

# Room for what a call may take, so that more of it fails rather than fills the machine; and how
# much the memory in use may grow from the first tenth of the run to its end, the inputs that
# atheris keeps included.
ROOM = 2**31
GROWTH = 2**27

# In seconds: a call that takes longer hangs.
PATIENCE = 20


def seeds() -> list[bytes]:
    """Read the seed corpus: in each line the bytes of a call, in hexadecimal digits."""
    return [bytes.fromhex(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def random_inputs(seed: int) -> Iterator[bytes]:
    """Draw inputs without end."""
    random = Random(seed)
    while True:
        yield random.randbytes(random.choice((16, 32, 48, 64)))


class Tally:
    """What came of the calls, by function."""

    def __init__(self, run: Any, calls: int) -> None:
        self.run = run
        self.calls = calls
        self.done = 0
        self.counts: Counter[str] = Counter()
        self.returned: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.defects: dict[str, str] = {}
        self.start = time.monotonic()
        self.early = 0

    def one(self, data: bytes) -> None:
        """Make a call."""
        before = time.perf_counter()
        try:
            done: harness.Done = self.run(data)
        except AssertionError as defect:
            text = str(defect)
            self.defects.setdefault(text.partition("\n")[0], text)
        else:
            name = done.target.name
            self.counts[name] += 1
            self.returned[name] += done.accepted
            self.seconds[name] += time.perf_counter() - before  # type: ignore[assignment]
        self.done += 1
        if self.done == self.calls // 10:
            self.early = memory()

    def report(self) -> int:
        """Say what came of it; 0 if nothing was wrong."""
        took = time.monotonic() - self.start
        grown = memory() - self.early
        if grown > GROWTH:
            self.defects["memory"] = f"memory in use grew by {grown / 2**20:.0f} MiB"
        print(f"{'function':<38}{'calls':>9}{'returned':>10}{'refused':>9}{'us each':>9}")
        for name, count in sorted(self.counts.items()):
            returned, each = self.returned[name], 1e6 * self.seconds[name] / count
            print(f"{name:<38}{count:>9}{returned:>10}{count - returned:>9}{each:>9.0f}")
        print(
            f"{self.done} calls in {took:.0f} s, {self.done / took:.0f} per second; most "
            f"memory in use {memory() / 2**20:.0f} MiB, {grown / 2**20:.0f} more than after a "
            f"tenth of the calls; {len(self.defects)} defects"
        )
        for text in self.defects.values():
            print(f"\n{text}")
        sys.stdout.flush()
        return 1 if self.defects else 0


def memory() -> int:
    """Give the most memory that was in use so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def limit() -> None:
    """Let no call take more than `ROOM` beyond what is taken now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    room = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (room, room))


def guided(calls: int, seed: int) -> int:
    """Let atheris find inputs that reach what none has reached; it ends the process itself."""
    atheris: Any = importlib.import_module("atheris")
    # It names each module that it instruments.
    names = contextlib.redirect_stderr(io.StringIO())
    with names, atheris.instrument_imports(include=["whycast"]):
        harness = importlib.import_module("harness")
    for folder, inputs in (("corpus", []), ("seeds", seeds())):
        shutil.rmtree(OUT / folder, ignore_errors=True)
        (OUT / folder).mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(inputs):
            (OUT / folder / f"{number:04}").write_bytes(data)
    options = {"max_len": MAX_LENGTH, "seed": seed, "timeout": PATIENCE, "verbosity": 0}
    tally = Tally(harness.run, calls)
    settled = contextlib.ExitStack()

    def one(data: bytes) -> None:
        tally.one(data)
        if tally.done >= calls:
            settled.close()
            code = tally.report()
            os._exit(code)

    atheris.Setup(
        [
            sys.argv[0],
            *(f"-{name}={value}" for name, value in options.items()),
            f"-artifact_prefix={OUT}/",
            *(str(OUT / folder) for folder in ("corpus", "seeds")),
        ],
        one,
    )
    settled.enter_context(harness.settled())
    limit()
    atheris.Fuzz()
    return 1


def main(arguments: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Call the package's functions.")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    sys.path += [str(CORPUS.parent), str(ROOT / "tests" / "support")]
    return guided(options.calls, options.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
