"""nGraph, OpenVINO, ONNX Expand and broadcast_in_dim read sentence by sentence, to compare with.

Written from the specifications, not from the WhyML sources: plain nested loops, no stride, nothing
shared with the package. Where a text admits the arguments, a function tells for every multi-index
of the output which element of the input stands there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from plain_rule import Shape, indices

Index = tuple[int, ...]
# For every multi-index of an output, the first axis slowest, the multi-index of the input.
Sources = dict[Index, Index]


def are_distinct(axes: Sequence[int], rank: int) -> bool:
    """StableHLO: unique, each at least 0 and less than the rank of the result."""
    for axis in axes:
        if axis < 0 or axis >= rank:
            return False
    return len(set(axes)) == len(axes)


def are_axes(axes: Sequence[int], rank: int) -> bool:
    """OpenVINO: a list of axis indices of the output, which should be sorted; none twice."""
    return are_distinct(axes, rank) and list(axes) == sorted(axes)


def explicit_misfit(shape: Shape, target: Shape, axes: Sequence[int]) -> int | None:
    """Return the lowest axis of the data whose size is neither 1 nor that of its output axis."""
    for j in range(len(shape)):
        if shape[j] not in (1, target[axes[j]]):
            return j
    return None


def explicit(shape: Shape, target: Shape, axes: Sequence[int]) -> Sources:
    """OpenVINO: each index maps an axis of the data to an axis of the output."""
    sources = {}
    for index in indices(target):
        # An axis of size 1 has one index alone.
        sources[index] = tuple(0 if shape[j] == 1 else index[axes[j]] for j in range(len(shape)))
    return sources


def p(coordinate: Sequence[int], broadcast_axes: Collection[int]) -> Index:
    """nGraph: the coordinate with the axes in broadcast_axes removed."""
    kept = []
    for axis in range(len(coordinate)):
        if axis not in broadcast_axes:
            kept.append(coordinate[axis])
    return tuple(kept)


def ngraph(shape: Shape, target: Shape, broadcast_axes: Collection[int]) -> Sources | None:
    """nGraph: the output at C is arg at p(C); arg has the shape with these axes removed."""
    if p(target, broadcast_axes) != shape:
        return None
    return {index: p(index, broadcast_axes) for index in indices(target)}


def numpy_mode(shape: Shape, target: Shape) -> Sources | None:
    """OpenVINO: the data is broadcast to the target, but not vice versa; last axes meet."""
    if len(shape) > len(target):
        return None
    missing = len(target) - len(shape)
    for k in range(len(shape)):
        if shape[k] not in (1, target[missing + k]):
            return None
    return {
        index: tuple(0 if shape[k] == 1 else index[missing + k] for k in range(len(shape)))
        for index in indices(target)
    }


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


def expand(shape: Shape, target: Shape) -> Sources | None:
    """ONNX Expand: the tensor times ones of the given shape, element by element."""
    common = expand_shape(shape, target)
    if common is None:
        return None
    sources = {}
    for index in indices(common):
        own = index[len(common) - len(shape) :]
        sources[index] = tuple(0 if size == 1 else i for i, size in zip(own, shape, strict=True))
    return sources


def axis_sets(rank: int) -> list[tuple[int, ...]]:
    """All sets of axes of a rank, each in increasing order."""
    return [axes for count in range(rank + 1) for axes in combinations(range(rank), count)]
