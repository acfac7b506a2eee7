"""Other implementations of Broadcast and Expand, asked in a child process.

A case may crash a runtime, and the tests have to go on and to tell which one it was. ONNX Runtime
and OpenVINO also report about their use and leave files in the home of the user, unless they are
kept from it: the child gets a home of its own, which has to be empty at the end.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

from runtime_worker import AT_ONCE, Array, Case, sample

WORKER = Path(__file__).with_name("runtime_worker.py")

# Many times what the slowest takes; without a limit, one that hangs would hang the tests.
SECONDS = 240

# Targets of rank 1 and 2 in which some size is negative.
NEGATIVE_TARGETS = [
    target
    for rank in (1, 2)
    for target in product((-2, -1, 0, 1, 2), repeat=rank)
    if min(target) < 0
]


@dataclass(frozen=True)
class Returned:
    """What was returned, to the last bit."""

    shape: tuple[int, ...]
    dtype: str
    elements: bytes


@dataclass(frozen=True)
class Refused:
    """The arguments were refused; two refusals are alike whatever they say."""

    text: str = ""

    def __eq__(self, other: object) -> bool:
        """Compare the fact alone."""
        return isinstance(other, Refused)

    def __hash__(self) -> int:
        """Hash the fact alone."""
        return hash(Refused)


@dataclass(frozen=True)
class Crashed:
    """The process was killed by a signal."""

    signal: str


Answer: TypeAlias = Returned | Refused | Crashed


class Deviation(NamedTuple):
    """Cases on which a runtime is known to differ from whycast, how, and why whycast does not."""

    holds: Callable[[Case], bool]
    verdict: str
    reason: str


# The types of elements that the runtimes and NumPy have in common.
DTYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)


def returned(z: Array) -> Returned:
    """Take down an array."""
    return Returned(z.shape, z.dtype.name, z.tobytes())


def whycast_answer(function: Callable[[Array, Case], Array], case: Case) -> Answer:
    """Let the package do a case."""
    try:
        return returned(function(sample(case.dtype, case.shape), case))
    except ValueError as error:
        return Refused(str(error))


def verdict(ours: Answer, theirs: Answer) -> str:
    """Say in which way a runtime differs."""
    if ours == theirs:
        return "agrees"
    if isinstance(theirs, Crashed):
        return f"crashes with {theirs.signal}"
    if isinstance(theirs, Refused):
        return "refuses"
    return "accepts" if isinstance(ours, Refused) else "returns something else"


def assert_known(
    cases: Sequence[Case],
    ours: Sequence[Answer],
    theirs: Sequence[Answer],
    deviations: Sequence[Deviation] = (),
) -> None:
    """Demand that the runtime differs where it is known to, in that way, and nowhere else."""
    unexpected = []
    for case, our, their in zip(cases, ours, theirs, strict=True):
        known = [deviation.verdict for deviation in deviations if deviation.holds(case)]
        expected = known or ["agrees"]
        found = verdict(our, their)
        if [found] != expected:
            unexpected.append(f"{case}: {found}, expected {expected}; {our}, {their}")
    for deviation in deviations:
        assert any(map(deviation.holds, cases)), f"no case for: {deviation.reason}"
    # The first of them tell enough.
    assert not unexpected, "\n".join(unexpected[:5])


def ask(runtime: str, cases: Sequence[Case]) -> list[Answer]:
    """Let a runtime do the cases one after the other, in as few processes as it survives.

    One that answers at the end has to survive them all.
    """
    answers: list[Answer] = []
    with TemporaryDirectory() as folder:
        home = Path(folder)
        environment = {
            "HOME": folder,
            "TMPDIR": folder,
            "ORT_DISABLE_TELEMETRY": "1",
            "JAX_ENABLE_X64": "1",
            "JAX_PLATFORMS": "cpu",
        }
        while len(answers) < len(cases):
            child = subprocess.run(
                [sys.executable, "-W", "error", WORKER, runtime],
                input="".join(f"{json.dumps(case)}\n" for case in cases[len(answers) :]),
                cwd=home,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            answers += map(read, child.stdout.splitlines())
            if child.returncode < 0 and runtime not in AT_ONCE:
                answers.append(Crashed(signal.Signals(-child.returncode).name))
            else:
                assert child.returncode == 0, child.stderr
                assert len(answers) == len(cases)
        assert len(answers) == len(cases), f"{runtime} crashed at its end"
        left = sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))
        assert not left, f"{runtime} left files: {', '.join(left)}"
    return answers


def read(line: str) -> Answer:
    """Read an answer of the child."""
    answer = json.loads(line)
    if "refused" in answer:
        return Refused(answer["refused"])
    return Returned(tuple(answer["shape"]), answer["dtype"], bytes.fromhex(answer["elements"]))
