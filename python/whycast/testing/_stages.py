"""The stages of a check, each a test for pytest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import SkipTest

from whycast._rules import rule_named
from whycast.testing._cases._case import OF_ARRAYS, STAGES, Level, level_named, levels_to
from whycast.testing._cases._case import Stage as Name
from whycast.testing._check import check
from whycast.testing._report import Report
from whycast.testing._run._targets import target_of


@dataclass(frozen=True)
class Stage:
    """The cases of one stage of a check, which make one test: see `stages`.

    Parameters
    ----------
    level, name : str
        The level, and the stage's name.
    report : callable
        Runs the check, once for all stages, and returns its report.

    Notes
    -----
    Each parameter is an attribute of the same name. ``str()`` is the level and the name.
    """

    level: Level
    name: Name
    report: Callable[[], Report]

    def __str__(self) -> str:
        return f"{self.level}-{self.name}"

    def check(self) -> None:
        """Run the check, once for all its stages, and judge this one.

        Raises
        ------
        AssertionError
            A case of this stage deviates or was not reached, or the run was given up.
        unittest.SkipTest
            There is no case of this stage; pytest counts the test as skipped.
        """
        report = self.report()
        texts = list(map(str, report.met(self.level, self.name)))
        if rest := report.unasked.get(self.level, {}).get(self.name):
            texts.append(f"there was no time for {rest:,} cases (seconds)")
        texts += [] if report.complete else report.notes
        if texts:
            raise AssertionError("\n".join(texts))
        if not report.levels.get(self.level, {}).get(self.name):
            raise SkipTest(f"there are no cases of {self}")


def stages(target: object, **options: Any) -> list[Stage]:
    """Return the stages of a check, each to be made a test.

    Parameters
    ----------
    target : callable, object, str or list of str
        As `check` takes it.
    **options
        Those of `check`. By default `seconds` is None: all fixed cases are asked.

    Returns
    -------
    list of Stage
        Their text is the level and the name.

    Raises
    ------
    ValueError
        There is no such rule, level or target. A target that cannot be imported fails each stage.

    Notes
    -----
    The check runs once, when the first of its stages is judged; that test takes all the time.

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
