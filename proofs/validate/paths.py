"""Run a program on unknown integers, once for each of its paths.

Operations on an unknown integer become terms of Z3, comparisons become decisions. The explorer
follows each answer that Z3 finds possible on the path so far. A missing answer of Z3, or any other
operation, raises an exception of Python or `Unknown`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import z3

Result = TypeVar("Result")

# The conditions of a whole path, without forced decisions.
Path = list[z3.BoolRef]

# VALUES: tried if Python needs a number. DECISIONS: the most on one path. SECONDS: Z3's limit.
VALUES: tuple[int, ...] = (*range(32), *range(-1, -9, -1))
DECISIONS = 2000
SECONDS = 600


class Unknown(BaseException):
    """The validation met an unknown construct, or Z3 had no answer; no program catches this."""


def operation(apply: Callable[[Any, Any], Any]) -> Callable[[Number, object], Any]:
    """Make a method of Number from a function of two operands."""

    def operate(self: Number, other: object) -> Any:
        if type(other) in (list, tuple):
            return NotImplemented  # Python then repeats the list or tuple.
        return Number(self.explorer, apply(self.z3, self.term(other)))

    return operate


def comparison(apply: Callable[[Any, Any], Any], answer: bool) -> Callable[[Number, object], bool]:
    """Make a method of Number from a comparison, or from its opposite."""

    def compare(self: Number, other: object) -> bool:
        return self.explorer.decide(apply(self.z3, self.term(other))) is answer

    return compare


class Number:
    """An unknown integer."""

    __slots__ = ("explorer", "z3")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, explorer: Explorer, term: Any) -> None:
        self.explorer, self.z3 = explorer, term

    def term(self, other: object) -> Any:
        """Return the other operand's term."""
        if type(other) is int:
            return z3.IntVal(other)
        if type(other) is Number and other.explorer is self.explorer:
            return other.z3
        raise Unknown(f"a number meets {type(other).__name__}")

    __add__, __sub__, __mul__ = map(operation, (operator.add, operator.sub, operator.mul))
    __radd__, __rmul__ = __add__, __mul__
    __rsub__ = operation(lambda one, other: other - one)
    # `==` and `<` decide all six comparisons.
    __eq__ = comparison(operator.eq, True)
    __ne__ = comparison(operator.eq, False)
    __lt__, __ge__ = comparison(operator.lt, True), comparison(operator.lt, False)
    __gt__ = comparison(lambda one, other: other < one, True)
    __le__ = comparison(lambda one, other: other < one, False)

    def __neg__(self) -> Number:
        return Number(self.explorer, -self.z3)

    def __index__(self) -> int:
        for value in VALUES:
            if self == value:
                return value
        raise Unknown("Python needs the value of a number that can be any")

    def __bool__(self) -> NoReturn:
        raise Unknown("a number is taken for a truth value")


@dataclass
class Decision:
    """A comparison and its answer on the present path.

    `open`: the other answer is possible and still to follow. `forced`: it is impossible.
    """

    truth: z3.BoolRef
    answer: bool
    open: bool
    forced: bool

    def condition(self) -> z3.BoolRef:
        """Return the condition of the answer."""
        return self.truth if self.answer else z3.Not(self.truth)


class Explorer:
    """Follows all paths of a program."""

    def __init__(self) -> None:
        self.solver = z3.SimpleSolver()
        self.solver.set("timeout", SECONDS * 1000)
        self.decisions: list[Decision] = []
        self.position = 0
        self.known: dict[int, bool] = {}

    def paths(self, run: Callable[[], Result]) -> Iterator[tuple[Path, Result]]:
        """Yield each path and its result, while the solver asserts the path's conditions."""
        while True:
            self.position, self.known = 0, {}
            result = run()
            if self.position != len(self.decisions):
                raise Unknown("a program that is run again decides something else")
            yield self.path(), result
            if not self.turn():
                return

    def turn(self) -> bool:
        """Follow the other answer of the last open decision, if any."""
        while self.decisions:
            last = self.decisions.pop()
            if not last.forced:
                self.solver.pop()
            if last.open:
                self.follow(Decision(last.truth, not last.answer, False, False))
                return True
        return False

    def path(self) -> Path:
        """Return the present path."""
        return [each.condition() for each in self.decisions if not each.forced]

    def follow(self, decision: Decision) -> None:
        """Add a decision to the present path."""
        self.decisions.append(decision)
        if not decision.forced:
            self.solver.push()
            self.solver.add(decision.condition())

    def decide(self, truth: z3.BoolRef) -> bool:
        """Choose an answer, and note whether the other one is possible."""
        key = truth.get_id()
        if key not in self.known:
            if self.position == len(self.decisions):
                if len(self.decisions) >= DECISIONS:
                    raise Unknown(f"a path has more than {DECISIONS} decisions")
                answer = possible(self.solver, truth)
                both = answer and possible(self.solver, z3.Not(truth))
                self.follow(Decision(truth, answer, both, not both))
            decision = self.decisions[self.position]
            if not decision.truth.eq(truth):
                raise Unknown("a program that is run again decides something else")
            self.position += 1
            self.known[key] = decision.answer
        return self.known[key]

    def model(self) -> Any:
        """Return an input that takes the present path."""
        return self.solver.model() if self.solver.check() == z3.sat else None


def possible(solver: z3.Solver, *conditions: z3.BoolRef) -> bool:
    """Ask whether conditions can hold with the solver's assertions."""
    answer = solver.check(*conditions)
    if answer == z3.unknown:
        raise Unknown(f"Z3 has no answer: {solver.reason_unknown()}")
    return bool(answer == z3.sat)


def left_out(paths: list[Path]) -> bool:
    """Ask whether some input takes none of the paths."""
    solver = z3.SimpleSolver()
    solver.set("timeout", SECONDS * 1000)
    return possible(solver, *(z3.Not(z3.And(*path)) for path in paths))
