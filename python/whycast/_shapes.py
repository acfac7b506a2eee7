"""Broadcast on shapes and multi-indices: the proved kernel behind checked arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from whycast import _kernel
from whycast._checks import as_index, as_int, as_shape, as_shapes, as_size, check_count
from whycast._errors import BroadcastError, Shape, show_int


def f(a: SupportsIndex, b: SupportsIndex, c: SupportsIndex) -> int:
    """Index into an axis of a tensor that broadcasting leads to.

    Parameters
    ----------
    a : int
        Index on that axis of the broadcast tensor.
    b, c : int
        Size of the axis before and after broadcasting.

    Returns
    -------
    int
        `a` where the size stays the same, 0 where it changes.

    Raises
    ------
    TypeError
        An argument is not an integer.
    ValueError
        A size is negative.

    Notes
    -----
    Rests on ``f`` of module ``IndexMap`` (``why3/sonnx/broadcast.mlw``), from step 2 of SONNX
    Broadcast. Like there, it is total: where no broadcast leads from `b` to `c` it is 0.

    Clauses: [E_Broadcast_any_F_010] [E_Broadcast_any_F_020]

    Examples
    --------
    >>> f(2, 5, 5)
    2
    >>> f(2, 1, 5)
    0
    """
    return _kernel.f(as_int(a, "a"), as_size(b, "b"), as_size(c, "c"))


def broadcast_shapes(*shapes: Sequence[SupportsIndex]) -> Shape:
    """Shape that tensors of the given shapes have in common after SONNX Broadcast.

    Parameters
    ----------
    *shapes : sequence of int
        One shape for each tensor, 1 to 2**31 - 1 of them, of any ranks. Sizes are integers of at
        least 0.

    Returns
    -------
    tuple of int
        On each axis of the highest rank the maximum size, shorter shapes being prepended with ones.

    Raises
    ------
    BroadcastError
        A size is neither the maximum of its axis nor 1: SONNX's error E1. A size of 0 therefore
        meets neither 1 nor a missing axis, which NumPy would let it.
    TypeError
        An argument is not a shape, or a size is not an integer.
    ValueError
        No shape is given, too many are, or a size is negative.

    Notes
    -----
    Rests on ``common_shape`` (the common rank of step 1, the maxima of step 2), ``e1`` and
    ``first_violation`` of ``why3/core/common_shape.mlw``. The program is ``broadcast_shapes`` of
    module ``COPBroadcast`` (``why3/kernel/broadcast.mlw``), proved to return that shape, or to
    raise exactly when E1 holds.

    Clauses: [E_Broadcast_any_Signature_020] [E_Broadcast_any_Signature_030]
    [E_Broadcast_any_Condition1_010] [E_Broadcast_any_Condition2_010] [E_Broadcast_any_Step1_010]
    [E_Broadcast_any_Step1_020] [E_Broadcast_any_Step2_010] [E_Broadcast_any_Step2_030]
    [E_Broadcast_any_Step2_040] [E_Broadcast_any_E1_010] [E_Broadcast_any_E1_020]

    Examples
    --------
    >>> broadcast_shapes((3, 1), (1, 4), (4,))
    (3, 4)
    >>> broadcast_shapes((3, 4), (2, 5, 1))
    Traceback (most recent call last):
    whycast.BroadcastError: shapes do not broadcast (E1): axis 1 of the common rank 3, tensor 0 \
has size 3, expected 5 or 1
      tensor 0:     >3<  4
      tensor 1:  2  [5]  1
    """
    check_count(len(shapes), "shape")
    return common_shape(as_shapes(shapes))


def common_shape(shapes: tuple[Shape, ...]) -> Shape:
    """Return the common shape of checked shapes, or raise E1 as a BroadcastError."""
    try:
        return _kernel.broadcast_shapes(shapes)
    except _kernel.E1 as error:
        v = error.value
    # Outside the handler: the kernel's exception and its frames are not for the caller to keep.
    raise BroadcastError(v.tensor, v.axis, v.size, v.target, shapes)


def source_index(
    shape: Sequence[SupportsIndex],
    target: Sequence[SupportsIndex],
    index: Sequence[SupportsIndex],
) -> tuple[int, ...]:
    """Multi-index of a tensor whose element stands at `index` of the tensor broadcast to `target`.

    Parameters
    ----------
    shape : sequence of int
        Shape of the tensor, of rank at most that of `target`.
    target : sequence of int
        Shape that it is broadcast to.
    index : sequence of int
        Multi-index of the broadcast tensor, one index for each axis of `target`.

    Returns
    -------
    tuple of int
        Valid multi-index of the tensor, one index for each axis of `shape`.

    Raises
    ------
    BroadcastError
        A size of `shape` is neither 1 nor that of `target`.
    IndexError
        An index is not between 0 and the size of `target` on its axis.
    TypeError
        An argument is not a sequence of integers.
    ValueError
        The ranks do not fit, or a size is negative.

    Notes
    -----
    Rests on ``source_index`` of module ``IndexMap`` (``why3/sonnx/broadcast.mlw``), the index
    relations of step 1 and step 2 in one: `f` on each axis, and the indices of the prepended axes
    dropped. Lemma ``source_index_valid`` says that the result is valid.

    Clauses: [E_Broadcast_any_Step1_030] [E_Broadcast_any_Step2_050] [E_Broadcast_any_F_020]

    Examples
    --------
    >>> source_index((3, 1), (2, 3, 4), (1, 2, 3))
    (2, 0)
    """
    checked_shape = as_shape(shape, "shape")
    checked_target = as_shape(target, "target")
    checked_index = as_index(index, "index")
    try:
        return _kernel.source_index(checked_shape, checked_target, checked_index)
    except _kernel.RankMismatch:
        if len(checked_shape) > len(checked_target):
            raise ValueError(
                f"shape: expected a rank of at most {len(checked_target)}, that of target, "
                f"got {len(checked_shape)}"
            ) from None
        raise ValueError(
            f"index: expected {len(checked_target)} indices, one for each axis of target, "
            f"got {len(checked_index)}"
        ) from None
    except _kernel.NotBroadcastable as error:
        v = error.value
        raise BroadcastError(
            v.tensor, v.axis, v.size, v.target, (checked_shape,), checked_target
        ) from None
    except _kernel.IndexOutOfRange as error:
        axis = error.value
        raise IndexError(
            f"index, axis {axis}: expected at least 0 and less than the target's size "
            f"{show_int(checked_target[axis])}, got {show_int(checked_index[axis])}"
        ) from None
