"""Operators made of functions that write to an output: they return it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from whycast._rules import Operands, Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function
from whycast.testing._report._compare import NoAnswerError, array_differs

# Least number of bytes before and behind an output; most elements of outputs to refuse.
_MARGIN = 64
_MOST = 64


def writing(function: Function, rule: Rule) -> Function:
    """Make an operator of ``f(out, a, ...)``; an output has the dtype of the last tensor."""
    # The answers differ if the function writes nothing.
    fills = cycle((0x5A, 0xA5))

    def operator(*arrays: Any) -> Any:
        dtype = arrays[-1].dtype
        shape = rule.shape(Operands(tuple([x.shape for x in arrays])))
        if shape is None or dtype.hasobject:
            out = np.zeros(arrays[0].shape if shape is None else shape, dtype)
            function(out, *arrays)
            return out
        out, memory, own = _output(shape, dtype, next(fills))
        before = memory.copy()
        function(out, *arrays)
        if (memory != before)[~own].any():
            raise NoAnswerError("outside", f"writes outside of out, of strides {out.strides}")
        if 0 < out.size <= _MOST:
            for wrong, why in _to_refuse(shape, dtype):
                if _is_taken(function, wrong, arrays):
                    raise NoAnswerError("out", f"accepts an out {why}")
            if arrays[0].shape == shape and arrays[0].dtype == dtype:
                alias = np.array(arrays[0])
                function(alias, alias, *arrays[1:])
                if found := array_differs(alias, np.array(out), "out is the first tensor: "):
                    raise NoAnswerError("out", found.got)
        return out

    return operator


def _output(shape: Shape, dtype: np.dtype[Any], fill: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Make an output of some layout in memory of bytes; mark its own bytes."""
    plain = np.empty(shape, dtype, order="F" if sum(shape) % 2 else "C")
    step = 1 + len(shape) % 2
    strides = tuple([step * stride for stride in plain.strides])
    # A function that assumes other strides still writes within the memory.
    margin = step * plain.nbytes + _MARGIN
    memory = np.full(3 * margin, fill, np.uint8)
    out: AnyArray = np.ndarray(shape, dtype, memory.data, margin, strides)
    own = np.zeros(len(memory), bool)
    places: AnyArray = np.ndarray(shape, f"V{dtype.itemsize}", own.data, margin, strides)
    places[...] = np.void(b"\1" * dtype.itemsize)
    backwards: Any = (..., *[slice(None, None, -1)] * len(shape))
    return (out[backwards] if sum(shape) % 3 == 0 else out), memory, own


def _to_refuse(shape: Shape, dtype: np.dtype[Any]) -> Iterator[tuple[AnyArray, str]]:
    fixed = np.zeros(shape, dtype)
    fixed.flags.writeable = False
    yield fixed, "that is read-only"
    for axis, size in enumerate(shape):
        if size > 1:
            smaller = (*shape[:axis], size - 1, *shape[axis + 1 :])
            yield np.zeros(smaller, dtype), f"of shape {smaller}, for {shape}"
            repeated = np.zeros((*shape[:axis], 1, *shape[axis + 1 :]), dtype)
            strides = (*repeated.strides[:axis], 0, *repeated.strides[axis + 1 :])
            yield as_strided(repeated, shape, strides), f"with a stride of 0, of shape {shape}"
            return


def _is_taken(function: Function, out: AnyArray, arrays: Any) -> bool:
    try:
        found = function(out, *arrays)
    except Exception:
        return False
    return found is not False
