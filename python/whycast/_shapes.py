"""Broadcast on shapes and multi-indices, by the proved kernel.

Next: `_arrays`, which makes views of arrays.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from whycast import _accelerator, _kernel
from whycast._checks import as_int, as_integers, as_shape, as_shapes, as_size
from whycast._errors import BroadcastError, ask, of_all, show_int, unfit
from whycast._types import Integers, Shape, Strides


def f(a: SupportsIndex, b: SupportsIndex, c: SupportsIndex) -> int:
    """Return a tensor's index on an axis for an index of the broadcast tensor.

    Parameters
    ----------
    a, b, c : int
        Index on the axis of the broadcast tensor; size of the axis before and after broadcasting.

    Returns
    -------
    int
        `a` if the sizes are equal, else 0, even if `b` does not broadcast to `c`.

    Raises
    ------
    TypeError
        An argument is not an integer.
    ValueError
        A size is negative.

    Notes
    -----
    Rests on ``f`` of ``why3/sonnx/broadcast.mlw``, from step 2 of SONNX Broadcast.

    Examples
    --------
    >>> f(2, 5, 5), f(2, 1, 5)
    (2, 0)
    """
    # [E_Broadcast_any_F_010] [E_Broadcast_any_F_020]
    return _kernel.f(as_int(a, "a"), as_size(b, "b"), as_size(c, "c"))


def broadcast_shapes(*shapes: Integers) -> Shape:
    """Return the common shape of tensors after SONNX Broadcast.

    Parameters
    ----------
    *shapes : sequence of int or 1-D integer array
        1 to 2**31 - 1 shapes of any ranks, with sizes of at least 0.

    Returns
    -------
    tuple of int
        The maximum on each axis, after ones are prepended to shorter shapes.

    Raises
    ------
    BroadcastError
        A size is neither the maximum of its axis nor 1 (SONNX's error E1), such as 0 beside 1.
    TypeError
        An argument is not a shape, or a size is not an integer.
    ValueError
        There are no shapes, or too many; a size is negative.

    Notes
    -----
    Rests on ``common_shape`` (steps 1 and 2), ``e1`` and ``first_violation`` of
    ``why3/core/common_shape.mlw``. Program: ``broadcast_shapes`` of ``why3/kernel/broadcast.mlw``.

    Examples
    --------
    >>> broadcast_shapes((3, 1), (1, 4), (4,))
    (3, 4)
    """
    # [E_Broadcast_any_Signature_020] [E_Broadcast_any_Signature_030]
    # [E_Broadcast_any_Condition1_010] [E_Broadcast_any_Condition2_010] [E_Broadcast_any_Step1_010]
    # [E_Broadcast_any_Step1_020] [E_Broadcast_any_Step2_010] [E_Broadcast_any_Step2_030]
    # [E_Broadcast_any_Step2_040] [E_Broadcast_any_E1_010] [E_Broadcast_any_E1_020]
    found: Shape | None = _accelerator.broadcast_shapes(shapes)
    if found is not None:
        return found
    return of_all(_kernel.broadcast_shapes, as_shapes(shapes, "broadcast_shapes"))


def compatible(*shapes: Integers) -> bool:
    """Return whether tensors of the given shapes broadcast by SONNX's rule.

    Parameters
    ----------
    *shapes : sequence of int or 1-D integer array
        As for `broadcast_shapes`.

    Returns
    -------
    bool
        True if `broadcast_shapes` returns a shape, False for SONNX's error E1.

    Raises
    ------
    TypeError
        An argument is not a shape, or a size is not an integer.
    ValueError
        There are no shapes, or too many; a size is negative.

    Notes
    -----
    Rests on ``e1`` of ``why3/core/common_shape.mlw``. Program: that of `broadcast_shapes`.

    Examples
    --------
    >>> compatible((3, 1), (1, 4), (4,)), compatible((3, 2), (4,)), compatible((0,), (1,))
    (True, False, False)
    """
    # [E_Broadcast_any_E1_010] [E_Broadcast_any_E1_020]
    found: bool | None = _accelerator.compatible(shapes)
    if found is not None:
        return found
    own = as_shapes(shapes, "compatible")
    try:
        of_all(_kernel.broadcast_shapes, own)
    except BroadcastError:
        return False
    return True


def broadcast_strides(shape: Integers, strides: Integers, target: Integers) -> Strides:
    """Return the strides of a view that broadcasts a tensor to a target shape.

    Parameters
    ----------
    shape, strides, target : sequence of int or 1-D integer array
        The tensor's shape, its strides (any integers, in bytes or elements), and the shape to
        broadcast to. Each size of `shape` is 1 or that of `target`, aligned at the last axes.

    Returns
    -------
    tuple of int
        For each axis of `target`, the tensor's stride; 0 if the axis is prepended or a 1 grows.

    Raises
    ------
    BroadcastError
        A size of `shape` is neither 1 nor the target's, or `target` lacks the axis.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative, or `strides` has the wrong length.

    Notes
    -----
    Rests on ``view_strides`` of ``why3/memory/layout.mlw``. Program: ``broadcast_strides`` of
    ``why3/kernel/broadcast.mlw``.

    Examples
    --------
    >>> broadcast_strides((3, 1), (8, 8), (2, 3, 4))
    (0, 8, 0)
    """
    # [E_Broadcast_any_F_020] [E_Broadcast_any_Derived_110]
    found: Strides | None = _accelerator.broadcast_strides(shape, strides, target)
    if found is not None:
        return found
    own, own_strides = as_shape(shape, "shape"), as_integers(strides, "strides", "axis")
    wanted = as_shape(target, "target")
    if len(own_strides) != len(own):
        raise ValueError(
            f"strides: expected {len(own)}, one for each axis of shape, got {len(own_strides)}"
        )
    return ask(
        lambda error: unfit(error, own, wanted),
        *(_kernel.broadcast_strides, own, own_strides, wanted),
    )


def source_index(shape: Integers, target: Integers, index: Integers) -> tuple[int, ...]:
    """Return the multi-index of the element that broadcasting to `target` puts at `index`.

    Parameters
    ----------
    shape, target, index : sequence of int or 1-D integer array
        Shape of the tensor, shape to broadcast to, and multi-index of the broadcast tensor.

    Returns
    -------
    tuple of int
        Valid multi-index of the tensor, one index for each axis of `shape`.

    Raises
    ------
    BroadcastError
        A size of `shape` is neither 1 nor the target's, or `target` lacks the axis.
    IndexError
        An index is negative, or not less than the size of `target` on its axis.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative, or `index` has the wrong length.

    Notes
    -----
    Rests on ``source_index`` of ``why3/sonnx/broadcast.mlw``: it applies `f` on each axis of
    `shape`. Lemma ``source_index_valid`` proves that the result is valid.

    Examples
    --------
    >>> source_index((3, 1), (2, 3, 4), (1, 2, 3))
    (2, 0)
    """
    # [E_Broadcast_any_Step1_030] [E_Broadcast_any_Step2_050] [E_Broadcast_any_F_020]
    own, wanted = as_shape(shape, "shape"), as_shape(target, "target")
    at = as_integers(index, "index", "axis")
    if len(own) <= len(wanted) != len(at):
        raise ValueError(
            f"index: expected {len(wanted)} indices, one for each axis of target, got {len(at)}"
        )

    def failure(error: Any) -> Exception:
        if not isinstance(error, _kernel.IndexOutOfRange):
            return unfit(error, own, wanted)
        axis = error.value
        return IndexError(
            f"index, axis {axis}: expected at least 0 and less than the target's size "
            f"{show_int(wanted[axis])}, got {show_int(at[axis])}"
        )

    return ask(failure, _kernel.source_index, own, wanted, at)
