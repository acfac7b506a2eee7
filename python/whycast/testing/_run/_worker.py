"""The child process: it asks the implementation, which may crash or hang without harm."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from whycast._rules import RULES, Rule
from whycast._types import AnyArray
from whycast.testing._cases._asked import Asked, Tensors
from whycast.testing._cases._case import Case, Level, Stage
from whycast.testing._cases._drawn import random_case
from whycast.testing._cases._fixed import in_turn
from whycast.testing._lines._program import Program
from whycast.testing._peers import Function
from whycast.testing._report._compare import Finding
from whycast.testing._report._judge import Judge
from whycast.testing._report._tally import Example, Key, Tally
from whycast.testing._run._inplace import writing
from whycast.testing._run._look import look
from whycast.testing._run._targets import Askable, Opened, Target, TargetError

# Linux: see prctl(2).
_PR_SET_PDEATHSIG = 1

# Seconds between two reports of progress to the parent.
_BEAT = 0.2

_MOST_DEATHS = 20


class Run(NamedTuple):
    """Job: cases from a number to another, but some, until a time; without it no random ones."""

    asked: Asked
    start: int
    stop: int | None
    skipped: frozenset[int]
    deadline: float | None


class Look(NamedTuple):
    """Job: find out what a level, or a target, can be asked; its answer is `Seen`."""

    level: Level | None
    tensors: Tensors | None
    dtypes: tuple[str, ...]


class Try(NamedTuple):
    """Job: cases one by one, until one deviates in the same way, or until a time."""

    asked: Asked
    cases: list[Case]
    key: Key
    stage: Stage
    deadline: float


class Found(NamedTuple):
    """Answer to a `Run`: the new findings, the next case, and whether it is done, or given up."""

    tally: Tally
    next: int
    done: bool = False
    given_up: bool = False


Numbered: TypeAlias = tuple[int, tuple[Stage, Case]]


def work(
    connection: Connection[Any, Any],
    parents: Connection[Any, Any] | None,
    # A number in shared memory.
    position: Any,
    target: Target,
    rule: str,
) -> None:
    """Open the target and do the parent's jobs, until it sends no more or has ended."""
    if parents is not None:
        # Otherwise this process never sees the parent's end closed.
        parents.close()
    _end_with_parent()
    # The parent's handlers are not for its copy.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _set_output_aside()
    # The parent reports crashes.
    faulthandler.disable()
    try:
        opened = target.open(RULES[rule])
    except (TargetError, ImportError) as error:
        connection.send(TargetError(str(error)))
        return
    connection.send(opened.title)
    worker = _Worker(connection, position, opened, RULES[rule])
    while (job := connection.recv()) is not None:
        try:
            worker.do(job)
        except Exception as error:
            # Any other exception is a fault of the checker.
            known = isinstance(error, TargetError)
            connection.send(error if known else AssertionError(traceback.format_exc()))
            return


def numbered(rule: Rule, asked: Asked, start: int = 0) -> Iterator[Numbered]:
    """Return all numbered cases from a number on, then random ones without end."""
    known = in_turn(rule, asked.level, asked.every)
    for number in count(start):
        if number < len(known):
            stage, case = known[number]
        else:
            stage, case = "random", random_case(rule, asked.level, asked.seed, number - len(known))
        yield number, (stage, asked.fitted(case, cut=stage == "random"))


class _Worker:
    def __init__(
        self,
        connection: Connection[Any, Any],
        position: Any,
        opened: Opened,
        rule: Rule,
    ) -> None:
        self.connection = connection
        self.position = position
        self.opened = opened
        self.rule = rule
        self.process = os.getpid()

    def do(self, job: Run | Try | Look) -> None:
        # Overflow in an operator does not matter.
        np.seterr(all="ignore")
        if isinstance(job, Look):
            given = self.opened.function(job.level or "operator")
            self.function = self.made(given, job.level)
            self.send(look(given, *job, self.again))
            return
        level = job.asked.level
        self.function = self.made(self.opened.function(level), level)
        self.judge = Judge(self.rule, level, job.asked.refuses, self.again)
        if self.function is None:
            self.send(None)
        elif isinstance(job, Run):
            self.run(job)
        else:
            self.send(self.attempt(job))

    def run(self, job: Run) -> None:
        tally, given_up = Tally(), False
        self.after, self.deadline = job.start, job.deadline
        began = time.monotonic()
        beat = time.monotonic() + _BEAT
        for number, stage, case, finding in self.findings(self.wanted(job, tally)):
            if began and self.deadline is not None:
                # Time for the first answer is extra: it may have started, or compiled.
                self.deadline += time.monotonic() - began
            began = 0.0
            tally.note(stage, case, finding, accepted=self.judge.accepts)
            tally.cautious += self.judge.cautious
            self.judge.cautious = 0
            self.after = number + 1
            if isinstance(self.function, Program):
                if self.function.is_of_no_use:
                    raise TargetError(f"target {self.opened.title}: {self.function.is_of_no_use}")
                if self.function.deaths == _MOST_DEATHS:
                    given_up = True
                    break
            if time.monotonic() >= beat:
                self.send(Found(tally, self.after))
                tally.forget()
                beat = time.monotonic() + _BEAT
        self.send(Found(tally, self.after, done=True, given_up=given_up))

    def attempt(self, job: Try) -> Example | None:
        stream: Iterator[Numbered] = (
            (number, (job.stage, case))
            for number, case in enumerate(job.cases)
            if not self.left_out(job.asked, case) and time.monotonic() < job.deadline
        )
        for _, stage, case, finding in self.findings(stream):
            if finding is not None and (finding.kind, finding.detail) == job.key:
                return Example(stage, case, finding)
        return None

    def findings(
        self, stream: Iterator[Numbered]
    ) -> Iterator[tuple[int, Stage, Case, Finding | None]]:
        for number, (stage, case) in stream:
            self.position.value = number
            yield number, stage, case, self.judge.heard(case, self.question(case))

    def question(self, case: Case) -> Callable[[], object]:
        arguments = self.judge.arguments(case)
        if isinstance(self.function, Program):
            return partial(self.function.ask, case)
        return partial(cast("Function", self.function), *arguments)

    def made(self, given: Askable | None, level: Level | None) -> Askable | None:
        is_in_place = level == "inplace" and given is not None
        return writing(cast("Function", given), self.rule) if is_in_place else given

    def again(self, case: Case, tensors: Sequence[AnyArray]) -> object:
        """Ask about other arrays than those of a case."""
        if isinstance(self.function, Program):
            return self.function.ask(case, tensors)
        return cast("Function", self.function)(*tensors)

    def wanted(self, job: Run, tally: Tally) -> Iterator[Numbered]:
        """Return the cases of a job; count those left out."""
        for number, (stage, case) in numbered(self.rule, job.asked, job.start):
            if number == job.stop or (self.deadline is None and stage == "random"):
                return
            if self.deadline is not None and time.monotonic() >= self.deadline:
                return
            if number in job.skipped:
                continue
            if reason := self.left_out(job.asked, case):
                tally.left_out[reason] += 1
                self.after = number + 1
            else:
                yield number, (stage, case)

    def left_out(self, asked: Asked, case: Case) -> str | None:
        return asked.left_out(case) or self.opened.left_out(asked.level, case)

    def send(self, message: object) -> None:
        """Send to the parent, unless this is a copy that the implementation has forked."""
        if os.getpid() != self.process:
            os._exit(0)
        self.connection.send(message)


def _end_with_parent() -> None:
    """Ask the system, where it can, to end this process with its parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _set_output_aside() -> None:
    """Send an implementation's output to the standard error stream; leave its input empty."""
    if hasattr(os, "setsid"):
        os.setsid()
    if sys.stdout is not None:
        sys.stdout.flush()
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
