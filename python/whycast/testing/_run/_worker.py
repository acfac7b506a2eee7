"""The child process: it asks the implementation, which may crash or hang."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from itertools import count
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, cast

import numpy as np

from whycast._rules import RULES, Rule
from whycast._types import AnyArray
from whycast.testing._cases._case import Asked, Case, Level, Stage, Tensors, asked
from whycast.testing._cases._drawn import random_case
from whycast.testing._cases._fixed import in_turn
from whycast.testing._lines._program import Program
from whycast.testing._peers import Function
from whycast.testing._report._compare import Finding
from whycast.testing._report._judge import Judge
from whycast.testing._report._tally import Example, Key, Tally
from whycast.testing._run._functions import form_of, look, pulling, writing
from whycast.testing._run._targets import Opened, Target, TargetError

# Linux, prctl(2): the system ends this process with its parent.
_PR_SET_PDEATHSIG = 1

_BEAT = 0.2

# The check gives up on a target after this many deaths.
MOST_DEATHS = 20


class Run(NamedTuple):
    """Job: ask the cases from `start` to `stop`; without a `deadline`, no random cases."""

    asked: Asked
    start: int
    stop: int | None
    skipped: frozenset[int]
    deadline: float | None


class Look(NamedTuple):
    """Job: find the level and the number of tensors of a target; the answer is `Seen`."""

    level: Level | None
    tensors: Tensors | None
    dtypes: tuple[str, ...]


class Try(NamedTuple):
    """Job: ask cases until one deviates as `key` says, or until the deadline."""

    asked: Asked
    cases: list[Case]
    key: Key
    stage: Stage
    deadline: float


class Found(NamedTuple):
    """Answer to a `Run`: the new findings, and the next case."""

    tally: Tally
    next: int
    done: bool = False
    given_up: bool = False


def work(
    connection: Connection[Any, Any],
    parents: Connection[Any, Any] | None,
    # A number in shared memory.
    position: Any,
    target: Target,
    rule: str,
) -> None:
    """Open the target and do the parent's jobs, until the parent sends no more or ends."""
    if parents is not None:
        # A process that has the parent's end, too, cannot see that the parent closed it.
        parents.close()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # A fork copies the parent's handlers.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(os, "setsid"):
        os.setsid()
    # The implementation prints to the standard error stream, and has an empty input.
    if sys.stdout is not None:
        sys.stdout.flush()
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    faulthandler.disable()
    try:
        opened = target.opens(target, RULES[rule])
    except (TargetError, ImportError) as error:
        connection.send(TargetError(str(error)))
        return
    connection.send((opened.title, opened.code))
    worker = _Worker(connection, position, opened, RULES[rule])
    while (job := connection.recv()) is not None:
        try:
            worker.do(job)
        except Exception as error:
            # Any other exception is a fault of the checker.
            known = isinstance(error, TargetError)
            connection.send(error if known else AssertionError(traceback.format_exc()))
            return


def numbered(rule: Rule, options: Asked, start: int = 0) -> Iterator[tuple[int, Stage, Case]]:
    known = in_turn(rule, options.level, options.every)
    for number in count(start):
        if number < len(known):
            stage, case = known[number]
        else:
            drawn = random_case(rule, options.level, options.seed, number - len(known))
            stage, case = "random", drawn
        yield number, stage, options.fitted(case, cut=stage == "random")


class _Worker:
    def __init__(
        self, connection: Connection[Any, Any], position: Any, opened: Opened, rule: Rule
    ) -> None:
        self.connection = connection
        self.position = position
        self.opened = opened
        self.rule = rule
        self.process = os.getpid()

    def do(self, job: Run | Try | Look) -> None:
        # NumPy's warnings about an operator's overflow do not matter.
        np.seterr(all="ignore")
        self.level = (job.level or "operator") if isinstance(job, Look) else job.asked.level
        given = self.opened.function(self.level)
        form = "" if isinstance(job, Look) else job.asked.form
        if isinstance(job, Look) and self.level in ("vjp", "adjoint"):
            form = form_of(given, job.dtypes)
            self.level = "vjp" if form and job.tensors != (1, 1) else self.level
        self.program = given if isinstance(given, Program) else None
        self.function = given
        if self.level == "inplace" and given is not None:
            write = given.write if isinstance(given, Program) else given
            self.function = writing(write, self.rule)
        if self.level == "vjp" and callable(given):
            self.function = pulling(given, form)
        if isinstance(job, Look):
            level = self.level if job.level else None
            self.send(look(given, *job._replace(level=level), form, self.ask))
            return
        self.judge = Judge(self.rule, self.level, self.ask, job.asked.refuses)
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
        for number, stage, case in self.wanted(job, tally):
            finding = self.judged(number, case)
            if began and self.deadline is not None:
                # The first answer has extra time: the target may start, or compile.
                self.deadline += time.monotonic() - began
            began = 0.0
            tally.note(stage, case, finding, accepted=self.judge.accepts)
            tally.cautious += self.judge.cautious
            self.judge.cautious = 0
            self.after = number + 1
            if self.program is not None:
                if self.program.is_of_no_use:
                    raise TargetError(f"target {self.opened.title}: {self.program.is_of_no_use}")
                if self.program.deaths == MOST_DEATHS:
                    given_up = True
                    break
            if time.monotonic() >= beat:
                self.send(Found(tally, self.after))
                tally.forget()
                beat = time.monotonic() + _BEAT
        self.send(Found(tally, self.after, done=True, given_up=given_up))

    def attempt(self, job: Try) -> Example | None:
        for number, case in enumerate(job.cases):
            if not self.left_out(job.asked, case) and time.monotonic() < job.deadline:
                finding = self.judged(number, case)
                if finding is not None and (finding.kind, finding.detail) == job.key:
                    return Example(job.stage, case, finding)
        return None

    def judged(self, number: int, case: Case) -> Finding | None:
        self.position.value = number
        return self.judge.judged(case)

    def ask(self, case: Case, tensors: Sequence[AnyArray]) -> object:
        if isinstance(self.function, Program):
            return self.function.ask(case, tensors)
        return cast("Function", self.function)(*asked(self.rule, self.level, case, tensors))

    def wanted(self, job: Run, tally: Tally) -> Iterator[tuple[int, Stage, Case]]:
        for number, stage, case in numbered(self.rule, job.asked, job.start):
            if number == job.stop or (self.deadline is None and stage == "random"):
                return
            # Time counts from the first answer: on a busy machine, making the cases takes long.
            if number and self.deadline is not None and time.monotonic() >= self.deadline:
                return
            if number in job.skipped:
                continue
            if reason := self.left_out(job.asked, case):
                tally.left_out[reason] += 1
                self.after = number + 1
            else:
                yield number, stage, case

    def left_out(self, options: Asked, case: Case) -> str | None:
        return options.left_out(case) or self.opened.left_out(options.level, case)

    def send(self, message: object) -> None:
        """Send to the parent; if the implementation has forked this process, the copy ends here."""
        if os.getpid() != self.process:
            os._exit(0)
        self.connection.send(message)
