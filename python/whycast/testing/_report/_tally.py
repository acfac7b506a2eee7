"""What has been found, while it is being counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from whycast._rules import Rule
from whycast.testing._cases._case import Case, Stage
from whycast.testing._peers._register import Entry


class Key(NamedTuple):
    """What makes deviations one class; the entry of the register that knows it, or -1."""

    kind: str
    detail: str
    entry: int


class Example(NamedTuple):
    """A case in which an implementation deviates, and how."""

    stage: Stage
    case: Case
    expected: str
    got: str


@dataclass
class Tally:
    """Cases that were asked, and in how many of them an implementation deviates, by class.

    Of the entries of the register it counts too which of them a case shows as they say, and how
    many cases that an entry covers do not.
    """

    cases: Counter[Stage] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    deviations: Counter[Key] = field(default_factory=Counter)
    examples: dict[Key, Example] = field(default_factory=dict)
    met: set[int] = field(default_factory=set)
    agreeing: Counter[int] = field(default_factory=Counter)

    def compare(self, entries: Sequence[Entry], rule: Rule, case: Case, kind: str | None) -> int:
        """Compare a case with the register: return the entry that knows its deviation, or -1."""
        covering = [n for n, each in enumerate(entries) if each.covers(rule, case)]
        right = [n for n in covering if kind is not None and entries[n].explains(kind)]
        self.met.update(right)
        if not right:
            self.agreeing.update(covering)
        return right[0] if right else -1

    def is_smaller(self, key: Key, case: Case) -> bool:
        """Whether a case would be the smallest of its class."""
        example = self.examples.get(key)
        return example is None or case.weight < example.case.weight

    def add(self, other: Tally) -> None:
        """Add what has been found since."""
        self.cases.update(other.cases)
        self.left_out.update(other.left_out)
        self.deviations.update(other.deviations)
        for key, example in other.examples.items():
            if self.is_smaller(key, example.case):
                self.examples[key] = example
        self.met |= other.met
        self.agreeing.update(other.agreeing)
