"""A reading of SONNX Broadcast and NumPy's rule, clause by clause.

Plain nested loops from the specifications, without the WhyML sources and the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from operator import mul
from typing import NamedTuple

Shape = tuple[int, ...]


class Witness(NamedTuple):
    """The first place where E1 holds: by tensor, then by axis of the common rank."""

    tensor: int
    axis: int
    size: int
    maximum: int


def prepend(shape: Shape, rank: int) -> Shape:
    """Step 1: dYm of a tensor with sizes dXm."""
    first = rank - len(shape)
    return tuple(1 if i < first else shape[i - first] for i in range(rank))


def extended(shapes: Sequence[Shape]) -> list[Shape]:
    """Step 1 for all tensors: the sizes dYm, of the common rank nY."""
    rank = max(map(len, shapes), default=0)
    return [prepend(shape, rank) for shape in shapes]


def maxima(shapes: Sequence[Shape]) -> Shape:
    """Step 2: dY, the maximum of each axis over all tensors."""
    return tuple(max(sizes) for sizes in zip(*extended(shapes), strict=True))


def e1(shapes: Sequence[Shape]) -> Witness | None:
    """Return the first place where a size is neither the maximum nor 1."""
    maximum = maxima(shapes)
    for m, sizes in enumerate(extended(shapes)):
        for i, size in enumerate(sizes):
            if size != maximum[i] and size != 1:
                return Witness(m, i, size, maximum[i])
    return None


def mixes_zero_and_one(shapes: Sequence[Shape]) -> bool:
    """Return whether some axis has a size 0 and a size 1, given or prepended."""
    return any({0, 1} <= {*sizes} for sizes in zip(*extended(shapes), strict=True))


class Pair(NamedTuple):
    """Two tensors and an axis of the common rank where NumPy's rule refuses them."""

    lower: int
    higher: int
    axis: int


def first_mismatch(shapes: Sequence[Shape]) -> Pair | None:
    """Return the pair that NumPy names: the lowest axis, then `higher`, then `lower`."""
    for i, sizes in enumerate(zip(*extended(shapes), strict=True)):
        for higher, b in enumerate(sizes):
            for lower, a in enumerate(sizes[:higher]):
                if a not in (1, b) and b != 1:
                    return Pair(lower, higher, i)
    return None


def agreed(shapes: Sequence[Shape]) -> Shape:
    """Return the shape by NumPy's rule: on each axis the size other than 1, if any, or 1."""
    result = []
    for sizes in zip(*extended(shapes), strict=True):
        (size,) = {*sizes} - {1} or {1}
        result.append(size)
    return tuple(result)


def fits(shape: Shape, target: Shape) -> int | None:
    """Return the first axis of the target where the shape does not broadcast to it."""
    for i, size in enumerate(prepend(shape, len(target))):
        if size != target[i] and size != 1:
            return i
    return None


def source(shape: Shape, target: Shape, index: Sequence[int]) -> tuple[int, ...]:
    """Return the index of X for an index of Z: step 2, then step 1."""
    sizes = enumerate(prepend(shape, len(target)))
    of_y = [index[i] if size == target[i] else 0 for i, size in sizes]
    return tuple(of_y[len(target) - len(shape) :])


def indices(shape: Shape) -> Iterator[tuple[int, ...]]:
    return product(*(range(size) for size in shape))


def all_shapes(max_rank: int, max_size: int) -> list[Shape]:
    return [
        shape for rank in range(max_rank + 1) for shape in product(range(max_size + 1), repeat=rank)
    ]


def row_major(shape: Shape) -> Shape:
    return tuple(prod(shape[k + 1 :]) for k in range(len(shape)))


def walk(sizes: Shape, steps: Sequence[Shape]) -> list[tuple[int, ...]]:
    """Return each tensor's offset in each round of nested loops."""
    columns = list(zip(*steps, strict=True))
    return [
        tuple(sum(map(mul, counters, column)) for column in columns) for counters in indices(sizes)
    ]


def offsets(shapes: Sequence[Shape], strides: Sequence[Shape]) -> list[tuple[int, ...]]:
    """Return the offset of each tensor's element for each index of the common shape."""
    target = maxima(shapes)
    return [
        tuple(
            sum(map(mul, source(shape, target, index), own))
            for shape, own in zip(shapes, strides, strict=True)
        )
        for index in indices(target)
    ]
