"""What SONNX says of the elements, for lists of them in row-major order.

The texts speak of indices; that lists have row-major order, and where an element stands in one, are
derived requirements. Sizes are known here: the cases are one for each choice of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product as choices_of
from typing import Any

from symbolic.logic import Case, Raises, Returns, every, product, same
from symbolic.texts import (
    Shape,
    broadcasts_to,
    e1,
    misfit,
    negative,
    offset,
    output_shape,
    row_major,
    source,
    violation,
)


def moved(data: Sequence[Any], shape: Shape, target: Shape) -> Iterator[Any]:
    """Give the elements of Zm in row-major order.

    [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_120]
    """
    for index in choices_of(*map(range, target)):
        yield data[offset(source(shape, target, index), row_major(shape))]


def flat(data: Sequence[Any], shape: Shape, target: Shape) -> Returns | Raises:
    """Give the elements, or refuse: data of another length, then a target that does not fit."""
    if len(data) != product(shape):
        return Raises("DataLength")
    if len(shape) > len(target):
        return Raises("RankMismatch")
    for refused in misfit(shape, target):
        if refused.when:
            return refused.outcome
    return Returns([*moved(data, shape, target)])


def elements(data: Sequence[Any], shape: Shape, target: Shape) -> Returns | Raises:
    """Give the same as a tuple; the shape broadcasts to the target."""
    found = flat(data, shape, target)
    return Returns(tuple(found.value)) if isinstance(found, Returns) else found


def everything(shapes: Sequence[Shape], data: Sequence[Sequence[Any]]) -> Returns | Raises:
    """Give shape and elements of all outputs. [E_Broadcast_any_Steps_010]

    A tensor with another number of elements than its shape says is refused after E1, the lowest one
    first. [E_Broadcast_any_Derived_140]
    """
    if not shapes:
        return Raises("NoTensor")
    if negative(*shapes):
        return Raises("NegativeSize")
    if e1(shapes):
        return Raises("E1", (violation(shapes),))
    target, lists = output_shape(shapes), []
    for m, (shape, listed) in enumerate(zip(shapes, data, strict=True)):
        assert broadcasts_to(shape, target)
        if len(listed) != product(shape):
            return Raises("WrongLength", (m,))
        lists.append(tuple(moved(listed, shape, target)))
    return Returns((target, tuple(lists)))


def shapes_within(rank: int, largest: int, least: int = 0) -> Iterator[Shape]:
    """List the shapes of a rank with sizes up to the largest."""
    return choices_of(range(least, largest + 1), repeat=rank)


def flat_cases(outcome: Any, limit: int, data: Any, shape: Shape, target: Shape) -> list[Case]:
    """Say what `flat` or `elements` is for each choice of sizes."""
    return [
        Case(every([same(tuple(shape), s), same(tuple(target), t)]), outcome(data, s, t))
        for s in shapes_within(len(shape), limit)
        for t in shapes_within(len(target), limit)
        if outcome is flat or broadcasts_to(s, t)
    ]


def all_cases(limit: int, shapes: Sequence[Shape], data: Any) -> list[Case]:
    """Say what `everything` is for each choice of sizes."""
    ranks = [len(shape) for shape in shapes]
    return [
        Case(same(tuple(map(tuple, shapes)), chosen_sizes), everything(chosen_sizes, data))
        for chosen_sizes in choices_of(*(shapes_within(rank, limit, -1) for rank in ranks))
    ]
