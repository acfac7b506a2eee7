"""Broadcast on flat lists, proved from input to output."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from typing import TypeVar

from whycast import _kernel
from whycast._checks import as_shape, check_count, entries_of, show
from whycast._errors import ask, of_all, show_int, show_shape, unfit
from whycast._types import Integers, Shape

__all__ = ["broadcast", "broadcast_all"]

_T = TypeVar("_T")


def broadcast(data: list[_T], shape: Integers, target: Integers) -> list[_T]:
    """Broadcast a tensor, with its elements in a list, to a target shape.

    Parameters
    ----------
    data : list
        The elements, any objects, in row-major order (the last axis varies fastest).
    shape, target : sequence of int or 1-D integer array
        The tensor's shape, and the shape to broadcast to, as in `whycast.broadcast_to`.

    Returns
    -------
    list
        New list of the same objects: the elements of the broadcast tensor in row-major order.

    Raises
    ------
    whycast.BroadcastError
        A size of `shape` is neither 1 nor the target's, or `target` lacks the axis.
    TypeError
        An argument has the wrong type.
    ValueError
        A size is negative, `data` has the wrong length, or the result is too long for a list.
    MemoryError
        The result does not fit into memory.

    Notes
    -----
    Rests on ``broadcasts_to`` of ``why3/core/common_shape.mlw``: a 1 grows to any size, also to 0.
    Program: ``broadcast_flat`` of ``why3/kernel/flat.mlw``. At each multi-index of `target`, its
    result has the element of `data` at ``source_index`` of ``why3/sonnx/broadcast.mlw``
    (``is_flat_broadcast`` of ``why3/memory/flat.mlw``, and lemma ``represents_broadcast``).

    Examples
    --------
    >>> broadcast(["a", "b"], (2, 1), (2, 3))
    ['a', 'a', 'a', 'b', 'b', 'b']
    """
    # [E_Broadcast_any_Derived_120] [E_Broadcast_any_Derived_130]
    _check_list(data, "data")
    own, wanted = as_shape(shape, "shape"), as_shape(target, "target")
    _check_length(data, own, "data")

    def failure(error: Exception) -> ValueError:
        return unfit(error, own, wanted)

    try:
        if _can_be(wanted):
            return ask(failure, _kernel.broadcast_flat, data, own, wanted)
        # The result does not fit: look for an error without filling lists.
        ask(failure, _kernel.broadcast_strides, own, own, wanted)
    except (OverflowError, MemoryError):
        pass
    raise _too_long("target", wanted)


def broadcast_all(
    tensors: Sequence[tuple[list[_T], Integers]],
) -> tuple[Shape, tuple[list[_T], ...]]:
    """Broadcast tensors, with their elements in lists, as SONNX Broadcast does.

    Parameters
    ----------
    tensors : sequence of pairs of a list and a shape
        1 to 2**31 - 1 tensors, with lists and shapes as for `broadcast`.

    Returns
    -------
    shape : tuple of int
        The common shape.
    data : tuple of list
        For each tensor, the result of `broadcast` to this shape.

    Raises
    ------
    whycast.BroadcastError
        A size is neither the maximum of its axis nor 1: SONNX's error E1.
    TypeError
        An argument has the wrong type.
    ValueError
        The number of tensors is wrong; or as in `broadcast`.
    MemoryError
        The results do not fit into memory.

    Notes
    -----
    Rests on ``broadcast`` of ``why3/sonnx/broadcast.mlw``. Program: ``broadcast_all`` of
    ``why3/kernel/tensors.mlw``.

    Examples
    --------
    >>> broadcast_all([(["a", "b"], (2, 1)), ([1, 2, 3], (3,))])
    ((2, 3), (['a', 'a', 'a', 'b', 'b', 'b'], [1, 2, 3, 1, 2, 3]))
    """
    # [E_Broadcast_any_Signature_010] [E_Broadcast_any_Inputs_010] [E_Broadcast_any_Outputs_010]
    # [E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_130]
    expected = "a sequence of pairs of a list and a shape"
    if isinstance(tensors, str) or not isinstance(tensors, Sequence):
        raise TypeError(f"tensors: expected {expected}, got {show(tensors)}")
    pairs = entries_of(tensors, "tensors", "tensors")
    check_count(len(pairs), "tensor")
    lists, shapes = [], []
    for m, tensor in enumerate(pairs):
        if not isinstance(tensor, (tuple, list)) or len(tensor) != 2:
            got = show(tensor)
            raise TypeError(f"tensor {m}: expected a pair of a list and a shape, got {got}")
        _check_list(tensor[0], f"tensor {m}, data")
        lists.append(tensor[0])
        shapes.append(as_shape(tensor[1], f"tensor {m}, shape"))
    common = of_all(_kernel.broadcast_shapes, tuple(shapes))
    for m, (elements, own) in enumerate(zip(lists, shapes, strict=True)):
        _check_length(elements, own, f"tensor {m}, data")
    try:
        if _can_be(common):
            _, outputs = _kernel.broadcast_all(tuple(shapes), tuple(map(tuple, lists)))
            return common, tuple(map(list, outputs))
    except (OverflowError, MemoryError):
        pass
    raise _too_long("tensors", common)


def _check_list(value: object, name: str) -> None:
    if not isinstance(value, list):
        raise TypeError(f"{name}: expected a list, got {show(value)}")


def _can_be(shape: Shape) -> bool:
    return _kernel.size(shape) * struct.calcsize("P") <= sys.maxsize


def _too_long(name: str, shape: Shape) -> ValueError | MemoryError:
    shown = f"a tensor of shape {show_shape(shape)}"
    if not _can_be(shape):
        return ValueError(f"{name}: no list has as many elements as {shown}")
    return MemoryError(f"{name}: no memory for the elements of {shown}")


def _check_length(elements: list[_T], shape: Shape, name: str) -> None:
    if len(elements) != (size := _kernel.size(shape)):
        raise ValueError(
            f"{name}: expected {show_int(size)} elements, the product of the sizes of shape "
            f"{show_shape(shape)}, got {len(elements)}"
        )
