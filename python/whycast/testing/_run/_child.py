"""The child process that runs a target, as the parent sees it: it may die, and has limits."""

from __future__ import annotations

import math
import multiprocessing
import os
import re
import signal
import sys
import time
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Event
from typing import Any

from whycast._rules import Rule
from whycast.testing._report._compare import NoAnswerError
from whycast.testing._run._targets import Target, TargetError
from whycast.testing._run._worker import Look, Run, Try, work

# Seconds: _PREPARATION before the first case, WARM_UP at least for a level's first answer (the
# target may compile), _LOOK between two looks at the child.
_PREPARATION = 120.0
WARM_UP = 30.0
_LOOK = 0.05

# MiB for the cases themselves, added to the target's limit.
_CASES = 64


class OutOfTimeError(Exception):
    """The check was stopped, or the time to search for a smaller case is over."""


class Child:
    """A child process that runs a target.

    The parent ends the child if `stop` is set, if a case takes more than `timeout` seconds (for a
    level's first case at least 30) or lasts beyond `end_at` of `time.monotonic`, or if the child
    takes more than `memory` MiB (if not 0) beyond the imported target and the cases.
    """

    def __init__(
        self, target: Target, rule: Rule, timeout: float, memory: float, stop: Event
    ) -> None:
        self.target = target
        self.rule = rule
        self.timeout = timeout
        self.memory = memory
        self.stop = stop
        self.end_at = math.inf
        self._first: int | None = None
        self._ended = True
        self.title, self.code = target.name, ""

    def start(self) -> None:
        # A fork is faster and takes any function; other methods pickle functions.
        methods = multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
        self._position = context.Value("q", 0, lock=False)
        self._connection: Connection[Any, Any]
        self._connection, theirs = context.Pipe()
        if sys.stdout is not None:
            sys.stdout.flush()
        forked = context.get_start_method() == "fork"
        ours = self._connection if forked else None
        arguments = (theirs, ours, self._position, self.target, self.rule.name)
        self._process = context.Process(target=work, args=arguments)
        with warnings.catch_warnings():
            # Newer Pythons warn of a fork beside threads; the timeout ends a child that hangs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        self._ended = False
        theirs.close()
        self._at_rest = float("inf")
        try:
            self.title, self.code = self.receive(_PREPARATION)
        except NoAnswerError as death:
            raise TargetError(f"target {self.target.name}: {death.text}, when imported") from None
        except BaseException:
            self._kill()
            raise
        self._at_rest = self._taken()

    @property
    def position(self) -> int:
        """The number of the current case; after the child's death, of its last case."""
        return int(self._position.value)

    @property
    def first_timeout(self) -> float:
        return max(self.timeout, WARM_UP)

    def send(self, job: Run | Try | Look) -> None:
        if self._ended:
            self.start()
        self._position.value = -1
        if isinstance(job, Run) and job.start == 0:
            self._first = None
        # `receive` notices a dead child.
        with suppress(OSError):
            self._connection.send(job)

    def receive(self, timeout: float | None = None) -> Any:
        before, since = self.position, time.monotonic()
        while True:
            ready = wait([self._connection, self._process.sentinel], _LOOK)
            if self._connection in ready:
                try:
                    message = self._connection.recv()
                except (EOFError, OSError):
                    raise self._death() from None
                if isinstance(message, Exception):
                    self.end()
                    raise message
                return message
            if ready:
                raise self._death()
            taken = self._taken() - self._at_rest if self.memory else 0.0
            if taken > (self.memory + _CASES) * 2**20:
                self._kill()
                raise NoAnswerError("memory", f"{taken / 2**20:.0f} MiB more than at rest")
            now = time.monotonic()
            if self.stop.is_set():
                self._kill()
                raise OutOfTimeError
            if self._first is None and before >= 0:
                self._first = before
            if self.position != before:
                before, since = self.position, now
            elif now - since > (limit := timeout or self._limit(before)):
                self._kill()
                raise NoAnswerError("hang", f"no answer within {limit:g} s")
            elif now > self.end_at:
                self._kill()
                raise OutOfTimeError

    def end(self) -> None:
        if not self._ended:
            with suppress(OSError):
                self._connection.send(None)
                wait([self._process.sentinel], 1)
            self._kill()

    def _kill(self) -> None:
        if self._ended:
            return
        self._ended = True
        self._connection.close()
        # The child leads a group of all processes that it starts. Only `join` frees its process id.
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()

    def _limit(self, position: int) -> float:
        """Seconds for a case; before the first case the checker itself needs time."""
        if position < 0:
            return _PREPARATION
        return self.first_timeout if position == self._first else self.timeout

    def _death(self) -> NoAnswerError:
        wait([self._process.sentinel], 1)
        self._kill()
        code = self._process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            return NoAnswerError("crash", f"the process was ended by {name}", f"with {name}")
        return NoAnswerError("exit", f"the process ended with exit code {code}")

    def _taken(self) -> float:
        """Bytes of memory of the child and its descendants; 0 without /proc."""
        taken, numbers = 0, [self._process.pid]
        while numbers:
            number = numbers.pop()
            try:
                if number == self._process.pid:
                    pages = int(Path(f"/proc/{number}/statm").read_text().split()[1])
                    taken += pages * os.sysconf("SC_PAGE_SIZE")
                else:
                    told = Path(f"/proc/{number}/smaps_rollup").read_text()
                    taken += 1024 * sum(map(int, re.findall(r"(?m)^Private_\w+: *(\d+)", told)))
                children = Path(f"/proc/{number}/task/{number}/children").read_text()
            except OSError:
                continue
            numbers += map(int, children.split())
        return taken
