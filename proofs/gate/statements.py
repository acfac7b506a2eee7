"""What is stated: the goals of the theories, and the definitions that have no goal.

A definition whose contract is to be proved is a goal; so is a program. What is left has nothing to
prove and a meaning all the same: a theorem may be weakened in the definitions that it uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch

import judge
import witnesses
from facts import Facts, Goal, Symbol, Theory, full_name
from failures import Failure

# The name of the goal of a program or a definition ends so.
CORRECTNESS = "'vc"


@dataclass(frozen=True)
class Subject:
    """Something that says something, and what it says."""

    theory: str
    name: str
    place: str
    statement: str
    is_goal: bool


def of_goal(theory: Theory, goal: Goal) -> Subject:
    """Make a subject of a goal."""
    where = judge.place(goal["tree"], theory["file"])
    return Subject(theory["file"], full_name(goal), where, goal["statement"], is_goal=True)


def of_symbol(symbol: Symbol) -> Subject:
    """Make a subject of a symbol without a goal."""
    where = f"{symbol['file']}:{symbol['line']}" if symbol["line"] else symbol["file"]
    name = f"{symbol['module']}.{symbol['name']}"
    return Subject(symbol["file"], name, where, symbol["statement"], is_goal=False)


def subjects(facts: Facts) -> dict[str, list[Subject]]:
    """Give the subjects of each theory that can be read: goals, then what has none."""
    found = {
        theory["file"]: [of_goal(theory, goal) for goal in theory["goals"]]
        for theory in facts["theories"]
        if not theory["errors"]
    }
    goals = {(theory, subject.name) for theory, listed in found.items() for subject in listed}
    for symbol in facts["symbols"]:
        subject = of_symbol(symbol)
        names = {subject.name, subject.name + CORRECTNESS}
        if symbol["file"] in found and not any((symbol["file"], name) in goals for name in names):
            found[symbol["file"]].append(subject)
    return found


def first_line(statement: str) -> str:
    """Give enough of a statement to recognise it."""
    line, more, _ = statement.partition("\n")
    return f"{line} ..." if more else line


def fault(theory: str, goal: Goal) -> str:
    """Say in what way a goal says nothing; empty if it says something."""
    if not goal["statement"]:
        return "has no statement: the audit does not find it in the theory"
    if not goal["says_nothing"]:
        return ""
    if goal["kind"] in ("lemma", "goal"):
        return (
            f"says nothing: it is true whatever its symbols mean ({first_line(goal['statement'])})"
        )
    if "\n  ensures {" in goal["statement"] or "\n  returns {" in goal["statement"]:
        return "says nothing: what it ensures is true whatever its symbols mean"
    # A witness calls what requires something, and asserts.
    return "" if fnmatch(theory, witnesses.FILES) else "says nothing: it ensures nothing"


def check(facts: Facts) -> list[Failure]:
    """Find goals that say nothing."""
    return [
        Failure(judge.place(goal["tree"], theory["file"]), full_name(goal), what)
        for theory in facts["theories"]
        for goal in theory["goals"]
        if (what := fault(theory["file"], goal))
    ]
