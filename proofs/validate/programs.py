"""The programs of the kernel: the arguments that each is run on, and what its contract says of it.

The arguments come from the types in WhyML. The length of a sequence is known, up to a bound, and
its integers are unknown. A program that moves elements is run on known sizes and unknown elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import count, product
from types import ModuleType
from typing import Any

from validate import conditions, formulas
from validate.kernel import Element
from validate.logic import is_number

Arguments = tuple[Any, ...]


class AnyInteger:
    """Stands for an integer that is not known."""

    def __repr__(self) -> str:
        return "?"


ANY = AnyInteger()

# Shapes in a list; the largest rank with the largest size, where elements are moved, and where they
# are of several tensors, of which there are two.
NUMBER, MOVED, OF_SEVERAL = 3, ((3, 2), (2, 3)), ((2, 2),)

# Their rank is unknown. The rank of another program decides how often its loop turns: it is known.
OF_ANY_RANK = ("check_axes", "check_distinct")


# What these call is answered by its contract, which is proved in the same run: so paths are few.
BY_CONTRACT = {
    "broadcast_shapes": "first_violation",
    "broadcast_views": "first_violation",
    "numpy_broadcast_shapes": "first_mismatch",
}


@dataclass(frozen=True)
class Scope:
    """How large arguments are: a sequence, a list of them, data; and the integers in them."""

    rank: int
    number: int
    length: int
    integers: tuple[Any, ...] = (ANY,)


Forms = Callable[[Scope], list[Any]]


def is_integer(scope: Scope) -> list[Any]:
    """Give any integer, or each that is small."""
    return list(scope.integers)


def is_anything(_: Scope) -> list[Any]:
    """Give an element of a tensor, of which nothing is known."""
    return [Element]


def is_sequence(element: Forms, made: type = tuple) -> Forms:
    """Give the sequences of elements: a shape, data, or several of these."""

    def found(scope: Scope) -> list[Any]:
        largest = scope.rank if element is is_integer else scope.number
        if element is is_anything:
            largest = scope.length
        inside = element(scope)
        return [made(each) for n in range(largest + 1) for each in product(inside, repeat=n)]

    return found


def is_list(element: Forms) -> Forms:
    """Give the lists of elements."""
    return is_sequence(element, list)


def is_one_of(*cases: Forms) -> Forms:
    """Give the values of several kinds."""
    return lambda scope: [value for case in cases for value in case(scope)]


def is_made(made: type, *fields: Forms) -> Forms:
    """Give the values of a class with such fields."""
    return lambda scope: [made(*given) for given in product(*(each(scope) for each in fields))]


def is_tuple(*components: Forms) -> Forms:
    """Give the tuples of just these components."""
    return lambda scope: list(product(*(each(scope) for each in components)))


def is_nothing(_: Scope) -> list[Any]:
    """Give nothing."""
    return [None]


TYPES: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(is_integer, is_anything, is_nothing, is_sequence, is_list, is_tuple, is_one_of),
        is_made,
    )
}


@dataclass(frozen=True)
class Condition:
    """A conjunct of a contract: of the arguments, and of what a call comes to."""

    kind: str
    exception: str | None
    text: str
    formula: Callable[..., Any]


@dataclass(frozen=True)
class Program:
    """A program, with its parameters, the forms of their types, and the conditions of its contract.

    `ends` tells whether the value is of the type that it has to be, and that of each exception.
    """

    name: str
    parameters: tuple[str, ...]
    types: tuple[Forms, ...]
    result: Forms
    ends: Mapping[str, conditions.Check]
    moves: bool
    several: bool
    conditions: tuple[Condition, ...]

    def scopes(self, bound: int) -> list[Scope]:
        """Say how large arguments are, for ranks up to a bound."""
        if not self.moves:
            return [Scope(bound, NUMBER, 0)]
        most = {(min(bound, r), min(bound, s)) for r, s in (OF_SEVERAL if self.several else MOVED)}
        # Only where there are several are negative sizes not excluded.
        least = -1 if self.several else 0
        return [Scope(r, 2, s**r + 1, tuple(range(least, s + 1))) for r, s in sorted(most)]

    def forms(self, bound: int) -> Iterator[Arguments]:
        """Give the forms of arguments up to a rank."""

        def of(parameter: str, forms: Forms, scope: Scope) -> Sequence[Any]:
            if parameter == "rank" and self.name not in OF_ANY_RANK:
                return range(-1, bound + 3)
            return forms(scope)

        for scope in self.scopes(bound):
            pairs = zip(self.parameters, self.types, strict=True)
            for arguments in product(*(of(*each, scope) for each in pairs)):
                numbers = count()
                yield tuple(told_apart(each, numbers) for each in arguments)

    def about(self, bound: int) -> str:
        """Say in words how large arguments are."""

        def words(scope: Scope) -> str:
            sizes = f", sizes {scope.integers[0]} to {scope.integers[-1]}" if self.moves else ""
            return f"rank up to {scope.rank}{sizes}"

        return "; ".join(map(words, self.scopes(bound)))

    def of_kind(self, kind: str, exception: str | None = None) -> list[Condition]:
        """Give the conditions of one kind."""
        return [c for c in self.conditions if (c.kind, c.exception) == (kind, exception)]


def is_made_of(made: type, *checks: conditions.Check) -> conditions.Check:
    """Give what tells whether a value is one of a class, which may have been loaded again."""

    def check(value: Any) -> bool:
        if type(value).__name__ != made.__name__:
            return False
        parts = [getattr(value, field.name) for field in fields(value)]
        return all(check(part) for check, part in zip(checks, parts, strict=True))

    return check


def told_apart(value: Any, numbers: Iterator[int]) -> Any:
    """Make each element another one."""
    if value is Element:
        return Element(f"x{next(numbers)}")
    if type(value) in (tuple, list):
        return type(value)(told_apart(each, numbers) for each in value)
    return value


def programs(facts: Mapping[str, Any], kernel: ModuleType) -> list[Program]:
    """Make the programs of what whycontract says of their contracts."""
    names: dict[str, Any] = {**formulas.NAMES, "kernel": kernel}
    formulas.compiled(facts["definitions"], "exec", names)

    def condition(found: Mapping[str, Any]) -> Condition:
        formula = formulas.compiled(found["python"], "eval", names)
        return Condition(found["kind"], found["exception"], found["text"], formula)

    def forms(text: str) -> Forms:
        found: Forms = eval(text, {**TYPES, "kernel": kernel})
        return found

    def check(text: str) -> conditions.Check:
        of_terms = {"is_integer": is_number, "is_made": is_made_of}
        found: conditions.Check = eval(text, {**vars(conditions), **of_terms, "kernel": kernel})
        return found

    def program(found: Mapping[str, Any]) -> Program:
        text = " ".join(found["argument_types"])
        ends = {"": found["result_type"], **found["exceptions"]}
        return Program(
            found["name"].rpartition(".")[2],
            tuple(found["arguments"]),
            tuple(map(forms, found["argument_types"])),
            forms(found["result_type"]),
            {name: check(type_) for name, type_ in ends.items()},
            "is_anything" in text,
            "is_sequence(is_sequence(" in text,
            tuple(map(condition, found["conditions"])),
        )

    return [program(found) for found in facts["programs"]]
