"""Check an implementation: ask all cases, go on where it dies, and look for small examples."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whycast._checks import show
from whycast._rules import Rule, rule_named
from whycast.testing._cases._case import Case, Level, Stage, level_named, levels_to
from whycast.testing._cases._values import DTYPES
from whycast.testing._lines._program import shown_request
from whycast.testing._peers._register import entries_for
from whycast.testing._report import Deviation, Report, call_of, clause_of
from whycast.testing._report._tally import Example, Key, Tally
from whycast.testing._run._child import Child, DeathError
from whycast.testing._run._shrink import shrunk
from whycast.testing._run._targets import Target, TargetError, target_of
from whycast.testing._run._worker import Asked, Run, numbered

# A target that dies again and again would be started again for ever; one that is ended after some
# time, or when it has filled some memory, costs more.
_MOST_DEATHS = 20
_MOST_SLOW = 3

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
    check_numbers(seconds=seconds, timeout=timeout, memory=memory, every=every, seed=seed)
    check_dtypes(dtypes)
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


def check_numbers(*, seconds: float, timeout: float, memory: float, every: int, seed: int) -> None:
    """Demand numbers in their bounds."""
    for name, number in (("seconds", seconds), ("timeout", timeout), ("memory", memory)):
        if not isinstance(number, (int, float)):
            raise TypeError(f"{name}: expected a number, got {show(number)}")
        if not number >= 0:
            raise ValueError(f"{name}: expected at least 0, got {number}")
    if timeout == 0:
        raise ValueError("timeout: expected more than 0, got 0")
    for name, number in (("every", every), ("seed", seed)):
        if not isinstance(number, int):
            raise TypeError(f"{name}: expected an int, got {show(number)}")
    if every < 1:
        raise ValueError(f"every: expected at least 1, got {every}")


def check_dtypes(dtypes: Sequence[str]) -> None:
    """Demand names of dtypes.

    >>> check_dtypes(["float32", "float31"])
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
    levels: dict[Level, Counter[Stage]] = field(default_factory=dict)
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
            levels={level: dict(stages.items()) for level, stages in self.levels.items()},
            deviations=tuple(self.deviations),
            stale=tuple(self.stale),
            left_out=dict(self.left_out),
            notes=tuple(self.notes),
            complete=self.complete,
            seed=self.seed,
            seconds=seconds,
        )

    def level(self, level: Level, deadline: float) -> None:
        """Ask all cases of a level, starting again behind each at which the child dies."""
        asked = self._asked(level)
        found = Tally()
        skipped: set[int] = set()
        filled: set[int] = set()
        stop: int | None = None
        done, deaths, slow, start = False, 0, 0, 0
        while not done:
            try:
                skip = frozenset(skipped)
                self.child.send(Run(asked, start, stop, skip, self.every, deadline))
                while not done:
                    message = self.child.receive()
                    if message is None:
                        self.notes.append(f"{level}: not offered")
                        return
                    tally, start, done, given_up = message
                    found.add(tally)
                    if given_up:
                        self._give_up(level, start)
                    self._tell(level, found)
                if stop is not None:
                    start, stop, done = stop, None, False
                    self.child.end()
                    self.child.start()
            except DeathError as death:
                number = self.child.position
                if number < 0:
                    text = f"target {self.target.name}: {death.text}, before it was asked anything"
                    raise TargetError(text) from None
                if death.kind == "memory" and number not in filled and len(filled) < _MOST_DEATHS:
                    # What has gathered from case to case is not that case's. It comes again, after
                    # those before it of which nothing was told, as the first of a new process.
                    filled.add(number)
                    stop = number
                    self.child.start()
                    continue
                skipped.add(number)
                if not self._note_death(level, found, death, number):
                    deaths += 1
                    slow += death.kind in ("hang", "memory")
                self.child.start()
                if deaths == _MOST_DEATHS or slow == _MOST_SLOW:
                    self._give_up(level, number)
                    break
        if gathered := len(filled - skipped):
            times = "once" if gathered == 1 else f"{gathered} times"
            self.notes.append(f"{level}: started anew {times}: its memory grew from case to case")
        self.levels[level] = found.cases
        self.left_out.update(found.left_out)
        self._note_deviations(level, found)
        self._note_entries(level, found)

    def _asked(self, level: Level) -> Asked:
        return Asked(level, self.seed, self.dtypes if level == "data" else ())

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

    def _note_death(self, level: Level, found: Tally, death: DeathError, number: int) -> bool:
        """Count a case at which the child died; tell whether the register knows of it."""
        _, (stage, case) = next(numbered(self.rule, self._asked(level), number))
        entries = entries_for(self.target.peer, self.rule.name, level)
        tally = Tally()
        tally.cases[stage] = 1
        key = Key(death.kind, death.detail, tally.compare(entries, self.rule, case, death.kind))
        tally.deviations[key] = 1
        tally.examples[key] = Example(stage, case, "an answer", death.text)
        found.add(tally)
        return key.entry >= 0

    def _note_deviations(self, level: Level, found: Tally) -> None:
        entries = entries_for(self.target.peer, self.rule.name, level)
        for key, example in sorted(found.examples.items(), key=lambda item: item[1].case.weight):
            # In the first stage no smaller case has been left out.
            if key.entry < 0 and example.stage != "small":
                example = shrunk(self.child, self._asked(level), key, example)
            self.deviations.append(
                Deviation(
                    level=level,
                    stage=example.stage,
                    kind=key.kind,
                    detail=key.detail,
                    count=found.deviations[key],
                    case=example.case,
                    call=self._call(level, example.case),
                    expected=example.expected,
                    got=example.got,
                    clause=clause_of(self.rule, key.kind),
                    known=entries[key.entry].reason if key.entry >= 0 else None,
                )
            )

    def _call(self, level: Level, case: Case) -> str:
        if self.target.is_program:
            return shown_request(self.rule, level, case)
        return call_of(self.rule, level, case)

    def _note_entries(self, level: Level, found: Tally) -> None:
        for number, each in enumerate(entries_for(self.target.peer, self.rule.name, level)):
            what = f"{level}: {each.kind}: {each.reason} (of version {each.version};"
            agreeing = found.agreeing[number]
            if number not in found.met and (self.every == 1 or agreeing):
                self.stale.append(f"{what} in no case)")
            elif agreeing and not each.sometimes:
                self.stale.append(f"{what} not in {agreeing:,} of the cases it covers)")
