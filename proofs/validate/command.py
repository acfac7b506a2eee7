"""The extracted Python on unknown integers: each path of each program keeps its contract.

    validate                     all programs, up to rank 4
    validate --bound N           up to rank N
    validate --only PROGRAM ...  these

python/whycast/_kernel.py runs unchanged, on unknown integers, along every path; Z3 decides each
comparison. The program's contract in WhyML has to allow each path's end, a value or an exception
with its contents, and the paths together have to cover all inputs. Ends that a contract does not
allow are printed with the path and an input; so are Z3's missing answers.
"""

import argparse
import ast
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor

from gate.closed import ROOT, ToolError
from validate import kernel
from validate.programs import Program, contracts, programs
from validate.validation import Finding, Result, Validation

KERNEL = ROOT / "python/whycast/_kernel.py"
BOUND = 4

# Forms for a process at a time.
TOGETHER = 25

# The work, which processes inherit. Their parent makes no term, so they share nothing of Z3's.
_work: Callable[[int], Result]


def work(number: int) -> Result:
    """Do one part of the work."""
    return _work(number)


def validate(programs: Mapping[str, Program], names: Sequence[str], bound: int) -> list[Result]:
    """Validate programs in parallel."""
    global _work
    # The last forms have the longest paths: they start first.
    forms = [(programs[name], each) for name in names for each in programs[name].forms(bound)][::-1]

    def one(number: int) -> Result:
        program, form = forms[number]
        return Validation(program, form, program.kernel).run()

    _work = one
    context, workers = multiprocessing.get_context("fork"), len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, context) as pool:
        return list(pool.map(work, range(len(forms)), chunksize=TOGETHER))


def shown(finding: Finding) -> str:
    """Show a finding, with the path to it."""
    lines = [f"{finding.program}{finding.form}: {finding.what}"]
    if finding.path:
        lines.append(f"  path      {' and '.join(finding.path)}")
    if finding.input:
        lines += [f"  input     {finding.input}", f"  got       {finding.got}"]
    return "\n".join(lines)


def unpaired(text: str, names: Sequence[str]) -> set[str]:
    """Return the functions of the kernel without a contract, and contracts without a function."""
    own = (each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef))
    return {*own}.symmetric_difference(names)


def main(argv: list[str]) -> int:
    """Run the command; 0 if everything is proved."""
    parser = argparse.ArgumentParser(prog="validate", description="Validate the extracted Python.")
    parser.add_argument("--bound", type=int, default=BOUND, metavar="N", help="the largest rank")
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", help="only these")
    options = parser.parse_args(argv)
    started, text = time.monotonic(), KERNEL.read_text(encoding="utf-8")
    every = {each.name: each for each in programs(contracts(), kernel.load(text))}
    if unknown := {*(options.only or ())} - {*every}:
        raise ToolError(f"{', '.join(sorted(unknown))}: not a program of the kernel")
    if alone := unpaired(text, [*every]):
        raise ToolError(f"{', '.join(sorted(alone))}: in the kernel or with a contract, not both")
    names = [n for n in every if not every[n].moves and n in (options.only or every)]
    results = validate(every, names, options.bound)
    findings: dict[str, list[Finding]] = {name: [] for name in names}
    for result in results:
        findings[result.program] += [result.finding] if result.finding else []
    for name, found in findings.items():
        own = [result for result in results if result.program == name]
        paths, seconds = sum(each.paths for each in own), sum(each.seconds for each in own)
        verdict = "not proved" if found or not paths else "proved"
        print(f"{name}: {verdict}; {len(own)} forms, {paths} paths, {seconds:.1f} s")
    for found in filter(None, findings.values()):
        print(shown(min(found, key=lambda each: len(each.form))))
        if len(found) > 1:
            print(f"  and {len(found) - 1} more of {found[0].program}")
    failed = any(findings.values()) or {*names} != {each.program for each in results}
    about = f"{len(names)} programs, {sum(each.paths for each in results)} paths"
    seconds = time.monotonic() - started
    print(f"validate: {'FAILED' if failed else 'all proved'}; {about}, {seconds:.0f} s")
    return 1 if failed else 0
