"""A new user's script: it runs with the wheel and NumPy, and type checkers accept it.

Lines with `type: ignore` are wrong: a checker that misses a fault reports an unused comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference


def centre(values: NDArray[np.float64], mean: np.float64) -> NDArray[np.float64]:
    """Subtract a mean, which is a NumPy scalar, as a typed library does."""
    values, means = whycast.broadcast(values, mean)
    return values - means


def main() -> None:
    """Call functions of most modules."""
    # Results keep the types of their arguments; NumPy's scalars are tensors of rank 0.
    column: NDArray[np.float64] = np.array([[1.5], [2.5]])
    row: NDArray[np.int32] = np.array([10, 20, 30], np.int32)
    x, y = whycast.broadcast(column, row)
    total: NDArray[np.float64] = x + y
    assert total.tolist() == [[11.5, 21.5, 31.5], [12.5, 22.5, 32.5]]
    assert centre(column, column.sum()).tolist() == [[-2.5], [-1.5]]
    element, several = whycast.broadcast(row[0], column)
    assert (element.dtype, several.shape) == (np.int32, (2, 1))
    z, w, v = whycast.broadcast(column, row, np.float32(7))
    assert (z * w * v).tolist() == [[105.0, 210.0, 315.0], [175.0, 350.0, 525.0]]
    arrays: list[NDArray[Any]] = [column, row, row[:1], column]
    assert [each.shape for each in whycast.broadcast(*arrays)] == [(2, 3)] * 4

    # Copies, and results in the caller's memory.
    fresh, _ = whycast.broadcast(row, column, copy=True)
    fresh[0, 0] = -1
    assert row.tolist() == [10, 20, 30]
    room = (np.empty((2, 3)), np.empty((2, 3), np.int32))
    filled, _ = whycast.broadcast(column, row, out=room)
    assert filled is room[0]
    assert room[1].tolist() == [[10, 20, 30], [10, 20, 30]]

    # Shapes: tuples, lists, arrays.
    assert whycast.broadcast_shapes((3, 1), [1, 4], np.array([4])) == (3, 4)
    assert not whycast.compatible((3, 2), (4,))
    assert whycast.broadcast_strides((3, 1), (8, 8), (2, 3, 4)) == (0, 8, 0)
    assert (whycast.source_index((3, 1), (3, 4), (2, 3)), whycast.f(2, 1, 5)) == ((2, 0), 0)
    strides = (12, 4, 1), np.array([1, 1])
    loops: whycast.LoopPlan = whycast.plan((2, 3, 4), [3, 1], strides=strides)
    assert loops == ((2, 3, 4), ((12, 0), (4, 1), (1, 0)))
    try:
        whycast.broadcast_shapes((0, 2), (2,))
    except whycast.BroadcastError as error:
        print(error.tensor, error.axis, error.size, error.target)

    # The other rules, and gradients.
    assert numpy_rule.broadcast_shapes((0, 2), 2) == (0, 2)
    grown: NDArray[np.float64] = numpy_rule.broadcast_to(column, (2, 3))
    assert onnx.expand(grown, (2, 1, 1)).shape == (2, 2, 3)
    assert openvino.broadcast(row, (3, 2), [0], mode="explicit")[:, 1].tolist() == [10, 20, 30]
    assert ngraph.broadcast(row, (2, 3), {0}).tolist() == [[10, 20, 30], [10, 20, 30]]
    assert lax.broadcast_in_dim(column, (1, 2), (1, 0)).tolist() == [[1.5, 2.5]]
    gradient: NDArray[np.float64] = whycast.sum_to_shape(total, column.shape)
    assert gradient.tolist() == [[64.5], [67.5]]
    assert openvino.broadcast_adjoint(total, (2,), [0], "explicit").tolist() == [64.5, 67.5]
    assert ngraph.broadcast_adjoint(total, {0, 1}) == 132.0
    assert reference.broadcast(["a", "b"], (2, 1), (2, 2)) == ["a", "a", "b", "b"]
    everything = reference.broadcast_all([([1, 2], (2, 1)), ([7, 8], (2,))])
    assert everything == ((2, 2), ([1, 1, 2, 2], [7, 8, 7, 8]))


if TYPE_CHECKING:
    x, y = np.zeros((2, 1)), np.zeros(3, np.int32)
    a, b, c = whycast.broadcast(x, y)  # type: ignore
    whycast.broadcast([1, 2], x)  # type: ignore
    whycast.broadcast(x, 2.5)  # type: ignore
    total: NDArray[np.int32] = whycast.sum_to_shape(x, (1,))  # type: ignore
    openvino.broadcast(x, (2, 3), mode="explict")  # type: ignore
    whycast.broadcast_shapes((3, 1.5))  # type: ignore
    whycast.plan((3, 1), strides=(3, 1))  # type: ignore
    whycast.broadcast(x, y, out=np.zeros((2, 2, 3)))  # type: ignore

if __name__ == "__main__":
    main()
