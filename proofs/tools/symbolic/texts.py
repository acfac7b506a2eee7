"""What SONNX and NumPy say, clause by clause, of integers and of Z3's terms.

Written from the texts and the tags of why3/trace.toml: from no theory, no test, no program. Ranks
are numbers that are known; sizes, strides and indices need not be. What no text says, which error
of several is raised and what it carries, is said by derived requirements.
"""

from __future__ import annotations

from collections.abc import Sequence

from symbolic.logic import (
    Case,
    Raises,
    Record,
    Returns,
    Truth,
    Whole,
    both,
    either,
    every,
    first,
    largest,
    opposite,
    product,
    same,
    some,
)

Shape = Sequence[Whole]

# --- SONNX, steps 1 and 2 -----------------------------------------------------------------------


def common_rank(shapes: Sequence[Shape]) -> int:
    """Give nY. [E_Broadcast_any_Step1_010]"""
    return max(len(shape) for shape in shapes)


def expanded_size(shape: Shape, rank: int, i: int) -> Whole:
    """Give dYm_i, of a shape and nY. [E_Broadcast_any_Step1_020]"""
    return 1 if i < rank - len(shape) else shape[i - rank + len(shape)]


def sizes_of(shapes: Sequence[Shape], i: int) -> list[Whole]:
    """Give dY0_i to dYL_i. [E_Broadcast_any_Step1_020]"""
    return [expanded_size(shape, common_rank(shapes), i) for shape in shapes]


def common_size(shapes: Sequence[Shape], i: int) -> Whole:
    """Give dY_i. [E_Broadcast_any_Step2_030]"""
    return largest(sizes_of(shapes, i))


def output_shape(shapes: Sequence[Shape]) -> tuple[Whole, ...]:
    """Give dZm_0, ..., the same for every m. [E_Broadcast_any_Step2_040]"""
    return tuple(common_size(shapes, i) for i in range(common_rank(shapes)))


def violates(shapes: Sequence[Shape], m: int, i: int) -> Truth:
    """Tell whether dYm_i is neither dY_i nor 1. [E_Broadcast_any_E1_010]"""
    size = sizes_of(shapes, i)[m]
    return both(opposite(same(size, common_size(shapes, i))), opposite(same(size, 1)))


def f(a: Whole, b: Whole, c: Whole) -> Whole:
    """Give f(a,B,C). [E_Broadcast_any_F_010]"""
    return either(same(b, c), a, 0)


def source(shape: Shape, target: Shape, index: Sequence[Whole]) -> tuple[Whole, ...]:
    """Give the index into Xm of the element of Zm at an index.

    That into Ym is f of each component [E_Broadcast_any_Step2_050]; the one into Xm is without its
    leading zeros, one for each axis that is prepended [E_Broadcast_any_Step1_030].
    """
    shift = len(target) - len(shape)
    of_y = [
        f(index[i], expanded_size(shape, len(target), i), target[i]) for i in range(len(target))
    ]
    return tuple(of_y[shift:])


# --- SONNX, errors --------------------------------------------------------------------------------


def places(shapes: Sequence[Shape]) -> list[tuple[int, int]]:
    """List the places, lowest tensor first, then lowest axis. [E_Broadcast_any_Derived_010]"""
    return [(m, i) for m in range(len(shapes)) for i in range(common_rank(shapes))]


def e1(shapes: Sequence[Shape]) -> Truth:
    """Tell whether E1 holds. [E_Broadcast_any_E1_020]"""
    return some(violates(shapes, m, i) for m, i in places(shapes))


def negative(*shapes: Shape) -> Truth:
    """Tell whether some size is negative, so that it is none. [E_Broadcast_any_Restrictions_010]"""
    return some(size < 0 for shape in shapes for size in shape)


def violation(shapes: Sequence[Shape]) -> Record:
    """Give the first violation and its sizes. [E_Broadcast_any_Derived_010]"""
    choices = [(violates(shapes, m, i), m, i) for m, i in places(shapes)]
    return Record(
        "Violation",
        (
            first([(here, m) for here, m, _ in choices], 0),
            first([(here, i) for here, _, i in choices], 0),
            first([(here, sizes_of(shapes, i)[m]) for here, m, i in choices], 0),
            first([(here, common_size(shapes, i)) for here, _, i in choices], 0),
        ),
    )


def fits(shape: Shape, target: Shape, i: int) -> Truth:
    """Tell whether dYm_i is the size of the target, or 1. [E_Broadcast_any_E1_020]"""
    size = expanded_size(shape, len(target), i)
    return some([same(size, target[i]), same(size, 1)])


def broadcasts_to(shape: Shape, target: Shape) -> Truth:
    """Tell whether the target can be the output's shape. [E_Broadcast_any_Condition2_010]"""
    return len(shape) <= len(target) and every(fits(shape, target, i) for i in range(len(target)))


def misfit(shape: Shape, target: Shape) -> list[Case]:
    """Refuse a target: the lowest axis is named. [E_Broadcast_any_Derived_140]"""
    return [
        Case(
            opposite(fits(shape, target, i)),
            Raises(
                "NotBroadcastable",
                (Record("Violation", (0, i, expanded_size(shape, len(target), i), target[i])),),
            ),
        )
        for i in range(len(target))
    ]


# --- memory -----------------------------------------------------------------------------------


def view_strides(shape: Shape, strides: Sequence[Whole], target: Shape) -> tuple[Whole, ...]:
    """Give 0 on prepended and grown axes, and the tensor's own stride elsewhere.

    [E_Broadcast_any_Derived_110] [E_Broadcast_any_F_020]
    """
    shift = len(target) - len(shape)
    own = [either(same(shape[k], target[shift + k]), strides[k], 0) for k in range(len(shape))]
    return (0,) * shift + tuple(own)


def row_major(shape: Shape) -> tuple[Whole, ...]:
    """Give the strides of the order in which the last index varies fastest.

    [E_Broadcast_any_Derived_120]
    """
    return tuple(product(shape[k + 1 :]) for k in range(len(shape)))


def offset(index: Sequence[Whole], strides: Sequence[Whole]) -> Whole:
    """Give the place of an element in memory. [E_Broadcast_any_Derived_110]"""
    found: Whole = 0
    for component, stride in zip(index, strides, strict=True):
        found = found + component * stride
    return found


# --- NumPy --------------------------------------------------------------------------------------


def numpy_size(shapes: Sequence[Shape], i: int) -> Whole:
    """Give the size that is not 1, or 1. [E_NumpyBroadcast_any_Rule_040]"""
    sizes = sizes_of(shapes, i)
    return first([(opposite(same(size, 1)), size) for size in sizes], 1)


def mismatches(shapes: Sequence[Shape], m: int, n: int, i: int) -> Truth:
    """Tell whether two sizes are not compatible. [E_NumpyBroadcast_any_Rule_020]"""
    sizes = sizes_of(shapes, i)
    one, other = sizes[m], sizes[n]
    return both(opposite(same(one, other)), opposite(same(one, 1)), opposite(same(other, 1)))


def pairs(shapes: Sequence[Shape]) -> list[tuple[int, int, int]]:
    """List two tensors and an axis: lowest axis, then second, then first tensor.

    [E_NumpyBroadcast_any_Derived_030]
    """
    axes, tensors = range(common_rank(shapes)), range(len(shapes))
    return [(m, n, i) for i in axes for n in tensors for m in range(n)]


def incompatible(shapes: Sequence[Shape]) -> Truth:
    """Tell whether some sizes do not agree. [E_NumpyBroadcast_any_Error_010]"""
    return bool(shapes) and some(mismatches(shapes, m, n, i) for m, n, i in pairs(shapes))


def mismatch(shapes: Sequence[Shape]) -> Record:
    """Give the first pair. [E_NumpyBroadcast_any_Derived_030]"""
    choices = [(mismatches(shapes, *place), place) for place in pairs(shapes)]
    fields = (first([(here, place[k]) for here, place in choices], 0) for k in range(3))
    return Record("Mismatch", tuple(fields))


def expand_shape(shape: Shape, target: Shape) -> list[Case]:
    """Expand: the given shape's size where the tensor has 1 or no axis, else the tensor's.

    [E_Expand_any_Shape_010] [E_Expand_any_Error_010]
    """
    shapes = (shape, target)
    sizes = [sizes_of(shapes, i) for i in range(common_rank(shapes))]
    refused = [
        Case(mismatches(shapes, 0, 1, i), Raises("NotExpandable", (i,))) for i in range(len(sizes))
    ]
    expanded = tuple(either(same(one, 1), other, one) for one, other in sizes)
    return [*refused, Case(True, Returns(expanded))]
