"""The child process: it asks the implementation, so that this may crash or hang without harm."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from itertools import count, islice
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, TypeAlias

from whycast._rules import RULES, Rule
from whycast.testing._cases._case import Case, Level, Stage
from whycast.testing._cases._drawn import random_case
from whycast.testing._cases._fixed import fixed
from whycast.testing._lines._program import GarbageError, Program, StoppedError
from whycast.testing._peers import Function, ManyAtOnce
from whycast.testing._peers._register import entries_for
from whycast.testing._report._compare import Finding
from whycast.testing._report._judge import Judge, Refusal
from whycast.testing._report._tally import Key, Tally
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
        opened = target.open()
    except (TargetError, ImportError) as error:
        connection.send(TargetError(str(error)))
        return
    connection.send(opened.title)
    worker = _Worker(connection, position, opened, RULES[rule], target.peer)
    while (job := connection.recv()) is not None:
        try:
            if isinstance(job, Run):
                worker.run(job)
            else:
                worker.attempt(job)
        except TargetError as error:
            connection.send(error)
            return
        except Exception:
            # A fault of the checker is none of the implementation.
            connection.send(AssertionError(traceback.format_exc()))
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
        self.next = 0
        self.tally = Tally()
        self.beat = 0.0

    def prepare(self, level: Level) -> bool:
        """Take up a level; False where the implementation has nothing for it."""
        function = self.opened.function(self.rule, level)
        if function is None:
            self.send(None)
            return False
        self.function = function
        self.judge = Judge(self.rule, level)
        self.entries = entries_for(self.peer, self.rule.name, level)
        return True

    def run(self, job: Run) -> None:
        """Do the cases and tell the parent, every now and then and at the end."""
        if not self.prepare(job.asked.level):
            return
        self.next, self.tally = job.start, Tally()
        self.beat = time.monotonic() + _BEAT
        given_up = False
        for number, stage, case, finding in self.findings(self.wanted(job), _AT_ONCE):
            self.note(number, stage, case, finding)
            if isinstance(self.function, Program) and self.function.starts > _MOST_STARTS:
                given_up = True
                break
        self.tell(done=True, given_up=given_up)

    def findings(
        self, stream: Iterator[Numbered], at_once: int
    ) -> Iterator[tuple[int, Stage, Case, Finding | None]]:
        """Ask for cases, one by one or so many at once, and judge the answers."""
        function = self.function
        if not isinstance(function, ManyAtOnce):
            for number, (stage, case) in stream:
                self.position.value = number
                yield number, stage, case, self.ask(function, case)
            return
        while batch := list(islice(stream, at_once)):
            self.position.value = batch[0][0]
            answers = function.many([self.judge.arguments(case) for _, (_, case) in batch])
            for (number, (stage, case)), answer in zip(batch, answers, strict=True):
                self.judge.arguments(case)
                refused = isinstance(answer, BaseException)
                value = Refusal(error=answer) if refused else answer
                yield number, stage, case, self.judge.finding(case, value)

    def wanted(self, job: Run) -> Iterator[Numbered]:
        """Give the cases of a job."""
        for number, (stage, case) in numbered(self.rule, job.asked, job.start):
            if number == job.stop:
                return
            if number in job.skipped:
                continue
            if stage == "random":
                if time.monotonic() >= job.deadline:
                    return
            elif number % job.every:
                continue
            if reason := self.left_out(job.asked, case):
                self.tally.left_out[reason] += 1
                continue
            yield number, (stage, case)

    def left_out(self, asked: Asked, case: Case) -> str | None:
        """Say why a case is not asked, if it is not."""
        if asked.dtypes and not set(case.dtypes) <= {*asked.dtypes}:
            return "a dtype that is not to be asked"
        return self.opened.left_out(self.rule, asked.level, case)

    def ask(self, function: Function | Program, case: Case) -> Finding | None:
        """Ask for a case and judge the answer."""
        arguments = self.judge.arguments(case)
        answer: object
        try:
            answer = function.ask(case) if isinstance(function, Program) else function(*arguments)
            if type(answer) is not tuple and isinstance(answer, Iterator):
                # What a generator does it does only now.
                answer = list(answer)
        except MemoryError as error:
            return Finding("memory", "", got=Refusal(error=error).shown)
        except SystemExit as error:
            return Finding("exit", "", got=Refusal(error=error).shown)
        except GarbageError as error:
            return Finding("garbage", "", got=str(error))
        except StoppedError as error:
            return Finding("stopped", "", got=str(error))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # Refusing is raising anything, what is no Exception included.
            answer = Refusal(error=error)
        return self.judge.finding(case, answer)

    def note(self, number: int, stage: Stage, case: Case, finding: Finding | None) -> None:
        """Count a case and what was found in it."""
        self.tally.cases[stage] += 1
        self.next = number + 1
        if finding is not None or self.entries:
            self.note_finding(stage, case, finding)
        if time.monotonic() >= self.beat:
            self.tell()

    def note_finding(self, stage: Stage, case: Case, finding: Finding | None) -> None:
        """Sort a deviation into its class; see whether the register knows it, or another."""
        tally = self.tally
        kind = None if finding is None else finding.kind
        known = tally.compare(self.entries, self.rule, case, kind) if self.entries else -1
        if finding is not None:
            key = Key(finding.kind, finding.detail, known)
            tally.deviations[key] += 1
            if tally.is_smaller(key, case):
                tally.examples[key] = self.judge.example(stage, case, finding)

    def tell(self, *, done: bool = False, given_up: bool = False) -> None:
        """Send what was found, and begin to count anew."""
        self.send((self.tally, self.next, done, given_up))
        # Larger examples are not worth a message.
        self.tally = Tally(examples=self.tally.examples)
        self.beat = time.monotonic() + _BEAT

    def attempt(self, job: Try) -> None:
        """Look for a case that deviates in the same way."""
        self.prepare(job.asked.level)
        stream: Iterator[Numbered] = (
            (number, (job.stage, case))
            for number, case in enumerate(job.cases)
            if not self.left_out(job.asked, case)
        )
        for _, _, case, finding in self.findings(stream, 1):
            if finding is not None and finding[:2] == job.key[:2]:
                self.send(self.judge.example(job.stage, case, finding))
                return
        self.send(None)

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
