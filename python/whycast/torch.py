"""Expand of PyTorch, from a proved program."""

from __future__ import annotations

from whycast import _accelerator
from whycast._checks import as_array, as_integers, as_shape
from whycast._errors import Names
from whycast._types import Array, DTypeT, Integers, Tensor
from whycast._views import target_view

__all__ = ["expand"]

_NAMES = Names("input", "size")


def expand(input: Tensor[DTypeT], size: Integers) -> Array[DTypeT]:
    """Broadcast a tensor to a size, as torch.Tensor.expand does.

    Parameters
    ----------
    input : numpy.ndarray or NumPy scalar
        Of any shape, dtype and layout.
    size : sequence of int or 1-D integer array
        At least one size for each axis of `input`: 0 or more, or -1 for the size of `input`.

    Returns
    -------
    numpy.ndarray
        Read-only view (in torch, writable) of the same dtype and shape `size`, each -1 replaced.

    Raises
    ------
    whycast.BroadcastError
        A size of `input` is neither 1 nor that of `size`, or `size` lacks the axis.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is below -1, or -1 where `input` has no axis; or NumPy has no array of that shape.

    Notes
    -----
    Replaces each -1 (not proved), and then broadcasts as `whycast.broadcast_to` does. The command
    line and `whycast.testing` take no -1. Rests on ``broadcasts_to`` of
    ``why3/core/common_shape.mlw``. Source: PyTorch's documentation of torch.Tensor.expand.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1], [2]])
    >>> expand(x, (-1, 3))
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    # [E_TorchExpand_any_Size_010] [E_TorchExpand_any_View_010]
    # [E_NumpyBroadcast_any_Functions_020] [E_Broadcast_any_Derived_160]
    made: Array[DTypeT] | None = _accelerator.broadcast_to(input, size)
    if made is not None:
        return made
    array, sizes = as_array(input, "input"), list(as_integers(size, "size", "axis"))
    for axis, own in enumerate(array.shape, len(sizes) - array.ndim):
        if axis >= 0 and sizes[axis] == -1:
            sizes[axis] = own
    if -1 in sizes[: max(0, len(sizes) - array.ndim)]:
        said = "expected a size of at least 0, got -1; input has no such axis"
        raise ValueError(f"size, axis {sizes.index(-1)}: {said}")
    return target_view(array, as_shape(tuple(sizes), "size"), _NAMES)
