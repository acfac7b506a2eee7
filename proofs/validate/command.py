"""The extracted Python on unknown integers: each path of each program keeps its contract.

    validate                     all programs, up to rank 4, then faults planted in them; writes
                                 build/validation.json
    validate --bound N           up to rank N; no faults and no report
    validate --only PROGRAM ...  these, and those they rely on; no faults and no report

python/whycast/_kernel.py is run as it is, on integers that are not known, along every path. Z3
proves that the program's contract in WhyML allows how each path ends: its value, or the exception
with what it carries; and that the paths together are all there is. What a contract does not allow
is printed with the path and an input; so is what Z3 does not answer. Each fault of
symbolic/faults.py has to be noticed so, or stands in symbolic/equivalent.toml with the reason
why it is none.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import time
import tomllib
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gate.closed import ROOT, ToolError
from validate import kernel, report, whole
from validate.faults import Fault
from validate.programs import BY_CONTRACT, Program, contracts, programs
from validate.report import EQUIVALENT, KERNEL, REPORT, Report, Row
from validate.validation import Finding, Result

BOUND = 4


def chosen(names: Sequence[str], only: Sequence[str] | None) -> list[str]:
    """Choose programs, with those that they rely on."""
    if only is None:
        return list(names)
    if unknown := set(only) - set(names):
        raise ToolError(f"{', '.join(sorted(unknown))}: not a program of the kernel")
    wanted = {*only, *(BY_CONTRACT.get(name) for name in only)}
    return [name for name in names if name in wanted]


def rows(programs: Sequence[Program], bound: int, results: Sequence[Result]) -> list[Row]:
    """Sum up what became of each program."""
    found: list[Row] = []
    for program in programs:
        own = [result for result in results if result.program == program.name]
        found.append(
            {
                "program": program.name,
                "arguments": program.about(bound),
                "forms": len(own),
                "paths": sum(result.paths for result in own),
                "relies_on": BY_CONTRACT.get(program.name, ""),
                "seconds": round(sum(result.seconds for result in own), 1),
            }
        )
    return found


def shown(finding: Finding) -> str:
    """Show what is wrong, with the path to it."""
    lines = [f"{finding.program}{finding.form}: {finding.what}"]
    if finding.path:
        lines.append(f"  path      {' and '.join(finding.path)}")
    if finding.input:
        lines.append(f"  input     {finding.input}")
        lines.append(f"  got       {finding.got}")
    return "\n".join(lines)


def table(found: Sequence[Row], failed: set[str]) -> Table:
    """Show the rows."""
    shape = Table(box=SIMPLE)
    shape.add_column("program", no_wrap=True)
    shape.add_column("arguments")
    for heading in ("forms", "paths", "s"):
        shape.add_column(heading, justify="right")
    shape.add_column("proved")
    for row in found:
        by = f"; {row['relies_on']} by its contract"
        shape.add_row(
            row["program"],
            row["arguments"] + (by if row["relies_on"] else ""),
            str(row["forms"]),
            str(row["paths"]),
            f"{row['seconds']:.1f}",
            "[red]no[/]" if row["program"] in failed else "yes",
        )
    return shape


def main(argv: list[str]) -> int:
    """Run the command; 0 if everything is proved."""
    parser = argparse.ArgumentParser(prog="validate", description="Validate the extracted Python.")
    parser.add_argument("--bound", type=int, default=BOUND, metavar="N", help="the largest rank")
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", help="only these, and no report")
    options = parser.parse_args(argv)
    console, started, before = Console(), time.monotonic(), report.sources(ROOT)
    text = (ROOT / KERNEL).read_text(encoding="utf-8")
    every = {each.name: each for each in programs(contracts(), kernel.load(text))}
    names = chosen(list(every), options.only)
    complete = len(names) == len(every) and options.bound == BOUND
    results = whole.validate(every, names, options.bound)
    findings = [finding for result in results for finding in result.findings]
    findings += whole.together(every, names, results, complete=options.only is None)
    found = rows([every[name] for name in names], options.bound, results)
    console.print(table(found, {finding.program for finding in findings}))
    planted: list[tuple[Fault, Finding | None]] = []
    if complete and not findings:
        planted = whole.plant(text, every)
        findings += unnoticed(planted, equivalents(ROOT))
        missed = sum(finding is None for _, finding in planted)
        line = f"{len(planted)} faults planted, {len(planted) - missed} noticed, {missed} are none"
        console.print(line, highlight=False)
    seconds = round(time.monotonic() - started, 1)
    if complete and not findings:
        write(before, found, planted, seconds)
    of_program: dict[str, list[Finding]] = {}
    for finding in findings:
        of_program.setdefault(finding.program, []).append(finding)
    for several in of_program.values():
        first = min(several, key=lambda finding: len(finding.form))
        console.print(f"[red]{escape(shown(first))}[/]", highlight=False, soft_wrap=True)
        if more := len(several) - 1:
            console.print(f"  and {more} more of {first.program}", highlight=False)
    verdict = "[bold red]FAILED[/]" if findings else "[bold green]all proved[/]"
    about = f"{len(names)} programs, {sum(row['paths'] for row in found)} paths, {seconds:.0f} s"
    console.print(f"validate: {verdict}; {about}", highlight=False)
    return 1 if findings else 0


def equivalents(root: Path) -> dict[str, str]:
    """Read which faults are none, and why; `f, g: kind 1 2` means four of them."""
    found: dict[str, str] = {}
    for group in tomllib.loads((root / EQUIVALENT).read_text(encoding="utf-8"))["equivalent"]:
        for entry in group["faults"]:
            names, _, change = entry.partition(": ")
            kind, *numbers = re.split(r" (?=\d)", change)
            for name, number in product(names.split(", "), numbers):
                fault = f"{name}: {kind} {number}"
                if fault in found:
                    raise ToolError(f"{EQUIVALENT} lists a fault twice: {fault}")
                found[fault] = group["reason"]
    return found


def unnoticed(
    planted: Sequence[tuple[Fault, Finding | None]], listed: dict[str, str]
) -> Iterator[Finding]:
    """Say what is wrong with the faults: one is not noticed, or the list has one that is."""
    survived = {fault.name: fault for fault, finding in planted if finding is None}
    for name in survived.keys() - listed.keys():
        what = f"nothing notices the fault in line {survived[name].line}: {survived[name]}"
        yield Finding(survived[name].program, "", what)
    for name in listed.keys() - survived.keys():
        known = any(fault.name == name for fault, _ in planted)
        what = f"{EQUIVALENT} lists a fault that is {'noticed' if known else 'not planted'}: {name}"
        yield Finding(name.partition(":")[0], "", what)


def write(
    before: str,
    found: list[Row],
    planted: Sequence[tuple[Fault, Finding | None]],
    seconds: float,
) -> None:
    """Write the report, if the sources are what they were."""
    if before == report.sources(ROOT):
        made: Report = {
            "sources": before,
            "z3": importlib.metadata.version("z3-solver"),
            "seconds": seconds,
            "rows": found,
            "faults": len(planted),
            "equivalent": sum(finding is None for _, finding in planted),
        }
        (ROOT / REPORT).parent.mkdir(exist_ok=True)
        new = (ROOT / REPORT).with_suffix(".new")
        new.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        new.replace(ROOT / REPORT)
