"""broadcast_in_dim of JAX and StableHLO, from a proved program."""

from __future__ import annotations

from whycast import _accelerator, _kernel
from whycast._arrays import view_by
from whycast._checks import as_array, as_integers, as_shape
from whycast._errors import Names, ask
from whycast._types import Array, DTypeT, Integers, Tensor
from whycast._views import misfit

__all__ = ["broadcast_in_dim"]

_NAMES = Names("operand", "shape", "broadcast_dimensions")


def broadcast_in_dim(
    operand: Tensor[DTypeT], shape: Integers, broadcast_dimensions: Integers
) -> Array[DTypeT]:
    """Broadcast a tensor to a shape along given axes. A size of 1 grows to any size, also to 0.

    Parameters
    ----------
    operand : numpy.ndarray or NumPy scalar
        Of any shape, dtype and layout.
    shape : sequence of int or 1-D integer array
        Shape of the result. Sizes are at least 0.
    broadcast_dimensions : sequence of int or 1-D integer array
        For each axis of `operand`, its axis of `shape`, from 0: distinct, in any order.

    Returns
    -------
    numpy.ndarray
        Read-only view of shape `shape` and the same dtype.

    Raises
    ------
    whycast.AxisSizeError
        A size of `operand` is neither 1 nor the size of its axis of `shape`.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative; `broadcast_dimensions` has the wrong length, contains an axis twice, or
        an axis that `shape` lacks; or NumPy has no array of that shape.

    Notes
    -----
    Rests on ``in_dim_broadcasts_to`` and ``broadcast_in_dim`` of ``why3/axes/in_dim.mlw``. Program:
    ``in_dim_strides`` of ``why3/kernel/in_dim.mlw``. If the axes increase, the result equals mode
    ``explicit`` of `whycast.openvino.broadcast` (``explicit_in_dim``); otherwise it equals this
    mode after a transpose (``in_dim_some_transpose`` of ``why3/axes/in_dim_transpose.mlw``).

    Examples
    --------
    >>> import numpy as np
    >>> broadcast_in_dim(np.array([[1, 2, 3]]), (2, 3, 2), (2, 1)).tolist()
    [[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]
    """
    # [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020]
    # [E_BroadcastInDim_any_Size_010] [E_BroadcastInDim_any_Data_010]
    # [E_BroadcastInDim_any_Examples_010]
    made: Array[DTypeT] | None = _accelerator.in_dim(operand, shape, broadcast_dimensions)
    if made is not None:
        return made
    array, target = as_array(operand, "operand"), as_shape(shape, "shape")
    axes, own = as_integers(broadcast_dimensions, "broadcast_dimensions"), array.shape
    strides = ask(
        lambda error: misfit(error, own, target, axes, _NAMES),
        *(_kernel.in_dim_strides, own, array.strides, target, axes),
    )
    return view_by(array, target, strides, axes)
