"""The extracted Python on unknown integers: each path of each program keeps its contract.

    validate                     all programs, up to rank 4, then faults planted in them; writes
                                 build/validation.json
    validate --bound N           up to rank N; no faults and no report
    validate --only PROGRAM ...  these, and those they rely on; no faults and no report

python/whycast/_kernel.py is run as it is, on integers that are not known, along every path. Z3
proves that the program's contract in WhyML allows how each path ends: its value, or the exception
with what it carries; and that the paths together are all there is. What a contract does not allow
is printed with the path and an input; so is what Z3 does not answer. Each fault of faults.py has to
be noticed so, or stands in equivalent.toml with the reason why it is none.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import time
from collections.abc import Iterator, Sequence

from gate.closed import ROOT, ToolError
from validate import kernel, report, whole
from validate.faults import Fault
from validate.programs import BY_CONTRACT, Program, contracts, programs
from validate.report import EQUIVALENT, KERNEL, REPORT, Row
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


def row(program: Program, bound: int, results: Sequence[Result]) -> Row:
    """Sum up what became of a program."""
    own = [result for result in results if result.program == program.name]
    return {
        "program": program.name,
        "arguments": program.about(bound),
        "forms": len(own),
        "paths": sum(result.paths for result in own),
        "relies_on": BY_CONTRACT.get(program.name, ""),
        "seconds": round(sum(result.seconds for result in own), 1),
    }


def shown(finding: Finding) -> str:
    """Show what is wrong, with the path to it."""
    lines = [f"{finding.program}{finding.form}: {finding.what}"]
    if finding.path:
        lines.append(f"  path      {' and '.join(finding.path)}")
    if finding.input:
        lines += [f"  input     {finding.input}", f"  got       {finding.got}"]
    return "\n".join(lines)


def line(row: Row, failed: set[str]) -> str:
    """Show a row."""
    verdict = "not proved" if row["program"] in failed else "proved"
    by = f"; {row['relies_on']} by its contract" if row["relies_on"] else ""
    numbers = f"{row['forms']} forms, {row['paths']} paths, {row['seconds']:.1f} s"
    return f"{row['program']}: {verdict}; {row['arguments']}{by}; {numbers}"


def main(argv: list[str]) -> int:
    """Run the command; 0 if everything is proved."""
    parser = argparse.ArgumentParser(prog="validate", description="Validate the extracted Python.")
    parser.add_argument("--bound", type=int, default=BOUND, metavar="N", help="the largest rank")
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", help="only these, and no report")
    options = parser.parse_args(argv)
    started, before = time.monotonic(), report.sources(ROOT)
    text = (ROOT / KERNEL).read_text(encoding="utf-8")
    every = {each.name: each for each in programs(contracts(), kernel.load(text))}
    names = chosen(list(every), options.only)
    complete = len(names) == len(every) and options.bound == BOUND
    results = whole.validate(every, names, options.bound)
    findings = [finding for result in results for finding in result.findings]
    findings += whole.together(every, names, results, complete=options.only is None)
    found = [row(every[name], options.bound, results) for name in names]
    failed = {finding.program for finding in findings}
    print(*(line(each, failed) for each in found), sep="\n", flush=True)
    if complete and not findings:
        planted = whole.plant(text, every)
        findings += unnoticed(planted, report.equivalents(ROOT / EQUIVALENT))
        missed = sum(finding is None for _, finding in planted)
        noticed = len(planted) - missed
        print(f"{len(planted)} faults planted, {noticed} noticed, {missed} are none", flush=True)
        if not findings and before == report.sources(ROOT):
            made = {
                "sources": before,
                "z3": importlib.metadata.version("z3-solver"),
                "seconds": round(time.monotonic() - started, 1),
                "rows": found,
                "faults": len(planted),
                "equivalent": missed,
            }
            (ROOT / REPORT).parent.mkdir(exist_ok=True)
            (ROOT / REPORT).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for name in dict.fromkeys(finding.program for finding in findings):
        several = [finding for finding in findings if finding.program == name]
        print(shown(min(several, key=lambda each: len(each.form))))
        if len(several) > 1:
            print(f"  and {len(several) - 1} more of {name}")
    verdict = "FAILED" if findings else "all proved"
    paths, seconds = sum(each["paths"] for each in found), time.monotonic() - started
    about = f"{len(names)} programs, {paths} paths, {seconds:.0f} s"
    print(f"validate: {verdict}; {about}")
    return 1 if findings else 0


def unnoticed(
    planted: Sequence[tuple[Fault, Finding | None]], listed: dict[str, str]
) -> Iterator[Finding]:
    """Say what is wrong with the faults: one is not noticed, or the list has one that is."""
    survived = {str(fault): fault for fault, finding in planted if finding is None}
    for name in survived.keys() - listed.keys():
        what = f"nothing notices the fault in line {survived[name].line}: {name}"
        yield Finding(survived[name].program, "", what)
    for name in listed.keys() - survived.keys():
        known = name in (str(fault) for fault, _ in planted)
        what = f"{EQUIVALENT} lists a fault that is {'noticed' if known else 'not planted'}: {name}"
        yield Finding(name.partition(":")[0], "", what)
