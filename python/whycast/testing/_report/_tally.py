"""The counts of a check so far: cases, deviations by class, and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from whycast.testing._cases._case import STAGES, Case, Stage
from whycast.testing._report._compare import KINDS, Finding

Key: TypeAlias = tuple[str, str]

# The quantities that a limit can bound, besides dtypes. A limit below these values, the largest
# in small cases, does not count.
LIMITED = {"rank": 3, "size": 4, "tensors": 3}


class Reach(NamedTuple):
    rank: int = -1
    size: int = -1
    tensors: int = -1
    dtypes: frozenset[str] = frozenset()

    def __or__(self, other: Reach) -> Reach:
        rank, size, tensors = map(max, self[:3], other[:3])
        return Reach(rank, size, tensors, self.dtypes | other.dtypes)


def _reach(case: Case) -> Reach:
    shapes = case.every_shape
    sizes = [size for shape in shapes for size in shape if isinstance(size, int)]
    dtypes = frozenset(case.dtypes or ("int32",))
    return Reach(max(map(len, shapes)), max(sizes, default=0), len(case.shapes), dtypes)


class Example(NamedTuple):
    stage: Stage
    case: Case
    finding: Finding


@dataclass
class Tally:
    cases: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    # Count refusals by their reach, too: the limits are known only at the end of a check.
    deviations: Counter[tuple[Key, Reach, Stage]] = field(default_factory=Counter)
    examples: dict[tuple[Key, Reach], Example] = field(default_factory=dict)
    answered: Reach = field(default_factory=Reach)
    # `cautious` counts refusals of shapes that broadcast for some sizes of their names, not for
    # all; `reached` is the index of the first case not yet asked.
    cautious: int = 0
    reached: int = 0

    def note(
        self, stage: Stage, case: Case, finding: Finding | None, *, accepted: bool = False
    ) -> None:
        self.cases[stage] += 1
        refused = finding is not None and finding.kind in ("refuses", "undefined")
        if accepted and not refused:
            self.answered |= _reach(case)
        if finding is not None:
            key = (finding.kind, finding.detail), _reach(case) if refused else Reach()
            self.deviations[(*key, stage)] += 1
            self._keep(key, Example(stage, case, finding))

    def add(self, other: Tally) -> None:
        self.cases.update(other.cases)
        self.left_out.update(other.left_out)
        self.deviations.update(other.deviations)
        self.answered |= other.answered
        self.cautious += other.cautious
        for key, example in other.examples.items():
            self._keep(key, example)

    def forget(self) -> None:
        """Reset the counts; examples stay until smaller ones replace them."""
        for each in (self.cases, self.left_out, self.deviations):
            each.clear()
        self.cautious = 0

    def kinds(self, demand: Mapping[str, int]) -> int:
        lacking = self._lacking()
        return len({key for key, reach in self.examples if not self._limit(reach, demand, lacking)})

    def settle(self, demand: Mapping[str, int], *, all_dtypes: bool) -> list[str]:
        """Remove the refusals beyond a limit, and return the limits.

        Beyond a limit the target refuses all cases. A demand excludes lower limits. Cases of
        kind "undefined" count as left out, except for a dtype that the target lacks.
        """
        lacking = set() if all_dtypes else self._lacking()
        counts, examples = self.deviations, self.examples
        self.deviations, self.examples = Counter(), {}
        beyond, first = Counter[str](), dict[str, Example]()
        for (key, reach), example in sorted(examples.items(), key=lambda each: each[1].case.weight):
            limit = self._limit(reach, demand, lacking)
            # If the target has answered nothing, undefined cases remain deviations.
            if key[0] == "undefined" and limit != "dtype" and self.answered != Reach():
                limit = "undefined"
            for stage in STAGES:
                count = counts[key, reach, stage]
                if limit:
                    beyond[limit] += count
                elif count:
                    self.deviations[key, Reach(), stage] += count
                self.cases[stage] -= count * (limit == "undefined")
            if limit:
                first.setdefault(limit, example)
            else:
                self._keep((key, Reach()), example)
        if "undefined" in first:
            why = first.pop("undefined").finding.got
            reason = f"{KINDS['undefined'].says}, as by {why}"
            self.left_out[reason] += beyond["undefined"]
        return [
            f"{_says(limit, self.answered, lacking)} {beyond[limit]:,} of {beyond[limit]:,} cases "
            f"were refused, as by {example.finding.got}"
            for limit, example in first.items()
        ]

    def _lacking(self) -> set[str]:
        """Return the dtypes that the target has always refused, more than once."""
        if "int32" not in self.answered.dtypes:
            return set()
        refused = Counter[str]()
        for (_, reach, _), count in self.deviations.items():
            refused.update(dict.fromkeys(reach.dtypes - self.answered.dtypes, count))
        return {name for name, count in refused.items() if count > 1}

    def _limit(self, reach: Reach, demand: Mapping[str, int], lacking: set[str]) -> str:
        """Return the quantity in which a refused case is beyond all answered cases."""
        for name, least in LIMITED.items():
            most = getattr(self.answered, name)
            if getattr(reach, name) > most >= max(least, demand.get(name, 0)):
                return name
        return "dtype" if reach.dtypes & lacking else ""

    def _keep(self, key: tuple[Key, Reach], example: Example) -> None:
        known = self.examples.get(key)
        if known is None or example.case.weight < known.case.weight:
            self.examples[key] = example


def _says(limit: str, answered: Reach, lacking: set[str]) -> str:
    if limit == "dtype":
        return f"no dtype {', '.join(sorted(lacking))}: with one,"
    return f"{limit} {getattr(answered, limit):,}: beyond,"
