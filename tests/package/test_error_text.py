"""Errors of shapes that do not fit: text, attributes, copies and pickles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_strategies import Array
from bad_values import fails

import whycast
from whycast import lax, ngraph, numpy_rule, openvino
from whycast.openvino import broadcast_adjoint


def zeros(*shape: int) -> Array:
    return np.zeros(shape)


# Tensor 11 does not fit tensor 42.
MANY = (*[(1,)] * 11, (2,), *[()] * 30, (3,), ())
E1 = "shapes do not broadcast (E1): axis"
NUMPY = "shapes do not broadcast (NumPy's rule): axis"

# A call that fails, its type of error, and the text.
FAILURES: dict[str, tuple[Callable[[], object], type[ValueError], str]] = {
    "E1, a 0 and a prepended 1": (
        lambda: whycast.broadcast_shapes((), (0,)),
        whycast.BroadcastError,
        f"{E1} 0 of the common rank 1, tensor 1 has size 0, expected 1\n"
        "  tensor 0: [1]\n"
        "  tensor 1: >0<\n"
        "  by NumPy's rule, in whycast.numpy_rule, a size of 0 meets a 1: (0,)",
    ),
    "E1, many": (
        lambda: whycast.broadcast_shapes(*MANY),
        whycast.BroadcastError,
        f"{E1} 0 of the common rank 1, tensor 11 has size 2, expected 3 or 1\n"
        + "".join(f"  tensor {m}:   1\n" for m in range(6))
        + "  ...\n  tensor 11: >2<\n  ...\n  tensor 42: [3]\n  ... (44 tensors)",
    ),
    "E1, long": (
        lambda: whycast.broadcast_shapes((6,) * 9 + (2,) + (6,) * 9, (1,) * 3 + (3,) + (1,) * 9),
        whycast.BroadcastError,
        f"{E1} 9 of the common rank 19, tensor 0 has size 2, expected 3 or 1\n"
        "  tensor 0: ...  6   6   6   6   6  >2<  6   6   6   6   6  ...\n"
        "  tensor 1:              1   1   1  [3]  1   1   1   1   1  ...",
    ),
    "numpy": (
        lambda: numpy_rule.broadcast_shapes((1,), (0, 1), (), (2, 1)),
        numpy_rule.IncompatibleError,
        f"{NUMPY} 0 of the common rank 2, argument 1 has size 0, argument 3 has size 2, expected "
        "equal sizes or 1\n"
        "  argument 0:      1\n"
        "  argument 1: [0]  1\n"
        "  argument 2:\n"
        "  argument 3: >2<  1",
    ),
    "target": (
        lambda: whycast.source_index((3, 1), (2, 4, 1), (0, 0, 0)),
        whycast.BroadcastError,
        "shape (3, 1) does not broadcast to (2, 4, 1): axis 1 of the target's rank 3, the shape "
        "has size 3, expected 4 or 1\n"
        "  shape:      >3<  1\n"
        "  target:  2  [4]  1",
    ),
    "adjoint, explicit": (
        lambda: broadcast_adjoint(zeros(2, 4), (3,), (0,), "explicit"),
        whycast.AxisSizeError,
        "data of shape (3,) does not broadcast to delta (2, 4): axis 0 of data, which lies on axis "
        "0 of delta, has size 3, expected 2 or 1\n"
        "  data:         >3<\n"
        "  delta:        [2]  4\n"
        "  axes_mapping:  0",
    ),
    "explicit, long": (
        lambda: openvino.broadcast(
            zeros(*(1,) * 9, 0, *(1,) * 9),
            (*(7,) * 19, 1, *(7,) * 20),
            [*range(8, 17), 19, *range(21, 30)],
            "explicit",
        ),
        whycast.AxisSizeError,
        "data of shape (1, 1, 1, 1, 1, ..., 1, 1, 1, 1, 1) does not broadcast to target_shape "
        "(7, 7, 7, 7, 7, ..., 7, 7, 7, 7, 7): axis 9 of data, which lies on axis 19 of "
        "target_shape, has size 0, expected 1\n"
        "  data:         ...   1    1    1           >0<       1    1    1    1  ...\n"
        "  target_shape: ...   7    7    7   7   7   [1]  7    7    7    7    7  ...\n"
        "  axes_mapping: ...  14   15   16           19       21   22   23   24  ...",
    ),
    "in-dim": (
        lambda: lax.broadcast_in_dim(zeros(2, 3, 4), (3, 9, 4, 2), [3, 0, 1]),
        whycast.AxisSizeError,
        "operand of shape (2, 3, 4) does not broadcast to shape (3, 9, 4, 2): axis 2 of operand, "
        "which lies on axis 1 of shape, has size 4, expected 9 or 1\n"
        "  axis of operand:       1   2       0\n"
        "  operand:               3  >4<      2\n"
        "  shape:                 3  [9]  4   2\n"
        "  broadcast_dimensions:  0   1       3",
    ),
    "ngraph, size": (
        lambda: ngraph.broadcast(zeros(2), (4, 2**5000, 3), [0, 2]),
        ngraph.ArgShapeError,
        "arg of shape (2,) does not broadcast to shape (4, 2**5000+, 3): axis 0 of arg, which "
        "lies on axis 1 of shape, has size 2, expected 2**5000+\n"
        "  arg:                       >2<\n"
        "  shape:           4  [2**5000+]  3\n"
        "  broadcast_axes:  0              2",
    ),
    "ngraph, range of a set": (
        lambda: ngraph.broadcast_adjoint(zeros(2, 3), {0, -1}),
        ValueError,
        "broadcast_axes: expected an axis of delta, whose rank is 2, got -1; "
        "axes are counted from 0, none from the end",
    ),
    "sum, rank": (
        lambda: whycast.sum_to_shape(zeros(2), (1, 2)),
        whycast.BroadcastError,
        "shape (1, 2) does not broadcast to (2,): the target has no axis for axis 0 of the shape, "
        "of size 1; expected a rank of at least 2, got 1\n"
        "  shape:  >1<  2\n"
        "  target:      2",
    ),
}


def twins(error: ValueError) -> list[Any]:
    pickled = [pickle.dumps(error, k) for k in range(pickle.HIGHEST_PROTOCOL + 1)]
    copies = [type(error)(*error.args), copy.copy(error), copy.deepcopy(error)]
    return [*copies, *map(pickle.loads, pickled)]


@pytest.mark.parametrize("name", FAILURES)
def test_text(name: str) -> None:
    """[E_Broadcast_any_E1_020] [E_Broadcast_any_Derived_010] [E_OpenvinoBroadcast_any_Axes_010]
    [E_OpenvinoBroadcast_any_Derived_010] [E_NgraphBroadcast_any_Interface_020]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Size_010]
    [E_Expand_any_Error_010] [E_Broadcast_any_Derived_150]
    """
    call, kind, text = FAILURES[name]
    error = fails(kind, "", call)
    assert str(error) == text
    assert repr(error) == f"{kind.__name__}({text!r})"
    # The error references no exception of the kernel, and no array.
    assert (error.__context__, error.__cause__) == (None, None)
    assert not any(isinstance(value, np.ndarray) for value in vars(error).values())
    for twin in twins(error):
        assert twin is not error
        assert (type(twin), str(twin), vars(twin)) == (kind, text, vars(error))


def test_attributes() -> None:
    shapes = ((3, 4), (2, 5, 1))
    error = fails(numpy_rule.IncompatibleError, "", numpy_rule.broadcast_shapes, *shapes)
    assert vars(error) == {
        **{"other": 0, "tensor": 1, "axis": 1, "size": 5, "target": 3},
        **{"shapes": ((3, 4), (2, 5, 1)), "target_shape": None, "names": None},
    }
    error = fails(ngraph.ArgShapeError, "", ngraph.broadcast, zeros(2, 1), (2, 5, 3), {1})
    assert vars(error) == {
        **{"tensor": 0, "tensor_axis": 1, "axis": 2, "size": 1, "target": 3, "axes": (0, 2)},
        **{"shapes": ((2, 1),), "target_shape": (2, 5, 3), "broadcast_axes": (1,)},
        "names": ("arg", "shape", "broadcast_axes"),
    }
