"""Broadcast on arrays: read-only views, laid out by the proved strides."""

from __future__ import annotations

from typing import TypeAlias, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from whycast import _kernel
from whycast._checks import PLAIN_TYPES, DTypeT, as_tensor, check_count
from whycast._errors import Shape, show_shape
from whycast._shapes import common_shape

Array: TypeAlias = np.ndarray[tuple[int, ...], DTypeT]
_AnyArray: TypeAlias = (
    "np.ndarray[tuple[int, ...], np.dtype[np.generic] | np.dtypes.StringDType[object]]"
)


def broadcast(*arrays: Array[DTypeT]) -> tuple[Array[DTypeT], ...]:
    """Broadcast tensors to their common shape, as SONNX Broadcast does.

    Parameters
    ----------
    *arrays : numpy.ndarray
        1 to 2**31 - 1 tensors of any ranks, sizes and memory layouts. Their types are float16,
        float32, float64, int8 to int64, uint8 to uint64, bool or string (``str_``, ``StringDType``,
        or ``object`` where every element is a str), and may differ from one to the next.

    Returns
    -------
    tuple of numpy.ndarray
        For each argument a view of the common shape, of the same type, on the same memory. It is
        not writable, and is a plain ndarray also where the argument is of a subclass.

    Raises
    ------
    BroadcastError
        A size is neither the maximum of its axis nor 1: SONNX's error E1. A size of 0 therefore
        meets neither 1 nor a missing axis, which NumPy would let it.
    TypeError
        An argument is not an ndarray of one of the types above.
    ValueError
        No array is given, too many are, or NumPy can represent no array of the common shape.

    Notes
    -----
    Rests on ``broadcast`` of module ``OPBroadcast`` (``why3/broadcast.mlw``): the common shape and
    E1 as in `broadcast_shapes`, the elements by ``step1`` and ``step2``. The strides of a view are
    those of the argument, and 0 on prepended and grown axes. That they address the element which
    both steps lead to is proved for any strides: lemma ``view_offset`` of ``why3/layout.mlw``.

    Examples
    --------
    >>> x, y = broadcast(np.array([[1], [2]]), np.array([0.5, 1.5, 2.5]))
    >>> x
    array([[1, 1, 1],
           [2, 2, 2]])
    >>> y
    array([[0.5, 1.5, 2.5],
           [0.5, 1.5, 2.5]])
    """
    check_count(len(arrays), "array")
    for array in arrays:
        if type(array) is not np.ndarray or array.dtype.type not in PLAIN_TYPES:
            arrays = tuple([as_tensor(a, f"argument {m}") for m, a in enumerate(arrays)])
            break
    shapes = tuple([array.shape for array in arrays])
    # Equal shapes are their own common shape: lemma common_shape_equal of why3/stepwise.mlw.
    if shapes.count(shapes[0]) == len(shapes):
        views = [array.view() for array in arrays]
        for view in views:
            view.setflags(write=False)
        return tuple(views)
    common = common_shape(shapes)
    return tuple([view_as(array, common) for array in arrays])


def view_as(array: Array[DTypeT], target: Shape) -> Array[DTypeT]:
    """Read-only view of a plain ndarray, broadcast to a target that its shape broadcasts to."""
    if array.shape == target:
        view = array.view()
    else:
        strides = _kernel.broadcast_strides(array.shape, array.strides, target)
        try:
            view = _strided_view(array, target, strides)
        except ValueError as error:
            raise ValueError(
                f"NumPy has no array of shape {show_shape(target)} and dtype {array.dtype}: {error}"
            ) from error
    view.setflags(write=False)
    return view


def _strided_view(array: Array[DTypeT], shape: Shape, strides: tuple[int, ...]) -> Array[DTypeT]:
    """View with the given strides that begins where `array` begins and stays inside its memory."""
    # The constructor is by far the fastest way, and refuses strides that leave the buffer, but it
    # wants a buffer that is contiguous, in C or in Fortran order.
    owner: _AnyArray = array
    offset = 0
    if not array.flags.forc:
        if not isinstance(array.dtype, np.dtypes.StringDType):
            # NumPy's stubs lose the dtype here.
            return cast("Array[DTypeT]", as_strided(array, shape, strides))
        # as_strided goes through the array interface, which has no StringDType.
        owner = _contiguous_owner(array)
        offset = _address(array) - _address(owner)
    return np.ndarray(shape, array.dtype, owner, offset, strides)


def _contiguous_owner(array: _AnyArray) -> _AnyArray:
    """Array that owns the memory of `array`, its axes in the order that makes it contiguous."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    axes = sorted(range(owner.ndim), key=owner.strides.__getitem__, reverse=True)
    return np.ndarray.transpose(owner, axes)


def _address(array: _AnyArray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
