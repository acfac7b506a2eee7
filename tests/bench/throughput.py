"""How fast `whycast.testing.check` is: cases for each second that a core works on them.

Nobody is compared here. Of a function that does nothing all that takes time is the check: making
the case and its arrays, calling, judging that it refuses.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Mapping
from typing import NamedTuple

from report import rows_of

from whycast.testing import check
from whycast.testing._case import Level

EXPLANATION = (
    "Cases for each second of a core: all fixed cases of a rule, asked of a Python function that "
    "does nothing but return None. The start of the child process is included."
)


class Question(NamedTuple):
    """A rule at a level."""

    rule: str
    level: Level

    @property
    def title(self) -> str:
        """The name that no other has, and no cell."""
        return f"checks: {self.rule}, {self.level}"


# One of each kind: on tensors, with a target, with axes.
QUESTIONS = [
    Question(rule, level) for level in ("shape", "data") for rule in ("sonnx", "expand", "in-dim")
]


def nothing(*arguments: object) -> None:
    """Do nothing."""


def measure_rate(question: Question, seconds: float) -> float:
    """Measure for about so many seconds; without any, once and on few of the cases."""
    rates: list[float] = []
    end = time.perf_counter() + seconds
    while not rates or time.perf_counter() < end:
        before = _processor_time()
        report = check(nothing, **question._asdict(), seconds=0, every=1 if seconds else 50)
        rates.append(report.cases / (_processor_time() - before))
        assert not report.ok, report
    return statistics.median(rates)


def _processor_time() -> float:
    """Seconds that cores have worked for this process and the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def section(rates: Mapping[Question, float]) -> str:
    """Markdown: the rates, if there are any."""
    if not rates:
        return ""
    rows = [[question.title, f"{rate:,.0f}"] for question, rate in rates.items()]
    lines = ["", "## Checks", "", EXPLANATION, ""]
    lines += rows_of(["rule, level", "cases a second"], rows)
    return "\n".join(lines) + "\n"
