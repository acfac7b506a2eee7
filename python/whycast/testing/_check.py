"""Check an implementation: in a child process that may die, and is then started again."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from whycast._rules import Rule, rule_named
from whycast.testing._case import LEVELS, Case, Level, level_named
from whycast.testing._program import shown_request
from whycast.testing._register import entries_for
from whycast.testing._report import Deviation, Report, call_of, clause_of
from whycast.testing._smaller import smaller
from whycast.testing._targets import ProgramTarget, Target, TargetError, target_of
from whycast.testing._worker import Example, Key, Run, Tally, Try, numbered, work

# A target that dies again and again would be started again for ever; one that is ended after some
# time, or when it has filled some memory, costs more.
_MOST_DEATHS = 20
_MOST_SLOW = 3

# What a target may take to be imported, in seconds; and between two looks at it.
_PREPARATION = 120.0
_LOOK = 0.05

# For a smaller example: so many steps, so many seconds.
_STEPS = 40
_SHRINKING = 10.0

Progress = Callable[[str], None]


def check(
    target: object,
    *,
    rule: str = "sonnx",
    level: Level = "data",
    up_to: bool = False,
    seconds: float = 5.0,
    seed: int = 0,
    every: int = 1,
    timeout: float = 10.0,
    memory: float = 1024.0,
    progress: Progress | None = None,
) -> Report:
    """Hold an implementation of broadcasting against the verified one.

    Parameters
    ----------
    target : callable, object, str or list of str
        The implementation: a function; an object with a function for each level, named like it; the
        name of a built-in peer; ``module:function`` or ``file.py:function``; or a program and its
        arguments, which answers lines of JSON.
    rule : str, optional
        Name of the rule that it should follow: see `cases`.
    level : str, optional
        What is asked. At ``data`` a function takes what the rule's own function takes, arrays (a
        target, axes), and returns what that returns. At ``verdict``, ``shape`` and ``report`` it
        takes shapes instead of arrays; at ``index`` a shape, a target (axes) and a multi-index of
        the output, and returns that of the tensor; at ``strides`` a shape, its strides, a target
        (axes), and returns the strides of the view. Refusing is raising any exception, or returning
        None; at ``report`` the exception names the axis at fault, in an attribute or in its text.
    up_to : bool, optional
        Whether to ask at all levels up to that one, of those that the target offers.
    seconds : float, optional
        How long to ask: when the fixed cases are done, random ones follow until then.
    seed : int, optional
        Seed of the random cases.
    every : int, optional
        Of the fixed cases only each so many-th is asked.
    timeout : float, optional
        Seconds for one case, after which the target hangs.
    memory : float, optional
        MiB that the target may take beyond what it took once it was imported; 0 for any.
    progress : callable, optional
        Told now and then, in one line, how far the check has come.

    Returns
    -------
    Report
        What was asked and what deviates, in classes, each with the smallest case of it that was
        found.

    Raises
    ------
    TypeError
        `rule` or `level` is no str.
    ValueError
        There is no such rule, level or target; or the target cannot be imported, or has nothing to
        be asked at that level.

    Notes
    -----
    Asked are the cases of `cases`. The target runs in a child process, a fork where the system has
    them, so that it may crash, hang or take all memory: that is a finding, and the run goes on.
    Where there is no ``/proc``, memory is not limited. What it prints goes to the standard error
    stream.

    Examples
    --------
    >>> import numpy as np
    >>> def last_instead_of_first(*arrays):
    ...     shape = np.broadcast_shapes(*[x.shape for x in arrays])
    ...     return [np.broadcast_to(x[-1:] if x.ndim else x, shape) for x in arrays]
    >>> report = check(last_instead_of_first, rule="numpy", seconds=0)
    >>> report.ok
    False
    >>> print(report.deviations[0].call)
    f(*Case(((), (2,))).arrays())
    """
    found = rule_named(rule)
    levels = LEVELS[: LEVELS.index(level_named(level)) + 1] if up_to else (level_named(level),)
    if every < 1:
        raise ValueError(f"every: expected at least 1, got {every}")
    started = time.monotonic()
    known = target_of(target)
    with _Runner(known, found, seed, timeout, memory).running() as runner:
        runner.progress = progress
        share = seconds / len(levels)
        for number, each in enumerate(levels):
            runner.level(each, every, started + share * (number + 1))
        return runner.report(time.monotonic() - started)


@dataclass
class _Class:
    count: int
    example: Example


class _DeathError(Exception):
    """The child process ended, or had to be ended."""

    def __init__(self, kind: str, detail: str, text: str) -> None:
        super().__init__(kind, detail, text)
        self.kind = kind
        self.detail = detail
        self.text = text


@dataclass
class _Runner:
    target: Target
    rule: Rule
    seed: int
    timeout: float
    memory: float
    progress: Progress | None = None
    title: str = ""
    levels: dict[Level, Counter[str]] = field(default_factory=dict)
    deviations: list[Deviation] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    complete: bool = True

    @contextmanager
    def running(self) -> Iterator[_Runner]:
        """Start the child process, and end it in any case."""
        self._start()
        try:
            yield self
        finally:
            self._end()

    def report(self, seconds: float) -> Report:
        """Put together what was found."""
        if not self.levels:
            raise TargetError(
                f"target {self.target.name}: has nothing to be asked by the rule {self.rule.name} "
                f"at that level"
            )
        return Report(
            target=self.title,
            rule=self.rule.name,
            levels={level: dict(stages) for level, stages in self.levels.items()},
            deviations=tuple(self.deviations),
            stale=tuple(self.stale),
            left_out=dict(self.left_out),
            notes=tuple(self.notes),
            complete=self.complete,
            seed=self.seed,
            seconds=seconds,
        )

    def level(self, level: Level, every: int, deadline: float) -> None:
        """Ask all cases of a level, starting again behind each at which the child dies."""
        classes: dict[Key, _Class] = {}
        agreeing: Counter[int] = Counter()
        skipped: set[int] = set()
        stages: Counter[str] = Counter()
        done, slow, start = False, 0, 0
        while not done:
            try:
                self._send(Run(level, start, frozenset(skipped), every, self.seed, deadline))
                while not done:
                    message = self._receive()
                    if message is None:
                        self.notes.append(f"{level}: not offered")
                        return
                    tally, done = message
                    start = tally.next
                    stages.update(tally.cases)
                    self.left_out.update(tally.left_out)
                    agreeing.update(tally.agreeing)
                    self._merge(classes, tally)
                    if tally.given_up:
                        self._give_up(level, start)
                    self._tell(level, stages, classes)
            except _DeathError as death:
                number = self.position.value
                skipped.add(number)
                slow += death.kind in ("hang", "memory")
                stage, case = self._case(level, number)
                stages[stage] += 1
                self._note_death(level, classes, agreeing, death, Example(stage, case, "", ""))
                self._start()
                if len(skipped) == _MOST_DEATHS or slow == _MOST_SLOW:
                    self._give_up(level, number)
                    break
        self.levels[level] = stages
        self._note_classes(level, classes)
        self._note_entries(level, every, classes, agreeing)

    def _give_up(self, level: Level, number: int) -> None:
        self.notes.append(f"{level}: given up at case {number}: it ends, or hangs, too often")
        self.complete = False

    # --- the child process --------------------------------------------------------------------

    def _start(self) -> None:
        # A fork is faster, and takes a function as it is; where there is none it has to be pickled.
        methods = multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
        self.position = context.Value("q", 0, lock=False)
        self.connection: Connection[Any, Any]
        self.connection, theirs = context.Pipe()
        sys.stdout.flush()
        self.process = context.Process(
            target=work,
            args=(theirs, self.position, self.target, self.rule.name),
        )
        self.process.start()
        theirs.close()
        self.at_rest = float("inf")
        try:
            self.title = self._receive(_PREPARATION)
        except _DeathError as death:
            raise TargetError(f"target {self.target.name}: {death.text}, when imported") from None
        self.at_rest = self._taken()

    def _end(self) -> None:
        try:
            self.connection.send(None)
            self.process.join(1)
        except OSError:
            pass
        self._kill()

    def _kill(self) -> None:
        self.connection.close()
        if self.process.is_alive():
            # With all that it has started: it leads a group of its own.
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        self.process.join()

    def _send(self, job: Run | Try) -> None:
        self.position.value = -1
        self.connection.send(job)

    def _receive(self, timeout: float | None = None) -> Any:
        """Wait for what the child says; raise _DeathError where it will not say anything more."""
        limit = self.timeout if timeout is None else timeout
        before, since = self.position.value, time.monotonic()
        while True:
            ready = wait([self.connection, self.process.sentinel], _LOOK)
            if self.connection in ready:
                try:
                    message = self.connection.recv()
                except (EOFError, OSError):
                    raise self._death() from None
                if isinstance(message, Exception):
                    self._kill()
                    raise message
                return message
            if ready:
                raise self._death()
            if self.position.value != before:
                before, since = self.position.value, time.monotonic()
            elif time.monotonic() - since > limit:
                self._kill()
                raise _DeathError("hang", "", f"no answer within {limit:g} s")
            if self.memory and (taken := self._taken() - self.at_rest) > self.memory * 2**20:
                self._kill()
                raise _DeathError("memory", "", f"{taken / 2**20:.0f} MiB more than at rest")

    def _death(self) -> _DeathError:
        self.process.join(1)
        self._kill()
        code = self.process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            return _DeathError("crash", f"with {name}", f"the process was ended by {name}")
        return _DeathError("exit", "", f"the process ended with exit code {code}")

    def _taken(self) -> float:
        """Memory of the child and of what it has started, in bytes."""
        taken, numbers = 0, [self.process.pid]
        while numbers:
            number = numbers.pop()
            try:
                taken += int(Path(f"/proc/{number}/statm").read_text().split()[1]) * _PAGE
                children = Path(f"/proc/{number}/task/{number}/children").read_text()
            except OSError:
                continue
            numbers += map(int, children.split())
        return taken

    # --- what it found ------------------------------------------------------------------------

    def _merge(self, classes: dict[Key, _Class], tally: Tally) -> None:
        for key, count in tally.deviations.items():
            example = tally.examples[key]
            if key not in classes:
                classes[key] = _Class(count, example)
                continue
            classes[key].count += count
            if example.case.weight < classes[key].example.case.weight:
                classes[key].example = example

    def _note_death(
        self,
        level: Level,
        classes: dict[Key, _Class],
        agreeing: Counter[int],
        death: _DeathError,
        example: Example,
    ) -> None:
        entries = entries_for(self.target.peer, self.rule.name, level)
        covering = [n for n, each in enumerate(entries) if each.covers(self.rule, example.case)]
        known = next((n for n in covering if entries[n].explains(death.kind)), -1)
        if known < 0:
            agreeing.update(covering)
        key = Key(death.kind, death.detail, known)
        tally = Tally()
        tally.deviations[key] = 1
        tally.examples[key] = example._replace(expected="an answer", got=death.text)
        self._merge(classes, tally)

    def _case(self, level: Level, wanted: int) -> tuple[Any, Case]:
        return next(
            each for number, each in numbered(self.rule, level, self.seed) if number == wanted
        )

    def _note_classes(self, level: Level, classes: dict[Key, _Class]) -> None:
        entries = entries_for(self.target.peer, self.rule.name, level)
        ordered = sorted(classes.items(), key=lambda item: item[1].example.case.weight)
        for key, each in ordered:
            example = each.example
            # In the first stage no smaller case has been left out.
            if key.entry < 0 and example.stage != "small":
                example = self._shrunk(level, key, example)
            self.deviations.append(
                Deviation(
                    level=level,
                    stage=example.stage,
                    kind=key.kind,
                    detail=key.detail,
                    count=each.count,
                    case=example.case,
                    call=self._call(level, example.case),
                    expected=example.expected,
                    got=example.got,
                    clause=clause_of(self.rule, level, key.kind),
                    known=entries[key.entry].reason if key.entry >= 0 else None,
                )
            )

    def _call(self, level: Level, case: Case) -> str:
        if isinstance(self.target, ProgramTarget):
            return shown_request(self.rule, level, case)
        return call_of(self.rule, level, case)

    def _note_entries(
        self, level: Level, every: int, classes: dict[Key, _Class], agreeing: Counter[int]
    ) -> None:
        met = {key.entry for key in classes}
        for number, each in enumerate(entries_for(self.target.peer, self.rule.name, level)):
            what = f"{level}: {each.kind}: {each.reason}"
            if number not in met and (every == 1 or agreeing[number]):
                self.stale.append(f"{what} (in no case)")
            elif agreeing[number] and not each.sometimes:
                self.stale.append(f"{what} (not in {agreeing[number]:,} of the cases it covers)")

    def _shrunk(self, level: Level, key: Key, example: Example) -> Example:
        """Look for a smaller case that deviates in the same way, step by step."""
        if key.kind in ("hang", "memory"):
            return example
        end = time.monotonic() + _SHRINKING
        for _ in range(_STEPS):
            if time.monotonic() > end:
                break
            found = self._step(level, key, smaller(example.case), example)
            if found is None:
                break
            example = found
        return example

    def _step(
        self, level: Level, key: Key, candidates: list[Case], example: Example
    ) -> Example | None:
        while candidates:
            try:
                self._send(Try(level, candidates, key))
                number, expected, got = self._receive()
            except _DeathError as death:
                number = self.position.value
                self._start()
                if death.kind == key.kind:
                    return example._replace(case=candidates[number], got=death.text)
                candidates = candidates[number + 1 :]
                continue
            if number is None:
                return None
            return example._replace(case=candidates[number], expected=expected, got=got)
        return None

    def _tell(self, level: Level, stages: Counter[str], classes: dict[Key, _Class]) -> None:
        if self.progress is not None:
            unknown = sum(key.entry < 0 for key in classes)
            self.progress(
                f"{self.title}, {level}: {sum(stages.values()):,} cases, "
                f"{unknown} kinds of deviation"
            )


def _page() -> int:
    try:
        import resource
    except ImportError:
        return 4096
    return resource.getpagesize()


_PAGE = _page()
