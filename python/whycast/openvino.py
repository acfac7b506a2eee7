"""Broadcast of OpenVINO (opsets 1 and 3), in its three modes, from proved programs.

In mode ``numpy`` the axes of the data are the last of the target; in mode ``explicit`` the input
`axes_mapping` says on which axes of the target they lie; in mode ``bidirectional`` data and target
are broadcast with each other. In all three a size of 1 grows to any size, 0 included, which
`whycast.broadcast` would not let it; 0 itself meets 0, or a 1 of the target in mode
``bidirectional``.
"""

from __future__ import annotations

from whycast._arrays import Array
from whycast._checks import DTypeT, Integers, as_array, as_axes, as_target, show
from whycast._errors import Names
from whycast._views import bidirectional_view, explicit_view, unidirectional_view

__all__ = ["broadcast"]

_MODES = ("numpy", "explicit", "bidirectional")
_NAMES = Names("data", "target_shape", "axes_mapping")


def broadcast(
    data: Array[DTypeT],
    target_shape: Integers,
    axes_mapping: Integers | None = None,
    mode: str = "numpy",
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
        The rule.

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
    Mode ``numpy`` rests on ``unidirectional`` and ``is_numpy_mode`` of ``why3/axes/openvino.mlw``;
    its program is ``broadcast_strides`` (``why3/kernel/broadcast.mlw``). Mode ``explicit`` rests on
    ``explicit_broadcasts_to`` and ``explicit_broadcast`` of ``why3/axes/explicit.mlw``; its program
    is ``explicit_strides`` (``why3/kernel/axes.mlw``). Mode ``bidirectional`` rests on
    ``is_bidirectional`` of ``why3/axes/expand.mlw``, and is the same as `whycast.onnx.expand` by
    lemma ``expand_bidirectional``. That the strides address the right elements is proved for any
    strides: lemmas ``view_offset`` of ``why3/memory/layout.mlw`` and ``explicit_offset`` of
    ``why3/memory/axes_layout.mlw``.

    By lemma ``numpy_mode_explicit`` of ``why3/axes/openvino.mlw``, mode ``numpy`` is mode
    ``explicit`` with the last axes of `target_shape`.

    Clauses: [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Purpose_020]
    [E_OpenvinoBroadcast_any_Inputs_010] [E_OpenvinoBroadcast_any_Inputs_020]
    [E_OpenvinoBroadcast_any_Inputs_030] [E_OpenvinoBroadcast_any_Inputs_040]
    [E_OpenvinoBroadcast_any_Inputs_050] [E_OpenvinoBroadcast_any_Modes_010]
    [E_OpenvinoBroadcast_any_Modes_020] [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_010]
    [E_OpenvinoThreeBroadcast_any_Modes_010]

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
    if not isinstance(mode, str):
        raise TypeError(f"mode: expected a str, got {show(mode)}")
    if mode not in _MODES:
        raise ValueError(f"mode: expected one of {', '.join(map(repr, _MODES))}, got {mode!r}")
    array = as_array(data, "data")
    target = as_target(target_shape, "target_shape")
    if mode == "explicit":
        if axes_mapping is None:
            raise ValueError("axes_mapping: mode 'explicit' expects it, got none")
        return explicit_view(array, target, as_axes(axes_mapping, "axes_mapping"), _NAMES)
    if axes_mapping is not None:
        raise ValueError(f"axes_mapping: mode {mode!r} expects none, got {show(axes_mapping)}")
    view = unidirectional_view if mode == "numpy" else bidirectional_view
    return view(array, target, _NAMES)
