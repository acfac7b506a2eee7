"""Expand of ONNX, from a proved program."""

from __future__ import annotations

from whycast import _accelerator, _kernel
from whycast._arrays import view_as
from whycast._checks import as_array, as_shape
from whycast._errors import Names, ask
from whycast._types import Array, DTypeT, Integers, Tensor
from whycast._views import misfit

__all__ = ["expand"]

_NAMES = Names("input", "shape")


def expand(input: Tensor[DTypeT], shape: Integers) -> Array[DTypeT]:
    """Broadcast a tensor and a shape with each other, as ONNX Expand does.

    Parameters
    ----------
    input : numpy.ndarray or NumPy scalar
        Of any shape, dtype and layout.
    shape : sequence of int or 1-D integer array
        Sizes of at least 0; -1 is an error. Where a size is 1 or missing, `input` keeps its own.

    Returns
    -------
    numpy.ndarray
        Read-only view of the same dtype, of the common shape by NumPy's rule.

    Raises
    ------
    whycast.numpy_rule.IncompatibleError
        A size of `input` and one of `shape` differ, and neither is 1.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative, or NumPy has no array of the common shape.

    Notes
    -----
    Rests on ``expandable``, ``expand_shape`` and ``expand`` of ``why3/axes/expand.mlw``; by lemma
    ``expand_numpy`` the result is NumPy's first output for `input` and a tensor of shape `shape`.
    Programs: ``expand_shape`` of ``why3/kernel/expand.mlw``, `whycast.broadcast_strides`.

    Examples
    --------
    >>> import numpy as np
    >>> expand(np.array([[1, 2, 3]]), (2, 1))
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> expand(np.zeros((2, 3)), (2,))
    Traceback (most recent call last):
    whycast.numpy_rule.IncompatibleError: shapes do not broadcast (NumPy's rule): axis 1 of the \
common rank 2, input has size 3, shape has size 2, expected equal sizes or 1
      input:  2  [3]
      shape:     >2<
    """
    # [E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Expand_any_Data_010]
    # [E_Expand_any_Data_020]
    made: Array[DTypeT] | None = _accelerator.expand(input, shape)
    if made is not None:
        return made
    array, target = as_array(input, "input"), as_shape(shape, "shape")
    common = ask(
        lambda error: misfit(error, array.shape, target, (), _NAMES),
        *(_kernel.expand_shape, array.shape, target),
    )
    return view_as(array, common)
