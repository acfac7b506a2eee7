"""What is assumed beside what the audit allows: unreachable branches, and the standard library."""

from __future__ import annotations

from collections import Counter

from facts import Facts, full_name
from failures import Failure

# A claim of a program that a place in it is not reached.
UNREACHED = "absurd"

# What has a proof, but among Why3's own proofs and not among ours.
PROVED_ELSEWHERE = ("lemma", "contract")


def unreached_faults(facts: Facts) -> list[Failure]:
    """Find `absurd` in programs that no goal is about.

    What is `absurd` is an obligation, not an assumption: the goal of the program has to prove that
    it is not reached. That its hypotheses do not contradict each other is for the smoke and the
    witnesses to tell. Why3 leaves the obligation out behind what never goes on, as a `return`.
    """
    goals = {full_name(goal) for theory in facts["theories"] for goal in theory["goals"]}
    return [
        Failure(
            f"{assumed['file']}:{assumed['line']}",
            f"{assumed['module']}.{assumed['name']}",
            "claims by absurd that this is not reached, and there is no goal that proves it",
        )
        for audit in facts["audit"]
        for assumed in audit["assumed"]
        if assumed["kind"] == UNREACHED and f"{assumed['module']}.{assumed['name']}'vc" not in goals
    ]


def summary(facts: Facts) -> str:
    """Count what the standard library takes for granted."""
    library = facts["library"]
    kinds = Counter(granted["kind"] for granted in library)
    modules = len({granted["module"] for granted in library})
    elsewhere = sum(kinds[kind] for kind in PROVED_ELSEWHERE)
    declared = len(library) - elsewhere - kinds["axiom"]
    return (
        f"standard library: {kinds['axiom']} axioms, {declared} declarations of {modules} modules "
        f"taken for granted, {elsewhere} lemmas and contracts proved elsewhere "
        "(in build/gate/facts.json)"
    )
