"""The child process: what it says before it ends, and where the system lacks what others have.

`check` ends a child as soon as that has said what is wrong; here it is let go on to its own end.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from contextlib import suppress
from typing import Any

import implementations
import pytest

import whycast
from whycast._rules import RULES
from whycast.testing import TargetError, check
from whycast.testing._cases._case import Case
from whycast.testing._report._judge import Judge
from whycast.testing._run import _child
from whycast.testing._run._child import Child
from whycast.testing._run._targets import target_of
from whycast.testing._run._worker import Asked, Run, work

Shape = tuple[int, ...]

VERDICTS = Run(Asked("verdict", 0, ()), 0, None, frozenset(), 50, 0.0)


def said_by(target: object, *jobs: Run) -> tuple[list[Any], int | None]:
    """Start a child, give it jobs and no more; return all that it says, and its exit code."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    position: Any = context.Value("q", -1, lock=False)
    arguments = (theirs, ours, position, target_of(target), "sonnx")
    process = context.Process(target=work, args=arguments)
    process.start()
    theirs.close()
    said = []
    with suppress(EOFError, OSError):
        for job in (*jobs, None):
            ours.send(job)
    with suppress(EOFError, OSError):
        while ours.poll(60):
            said.append(ours.recv())
    process.join(10)
    process.kill()
    return said, process.exitcode


def test_it_says_what_it_found_and_ends() -> None:
    said, code = said_by(whycast.compatible, VERDICTS)
    title, *parts = said
    assert title == "whycast:compatible"
    # Where it takes long it says so in parts.
    assert sum(tally.cases.total() for tally, *_ in parts) > 100
    assert [done for _, _, done, _ in parts] == [False] * (len(parts) - 1) + [True]
    assert (parts[-1][1] > 9000, parts[-1][3], code) == (True, False, 0)


async def asynchronous(*shapes: Shape) -> bool:
    return whycast.compatible(*shapes)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("no_such_module:f", "ModuleNotFoundError"),
        ("math:pi", "target math:pi: expected a function, got 3.141592653589793 (float)"),
        (asynchronous, "expected a function that returns its answer, got an asynchronous one"),
    ],
)
def test_it_says_what_is_wrong_with_a_target_and_ends(target: object, text: str) -> None:
    (*_, error), code = said_by(target, VERDICTS)
    assert isinstance(error, TargetError)
    assert text in str(error)
    assert code == 0


def test_a_fault_of_the_checker_is_none_of_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(judge: Judge, case: Case, value: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(Judge, "finding", broken)
    (_, error), code = said_by(whycast.compatible, VERDICTS)
    assert isinstance(error, AssertionError)
    assert "ZeroDivisionError: a fault" in str(error)
    assert code == 0
    with pytest.raises(AssertionError, match="ZeroDivisionError: a fault"):
        check(whycast.compatible, level="verdict", seconds=0)


def test_a_copy_of_the_process_says_nothing_and_ends() -> None:
    """The function waits for it, which has gone on with the cases until it was to say something."""

    def function(*shapes: Shape) -> bool:
        if shapes == ((), ()) and (copy := os.fork()):
            _, status = os.waitpid(copy, 0)
            return os.waitstatus_to_exitcode(status) == 0
        return whycast.compatible(*shapes)

    (_, *parts), code = said_by(function, VERDICTS)
    assert not any(tally.deviations for tally, *_ in parts)
    assert sum(tally.cases.total() for tally, *_ in parts) > 100
    assert [done for _, _, done, _ in parts].count(True) == 1
    assert code == 0


def test_a_target_that_ends_the_process_before_it_is_asked() -> None:
    class Ends:
        parent = os.getpid()

        @property
        def verdict(self) -> Any:
            if os.getpid() != self.parent:
                os._exit(5)
            return whycast.compatible

    text = "ended with exit code 5, before it was asked anything"
    with pytest.raises(TargetError, match=text):
        check(Ends(), level="verdict", seconds=0)


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (KeyboardInterrupt(), ("exit", "the process ended with exit code 1")),
        (SystemExit(3), ("exit", "SystemExit: 3")),
        (MemoryError("no room"), ("memory", "MemoryError: no room")),
        (GeneratorExit("no more"), ("refuses", "GeneratorExit: no more")),
    ],
)
def test_what_is_raised_and_is_no_exception(error: BaseException, found: tuple[str, str]) -> None:
    def function(*shapes: Shape) -> bool:
        if shapes == ((2,), (1,)):
            raise error
        return whycast.compatible(*shapes)

    report = check(function, level="verdict", seconds=0)
    (deviation,) = report.deviations
    assert (deviation.kind, deviation.got) == found
    assert (deviation.case, deviation.count) == (Case(((2,), (1,))), 1)
    assert report.complete


class Together:
    """A function with another that does many calls; wrong at rank 5."""

    def __call__(self, *shapes: Shape) -> bool:
        raise AssertionError("asked for one case")

    def many(self, calls: list[tuple[Shape, ...]]) -> list[object]:
        found: list[object] = []
        for shapes in calls:
            fits = whycast.compatible(*shapes) and max(map(len, shapes)) != 5
            found.append(True if fits else ValueError("they do not fit"))
        return found


def test_many_calls_at_once_are_judged_one_by_one() -> None:
    report = check(Together(), level="verdict", seconds=0)
    (found,) = report.deviations
    assert (found.kind, found.got) == ("refuses", "ValueError: they do not fit")
    assert found.case == Case(((1,) * 5,))


# --- systems ----------------------------------------------------------------------------------


def test_where_there_is_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target is named to the child, which opens it."""
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    asked: Any = {"rule": "numpy", "level": "verdict", "seconds": 0, "every": 50}
    assert check("numpy", **asked).ok
    (first, *_) = check(whycast.compatible, **asked).deviations
    assert first.kind == "refuses"
    assert not whycast.compatible(*first.case.shapes)


def test_without_what_only_some_systems_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """No group of processes, no death with the parent, no other size of a page."""
    monkeypatch.delattr(os, "killpg")
    monkeypatch.delattr(os, "setsid")
    monkeypatch.setattr(sys, "platform", "another")
    monkeypatch.setitem(sys.modules, "resource", None)
    assert _child._page_size() == 4096
    assert check(whycast.compatible, level="verdict", seconds=0, every=50).ok
    report = check(implementations.hangs, seconds=0, every=2, timeout=0.3)
    assert {each.kind for each in report.deviations} == {"hang"}


def test_a_child_that_has_ended_takes_no_memory() -> None:
    child = Child(target_of(whycast.compatible), RULES["sonnx"], 10.0, 0.0)
    assert child._taken() > 2**20
    child.end()
    assert child._taken() == 0
