"""Check on unknown integers that the extracted programs keep their contracts.

python/whycast/_kernel.py runs unchanged along every path; Z3 decides each comparison. The program's
contract in WhyML must allow the end of each path (a value, or an exception with its contents), and
the paths must cover all integers. For each program the command prints one fault, with the path
and an input. It skips programs that move elements.
"""

import argparse
import ast
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from gate.closed import ROOT, ToolError
from validate import kernel
from validate.validation import Program, Result, Validation, contracts, programs

KERNEL = ROOT / "python/whycast/_kernel.py"
BOUND = 4

# The number of forms that a process takes at a time.
TOGETHER = 25

# Processes inherit the forms, but no terms of Z3: their parent makes none.
FORMS: list[tuple[Program, tuple[Any, ...]]] = []


def work(number: int) -> Result:
    """Validate one form."""
    program, form = FORMS[number]
    return Validation(program, form, program.kernel).run()


def shown(result: Result) -> str:
    """Show a fault, with the path to it."""
    lines = [f"{result.program}{result.form}: {result.fault}"]
    if result.path:
        lines.append(f"  path      {' and '.join(result.path)}")
    if result.input:
        lines += [f"  input     {result.input}", f"  got       {result.got}"]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Run the command; return 0 if everything is proved."""
    parser = argparse.ArgumentParser(prog="validate", description="Validate the extracted Python.")
    parser.add_argument("--bound", type=int, default=BOUND, metavar="N", help="the largest rank")
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", help="only these")
    options = parser.parse_args(argv)
    started, text = time.monotonic(), KERNEL.read_text(encoding="utf-8")
    every = {each.name: each for each in programs(contracts(), kernel.load(text))}
    if unknown := {*(options.only or ())} - {*every}:
        raise ToolError(f"{', '.join(sorted(unknown))}: not a program of the kernel")
    own = {each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
    if alone := own.symmetric_difference(every):
        raise ToolError(f"{', '.join(sorted(alone))}: in the kernel or with a contract, not both")
    names = [n for n in every if not every[n].moves and n in (options.only or every)]
    # The last forms have the longest paths: they start first.
    FORMS[:] = [(every[n], form) for n in names for form in every[n].forms(options.bound)][::-1]
    context, workers = multiprocessing.get_context("fork"), len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, context) as pool:
        results = list(pool.map(work, range(len(FORMS)), chunksize=TOGETHER))
    by_name = {name: [each for each in results if each.program == name] for name in names}
    faults = {name: [each for each in by_name[name] if each.fault] for name in names}
    for name, own_results in by_name.items():
        paths = sum(each.paths for each in own_results)
        verdict = "not proved" if faults[name] or not paths else "proved"
        seconds = sum(each.seconds for each in own_results)
        print(f"{name}: {verdict}; {len(own_results)} forms, {paths} paths, {seconds:.1f} s")
    for found in filter(None, faults.values()):
        print(shown(min(found, key=lambda each: len(each.form))))
        if len(found) > 1:
            print(f"  and {len(found) - 1} more of {found[0].program}")
    failed = any(faults.values()) or not all(by_name.values())
    about = f"{len(names)} programs, {sum(each.paths for each in results)} paths"
    seconds = time.monotonic() - started
    print(f"validate: {'FAILED' if failed else 'all proved'}; {about}, {seconds:.0f} s")
    return 1 if failed else 0
