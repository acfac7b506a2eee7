"""The extracted programs and the WhyML that they come from, on the same calls.

The WhyML takes two ways, neither of which knows the extraction, its printer or its driver:

- evaluated: the programs as Why3 has typed them, by an evaluator of our own, in whyrun;
- executed: the programs without contracts and ghost code, by Why3's own interpreter.

How a call ends, with a value or with an exception, has to be the same on all three.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from assurance import binaries, calls, closed, contracts, erased
from assurance.contracts import CONFIGURATION, ROOT, Outcome, load_kernel

# How many calls of each program the command compares, and how many of them Why3 executes.
EVALUATED = 3000
EXECUTED = 1000

# Why3 types all calls of a module before it executes one, in a time that grows faster than they do.
BATCH = 500


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


def run(*arguments: str | Path, lines: str = "") -> Iterator[Outcome | str]:
    """Run whyrun and give the outcomes that it prints, or why a call has none."""
    done = subprocess.run(
        [binaries.built("whyrun"), *arguments],
        cwd=ROOT,
        env=closed.environment(),
        input=lines,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise closed.ToolError(f"whyrun ended with {done.returncode}:\n{done.stderr}")
    return map(outcome, map(json.loads, done.stdout.splitlines()))


def outcome(found: dict[str, Any]) -> Outcome | str:
    """Make the Python of an outcome."""
    if "stuck" in found:
        return str(found["stuck"])
    if "raised" in found:
        raised = getattr(load_kernel(), found["raised"])
        carried = [] if found["value"] is None else [value(found["value"])]
        return Outcome(error=raised(*carried))
    return Outcome(value=value(found["value"]))


def value(found: Any) -> object:
    """Make the Python of a value; an integer is written as a text."""
    if found is None or isinstance(found, bool):
        return found
    if isinstance(found, str):
        return int(found)
    if isinstance(found, list):
        return tuple(map(value, found))
    if "list" in found:
        return list(map(value, found["list"]))
    return getattr(load_kernel(), found["made"])(*map(value, found["of"]))


# Evaluated


def written(argument: object) -> str:
    """Write an argument as whyrun reads it."""
    if type(argument) is int:
        return str(argument)
    if isinstance(argument, tuple | list):
        return f"({' '.join(map(written, argument))})"
    if is_dataclass(argument):
        parts = [getattr(argument, field.name) for field in fields(argument)]
        return f"({' '.join([type(argument).__name__, *map(written, parts)])})"
    raise TypeError(f"no argument: {argument!r}")


def evaluated(asked: Sequence[Call]) -> list[Outcome | str]:
    """Give how calls end in WhyML by the evaluator."""
    lines = (f"{call.program} {' '.join(map(written, call.arguments))}\n" for call in asked)
    return list(run("evaluate", CONFIGURATION, lines="".join(lines)))


# Executed


def whyml(argument: object) -> str:
    """Write an argument as an expression of WhyML."""
    if type(argument) is int:
        return f"({argument})"
    if isinstance(argument, tuple):
        text = "empty"
        for element in reversed(argument):
            text = f"(cons {whyml(element)} {text})"
        return text
    if isinstance(argument, list):
        return f"(thaw {whyml(tuple(argument))})"
    return written(argument)


def qualified(name: str) -> str:
    """Give the last two parts of a name, the module and what it declares."""
    return ".".join(name.split(".")[-2:])


def module_of(asked: Sequence[Call]) -> str:
    """Write a module with a function for each call."""
    uses = ["int.Int", "seq.Seq", "kernel.trusted.Tuple", "axes.openvino_verdict.OpenvinoMode"]
    uses += ["bodies.Bodies as Bodies"]
    modules = dict.fromkeys(name.rpartition(".")[0] for name in contracts.contracts())
    uses += [f"{module} as {module.rpartition('.')[2]}" for module in modules]
    lines = ["module Calls", *(f"  use {module}" for module in uses)]
    for number, call in enumerate(asked):
        names = contracts.contracts()[call.program].exception_names
        lines.append(f"  let call_{number} ()")
        lines += [f"    raises {{ {qualified(name)} _ -> true }}" for name in names.values()]
        arguments = " ".join(map(whyml, call.arguments))
        lines.append(f"  = {qualified(call.program)} {arguments}")
    return "\n".join([*lines, "end\n"])


def executed(asked: Sequence[Call]) -> list[Outcome | str]:
    """Give how calls end in WhyML by Why3's interpreter, to which a list is a tuple too."""
    found: list[Outcome | str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        erased.write_library(folder)
        for start in range(0, len(asked), BATCH):
            text = module_of(asked[start : start + BATCH])
            (folder / "calls.mlw").write_text(text, encoding="utf-8")
            found += run("execute", folder)
    return found


# Compared


def drawn(count: int, seed: int = 0) -> list[Call]:
    """Draw so many calls of each program."""
    return [
        Call(name, tuple(arguments))
        for name, contract in contracts.contracts().items()
        for arguments in calls.calls(contract, count, seed)
    ]


def as_tuple(end: Outcome) -> Outcome:
    """Give an outcome with a tuple for a list, which Why3's interpreter does not tell apart."""
    return Outcome(value=tuple(end.value)) if isinstance(end.value, list) else end


def rows(
    asked: Sequence[Call], by_evaluator: list[Outcome | str], by_why3: dict[int, Outcome | str]
) -> list[Row]:
    """Compare the outcomes of calls in WhyML with those in Python."""
    functions = contracts.programs(load_kernel())
    found = {name: Row(name, 0, 0, []) for name in contracts.contracts()}
    for number, (call, end) in enumerate(zip(asked, by_evaluator, strict=True)):
        row = found[call.program]
        python = contracts.outcome_of(functions[call.program], call.arguments)
        text = f"{call.program}{call.arguments!r}: {python!r}, in WhyML"
        if repr(end) != repr(python):
            row.different.append(f"{text} {end!r}")
        if number in by_why3 and repr(by_why3[number]) != repr(as_tuple(python)):
            row.different.append(f"{text} {by_why3[number]!r} by Why3's interpreter")
        raised = python.error is not None
        found[call.program] = row._replace(
            values=row.values + (not raised), raised=row.raised + raised
        )
    return list(found.values())


def compare(count: int, execute: int, seed: int = 0) -> list[Row]:
    """Compare so many calls of each program; Why3 executes `execute` of them."""
    asked = drawn(count, seed)
    numbers = [number for number in range(len(asked)) if number % count < execute]
    by_why3 = dict(zip(numbers, executed([asked[k] for k in numbers]), strict=True))
    return rows(asked, evaluated(asked), by_why3)


def main(arguments: Sequence[str]) -> int:
    """Print the table; 1 if some call ends otherwise in WhyML."""
    parser = argparse.ArgumentParser(prog="interpret", description="Compare WhyML and Python.")
    parser.add_argument("--calls", type=int, default=EVALUATED, help="of each program")
    parser.add_argument("--execute", type=int, default=EXECUTED, help="by Why3, of each program")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    table = compare(options.calls, options.execute)
    seconds = time.monotonic() - start
    width = max(len(row.program) for row in table)
    print(f"{'program':{width}}  values  raised  different")
    for row in table:
        print(f"{row.program:{width}}  {row.values:6}  {row.raised:6}  {len(row.different):9}")
    different = [text for row in table for text in row.different]
    print(
        f"\n{options.calls} calls of each of {len(table)} programs evaluated, "
        f"{min(options.calls, options.execute)} executed by Why3, in {seconds:.0f} s; "
        f"{len(different)} differ."
    )
    for text in different[:10]:
        print(text)
    return 1 if different else 0
