"""Broadcast of OpenVINO (opsets 1 and 3), in its three modes, from proved programs.

Mode ``numpy`` aligns the data with the last axes of the target, ``explicit`` with the axes in
`axes_mapping`; ``bidirectional`` broadcasts data and target with each other. A 1 grows to any size,
also to 0; a 0 fits only a 0 or, in mode ``bidirectional``, a 1 or a missing axis of the target.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

from whycast import _accelerator, _kernel
from whycast._adjoints import repeated, summable, summed
from whycast._arrays import own_view, view_by
from whycast._checks import as_array, as_integers, as_shape, show
from whycast._errors import Names, ask
from whycast._types import Array, Axes, DTypeT, Integers, Shape, Strides, Tensor
from whycast._views import misfit

__all__ = ["broadcast", "broadcast_adjoint"]

Mode: TypeAlias = Literal["numpy", "explicit", "bidirectional"]

_MODES: dict[str | None, _kernel.Mode] = {
    "numpy": _kernel.Numpy(),
    "explicit": _kernel.Explicit(),
    "bidirectional": _kernel.Bidirectional(),
    None: _kernel.mode_of(_kernel.NotGiven()),
}
_NAMES = Names("data", "target_shape", "axes_mapping")


def broadcast(
    data: Tensor[DTypeT],
    target_shape: Integers,
    axes_mapping: Integers | None = None,
    mode: Mode | None = None,
) -> Array[DTypeT]:
    """Broadcast a tensor to a target shape, as OpenVINO Broadcast does.

    Parameters
    ----------
    data : numpy.ndarray or NumPy scalar
        Of any shape, dtype and layout.
    target_shape : sequence of int or 1-D integer array
        Sizes of at least 0; -1 is an error.
    axes_mapping : sequence of int or 1-D integer array, optional
        Only in mode ``explicit``: for each axis of `data`, its axis of `target_shape`, increasing.
    mode : {"numpy", "explicit", "bidirectional"}, optional
        By default ``numpy``.

    Returns
    -------
    numpy.ndarray
        Read-only view of the same dtype and `target_shape`; if bidirectional, of the common shape.

    Raises
    ------
    whycast.AxisSizeError
        In mode ``explicit``: a size of `data` is neither 1 nor the size of its axis of the target.
    whycast.BroadcastError
        In mode ``numpy``: a size of `data` is neither 1 nor the target's, or `data` has more axes.
    whycast.numpy_rule.IncompatibleError
        In mode ``bidirectional``: two sizes of an axis differ, and neither is 1.
    TypeError
        An argument has the wrong type.
    ValueError
        `mode` is unknown; mode ``explicit`` comes without `axes_mapping`, or another mode with it;
        a size is negative; `axes_mapping` has the wrong length, contains an axis that the target
        lacks, or does not increase strictly; or NumPy has no array of the shape.

    Notes
    -----
    Rests on ``openvino_broadcast`` of ``why3/axes/openvino_operator.mlw``. Programs: ``mode_of``,
    ``view_without_axes`` and ``view_along_axes`` of ``why3/kernel/openvino.mlw``. Mode ``numpy``
    equals ``explicit`` with the last axes of `target_shape` (``openvino_trailing`` of
    ``why3/axes/operator_laws.mlw``), mode ``bidirectional`` equals `whycast.onnx.expand`
    (``expand_bidirectional`` of ``why3/axes/expand.mlw``).

    Examples
    --------
    >>> import numpy as np
    >>> data = np.array([1, 2])
    >>> broadcast(data, (2, 3), [0], mode="explicit")
    array([[1, 1, 1],
           [2, 2, 2]])
    >>> broadcast(data, (3, 1), mode="bidirectional").shape
    (3, 2)
    """
    # [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Purpose_020]
    # [E_OpenvinoBroadcast_any_Inputs_010] [E_OpenvinoBroadcast_any_Inputs_020]
    # [E_OpenvinoBroadcast_any_Inputs_030] [E_OpenvinoBroadcast_any_Inputs_040]
    # [E_OpenvinoBroadcast_any_Inputs_050] [E_OpenvinoBroadcast_any_Modes_010]
    # [E_OpenvinoBroadcast_any_Modes_020] [E_OpenvinoBroadcast_any_Modes_030]
    # [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_010]
    # [E_OpenvinoBroadcast_any_Derived_050] [E_OpenvinoThreeBroadcast_any_Modes_010]
    if type(mode) is str and mode == "explicit" and axes_mapping is not None:
        made: Array[DTypeT] | None = _accelerator.explicit(data, target_shape, axes_mapping)
        if made is not None:
            return made
    array = as_array(data, "data")
    own, own_strides = array.shape, array.strides
    target = as_shape(target_shape, "target_shape")
    rule, axes = _checked(mode, axes_mapping)

    def program() -> tuple[Shape, Strides]:
        if axes is None:
            return _kernel.view_without_axes(own, own_strides, target, rule)
        return _kernel.view_along_axes(own, own_strides, target, axes, rule)

    failure = partial(_failure, own=own, target=target, axes=axes, mode=mode, names=_NAMES)
    shape, strides = ask(failure, program)
    # The kernel returns the data's own strides object only for an unchanged shape.
    return own_view(array) if strides is own_strides else view_by(array, shape, strides, axes)


def broadcast_adjoint(
    delta: Tensor[DTypeT],
    data_shape: Integers,
    axes_mapping: Integers | None = None,
    mode: Mode | None = None,
) -> Array[DTypeT]:
    """Sum a tensor over the axes along which `broadcast` repeats: the adjoint of `broadcast`.

    Parameters
    ----------
    delta : numpy.ndarray or NumPy scalar
        Gradient of the output, in any layout, of an integer, floating-point or complex dtype.
    data_shape : sequence of int or 1-D integer array
        Shape of the data, which broadcasts to the shape of `delta`. Sizes are at least 0.
    axes_mapping, mode : optional
        As for `broadcast`, with axes of `delta`.

    Returns
    -------
    numpy.ndarray
        New array of shape `data_shape` and the dtype of `delta`, writable and C-contiguous.

    Raises
    ------
    whycast.AxisSizeError
        In mode ``explicit``: a size of `data_shape` is neither 1 nor that of its axis of `delta`.
    whycast.BroadcastError
        In other modes: a size is neither 1 nor the size of `delta`, or `data_shape` has more axes.
    TypeError
        An argument has the wrong type.
    ValueError
        As in `broadcast`.
    MemoryError
        The result does not fit into memory.

    Notes
    -----
    Rests on ``sum_repeated`` of ``why3/adjoint/explicit.mlw``; lemma ``explicit_adjoint`` proves
    the adjoint over any commutative ring. In the other modes the result is that of
    `whycast.sum_to_shape`, which describes the additions.

    Examples
    --------
    >>> import numpy as np
    >>> broadcast_adjoint(np.array([[1, 2, 3], [10, 20, 30]]), (2,), [0], mode="explicit")
    array([ 6, 60])
    """
    # [E_OpenvinoBroadcast_ring_Derived_010]
    array, shape = summable(delta), as_shape(data_shape, "data_shape")
    rule, axes = _checked(mode, axes_mapping)
    names, target = Names("data", "delta", _NAMES.axes), array.shape

    def program() -> tuple[int, ...]:
        # Raise if the mode lacks or forbids a mapping.
        if axes is None:
            _kernel.view_without_axes((), (), target, rule)
            return repeated(shape, target)
        _kernel.view_along_axes((), (), (), (), rule)
        return _kernel.repeated_axes(shape, target, axes)

    failure = partial(_failure, own=shape, target=target, axes=axes, mode=mode, names=names)
    return summed(array, ask(failure, program), shape)


def _checked(
    mode: object, axes_mapping: Integers | None
) -> tuple[_kernel.Mode, tuple[int, ...] | None]:
    if not (mode is None or isinstance(mode, str)):
        raise TypeError(f"mode: expected a str, got {show(mode)}")
    if mode not in _MODES:
        modes = ", ".join(map(repr, filter(None, _MODES)))
        raise ValueError(f"mode: expected one of {modes}, got {show(mode)}")
    return _MODES[mode], None if axes_mapping is None else as_integers(axes_mapping, "axes_mapping")


def _failure(
    error: Exception, own: Shape, target: Shape, axes: Axes | None, mode: Mode | None, names: Names
) -> ValueError:
    match error:
        case _kernel.MappingNotAllowed():
            shown = f"mode {mode or 'numpy'!r} expects none, got {show(axes)}"
            return ValueError(f"{names.axes}: {shown}")
        case _kernel.MappingMissing():
            return ValueError(f"{names.axes}: mode {mode!r} expects it, got none")
    return misfit(error, own, target, axes or (), names)
