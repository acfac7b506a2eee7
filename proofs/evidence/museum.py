"""The museum as the documentation shows it: from its tests, and from the register of deviations."""

from __future__ import annotations

import sys
from itertools import groupby
from typing import NamedTuple

from gate.closed import ROOT
from whycast._rules import RULES
from whycast.testing._peers._register import groups
from whycast.testing._report import call_of
from whycast.testing._report._compare import KINDS

sys.path.append(str(ROOT / "tests/oracle"))

from museum import MATHJS, MUSEUM, Exhibit


class Shown(NamedTuple):
    """What was wrong where, the smallest call that shows it, and the clause that settles it."""

    name: str
    said: str
    rule: str
    level: str
    call: str
    expected: str
    got: str
    clause: str


class Released(NamedTuple):
    """How packages of today deviate from some rules, and why these say otherwise."""

    packages: list[str]
    rules: str
    kind: str
    reason: str
    source: str


def shown(exhibit: Exhibit) -> Shown:
    """Give what the page says of an exhibit."""
    wrong, rule = exhibit.wrong, RULES[exhibit.wrong.rule]
    assert wrong.case is not None
    return Shown(
        *(f"{wrong.name} ({exhibit.year})" if exhibit.group else wrong.name, exhibit.said),
        *(rule.name, wrong.level, call_of(rule, wrong.level, wrong.case)),
        *(exhibit.expected, exhibit.got),
        rule.clauses.get(KINDS[wrong.kind].clause, ""),
    )


def rooms() -> list[tuple[str, list[Shown]]]:
    """Give the exhibits by their groups; what is found in a program of today comes last."""
    found = [(name, list(map(shown, each))) for name, each in groupby(MUSEUM, lambda e: e.group)]
    return [*found, ("In a program of today", [shown(MATHJS)])]


def released() -> list[Released]:
    """Give the known deviations of the built-in peers."""
    versions, found = groups()
    return [
        Released(
            [f"{name} {versions[name]}" for name in group["peers"]],
            ", ".join(group["rules"]),
            KINDS[group["kind"]].says,
            *(group["reason"], group["source"]),
        )
        for group in found
    ]
