"""Broadcast on flat Python lists: the executable reference, proved from input to output.

The functions of the other modules make views, whose elements NumPy fetches by proved strides. Here
a proved program fetches the elements itself, and writes them one by one into a new list.
"""

from __future__ import annotations

from typing import TypeVar

from whycast import _kernel
from whycast._checks import Integers, as_target, show
from whycast._errors import BroadcastError, rank_too_low, show_int, show_shape

__all__ = ["broadcast"]

_T = TypeVar("_T")


def broadcast(data: list[_T], shape: Integers, target: Integers) -> list[_T]:
    """Broadcast a tensor to a target shape, all its elements in a list.

    Parameters
    ----------
    data : list
        The elements of a tensor in row-major order (the last axis varies fastest): any objects.
    shape : sequence of int or one-dimensional array of an integer dtype
        Its shape, of rank at most that of `target`. Sizes are at least 0.
    target : sequence of int or one-dimensional array of an integer dtype
        Shape to broadcast to: the last axes are those of `shape`, with equal sizes, or with any
        where `shape` has 1.

    Returns
    -------
    list
        The elements of the tensor broadcast to `target`, in row-major order. A new list of the same
        objects.

    Raises
    ------
    whycast.BroadcastError
        A size of `shape` is neither 1 nor that of `target`.
    TypeError
        `data` is not a list, or `shape` or `target` neither a sequence of integers nor a
        one-dimensional array of them.
    ValueError
        A size is negative, the rank of `target` is less than that of `shape`, `data` has not as
        many elements as a tensor of that shape, or no list has as many as one of shape `target`.

    Notes
    -----
    Rests on ``broadcasts_to`` of ``why3/core/common_shape.mlw``, in which the rules of SONNX and
    NumPy are one: a size of 1 grows to any size, 0 included. (That a 1 and a 0 do not broadcast in
    SONNX is due to the common shape, which is 1 there.) The program is ``broadcast_flat``
    (``why3/kernel/flat.mlw``), proved to put at every valid multi-index of the output the element
    that ``source_index`` of ``why3/sonnx/broadcast.mlw`` names, or to raise exactly when the
    arguments do not fit (``is_flat_broadcast`` of ``why3/memory/flat.mlw``, and lemma
    ``represents_broadcast``).

    Clauses: [E_Broadcast_any_Derived_120] [E_Broadcast_any_Derived_130]

    Examples
    --------
    >>> broadcast(["a", "b"], (2, 1), (2, 3))
    ['a', 'a', 'a', 'b', 'b', 'b']
    >>> broadcast([1, 2, 3], (2, 1), (2, 3))
    Traceback (most recent call last):
    ValueError: data: expected 2 elements, the product of the sizes of shape (2, 1), got 3
    """
    if not isinstance(data, list):
        raise TypeError(f"data: expected a list, got {show(data)}")
    checked_shape = as_target(shape, "shape")
    checked_target = as_target(target, "target")
    failure: ValueError
    try:
        return _kernel.broadcast_flat(data, checked_shape, checked_target)
    except _kernel.DataLength:
        failure = ValueError(
            f"data: expected {show_int(_kernel.size(checked_shape))} elements, the product of the "
            f"sizes of shape {show_shape(checked_shape)}, got {len(data)}"
        )
    except _kernel.RankMismatch:
        failure = rank_too_low("target", "shape", len(checked_shape), len(checked_target))
    except _kernel.NotBroadcastable as error:
        v = error.value
        failure = BroadcastError(
            v.tensor, v.axis, v.size, v.target, (checked_shape,), checked_target
        )
    except OverflowError:
        failure = ValueError(
            "target: no list has as many elements as a tensor of shape "
            f"{show_shape(checked_target)}"
        )
    # Outside the handlers: the kernel's exception and its frames are not for the caller to keep.
    raise failure
