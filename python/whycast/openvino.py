"""Broadcast of OpenVINO (opsets 1 and 3), in its three modes, from proved programs.

In mode ``numpy`` the axes of the data are the last of the target; in mode ``explicit`` the input
`axes_mapping` says on which axes of the target they lie; in mode ``bidirectional`` data and target
are broadcast with each other. In all three a size of 1 grows to any size, 0 included, which
`whycast.broadcast` would not let it; 0 itself meets 0, or a 1 of the target in mode
``bidirectional``.
"""

from __future__ import annotations

from whycast import _kernel
from whycast._arrays import Array, own_view, view_by
from whycast._checks import DTypeT, Integers, as_array, as_axes, as_target, show
from whycast._errors import AxisSizeError, BroadcastError, IncompatibleError, Names, rank_too_low
from whycast._views import axes_miscounted, axes_not_increasing, axis_out_of_range

__all__ = ["broadcast"]

_MODES: dict[str | None, _kernel.Mode] = {
    "numpy": _kernel.Numpy(),
    "explicit": _kernel.Explicit(),
    "bidirectional": _kernel.Bidirectional(),
    None: _kernel.mode_of(_kernel.NotGiven()),
}
_NAMES = Names("data", "target_shape", "axes_mapping")


def broadcast(
    data: Array[DTypeT],
    target_shape: Integers,
    axes_mapping: Integers | None = None,
    mode: str | None = None,
) -> Array[DTypeT]:
    """Broadcast a tensor to a target shape, as OpenVINO Broadcast does.

    Parameters
    ----------
    data : numpy.ndarray
        Tensor of any shape, dtype and memory layout.
    target_shape : sequence of int or one-dimensional array of an integer dtype
        Sizes of at least 0; -1 has no special meaning.
    axes_mapping : sequence of int or one-dimensional array of an integer dtype, optional
        In mode ``explicit``, and only there: for each axis of `data` the axis of `target_shape` on
        which it lies. The axes are counted from 0 and increase strictly.
    mode : {"numpy", "explicit", "bidirectional"}, optional
        The rule; ``numpy`` where none is given.

    Returns
    -------
    numpy.ndarray
        View of shape `target_shape` (in mode ``bidirectional``: of the shape that `data` and
        `target_shape` have in common by NumPy's rule), of the same dtype, on the same memory. It is
        not writable, and is a plain ndarray also where `data` is of a subclass.

    Raises
    ------
    whycast.AxisSizeError
        In mode ``explicit``: a size of `data` is neither 1 nor that of its axis of `target_shape`.
    whycast.BroadcastError
        In mode ``numpy``: a size of `data` is neither 1 nor that of `target_shape`.
    whycast.numpy_rule.IncompatibleError
        In mode ``bidirectional``: a size of `data` and one of `target_shape` differ, and neither
        is 1. Like the first of the three it is a `whycast.BroadcastError`, and so a ValueError.
    TypeError
        `data` is not an ndarray, `target_shape` or `axes_mapping` neither a sequence of integers
        nor a one-dimensional array of them, or `mode` not a str.
    ValueError
        `mode` is none of the three; `axes_mapping` is missing in mode ``explicit`` or given in
        another; a size is negative; the axes are not one for each axis of `data`, not axes of
        `target_shape`, or not strictly increasing; in mode ``numpy`` the rank of `target_shape` is
        less than that of `data`; or NumPy can represent no array of the shape.

    Notes
    -----
    Rests on ``openvino_broadcast`` of ``why3/axes/openvino_operator.mlw``, which says for every
    mode, and with `axes_mapping` or without, what the output is, or which error there is. The
    programs are ``mode_of``, ``view_without_axes`` and ``view_along_axes``
    (``why3/kernel/openvino.mlw``). That the strides address the right elements is proved for any
    strides: lemmas ``view_offset`` of ``why3/memory/layout.mlw`` and ``explicit_offset`` of
    ``why3/memory/axes_layout.mlw``.

    By lemma ``openvino_trailing`` of ``why3/axes/operator_laws.mlw``, mode ``numpy`` is mode
    ``explicit`` with the last axes of `target_shape`, and by lemma ``expand_bidirectional`` of
    ``why3/axes/expand.mlw``, mode ``bidirectional`` is `whycast.onnx.expand`.

    Clauses: [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Purpose_020]
    [E_OpenvinoBroadcast_any_Inputs_010] [E_OpenvinoBroadcast_any_Inputs_020]
    [E_OpenvinoBroadcast_any_Inputs_030] [E_OpenvinoBroadcast_any_Inputs_040]
    [E_OpenvinoBroadcast_any_Inputs_050] [E_OpenvinoBroadcast_any_Modes_010]
    [E_OpenvinoBroadcast_any_Modes_020] [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_010]
    [E_OpenvinoBroadcast_any_Derived_050] [E_OpenvinoThreeBroadcast_any_Modes_010]

    Examples
    --------
    >>> import numpy as np
    >>> data = np.array([1, 2])
    >>> broadcast(data, (3, 2))
    array([[1, 2],
           [1, 2],
           [1, 2]])
    >>> broadcast(data, (2, 3), [0], mode="explicit")
    array([[1, 1, 1],
           [2, 2, 2]])
    >>> broadcast(data, (3, 1), mode="bidirectional").shape
    (3, 2)
    >>> broadcast(np.zeros((50, 2)), (1, 50, 50, 16), (1, 2), "explicit")
    Traceback (most recent call last):
    whycast.AxisSizeError: data of shape (50, 2) does not broadcast to target_shape \
(1, 50, 50, 16): axis 1 of data, which lies on axis 2 of target_shape, has size 2, expected 50 or 1
      data:              50   >2<
      target_shape:  1   50  [50]  16
      axes_mapping:       1    2
    """
    rule = _MODES.get(mode) if mode is None or isinstance(mode, str) else None
    if rule is None:
        raise _no_mode(mode)
    array = as_array(data, "data")
    own, own_strides = array.shape, array.strides
    target = as_target(target_shape, "target_shape")
    axes = () if axes_mapping is None else as_axes(axes_mapping, "axes_mapping")
    failure: ValueError
    try:
        if axes_mapping is None:
            shape, strides = _kernel.view_without_axes(own, own_strides, target, rule)
        else:
            shape, strides = _kernel.view_along_axes(own, own_strides, target, axes, rule)
    except _kernel.MappingNotAllowed:
        failure = ValueError(
            f"axes_mapping: mode {mode or 'numpy'!r} expects none, got {show(axes_mapping)}"
        )
    except _kernel.MappingMissing:
        failure = ValueError(f"axes_mapping: mode {mode!r} expects it, got none")
    except _kernel.AxesCount:
        failure = axes_miscounted(axes, array.ndim, _NAMES)
    except _kernel.AxisOutOfRange as error:
        failure = axis_out_of_range(axes, error.value, len(target), _NAMES)
    except _kernel.AxesNotIncreasing as error:
        failure = axes_not_increasing(axes, error.value, _NAMES.axes)
    except _kernel.AxisMisfit as error:
        failure = AxisSizeError(error.value, axes, own, target, _NAMES)
    except _kernel.RankMismatch:
        failure = rank_too_low(_NAMES.target, _NAMES.tensor, array.ndim, len(target))
    except _kernel.NotBroadcastable as error:
        v = error.value
        failure = BroadcastError(v.tensor, v.axis, v.size, v.target, (own,), target, _NAMES)
    except _kernel.NotExpandable as error:
        failure = IncompatibleError(0, 1, error.value, (own, target), _NAMES)
    else:
        # Its very strides, given back, are those of a view of its own shape.
        return own_view(array) if strides is own_strides else view_by(array, shape, strides)
    # Outside the handlers: the kernel's exception and its frames are not for the caller to keep.
    raise failure


def _no_mode(value: object) -> Exception:
    """Error for a mode that is none.

    >>> _no_mode("numpi")
    ValueError("mode: expected one of 'numpy', 'explicit', 'bidirectional', got 'numpi'")
    """
    if not isinstance(value, str):
        return TypeError(f"mode: expected a str, got {show(value)}")
    modes = ", ".join(repr(mode) for mode in _MODES if mode is not None)
    return ValueError(f"mode: expected one of {modes}, got {value!r}")
