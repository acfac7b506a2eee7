"""Whatever asks for something has a witness that gives it.

A program is of use, and a theorem says something, only if its `requires` or hypotheses can be
satisfied. The programs of why3/witness_*.mlw satisfy them with concrete values, as goals;
witness.ml finds which of them satisfies what.
"""

from __future__ import annotations

from collections import Counter

from facts import Asking, Facts
from failures import Failure

FILES = "why3/witness_*.mlw"


def place(file: str | None, line: int | None) -> str:
    """Say where something stands."""
    return f"{file}:{line}"


def what_lacks(asking: Asking) -> str:
    """Say what is asked for in vain, and what would be a witness."""
    if asking["kind"] in ("lemma", "goal"):
        return f"has hypotheses that no witness satisfies: none of {FILES} asserts them"
    return f"has requires that no witness satisfies: no program of {FILES} calls it"


def check(facts: Facts) -> list[Failure]:
    """Find what no witness satisfies, and witnesses that show nothing."""
    lacking = [
        Failure(
            place(asking["file"], asking["line"]),
            f"{asking['module']}.{asking['name']}",
            what_lacks(asking),
        )
        for asking in facts["hypotheses"]
        if not asking["witnesses"]
    ]
    faulty = [
        Failure(
            place(fault["file"], fault["line"]),
            f"{fault['module']}.{fault['name']}",
            f"is no witness: it {fault['what']}; "
            "a witness takes nothing and does one thing after the other",
        )
        for fault in facts["witness_faults"]
    ]
    return lacking + faulty


def summary(facts: Facts) -> str:
    """Count what asks for something, and what is given."""
    askings = facts["hypotheses"]
    kinds = Counter("formulas" if a["kind"] in ("lemma", "goal") else "programs" for a in askings)
    given = sum(bool(asking["witnesses"]) for asking in askings)
    programs = {witness for asking in askings for witness in asking["witnesses"]}
    return (
        f"requires and hypotheses: {kinds['programs']} programs and {kinds['formulas']} lemmas "
        f"have some, {given} have a witness that satisfies them ({len(programs)} witnesses)"
    )
