# Extracted by Why3 from why3/kernel.mlw and why3/kernel_numpy.mlw.
# Do not edit: change the sources, then `make extract`.
# SPDX-License-Identifier: Apache-2.0
# SHA-256 of the sources that why3/extraction/extract.py lists:
# 5e41a113dc63831c06e42eb566448cbc6f633c6c25d702e86113cbe35ef22e7d
# Tools: Why3 1.5.1, ruff 0.17.5.

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A size that does not broadcast: of which tensor, on which axis of the common rank, and
    the size of the output there.
    """

    tensor: int
    axis: int
    size: int
    target: int


class E1(Exception):
    """SONNX's error E1: some size is neither the maximum of its axis nor 1."""

    def __init__(self, value: Violation) -> None:
        super().__init__(value)
        self.value = value


class NoTensor(Exception):
    """No shape was given: Broadcast takes one tensor at least."""


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

    Ensures:
        result = Spec.f a b c
    """
    return a if b == c else 0


def pad(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Prepend axes of size 1 to `shape` up to the rank `rank`.

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
    r"""The size on axis `i` of `shape` padded to the rank `rank`.

    Requires:
        length shape <= rank /\ 0 <= i < rank
    Ensures:
        result = Spec.padded_size shape rank i
    """
    return 1 if i < rank - len(shape) else shape[i - rank + len(shape)]


def first_violation(shapes: tuple[tuple[int, ...], ...]) -> Violation:
    """The first size that violates E1: lowest tensor first, then lowest axis.

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
    which every other size must equal unless it is 1.

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
    the tensor has been broadcast to the shape `target`.

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
    `strides`: 0 on the axes that are prepended or grow.

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
    varies fastest.

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
    first, and on which axis of the common rank.
    """

    first: int
    second: int
    axis: int


class Incompatible(Exception):
    """The shapes are not compatible by the rule of NumPy."""

    def __init__(self, value: Mismatch) -> None:
        super().__init__(value)
        self.value = value


def first_mismatch(shapes: tuple[tuple[int, ...], ...]) -> Mismatch:
    """The first mismatch: lowest axis first, then lowest second tensor, then lowest first one.

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
    agree; the result has that size, or 1.

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
