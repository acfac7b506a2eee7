"""All programs on all forms of arguments, side by side, and what must hold of them together."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from types import FunctionType, ModuleType

from symbolic import faults, kernel
from symbolic.faults import Fault
from symbolic.programs import Program
from symbolic.validation import Finding, Result, Validation, form

# A process has one kernel and one list of programs, and makes its own terms.
_kernel: ModuleType
_programs: Sequence[Program]


def prepare(text: str, programs: Sequence[Program]) -> None:
    """Load the kernel in a process."""
    global _kernel, _programs
    _kernel, _programs = kernel.load(text), programs


def one(number: int, bound: int, place: int) -> Result:
    """Validate a program on one form of arguments."""
    program = _programs[number]
    others = {each.name: each for each in _programs}
    return Validation(program, program.forms(bound)[place], _kernel, others).run()


def validate(
    text: str, programs: Sequence[Program], bound: int, progress: Callable[[Result], None]
) -> list[Result]:
    """Validate all programs, the longest first, on the processors that there are."""
    forms = [
        (number, place, len(form(arguments)))
        for number, program in enumerate(programs)
        for place, arguments in enumerate(program.forms(bound))
    ]
    forms.sort(key=lambda each: -each[2])
    found = []
    with processes(text, programs) as pool:
        futures = [pool.submit(one, number, bound, place) for number, place, _ in forms]
        for future in as_completed(futures):
            found.append(future.result())
            progress(found[-1])
    return found


@contextmanager
def processes(text: str, programs: Sequence[Program]) -> Iterator[ProcessPoolExecutor]:
    """Lend as many processes as there are processors; if it ends early, what waits is dropped.

    Who calls makes no term, so that there is nothing of Z3's that they could share.
    """
    context = multiprocessing.get_context("fork")
    workers = len(os.sched_getaffinity(0))
    pool = ProcessPoolExecutor(workers, context, prepare, (text, programs))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def plant(text: str, programs: Sequence[Program]) -> list[tuple[Fault, Finding | None]]:
    """Plant all faults, and find what notices each."""
    planted = list(faults.faults(text))
    with processes(text, programs) as pool:
        return list(zip(planted, pool.map(sought, planted), strict=True))


def sought(fault: Fault) -> Finding | None:
    """Find what notices a fault."""
    return faults.noticed(fault, _programs)


def together(
    text: str, programs: Sequence[Program], results: Sequence[Result], *, complete: bool
) -> Iterator[Finding]:
    """Say what is missing: a program, a path at all, a proof that another one relies on."""
    module = kernel.load(text)
    public = {
        name
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    listed = [program.name for program in programs]
    for name in sorted(public.symmetric_difference(listed)) if complete else ():
        yield Finding(name, "", "is in the kernel or in the list of programs, and not in both")
    for number, program in enumerate(programs):
        if not set(program.by_contract) <= set(listed[:number]):
            yield Finding(program.name, "", "relies on what is not proved before it")
        if not sum(result.paths for result in results if result.program == program.name):
            yield Finding(program.name, "", "has no path")
    proved = {(result.program, result.form) for result in results if not result.findings}
    for result in results:
        for name, arguments in sorted(result.relied_on - proved):
            what = f"relies on {name}{arguments}, which is not proved"
            yield Finding(result.program, result.form, what)
