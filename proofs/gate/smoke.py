"""Judge the smoke: no goal may hold for want of a case to which it applies (see smoke.ml)."""

from __future__ import annotations

from facts import Facts, Goal, Smoke, Theory, full_name
from failures import Failure

# What a prover may say to something that it is not to prove.
GIVES_UP = ("Unknown", "Timeout", "Step limit exceeded", "Out of memory", "Invalid")


def check(facts: Facts, share: str | None) -> list[Failure]:
    """Give the goals and theories that are contradictory, and those that nobody was asked about."""
    readable = [theory for theory in facts["theories"] if not theory["errors"]]
    failures = []
    if share in (None, "quickest"):
        failures += [
            fault for theory in readable for goal in theory["goals"] for fault in of(theory, goal)
        ]
    if share != "quickest":
        failures += [fault for theory in readable for fault in context_faults(theory)]
    return failures


def of(theory: Theory, goal: Goal) -> list[Failure]:
    """Judge what was said to a goal with its conclusion negated."""
    tree = goal["tree"]
    place = f"{tree['file'] or theory['file']}:{tree['line']}" if tree["line"] else theory["file"]
    found = goal["smoke"]
    if found is None:
        what = "smoke: no prover was asked for its negation" if goal["hypotheses"] else ""
    elif found["answer"] == "Valid":
        what = (
            f"smoke: {found['prover']} proves its negation as well: "
            "its hypotheses contradict each other"
        )
    else:
        what = trouble(found)
    return [Failure(place, full_name(goal), what)] if what else []


def context_faults(theory: Theory) -> list[Failure]:
    """Judge what was said to a contradiction from all that a theory uses, defines and proves."""
    whats = ["" if theory["smoke"] else "smoke: no prover was asked for a contradiction"]
    for found in theory["smoke"]:
        if found["answer"] == "Valid":
            whats.append(
                f"smoke: {found['prover']} proves false "
                "from what the theory uses, defines and proves"
            )
        else:
            whats.append(trouble(found))
    return [Failure(theory["file"], "", what) for what in whats if what]


def trouble(found: Smoke) -> str:
    """Say that a prover did not work; nothing if it did."""
    if found["answer"].startswith(GIVES_UP):
        return ""
    return f"smoke: {found['prover']} does not work on its negation: {found['answer']}"
