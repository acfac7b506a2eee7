"""What the evidence is made from: the facts of a gate that passed, and files of the tree.

Nothing is written about a gate that failed, that looked at some theories only, or that looked at
other sources than those that are there.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import lock
import mutants
import sources
import theorems
from facts import Facts
from mutants import Result as MutantResult

ROOT = Path(__file__).resolve().parents[2]
FACTS = "build/gate/facts.json"
FACTS_OF_PACK = "build/gate/evidence.json"
THEOREMS = "proofs/theorems.txt"

# The keys of the facts that the pack shows; a pack without one of them would look complete.
FACT_KEYS = ("provers", "audit", "symbols", "library", "hypotheses", "trace")
GOAL_KEYS = ("module", "goal", "kind", "statement", "hypotheses", "smoke", "tree")


class RefusalError(Exception):
    """There is nothing to write evidence of; the message says why and what to do."""


class PassedFacts(Facts):
    """The facts as the gate leaves them; `sources` is the hash of what they are about."""

    sources: str


@dataclass(frozen=True)
class Inputs:
    """All that the pack is made from; `results` is None where no mutants were run on this tree."""

    root: Path
    project: Mapping[str, Any]
    facts: PassedFacts
    claims: theorems.Claims
    lock: lock.Lock
    mutants: list[mutants.Mutant]
    results: list[MutantResult] | None


def read(root: Path = ROOT) -> Inputs:
    """Read everything, or refuse."""
    return assemble(root, read_facts(root))


def assemble(root: Path, facts: PassedFacts) -> Inputs:
    """Put facts and what they are about together; refuse facts in which something is missing."""
    claims = theorems.read(root / THEOREMS, THEOREMS)
    check_complete(facts, {entry.theory for entry in claims.entries})
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Inputs(
        root=root,
        project=project,
        facts=facts,
        claims=claims,
        lock=lock.read(root / "proofs" / "provers" / "toolchain.toml", root),
        mutants=mutants.read(),
        results=read_results(root),
    )


def read_facts(root: Path) -> PassedFacts:
    """Read the facts of a gate that passed on the sources that are there."""
    path = root / FACTS
    if not path.is_file():
        raise RefusalError(f"{FACTS} is missing: the gate has not run (`make` runs it)")
    facts = json.loads(path.read_text(encoding="utf-8"))
    if not facts.get("passed"):
        count = len(facts.get("failures", []))
        raise RefusalError(
            f"the gate failed, with {count} failures listed in {FACTS}: there is nothing to give "
            "evidence of (`make` runs the gate)"
        )
    if facts.get("sources") != sources.digest(root):
        raise RefusalError(
            f"{FACTS} is about other sources than those that are here: they have changed since "
            "the gate ran (`make` runs it)"
        )
    return cast(PassedFacts, facts)


def demand(found: Mapping[str, Any], key: str, where: str) -> None:
    """Refuse to go on without a key."""
    if key not in found:
        what = f"{where} has no `{key}`: it was written by another gate"
        raise RefusalError(f"{what} (`make` runs this one)")


def check_complete(facts: Facts, theories: set[str]) -> None:
    """Refuse facts about some of the theories, or goals about which something is missing."""
    absent = sorted(theories - {theory["file"] for theory in facts["theories"]})
    if absent:
        raise RefusalError(
            f"{FACTS} says nothing about {', '.join(absent)}: the gate ran on some theories only "
            "(`make` runs it on all)"
        )
    for key in FACT_KEYS:
        demand(facts, key, FACTS)
    for theory in facts["theories"]:
        for goal in theory["goals"]:
            where = f"{FACTS}: goal {goal['module']}.{goal['goal']}"
            for key in GOAL_KEYS:
                demand(goal, key, where)
            if goal["hypotheses"] and goal["smoke"] is None:
                raise RefusalError(
                    f"{where} has no answer of smoke detection: the gate ran with --others or "
                    "--sample (`make` runs it with --quickest)"
                )


def read_results(root: Path) -> list[MutantResult] | None:
    """Read what `make mutants` found, if it ran on these theories and mutants."""
    path = root / mutants.REPORT
    if not path.is_file():
        return None
    report = json.loads(path.read_text(encoding="utf-8"))
    if report["sources"] != mutants.sources_hash():
        return None
    return [MutantResult(**result) for result in report["results"]]
