# Extracted by Why3 from why3/kernel/broadcast.mlw, why3/kernel/numpy.mlw, why3/kernel/axes.mlw,
# why3/kernel/in_dim.mlw, why3/kernel/adjoint.mlw, why3/kernel/expand.mlw,
# why3/kernel/openvino.mlw, why3/kernel/flat.mlw, why3/kernel/views.mlw, why3/kernel/plan.mlw,
# why3/kernel/tensors.mlw, why3/kernel/symbolic.mlw and why3/kernel/known.mlw.
# Do not edit: change the sources, then `make extract`.
# SPDX-License-Identifier: Apache-2.0
# The contract of a function stands in why3/, under the name that its docstring gives.

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar


@dataclass(frozen=True, slots=True)
class Violation:
    """A size that does not broadcast: the number of its tensor; its axis after padding; the size;
    the size expected there. [E_Broadcast_any_Derived_010]
    """

    tensor: int
    axis: int
    size: int
    target: int


class E1(Exception):
    """SONNX's error E1: a size is neither 1 nor its axis's maximum. [E_Broadcast_any_E1_020]"""

    def __init__(self, value: Violation) -> None:
        super().__init__(value)
        self.value = value


class NoTensor(Exception):
    """There is no shape: Broadcast takes one tensor or more. [E_Broadcast_any_Signature_020]"""


class RankMismatch(Exception):
    """The arguments' ranks do not fit together."""


class NotBroadcastable(Exception):
    """The shape does not broadcast to the target."""

    def __init__(self, value: Violation) -> None:
        super().__init__(value)
        self.value = value


class IndexOutOfRange(Exception):
    """The multi-index is outside the target. The value is the first axis where it is outside."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def f(a: int, b: int, c: int) -> int:
    """SONNX's f, the input's index: `a` if the sizes are equal, else 0. [E_Broadcast_any_F_010]

    WhyML: kernel.broadcast.COPBroadcast.f
    """
    return a if b == c else 0


def pad(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Prepend axes of size 1 to `shape` up to `rank` axes.

    Raises RankMismatch if `shape` has more axes. [E_Broadcast_any_Condition1_020]
    [E_Broadcast_any_Step1_020] [E_Broadcast_any_Derived_140]

    Raises: RankMismatch
    WhyML: kernel.broadcast.COPBroadcast.pad
    """
    prepended = rank - len(shape)
    if prepended < 0:
        raise RankMismatch()
    return tuple([1] * prepended + list(shape))


class NegativeSize(Exception):
    """A shape has a negative size. [E_Broadcast_any_Restrictions_010]"""


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise NegativeSize if a size of the shape is negative. [E_Broadcast_any_Restrictions_010]
    [E_Broadcast_any_Derived_140]

    Raises: NegativeSize
    WhyML: kernel.violation.COPViolation.check_shape
    """
    for size in shape:
        if size < 0:
            raise NegativeSize()


def check_shapes(shapes: tuple[tuple[int, ...], ...]) -> None:
    """Raise NegativeSize if a size of a shape is negative. [E_Broadcast_any_Restrictions_010]
    [E_Broadcast_any_Derived_140]

    Raises: NegativeSize
    WhyML: kernel.violation.COPViolation.check_shapes
    """
    for shape in shapes:
        check_shape(shape)


def padded_size(shape: tuple[int, ...], rank: int, i: int) -> int:
    """The size on axis `i` of `shape` padded to `rank`.

    Required: `rank` >= the rank of `shape`; 0 <= i < rank. [E_Broadcast_any_Step1_020]

    WhyML: kernel.violation.COPViolation.padded_size
    """
    return 1 if i < rank - len(shape) else shape[i - rank + len(shape)]


def first_violation(shapes: tuple[tuple[int, ...], ...]) -> Violation:
    """The first size that causes E1: lowest tensor first, then lowest axis.

    Raises NegativeSize if a size is negative. Required: at least one shape, and E1 unless a size
    is negative. [E_Broadcast_any_Derived_010] [E_Broadcast_any_Derived_140]

    Raises: NegativeSize
    WhyML: kernel.violation.COPViolation.first_violation
    """
    check_shapes(shapes)
    rank = 0
    for shape in shapes:
        if len(shape) > rank:
            rank = len(shape)
    maximum = [0] * rank
    for m in range(len(shapes)):
        for i in range(rank):
            padded = padded_size(shapes[m], rank, i)
            if padded > maximum[i]:
                maximum[i] = padded
    for m in range(len(shapes)):
        for i in range(rank):
            padded = padded_size(shapes[m], rank, i)
            if padded != maximum[i] and padded != 1:
                return Violation(tensor=m, axis=i, size=padded, target=maximum[i])
    raise AssertionError("unreachable")


def broadcast_shapes(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """The common shape of `shapes` by the rule of SONNX.

    On each axis, every size must be 1 or the maximum, which is the common size. Raises NoTensor
    if there is no shape, else NegativeSize if a size is negative, else E1 with the first
    violation. [E_Broadcast_any_Step1_010] [E_Broadcast_any_Step2_030] [E_Broadcast_any_Step2_040]
    [E_Broadcast_any_E1_010] [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_140]

    Raises: NegativeSize, E1, NoTensor
    WhyML: kernel.broadcast.COPBroadcast.broadcast_shapes
    """
    if len(shapes) == 0:
        raise NoTensor()
    first = shapes[0]
    zero = False
    for size in first:
        if size <= 0:
            if size < 0:
                raise NegativeSize()
            zero = True
    result = list(first)
    rank = len(first)
    rest = shapes[1:]
    for s in rest:
        i = rank - len(s)
        if i < 0:
            ones = [1] * -i
            result = ones + result
            rank = len(s)
            i = 0
        elif zero:
            for j in range(i):
                if result[j] == 0:
                    raise E1(first_violation(shapes))
        for x in s:
            if x != result[i] and (x != 1 or zero):
                if result[i] == 1 and x > 1:
                    result[i] = x
                elif x != 1 or result[i] == 0:
                    raise E1(first_violation(shapes))
            i += 1
    return tuple(result)


def source_index(
    shape: tuple[int, ...], target: tuple[int, ...], index: tuple[int, ...]
) -> tuple[int, ...]:
    """Map `index`, a multi-index of `target`, to its source index in `shape`.

    Both multi-indices name the same element. Raises RankMismatch, else NotBroadcastable, else
    IndexOutOfRange. Required: no size is negative. [E_Broadcast_any_Step1_030]
    [E_Broadcast_any_Step2_050] [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, NotBroadcastable, IndexOutOfRange
    WhyML: kernel.broadcast.COPBroadcast.source_index
    """
    shift = len(target) - len(shape)
    if shift < 0 or len(index) != len(target):
        raise RankMismatch()
    for k, input_size in enumerate(shape):
        output_size = target[shift + k]
        if input_size != output_size and input_size != 1:
            raise NotBroadcastable(
                Violation(tensor=0, axis=shift + k, size=input_size, target=output_size)
            )
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
    """The strides of a tensor's view of shape `target`.

    Prepended and grown axes have the stride 0. Raises RankMismatch, else NotBroadcastable.
    Required: no size is negative. [E_Broadcast_any_F_020] [E_Broadcast_any_Derived_110]
    [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, NotBroadcastable
    WhyML: kernel.broadcast.COPBroadcast.broadcast_strides
    """
    shift = len(target) - len(shape)
    if shift < 0 or len(strides) != len(shape):
        raise RankMismatch()
    result = [0] * len(target)
    for k, input_size in enumerate(shape):
        output_size = target[shift + k]
        if input_size == output_size:
            result[shift + k] = strides[k]
        elif input_size != 1:
            raise NotBroadcastable(
                Violation(tensor=0, axis=shift + k, size=input_size, target=output_size)
            )
    return tuple(result)


def row_major_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, in elements, of a contiguous row-major tensor.

    Required: no size is negative. [E_Broadcast_any_Derived_120]

    WhyML: kernel.broadcast.COPBroadcast.row_major_strides
    """
    result = [1] * len(shape)
    block = 1
    for k in range(len(shape) - 1, -1, -1):
        result[k] = block
        block *= shape[k]
    return tuple(result)


def offset(index: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """The offset of the element at `index` in a tensor with `strides`.

    Raises RankMismatch if the lengths differ. [E_Broadcast_any_Derived_110]
    [E_Broadcast_any_Derived_140]

    Raises: RankMismatch
    WhyML: kernel.broadcast.COPBroadcast.offset
    """
    if len(index) != len(strides):
        raise RankMismatch()
    result = 0
    for k in range(len(index)):
        result += index[k] * strides[k]
    return result


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Two sizes of one axis that differ and are not 1: their tensors, the lower first, and the
    axis, counted in the common rank. [E_NumpyBroadcast_any_Derived_030]
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
    """The first mismatch: lowest axis first, then lowest second tensor, then lowest first tensor.

    Raises NegativeSize if a size is negative. Required: a negative size, or incompatible shapes.
    [E_NumpyBroadcast_any_Derived_030] [E_Broadcast_any_Derived_140]

    Raises: NegativeSize
    WhyML: kernel.numpy.COPNumpyBroadcast.first_mismatch
    """
    check_shapes(shapes)
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
    """The shape of `shapes` by the rule of NumPy.

    On every axis the sizes other than 1 must be the same; the result has this size, or 1 if there
    is none. Raises NegativeSize if a size is negative, else Incompatible with the first mismatch.
    [E_NumpyBroadcast_any_Rule_010] [E_NumpyBroadcast_any_Rule_030]
    [E_NumpyBroadcast_any_Rule_040] [E_NumpyBroadcast_any_Error_010]
    [E_NumpyBroadcast_any_Functions_010] [E_Broadcast_any_Derived_140]

    Raises: NegativeSize, Incompatible
    WhyML: kernel.numpy.COPNumpyBroadcast.numpy_broadcast_shapes
    """
    if len(shapes) == 0:
        return ()
    first = shapes[0]
    for size in first:
        if size < 0:
            raise NegativeSize()
    sizes = list(first)
    rank = len(first)
    rest = shapes[1:]
    for s in rest:
        i = rank - len(s)
        if i < 0:
            ones = [1] * -i
            sizes = ones + sizes
            rank = len(s)
            i = 0
        for x in s:
            if x != sizes[i] and x != 1:
                if sizes[i] == 1 and x >= 0:
                    sizes[i] = x
                else:
                    raise Incompatible(first_mismatch(shapes))
            i += 1
    return tuple(sizes)


class AxesCount(Exception):
    """The number of axes (for nGraph, kept axes) is wrong. [E_OpenvinoBroadcast_any_Axes_010]"""


class AxisOutOfRange(Exception):
    """An axis is negative or too large. The value is the lowest position of such an axis."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class AxesNotIncreasing(Exception):
    """An axis is not above the axis before it. The value is the lowest position of such an axis.
    [E_OpenvinoBroadcast_any_Inputs_040]
    """

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class AxisMisfit(Exception):
    """A size of the data does not fit the target. The value is the lowest axis of the data with
    such a size. [E_BroadcastInDim_any_Size_010] [E_NgraphBroadcast_any_Shape_010]
    """

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def check_axes(axes: tuple[int, ...], rank: int) -> None:
    """Accept increasing axes from 0 to `rank` - 1.

    At the first faulty position, raises AxisOutOfRange if the axis is out of range, else
    AxesNotIncreasing. [E_OpenvinoBroadcast_any_Inputs_040] [E_Broadcast_any_Derived_140]

    Raises: AxisOutOfRange, AxesNotIncreasing
    WhyML: kernel.axes.COPAxes.check_axes
    """
    for j, axis in enumerate(axes):
        if axis < 0 or axis >= rank:
            raise AxisOutOfRange(j)
        if j > 0 and axis <= axes[j - 1]:
            raise AxesNotIncreasing(j)


def place_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of a view along distinct axes of the target.

    Each axis of the tensor has one stride, and lies on one of these axes. All other axes, and
    axes that grow, have the stride 0. Raises AxisMisfit with the tensor's first axis whose size
    does not fit. Mode explicit, broadcast_in_dim and nGraph share this program.
    [E_OpenvinoBroadcast_any_Derived_040] [E_Broadcast_any_Derived_140]

    Raises: AxisMisfit
    WhyML: kernel.axes.COPAxes.place_strides
    """
    result = [0] * len(target)
    for j, data_size in enumerate(shape):
        axis = axes[j]
        if data_size == target[axis]:
            result[axis] = strides[j]
        elif data_size != 1:
            raise AxisMisfit(j)
    return tuple(result)


def kept_axes(rank: int, broadcast_axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes below `rank` that are not in `broadcast_axes`.

    Raises as `check_axes` does. Required: rank >= 0. [E_NgraphBroadcast_any_Attributes_020]
    [E_NgraphBroadcast_any_Definition_010] [E_Broadcast_any_Derived_140]

    Raises: AxisOutOfRange, AxesNotIncreasing
    WhyML: kernel.axes.COPAxes.kept_axes
    """
    check_axes(broadcast_axes, rank)
    result = [0] * (rank - len(broadcast_axes))
    passed = 0
    for axis in range(rank):
        if passed < len(broadcast_axes) and broadcast_axes[passed] == axis:
            passed += 1
        else:
            result[axis - passed] = axis
    return tuple(result)


def p(coordinate: tuple[int, ...], broadcast_axes: tuple[int, ...]) -> tuple[int, ...]:
    """The components of `coordinate` on the axes that are not in `broadcast_axes`: nGraph's p.

    Raises as `check_axes` does. [E_NgraphBroadcast_any_Definition_010]
    [E_Broadcast_any_Derived_140]

    Raises: AxisOutOfRange, AxesNotIncreasing
    WhyML: kernel.axes.COPAxes.p
    """
    axes = kept_axes(len(coordinate), broadcast_axes)
    result = [0] * len(axes)
    for j in range(len(axes)):
        result[j] = coordinate[axes[j]]
    return tuple(result)


def explicit_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of a tensor's view of shape `target` along explicit axes.

    Axis j of the tensor lies on the target's axis `axes[j]`. Other axes, and axes that grow, have
    the stride 0. Raises RankMismatch for a wrong number of strides, else AxesCount, else as
    `check_axes` does, else AxisMisfit. [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_040]
    [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, AxesCount, AxisOutOfRange, AxesNotIncreasing, AxisMisfit
    WhyML: kernel.axes.COPAxesStrides.explicit_strides
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
    """The strides of the view of shape `target` for nGraph's Broadcast.

    The argument has the target's axes except `broadcast_axes`, on which the stride is 0. Raises
    RankMismatch for a wrong number of strides, else as `check_axes` does, else AxesCount, else
    AxisMisfit. [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Interface_020]
    [E_OpenvinoBroadcast_any_Derived_040] [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, AxesCount, AxisOutOfRange, AxesNotIncreasing, AxisMisfit
    WhyML: kernel.axes.COPAxesStrides.ngraph_strides
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


class AxesNotDistinct(Exception):
    """An axis is named twice. The values are its two positions; the second is the lowest position
    that repeats an axis. [E_BroadcastInDim_any_Axes_020]
    """

    def __init__(self, value: tuple[int, int]) -> None:
        super().__init__(value)
        self.value = value


def check_distinct(axes: tuple[int, ...], rank: int) -> None:
    """Accept distinct axes from 0 to `rank` - 1.

    Raises AxisOutOfRange or AxesNotDistinct for the lowest position at fault.
    [E_BroadcastInDim_any_Axes_020] [E_Broadcast_any_Derived_140]

    Raises: AxisOutOfRange, AxesNotDistinct
    WhyML: kernel.in_dim.COPInDim.check_distinct
    """
    highest = -1
    for j, axis in enumerate(axes):
        if axis < 0 or axis >= rank:
            raise AxisOutOfRange(j)
        if axis > highest:
            highest = axis
        else:
            for i in range(j):
                if axes[i] == axis:
                    raise AxesNotDistinct((i, j))


def in_dim_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of the view of shape `target` for broadcast_in_dim.

    Axis j of the operand lies on the target's axis `axes[j]`. Other axes, and axes that grow,
    have the stride 0. Raises RankMismatch for a wrong number of strides, else AxesCount, else as
    `check_distinct` does, else AxisMisfit. [E_BroadcastInDim_any_Axes_010]
    [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Size_010]
    [E_BroadcastInDim_any_Data_010] [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, AxesCount, AxisOutOfRange, AxisMisfit, AxesNotDistinct
    WhyML: kernel.in_dim.COPInDim.in_dim_strides
    """
    if len(strides) != len(shape):
        raise RankMismatch()
    if len(axes) != len(shape):
        raise AxesCount()
    check_distinct(axes, len(target))
    return place_strides(shape, strides, target, axes)


def still_axes(strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes on which a stride is 0, in increasing order. [E_Broadcast_any_Derived_140]

    WhyML: kernel.adjoint.COPAdjoint.still_axes
    """
    rank = len(strides)
    found = [0] * rank
    count = 0
    for axis in range(rank):
        if strides[axis] == 0:
            found[count] = axis
            count += 1
    return tuple(found)[:count]


def repeated_axes(
    shape: tuple[int, ...], target: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[int, ...]:
    """The target's axes along which elements of data repeat, in increasing order.

    Axis j of the data lies on the target's axis `axes[j]`. Raises AxesCount, else as
    `check_axes` does, else AxisMisfit. [E_OpenvinoBroadcast_ring_Derived_010]
    [E_Broadcast_any_Derived_140]

    Raises: AxesCount, AxisOutOfRange, AxesNotIncreasing, AxisMisfit
    WhyML: kernel.adjoint.COPAdjoint.repeated_axes
    """
    ones = tuple([1] * len(shape))
    try:
        strides = explicit_strides(shape, ones, target, axes)
    except RankMismatch:
        raise AssertionError("unreachable") from None
    return still_axes(strides)


def repeated_trailing(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The target's axes along which elements repeat, for data on the last axes.

    The result lists the prepended and grown axes in increasing order. Raises RankMismatch if the
    data has more axes than the target, else NotBroadcastable with the first axis that does not
    fit. Required: no size is negative. [E_OpenvinoBroadcast_ring_Derived_010]
    [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, NotBroadcastable
    WhyML: kernel.adjoint.COPAdjoint.repeated_trailing
    """
    ones = tuple([1] * len(shape))
    strides = broadcast_strides(shape, ones, target)
    return still_axes(strides)


class NotExpandable(Exception):
    """Two sizes of an axis differ and neither is 1. The value is the lowest such axis, counted in
    the common rank. [E_Expand_any_Error_010]
    """

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def expand_shape(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of ONNX Expand's output for `shape` and `target`.

    Raises NotExpandable with the first axis whose sizes differ and are not 1.
    [E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Broadcast_any_Derived_140]

    Raises: NotExpandable
    WhyML: kernel.expand.COPExpand.expand_shape
    """
    rank = max(len(shape), len(target))
    result = [1] * rank
    for i in range(rank):
        input_size = padded_size(shape, rank, i)
        target_size = padded_size(target, rank, i)
        if input_size != target_size and (input_size != 1 and target_size != 1):
            raise NotExpandable(i)
        output_size = target_size if input_size == 1 else input_size
        result[i] = output_size
    return tuple(result)


class MappingNotAllowed(Exception):
    """A mode other than explicit has axes_mapping. [E_OpenvinoBroadcast_any_Inputs_050]"""


class MappingMissing(Exception):
    """Mode explicit lacks axes_mapping. [E_OpenvinoBroadcast_any_Inputs_050]"""


@dataclass(frozen=True, slots=True)
class Numpy:
    pass


@dataclass(frozen=True, slots=True)
class Explicit:
    pass


@dataclass(frozen=True, slots=True)
class Bidirectional:
    pass


Mode: TypeAlias = Numpy | Explicit | Bidirectional
_A = TypeVar("_A")


@dataclass(frozen=True, slots=True)
class NotGiven(Generic[_A]):
    pass


@dataclass(frozen=True, slots=True)
class Given(Generic[_A]):
    item0: _A


Optional: TypeAlias = NotGiven[_A] | Given[_A]


def mode_of(attribute: Optional[Mode]) -> Mode:
    """The mode: the attribute, or numpy if there is none. [E_OpenvinoBroadcast_any_Modes_010]
    [E_Broadcast_any_Derived_140]

    WhyML: kernel.openvino.COPOpenvino.mode_of
    """
    match attribute:
        case NotGiven():
            return Numpy()
        case Given(mode):
            return mode
        case _:
            raise AssertionError("unreachable")


def view_without_axes(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...], mode: Mode
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The output's shape and strides as a view of the data, without axes_mapping.

    An output of the data's shape has the data's strides. Raises MappingMissing in mode
    explicit, NotExpandable in mode bidirectional, and RankMismatch, else NotBroadcastable, in
    mode numpy. Required: no size is negative, and each axis has a stride.
    [E_OpenvinoBroadcast_any_Inputs_050] [E_OpenvinoBroadcast_any_Modes_020]
    [E_OpenvinoThreeBroadcast_any_Modes_010] [E_OpenvinoBroadcast_any_Derived_040]
    [E_OpenvinoBroadcast_any_Derived_050] [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, NotBroadcastable, NotExpandable, MappingMissing
    WhyML: kernel.openvino.COPOpenvino.view_without_axes
    """
    match mode:
        case Numpy():
            if shape == target:
                return (shape, strides)
            value = broadcast_strides(shape, strides, target)
            return (target, value)
        case Bidirectional():
            common = expand_shape(shape, target)
            if shape == common:
                return (shape, strides)
            value = broadcast_strides(shape, strides, common)
            return (common, value)
        case Explicit():
            raise MappingMissing()
        case _:
            raise AssertionError("unreachable")


def view_along_axes(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    target: tuple[int, ...],
    axes: tuple[int, ...],
    mode: Mode,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The output's shape and strides as a view of the data, with axes_mapping.

    Raises MappingNotAllowed in a mode other than explicit, else AxesCount, else as `check_axes`
    does, else AxisMisfit. Required: each axis of the data has a stride.
    [E_OpenvinoBroadcast_any_Inputs_040] [E_OpenvinoBroadcast_any_Inputs_050]
    [E_OpenvinoBroadcast_any_Modes_030] [E_OpenvinoBroadcast_any_Axes_010]
    [E_OpenvinoBroadcast_any_Derived_040] [E_OpenvinoBroadcast_any_Derived_050]
    [E_Broadcast_any_Derived_140]

    Raises: AxesCount, AxisOutOfRange, AxesNotIncreasing, AxisMisfit, MappingNotAllowed
    WhyML: kernel.openvino.COPOpenvino.view_along_axes
    """
    match mode:
        case Explicit():
            if len(axes) != len(shape):
                raise AxesCount()
            check_axes(axes, len(target))
            value = place_strides(shape, strides, target, axes)
            return (target, value)
        case Numpy() | Bidirectional():
            raise MappingNotAllowed()
        case _:
            raise AssertionError("unreachable")


class DataLength(Exception):
    """The number of elements is wrong for the shape."""


def size(shape: tuple[int, ...]) -> int:
    """The number of elements of a tensor of shape `shape`. [E_Broadcast_any_Derived_120]

    WhyML: kernel.flat.COPFlatBroadcast.size
    """
    result = 1
    for k in range(len(shape) - 1, -1, -1):
        result *= shape[k]
    return result


def broadcast_flat(data: list[_A], shape: tuple[int, ...], target: tuple[int, ...]) -> list[_A]:
    """The elements of a tensor broadcast to `target`, in row-major order.

    `data` has this order too. Raises DataLength, else RankMismatch, else NotBroadcastable.
    Required: no size is negative. [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_140]

    Raises: RankMismatch, NotBroadcastable, DataLength
    WhyML: kernel.flat.COPFlatBroadcast.broadcast_flat
    """
    if len(data) != size(shape):
        raise DataLength()
    rank = len(target)
    sizes = pad(shape, rank)
    for k in range(rank):
        input_size = sizes[k]
        output_size = target[k]
        if input_size != output_size and input_size != 1:
            raise NotBroadcastable(Violation(tensor=0, axis=k, size=input_size, target=output_size))
    count = size(target)
    if count == 0:
        return []
    if len(data) == 1:
        return [data[0]] * count
    elements = list(data)
    block = 1
    for axis in range(rank - 1, -1, -1):
        n = target[axis]
        if sizes[axis] != n:
            total = len(elements)
            if total == block:
                grown = elements * n
                elements = grown
            else:
                width = n * block
                grown = [elements[0]] * (total * n)
                source = 0
                place = 0
                while source < total:
                    next_place = place + width
                    if block == 1:
                        copies = [elements[source]] * n
                    else:
                        one = elements[source : source + block]
                        copies = one * n
                    grown[place:next_place] = copies
                    source += block
                    place = next_place
                elements = grown
        block *= n
    return elements


def view_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of the view of shape `target`.

    Prepended and grown axes have the stride 0. Required: the tensor broadcasts to `target`, and
    has one stride per axis. [E_Broadcast_any_F_020] [E_Broadcast_any_Derived_110]

    WhyML: kernel.views.COPViews.view_strides
    """
    prepended = len(target) - len(shape)
    view = [0] * prepended + list(strides)
    axis = prepended
    for size in shape:
        if size != target[axis]:
            view[axis] = 0
        axis += 1
    return tuple(view)


def broadcast_views(
    shapes: tuple[tuple[int, ...], ...], strides: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The common shape of `shapes` by the rule of SONNX, and the strides of each tensor's view.

    A tensor of the common shape keeps its strides. Raises NoTensor, NegativeSize or E1 as
    `broadcast_shapes` does. Required: one sequence of strides for each shape, with exactly one
    stride for each axis. [E_Broadcast_any_Signature_010] [E_Broadcast_any_Outputs_010]
    [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_140]

    Raises: NegativeSize, E1, NoTensor
    WhyML: kernel.views.COPViews.broadcast_views
    """
    target = broadcast_shapes(shapes)
    views: list[tuple[int, ...]] = [()] * len(shapes)
    for m, shape in enumerate(shapes):
        own = strides[m]
        views[m] = own if shape == target else view_strides(shape, own, target)
    views_2 = tuple(views)
    return (target, views_2)


def goes_on(steps: tuple[int, ...], size: int, more: tuple[int, ...]) -> bool:
    """Whether a loop with strides `steps` merges with an inner loop of `size` iterations with
    strides `more`. [E_Broadcast_any_Derived_560]

    WhyML: kernel.plan.COPPlan.goes_on
    """
    for m in range(len(more)):
        if steps[m] != size * more[m]:
            return False
    return True


def loop_plan(
    shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The loops that visit all elements of tensors of the same shape, in row-major order.

    `strides` has a stride per tensor and axis. The first result lists each loop's iterations, the
    outermost first; the second lists all tensors' strides in each loop. There is at least one
    loop, and no iteration if a size is 0. Required: no size is negative.
    [E_Broadcast_any_Derived_560]

    WhyML: kernel.plan.COPPlan.loop_plan
    """
    count = len(strides)
    still = tuple([0] * count)
    room = max(1, len(shape))
    sizes = [1] * room
    steps: list[tuple[int, ...]] = [still] * room
    n = 0
    for i, size in enumerate(shape):
        own = [0] * count
        for m in range(count):
            own[m] = strides[m][i]
        own_2 = tuple(own)
        if size == 0:
            none = tuple([0] * 1)
            steps_2 = tuple([still] * 1)
            return (none, steps_2)
        if size != 1:
            if n > 0 and goes_on(steps[n - 1], size, own_2):
                sizes[n - 1] = sizes[n - 1] * size
                steps[n - 1] = own_2
            else:
                sizes[n] = size
                steps[n] = own_2
                n += 1
    loops = max(1, n)
    sizes_2 = tuple(sizes[0 : 0 + loops])
    steps_2 = tuple(steps[0 : 0 + loops])
    return (sizes_2, steps_2)


class WrongLength(Exception):
    """A tensor has a wrong number of elements. The value is the lowest such tensor."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def broadcast_elements(
    data: tuple[_A, ...], shape: tuple[int, ...], target: tuple[int, ...]
) -> tuple[_A, ...]:
    """The elements of a tensor broadcast to `target`, in row-major order.

    Raises DataLength if `data` has a wrong length. Required: `shape` broadcasts to `target`, and
    no size is negative. [E_Broadcast_any_Derived_130]

    Raises: DataLength
    WhyML: kernel.tensors.COPTensors.broadcast_elements
    """
    given = list(data)
    try:
        value = broadcast_flat(given, shape, target)
        return tuple(value)
    except RankMismatch:
        raise AssertionError("unreachable") from None
    except NotBroadcastable:
        raise AssertionError("unreachable") from None


def broadcast_all(
    shapes: tuple[tuple[int, ...], ...], data: tuple[tuple[_A, ...], ...]
) -> tuple[tuple[int, ...], tuple[tuple[_A, ...], ...]]:
    """The common shape by the rule of SONNX, and the elements of all tensors broadcast to it.

    `data` has one list of elements per shape; all lists are in row-major order. Raises NoTensor,
    NegativeSize or E1 as `broadcast_shapes` does, else WrongLength with the first tensor that has
    a wrong number of elements. [E_Broadcast_any_Signature_010] [E_Broadcast_any_Inputs_010]
    [E_Broadcast_any_Outputs_010] [E_Broadcast_any_Steps_010] [E_Broadcast_any_E1_020]
    [E_Broadcast_any_Derived_130] [E_Broadcast_any_Derived_140]

    Raises: NegativeSize, E1, NoTensor, WrongLength
    WhyML: kernel.tensors.COPTensors.broadcast_all
    """
    target = broadcast_shapes(shapes)
    out: list[tuple[_A, ...]] = [()] * len(shapes)
    for m, shape in enumerate(shapes):
        try:
            value = broadcast_elements(data[m], shape, target)
            out[m] = value
        except DataLength:
            raise WrongLength(m) from None
    out_2 = tuple(out)
    return (target, out_2)


class NeverAgree(Exception):
    """Two numbers of an axis differ and are not 1: the shapes never broadcast. The values are the
    tensors, the lower first, and the axis, counted in the largest rank.
    [E_Broadcast_any_Derived_580]
    """

    def __init__(self, value: tuple[int, int, int]) -> None:
        super().__init__(value)
        self.value = value


def largest_rank(shapes: tuple[tuple[int, ...], ...]) -> int:
    """The largest rank, 0 if there are no shapes. [E_NumpyBroadcast_any_Rule_030]

    WhyML: kernel.symbolic.COPSymbolic.largest_rank
    """
    rank = 0
    for s in shapes:
        if len(s) > rank:
            rank = len(s)
    return rank


def shape_of_numbers(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """The common shape, by the rule of NumPy, if every name is 1.

    Raises NeverAgree with the first two numbers that differ and are not 1: lowest axis first,
    then lowest second tensor, then lowest first tensor. [E_Broadcast_any_Derived_580]

    Raises: NeverAgree
    WhyML: kernel.symbolic.COPSymbolic.shape_of_numbers
    """
    rank = largest_rank(shapes)
    numbers = [1] * rank
    for i in range(rank):
        number = 1
        first = 0
        for m in range(len(shapes)):
            z = padded_size(shapes[m], rank, i)
            if z >= 0 and z != 1:
                if number == 1:
                    number = z
                    first = m
                elif z != number:
                    raise NeverAgree((first, m, i))
        numbers[i] = number
    return tuple(numbers)


def found(symbols: list[int], n: int, z: int) -> bool:
    """Whether one of the first `n` symbols is `z`.

    WhyML: kernel.symbolic.COPSymbolic.found
    """
    for k in range(n):
        if symbols[k] == z:
            return True
    return False


def axis_symbols(shapes: tuple[tuple[int, ...], ...], rank: int, axis: int) -> tuple[int, ...]:
    """The symbols other than 1 on axis `axis`, each once. [E_Broadcast_any_Derived_580]

    WhyML: kernel.symbolic.COPSymbolic.axis_symbols
    """
    symbols = [1] * len(shapes)
    n = 0
    for m in range(len(shapes)):
        z = padded_size(shapes[m], rank, axis)
        if z != 1 and (not found(symbols, n, z)):
            symbols[n] = z
            n += 1
    return tuple(symbols[0 : 0 + n])


def symbolic_sizes(shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """The common shape of shapes of symbols: a tuple of symbols for each axis.

    Symbols below 0 are names, others numbers. A number is the only symbol of its axis. If the
    shapes broadcast, an axis has any of its symbols' sizes other than 1, or 1 if there is
    none. Raises NeverAgree as `shape_of_numbers` does. [E_Broadcast_any_Derived_580]

    Raises: NeverAgree
    WhyML: kernel.symbolic.COPSymbolic.symbolic_sizes
    """
    numbers = shape_of_numbers(shapes)
    rank = len(numbers)
    sizes: list[tuple[int, ...]] = [()] * rank
    for i in range(rank):
        d = numbers[i]
        if d == 1:
            sizes[i] = axis_symbols(shapes, rank, i)
        else:
            only = tuple([d] * 1)
            sizes[i] = only
    return tuple(sizes)


def with_clause(
    clauses: tuple[tuple[int, int, int], ...], i: int, a: int, b: int
) -> tuple[tuple[int, int, int], ...]:
    """Append the clause of axis `i` and symbols `a` and `b`. [E_Broadcast_any_Derived_580]

    WhyML: kernel.symbolic.COPSymbolic.with_clause
    """
    last: list[tuple[int, int, int]] = [(i, a, b)] * 1
    return tuple(list(clauses) + last)


def symbolic_conditions(shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, int, int], ...]:
    """The condition under which shapes of symbols broadcast by the rule of NumPy.

    Each clause `(axis, a, b)` must hold: a is 1, b is 1, or both are equal. An axis with a number
    other than 1 has a clause for each name and this number; any other axis has one for every two
    names. Lower axes come first. Raises NeverAgree as `shape_of_numbers` does.
    [E_Broadcast_any_Derived_580]

    Raises: NeverAgree
    WhyML: kernel.symbolic.COPSymbolic.symbolic_conditions
    """
    numbers = shape_of_numbers(shapes)
    rank = len(numbers)
    clauses = tuple([(0, 0, 0)] * 0)
    for i in range(rank):
        symbols = axis_symbols(shapes, rank, i)
        d = numbers[i]
        if d == 1:
            for k in range(len(symbols)):
                for m in range(k + 1, len(symbols)):
                    clauses = with_clause(clauses, i, symbols[k], symbols[m])
        else:
            for z in symbols:
                if z != d:
                    clauses = with_clause(clauses, i, z, d)
    return clauses


def has_one(shapes: tuple[tuple[int, ...], ...], rank: int, axis: int) -> bool:
    """Whether some shape, padded to `rank`, has 1 on `axis`. [E_Broadcast_any_Derived_590]

    WhyML: kernel.symbolic.COPSymbolic.has_one
    """
    for m in range(len(shapes)):
        if padded_size(shapes[m], rank, axis) == 1:
            return True
    return False


def symbols_and_one(shapes: tuple[tuple[int, ...], ...], rank: int, axis: int) -> tuple[int, ...]:
    """The symbols on axis `axis`, each once, 1 last.

    `rank` is the largest rank. A missing axis counts as 1. [E_Broadcast_any_Derived_590]

    WhyML: kernel.symbolic.COPSymbolic.symbols_and_one
    """
    symbols = axis_symbols(shapes, rank, axis)
    if not has_one(shapes, rank, axis):
        return symbols
    last = [1] * 1
    return tuple(list(symbols) + last)


def symbolic_zeros(shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, int, int], ...]:
    """SONNX's further condition: no pair `(axis, a, b)` has the sizes 0 and 1.

    Every two symbols of an axis that are names, 0 or 1 are a pair. Lower axes come first; in a
    pair, 1 is second. A missing axis counts as 1. SONNX always rejects a pair (axis, 0, 1).
    [E_Broadcast_any_Derived_590]

    WhyML: kernel.symbolic.COPSymbolic.symbolic_zeros
    """
    rank = largest_rank(shapes)
    pairs = tuple([(0, 0, 0)] * 0)
    for i in range(rank):
        symbols = symbols_and_one(shapes, rank, i)
        for k, a in enumerate(symbols):
            for m in range(k + 1, len(symbols)):
                b = symbols[m]
                if a <= 1 and b <= 1:
                    pairs = with_clause(pairs, i, a, b)
    return pairs


def can_be_one(least: tuple[int, ...], z: int) -> bool:
    """Whether a symbol can be 1. [E_Broadcast_any_Derived_670]

    WhyML: kernel.known.COPKnown.can_be_one
    """
    if z >= 0:
        return z == 1
    if -z > len(least):
        return True
    return least[-z - 1] <= 1


def can_be_equal(least: tuple[int, ...], x: int, y: int) -> bool:
    """Whether two symbols can be the same size. [E_Broadcast_any_Derived_670]

    WhyML: kernel.known.COPKnown.can_be_equal
    """
    if x == y or (x < 0 and y < 0):
        return True
    if x >= 0 and y >= 0:
        return False
    name = x if x < 0 else y
    number = y if x < 0 else x
    if -name > len(least):
        return True
    return least[-name - 1] <= number


def replaced_in(shape: tuple[int, ...], x: int, y: int) -> tuple[int, ...]:
    """Replace `x` by `y` in the shape. [E_Broadcast_any_Derived_670]

    WhyML: kernel.known.COPKnown.replaced_in
    """
    sizes = list(shape)
    for k in range(len(shape)):
        if shape[k] == x:
            sizes[k] = y
    return tuple(sizes)


def replaced(shapes: tuple[tuple[int, ...], ...], x: int, y: int) -> tuple[tuple[int, ...], ...]:
    """Replace `x` by `y` in all shapes. [E_Broadcast_any_Derived_670]

    WhyML: kernel.known.COPKnown.replaced
    """
    found: list[tuple[int, ...]] = list(shapes)
    for m in range(len(shapes)):
        found[m] = replaced_in(shapes[m], x, y)
    return tuple(found)


def one_way(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """The clauses `(axis, x, y)` under which a shape broadcasts to a target of at least its rank,
    lower axes first: x is 1, or both symbols are the same size. [E_Broadcast_any_Derived_670]

    WhyML: kernel.known.COPKnown.one_way
    """
    clauses = tuple([(0, 0, 0)] * 0)
    for i in range(len(target)):
        x = padded_size(shape, len(target), i)
        y = target[i]
        if x != 1 and x != y:
            clauses = with_clause(clauses, i, x, y)
    return clauses
