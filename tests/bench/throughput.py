"""How fast `whycast.testing.check` is: cases for each second that a core works on them.

Nobody is compared here. Of a function that does nothing all that takes time is the check: making
the case and its arrays, calling, judging. One that does nothing refuses all; another hands out the
right answers, which were made before, and so has the check compare them.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from report import rows_of

from whycast._rules import RULES
from whycast.testing import Report, cases, check
from whycast.testing._cases._case import Level
from whycast.testing._report._judge import expected

EXPLANATION = (
    "Cases for each second of a core: all fixed cases of a rule, asked of a Python function that "
    "does nothing but return None, and of one that returns the right answer, made beforehand. The "
    "start of the child process is included. Level shape gives verdicts too."
)


class Question(NamedTuple):
    """A rule at a level."""

    rule: str
    level: Level

    @property
    def title(self) -> str:
        """The name that no other has, and no cell."""
        return f"checks: {self.rule}, {self.level}"


class Rates(NamedTuple):
    """Cases a second, against a function that refuses all and one that is right."""

    question: Question
    refusing: float
    right: float


# One of each kind: on tensors, with a target, with axes.
QUESTIONS = [
    Question(rule, level) for level in ("shape", "data") for rule in ("sonnx", "expand", "in-dim")
]


def nothing(*arguments: object) -> None:
    """Do nothing."""


class Prepared:
    """A function that does nothing but hand out answers that were made before."""

    def __init__(self, question: Question, every: int) -> None:
        rule = RULES[question.rule]
        self.answers = []
        for case in list(cases(*question))[::every]:
            value = expected(rule, question.level, case).value
            one = isinstance(value, tuple) and question.level == "data" and rule.takes != "tensors"
            self.answers.append(value[0] if one and isinstance(value, tuple) else value)
        self.next = iter(self.answers)

    def __call__(self, *arguments: object) -> object:
        """Give the next."""
        return next(self.next)


def measure_rates(question: Question, seconds: float) -> Rates:
    """Measure both for about so many seconds; without any, once and on few of the cases."""
    every = 1 if seconds else 50
    prepared = Prepared(question, every)
    refusing: list[float] = []
    right: list[float] = []
    end = time.perf_counter() + seconds
    while not right or time.perf_counter() < end:
        refusing.append(_rate(question, every, nothing))
        # The child gets a copy, and uses up the answers of that.
        right.append(_rate(question, every, prepared, ok=True))
    return Rates(question, statistics.median(refusing), statistics.median(right))


def _rate(
    question: Question, every: int, function: Callable[..., object], *, ok: bool = False
) -> float:
    before = _processor_time()
    report: Report = check(
        function, rule=question.rule, level=question.level, seconds=0, every=every
    )
    taken = _processor_time() - before
    assert report.ok is ok, report
    return report.cases / taken


def _processor_time() -> float:
    """Seconds that cores have worked for this process and the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def section(rates: Sequence[Rates]) -> str:
    """Markdown: the rates."""
    rows = [[each.question.title, f"{each.refusing:,.0f}", f"{each.right:,.0f}"] for each in rates]
    lines = ["## Checks", "", EXPLANATION, ""]
    lines += rows_of(["rule, level", "refuses all", "right"], rows)
    return "\n".join(lines) + "\n"
