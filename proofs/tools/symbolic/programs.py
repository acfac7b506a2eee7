"""The programs of the kernel: on which arguments each is run, and what the texts say of it.

Of an argument the ranks are known, and the sizes, strides, indices and axes are any integers. What
a program requires of them is the `requires` of its contract in WhyML. `bound` is the largest rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from symbolic import texts
from symbolic.kernel import Element
from symbolic.logic import (
    Case,
    Raises,
    Record,
    Returns,
    Truth,
    both,
    every,
    opposite,
    some,
)

Arguments = tuple[Any, ...]


class AnyInteger:
    """Stands for an integer that is not known."""

    def __repr__(self) -> str:
        return "?"


ANY = AnyInteger()


@dataclass(frozen=True)
class Program:
    """A program, the arguments it is run on, and what each call comes to.

    `by_contract` are the programs whose calls are answered by what the texts say of them, which is
    proved of them in the same run; all others run. `disjoint`: no two cases hold at once. `about`
    says in words what it is run on, and `most` is the largest rank that is affordable.
    """

    name: str
    about: str
    arguments: Callable[[int], Iterator[Arguments]]
    cases: Callable[..., Sequence[Case]]
    requires: Callable[..., Truth] = lambda *_: True
    by_contract: tuple[str, ...] = ()
    disjoint: bool = False
    most: int = 4

    def forms(self, bound: int) -> list[Arguments]:
        """List the forms of arguments up to a rank."""
        return list(self.arguments(min(bound, self.most)))

    def range(self, bound: int) -> str:
        """Say what the program is run on up to a rank."""
        return self.about.format(rank=min(bound, self.most))


# --- arguments ----------------------------------------------------------------------------------


def unknown(rank: int) -> tuple[Any, ...]:
    """Give a sequence of unknown integers."""
    return (ANY,) * rank


def sequences(number: int) -> Callable[[int], Iterator[Arguments]]:
    """Take any sequences, of all lengths up to the bound."""
    return lambda bound: (
        tuple(map(unknown, ranks)) for ranks in product(range(bound + 1), repeat=number)
    )


def shapes(bound: int) -> Iterator[Arguments]:
    """Take up to three shapes."""
    for number in range(4):
        for (*ranks,) in product(range(bound + 1), repeat=number):
            yield (tuple(map(unknown, ranks)),)


def strided(bound: int) -> Iterator[Arguments]:
    """Take up to three shapes, and strides for each."""
    return ((given, given) for (given,) in shapes(bound))


def of_rank(bound: int) -> Iterator[Arguments]:
    """Take a sequence and a rank, which is smaller, equal or larger."""
    return ((unknown(k), rank) for k in range(bound + 1) for rank in range(-1, bound + 3))


def sized(bound: int) -> Iterator[Arguments]:
    """Take a shape, a rank that is not smaller, and any axis of that rank."""
    return ((unknown(k), rank, ANY) for k in range(bound + 1) for rank in range(k, bound + 2))


def axes_of_any_rank(bound: int) -> Iterator[Arguments]:
    """Take axes and any rank."""
    return ((unknown(k), ANY) for k in range(bound + 1))


def axes_of_rank(bound: int) -> Iterator[Arguments]:
    """Take a rank and axes."""
    return ((rank, unknown(k)) for rank in range(bound + 1) for k in range(bound + 1))


def views(bound: int) -> Iterator[Arguments]:
    """Take a shape, its strides, and a target."""
    return ((unknown(k), unknown(k), unknown(n)) for k, n in product(range(bound + 1), repeat=2))


def views_along(bound: int) -> Iterator[Arguments]:
    """Take a shape, its strides, a target, and an axis for each size."""
    return ((*given, given[0]) for given in views(bound))


MODES = (Record("Numpy"), Record("Explicit"), Record("Bidirectional"))


def in_modes(without: Callable[[int], Iterator[Arguments]]) -> Callable[[int], Iterator[Arguments]]:
    """Take each mode besides."""
    return lambda bound: ((*given, mode) for given in without(bound) for mode in MODES)


def strided_axes(bound: int) -> Iterator[Arguments]:
    """Take a shape, its strides, a target, and any axes."""
    return ((*given, unknown(k)) for given in views(bound) for k in range(bound + 1))


def attributes(_: int) -> Iterator[Arguments]:
    """Take each mode, and none."""
    yield (Record("NotGiven"),)
    yield from ((Record("Given", (mode,)),) for mode in MODES)


def listed(name: str, length: int) -> tuple[Element, ...]:
    """Give elements."""
    return tuple(Element(f"{name}{k}") for k in range(length))


def data(kind: type, limit: int) -> Callable[[int], Iterator[Arguments]]:
    """Take data of each length that some sizes have, and one more; a shape, and a target."""

    def found(bound: int) -> Iterator[Arguments]:
        for rank, target in product(range(bound + 1), repeat=2):
            for length in range(limit**rank + 2):
                yield kind(listed("x", length)), unknown(rank), unknown(target)

    return found


def all_data(limit: int) -> Callable[[int], Iterator[Arguments]]:
    """Take up to two tensors with data of each length."""

    def found(bound: int) -> Iterator[Arguments]:
        for number in range(3):
            for ranks in product(range(bound + 1), repeat=number):
                lengths = product(*(range(limit**rank + 2) for rank in ranks))
                for several in lengths:
                    given = tuple(listed(f"x{m}_", n) for m, n in enumerate(several))
                    yield tuple(map(unknown, ranks)), given

    return found


# --- what is required and what the texts say ----------------------------------------------------


def are_shapes(*given: Any) -> Truth:
    """No size is negative."""
    return opposite(texts.negative(*given))


def within(limit: int, *, least: int = 0) -> Callable[..., Truth]:
    """Bound the sizes of shapes."""
    return lambda *given: every(both(n >= least, n <= limit) for shape in given for n in shape)


def returned(function: Callable[..., Any]) -> Callable[..., list[Case]]:
    """Say that a call always returns what a text names."""
    return lambda *arguments: [Case(True, Returns(function(*arguments)))]


def checked(given: Any) -> list[Case]:
    """Refuse a negative size."""
    return [Case(texts.negative(*given), Raises("NegativeSize")), Case(True, Returns(None))]


def accepted(refused: Callable[..., list[Case]]) -> Callable[..., list[Case]]:
    """Return nothing where nothing is refused."""
    return lambda *arguments: [*refused(*arguments), Case(True, Returns(None))]


def padded(shape: Any, rank: int) -> list[Case]:
    """Prepend sizes of 1. [E_Broadcast_any_Condition1_020]"""
    if rank < len(shape):
        return [Case(True, Raises("RankMismatch"))]
    sizes = tuple(texts.expanded_size(shape, rank, i) for i in range(rank))
    return [Case(True, Returns(sizes))]


def sonnx(given: Any) -> list[Case]:
    """Give the common shape, or the error."""
    if not given:
        return [Case(True, Raises("NoTensor"))]
    return [
        Case(texts.negative(*given), Raises("NegativeSize")),
        Case(texts.e1(given), Raises("E1", (texts.violation(given),))),
        Case(True, Returns(texts.output_shape(given))),
    ]


def first_violation(given: Any) -> list[Case]:
    """Give what E1 reports."""
    refused = Case(texts.negative(*given), Raises("NegativeSize"))
    return [refused, Case(True, Returns(texts.violation(given)))]


def numpy(given: Any) -> list[Case]:
    """Give NumPy's shape, or the error. [E_NumpyBroadcast_any_Functions_010]"""
    if not given:
        return [Case(True, Returns(()))]
    sizes = tuple(texts.numpy_size(given, i) for i in range(texts.common_rank(given)))
    return [
        Case(texts.negative(*given), Raises("NegativeSize")),
        Case(texts.incompatible(given), Raises("Incompatible", (texts.mismatch(given),))),
        Case(True, Returns(sizes)),
    ]


def first_mismatch(given: Any) -> list[Case]:
    """Give what Incompatible reports."""
    if not given:
        return []
    refused = Case(texts.negative(*given), Raises("NegativeSize"))
    return [refused, Case(True, Returns(texts.mismatch(given)))]


def view(shape: Any, strides: Any, target: Any) -> list[Case]:
    """Give the strides of a view, or refuse the target."""
    if len(strides) != len(shape) or len(shape) > len(target):
        return [Case(True, Raises("RankMismatch"))]
    strides_ = texts.view_strides(shape, strides, target)
    return [*texts.misfit(shape, target), Case(True, Returns(strides_))]


def source(shape: Any, target: Any, index: Any) -> list[Case]:
    """Give the index into the input, or refuse the target, then the index."""
    if len(shape) > len(target) or len(index) != len(target):
        return [Case(True, Raises("RankMismatch"))]
    outside = [
        Case(some([index[i] < 0, index[i] >= target[i]]), Raises("IndexOutOfRange", (i,)))
        for i in range(len(target))
    ]
    found = Case(True, Returns(texts.source(shape, target, index)))
    return [*texts.misfit(shape, target), *outside, found]


def offset(index: Any, strides: Any) -> list[Case]:
    """Give the offset."""
    if len(index) != len(strides):
        return [Case(True, Raises("RankMismatch"))]
    return [Case(True, Returns(texts.offset(index, strides)))]


def all_views(given: Any, strides: Any) -> list[Case]:
    """Give the common shape and the strides of all views, or the error."""
    return [
        Case(
            case.when,
            Returns(
                (
                    case.outcome.value,
                    tuple(
                        texts.view_strides(shape, own, case.outcome.value)
                        for shape, own in zip(given, strides, strict=True)
                    ),
                )
            )
            if isinstance(case.outcome, Returns)
            else case.outcome,
        )
        for case in sonnx(given)
    ]
