"""Broadcast on arrays: read-only views, laid out by the proved strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided

from whycast import _kernel
from whycast._checks import PLAIN_TYPES, DTypeT, as_tensor, check_count
from whycast._errors import BroadcastError, Shape, show_shape

Array: TypeAlias = np.ndarray[tuple[int, ...], DTypeT]
Strides: TypeAlias = tuple[int, ...]
_AnyArray: TypeAlias = (
    "np.ndarray[tuple[int, ...], np.dtype[np.generic] | np.dtypes.StringDType[object]]"
)
# Given by name, as NumPy's stubs want it, the flag costs as much as the view that it is set on.
_set_writeable = cast("Callable[[_AnyArray, bool], None]", np.ndarray.setflags)


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
    Rests on ``broadcast`` of module ``OPBroadcast`` (``why3/sonnx/broadcast.mlw``). The program is
    ``broadcast_views`` (``why3/kernel/views.mlw``): from the shapes and strides of all arrays it
    gives the common shape and the strides of all views, or raises exactly where E1 holds. That the
    views read what ``broadcast`` gives, or E1 with its first violation, is proved for any strides
    and whatever stands in memory: ``views_of_broadcast`` of ``why3/kernel/laws.mlw``. NumPy's
    constructor does the rest.

    Clauses: [E_Broadcast_any_Signature_010] [E_Broadcast_any_Types_010]
    [E_Broadcast_any_Restrictions_010] [E_Broadcast_any_Purpose_010] [E_Broadcast_any_Purpose_020]
    [E_Broadcast_any_Purpose_030] [E_Broadcast_any_Condition1_030] [E_Broadcast_any_Condition2_020]
    [E_Broadcast_any_Steps_010] [E_Broadcast_any_Step2_020] [E_Broadcast_any_Inputs_010]
    [E_Broadcast_any_Inputs_020] [E_Broadcast_any_Outputs_010] [E_Broadcast_any_Accuracy_010]
    [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_160]

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
    tensors: list[Array[DTypeT]] = []
    shapes: list[Shape] = []
    own_strides: list[Strides] = []
    for argument in arrays:
        tensor = argument
        if type(tensor) is not np.ndarray or tensor.dtype.type not in PLAIN_TYPES:
            tensor = as_tensor(tensor, f"argument {len(tensors)}")
        tensors.append(tensor)
        shapes.append(tensor.shape)
        own_strides.append(tensor.strides)
    try:
        common, views = _kernel.broadcast_views(tuple(shapes), tuple(own_strides))
    except _kernel.E1 as error:
        v = error.value
    else:
        # A tensor's own strides, given back, are those of a view of its own shape.
        results: list[Array[DTypeT]] = []
        for m, strides in enumerate(views):
            if strides is own_strides[m]:
                view = tensors[m].view()
                _set_writeable(view, False)
            else:
                view = view_by(tensors[m], common, strides)
            results.append(view)
        return tuple(results)
    # Outside the handler: the kernel's exception and its frames are not for the caller to keep.
    raise BroadcastError(v.tensor, v.axis, v.size, v.target, tuple(shapes))


def view_as(array: Array[DTypeT], target: Shape, *, writeable: bool = False) -> Array[DTypeT]:
    """View of a plain ndarray, broadcast to `target`, to which its shape has to broadcast.

    Only a writeable array has writeable views.
    """
    if array.shape == target:
        return own_view(array, writeable=writeable)
    strides = _kernel.broadcast_strides(array.shape, array.strides, target)
    return view_by(array, target, strides, writeable=writeable)


def view_by(
    array: Array[DTypeT], shape: Shape, strides: Strides, *, writeable: bool = False
) -> Array[DTypeT]:
    """View of a plain ndarray with a given shape and strides that reach none but its elements."""
    source, flags = array, array.flags
    # By the sign of its flags NumPy remembers that it is to warn of a write: a mark that
    # numpy.broadcast_arrays sets on its results. It then takes the mere making of a view for one.
    if writeable or flags.num < 0:
        source = own_view(array, writeable=writeable)
    try:
        # The constructor is by far the fastest way, and refuses strides that leave the buffer, but
        # it wants a buffer that is contiguous, in C or in Fortran order.
        if flags.forc:
            view: Array[DTypeT] = np.ndarray(shape, array.dtype, source, 0, strides)
        else:
            view = _view_in_owner(source, shape, strides)
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"NumPy has no array of shape {show_shape(shape)} and dtype {array.dtype}: {error}"
        ) from error
    if not writeable:
        _set_writeable(view, False)
    return view


def own_view(array: Array[DTypeT], *, writeable: bool = False) -> Array[DTypeT]:
    """View of a plain ndarray with its own shape and strides."""
    # Either flag also undoes the mark.
    view = array.view()
    _set_writeable(view, writeable)
    return view


def _view_in_owner(array: Array[DTypeT], shape: Shape, strides: Strides) -> Array[DTypeT]:
    """View of an array that is a part of a larger one, in the memory of that."""
    owner = array.base
    if type(owner) is not np.ndarray or not owner.flags.forc or owner.flags.num < 0:
        owner = _contiguous_owner(array)
        if owner is None:
            # NumPy's stubs lose the dtype here.
            return cast("Array[DTypeT]", as_strided(array, shape, strides))
    return np.ndarray(shape, array.dtype, owner, _address(array) - _address(owner), strides)


def _contiguous_owner(array: Array[DTypeT]) -> _AnyArray | None:
    """View of all the memory that `array` is or is a part of, its axes in the order of the memory.

    None where no array has that memory as its own, or where it has gaps.
    """
    owner: object = array
    while isinstance(owner, np.ndarray):
        axes = sorted(range(owner.ndim), key=owner.strides.__getitem__, reverse=True)
        view = np.ndarray.view(owner, np.ndarray).transpose(axes)
        if view.flags.c_contiguous and np.may_share_memory(view, array):
            view.setflags(write=array.flags.writeable)
            return view
        owner = owner.base
    return None


def _address(array: _AnyArray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
