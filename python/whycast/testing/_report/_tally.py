"""What has been found, while it is being counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from whycast.testing._cases._case import Case, Stage
from whycast.testing._report._compare import Finding

# What makes deviations one class: their kind, and the detail.
Key: TypeAlias = tuple[str, str]


class Example(NamedTuple):
    """A case in which an implementation deviates, and how."""

    stage: Stage
    case: Case
    finding: Finding


@dataclass
class Tally:
    """Cases that were asked, and in how many of them an implementation deviates, by class."""

    cases: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    deviations: Counter[tuple[Key, Stage]] = field(default_factory=Counter)
    examples: dict[Key, Example] = field(default_factory=dict)
    # The number of the first case that was not.
    reached: int = 0

    def note(self, stage: Stage, case: Case, finding: Finding | None) -> None:
        """Count a case, and its deviation if it has one."""
        self.cases[stage] += 1
        if finding is not None:
            key = (finding.kind, finding.detail)
            self.deviations[key, stage] += 1
            self._keep(key, Example(stage, case, finding))

    def add(self, other: Tally) -> None:
        """Add what has been found since."""
        self.cases.update(other.cases)
        self.left_out.update(other.left_out)
        self.deviations.update(other.deviations)
        for key, example in other.examples.items():
            self._keep(key, example)

    def forget(self) -> None:
        """Begin to count anew; an example that is larger than one of before is not worth a word."""
        for each in (self.cases, self.left_out, self.deviations):
            each.clear()

    def _keep(self, key: Key, example: Example) -> None:
        """Keep the smallest example of its class."""
        known = self.examples.get(key)
        if known is None or example.case.weight < known.case.weight:
            self.examples[key] = example
