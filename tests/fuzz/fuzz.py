"""Wild calls of the public functions, by the million: `make fuzz`.

Hypothesis makes the calls of bytes; the bytes come from atheris, which keeps those that reach what
none has reached before and changes them. The run goes on after a defect, and then exits with 1.
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
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build" / "fuzz"

# Bytes of an input, at most, and of those that the run begins with.
MAX_LENGTH = 2048
SEEDS = 64

# Room for what a call may take, so that more of it fails rather than fills the machine; and how
# much the memory in use may grow from the first tenth of the run to its end, the inputs that
# atheris keeps included.
ROOM = 2**31
GROWTH = 2**27

# In seconds: a call that takes longer hangs.
PATIENCE = 20


class Tally:
    """What came of the calls, by function."""

    def __init__(self, harness: Any, calls: int) -> None:
        self.harness = harness
        self.calls = calls
        self.counts: Counter[str] = Counter()
        self.returned: Counter[str] = Counter()
        self.defects: dict[str, str] = {}
        self.start = time.monotonic()
        self.early = 0

        @settings(database=None, suppress_health_check=[*HealthCheck])
        @given(harness.ANY_CALL)
        def one(drawn: tuple[Any, Any]) -> None:
            self.one(*drawn)

        # Bytes that are no call, because they end too early, make none.
        self.of_bytes = one.hypothesis.fuzz_one_input

    def one(self, target: Any, call: Any) -> None:
        """Make a call."""
        try:
            self.returned[target.name] += self.harness.run(target, call)
        except AssertionError as defect:
            text = str(defect)
            self.defects.setdefault(text.partition("\n")[0], text)
        self.counts[target.name] += 1
        if self.counts.total() == self.calls // 10:
            self.early = memory()

    def report(self) -> int:
        """Say what came of it; 0 if nothing was wrong."""
        took, done = time.monotonic() - self.start, self.counts.total()
        grown = memory() - self.early
        if grown > GROWTH:
            self.defects["memory"] = f"memory in use grew by {grown / 2**20:.0f} MiB"
        print(f"{'function':<38}{'calls':>9}{'returned':>10}{'refused':>9}")
        for name, count in sorted(self.counts.items()):
            returned = self.returned[name]
            print(f"{name:<38}{count:>9}{returned:>10}{count - returned:>9}")
        print(
            f"{done} calls in {took:.0f} s, {done / took:.0f} per second; most "
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
    random = Random(seed)
    for folder, count in (("corpus", 0), ("seeds", SEEDS)):
        shutil.rmtree(OUT / folder, ignore_errors=True)
        (OUT / folder).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (OUT / folder / f"{number:04}").write_bytes(random.randbytes(MAX_LENGTH))
    options = {"max_len": MAX_LENGTH, "len_control": 0, "seed": seed, "timeout": PATIENCE}
    tally = Tally(harness, calls)
    settled = contextlib.ExitStack()

    def one(data: bytes) -> None:
        tally.of_bytes(data)
        if tally.counts.total() >= calls:
            settled.close()
            code = tally.report()
            os._exit(code)

    atheris.Setup(
        [
            sys.argv[0],
            *(f"-{name}={value}" for name, value in options.items()),
            *("-verbosity=0", f"-artifact_prefix={OUT}/"),
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
    sys.path += [str(ROOT / "tests" / folder) for folder in ("fuzz", "support")]
    return guided(options.calls, options.seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
