"""What the conditions of a contract are made of, once they are Python: see validate/python.ml.

A formula speaks of sequences, integers and functions; what it asks for beyond its own contract has
no value, and asking for it is an error here: a condition is true, or false, or cannot be believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import product
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[Any], bool]


class UndefinedError(Exception):
    """A formula asks for something that has no value."""


class UndecidedError(Exception):
    """A formula asks something of all integers, and it is not seen what holds of the large ones."""


def unreachable() -> Any:
    """Stand where the cases of a match end."""
    raise UndefinedError("no case fits")


def required(condition: bool) -> None:
    """Refuse a call of a function that its `requires` excludes: it has no value there."""
    if not condition:
        raise UndefinedError("what a function of the theories requires does not hold")


# Integers and sequences


def div(a: int, b: int) -> int:
    """Divide as Euclid does: what remains is not negative."""
    if b == 0:
        raise UndefinedError("a division by 0")
    return a // b if b > 0 else -(a // -b)


def mod(a: int, b: int) -> int:
    """Give what remains of `div`."""
    return a - b * div(a, b)


def at(elements: Any, i: int) -> Any:
    """Give an element of a tuple or list."""
    if not 0 <= i < len(elements):
        raise UndefinedError(f"element {i} of {len(elements)}")
    return elements[i]


def create(length: int, element: Callable[[int], Any]) -> tuple[Any, ...]:
    """Make the sequence of the values of a function."""
    if length < 0:
        raise UndefinedError("a sequence of negative length")
    return tuple(element(k) for k in range(length))


def put(elements: tuple[Any, ...], i: int, value: Any) -> tuple[Any, ...]:
    """Give the sequence with another element at one place."""
    at(elements, i)
    return (*elements[:i], value, *elements[i + 1 :])


class Function:
    """A function on the integers that has the same value at all places but some."""

    def __init__(self, places: Mapping[int, Any], other: Any) -> None:
        self.places = dict(places)
        self.other = other

    def __call__(self, i: Any) -> Any:
        """Give the value at a place."""
        # What is beyond all integers that it was compared with has the value of most.
        return next((value for place, value in self.places.items() if i == place), self.other)

    def __eq__(self, other: object) -> bool:
        return callable(other) and every(lambda i: identical(self(i), other(i)), None, None)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.places} or {self.other}"


class Record:
    """A value with fields; those of a constructor that names none are counted."""

    def __init__(self, *items: Any, **fields: Any) -> None:
        vars(self).update({f"item{i}": item for i, item in enumerate(items)} | fields)

    def __eq__(self, other: object) -> bool:
        mine, others = vars(self), vars(other)
        return (
            type(self) is type(other)
            and mine.keys() == others.keys()
            and all(identical(mine[name], others[name]) for name in mine)
        )

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a value has no {name}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}{vars(self)}"


def changed(function: Function, i: int, value: Any) -> Function:
    """Give the function with another value at one place."""
    return Function({**function.places, i: value}, function.other)


def elements(array: list[Any]) -> Function:
    """Give what an array has at each place; nobody knows what it has beyond its length."""
    return Function(dict(enumerate(array)), None)


def replaced(array: list[Any], i: int, value: Any) -> list[Any]:
    """Give an array with another element at one place."""
    return list(put(tuple(array), i, value))


def quotient(a: int, b: int) -> int:
    """Divide as machines do: towards 0."""
    return div(a, b) if a >= 0 else -div(-a, b)


def identical(a: object, b: object) -> bool:
    """Compare what has elements of a type that the program does not know: they are moved, no more.

    NaN is what it is, and 1 is not 1.0.
    """
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, Function | Record):
        return a == b
    if is_dataclass(a):
        names = (field.name for field in fields(a))
        return all(identical(getattr(a, name), getattr(b, name)) for name in names)
    return type(a) is int and a == b


# Quantifiers


class Beyond:
    """An integer above, or below, all that it is compared with; it remembers those.

    Every integer on that side of all of them compares alike. A formula that only compares
    has thus one value for all of these. `shift` has been added to it.
    """

    def __init__(self, above: bool, met: list[int], shift: int = 0) -> None:
        self.above = above
        self.met = met
        self.shift = shift

    def meet(self, other: object) -> None:
        """Remember what the integer is compared with."""
        if type(other) is not int:
            raise UndecidedError
        self.met.append(other - self.shift)

    def __lt__(self, other: object) -> bool:
        self.meet(other)
        return not self.above

    def __gt__(self, other: object) -> bool:
        self.meet(other)
        return self.above

    __le__ = __lt__
    __ge__ = __gt__

    def __eq__(self, other: object) -> bool:
        self.meet(other)
        return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise UndecidedError

    def __add__(self, other: object) -> Beyond:
        if type(other) is not int:
            raise UndecidedError
        return Beyond(self.above, self.met, self.shift + other)

    def __sub__(self, other: object) -> Beyond:
        if type(other) is not int:
            raise UndecidedError
        return self + -other

    __radd__ = __add__

    def refuse(self, *_: object) -> Any:
        """Refuse to be anything but moved and compared."""
        raise UndecidedError

    __rsub__ = __mul__ = __rmul__ = __neg__ = refuse
    __floordiv__ = __rfloordiv__ = __index__ = __call__ = refuse


def every(holds: Callable[[Any], bool], low: int | None, high: int | None) -> bool:
    """Tell whether something holds of all integers from `low`, and below `high`, if they are given.

    What holds of an integer beyond all that it is compared with holds of each of these; the
    others are tried.
    """
    below: list[int] = []
    above: list[int] = []
    if low is None and not holds(Beyond(False, below)):
        return False
    if high is None and not holds(Beyond(True, above)):
        return False
    met = [*below, *above]
    if low is None:
        low = min(met, default=high if high is not None else 0)
    if high is None:
        high = max(met, default=low - 1) + 1
    return all(holds(k) for k in range(low, high))


def some(holds: Callable[[Any], bool], low: int | None, high: int | None) -> bool:
    """Tell whether something holds of some such integer."""
    return not every(lambda k: not holds(k), low, high)


def indices(
    length: int,
    bounded: Callable[[int], bool],
    low: Callable[[int], int],
    high: Callable[[int], int],
) -> Iterator[tuple[int, ...]]:
    """Go through the sequences of integers of a length, each element from `low` up to `high`.

    The element at k has these bounds if `bounded` says so of k; one without them is too much.
    """
    if not all(bounded(k) for k in range(length)):
        raise UndecidedError
    return product(*(range(low(k), high(k)) for k in range(length)))


# Types


def is_anything(value: object) -> bool:
    """Tell whether a value is one of a type that the program does not know."""
    return True


def is_nothing(value: object) -> bool:
    """Tell whether a value is that of `unit`."""
    return value is None


def is_sequence(element: Check) -> Check:
    """Give what tells whether a value is a tuple of such elements."""
    return lambda value: type(value) is tuple and all(map(element, value))


def is_list(element: Check) -> Check:
    """Give what tells whether a value is a list of such elements."""
    return lambda value: type(value) is list and all(map(element, value))


def is_tuple(*components: Check) -> Check:
    """Give what tells whether a value is a tuple of just these components."""
    return lambda value: (
        type(value) is tuple
        and len(value) == len(components)
        and all(check(part) for check, part in zip(components, value, strict=True))
    )


def is_one_of(*cases: Check) -> Check:
    """Give what tells whether a value is one of several kinds."""
    return lambda value: any(check(value) for check in cases)
