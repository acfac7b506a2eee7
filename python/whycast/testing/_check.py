"""Check an implementation: ask all cases, restart it when it dies, search for small examples."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast
from unittest import SkipTest

from whycast._rules import Rule, rule_named, rule_on_tensors
from whycast.testing._cases._case import (
    OF_ARRAYS,
    OPERATORS,
    STAGES,
    Asked,
    Case,
    Level,
    Tensors,
    check_names,
    check_numbers,
    level_named,
    levels_to,
    tensors_of,
)
from whycast.testing._cases._case import Stage as StageName
from whycast.testing._cases._fixed import in_turn
from whycast.testing._cases._smaller import smaller
from whycast.testing._lines import request
from whycast.testing._lines._json import line_of
from whycast.testing._report import Deviation, Report, call_of, pasted
from whycast.testing._report._compare import KINDS, NoAnswerError
from whycast.testing._report._judge import no_answer
from whycast.testing._report._tally import LIMITED, Example, Key, Tally
from whycast.testing._run._child import Child, OutOfTimeError
from whycast.testing._run._functions import PULLS, Seen
from whycast.testing._run._targets import Target, TargetError, target_of
from whycast.testing._run._worker import MOST_DEATHS, Found, Look, Run, Try, numbered

# The check gives up after this many hangs or full memories, or after MOST_DEATHS deaths.
_MOST_SLOW = 3

# The search for a smaller example ends after `_STEPS` steps or `_SECONDS`; all searches of a level
# end `_LAST_SECONDS` after the level's time limit.
_STEPS = 40
_SECONDS = 10.0
_LAST_SECONDS = 1.0

# Operators that broadcast follow NumPy and ONNX.
_OF_OPERATORS = rule_on_tensors(zero_meets_one=True)

Progress = Callable[[str], None]


def check(
    target: object,
    *,
    rule: str | None = None,
    level: Level | None = None,
    tensors: int | tuple[int, int] | None = None,
    up_to: bool = False,
    seconds: float | None = 5.0,
    seed: int = 0,
    every: int = 1,
    dtypes: Sequence[str] = (),
    max_size: float = math.inf,
    max_rank: float = math.inf,
    refuses: Sequence[str] = (),
    demand: Mapping[str, int] | None = None,
    timeout: float = 10.0,
    memory: float = 1024.0,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Report:
    """Check an implementation of broadcasting against the verified one.

    Parameters
    ----------
    target : callable, object, str or list of str
        A function; an object with functions named like levels; the name of a built-in peer;
        ``module:function`` or ``file.py:function``; or a list: a program that answers lines of
        JSON, then its arguments.
    rule : str, optional
        Name of the rule: see `cases`. Default: ``sonnx``, but ``numpy`` for an operator, since
        SONNX's operators do not broadcast.
    level : str, optional
        See Notes. Default: ``data``, or ``operator`` if a function returns more or fewer arrays
        than it takes.
    tensors : int or two, optional
        Number of tensors, or the least and the greatest number. Default: that of the signature, or
        the first number that an operator accepts.
    up_to : bool, optional
        Whether to ask at all levels up to `level` that the target offers.
    seconds : float, optional
        Time limit, counted from the first answer. Fixed cases of all stages come first, in turn;
        random cases follow. None (``all`` on the command line): all fixed cases only.
    seed : int, optional
        Seed of the random cases.
    every : int, optional
        Ask only every Nth fixed case.
    dtypes : sequence of str, optional
        At levels of arrays: names of the dtypes to ask, as in `Case`. If int32 is missing, the
        first dtype replaces it.
    max_size, max_rank : float, optional
        Greatest size, stride or index, and highest rank. JavaScript's integers end at 2⁵³.
    refuses : sequence of str, optional
        Names of the exceptions, or of their base classes, that are refusals; any other exception
        is a deviation. Default: all except MemoryError, SystemExit and KeyboardInterrupt.
    demand : mapping, optional
        Required limits of ``rank``, ``size`` and ``tensors``, such as a rank of 64. A lower limit
        is a deviation. Default: none.
    timeout : float, optional
        Seconds until a case counts as a hang, even at the end of the check; at least 30 for the
        first case, since the target may compile.
    memory : float, optional
        MiB that the target may use beyond the cases and its memory after the import; 0: no limit.
    progress : callable, optional
        Called repeatedly with a line that shows the progress.
    stop : threading.Event, optional
        If another thread or a signal handler sets it, the check ends with its report.

    Returns
    -------
    Report
        The kinds of deviations, and the numbers of cases asked, and not asked for lack of time.

    Raises
    ------
    TypeError
        `rule` or `level` is not a str, or a number (except `tensors`) has another type.
    ValueError
        `rule`, `level`, `target` or a dtype is unknown; the target cannot be imported or offers
        nothing at `level`; `tensors` is wrong; or a number is too small.

    Notes
    -----
    The target runs in a child process, forked where possible. The check reports a crash, a hang or
    (with ``/proc``) too much memory, and continues. The target's output goes to the standard error
    stream.

    A target refuses a case by an exception, None, False (unless an operator computes it) or, at
    level ``verdict``, 0. At level ``data`` a function takes the arguments of the rule's own
    function (arrays; or an array, a target and any axes), and returns as many arrays as it takes.
    At ``verdict``, ``shape`` and ``report`` it takes shapes instead of arrays; at ``report`` the
    exception names the axis at fault, in an attribute or in its text. At ``index`` it takes a
    shape, a target, any axes and an output's multi-index, and returns the source index. At
    ``strides`` it takes a shape, its strides, a target and any axes, and returns the view's
    strides.

    If a target refuses all cases beyond a rank, a size or a number of tensors, or all cases of some
    dtypes (unless `dtypes` names them), the report shows a limit, and no deviation. Small cases of
    int32 are below any limit.

    At ``operator`` a function computes element by element, and returns one or more arrays. The
    check calls the function with the tensors of a case, then with the broadcast tensors, flattened
    to rank 1. The results must agree in dtype and in all bits; those of the first call must have
    the common shape. A refusal of both calls deviates only if the function answers no case, or
    refuses tensors because they have no elements. The report names tensors that do not affect the
    result, since their misplaced elements would not show.

    At ``inplace`` an operator ``f(out, a, ...)`` must write into `out`, which has the dtype of the
    last tensor, and change no other memory. `out` may have any strides, and may be the first
    tensor. The operator must refuse an `out` that is read-only, is too small, or has overlapping
    elements; it may refuse an `out` that partly overlaps the first tensor.

    At ``adjoint`` a function ``f(delta, shape)`` sums the gradient of an output to the shape of a
    tensor that was broadcast. Sums of n-bit integers must be exact modulo 2 ** n; other sums may
    add in any order.

    At ``vjp`` the check asks ``f(delta, shape, ...)``, which returns a gradient for each shape, or
    ``f(a, ...)``, which returns an output and a function from the output's gradient to the tensors'
    gradients. Each gradient must be that of the broadcast tensors, summed to the tensor's shape. A
    program takes the output's gradient before the tensors.

    At ``symbolic`` a function takes shapes whose sizes may be names, as ``("N", 4)``, and returns a
    shape, or a shape with a condition, as ``(("N", 4), ["M = 1 or M = 4"])``. A returned size is a
    number, a name from the shapes, or open (None or another name). The check replaces the names by
    numbers. If the shapes then do not broadcast, the condition must be false. The sizes must be
    right if the condition holds or, without a condition, if the shapes broadcast. A refusal
    deviates only if the shapes broadcast for all numbers; the report counts refusals of shapes that
    broadcast for some.

    Examples
    --------
    >>> import numpy as np
    >>> def last_instead_of_first(*arrays):
    ...     shape = np.broadcast_shapes(*[x.shape for x in arrays])
    ...     return [np.broadcast_to(x[-1:] if x.ndim else x, shape) for x in arrays]
    >>> report = check(last_instead_of_first, rule="numpy", seconds=None)
    >>> print(report.ok, report.deviations[0].call)
    False import numpy as np; f(np.array(16843009, 'int32'), np.array([640034342, 656877351], \
'int32'))
    """
    known = target_of(target)
    found = rule_named(rule or (_OF_OPERATORS.name if level in OPERATORS else "sonnx"))
    levels: Sequence[Level | None] = (None,)
    if level is not None or up_to or found.takes != "tensors" or known.is_program:
        levels = levels_to(level_named(level or "data", found), up_to=up_to)
    asked = Asked("data", seed, every, dtypes, max_size, max_rank, refuses).checked(found)
    most = math.inf if seconds is None else seconds
    check_numbers((int, float), timeout=timeout, memory=memory, seconds=most)
    demand = {} if demand is None else dict(demand)
    check_names("demand", list(demand), list(LIMITED))
    check_numbers(int, **demand)
    child = Child(known, found, timeout, memory, threading.Event() if stop is None else stop)
    count, any_rule = tensors_of(tensors), rule is None
    run = _Run(known, found, child, asked, demand, seconds, progress, count, any_rule)
    try:
        # A stop during the import leaves nothing to report.
        with suppress(OutOfTimeError):
            child.start()
            run.started = time.monotonic()
            run.levels_in_turn(levels)
    finally:
        child.end()
    return run.report()


@dataclass
class _Run:
    target: Target
    rule: Rule
    child: Child
    asked: Asked
    demand: Mapping[str, int]
    seconds: float | None
    progress: Progress | None
    tensors: Tensors | None
    any_rule: bool
    chosen: str = ""
    levels: dict[str, dict[str, int]] = field(default_factory=dict)
    unasked: dict[str, dict[str, int]] = field(default_factory=dict)
    deviations: list[Deviation] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    limits: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    complete: bool = True
    started: float = field(default_factory=time.monotonic)
    skipped: set[int] = field(default_factory=set)

    @property
    def is_stopped(self) -> bool:
        return self.child.stop.is_set()

    def report(self) -> Report:
        if not self.levels and not self.is_stopped:
            text = f"offers nothing at that level by the rule {self.rule.name}"
            raise TargetError(f"target {self.target.name}: {text}")
        if self.is_stopped:
            self.notes.append("stopped before the end")
        return Report(
            target=self.child.title,
            rule=self.rule.name,
            chosen=self.chosen,
            levels=self.levels,
            unasked=self.unasked,
            deviations=tuple(self.deviations),
            limits=tuple(self.limits),
            left_out=dict(self.left_out),
            notes=tuple(self.notes),
            complete=self.complete and not self.is_stopped,
            seed=self.asked.seed,
            seconds=time.monotonic() - self.started,
        )

    def levels_in_turn(self, levels: Sequence[Level | None]) -> None:
        for each in levels:
            if not self.is_stopped:
                asked, deadline = self._seen(each), None
                if self.seconds is not None:
                    deadline = time.monotonic() + self.seconds / len(levels)
                self.level(asked, deadline)

    def _seen(self, level: Level | None) -> Asked:
        if self.rule.has_target(level or "data") and level != "adjoint":
            return self.asked._replace(level=level or "data")
        try:
            self.child.send(Look(level, self.tensors, tuple(self.asked.dtypes)))
            seen: Seen = self.child.receive(self.child.first_timeout)
        except NoAnswerError:
            # The target ends or hangs: the first cases will report that.
            return self.asked._replace(level=level or "data")
        if seen.level in OPERATORS:
            if self.any_rule and not self.rule.zero_meets_one:
                self.rule = self.child.rule = _OF_OPERATORS
                self.child.end()
            low, high = seen.tensors
            if high == 1:
                text = "takes one tensor, and broadcasts nothing"
                raise TargetError(f"target {self.target.name}: {text}")
            more = "" if low == high else f" to {high}" if high < math.inf else " or more"
            kind = "gradients" if seen.level == "vjp" else "an operator"
            self.chosen = f", as {kind} of {low}{more} tensors"
            text = "changes nothing: a misplaced element would not be seen"
            self.notes += [f"operator: tensor {m} {text}" for m in seen.blind]
        _, tensors, first, _, form = seen
        return self.asked._replace(level=seen.level, tensors=tensors, first=first, form=form)

    def level(self, asked: Asked, deadline: float | None) -> None:
        level = asked.level
        # Make the cases before the next fork, which inherits them.
        fixed = in_turn(self.rule, level, asked.every)
        found = Tally()
        with suppress(OutOfTimeError):
            if not self._ask(asked, deadline, found):
                return
        limits = found.settle(self.demand, all_dtypes=bool(asked.dtypes))
        self.limits += [f"{level}: {each}" for each in limits]
        self.levels[level] = _in_order(found.cases)
        late = [number for number in range(found.reached, len(fixed)) if number not in self.skipped]
        rest = _in_order(Counter(str(fixed[number][0]) for number in late))
        if rest and self.complete:
            self.unasked[level] = rest
        self.left_out.update(found.left_out)
        if found.cautious:
            text = "cautious refusals of questions that depend on the names, no deviations"
            self.notes.append(f"{level}: {found.cautious:,} {text}")
        self._note_deviations(asked, found, rest, deadline)

    def _ask(self, asked: Asked, deadline: float | None, found: Tally) -> bool:
        """Ask the cases, also after a crash or hang. Return False if the target lacks the level."""
        level = asked.level
        self.skipped = set()
        filled: set[int] = set()
        stop: int | None = None
        done, deaths, slow, start = False, 0, 0, 0
        began = time.monotonic()
        self.child.end_at = math.inf
        while not done:
            try:
                self.child.send(Run(asked, start, stop, frozenset(self.skipped), deadline))
                while not done:
                    message: Found | None = self.child.receive()
                    if message is None:
                        self.notes.append(f"{level}: not offered")
                        return False
                    tally, start, done, given_up = message
                    found.add(tally)
                    found.reached = start
                    if given_up:
                        self._give_up(level, start)
                    self._tell(asked, found, began, deadline)
                if stop is not None:
                    start, stop, done = stop, None, False
                    self.child.end()
            except NoAnswerError as death:
                number = self.child.position
                if number < 0:
                    text = f"target {self.target.name}: {death.text}, before it was asked anything"
                    raise TargetError(text) from None
                if death.kind == "memory" and number not in filled and len(filled) < MOST_DEATHS:
                    # Earlier cases may have filled the memory: repeat those not yet counted, then
                    # ask this case in a new process.
                    filled.add(number)
                    stop = number
                    continue
                self.skipped.add(number)
                _, stage, case = next(numbered(self.rule, asked, number))
                found.note(stage, case, no_answer(self.rule, level, case, death))
                deaths += 1
                slow += death.kind in ("hang", "memory")
                if deaths == MOST_DEATHS or slow == _MOST_SLOW:
                    self._give_up(level, number)
                    break
        if gathered := len(filled - self.skipped):
            times = "once" if gathered == 1 else f"{gathered} times"
            self.notes.append(f"{level}: restarted {times}: its memory grew from case to case")
        return True

    def _give_up(self, level: Level, number: int) -> None:
        self.notes.append(f"{level}: given up at case {number}: it ends or hangs too often")
        self.complete = False

    def _tell(self, asked: Asked, found: Tally, began: float, deadline: float | None) -> None:
        if self.progress is None:
            return
        fixed = len(in_turn(self.rule, asked.level, asked.every))
        now = time.monotonic()
        left = (now - began) / max(1, found.reached) * max(0, fixed - found.reached)
        if deadline is not None:
            left = max(0.0, deadline - now)
        self.progress(
            f"{self.child.title}, {asked.level}: {found.cases.total():,} cases, "
            f"{min(found.reached, fixed):,} of {fixed:,} fixed ones reached, "
            f"{found.kinds(self.demand)} kinds of deviation, about {left:.0f} s left"
        )

    def _note_deviations(
        self, asked: Asked, found: Tally, rest: Mapping[str, int], deadline: float | None
    ) -> None:
        level = asked.level
        if deadline is not None:
            deadline = max(deadline, time.monotonic()) + _LAST_SECONDS
        examples = sorted(found.examples.items(), key=lambda item: item[1].case.weight)
        for (key, reach), example in examples:
            # Unless time ran out, the stage "small" has already asked smaller cases.
            if example.stage != "small" or "small" in rest:
                example = self._shrunk(asked, key, example, deadline)
            _, case, finding = example
            clause = KINDS[finding.kind].clause
            if level in (*OPERATORS, "adjoint") and clause not in ("", "verdict"):
                clause = "adjoint" if level in ("vjp", "adjoint") else "operator"
            clause = self.rule.clauses.get(clause, "")
            met = Counter({str(stage): found.deviations[key, reach, stage] for stage in STAGES})
            code = "; ".join(filter(None, [self.child.code, PULLS[asked.form]]))
            call = pasted(code.format(level=level), call_of(self.rule, level, case))
            if self.target.is_program:
                call = line_of(request(self.rule, level, case)).decode().strip()
            own: dict[str, Any] = {"level": level, "stages": _in_order(met), "case": case}
            self.deviations.append(Deviation(**own, call=call, clause=clause, **finding._asdict()))

    def _shrunk(self, asked: Asked, key: Key, example: Example, deadline: float | None) -> Example:
        end = min(time.monotonic() + _SECONDS, math.inf if deadline is None else deadline)
        self.child.end_at = end
        for _ in range(_STEPS):
            fitting = [asked.fitted(each) for each in smaller(example.case)]
            candidates = [each for each in fitting if each.weight < example.case.weight]
            if time.monotonic() > end or self.is_stopped:
                break
            found = self._first(Try(asked, candidates, key, example.stage, end))
            if found is None:
                break
            example = found
        return example

    def _first(self, job: Try) -> Example | None:
        candidates: list[Case] = job.cases
        while candidates:
            try:
                self.child.send(job._replace(cases=candidates))
                return cast("Example | None", self.child.receive())
            except OutOfTimeError:
                return None
            except NoAnswerError as death:
                number = self.child.position
                if death.kind == job.key[0]:
                    case = candidates[number]
                    finding = no_answer(self.rule, job.asked.level, case, death)
                    return Example(job.stage, case, finding)
                candidates = candidates[number + 1 :]
        return None


def _in_order(counts: Counter[str]) -> dict[str, int]:
    return {stage: counts[stage] for stage in STAGES if counts[stage]}


@dataclass(frozen=True)
class Stage:
    """The cases of one stage of a check, as one test: see `stages`.

    Parameters
    ----------
    level, name, report : str, str, callable
        The level; the stage's name; a function that returns the report of one check for all stages.

    Notes
    -----
    Each parameter is an attribute of the same name. ``str()`` is the level and the name.
    """

    level: Level
    name: StageName
    report: Callable[[], Report]

    def __str__(self) -> str:
        return f"{self.level}-{self.name}"

    def check(self) -> None:
        """Judge this stage; the first call runs the check for all stages.

        Raises
        ------
        AssertionError
            A case of this stage deviates or was not asked in time, or the check is incomplete.
        unittest.SkipTest
            The stage has no case; pytest skips the test.
        """
        report = self.report()
        texts = list(map(str, report.met(self.level, self.name)))
        if rest := report.unasked.get(self.level, {}).get(self.name):
            texts.append(f"there was no time for {rest:,} cases (seconds)")
        texts += [] if report.complete else report.notes
        if texts:
            raise AssertionError("\n".join(texts))
        if not report.levels.get(self.level, {}).get(self.name):
            raise SkipTest(f"{self} has no cases")


def stages(target: object, **options: Any) -> list[Stage]:
    """Return the stages of a check, each for a test of its own.

    Parameters
    ----------
    target : callable, object, str or list of str
        As for `check`.
    **options
        As for `check`; by default `seconds` is None (all fixed cases) and `level` is ``data``.

    Returns
    -------
    list of Stage
        The stages of the check.

    Raises
    ------
    ValueError
        The rule, level or target is unknown. If an import fails, each stage fails.

    Notes
    -----
    The first test runs the whole check; the others only read its report.

    Examples
    --------
    A file of tests for pytest:

    >>> import pytest
    >>> @pytest.mark.parametrize("stage", stages("numpy", rule="numpy"), ids=str)
    ... def test_broadcast(stage):
    ...     stage.check()
    >>> print(*stages("numpy", rule="numpy", level="verdict"))
    verdict-small verdict-many verdict-ranks verdict-sizes verdict-random
    """
    target_of(target)
    rule = rule_named(options.get("rule", "sonnx"))
    levels = levels_to(
        level_named(options.get("level", "data"), rule), up_to=options.get("up_to", False)
    )

    @cache
    def report() -> Report:
        return check(target, **({"seconds": None, "level": "data"} | options))

    return [
        Stage(level, name, report)
        for level in levels
        for name in STAGES
        if level in OF_ARRAYS or name not in ("dtypes", "layouts")
    ]
