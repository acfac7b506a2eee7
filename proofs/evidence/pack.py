"""What the evidence says, as one value: evidence.json is this value, and the pages show it.

No times but the recorded ones of the sessions, no path from outside of the tree: the same sources
give the same value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Proof:
    """A recorded proof: which prover, and how long it took when the proof was found."""

    prover: str
    version: str
    seconds: float


@dataclass(frozen=True)
class Part:
    """A part of a goal that provers prove as it is; `path` tells how the goal was taken apart."""

    name: str
    explanation: str
    place: str
    path: str
    proofs: list[Proof]

    @property
    def seconds(self) -> float:
        """What its proofs took together."""
        return sum(proof.seconds for proof in self.proofs)


@dataclass(frozen=True)
class Use:
    """What a prover did for a goal."""

    name: str
    version: str
    family: str
    parts: int
    seconds: float


@dataclass(frozen=True)
class Smoke:
    """The prover that was asked for the goal with its conclusion negated, and its answer."""

    prover: str
    answer: str


@dataclass(frozen=True)
class Goal:
    """A goal: what it says in English and in WhyML, and who proved it."""

    name: str
    file: str
    line: int
    kind: str
    sentence: str
    statement: str
    clauses: list[str]
    supports: list[str]
    families: int
    provers: list[Use]
    seconds: float
    parts: list[Part]
    smoke: Smoke | None

    @property
    def title(self) -> str:
        """Its name without what Why3 adds to the names of programs and definitions."""
        return self.name.removesuffix("'vc")


@dataclass(frozen=True)
class Theory:
    """A theory file with its goals."""

    file: str
    title: str
    goals: list[Goal]

    @property
    def stem(self) -> str:
        """The name of its pages."""
        return self.file.rpartition("/")[2].removesuffix(".mlw")

    @property
    def parts(self) -> list[Part]:
        """The parts of all its goals."""
        return [part for goal in self.goals for part in goal.parts]

    def proofs_by(self, prover: str) -> int:
        """Count the proofs of a prover."""
        return sum(use.parts for goal in self.goals for use in goal.provers if use.name == prover)


@dataclass(frozen=True)
class Trusted:
    """A program without a body, and the Python expression that it stands for."""

    name: str
    place: str
    statement: str
    python: str


@dataclass(frozen=True)
class Mutant:
    """A change that some goal has to notice; `noticed` is None where mutants were not run."""

    id: str
    place: str
    what: str
    old: str
    new: str
    goal: str | None
    verdict: str
    noticed: str | None
    part: str


@dataclass(frozen=True)
class Pack:
    """The whole of it."""

    project: str
    version: str
    sources: str
    verdict: str
    summary: dict[str, int]
    provers: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    packages: list[dict[str, Any]]
    theories: list[Theory]
    symbols: list[Mapping[str, Any]]
    trace: Mapping[str, Any]
    hypotheses: list[Mapping[str, Any]]
    mutants_run: bool
    mutants: list[Mutant]
    trusted: list[Trusted]
    audit: list[dict[str, Any]]
    library: list[Mapping[str, Any]]

    @property
    def goals(self) -> list[Goal]:
        """The goals of all theories."""
        return [goal for theory in self.theories for goal in theory.goals]

    def value(self) -> dict[str, Any]:
        """Give it as evidence.json has it: the goals in a list of their own."""
        found = asdict(self)
        found["goals"] = [goal for theory in found["theories"] for goal in theory.pop("goals")]
        return found
