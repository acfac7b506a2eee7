"""What has been found, while it is being counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from whycast.testing._cases._case import Case, Stage
from whycast.testing._peers._register import Entry
from whycast.testing._report._compare import Finding


class Key(NamedTuple):
    """What makes deviations one class; the entry of the register that knows it, or -1."""

    kind: str
    detail: str
    entry: int


class Example(NamedTuple):
    """A case in which an implementation deviates, and how."""

    stage: Stage
    case: Case
    finding: Finding


@dataclass
class Tally:
    """Cases that were asked, and in how many of them an implementation deviates, by class.

    Of the entries of the register it counts too which of them a case shows as they say, and how
    many cases that an entry covers do not.
    """

    cases: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    deviations: Counter[tuple[Key, Stage]] = field(default_factory=Counter)
    examples: dict[Key, Example] = field(default_factory=dict)
    met: set[int] = field(default_factory=set)
    agreeing: Counter[int] = field(default_factory=Counter)
    # The number of the first case that was not.
    reached: int = 0

    def note(
        self, entries: Sequence[Entry], stage: Stage, case: Case, finding: Finding | None
    ) -> Key | None:
        """Count a case; give the class of its deviation, if it has one."""
        self.cases[stage] += 1
        covering = [n for n, each in enumerate(entries) if each.covers(case)]
        knowing = [n for n in covering if finding and entries[n].explains(finding.kind)]
        self.met.update(knowing)
        if not knowing:
            self.agreeing.update(covering)
        if finding is None:
            return None
        key = Key(finding.kind, finding.detail, knowing[0] if knowing else -1)
        self.deviations[key, stage] += 1
        self._keep(key, Example(stage, case, finding))
        return key

    def add(self, other: Tally) -> None:
        """Add what has been found since."""
        self.cases.update(other.cases)
        self.left_out.update(other.left_out)
        self.deviations.update(other.deviations)
        for key, example in other.examples.items():
            self._keep(key, example)
        self.met |= other.met
        self.agreeing.update(other.agreeing)

    def forget(self) -> None:
        """Begin to count anew; an example that is larger than one of before is not worth a word."""
        for each in (self.cases, self.left_out, self.deviations, self.met, self.agreeing):
            each.clear()

    def _keep(self, key: Key, example: Example) -> None:
        """Keep the smallest example of its class."""
        known = self.examples.get(key)
        if known is None or example.case.weight < known.case.weight:
            self.examples[key] = example
