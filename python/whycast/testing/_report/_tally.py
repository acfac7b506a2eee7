"""Counts of what a check has found so far: cases, and deviations by class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from whycast.testing._cases._case import Case, Stage
from whycast.testing._report._compare import Finding

Key: TypeAlias = tuple[str, str]


class Example(NamedTuple):
    stage: Stage
    case: Case
    finding: Finding


@dataclass
class Tally:
    cases: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    deviations: Counter[tuple[Key, Stage]] = field(default_factory=Counter)
    examples: dict[Key, Example] = field(default_factory=dict)
    # Refusals of what depends on names, and the number of the first case not asked.
    cautious: int = 0
    reached: int = 0

    def note(self, stage: Stage, case: Case, finding: Finding | None) -> None:
        self.cases[stage] += 1
        if finding is not None:
            key = (finding.kind, finding.detail)
            self.deviations[key, stage] += 1
            self._keep(key, Example(stage, case, finding))

    def add(self, other: Tally) -> None:
        self.cases.update(other.cases)
        self.left_out.update(other.left_out)
        self.deviations.update(other.deviations)
        self.cautious += other.cautious
        for key, example in other.examples.items():
            self._keep(key, example)

    def forget(self) -> None:
        """Count anew; examples stay, so that later ones have to be smaller."""
        for each in (self.cases, self.left_out, self.deviations):
            each.clear()
        self.cautious = 0

    def _keep(self, key: Key, example: Example) -> None:
        known = self.examples.get(key)
        if known is None or example.case.weight < known.case.weight:
            self.examples[key] = example
