"""broadcast_in_dim of JAX, from a proved program; StableHLO has it under the same name.

The argument `broadcast_dimensions` says on which axis of the result each axis of the operand lies.
A size of 1 grows to any size, 0 included, which `whycast.broadcast` would not let it.
"""

from __future__ import annotations

from whycast._arrays import Array
from whycast._checks import DTypeT, Integers, as_array, as_axes, as_target
from whycast._errors import Names
from whycast._views import explicit_view

__all__ = ["broadcast_in_dim"]

_NAMES = Names("operand", "shape", "broadcast_dimensions")


def broadcast_in_dim(
    operand: Array[DTypeT], shape: Integers, broadcast_dimensions: Integers
) -> Array[DTypeT]:
    """Broadcast a tensor to a shape, its axes on given axes of that shape.

    Parameters
    ----------
    operand : numpy.ndarray
        Tensor of any shape, dtype and memory layout.
    shape : sequence of int or one-dimensional array of an integer dtype
        Shape of the result. Sizes are at least 0.
    broadcast_dimensions : sequence of int or one-dimensional array of an integer dtype
        For each axis of `operand` the axis of `shape` on which it lies. The axes are counted from 0
        and increase strictly.

    Returns
    -------
    numpy.ndarray
        View of shape `shape`, of the same dtype, on the same memory. It is not writable, and is a
        plain ndarray also where `operand` is of a subclass.

    Raises
    ------
    whycast.AxisSizeError
        A size of `operand` is neither 1 nor that of its axis of `shape`. It is a
        `whycast.BroadcastError`, and a ValueError.
    TypeError
        `operand` is not an ndarray, or `shape` or `broadcast_dimensions` neither a sequence of
        integers nor a one-dimensional array of them.
    ValueError
        A size is negative; the axes are not one for each axis of `operand`, not axes of `shape`, or
        not strictly increasing; or NumPy can represent no array of that shape.

    Notes
    -----
    Rests on ``explicit_broadcasts_to`` and ``explicit_broadcast`` of module ``ExplicitAxes``
    (``why3/axes/explicit.mlw``). The program is ``explicit_strides`` (``why3/kernel/axes.mlw``),
    proved to return the strides of the view, or to raise exactly when the operand does not
    broadcast. That they address the right elements is lemma ``explicit_offset`` of
    ``why3/memory/axes_layout.mlw``.

    Clauses: [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020]
    [E_BroadcastInDim_any_Size_010] [E_BroadcastInDim_any_Data_010]

    Examples
    --------
    >>> import numpy as np
    >>> broadcast_in_dim(np.array([1, 2]), (2, 3), (0,))
    array([[1, 1, 1],
           [2, 2, 2]])
    >>> broadcast_in_dim(np.array([[1], [2]]), (2, 1, 3), (0, 2)).tolist()
    [[[1, 1, 1]], [[2, 2, 2]]]
    """
    return explicit_view(
        as_array(operand, "operand"),
        as_target(shape, "shape"),
        as_axes(broadcast_dimensions, "broadcast_dimensions"),
        _NAMES,
    )
