"""A reading of nGraph, OpenVINO, ONNX, broadcast_in_dim and PyTorch, sentence by sentence.

This reading follows the specifications, not the WhyML sources: plain nested loops, no strides, no
code of the package. Readings such as `expand` return the input's place in the output, or None.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import NamedTuple

from plain_rule import Shape, indices

Index = tuple[int, ...]


def are_distinct(axes: Sequence[int], rank: int) -> bool:
    """StableHLO: axes are unique, at least 0, and less than the rank of the result."""
    return all(0 <= axis < rank for axis in axes) and len(set(axes)) == len(axes)


def are_axes(axes: Sequence[int], rank: int) -> bool:
    """OpenVINO: the axes are a sorted list of different axes of the output."""
    return are_distinct(axes, rank) and list(axes) == sorted(axes)


class Placed(NamedTuple):
    """The shape of an output, and for each axis of a tensor its axis in the output."""

    shape: Shape
    axes: Index


def fitted(shape: Shape, target: Shape, axes: Index) -> Placed | None:
    """Place a tensor whose sizes are 1 or equal those of its output axes."""
    fits = all(size in (1, target[axis]) for size, axis in zip(shape, axes, strict=True))
    return Placed(target, axes) if fits else None


def explicit(
    shape: Shape, target: Shape, axes: Index, *, increasing: bool = False
) -> Placed | None:
    """StableHLO, OpenVINO: axis j of the data is axis `axes[j]` of the output."""
    right = are_axes if increasing else are_distinct
    if len(axes) != len(shape) or not right(axes, len(target)):
        return None
    return fitted(shape, target, axes)


def p(coordinate: Sequence[int], broadcast_axes: Collection[int]) -> Index:
    """nGraph: return the coordinate with the axes in broadcast_axes removed."""
    return tuple(c for axis, c in enumerate(coordinate) if axis not in broadcast_axes)


def ngraph(shape: Shape, target: Shape, broadcast_axes: Index) -> Placed | None:
    """nGraph: the output at C is arg at p(C); arg's shape is the output's without these axes."""
    if not are_axes(broadcast_axes, len(target)) or p(target, broadcast_axes) != shape:
        return None
    return Placed(target, p(range(len(target)), broadcast_axes))


def trailing(rank: int, of: int) -> Index:
    return tuple(range(of - rank, of))


def numpy_mode(shape: Shape, target: Shape) -> Placed | None:
    """OpenVINO: the data is broadcast to the target, but not vice versa; last axes are aligned."""
    if len(shape) > len(target):
        return None
    return fitted(shape, target, trailing(len(shape), len(target)))


def expand_shape(shape: Shape, target: Shape) -> Shape | None:
    """ONNX Expand: aligned at the right, two dimensions are equal or one of them is 1."""
    sizes: list[int] = []
    for from_right in range(1, max(len(shape), len(target)) + 1):
        a = shape[-from_right] if from_right <= len(shape) else 1
        b = target[-from_right] if from_right <= len(target) else 1
        if a != b and 1 not in (a, b):
            return None
        sizes.insert(0, b if a == 1 else a)
    return tuple(sizes)


def expand(shape: Shape, target: Shape) -> Placed | None:
    """ONNX Expand: the result is the tensor times ones of the given shape, element by element."""
    common = expand_shape(shape, target)
    return None if common is None else Placed(common, trailing(len(shape), len(common)))


def torch_expand(shape: Shape, size: Shape) -> Placed | None:
    """PyTorch: -1 means the tensor's own size; a new axis cannot have it."""
    new = len(size) - len(shape)
    if new < 0 or min(size[:new], default=0) < 0:
        return None
    own = [b if a == -1 else a for a, b in zip(size[new:], shape, strict=True)]
    return numpy_mode(shape, (*size[:new], *own))


def sources(shape: Shape, placed: Placed) -> dict[Index, Index]:
    """Return for each output index the index of the tensor's element there."""
    return {
        index: tuple(0 if shape[j] == 1 else index[axis] for j, axis in enumerate(placed.axes))
        for index in indices(placed.shape)
    }


def axis_sets(rank: int) -> list[tuple[int, ...]]:
    return [axes for count in range(rank + 1) for axes in combinations(range(rank), count)]
