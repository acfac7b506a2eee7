# Extracted by Why3 from why3/kernel/broadcast.mlw, why3/kernel/numpy.mlw, why3/kernel/axes.mlw,
# why3/kernel/expand.mlw and why3/kernel/flat.mlw.
# Do not edit: change the sources, then `make extract`.
# SPDX-License-Identifier: Apache-2.0
# SHA-256 of the sources that proofs/tools/assurance/extraction.py lists:
# ebff4f4286c96485f5445e2208f6b2ec8fb97f7b6637d9fc228c23fdad4adfaa
# Tools: Why3 1.5.1, ruff 0.17.5.

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Violation:
    """A size that does not broadcast: of which tensor, on which axis of the common rank, and
    the size of the output there. [E_Broadcast_any_Derived_010]
    """

    tensor: int
    axis: int
    size: int
    target: int


class E1(Exception):
    """SONNX's error E1: some size is neither the maximum of its axis nor 1.
    [E_Broadcast_any_E1_020]
    """

    def __init__(self, value: Violation) -> None:
        super().__init__(value)
        self.value = value


class NoTensor(Exception):
    """No shape was given: Broadcast takes one tensor at least. [E_Broadcast_any_Signature_020]"""


class RankMismatch(Exception):
    """The ranks of the arguments do not fit together."""


class NotBroadcastable(Exception):
    """The shape does not broadcast to the target."""

    def __init__(self, value: Violation) -> None:
        super().__init__(value)
        self.value = value


class IndexOutOfRange(Exception):
    """The multi-index is outside the target: the first axis on which it is."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def f(a: int, b: int, c: int) -> int:
    """The index into an axis of the input: `a` where the sizes are equal, 0 where they differ.
    [E_Broadcast_any_F_010]

    Ensures:
        result = Spec.f a b c
    """
    return a if b == c else 0


def pad(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Prepend axes of size 1 to `shape` up to the rank `rank`. [E_Broadcast_any_Condition1_020]
    [E_Broadcast_any_Step1_020] [E_Broadcast_any_Derived_140]

    Ensures:
        length shape <= rank
        result = Spec.pad shape rank
    Raises:
        RankMismatch: rank < length shape
    """
    d = rank - len(shape)
    if d < 0:
        raise RankMismatch()
    return tuple([1] * d + list(shape))


def padded_size(shape: tuple[int, ...], rank: int, i: int) -> int:
    r"""The size on axis `i` of `shape` padded to the rank `rank`. [E_Broadcast_any_Step1_020]

    Requires:
        length shape <= rank /\ 0 <= i < rank
    Ensures:
        result = Spec.padded_size shape rank i
    """
    return 1 if i < rank - len(shape) else shape[i - rank + len(shape)]


def first_violation(shapes: tuple[tuple[int, ...], ...]) -> Violation:
    """The first size that violates E1: lowest tensor first, then lowest axis.
    [E_Broadcast_any_Derived_010] [E_Broadcast_any_Derived_140]

    Requires:
        Spec.are_shapes shapes
        Spec.e1 shapes
    Ensures:
        reports_e1 shapes result
    """
    rank = 0
    for s in shapes:
        if len(s) > rank:
            rank = len(s)
    maximum = [0] * rank
    for m in range(len(shapes)):
        for i in range(rank):
            d = padded_size(shapes[m], rank, i)
            if d > maximum[i]:
                maximum[i] = d
    for m in range(len(shapes)):
        for i in range(rank):
            d = padded_size(shapes[m], rank, i)
            if d != maximum[i] and d != 1:
                return Violation(tensor=m, axis=i, size=d, target=maximum[i])
    raise AssertionError("unreachable")


def broadcast_shapes(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    r"""The common shape of `shapes` by the rule of SONNX: on every axis the maximum of the sizes,
    which every other size must equal unless it is 1. [E_Broadcast_any_Step1_010]
    [E_Broadcast_any_Step2_030] [E_Broadcast_any_Step2_040] [E_Broadcast_any_E1_010]
    [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_140]

    Requires:
        forall m. 0 <= m < length shapes -> Spec.is_shape shapes[m]
    Ensures:
        1 <= length shapes /\ not Spec.e1 shapes
        result = Spec.common_shape shapes
    Raises:
        NoTensor: length shapes = 0
        E1 v: Spec.are_shapes shapes /\ reports_e1 shapes v
    """
    if len(shapes) == 0:
        raise NoTensor()
    result = list(shapes[0])
    rank = len(result)
    for m in range(1, len(shapes)):
        s = shapes[m]
        shift = rank - len(s)
        if shift != 0:
            if shift < 0:
                result = [1] * -shift + result
                rank = len(s)
                shift = 0
            else:
                for i in range(shift):
                    if result[i] == 0:
                        raise E1(first_violation(shapes))
        i = shift
        for x in s:
            y = result[i]
            if x != y:
                if y == 1 and x != 0:
                    result[i] = x
                elif x != 1 or y == 0:
                    raise E1(first_violation(shapes))
            i += 1
    return tuple(result)


def source_index(
    shape: tuple[int, ...], target: tuple[int, ...], index: tuple[int, ...]
) -> tuple[int, ...]:
    r"""The multi-index, in a tensor of shape `shape`, of the element that stands at `index` once
    the tensor has been broadcast to the shape `target`. [E_Broadcast_any_Step1_030]
    [E_Broadcast_any_Step2_050] [E_Broadcast_any_Derived_140]

    Requires:
        Spec.is_shape shape /\ Spec.is_shape target
    Ensures:
        Spec.broadcasts_to shape target /\ Spec.valid index target
        result = Spec.source_index shape target index
    Raises:
        RankMismatch: length target < length shape \/ length index <> length target
        NotBroadcastable v: length shape <= length target = length index /\ reports_misfit shape
            target v
        IndexOutOfRange k: Spec.broadcasts_to shape target /\ length index = length target /\
            Spec.first_outside index target k
    """
    shift = len(target) - len(shape)
    if shift < 0 or len(index) != len(target):
        raise RankMismatch()
    for k, x in enumerate(shape):
        z = target[shift + k]
        if x != z and x != 1:
            raise NotBroadcastable(Violation(tensor=0, axis=shift + k, size=x, target=z))
    for i in range(len(target)):
        if index[i] < 0 or index[i] >= target[i]:
            raise IndexOutOfRange(i)
    result = [0] * len(shape)
    for k in range(len(shape)):
        result[k] = f(index[shift + k], shape[k], target[shift + k])
    return tuple(result)


def broadcast_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...]:
    r"""The strides of the view with shape `target` of a tensor with shape `shape` and strides
    `strides`: 0 on the axes that are prepended or grow. [E_Broadcast_any_F_020]
    [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_140]

    Requires:
        Spec.is_shape shape /\ Spec.is_shape target
    Ensures:
        length strides = length shape /\ Spec.broadcasts_to shape target
        result = Spec.view_strides shape strides target
    Raises:
        RankMismatch: length strides <> length shape \/ length target < length shape
        NotBroadcastable v: length strides = length shape <= length target /\ reports_misfit shape
            target v
    """
    shift = len(target) - len(shape)
    if shift < 0 or len(strides) != len(shape):
        raise RankMismatch()
    result = [0] * len(target)
    for k, x in enumerate(shape):
        z = target[shift + k]
        if x == z:
            result[shift + k] = strides[k]
        elif x != 1:
            raise NotBroadcastable(Violation(tensor=0, axis=shift + k, size=x, target=z))
    return tuple(result)


def row_major_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, counted in elements, of a contiguous tensor of shape `shape` whose last axis
    varies fastest. [E_Broadcast_any_Derived_120]

    Requires:
        Spec.is_shape shape
    Ensures:
        result = Spec.row_major shape
    """
    result = [1] * len(shape)
    size = 1
    for k in range(len(shape) - 1, -1, -1):
        result[k] = size
        size *= shape[k]
    return tuple(result)


def offset(index: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """The offset of the element at `index` in a tensor with strides `strides`.
    [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_140]

    Ensures:
        length index = length strides
        result = Spec.offset index strides
    Raises:
        RankMismatch: length index <> length strides
    """
    if len(index) != len(strides):
        raise RankMismatch()
    result = 0
    for k in range(len(index)):
        result += index[k] * strides[k]
    return result


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Two sizes of one axis that differ and are both not 1: of which two tensors, the lower one
    first, and on which axis of the common rank. [E_NumpyBroadcast_any_Derived_030]
    """

    first: int
    second: int
    axis: int


class Incompatible(Exception):
    """The shapes are not compatible by the rule of NumPy. [E_NumpyBroadcast_any_Error_010]"""

    def __init__(self, value: Mismatch) -> None:
        super().__init__(value)
        self.value = value


def first_mismatch(shapes: tuple[tuple[int, ...], ...]) -> Mismatch:
    """The first mismatch: lowest axis first, then lowest second tensor, then lowest first one.
    [E_NumpyBroadcast_any_Derived_030] [E_Broadcast_any_Derived_140]

    Requires:
        not Spec.numpy_compatible shapes
    Ensures:
        reports_mismatch shapes result
    """
    rank = 0
    for s in shapes:
        if len(s) > rank:
            rank = len(s)
    for i in range(rank):
        size = 1
        first = 0
        for m in range(len(shapes)):
            d = padded_size(shapes[m], rank, i)
            if size == 1:
                size = d
                first = m
            elif d != size and d != 1:
                return Mismatch(first=first, second=m, axis=i)
    raise AssertionError("unreachable")


def numpy_broadcast_shapes(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    r"""The shape of `shapes` by the rule of NumPy: on every axis the sizes that are not 1 must
    agree; the result has that size, or 1. [E_NumpyBroadcast_any_Rule_010]
    [E_NumpyBroadcast_any_Rule_030] [E_NumpyBroadcast_any_Rule_040]
    [E_NumpyBroadcast_any_Error_010] [E_NumpyBroadcast_any_Functions_010]
    [E_Broadcast_any_Derived_140]

    Requires:
        forall m. 0 <= m < length shapes -> Spec.is_shape shapes[m]
    Ensures:
        Spec.numpy_compatible shapes /\ Spec.is_shape result
        result = Spec.numpy_shape shapes
    Raises:
        Incompatible v: not Spec.numpy_compatible shapes /\ reports_mismatch shapes v
    """
    if len(shapes) == 0:
        return ()
    sizes = list(shapes[0])
    rank = len(sizes)
    for m in range(1, len(shapes)):
        s = shapes[m]
        shift = rank - len(s)
        if shift < 0:
            sizes = [1] * -shift + sizes
            rank = len(s)
            shift = 0
        i = shift
        for x in s:
            y = sizes[i]
            if x != y:
                if y == 1:
                    sizes[i] = x
                elif x != 1:
                    raise Incompatible(first_mismatch(shapes))
            i += 1
    return tuple(sizes)


class AxesCount(Exception):
    """The axes that are named, in nGraph those that are kept, are not as many as the data's.
    [E_OpenvinoBroadcast_any_Axes_010]
    """


class AxisOutOfRange(Exception):
    """An axis that the target does not have: its lowest position among the axes."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class AxesNotIncreasing(Exception):
    """An axis that is not above the one before it: its lowest position among the axes.
    [E_OpenvinoBroadcast_any_Inputs_040]
    """

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class AxisMisfit(Exception):
    """A size of the data that does not fit the target: the lowest axis of the data with one.
    [E_BroadcastInDim_any_Size_010] [E_NgraphBroadcast_any_Shape_010]
    """

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def check_axes(axes: tuple[int, ...], rank: int) -> None:
    """Whether `axes` are axes of the rank `rank`, each above the one before it.
    [E_OpenvinoBroadcast_any_Inputs_040] [E_BroadcastInDim_any_Axes_020]
    [E_Broadcast_any_Derived_140]

    Ensures:
        Spec.are_axes axes rank
    Raises:
        AxisOutOfRange j: first_out_of_range axes rank j
        AxesNotIncreasing j: first_not_increasing axes rank j
    """
    for j, axis in enumerate(axes):
        if axis < 0 or axis >= rank:
            raise AxisOutOfRange(j)
        if j > 0 and axis <= axes[j - 1]:
            raise AxesNotIncreasing(j)


def place_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of the view with shape `target` of a tensor with shape `shape` and strides
    `strides`, along `axes` that have been checked: axes of the target, one for each of the
    tensor. Mode explicit and nGraph have this in common. [E_OpenvinoBroadcast_any_Derived_040]
    [E_Broadcast_any_Derived_140]

    Requires:
        length strides = length shape = length axes
        Spec.are_axes axes (length target)
    Ensures:
        Spec.explicit_broadcasts_to shape target axes
        result = Spec.explicit_strides shape strides target axes
    Raises:
        AxisMisfit j: first_misfit shape target axes j
    """
    result = [0] * len(target)
    for j, size in enumerate(shape):
        axis = axes[j]
        if size == target[axis]:
            result[axis] = strides[j]
        elif size != 1:
            raise AxisMisfit(j)
    return tuple(result)


def kept_axes(rank: int, broadcast_axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of the rank `rank` that are not among `broadcast_axes`.
    [E_NgraphBroadcast_any_Attributes_020] [E_NgraphBroadcast_any_Definition_010]
    [E_Broadcast_any_Derived_140]

    Requires:
        0 <= rank
    Ensures:
        Spec.are_axes broadcast_axes rank
        result = Spec.kept_axes (Spec.axis_set_of broadcast_axes) rank
    Raises:
        AxisOutOfRange j: first_out_of_range broadcast_axes rank j
        AxesNotIncreasing j: first_not_increasing broadcast_axes rank j
    """
    check_axes(broadcast_axes, rank)
    result = [0] * (rank - len(broadcast_axes))
    j = 0
    for k in range(rank):
        if j < len(broadcast_axes) and broadcast_axes[j] == k:
            j += 1
        else:
            result[k - j] = k
    return tuple(result)


def p(coordinate: tuple[int, ...], broadcast_axes: tuple[int, ...]) -> tuple[int, ...]:
    """The components of `coordinate` on the axes that are not among `broadcast_axes`.
    [E_NgraphBroadcast_any_Definition_010] [E_Broadcast_any_Derived_140]

    Ensures:
        Spec.are_axes broadcast_axes (length coordinate)
        result = Spec.p coordinate (Spec.axis_set_of broadcast_axes)
    Raises:
        AxisOutOfRange j: first_out_of_range broadcast_axes (length coordinate) j
        AxesNotIncreasing j: first_not_increasing broadcast_axes (length coordinate) j
    """
    axes = kept_axes(len(coordinate), broadcast_axes)
    result = [0] * len(axes)
    for j in range(len(axes)):
        result[j] = coordinate[axes[j]]
    return tuple(result)


def explicit_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[int, ...]:
    r"""The strides of the view with shape `target` of a tensor with shape `shape` and strides
    `strides` whose axis j lies on the axis `axes[j]` of the target: 0 on the axes that no axis of
    the tensor lies on, and where a size grows. [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_040]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Size_010]
    [E_Broadcast_any_Derived_140]

    Ensures:
        length strides = length shape /\ Spec.explicit_broadcasts_to shape target axes
        result = Spec.explicit_strides shape strides target axes
    Raises:
        RankMismatch: length strides <> length shape
        AxesCount: length strides = length shape /\ length axes <> length shape
        AxisOutOfRange j: length strides = length shape = length axes /\ first_out_of_range axes
            (length target) j
        AxesNotIncreasing j: length strides = length shape = length axes /\ first_not_increasing
            axes (length target) j
        AxisMisfit j: length strides = length shape = length axes /\ Spec.are_axes axes (length
            target) /\ first_misfit shape target axes j
    """
    if len(strides) != len(shape):
        raise RankMismatch()
    if len(axes) != len(shape):
        raise AxesCount()
    check_axes(axes, len(target))
    return place_strides(shape, strides, target, axes)


def ngraph_strides(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    target: tuple[int, ...],
    broadcast_axes: tuple[int, ...],
) -> tuple[int, ...]:
    r"""The strides of the view with shape `target` of an argument with shape `shape` and strides
    `strides`, which has the axes of the target that are not among `broadcast_axes`: 0 on
    `broadcast_axes`. [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Interface_020]
    [E_OpenvinoBroadcast_any_Derived_040] [E_Broadcast_any_Derived_140]

    Ensures:
        length strides = length shape
        Spec.are_axes broadcast_axes (length target)
        Spec.ngraph_valid shape target (Spec.axis_set_of broadcast_axes)
        result = Spec.ngraph_strides shape strides target (Spec.axis_set_of broadcast_axes)
    Raises:
        RankMismatch: length strides <> length shape
        AxisOutOfRange j: length strides = length shape /\ first_out_of_range broadcast_axes (length
            target) j
        AxesNotIncreasing j: length strides = length shape /\ first_not_increasing broadcast_axes
            (length target) j
        AxesCount: length strides = length shape /\ Spec.are_axes broadcast_axes (length target) /\
            length shape <> length (Spec.p target (Spec.axis_set_of broadcast_axes))
        AxisMisfit j: length strides = length shape /\ Spec.are_axes broadcast_axes (length target)
            /\ length shape = length (Spec.p target (Spec.axis_set_of broadcast_axes)) /\
            first_difference shape (Spec.p target (Spec.axis_set_of broadcast_axes)) j
    """
    if len(strides) != len(shape):
        raise RankMismatch()
    axes = kept_axes(len(target), broadcast_axes)
    if len(axes) != len(shape):
        raise AxesCount()
    for j in range(len(shape)):
        if shape[j] != target[axes[j]]:
            raise AxisMisfit(j)
    return place_strides(shape, strides, target, axes)


class NotExpandable(Exception):
    """Two sizes of an axis differ and neither is 1: the lowest such axis of the common rank.
    [E_Expand_any_Error_010]
    """

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def expand_shape(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a tensor of shape `shape` that is expanded by the shape `target`.
    [E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Broadcast_any_Derived_140]

    Ensures:
        Spec.expandable shape target
        result = Spec.expand_shape shape target
    Raises:
        NotExpandable i: Spec.first_unexpandable shape target i
    """
    rank = max(len(shape), len(target))
    result = [1] * rank
    for i in range(rank):
        a = padded_size(shape, rank, i)
        b = padded_size(target, rank, i)
        if a != b and a != 1 and b != 1:
            raise NotExpandable(i)
        size = b if a == 1 else a
        result[i] = size
    return tuple(result)


class DataLength(Exception):
    """There are not as many elements as the shape says."""


def size(shape: tuple[int, ...]) -> int:
    """The number of elements of a tensor of shape `shape`. [E_Broadcast_any_Derived_120]

    Ensures:
        result = Spec.size shape
    """
    result = 1
    for k in range(len(shape) - 1, -1, -1):
        result *= shape[k]
    return result


_A = TypeVar("_A")


def broadcast_flat(data: list[_A], shape: tuple[int, ...], target: tuple[int, ...]) -> list[_A]:
    r"""The elements, in row-major order, of a tensor of shape `shape` once it has been broadcast to
    the shape `target`; `data` are those of the tensor, in the same order.
    [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_140]

    Requires:
        Spec.is_shape shape /\ Spec.is_shape target
    Ensures:
        A.length data = Spec.size shape /\ Spec.broadcasts_to shape target
        Spec.is_flat_broadcast data shape target result
        forall x: Spec.tensor 'a. x.Spec.dims = shape -> Spec.represents data x -> Spec.represents
            result (Spec.broadcast_to x target)
    Raises:
        DataLength: A.length data <> Spec.size shape
        RankMismatch: A.length data = Spec.size shape /\ length target < length shape
        NotBroadcastable v: A.length data = Spec.size shape /\ length shape <= length target /\
            reports_misfit shape target v
    """
    if len(data) != size(shape):
        raise DataLength()
    strides = broadcast_strides(shape, row_major_strides(shape), target)
    n = size(target)
    if n == 0:
        return []
    result = [data[0]] * n
    if len(data) == 1:
        return result
    last = len(target) - 1
    row = target[last]
    step = strides[last]
    index = [0] * len(target)
    k = 0
    o = 0
    while k < n:
        for _ in range(row):
            result[k] = data[o]
            k += 1
            o += step
        index[last] = row
        a = last
        while a > 0 and index[a] == target[a]:
            o = o - target[a] * strides[a] + strides[a - 1]
            index[a] = 0
            index[a - 1] += 1
            a -= 1
    return result
