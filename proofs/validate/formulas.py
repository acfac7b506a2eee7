"""Contracts of unknown integers: a condition becomes a formula of Z3, once for all values.

The terms are those of terms.py. What is known is computed. A condition that is not known leads
to both values: two numbers become one term, other values a `Choice`, of which each operation takes
all cases. What has no value (an element beyond the last) is `NOTHING`. What is computed from it can
be anything, so that no condition that depends on it is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from typing import Any, TypeAlias

import z3

from gate import terms as theories
from gate.terms import (
    ARITHMETIC,
    ELEMENTS,
    OF_THE_KNOWN,
    Record,
    Theories,
    UndecidedError,
    UndefinedError,
)
from validate.kernel import Element
from validate.values import Unknown

# A bool or a formula of Z3.
Truth: TypeAlias = Any


def conjunction(parts: Iterable[Truth]) -> Truth:
    """Say that all of the formulas hold."""
    found = [part for part in parts if part is not True]
    if any(part is False for part in found):
        return False
    return z3.And(*found) if len(found) > 1 else found[0] if found else True


def opposite(part: Truth) -> Truth:
    """Turn a formula round."""
    return not part if isinstance(part, bool) else z3.Not(part)


def disjunction(parts: Iterable[Truth]) -> Truth:
    """Say that one of the formulas holds at least."""
    found = [part for part in parts if part is not False]
    if any(part is True for part in found):
        return True
    return z3.Or(*found) if len(found) > 1 else found[0] if found else False


def formula(part: Truth) -> z3.BoolRef:
    """Give a formula to Z3."""
    return z3.BoolVal(part) if isinstance(part, bool) else part


@dataclass(frozen=True)
class Choice:
    """One of several values: that whose condition holds, which is one of them always."""

    cases: tuple[tuple[Any, Any], ...]


class Nothing:
    """What a formula speaks of where there is nothing."""


NOTHING = Nothing()


def is_truth(value: Any) -> bool:
    """Tell a truth value, known or not."""
    return isinstance(value, (bool, z3.BoolRef))


def number(value: Any) -> Any:
    """Take a value for a number: nothing is any number."""
    return z3.FreshInt() if value is NOTHING else value


def truth(value: Any) -> Any:
    """Take a value for a truth value: nothing is any."""
    return z3.FreshBool() if value is NOTHING else value


def identity(value: Any) -> Any:
    """Tell values apart: a term of Z3 is the same as what looks the same."""
    if isinstance(value, z3.ExprRef):
        return ("z3", value.get_id())
    if isinstance(value, Choice):
        return (Choice, *((identity(c), identity(v)) for c, v in value.cases))
    if isinstance(value, (int, str)):
        return (type(value), value)
    if isinstance(value, (tuple, list, Record)) or is_dataclass(value):
        return (type(value).__name__, *map(identity, theories.parts(value)))
    return ("object", id(value))


def one_of(cases: Iterable[tuple[Any, Any]]) -> Any:
    """Join values under conditions: those that are the same are one, and so are all numbers."""
    joined: dict[Any, tuple[list[Any], Any]] = {}
    for condition, value in cases:
        of_value = value.cases if isinstance(value, Choice) else ((True, value),)
        for inner, each in of_value:
            both = conjunction([condition, inner])
            if both is not False:
                joined.setdefault(identity(each), ([], each))[0].append(both)
    found = [(disjunction(conditions), value) for conditions, value in joined.values()]
    if len(found) == 1:
        return found[0][1]
    values = [value for _, value in found]
    if any(map(is_truth, values)):
        return disjunction(conjunction([condition, truth(value)]) for condition, value in found)
    if any(isinstance(value, z3.ArithRef) for value in values):
        result = number(values[-1])
        for condition, value in found[-2::-1]:
            result = z3.If(condition, number(value), result)
        return result
    return Choice(tuple(found))


def of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operation take the cases of what it is given one by one."""

    def spread(*given: Any) -> Any:
        for place, value in enumerate(given):
            if isinstance(value, Choice):
                return one_of(
                    (condition, spread(*given[:place], each, *given[place + 1 :]))
                    for condition, each in value.cases
                )
        return function(*given)

    return spread


def of_something(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operation give nothing where it has no value."""

    def given_something(*given: Any) -> Any:
        if any(value is NOTHING for value in given):
            return NOTHING
        try:
            return function(*given)
        except UndefinedError:
            return NOTHING

    return of_each(given_something)


def of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operation take numbers only."""
    return of_each(lambda *given: function(*map(number, given)))


def of_known(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let an operation take no number that is not known."""

    def computed(*given: Any) -> Any:
        if any(isinstance(value, z3.ArithRef) for value in given):
            raise Unknown("a contract asks for something of any numbers")
        return function(*given)

    return of_something(computed)


class Formulas(Theories):
    """The theories, of values that may not be known."""

    def __init__(self, definitions: Mapping[str, Any], classes: Callable[[str], Any]) -> None:
        super().__init__(definitions, classes)
        for names, lifted in (
            (ARITHMETIC, of_numbers),
            (OF_THE_KNOWN, of_known),
            ((*ELEMENTS, "int.MinMax.max", "int.MinMax.min"), of_something),
        ):
            self.functions |= {name: lifted(self.functions[name]) for name in names}
        for name, function in ELEMENTS.items():
            if function is theories.at:
                self.functions[name] = of_something(self.at)
        self.functions |= {"=": of_each(self.equal), "seq.Seq.set": of_something(self.put)}

    def choose(self, condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """Give one of two values, or both."""
        if isinstance(condition, bool):
            return then() if condition else otherwise()
        condition = truth(condition)
        return one_of([(condition, then()), (opposite(condition), otherwise())])

    def junction(self, all_of: bool, *parts: Callable[[], Any]) -> Any:
        """Say that all hold, or one: what comes behind a part that decides is not asked."""
        found: list[Any] = []
        for part in parts:
            found.append(truth(part()))
            if found[-1] is not all_of and isinstance(found[-1], bool):
                return not all_of
        return conjunction(found) if all_of else disjunction(found)

    def negation(self, value: Any) -> Any:
        """Say that something does not hold."""
        return opposite(truth(value))

    def is_plain(self, value: Any) -> bool:
        """Tell a number or truth value, known or not."""
        return super().is_plain(value) or isinstance(value, z3.ExprRef)

    def equal(self, a: Any, b: Any) -> Any:
        """Say that two values are the same."""
        if a is NOTHING or b is NOTHING:
            return z3.FreshBool()
        return super().equal(a, b)

    def at(self, elements: Any, i: Any) -> Any:
        """Give an element; the number of an axis may be unknown."""
        if isinstance(i, int):
            return theories.at(elements, i)
        beyond = disjunction([i < 0, i >= len(elements)])
        return one_of([*((i == k, each) for k, each in enumerate(elements)), (beyond, NOTHING)])

    def put(self, elements: Any, i: Any, value: Any) -> Any:
        """Give the sequence with another element at one place."""
        if isinstance(i, int):
            return theories.put(elements, i, value)
        inside = conjunction([i >= 0, i < len(elements)])
        places = enumerate(elements)
        changed = tuple(one_of([(i == k, value), (i != k, each)]) for k, each in places)
        return one_of([(inside, changed), (opposite(inside), NOTHING)])

    def apply(self, function: Any, *given: Any) -> Any:
        """Call a function, or each of several."""
        if isinstance(function, Choice):
            return one_of((condition, self.apply(f, *given)) for condition, f in function.cases)
        return NOTHING if function is NOTHING else function(*given)

    def field(self, value: Any, name: str) -> Any:
        """Give a field."""
        return of_something(super().field)(value, name)

    def let(self, value: Any, body: Callable[[Any], Any]) -> Any:
        """Go on with a value, or with each of several: the cases of a match see one."""
        return of_each(body)(value)

    def quantified(self, all_of: bool, holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
        """Say that something holds of all integers between bounds, or of one of them."""
        try:
            return of_each(partial(super().quantified, all_of, holds))(low, high)
        except UndecidedError as error:
            raise Unknown("a contract speaks of any number of places") from error

    def parts(self, value: Any, count: int) -> tuple[Any, ...]:
        """Give what a constructor was given."""
        return (NOTHING,) * count if value is NOTHING else super().parts(value, count)

    def is_a(self, value: Any, constructor: str) -> Any:
        """Say that a constructor made a value."""
        return z3.FreshBool() if value is NOTHING else super().is_a(value, constructor)

    def without(self, reason: str) -> Any:
        """Stand for what has no value."""
        return NOTHING

    def defined(self, needs: Sequence[Callable[..., Any]], value: Callable[..., Any]) -> Any:
        """Keep what a function of the theories has given, with what it was given."""
        function = super().defined(needs, value)
        kept: dict[Any, tuple[Any, Any]] = {}

        def once(*given: Any) -> Any:
            if any(callable(value) and not isinstance(value, Element) for value in given):
                return function(*given)
            key = identity(given)
            if key not in kept:
                kept[key] = (given, function(*given))
            return kept[key][1]

        return once
