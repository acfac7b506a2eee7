"""Implementations of broadcasting, right ones and wrong ones, for the tests of the checks.

Each wrong one is wrong in one way, most of them one that was seen or is easily made.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

import whycast
from whycast import numpy_rule

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]


def right(*arrays: Array) -> tuple[Array, ...]:
    """Give copies, by NumPy's assignment of an array to another."""
    shape = whycast.broadcast_shapes(*[x.shape for x in arrays])
    results = tuple([np.empty(shape, x.dtype) for x in arrays])
    for x, z in zip(arrays, results, strict=True):
        z[...] = x
    return results


def talkative(*arrays: Array) -> tuple[Array, ...]:
    """Print, and be right."""
    print("broadcasting", [x.shape for x in arrays])
    return whycast.broadcast(*arrays)


def _sonnx(arrays: Sequence[Array]) -> list[Array]:
    return [z.copy() for z in whycast.broadcast(*arrays)]


def zeros(*arrays: Array) -> list[Array]:
    return [np.zeros(z.shape, z.dtype) for z in whycast.broadcast(*arrays)]


def swapped_axes(*arrays: Array) -> list[Array]:
    """Of square matrices, rows and columns."""
    return [
        z.swapaxes(-1, -2).copy() if z.ndim > 1 and z.shape[-1] == z.shape[-2] else z
        for z in _sonnx(arrays)
    ]


def last_instead_of_first(*arrays: Array) -> list[Array]:
    """Take the last element, not the one at f(a, 1, c) = 0, of memory in which there are others."""
    found = []
    for x, z in zip(arrays, whycast.broadcast(*arrays), strict=True):
        backwards = x[(slice(None, None, -1),) * x.ndim]
        kept = [
            own == grown for own, grown in zip(x.shape, z.shape[z.ndim - x.ndim :], strict=True)
        ]
        found.append(whycast.broadcast(backwards, z)[0] if not all(kept) else z)
    return [z.copy() for z in found]


def maximum_rule(*arrays: Array) -> list[Array]:
    """SONNX's rule, where NumPy's is due."""
    return _sonnx(arrays)


def numpys_rule(*arrays: Array) -> list[Array]:
    """NumPy's rule, where SONNX's is due."""
    return [z.copy() for z in numpy_rule.broadcast_arrays(*arrays)]


def flattened(*arrays: Array) -> list[Array]:
    return [z.ravel() for z in _sonnx(arrays)]


def dtype_changed(*arrays: Array) -> list[Array]:
    return [z.astype(np.float32) if z.dtype == np.float16 else z for z in _sonnx(arrays)]


def nan_canonical(*arrays: Array) -> list[Array]:
    results = _sonnx(arrays)
    for z in results:
        if z.dtype.kind == "f":
            z[np.isnan(z)] = np.nan
    return results


def zero_unsigned(*arrays: Array) -> list[Array]:
    return [z + z.dtype.type(0) if z.dtype.kind == "f" else z for z in _sonnx(arrays)]


def writable_alias(*arrays: Array) -> list[Array]:
    views = whycast.broadcast(*arrays)
    return [
        as_strided(x, z.shape, z.strides) if x.flags.writeable and x.dtype.kind != "T" else z
        for x, z in zip(arrays, views, strict=True)
    ]


def _zeros_where(arrays: Sequence[Array], condition: bool) -> list[Array]:
    results = _sonnx(arrays)
    return [np.zeros_like(z) for z in results] if condition else results


def wrong_at_rank_5(*arrays: Array) -> list[Array]:
    return _zeros_where(arrays, max(x.ndim for x in arrays) == 5)


def wrong_at_9_tensors(*arrays: Array) -> list[Array]:
    return _zeros_where(arrays, len(arrays) == 9)


def wrong_on_reversed_strides(*arrays: Array) -> list[Array]:
    return _zeros_where(arrays, any(step < 0 for x in arrays for step in x.strides))


def wrong_over_64(*arrays: Array) -> list[Array]:
    return _zeros_where(arrays, any(size > 64 for x in arrays for size in x.shape))


def tiles_divisors(*arrays: Array) -> list[Array]:
    """Repeat what divides the largest size, not only what is 1."""
    rank = max(x.ndim for x in arrays)
    padded = [x.reshape((1,) * (rank - x.ndim) + x.shape) for x in arrays]
    shape = tuple([max(sizes) for sizes in zip(*[x.shape for x in padded], strict=True)])
    results = []
    for x in padded:
        times = [
            grown // own if own else grown + 1 for own, grown in zip(x.shape, shape, strict=True)
        ]
        z = np.tile(x, times)
        if z.shape != shape:
            raise ValueError("sizes do not divide")
        results.append(z)
    return results


def changes_its_input(*arrays: Array) -> list[Array]:
    results = _sonnx(arrays)
    for x in arrays:
        if x.flags.writeable and x.ndim == 2 and x.size:
            x.flat[0] = x.flat[-1]
    return results


def hangs(*arrays: Array) -> list[Array]:
    if len(arrays) == 3:
        time.sleep(1000)
    return _sonnx(arrays)


def exits(*arrays: Array) -> list[Array]:
    if any(x.ndim == 3 for x in arrays):
        raise SystemExit(0)
    return _sonnx(arrays)


def exits_at_once(*arrays: Array) -> list[Array]:
    if len(arrays) == 3:
        os._exit(0)
    return _sonnx(arrays)


def crashes(*arrays: Array) -> list[Array]:
    if sum(x.ndim for x in arrays) == 6:
        os.abort()
    return _sonnx(arrays)


def eats_memory(*arrays: Array) -> list[Array]:
    if len(arrays) == 3:
        eaten = []
        while True:
            eaten.append(np.ones(2**17))
            # No faster than who is to notice it gets a turn on a busy machine.
            time.sleep(0.001)
    return _sonnx(arrays)


def one_array(*arrays: Array) -> Array:
    return whycast.broadcast(*arrays)[0].copy()


def forgets_the_last(*arrays: Array) -> list[Array]:
    return _sonnx(arrays)[: max(1, len(arrays) - 1)]


def lists(*arrays: Array) -> list[object]:
    return [z.tolist() for z in whycast.broadcast(*arrays)]


def refuses_scalars(*arrays: Array) -> list[Array] | None:
    return None if any(x.ndim == 0 for x in arrays) else _sonnx(arrays)


def does_nothing(*arguments: object) -> None:
    """Refuse everything."""


# At other levels


def transposed_index(shape: Shape, target: Shape, index: Shape) -> Shape:
    return whycast.source_index(shape, target, index)[::-1]


def copied_strides(shape: Shape, strides: Shape, target: Shape) -> Shape:
    """Keep the stride of an axis that grows."""
    whycast.broadcast_strides(shape, strides, target)
    return (0,) * (len(target) - len(shape)) + tuple(strides)


def last_axis_at_fault(*shapes: Shape) -> Shape:
    """Refuse rightly, and name the last axis whatever is wrong."""
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError:
        raise ValueError(f"axis {max(map(len, shapes)) - 1} is wrong") from None


def first_wins(*shapes: Shape) -> Shape:
    """Take the sizes of the first shape where it has any."""
    whycast.broadcast_shapes(*shapes)
    return shapes[0]


def one_is_enough(shape: Shape, target: Shape) -> bool:
    """Accept if any axis fits."""
    axes = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and (not shape or any(a in (1, b) for a, b in axes))


def ignores_the_order_of_axes(array: Array, target: Shape, axes: Shape) -> Array:
    """Put axes in increasing order first, where that fits too."""
    rightly = whycast.lax.broadcast_in_dim(array, target, axes)
    try:
        return whycast.lax.broadcast_in_dim(array, target, sorted(axes))
    except ValueError:
        return rightly


class Levels:
    """An object with a function for some of the levels."""

    verdict = staticmethod(whycast.compatible)
    shape = staticmethod(whycast.broadcast_shapes)
    strides = staticmethod(whycast.broadcast_strides)
    data = staticmethod(zeros)
