"""Errors and views that several specifications share."""

from __future__ import annotations

from whycast import _accelerator, _kernel
from whycast._arrays import view_as
from whycast._checks import as_array, as_shape
from whycast._errors import AxisSizeError, IncompatibleError, Names, ask, show_int, unfit
from whycast._types import Array, Axes, DTypeT, Integers, Shape, Tensor


def misfit(
    error: Exception, own: Shape, target: Shape, axes: Axes, names: Names, *, numbered: bool = True
) -> ValueError:
    """Translate the kernel's error, with argument names; `numbered`: axes have positions.

    >>> misfit(_kernel.AxesNotDistinct((0, 2)), (), (), (2, 0, 2), Names("", "", "axes"))
    ValueError('axes, positions 0 and 2: expected distinct axes, got 2 twice')
    """
    place = ""
    match error:
        case _kernel.AxesCount():
            expected = f"{show_count(len(own))}, one for each axis of {names.tensor}"
            got = str(len(axes))
        case _kernel.AxisOutOfRange():
            axis = axes[error.value]
            place = f", position {error.value}" if numbered else ""
            expected = f"an axis of {names.target}, whose rank is {len(target)}"
            hint = "; axes are counted from 0, none from the end" if axis < 0 else ""
            got = show_int(axis) + hint
        case _kernel.AxesNotIncreasing():
            previous, axis = axes[error.value - 1 : error.value + 1]
            fault = "repeated" if axis == previous else "unsorted"
            place, expected = f", position {error.value}", "strictly increasing axes"
            got = f"{show_int(axis)} after {show_int(previous)} ({fault})"
        case _kernel.AxesNotDistinct():
            first, second = error.value
            place, expected = f", positions {first} and {second}", "distinct axes"
            got = f"{show_int(axes[second])} twice"
        case _kernel.AxisMisfit():
            return AxisSizeError(error.value, axes, own, target, names)
        case _kernel.NotExpandable():
            return IncompatibleError(0, 1, error.value, (own, target), names)
        case _:
            return unfit(error, own, target, names)
    return ValueError(f"{names.axes}{place}: expected {expected}, got {got}")


def broadcast_to(tensor: Tensor[DTypeT], shape: Integers) -> Array[DTypeT]:
    """Broadcast a tensor to a given shape.

    Parameters
    ----------
    tensor : numpy.ndarray or NumPy scalar
        Of any shape, dtype and layout.
    shape : sequence of int or 1-D integer array
        Each size of `tensor` is 1 or that of `shape`, aligned at the last axes.

    Returns
    -------
    numpy.ndarray
        Read-only view of `tensor`, of shape `shape`.

    Raises
    ------
    BroadcastError
        A size of `tensor` is neither 1 nor that of `shape`, or `shape` lacks the axis.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative, or NumPy has no array of that shape.

    Notes
    -----
    Rests on ``broadcasts_to`` of ``why3/core/common_shape.mlw``, on which SONNX's and NumPy's rules
    agree: a 1 also grows to 0. Program: ``broadcast_strides``. For a shape from `broadcast_shapes`
    the result is that of `broadcast`; `whycast.numpy_rule.broadcast_to` also takes array_likes.

    Examples
    --------
    >>> import numpy as np
    >>> broadcast_to(np.array([[1], [2]]), (2, 3))
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    # [E_Broadcast_any_F_020] [E_Broadcast_any_Derived_110] [E_Broadcast_any_Derived_160]
    made: Array[DTypeT] | None = _accelerator.broadcast_to(tensor, shape)
    if made is not None:
        return made
    array = as_array(tensor, "tensor")
    return target_view(array, as_shape(shape, "shape"), Names("tensor", "shape"))


def target_view(array: Array[DTypeT], target: Shape, names: Names) -> Array[DTypeT]:
    """Return a view of shape `target`; the array lies on its last axes."""
    return ask(lambda error: unfit(error, array.shape, target, names), view_as, array, target)


def show_count(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"
