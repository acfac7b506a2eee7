"""Wild calls of the public functions, by the hundred thousand: `make fuzz`; the tests make a few.

The run goes on after a defect, and then exits with 1.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))

from harness import TARGETS, DefectError, once, run, settled
from hypothesis import given, seed, settings
from wild import Value

# Calls in one run of Hypothesis, which remembers all of them.
TOGETHER = 500

# Bytes of memory: a call that takes more fails rather than fills the machine.
ROOM = 2**32


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description="Call the package's functions.")
    parser.add_argument("--calls", type=int, default=300_000, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the first calls")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    defects: dict[str, str] = {}
    most = settings(once, max_examples=TOGETHER, report_multiple_bugs=False)
    for target in TARGETS:
        ends = Counter[bool]()

        def one(value: Value) -> None:
            ends[run(target, value)] += 1  # noqa: B023

        for number in range(options.calls // TOGETHER // len(TARGETS) + 1):
            try:
                with settled():
                    most(seed(options.seed + number)(given(target.values)(one)))()
            except DefectError as defect:
                defects.setdefault(str(defect).partition("\n")[0], str(defect))
        print(f"{target!r:<38}{ends[True]:>9} returned{ends[False]:>9} refused", flush=True)
    print(*defects.values(), f"{len(defects)} defects", sep="\n")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
