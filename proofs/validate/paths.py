"""Every path of a program: it is run again for each, along decisions that are known already.

A decision is a comparison that Python asks the truth of. Where Z3 finds both answers possible, on
the path so far, both are followed; where it refutes one, the other is taken. No other answer of Z3
is accepted. `left_out` asks Z3 once more whether the paths together are all there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import z3

from validate.formulas import formula
from validate.values import Comparison, Number, Table, Unknown

Result = TypeVar("Result")

# The conditions that were decided freely on a path that was followed to its end.
Path = list[z3.BoolRef]

# What a number may be where Python needs its value; how many decisions a path may have; how many
# seconds Z3 has for an answer, which takes thousandths of one, and some tens where it is asked
# whether ten thousand paths are all there is.
VALUES: tuple[int, ...] = (*range(32), *range(-1, -9, -1))
DECISIONS = 2000
SECONDS = 600


@dataclass
class Decision:
    """A comparison, the answer that is followed, and what is known of the other answer.

    It is open if the other one is possible and not yet followed.
    It is forced if the other one is not possible: its condition follows from those before it.
    """

    truth: Comparison
    answer: bool
    open: bool
    forced: bool


class Explorer:
    """Follows all paths of a program on the inputs that meet a condition."""

    def __init__(self, requires: Any) -> None:
        self.table = Table(self)
        self.solver = new_solver()
        self.requires = formula(requires)
        self.solver.add(self.requires)
        self.decisions: list[Decision] = []
        self.position = 0
        self.known: dict[int, bool] = {}
        self.last_model: Any = None

    def paths(self, run: Callable[[], Result]) -> Iterator[tuple[Path, Result]]:
        """Give the result of each path; the solver's assertions are the path's conditions then."""
        if not self.possible(self.requires):
            return
        while True:
            self.position, self.known = 0, {}
            result = run()
            if self.position != len(self.decisions):
                raise Unknown("a program that is run again decides something else")
            yield self.path(), result
            if not self.turn():
                return

    def turn(self) -> bool:
        """Go back to the last decision whose other answer is still to be followed."""
        while self.decisions:
            last = self.decisions.pop()
            if not last.forced:
                self.solver.pop()
            if last.open:
                self.follow(Decision(last.truth, not last.answer, False, False))
                return True
        return False

    def path(self) -> Path:
        """Give the path that is followed, as far as it has come."""
        return [each.truth.being(each.answer) for each in self.decisions if not each.forced]

    def at_the_end(self) -> bool:
        """Tell whether all that is known of the path so far has been decided."""
        return self.position == len(self.decisions)

    def follow(self, decision: Decision) -> None:
        """Take an answer for granted from here on."""
        self.decisions.append(decision)
        if not decision.forced:
            self.solver.push()
            self.solver.add(decision.truth.being(decision.answer))

    def decide(self, truth: Comparison) -> bool:
        """Choose, and remember whether the other answer is possible."""
        found = self.known.get(id(truth))
        if found is None:
            if self.position == len(self.decisions):
                self.follow(self.new_decision(truth))
            decision = self.decisions[self.position]
            if decision.truth is not truth:
                raise Unknown("a program that is run again decides something else")
            self.position += 1
            found = self.known[id(truth)] = decision.answer
        return found

    def new_decision(self, truth: Comparison) -> Decision:
        """Ask which answers are possible."""
        if len(self.decisions) >= DECISIONS:
            raise Unknown(f"a path has more than {DECISIONS} decisions")
        answer = self.possible(truth.being(True))
        both = answer and self.possible(truth.being(False))
        return Decision(truth, answer, both, not both)

    def value_of(self, number: Number) -> int:
        """Choose a value, of the few that are possible on this path: sizes, indices, axes."""
        for value in VALUES:
            if self.table.compare("==", number, value):
                return value
        raise Unknown("a number that Python needs the value of can be any")

    def any_model(self) -> Any:
        """Give some input that takes the path as far as it has come, if Z3 has one."""
        return self.solver.model() if self.solver.check() == z3.sat else None

    def possible(self, condition: z3.BoolRef) -> bool:
        """Ask whether a condition can hold on this path."""
        self.solver.push()
        self.solver.add(condition)
        self.last_model = model(self.solver)
        self.solver.pop()
        return self.last_model is not None


def new_solver() -> z3.Solver:
    """Make a solver that gives up on nothing but time."""
    solver = z3.SimpleSolver()
    solver.set("timeout", SECONDS * 1000)
    return solver


def model(solver: z3.Solver) -> Any:
    """Ask for numbers that meet all that a solver was told; None if there are none."""
    answer = solver.check()
    if answer == z3.unknown:
        raise Unknown(f"Z3 has no answer: {solver.reason_unknown()}")
    return solver.model() if answer == z3.sat else None


def left_out(requires: z3.BoolRef, paths: list[Path]) -> Any:
    """Ask for an input that meets the condition and takes none of the paths."""
    solver = new_solver()
    solver.add(requires, *(z3.Not(z3.And(*path)) for path in paths))
    return model(solver)
