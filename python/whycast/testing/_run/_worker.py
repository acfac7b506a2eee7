"""The child process: it asks the implementation, so that this may crash or hang without harm."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, TypeAlias, cast

from whycast._rules import RULES, Rule
from whycast.testing._cases._case import Case, Level, Stage
from whycast.testing._cases._drawn import random_case
from whycast.testing._cases._fixed import fixed
from whycast.testing._lines._program import Program
from whycast.testing._peers import Function, ManyAtOnce
from whycast.testing._peers._register import entries_for
from whycast.testing._report._compare import Finding
from whycast.testing._report._judge import Judge, Refusal
from whycast.testing._report._tally import Example, Key, Tally
from whycast.testing._run._targets import Opened, Target, TargetError

# Of Linux: see prctl(2).
_PR_SET_PDEATHSIG = 1

# So often the parent is told how far it has come, in seconds.
_BEAT = 0.2

# A program that does not live from one case to the next would be started for ever.
_MOST_STARTS = 20

# So many cases are given at once to an implementation that wants many; together they have the time
# of one case.
_AT_ONCE = 200


class Asked(NamedTuple):
    """What is asked: at a level, with a seed, arrays of some dtypes; of any if there is none."""

    level: Level
    seed: int
    dtypes: tuple[str, ...]


class Run(NamedTuple):
    """Job: all cases from a number on to another, but some, until a time of `time.monotonic`."""

    asked: Asked
    start: int
    stop: int | None
    skipped: frozenset[int]
    every: int
    deadline: float


class Try(NamedTuple):
    """Job: cases one by one, until one deviates in the same way."""

    asked: Asked
    cases: list[Case]
    key: Key
    stage: Stage


class Found(NamedTuple):
    """Answer to a `Run`: what was found since the last one, which case is next, and if it goes on.

    A run that is given up is done.
    """

    tally: Tally
    next: int
    done: bool = False
    given_up: bool = False


# A case with its number and its stage.
Numbered: TypeAlias = tuple[int, tuple[Stage, Case]]


def work(
    connection: Connection[Any, Any],
    parents: Connection[Any, Any] | None,
    # A number in memory that both processes see.
    position: Any,
    target: Target,
    rule: str,
) -> None:
    """Open the target and do what the parent says, until it says no more or is no more."""
    if parents is not None:
        # Else this end would never see that the parent's is closed.
        parents.close()
    _end_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _set_output_aside()
    # Of a crash the parent tells.
    faulthandler.disable()
    try:
        opened = target.open(RULES[rule])
    except (TargetError, ImportError) as error:
        connection.send(TargetError(str(error)))
        return
    connection.send(opened.title)
    worker = _Worker(connection, position, opened, RULES[rule], target.peer)
    while (job := connection.recv()) is not None:
        try:
            worker.do(job)
        except Exception as error:
            # Another fault is the checker's, and none of the implementation.
            known = isinstance(error, TargetError)
            connection.send(error if known else AssertionError(traceback.format_exc()))
            return


def numbered(rule: Rule, asked: Asked, start: int = 0) -> Iterator[Numbered]:
    """Give all cases from a number on with their numbers, the random ones without an end."""
    level, seed, dtypes = asked
    number = -1
    for number, (stage, case) in enumerate(fixed(rule, level)):
        if number >= start:
            yield number, (stage, case.within(dtypes))
    for drawn in count(max(0, start - number - 1)):
        case = random_case(rule, level, seed, drawn)
        yield number + 1 + drawn, ("random", case.within(dtypes))


class _Worker:
    def __init__(
        self,
        connection: Connection[Any, Any],
        position: Any,
        opened: Opened,
        rule: Rule,
        peer: str | None,
    ) -> None:
        self.connection = connection
        self.position = position
        self.opened = opened
        self.rule = rule
        self.peer = peer
        self.process = os.getpid()

    def do(self, job: Run | Try) -> None:
        """Do what the parent says, if the implementation has something for that level."""
        level = job.asked.level
        self.function = self.opened.function(level)
        self.judge = Judge(self.rule, level)
        if self.function is None:
            self.send(None)
        elif isinstance(job, Run):
            self.run(job)
        else:
            self.send(self.attempt(job))

    def run(self, job: Run) -> None:
        """Ask the cases and tell the parent, every now and then and at the end."""
        entries = entries_for(self.peer, self.rule.name, job.asked.level)
        tally, after, given_up = Tally(), job.start, False
        beat = time.monotonic() + _BEAT
        for number, stage, case, finding in self.findings(self.wanted(job, tally), _AT_ONCE):
            tally.note(entries, stage, case, finding)
            after = number + 1
            if isinstance(self.function, Program) and self.function.starts > _MOST_STARTS:
                given_up = True
                break
            if time.monotonic() >= beat:
                self.send(Found(tally, after))
                tally.forget()
                beat = time.monotonic() + _BEAT
        self.send(Found(tally, after, done=True, given_up=given_up))

    def attempt(self, job: Try) -> Example | None:
        """Look for a case that deviates in the same way."""
        stream: Iterator[Numbered] = (
            (number, (job.stage, case))
            for number, case in enumerate(job.cases)
            if not self.left_out(job.asked, case)
        )
        for _, stage, case, finding in self.findings(stream, 1):
            if finding is not None and (finding.kind, finding.detail) == job.key[:2]:
                return Example(stage, case, finding)
        return None

    def findings(
        self, stream: Iterator[Numbered], at_once: int
    ) -> Iterator[tuple[int, Stage, Case, Finding | None]]:
        """Ask for cases, one by one or so many at once, and judge the answers."""
        function, judge = self.function, self.judge
        if not isinstance(function, ManyAtOnce):
            for number, (stage, case) in stream:
                self.position.value = number
                yield number, stage, case, judge.heard(case, self.question(case))
            return
        while batch := list(islice(stream, at_once)):
            self.position.value = batch[0][0]
            found = function.many([judge.arguments(case) for _, (_, case) in batch])
            for (number, (stage, case)), answer in zip(batch, found, strict=True):
                judge.arguments(case)
                value = Refusal(error=answer) if isinstance(answer, BaseException) else answer
                yield number, stage, case, judge.finding(case, value)

    def question(self, case: Case) -> Callable[[], object]:
        """Give the call that asks a case."""
        arguments = self.judge.arguments(case)
        if isinstance(self.function, Program):
            return partial(self.function.ask, case)
        return partial(cast("Function", self.function), *arguments)

    def wanted(self, job: Run, tally: Tally) -> Iterator[Numbered]:
        """Give the cases of a job, and count those that are left out."""
        for number, (stage, case) in numbered(self.rule, job.asked, job.start):
            if number == job.stop or (stage == "random" and time.monotonic() >= job.deadline):
                return
            if number in job.skipped or (stage != "random" and number % job.every):
                continue
            if reason := self.left_out(job.asked, case):
                tally.left_out[reason] += 1
            else:
                yield number, (stage, case)

    def left_out(self, asked: Asked, case: Case) -> str | None:
        """Say why a case is not asked, if it is not."""
        if asked.dtypes and not set(case.dtypes) <= {*asked.dtypes}:
            return "a dtype that is not to be asked"
        return self.opened.left_out(asked.level, case)

    def send(self, message: object) -> None:
        """Tell the parent, unless this is a copy of the process that the implementation made."""
        if os.getpid() != self.process:
            os._exit(0)
        self.connection.send(message)


def _end_with_parent() -> None:
    """Ask the system to end this process with its parent, however that ends, where it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _set_output_aside() -> None:
    """Let what an implementation prints go to the standard error stream, and nothing come in."""
    if hasattr(os, "setsid"):
        os.setsid()
    if sys.stdout is not None:
        sys.stdout.flush()
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
