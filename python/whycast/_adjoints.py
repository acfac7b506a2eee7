"""The adjoints of broadcasting: sums over the axes along which elements are repeated."""

from __future__ import annotations

import numpy as np

from whycast import _accelerator, _kernel
from whycast._checks import as_array, as_shape, cut
from whycast._errors import ask, unfit
from whycast._types import Array, Axes, DTypeT, Integers, Shape, Tensor


def sum_to_shape(delta: Tensor[DTypeT], shape: Integers) -> Array[DTypeT]:
    """Sum a tensor to a shape that broadcasts to the tensor's shape: the adjoint of broadcasting.

    Sums have the dtype of `delta`. Integers wrap around: 3 times 100 is 44 in int8. For sums in
    int64, as in `numpy.sum`, pass ``delta.astype(np.int64)``.

    Parameters
    ----------
    delta : numpy.ndarray or NumPy scalar
        Gradient, in any layout, of an integer, floating-point or complex dtype.
    shape : sequence of int or 1-D integer array
        Shape before broadcasting: each size is 1 or that of `delta`, aligned at the last axes.

    Returns
    -------
    numpy.ndarray
        New array of shape `shape` and `delta`'s dtype, writable and C-contiguous: the sums.

    Raises
    ------
    BroadcastError
        A size of `shape` is neither 1 nor the size of `delta`, or `delta` lacks the axis.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative.
    MemoryError
        The result does not fit into memory.

    Notes
    -----
    Rests on ``numpy_sum`` of ``why3/adjoint/numpy.mlw``; lemmas ``broadcast_to_adjoint`` and
    ``numpy_adjoint`` prove the adjoint over any commutative ring, such as the integers of a dtype.
    A proved program finds the axes. NumPy's additions are not proved: floating-point sums are
    rounded in NumPy's order, and float16 is added in float32 along contiguous memory.

    Examples
    --------
    >>> import numpy as np
    >>> sum_to_shape(np.array([[1, 2, 3], [10, 20, 30]]), (3,))
    array([11, 22, 33])
    >>> sum_to_shape(np.array([100, 100, 100], np.int8), ())
    array(44, dtype=int8)
    """
    # [E_OpenvinoBroadcast_ring_Derived_010]
    array, own = summable(delta), as_shape(shape, "shape")
    target = array.shape
    axes = ask(lambda error: unfit(error, own, target), repeated, own, target)
    return summed(array, axes, own)


def repeated(shape: Shape, target: Shape) -> tuple[int, ...]:
    """Return the axes of a target along which broadcasting repeats elements."""
    axes: Axes | None = _accelerator.repeated(shape, target)
    return _kernel.repeated_trailing(shape, target) if axes is None else axes


def summable(delta: Tensor[DTypeT]) -> Array[DTypeT]:
    """Return a tensor of one of NumPy's numeric dtypes as a plain ndarray."""
    array = as_array(delta, "delta")
    # Other libraries' dtypes of the same kind may add differently.
    if array.dtype.kind not in "iufc" or not issubclass(array.dtype.type, np.number):
        raise TypeError(
            f"delta: dtype {cut(array.dtype)} has no sum here: expected one of int8 to int64, "
            "uint8 to uint64, float16 to longdouble, complex64 to clongdouble; delta.astype(...) "
            "converts"
        )
    return array


def summed(array: Array[DTypeT], axes: Axes, shape: Shape) -> Array[DTypeT]:
    """Sum over `axes`; `shape` may keep some of them with size 1."""
    sums = np.empty(shape, array.dtype)
    target = sums
    if len(shape) + len(axes) > array.ndim:
        target = sums.reshape([size for axis, size in enumerate(array.shape) if axis not in axes])
    # NumPy adds in the dtype of `out`.
    np.add.reduce(array, axes, out=target)
    return sums
