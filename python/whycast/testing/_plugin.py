"""What the options of pytest ask for: the tests, and those of them that are expected to fail."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from whycast._rules import RULES, rule_named
from whycast.testing._cases._case import LEVELS, STAGES, Level, Stage, level_named, levels_to
from whycast.testing._run._targets import target_of

_ID = re.compile(r"test_stage\[(.+)\]")


def check_options(options: argparse.Namespace) -> None:
    """Raise what is wrong with the options, before any test is made."""
    target_of(options.whycast_target)
    rule_named(options.whycast_rule)
    level_named(options.whycast_level)
    seconds_of(options.whycast_seconds)
    expected_failures(options.whycast_xfails)


def seconds_of(text: str) -> float | None:
    """Read how long to ask: seconds, or ``all`` for all fixed cases and no others."""
    return None if text == "all" else float(text)


def stages(options: argparse.Namespace) -> list[tuple[str, Level, Stage]]:
    """Give what is tested, one after the other, each with the id of its test."""
    levels = levels_to(level_named(options.whycast_level), up_to=options.whycast_up_to)
    return [
        (_id(options.whycast_rule, level, stage), level, stage)
        for level in levels
        for stage in STAGES
        if level == "data" or stage not in ("dtypes", "layouts")
    ]


def expected_failures(file: Path | None) -> frozenset[str]:
    """Read the ids of tests in a file, one a line, with or without the path of the tests."""
    if file is None:
        return frozenset()
    known = {_id(rule, level, stage) for rule in RULES for level in LEVELS for stage in STAGES}
    found = set()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.partition("#")[0].strip()
        match = _ID.fullmatch(text.rpartition("::")[2])
        if match is not None and match[1] in known:
            found.add(match[1])
        elif text:
            raise ValueError(f"{file}, line {number}: there is no test {text!r}")
    return frozenset(found)


def _id(rule: str, level: Level, stage: Stage) -> str:
    return f"{rule}-{level}-{stage}"
