"""The extracted programs and the WhyML that they come from, on the same calls.

The WhyML is evaluated by whyrun, as Why3 has typed it: without the extraction, its printer and its
driver, and without Python. Both ends of a call, value or exception, have to be the same.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import groupby
from typing import Any, NamedTuple

from assurance import calls, closed, contracts
from assurance.contracts import CONFIGURATION, ROOT, TOOLS, Outcome, load_kernel

PROGRAM = ROOT / "build" / "contracts" / "whyrun"

# What it has in common with whygate.
SHARED = ("json", "name", "project")

# How many calls of each program `make validate` compares.
MANY = 3000


class Call(NamedTuple):
    """A call of a program, by its name in WhyML."""

    program: str
    arguments: tuple[Any, ...]


class Row(NamedTuple):
    """How the calls of a program end, and those that end otherwise in WhyML than in Python."""

    program: str
    values: int
    raised: int
    different: list[str]


def build() -> None:
    """Compile whyrun, unless it was compiled from these very sources."""
    sources = [*sorted((TOOLS / "whyrun").glob("*.ml"))]
    sources += [TOOLS / "whygate" / f"{name}.ml" for name in SHARED]
    closed.build(sources, PROGRAM, packages="why3,unix", options=["-linkpkg"])


def written(value: object) -> str:
    """Write an argument as whyrun reads it."""
    if type(value) is int:
        return str(value)
    if isinstance(value, tuple | list):
        return f"({' '.join(map(written, value))})"
    if is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
        return f"({' '.join([type(value).__name__, *map(written, parts)])})"
    raise TypeError(f"no argument: {value!r}")


def read(value: Any) -> object:
    """Make the Python of what whyrun prints."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return int(value)
    if isinstance(value, list):
        return tuple(map(read, value))
    if "list" in value:
        return list(map(read, value["list"]))
    return getattr(load_kernel(), value["made"])(*map(read, value["of"]))


def evaluated(asked: Sequence[Call]) -> Iterator[Outcome | str]:
    """Give how calls end in WhyML, or why one has no end there."""
    build()
    lines = "".join(f"{call.program} {' '.join(map(written, call.arguments))}\n" for call in asked)
    done = subprocess.run(
        [str(PROGRAM), str(CONFIGURATION)],
        cwd=ROOT,
        env=closed.environment(),
        input=lines,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise closed.ToolError(f"whyrun ended with {done.returncode}:\n{done.stderr}")
    for line in done.stdout.splitlines():
        found = json.loads(line)
        if "stuck" in found:
            yield found["stuck"]
        elif "raised" in found:
            raised = getattr(load_kernel(), found["raised"])
            carried = [] if found["value"] is None else [read(found["value"])]
            yield Outcome(error=raised(*carried))
        else:
            yield Outcome(value=read(found["value"]))


def drawn(count: int, seed: int = 0) -> list[Call]:
    """Draw so many calls of each program."""
    return [
        Call(name, tuple(arguments))
        for name, contract in contracts.contracts().items()
        for arguments in calls.calls(contract, count, seed)
    ]


def difference(call: Call, outcome: Outcome | str) -> str | None:
    """Say how a call ends in WhyML and how in Python, if not in the same way."""
    function = contracts.programs(load_kernel())[call.program]
    found = contracts.outcome_of(function, call.arguments)
    if repr(found) == repr(outcome):
        return None
    return f"{call.program}{call.arguments!r}: {found!r}, in WhyML {outcome!r}"


def compare(count: int, seed: int = 0) -> list[Row]:
    """Compare so many calls of each program."""
    asked = drawn(count, seed)
    found = zip(asked, evaluated(asked), strict=True)
    rows = []
    for name, ends in groupby(found, key=lambda end: end[0].program):
        outcomes = list(ends)
        raised = sum(isinstance(end, Outcome) and end.error is not None for _, end in outcomes)
        different = [text for call, end in outcomes if (text := difference(call, end))]
        rows.append(Row(name, len(outcomes) - raised, raised, different))
    return rows


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 if some call ends otherwise in WhyML."""
    parser = argparse.ArgumentParser(prog="interpret", description="Compare WhyML and Python.")
    parser.add_argument("count", type=int, nargs="?", default=MANY, help="calls of each program")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    rows = compare(options.count)
    seconds = time.monotonic() - start
    width = max(len(row.program) for row in rows)
    print(f"{'program':{width}}  values  raised  different")
    for row in rows:
        print(f"{row.program:{width}}  {row.values:6}  {row.raised:6}  {len(row.different):9}")
    different = [text for row in rows for text in row.different]
    total = sum(row.values + row.raised for row in rows)
    print(f"\n{total} calls in {seconds:.0f} s; {len(different)} differ.")
    for text in different[:10]:
        print(text)
    return 1 if different else 0
