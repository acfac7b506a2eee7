"""NumPy's own broadcasting functions as a peer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from whycast._rules import Rule
from whycast._types import AnyArray, Shape, Strides
from whycast.testing._peers import Function


def functions(rule: Rule) -> dict[str, Function]:
    if rule.takes == "tensors":
        common: dict[str, Function] = {
            "shape": np.broadcast_shapes,
            "strides": _strides,
            "data": np.broadcast_arrays,
        }
    elif not rule.bidirectional:
        common = {"shape": _shape, "strides": _strides, "data": np.broadcast_to}
    else:
        common = {"shape": np.broadcast_shapes, "data": _expand}
    return {"verdict": common["shape"], **common}


def _strides(shape: Shape, strides: Strides, target: Shape) -> Strides:
    # Elements are never read, so memory for one is enough.
    array: AnyArray = as_strided(np.zeros(1, np.int8), shape, strides)
    return np.broadcast_to(array, target).strides


def _shape(shape: Shape, target: Shape) -> Shape:
    return np.broadcast_to(np.broadcast_to(np.int8(0), shape), target).shape


def _expand(array: AnyArray, target: Shape) -> Any:
    return np.broadcast_arrays(array, np.broadcast_to(np.int8(0), target))[0]
