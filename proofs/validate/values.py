"""Unknown integers: what Python does with them becomes a term of Z3, and an `if` a decision.

Nothing is guessed: an operation that is not here raises, in Python or by `Unknown`, and no program
of the kernel may raise that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any, NoReturn

import z3

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "==": operator.eq,
    "<": operator.lt,
}


class Unknown(BaseException):
    """The validation cannot go on: what it met it does not know, or Z3 gave no answer.

    It is no Exception, so that no program catches it. `model` has an input that leads there, if Z3
    has just found one.
    """

    def __init__(self, what: str, model: Any = None) -> None:
        super().__init__(what)
        self.model = model


class Term:
    """What stands for a value; made by a table, so that equal terms are one object."""

    __slots__ = ("table", "z3")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, table: Table, term: Any) -> None:
        self.table, self.z3 = table, term


class Comparison(Term):
    """A truth value that is not known before somebody decides."""

    __slots__ = ()
    __hash__ = None

    def being(self, answer: bool) -> Any:
        """Say that it is true, or that it is false."""
        return self.z3 if answer else z3.Not(self.z3)

    def __bool__(self) -> bool:
        found: bool = self.table.decider.decide(self)
        return found

    def __eq__(self, _: object) -> NoReturn:
        raise Unknown("a truth value is compared")


def operation(name: str, *, turned: bool = False) -> Callable[[Number, object], Any]:
    """Make a method of numbers: what Python asks of two, of which the other may stand first."""

    def operate(self: Number, other: object) -> Any:
        return self.table.apply(name, *((other, self) if turned else (self, other)))

    return operate


def comparison(
    name: str, *, turned: bool = False, negated: bool = False
) -> Callable[[Number, object], Any]:
    """Make a method of numbers that compares two; what is negated is decided."""

    def compare(self: Number, other: object) -> Any:
        found = self.table.compare(name, *((other, self) if turned else (self, other)))
        return not found if negated else found

    return compare


class Number(Term):
    """An integer that is not known."""

    __slots__ = ()
    __hash__ = None
    __add__, __radd__ = operation("+"), operation("+", turned=True)
    __sub__, __rsub__ = operation("-"), operation("-", turned=True)
    __mul__, __rmul__ = operation("*"), operation("*", turned=True)
    # Of the six comparisons two are terms, so that what is known of one is known of all.
    __eq__, __ne__ = comparison("=="), comparison("==", negated=True)
    __lt__, __ge__ = comparison("<"), comparison("<", negated=True)
    __gt__, __le__ = comparison("<", turned=True), comparison("<", turned=True, negated=True)

    def __neg__(self) -> Any:
        return self.table.apply("-", 0, self)

    def __index__(self) -> int:
        found: int = self.table.decider.value_of(self)
        return found

    def __bool__(self) -> NoReturn:
        raise Unknown("a number is taken for a truth value")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise Unknown("the class of a number is asked for")


class Table:
    """The terms of one exploration, each once.

    The decider says, on the path that is followed, which way a comparison goes, and what a number
    is where Python needs its value: `decide`, `value_of`.
    """

    def __init__(self, decider: Any) -> None:
        self.decider = decider
        self.terms: dict[tuple[Any, ...], Any] = {}

    def known(self, term: Any) -> Any:
        """Take a term of Z3 for a number or a truth value; what is none stays as it is."""
        if not isinstance(term, z3.ExprRef):
            return term
        kind = Comparison if isinstance(term, z3.BoolRef) else Number
        return self.terms.setdefault(("z3", term.get_id()), kind(self, term))

    def apply(self, name: str, one: object, other: object) -> Any:
        """Make the term of an operation; lists and tuples are repeated by Python itself."""
        if any(type(operand) in (list, tuple) for operand in (one, other)):
            return NotImplemented
        return self.compare(name, one, other)

    def compare(self, name: str, one: object, other: object) -> Any:
        """Make the term of a comparison, or another one, of two numbers."""
        left, right = self.key(one), self.key(other)
        key = (name, *(sorted((left, right)) if name == "==" else (left, right)))
        if key not in self.terms:
            terms = (each.z3 if type(each) is Number else each for each in (one, other))
            self.terms[key] = self.known(OPERATIONS[name](*terms))
        return self.terms[key]

    def key(self, operand: object) -> int:
        """Tell operands apart: an int by itself, a term by its object, which the table keeps."""
        if type(operand) is int:
            return operand * 2
        if type(operand) is Number and operand.table is self:
            return id(operand) * 2 + 1
        raise Unknown(f"a number meets {type(operand).__name__}")


def mapped(
    value: Any, leaf: Callable[[Any, str], Any], name: str = "", module: ModuleType | None = None
) -> Any:
    """Give a value with something else for whatever stands in its tuples, lists and classes.

    `leaf` is asked with the name of the place. The classes are those of a module, if one is given.
    """
    kind = type(value)
    if kind in (tuple, list):
        return kind(mapped(part, leaf, f"{name}[{k}]", module) for k, part in enumerate(value))
    if is_dataclass(kind):
        made = getattr(module, kind.__name__) if module else kind
        names = [field.name for field in fields(kind)]
        return made(*(mapped(getattr(value, n), leaf, f"{name}.{n}", module) for n in names))
    return leaf(value, name)
