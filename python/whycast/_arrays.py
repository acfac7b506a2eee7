"""Broadcast on arrays: read-only views with proved strides, or copies.

Next: `_checks`, which rejects bad arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, overload

import numpy as np

from whycast import _accelerator, _kernel
from whycast._checks import as_array, as_tensors, cut, show, stored
from whycast._errors import of_all, show_shape
from whycast._types import AnyArray, Array, Axes, DTypeT, Shape, Strides, Tensor

_T0 = TypeVar("_T0", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]")
_T1 = TypeVar("_T1", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]")
_T2 = TypeVar("_T2", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]")
_T3 = TypeVar("_T3", bound="np.dtype[np.generic] | np.dtypes.StringDType[object]")

# NumPy's stubs lack positional calls; a keyword takes as long as making the view.
_set_writeable = cast("Callable[[AnyArray, bool], None]", np.ndarray.setflags)

# NumPy's stubs forbid None.
_nditer = cast("Callable[..., np.nditer]", np.nditer)

# With multi_index the iterator accepts more elements than it can count.
_READONLY, _ITERATED = (("readonly",),), ("multi_index", "refs_ok", "zerosize_ok")

_Out = Sequence[AnyArray] | None


@overload
def broadcast(x0: Tensor[_T0], /, *, copy: bool = False, out: _Out = None) -> tuple[Array[_T0]]: ...
@overload
def broadcast(
    x0: Tensor[_T0], x1: Tensor[_T1], /, *, copy: bool = False, out: _Out = None
) -> tuple[Array[_T0], Array[_T1]]: ...
@overload
def broadcast(
    x0: Tensor[_T0], x1: Tensor[_T1], x2: Tensor[_T2], /, *, copy: bool = False, out: _Out = None
) -> tuple[Array[_T0], Array[_T1], Array[_T2]]: ...
@overload
def broadcast(
    x0: Tensor[_T0],
    x1: Tensor[_T1],
    x2: Tensor[_T2],
    x3: Tensor[_T3],
    /,
    *,
    copy: bool = False,
    out: _Out = None,
) -> tuple[Array[_T0], Array[_T1], Array[_T2], Array[_T3]]: ...
@overload
def broadcast(
    x0: Tensor[Any], /, *tensors: Tensor[Any], copy: bool = False, out: _Out = None
) -> tuple[AnyArray, ...]: ...
def broadcast(
    *tensors: Tensor[Any], copy: bool = False, out: Sequence[AnyArray] | None = None
) -> tuple[AnyArray, ...]:
    """Broadcast tensors to their common shape, as SONNX Broadcast does.

    Parameters
    ----------
    *tensors : numpy.ndarray or NumPy scalar
        1 to 2**31 - 1 tensors of any ranks, sizes and layouts: float16 to float64, int8 to int64,
        uint8 to uint64, bool or string (``str_``, ``StringDType``, ``object`` with only str).
    copy : bool, optional
        Whether to copy the elements; by default the results are views.
    out : sequence of numpy.ndarray, optional
        For each result, a writable array of its shape and dtype, on memory of its own.

    Returns
    -------
    tuple of numpy.ndarray
        For each tensor an array of the common shape and the same dtype: a read-only view of the
        tensor; with `copy` a new array, writable and C-contiguous; with `out` the given array.

    Raises
    ------
    BroadcastError
        SONNX's error E1, as for `broadcast_shapes`.
    TypeError
        An argument is not a tensor of one of these types, or `out` is not a sequence of arrays.
    ValueError
        There are no tensors, or too many; NumPy has no array of the common shape; `out` does not
        fit the results, or comes with `copy`. These errors leave `out` unchanged.
    MemoryError
        The copies do not fit into memory.

    Notes
    -----
    Rests on ``broadcast`` of ``why3/sonnx/broadcast.mlw``. Program: ``broadcast_views`` of
    ``why3/kernel/views.mlw``, whose views equal the outputs (``views_of_broadcast`` of
    ``why3/kernel/laws.mlw``). NumPy or the accelerator makes and copies the views.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = broadcast(np.array([[1], [2]]), np.array([0.5, 1.5, 2.5]))
    >>> x.tolist(), y.tolist()
    ([[1, 1, 1], [2, 2, 2]], [[0.5, 1.5, 2.5], [0.5, 1.5, 2.5]])
    """
    # [E_Broadcast_any_Signature_010] [E_Broadcast_any_Types_010] [E_Broadcast_any_Restrictions_010]
    # [E_Broadcast_any_Purpose_010] [E_Broadcast_any_Purpose_020] [E_Broadcast_any_Purpose_030]
    # [E_Broadcast_any_Condition1_030] [E_Broadcast_any_Condition2_020] [E_Broadcast_any_Steps_010]
    # [E_Broadcast_any_Step2_020] [E_Broadcast_any_Inputs_010] [E_Broadcast_any_Inputs_020]
    # [E_Broadcast_any_Outputs_010] [E_Broadcast_any_Accuracy_010] [E_Broadcast_any_Derived_110]
    # [E_Broadcast_any_Derived_160]
    views: tuple[AnyArray, ...] | None = _accelerator.broadcast_views(tensors)
    if views is None:
        views = _views(as_tensors(tensors))
    if out is not None:
        return _written(views, out, copy=copy)
    return tuple([_copied(view) for view in views]) if copy else views


def _views(arrays: tuple[AnyArray, ...]) -> tuple[AnyArray, ...]:
    shapes = tuple([array.shape for array in arrays])
    # Equal shapes need no program: lemma broadcast_same_shape.
    if shapes.count(shapes[0]) == len(shapes):
        return tuple([own_view(array) for array in arrays])
    own = tuple([array.strides for array in arrays])
    common, strides = of_all(_kernel.broadcast_views, shapes, own)
    each = zip(arrays, own, strides, strict=True)
    # The kernel returns a tensor's own strides object only for an unchanged shape.
    return tuple([own_view(x) if new is old else view_by(x, common, new) for x, old, new in each])


def _copied(view: AnyArray) -> AnyArray:
    if not _accelerator.native or 0 not in view.strides:
        return view.copy()
    copy = np.empty(view.shape, view.dtype)
    _write(copy, view)
    return copy


def _written(views: Sequence[AnyArray], out: object, *, copy: bool) -> tuple[AnyArray, ...]:
    """Check all arrays `out`, then copy the views into them."""
    if copy:
        raise ValueError("out: expected none where copy is True: its arrays are the copies")
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"out: expected a tuple or a list of arrays, got {show(out)}")
    if len(out) != len(views):
        raise ValueError(f"out: expected {len(views)} arrays, one for each tensor, got {len(out)}")
    plain = []
    for m, (view, target) in enumerate(zip(views, out, strict=True)):
        name = f"out, array {m}"
        if not isinstance(target, np.ndarray):
            raise TypeError(f"{name}: expected a numpy.ndarray, got {show(target)}")
        own = as_array(target, name)
        if own.shape != view.shape:
            wanted, shown = show_shape(view.shape), show_shape(own.shape)
            raise ValueError(f"{name}: expected the shape {wanted}, got {shown}")
        if own.dtype != view.dtype:
            raise ValueError(f"{name}: expected the dtype {view.dtype}, got {cut(own.dtype)}")
        # Check overlaps first: reading `writeable` of a numpy.broadcast_arrays result warns.
        if overlaps_itself(own) or not own.flags.writeable:
            raise ValueError(
                f"{name}: expected a writable array, each element in a place of its own"
            )
        plain.append(own)
    for m, target in enumerate(plain):
        for noun, others in (("tensor", views), ("array", plain[:m])):
            for n, other in enumerate(others):
                if np.may_share_memory(target, other) and np.shares_memory(target, other):
                    raise ValueError(
                        f"out, array {m}: expected memory of its own, got some of {noun} {n}"
                    )
    for view, target in zip(views, plain, strict=True):
        _write(target, view)
    return tuple(out)


def _write(target: AnyArray, array: AnyArray) -> None:
    """Broadcast an array into another."""
    if _accelerator.broadcast(target, array):
        return
    # The accelerator needs contiguous memory, and NumPy is mostly faster on it: copy a tensor that
    # is small beside its target.
    tensor = stored(array)
    if not tensor.flags.c_contiguous and 4 * tensor.nbytes <= target.nbytes:
        _write(target, tensor.copy())
    else:
        np.copyto(target, view_as(array, target.shape))


def overlaps_itself(array: AnyArray) -> bool:
    """Whether elements may share memory: a stride is below the span of axes of smaller strides."""
    span = array.itemsize
    axes = zip(map(abs, array.strides), array.shape, strict=True)
    for stride, size in sorted([axis for axis in axes if axis[1] > 1]):
        if stride < span:
            return array.size > 0
        span += stride * (size - 1)
    return False


def view_as(array: Array[DTypeT], target: Shape) -> Array[DTypeT]:
    """Return a view of a plain ndarray, broadcast to `target`; raise the kernel's errors."""
    if array.shape == target:
        return own_view(array)
    return view_by(array, target, _kernel.broadcast_strides(array.shape, array.strides, target))


def view_by(
    array: Array[DTypeT], shape: Shape, strides: Strides, axes: Axes | None = None
) -> Array[DTypeT]:
    """Return a view of a plain ndarray with a shape and strides that stay within the array.

    Axis j of the array lies on axis ``axes[j]`` of the shape; by default, on the last axes.
    """
    source, flags = array, array.flags
    # Results of numpy.broadcast_arrays have negative flags; writing to a view of one warns.
    if flags.num < 0:
        source = own_view(array)
    try:
        # The constructor is by far the fastest way, rejects strides that leave the buffer, and
        # needs memory that is contiguous in C or Fortran order.
        if flags.forc:
            try:
                view: Array[DTypeT] = np.ndarray(shape, array.dtype, source, 0, strides)
                _set_writeable(view, False)
                return view
            except TypeError:
                # NumPy 2.5 cannot wrap a buffer as StringDType.
                pass
        return _iterated_view(source, shape, strides, axes)
    except (OverflowError, ValueError) as error:
        raise ValueError(
            f"NumPy has no array of shape {show_shape(shape)} and dtype {cut(array.dtype)}: {error}"
        ) from error


def own_view(array: Array[DTypeT]) -> Array[DTypeT]:
    """Return a read-only view of a plain ndarray."""
    view = array.view()
    # Setting the flag also clears NumPy's mark.
    _set_writeable(view, False)
    return view


def _iterated_view(
    array: Array[DTypeT], shape: Shape, strides: Strides, axes: Axes | None
) -> Array[DTypeT]:
    """Return a view of an array in any layout by NumPy's iterator; check its strides."""
    places = None
    if axes is not None:
        placed = dict(zip(axes, range(array.ndim), strict=True))
        places = ([placed.get(axis, -1) for axis in range(len(shape))],)
    # Positional arguments take half the time.
    (view,) = _nditer((array,), _ITERATED, _READONLY, None, "C", "no", places, shape).itviews
    # Strides may differ on axes of size 1, and in arrays without elements.
    if view.strides != strides and 0 not in shape:
        pairs = zip(shape, view.strides, strides, strict=True)
        if any(stride != proved and size != 1 for size, stride, proved in pairs):
            raise AssertionError(f"NumPy's view has strides {view.strides}, not {strides}")
    return cast("Array[DTypeT]", view)
