"""Broadcast of nGraph and its adjoint, from proved programs.

output_C = arg_p(C), where p(C) is the coordinate C without the axes in `broadcast_axes`. Sizes do
not grow: the shape of arg is p(shape).
"""

from __future__ import annotations

from collections.abc import Set

from whycast import _accelerator, _kernel, _views
from whycast._adjoints import summable, summed
from whycast._arrays import view_by
from whycast._checks import as_array, as_axis_set, as_shape
from whycast._errors import ArgShapeError, Names, ask, unfit
from whycast._types import Array, Axes, AxisSet, DTypeT, Integers, Shape, Tensor
from whycast._views import show_count

__all__ = ["ArgShapeError", "broadcast", "broadcast_adjoint"]

_NAMES = Names("arg", "shape", "broadcast_axes")


def broadcast(arg: Tensor[DTypeT], shape: Integers, broadcast_axes: AxisSet) -> Array[DTypeT]:
    """Broadcast a tensor to a shape along given axes, as nGraph Broadcast does.

    Parameters
    ----------
    arg : numpy.ndarray or NumPy scalar
        Of any dtype and layout; its shape is `shape` without `broadcast_axes`.
    shape : sequence of int or 1-D integer array
        Shape of the output. Sizes are at least 0.
    broadcast_axes : set of int, sequence of int or 1-D integer array
        The axes of `shape` that `arg` lacks, from 0. A sequence must increase strictly.

    Returns
    -------
    numpy.ndarray
        Read-only view of shape `shape` and the same dtype.

    Raises
    ------
    ArgShapeError
        A size of `arg`, even a 1, differs from the size of its axis of `shape`.
    whycast.BroadcastError
        `shape` has fewer axes than `arg`.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative; `broadcast_axes` are not axes of `shape`, do not increase strictly, or
        leave more or fewer axes than `arg` has; or NumPy has no array of that shape.

    Notes
    -----
    Rests on ``p`` of ``why3/axes/axis_set.mlw``, and on ``ngraph_valid`` and ``ngraph_broadcast``
    of ``why3/axes/ngraph.mlw``. The result equals mode ``explicit`` on the other axes
    (``ngraph_explicit``). Program: ``ngraph_strides`` of ``why3/kernel/axes.mlw``. A broadcast axis
    may have size 0.

    Examples
    --------
    >>> import numpy as np
    >>> broadcast(np.array([1, 2, 3]), (2, 3), {0})
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> broadcast(np.array([1]), (2, 3), {0})
    Traceback (most recent call last):
    whycast.ngraph.ArgShapeError: arg of shape (1,) does not broadcast to shape (2, 3): axis 0 of \
arg, which lies on axis 1 of shape, has size 1, expected 3; nGraph grows no size of 1: reshape arg \
so that it lacks the axis, and add 1 to broadcast_axes
      arg:                >1<
      shape:           2  [3]
      broadcast_axes:  0
    """
    # [E_NgraphBroadcast_any_Purpose_010] [E_NgraphBroadcast_any_Inputs_010]
    # [E_NgraphBroadcast_any_Attributes_010] [E_NgraphBroadcast_any_Attributes_020]
    # [E_NgraphBroadcast_any_Outputs_010] [E_NgraphBroadcast_any_Outputs_020]
    # [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Definition_010]
    # [E_NgraphBroadcast_any_Definition_030] [E_NgraphBroadcast_any_Interface_010]
    # [E_NgraphBroadcast_any_Interface_020]
    array = as_array(arg, "arg")
    target = as_shape(shape, "shape")
    axes = as_axis_set(broadcast_axes, "broadcast_axes")
    made: Array[DTypeT] | None = _accelerator.ngraph(array, target, axes)
    if made is not None:
        return made
    numbered, own = not isinstance(broadcast_axes, Set), array.shape
    strides = ask(
        lambda error: misfit(error, own, target, axes, _NAMES, numbered=numbered),
        *(_kernel.ngraph_strides, own, array.strides, target, axes),
    )
    mapped = None if array.flags.forc else _kernel.kept_axes(len(target), axes)
    return view_by(array, target, strides, mapped)


def broadcast_adjoint(delta: Tensor[DTypeT], broadcast_axes: AxisSet) -> Array[DTypeT]:
    """Sum a tensor over the axes along which `broadcast` repeats: the adjoint of `broadcast`.

    Parameters
    ----------
    delta : numpy.ndarray or NumPy scalar
        Gradient of the output, in any layout, of an integer, floating-point or complex dtype.
    broadcast_axes : set of int, sequence of int or 1-D integer array
        Axes of `delta`, as for `broadcast`.

    Returns
    -------
    numpy.ndarray
        New array of the same dtype, writable and C-contiguous: the sums over these axes. nGraph
        adds this array to the gradient of arg.

    Raises
    ------
    TypeError
        An argument has the wrong type.
    ValueError
        `broadcast_axes` are not axes of `delta`, or do not increase strictly.
    MemoryError
        The result does not fit into memory: it may be large if a summed axis has size 0.

    Notes
    -----
    Rests on ``sum_axes`` of ``why3/adjoint/ngraph.mlw`` and the proved program ``p`` of
    ``why3/axes/axis_set.mlw``. Over any commutative ring, only this result r satisfies
    ``<broadcast(x, ...), delta> = <x, r>``, an equation of inner products, for every `x` (lemmas
    ``ngraph_adjoint``, ``ngraph_adjoint_unique``). `whycast.sum_to_shape` describes the additions.

    Examples
    --------
    >>> import numpy as np
    >>> broadcast_adjoint(np.array([[1, 2, 3], [10, 20, 30]]), {0})
    array([11, 22, 33])
    >>> broadcast_adjoint(np.zeros((2, 0)), {1})
    array([0., 0.])
    """
    # [E_NgraphBroadcast_ring_Adjoint_010] [E_NgraphBroadcast_ring_Derived_010]
    array = summable(delta)
    axes = as_axis_set(broadcast_axes, "broadcast_axes")
    shape: Shape | None = _accelerator.p(array.shape, axes)
    if shape is None:
        numbered, names = not isinstance(broadcast_axes, Set), Names("", "delta", _NAMES.axes)
        shape = ask(
            lambda error: _views.misfit(error, (), array.shape, axes, names, numbered=numbered),
            *(_kernel.p, array.shape, axes),
        )
    return summed(array, axes, shape)


def misfit(
    error: Exception, own: Shape, target: Shape, axes: Axes, names: Names, *, numbered: bool = True
) -> ValueError:
    """Translate the kernel's error; `axes` are the axes that arg lacks."""
    match error:
        case _kernel.AxisMisfit():
            kept = _kernel.kept_axes(len(target), axes)
            return ArgShapeError(error.value, kept, own, target, axes)
        case _kernel.AxesCount() if len(own) <= len(target):
            return ValueError(
                f"{names.axes}: expected {show_count(len(target) - len(own))}, as {names.target} "
                f"has rank {len(target)} and {names.tensor} rank {len(own)}, got {len(axes)}"
            )
        case _kernel.AxesCount():
            return unfit(error, own, target, names)
    return _views.misfit(error, own, target, axes, names, numbered=numbered)
