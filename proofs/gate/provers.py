"""The pinned provers: what the lock says, what Why3 is configured with, what answers."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from facts import Prover
from failures import Failure

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "provers"))
import lock
import machine

# The goals of proofs/provers/check.mlw, and whether they are true.
CANARIES = {"provable": True, "refutable": False}


def pinned() -> dict[str, lock.Tool]:
    """Give the lock's provers by name."""
    return {tool.name: tool for tool in lock.read().provers}


def answer(tool: lock.Tool) -> str:
    """Ask a prover for its version; give the first line of what it says."""
    try:
        run = subprocess.run(
            [tool.path, *tool.ask], capture_output=True, text=True, timeout=30, check=False
        )
    except OSError as error:
        return f"nothing ({error.strerror})"
    return (run.stdout + run.stderr).strip().partition("\n")[0]


def names_version(text: str, version: str) -> bool:
    """Tell whether `version` stands in `text` as a whole: 4.8.12 does not in 14.8.12 or 4.8.120."""
    return re.search(rf"(?<![\d.]){re.escape(version)}(?![\d]|\.\d)", text) is not None


def build_faults(tool: lock.Tool) -> list[Failure]:
    """Compare the files of a prover with the hashes of the lock."""
    failures = []
    for file, sha256 in tool.files.items():
        shown = str(file.relative_to(lock.ROOT) if file.is_relative_to(lock.ROOT) else file)
        if not file.exists():
            failures.append(Failure(shown, tool.name, "is missing"))
        elif (actual := lock.sha256_of(file)) != sha256:
            what = f"is not the pinned build: its SHA-256 is {actual}, the lock has {sha256}"
            failures.append(Failure(shown, tool.name, what))
    return failures


def canary_faults(prover: Prover) -> list[Failure]:
    """Demand of a prover that it proves what is true, and not what is false."""
    answers = {canary["goal"]: canary["answer"] for canary in prover["canary"]}
    failures = []
    for goal, is_true in CANARIES.items():
        answer = answers.get(goal, "nothing")
        if is_true and answer != "Valid":
            what = f"does not prove a goal that is true: it answers {answer}"
        elif not is_true and answer == "nothing":
            what = "was not given the goal that is false"
        elif not is_true and answer == "Valid":
            what = "says Valid to a goal that is false: it cannot be trusted"
        else:
            continue
        failures.append(Failure("build/why3.conf", prover["name"], what))
    return failures


def check(configured: list[Prover]) -> list[Failure]:
    """Compare configuration, lock and installed programs, and try each prover."""
    failures = [fault for prover in configured for fault in canary_faults(prover)]
    # Elsewhere the same version may be another build.
    if machine.this_machine().has_builds_of(lock.read().platform):
        failures += [fault for tool in pinned().values() for fault in build_faults(tool)]
    by_name = {prover["name"]: prover for prover in configured}
    for name, tool in pinned().items():
        said = answer(tool)
        if not names_version(said, tool.version):
            what = f"should answer version {tool.version} as the lock has it, but answers: {said}"
            failures.append(Failure(str(tool.path), name, what))
        prover = by_name.get(name)
        if prover is None:
            failures.append(Failure("build/why3.conf", name, "is not configured"))
            continue
        if prover["version"] != tool.version:
            what = f"is configured as {prover['version']}; the lock pins {tool.version}"
            failures.append(Failure("build/why3.conf", name, what))
        program = Path(shlex.split(prover["command"])[0])
        if program.resolve() != tool.path.resolve():
            what = f"is configured to run {program}; the lock names {tool.path}"
            failures.append(Failure("build/why3.conf", name, what))
    return failures
