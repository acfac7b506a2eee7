"""All programs on all forms of arguments, side by side, and what must hold of them together."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import FunctionType
from typing import Any, TypeVar

from validate import faults
from validate.faults import Fault
from validate.programs import BY_CONTRACT, Program
from validate.validation import Finding, Result, Validation

Done = TypeVar("Done")

# Forms that a process takes at a time.
TOGETHER = 25

# Processes inherit what is to be done. Who starts them makes no term, so that there is nothing of
# Z3's that they could share.
_work: Callable[[int], Any]


def work(number: int) -> Any:
    """Do a part of what is to be done."""
    return _work(number)


def side_by_side(part: Callable[[int], Done], parts: int, together: int) -> list[Done]:
    """Do some parts, on the processors that there are."""
    global _work
    _work = part
    context, workers = multiprocessing.get_context("fork"), len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(workers, context) as pool:
        return list(pool.map(work, range(parts), chunksize=together))


def validate(programs: Mapping[str, Program], names: Sequence[str], bound: int) -> list[Result]:
    """Validate programs."""
    # The longest paths are those of the last forms.
    forms = [(name, each) for name in names for each in programs[name].forms(bound)][::-1]

    def one(number: int) -> Result:
        name, arguments = forms[number]
        program, called = programs[name], programs.get(BY_CONTRACT.get(name, ""))
        return Validation(program, arguments, program.kernel, called).run()

    return side_by_side(one, len(forms), TOGETHER)


def plant(text: str, programs: Mapping[str, Program]) -> list[tuple[Fault, Finding | None]]:
    """Plant all faults, and find what notices each."""
    planted = list(faults.faults(text))
    found = side_by_side(lambda n: faults.noticed(planted[n], programs), len(planted), 1)
    return list(zip(planted, found, strict=True))


def together(
    programs: Mapping[str, Program],
    names: Sequence[str],
    results: Sequence[Result],
    *,
    complete: bool,
) -> Iterator[Finding]:
    """Say what is missing: a program, a path at all, a proof that another one relies on."""
    module = next(iter(programs.values())).kernel
    public = {
        name
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    for name in sorted(public.symmetric_difference(names)) if complete else ():
        yield Finding(name, "", "is in the kernel or has a contract, and not both")
    paths = {name: sum(each.paths for each in results if each.program == name) for name in names}
    wrong = {result.program for result in results if result.findings}
    for name in names:
        if not paths[name]:
            yield Finding(name, "", "has no path")
        called = BY_CONTRACT.get(name)
        if called and (called in wrong or not paths.get(called)):
            yield Finding(name, "", f"relies on {called}, which is not proved")
