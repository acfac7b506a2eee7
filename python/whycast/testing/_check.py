"""Check an implementation: ask all cases, go on where it dies, and look for small examples."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from whycast._checks import show
from whycast._rules import Rule, rule_named
from whycast.testing._cases._case import Case, Level, level_named, levels_to
from whycast.testing._cases._smaller import smaller
from whycast.testing._cases._values import DTYPES
from whycast.testing._lines._program import shown_request
from whycast.testing._peers._register import Entry, entries_for
from whycast.testing._report import Deviation, Report, call_of
from whycast.testing._report._compare import KINDS, NoAnswerError
from whycast.testing._report._judge import no_answer
from whycast.testing._report._tally import Example, Key, Tally
from whycast.testing._run._child import Child
from whycast.testing._run._targets import Target, TargetError, target_of
from whycast.testing._run._worker import Asked, Found, Run, Try, numbered

# A target that dies again and again would be started again for ever; one that is ended after some
# time, or when it has filled some memory, costs more.
_MOST_DEATHS = 20
_MOST_SLOW = 3

# Steps to smaller examples: at most so many, begun within so many seconds.
_STEPS = 40
_SECONDS = 10.0

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
    dtypes: Sequence[str] = (),
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
    dtypes : sequence of str, optional
        At level ``data``: the dtypes that the target has, by their names in `Case`. The others are
        not asked, and where int32 is not among them the first takes its place.
    timeout : float, optional
        Seconds for one case, after which the target hangs.
    memory : float, optional
        MiB that the target may take beyond what it took once it was imported; 0 for any. What the
        cases themselves take is not counted.
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
        `rule` or `level` is no str, or what is to be a number is none.
    ValueError
        There is no such rule, level or target; or the target cannot be imported, or has nothing to
        be asked at that level; or a number is too small.

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
    levels = levels_to(level_named(level), up_to=up_to)
    _check_numbers(seconds=seconds, timeout=timeout, memory=memory, every=every, seed=seed)
    _check_dtypes(dtypes)
    started = time.monotonic()
    known = target_of(target)
    child = Child(known, found, timeout, memory)
    run = _Run(known, found, child, seed, tuple(dtypes), every, progress)
    try:
        share = seconds / len(levels)
        for number, each in enumerate(levels):
            run.level(each, started + share * (number + 1))
    finally:
        child.end()
    return run.report(time.monotonic() - started)


def _check_numbers(*, every: int, seed: int, **numbers: float) -> None:
    """Demand numbers in their bounds."""
    for name, number in numbers.items():
        if not isinstance(number, (int, float)):
            raise TypeError(f"{name}: expected a number, got {show(number)}")
        if not number >= 0:
            raise ValueError(f"{name}: expected at least 0, got {number}")
    if numbers["timeout"] == 0:
        raise ValueError("timeout: expected more than 0, got 0")
    for name, number in (("every", every), ("seed", seed)):
        if not isinstance(number, int):
            raise TypeError(f"{name}: expected an int, got {show(number)}")
    if every < 1:
        raise ValueError(f"every: expected at least 1, got {every}")


def _check_dtypes(dtypes: Sequence[str]) -> None:
    """Demand names of dtypes.

    >>> _check_dtypes(["float32", "float31"])
    Traceback (most recent call last):
    ValueError: dtypes: expected some of int32, float32, float16, float64, bool, int8, int16, \
int64, uint8, uint16, uint32, uint64, str, object, StringDType, got 'float31'
    """
    if isinstance(dtypes, str) or not isinstance(dtypes, Sequence):
        raise TypeError(f"dtypes: expected a sequence of names, got {show(dtypes)}")
    for each in dtypes:
        if each not in DTYPES:
            raise ValueError(f"dtypes: expected some of {', '.join(DTYPES)}, got {each!r}")


@dataclass
class _Run:
    target: Target
    rule: Rule
    child: Child
    seed: int
    dtypes: tuple[str, ...]
    every: int
    progress: Progress | None
    levels: dict[str, dict[str, int]] = field(default_factory=dict)
    deviations: list[Deviation] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    complete: bool = True

    def report(self, seconds: float) -> Report:
        """Put together what was found."""
        if not self.levels:
            raise TargetError(
                f"target {self.target.name}: has nothing to be asked by the rule {self.rule.name} "
                "at that level"
            )
        return Report(
            target=self.child.title,
            rule=self.rule.name,
            levels=self.levels,
            deviations=tuple(self.deviations),
            stale=tuple(self.stale),
            left_out=dict(self.left_out),
            notes=tuple(self.notes),
            complete=self.complete,
            seed=self.seed,
            seconds=seconds,
        )

    def level(self, level: Level, deadline: float) -> None:
        """Ask all cases of a level, and take down what came of it."""
        asked = Asked(level, self.seed, self.dtypes if level == "data" else ())
        entries = entries_for(self.target.peer, self.rule.name, level)
        tally = self._asked(asked, entries, deadline)
        if tally is not None:
            self.levels[level] = dict(tally.cases)
            self.left_out.update(tally.left_out)
            self._note_deviations(asked, tally, entries)
            self._note_entries(level, tally, entries)

    def _asked(self, asked: Asked, entries: list[Entry], deadline: float) -> Tally | None:
        """Ask all cases, starting again behind each at which the child dies."""
        level, found = asked.level, Tally()
        skipped: set[int] = set()
        filled: set[int] = set()
        stop: int | None = None
        done, deaths, slow, start = False, 0, 0, 0
        while not done:
            try:
                self.child.send(Run(asked, start, stop, frozenset(skipped), self.every, deadline))
                while not done:
                    message: Found | None = self.child.receive()
                    if message is None:
                        self.notes.append(f"{level}: not offered")
                        return None
                    tally, start, done, given_up = message
                    found.add(tally)
                    if given_up:
                        self._give_up(level, start)
                    self._tell(level, found)
                if stop is not None:
                    start, stop, done = stop, None, False
                    self.child.end()
                    self.child.start()
            except NoAnswerError as death:
                number = self.child.position
                if number < 0:
                    text = f"target {self.target.name}: {death.text}, before it was asked anything"
                    raise TargetError(text) from None
                self.child.start()
                if death.kind == "memory" and number not in filled and len(filled) < _MOST_DEATHS:
                    # What has gathered from case to case is not that case's. It comes again, after
                    # those before it of which nothing was told, as the first of a new process.
                    filled.add(number)
                    stop = number
                    continue
                skipped.add(number)
                _, (stage, case) = next(numbered(self.rule, asked, number))
                finding = no_answer(self.rule, level, case, death)
                key = found.note(entries, stage, case, finding)
                # What the register knows of is no reason to give up.
                if key is not None and key.entry < 0:
                    deaths += 1
                    slow += death.kind in ("hang", "memory")
                if deaths == _MOST_DEATHS or slow == _MOST_SLOW:
                    self._give_up(level, number)
                    break
        if gathered := len(filled - skipped):
            times = "once" if gathered == 1 else f"{gathered} times"
            self.notes.append(f"{level}: started anew {times}: its memory grew from case to case")
        return found

    def _give_up(self, level: Level, number: int) -> None:
        self.notes.append(f"{level}: given up at case {number}: it ends, or hangs, too often")
        self.complete = False

    def _tell(self, level: Level, found: Tally) -> None:
        if self.progress is not None:
            unknown = sum(key.entry < 0 for key in found.deviations)
            self.progress(
                f"{self.child.title}, {level}: {found.cases.total():,} cases, "
                f"{unknown} kinds of deviation"
            )

    def _note_deviations(self, asked: Asked, found: Tally, entries: list[Entry]) -> None:
        level = asked.level
        call = shown_request if self.target.is_program else call_of
        for key, example in sorted(found.examples.items(), key=lambda item: item[1].case.weight):
            # In the first stage no smaller case has been left out.
            if key.entry < 0 and example.stage != "small":
                example = self._shrunk(asked, key, example)
            stage, case, finding = example
            self.deviations.append(
                Deviation(
                    level=level,
                    stage=stage,
                    kind=key.kind,
                    detail=key.detail,
                    count=found.deviations[key],
                    case=case,
                    call=call(self.rule, level, case),
                    expected=finding.expected,
                    got=finding.got,
                    clause=self.rule.clauses.get(KINDS[key.kind].clause, ""),
                    known=entries[key.entry].reason if key.entry >= 0 else None,
                )
            )

    def _shrunk(self, asked: Asked, key: Key, example: Example) -> Example:
        """Look for a smaller case that deviates in the same way, step by step."""
        end = time.monotonic() + _SECONDS
        for _ in range(_STEPS):
            fitting = [each.within(asked.dtypes) for each in smaller(example.case)]
            candidates = [each for each in fitting if each.weight < example.case.weight]
            if time.monotonic() > end:
                break
            found = self._first(Try(asked, candidates, key, example.stage))
            if found is None:
                break
            example = found
        return example

    def _first(self, job: Try) -> Example | None:
        """Return the first of the cases that deviates in the same way, as an example of it."""
        candidates: list[Case] = job.cases
        while candidates:
            try:
                self.child.send(job._replace(cases=candidates))
                return cast("Example | None", self.child.receive())
            except NoAnswerError as death:
                number = self.child.position
                self.child.start()
                if death.kind == job.key.kind:
                    case = candidates[number]
                    finding = no_answer(self.rule, job.asked.level, case, death)
                    return Example(job.stage, case, finding)
                candidates = candidates[number + 1 :]
        return None

    def _note_entries(self, level: Level, found: Tally, entries: list[Entry]) -> None:
        for number, each in enumerate(entries):
            what = f"{level}: {each.kind}: {each.reason} (of version {each.version};"
            agreeing = found.agreeing[number]
            if number not in found.met and (self.every == 1 or agreeing):
                self.stale.append(f"{what} in no case)")
            elif agreeing and not each.sometimes:
                self.stale.append(f"{what} not in {agreeing:,} of the cases it covers)")
