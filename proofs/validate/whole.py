"""All programs on all forms of arguments, side by side, and what must hold of them together."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from validate import faults, kernel
from validate.faults import Fault
from validate.programs import BY_CONTRACT, Arguments, Program, programs
from validate.validation import Finding, Result, Validation

# Forms that a process takes at a time.
TOGETHER = 25

# A process has one kernel and its programs, and makes its own terms.
_kernel: ModuleType
_programs: dict[str, Program]


def prepare(text: str, facts: Mapping[str, Any]) -> None:
    """Load the kernel in a process."""
    global _kernel, _programs
    _kernel = kernel.load(text)
    _programs = {program.name: program for program in programs(facts, _kernel)}


@cache
def forms(name: str, bound: int) -> list[Arguments]:
    """List the forms of a program's arguments."""
    return list(_programs[name].forms(bound))


def some(name: str, bound: int, first: int) -> list[Result]:
    """Validate a program on some forms of arguments."""
    program, called = _programs[name], _programs.get(BY_CONTRACT.get(name, ""))
    return [
        Validation(program, arguments, _kernel, called).run()
        for arguments in forms(name, bound)[first : first + TOGETHER]
    ]


def validate(
    text: str,
    facts: Mapping[str, Any],
    names: Sequence[str],
    bound: int,
    progress: Callable[[Result], None],
) -> list[Result]:
    """Validate programs on the processors that there are."""
    found = []
    with processes(text, facts) as pool:
        numbers = pool.map(count, names, [bound] * len(names))
        parts = [
            (name, first)
            for name, number in zip(names, numbers, strict=True)
            for first in range(0, number, TOGETHER)
        ]
        # The longest paths are those of the last forms.
        futures = [pool.submit(some, name, bound, first) for name, first in reversed(parts)]
        for future in as_completed(futures):
            found += future.result()
            for result in future.result():
                progress(result)
    return found


def count(name: str, bound: int) -> int:
    """Count the forms of a program's arguments."""
    return len(forms(name, bound))


@contextmanager
def processes(text: str, facts: Mapping[str, Any]) -> Iterator[ProcessPoolExecutor]:
    """Lend as many processes as there are processors; if it ends early, what waits is dropped.

    Who calls makes no term, so that there is nothing of Z3's that they could share.
    """
    context = multiprocessing.get_context("fork")
    workers = len(os.sched_getaffinity(0))
    pool = ProcessPoolExecutor(workers, context, prepare, (text, facts))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def plant(text: str, facts: Mapping[str, Any]) -> list[tuple[Fault, Finding | None]]:
    """Plant all faults, and find what notices each."""
    planted = list(faults.faults(text))
    with processes(text, facts) as pool:
        return list(zip(planted, pool.map(sought, planted), strict=True))


def sought(fault: Fault) -> Finding | None:
    """Find what notices a fault."""
    return faults.noticed(fault, _programs, forms)


def together(
    text: str, names: Sequence[str], results: Sequence[Result], *, complete: bool
) -> Iterator[Finding]:
    """Say what is missing: a program, a path at all, a proof that another one relies on."""
    module = kernel.load(text)
    public = {
        name
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    for name in sorted(public.symmetric_difference(names)) if complete else ():
        yield Finding(name, "", "is in the kernel or has a contract, and not both")
    proved = {result.program for result in results if result.paths}
    proved -= {result.program for result in results if result.findings}
    for name in names:
        if not sum(result.paths for result in results if result.program == name):
            yield Finding(name, "", "has no path")
        if name in BY_CONTRACT and BY_CONTRACT[name] not in proved:
            yield Finding(name, "", f"relies on {BY_CONTRACT[name]}, which is not proved")
