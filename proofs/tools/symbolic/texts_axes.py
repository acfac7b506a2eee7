"""What nGraph, OpenVINO, broadcast_in_dim and the adjoints say of axes, clause by clause.

As texts.py: written from the texts and the tags of why3/trace.toml alone. Of several errors about
axes the one at the lowest position is raised [E_OpenvinoBroadcast_any_Derived_050].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as choices_of

from symbolic.logic import (
    Case,
    Raises,
    Record,
    Returns,
    Truth,
    Whole,
    at,
    both,
    count,
    either,
    every,
    first,
    opposite,
    same,
)
from symbolic.texts import Shape, broadcasts_to, expand_shape, misfit, view_strides

Axes = Sequence[Whole]


def in_range(axis: Whole, rank: Whole) -> Truth:
    """Tell whether an axis is one of the rank. [E_BroadcastInDim_any_Axes_010]"""
    return both(axis >= 0, axis < rank)


def sorted_axes(axes: Axes, rank: Whole) -> list[Case]:
    """Refuse axes that are out of range or not sorted. [E_OpenvinoBroadcast_any_Inputs_040]"""
    found = []
    for j, axis in enumerate(axes):
        found.append(Case(opposite(in_range(axis, rank)), Raises("AxisOutOfRange", (j,))))
        if j:
            found.append(Case(axis <= axes[j - 1], Raises("AxesNotIncreasing", (j,))))
    return found


def distinct_axes(axes: Axes, rank: Whole) -> list[Case]:
    """Refuse axes that are out of range or named twice. [E_BroadcastInDim_any_Axes_020]"""
    found = []
    for j, axis in enumerate(axes):
        found.append(Case(opposite(in_range(axis, rank)), Raises("AxisOutOfRange", (j,))))
        for i in range(j):
            found.append(Case(same(axes[i], axis), Raises("AxesNotDistinct", ((i, j),))))
    return found


def are_distinct(axes: Axes, rank: Whole) -> Truth:
    """Tell whether axes are in range and distinct. [E_BroadcastInDim_any_Axes_020]"""
    return every(opposite(case.when) for case in distinct_axes(axes, rank))


def placed(shape: Shape, strides: Sequence[Whole], target: Shape, axes: Axes) -> list[Case]:
    """Lay the data's axis j on the axis axes[j]: what does not fit is refused, lowest axis first.

    A size is that of the target or 1 [E_BroadcastInDim_any_Size_010]; a stride is the data's where
    the sizes are equal and 0 on all other axes [E_OpenvinoBroadcast_any_Derived_040].
    """
    sizes = [at(target, axis) for axis in axes]
    refused = [
        Case(
            both(opposite(same(shape[j], sizes[j])), opposite(same(shape[j], 1))),
            Raises("AxisMisfit", (j,)),
        )
        for j in range(len(shape))
    ]
    own = [either(same(shape[j], sizes[j]), strides[j], 0) for j in range(len(shape))]
    view = tuple(
        first([(same(axis, k), stride) for axis, stride in zip(axes, own, strict=True)], 0)
        for k in range(len(target))
    )
    return [*refused, Case(True, Returns(view))]


def along(
    checked: list[Case], shape: Shape, strides: Axes, target: Shape, axes: Axes
) -> list[Case]:
    """Give the view along axes: one stride and one axis for each axis of data, and no bad axis.

    [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Modes_030]
    """
    if len(strides) != len(shape):
        return [Case(True, Raises("RankMismatch"))]
    if len(axes) != len(shape):
        return [Case(True, Raises("AxesCount"))]
    return [*checked, *placed(shape, strides, target, axes)]


# --- nGraph -------------------------------------------------------------------------------------


def kept(rank: int, removed: Axes) -> tuple[Whole, ...]:
    """Give the axes that are not removed; those that are removed are distinct axes of the rank.

    Axis k is the i-th that is kept if it is none of those removed, and i axes below it are kept.
    [E_NgraphBroadcast_any_Attributes_020]
    """
    keeps = [every(opposite(same(axis, k)) for axis in removed) for k in range(rank)]
    below = [count(keeps[:k]) for k in range(rank)]
    return tuple(
        first([(both(keeps[k], same(below[k], i)), k) for k in range(rank)], 0)
        for i in range(rank - len(removed))
    )


def p(coordinate: Sequence[Whole], removed: Axes) -> tuple[Whole, ...]:
    """Give p(C): the coordinate with the axes removed. [E_NgraphBroadcast_any_Definition_010]"""
    return tuple(at(coordinate, axis) for axis in kept(len(coordinate), removed))


def kept_axes(rank: int, removed: Axes) -> list[Case]:
    """Give the axes that are kept, or refuse those that are not."""
    if len(removed) > rank:
        return sorted_axes(removed, rank)
    return [*sorted_axes(removed, rank), Case(True, Returns(kept(rank, removed)))]


def p_of(coordinate: Sequence[Whole], removed: Axes) -> list[Case]:
    """Give p, or refuse axes. [E_NgraphBroadcast_any_Definition_010]"""
    if len(removed) > len(coordinate):
        return sorted_axes(removed, len(coordinate))
    return [*sorted_axes(removed, len(coordinate)), Case(True, Returns(p(coordinate, removed)))]


def ngraph(shape: Shape, strides: Axes, target: Shape, removed: Axes) -> list[Case]:
    """Give nGraph's view: the argument's shape is the target's with the axes removed.

    Its strides stand on the axes that are kept, in their order, and 0 on the others.
    [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Definition_030]
    """
    if len(strides) != len(shape):
        return [Case(True, Raises("RankMismatch"))]
    refused = sorted_axes(removed, len(target))
    if len(removed) > len(target):
        return refused
    if len(shape) != len(target) - len(removed):
        return [*refused, Case(True, Raises("AxesCount"))]
    for j, size in enumerate(p(target, removed)):
        refused.append(Case(opposite(same(shape[j], size)), Raises("AxisMisfit", (j,))))
    axes = kept(len(target), removed)
    view = tuple(
        first([(same(axis, k), stride) for axis, stride in zip(axes, strides, strict=True)], 0)
        for k in range(len(target))
    )
    return [*refused, Case(True, Returns(view))]


# --- adjoints -----------------------------------------------------------------------------------


def listed(conditions: Sequence[Truth]) -> list[Case]:
    """Give the axes with a condition, in increasing order."""
    return [
        Case(
            every(
                c if chosen else opposite(c) for c, chosen in zip(conditions, picks, strict=True)
            ),
            Returns(tuple(k for k, chosen in enumerate(picks) if chosen)),
        )
        for picks in choices_of((True, False), repeat=len(conditions))
    ]


def repeated(shape: Shape, target: Shape, axes: Axes) -> list[Case]:
    """List the axes that data lacks or grows on. [E_OpenvinoBroadcast_ring_Derived_010]"""
    return listed(
        [
            every(
                opposite(both(same(axis, k), same(size, target[k])))
                for axis, size in zip(axes, shape, strict=True)
            )
            for k in range(len(target))
        ]
    )


def repeated_axes(shape: Shape, target: Shape, axes: Axes) -> list[Case]:
    """List them along explicit axes, or refuse these."""
    if len(axes) != len(shape):
        return [Case(True, Raises("AxesCount"))]
    *refused, _ = placed(shape, shape, target, axes)
    return [*sorted_axes(axes, len(target)), *refused, *repeated(shape, target, axes)]


def repeated_trailing(shape: Shape, target: Shape) -> list[Case]:
    """List them along the last axes, or refuse the target."""
    if len(shape) > len(target):
        return [Case(True, Raises("RankMismatch"))]
    trailing = range(len(target) - len(shape), len(target))
    return [*misfit(shape, target), *repeated(shape, target, trailing)]


# --- OpenVINO -----------------------------------------------------------------------------------


def without_axes(shape: Shape, strides: Axes, target: Shape, mode: Record) -> list[Case]:
    """Give shape and strides of the output where axes_mapping is not given.

    [E_OpenvinoBroadcast_any_Inputs_050]
    """
    if mode.name == "Explicit":
        return [Case(True, Raises("MappingMissing"))]
    if mode.name == "Bidirectional":  # [E_OpenvinoThreeBroadcast_any_Modes_010]
        *refused, expanded = expand_shape(shape, target)
        assert isinstance(expanded.outcome, Returns)
        common = expanded.outcome.value
        view = view_strides(shape, strides, common)
        return [*refused, Case(True, Returns((common, view)))]
    # Mode numpy, in one direction. [E_OpenvinoBroadcast_any_Modes_020]
    if len(shape) > len(target):
        return [Case(True, Raises("RankMismatch"))]
    output = (tuple(target), view_strides(shape, strides, target))
    return [*misfit(shape, target), Case(broadcasts_to(shape, target), Returns(output))]


def along_axes(shape: Shape, strides: Axes, target: Shape, axes: Axes, mode: Record) -> list[Case]:
    """Give them where it is given. [E_OpenvinoBroadcast_any_Inputs_050]"""
    if mode.name != "Explicit":
        return [Case(True, Raises("MappingNotAllowed"))]
    found = along(sorted_axes(axes, len(target)), shape, strides, target, axes)
    return [
        Case(case.when, Returns((tuple(target), case.outcome.value)))
        if isinstance(case.outcome, Returns)
        else case
        for case in found
    ]


def mode_of(attribute: Record) -> list[Case]:
    """Give the mode: numpy where it is not given. [E_OpenvinoBroadcast_any_Modes_010]"""
    given = attribute.fields[0] if attribute.name == "Given" else Record("Numpy")
    return [Case(True, Returns(given))]
