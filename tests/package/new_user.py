"""What a new user writes: a script that runs with the wheel alone, and that type checkers accept.

`test_new_user.py` runs it in an empty environment, and gives it to mypy and pyright.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference


def centre(values: NDArray[np.float64], mean: np.float64) -> NDArray[np.float64]:
    """Subtract a mean, which is a scalar of NumPy, as another library would want it typed."""
    values, means = whycast.broadcast(values, mean)
    return values - means


def main() -> None:
    """Do all that the documentation tells of."""
    # Types may be mixed, and stay what they are; NumPy's scalars are tensors of rank 0.
    column: NDArray[np.float64] = np.array([[1.5], [2.5]])
    row: NDArray[np.int32] = np.array([10, 20, 30], np.int32)
    x, y = whycast.broadcast(column, row)
    total: NDArray[np.float64] = x + y
    print(total.tolist())
    print(centre(column, column.sum()).tolist())
    element, several = whycast.broadcast(row[0], column)
    print(element.dtype, several.shape)
    z, w, v = whycast.broadcast(column, row, np.float32(7))
    print((z * w * v).tolist())
    arrays: list[NDArray[Any]] = [column, row, row[:1], column]
    many = whycast.broadcast(*arrays)
    print(len(many), {each.shape for each in many})

    # Copies, and memory of one's own.
    fresh, _ = whycast.broadcast(row, column, copy=True)
    fresh[0, 0] = -1
    print(fresh.tolist(), row.tolist())
    room = (np.empty((2, 3)), np.empty((2, 3), np.int32))
    filled, _ = whycast.broadcast(column, row, out=room)
    print(filled is room[0], room[1].tolist())

    # Shapes: tuples, lists, arrays.
    print(whycast.broadcast_shapes((3, 1), [1, 4], np.array([4])))
    print(whycast.compatible((3, 2), (4,)))
    print(whycast.broadcast_strides((3, 1), (8, 8), (2, 3, 4)))
    print(whycast.source_index((3, 1), (3, 4), (2, 3)), whycast.f(2, 1, 5))
    try:
        whycast.broadcast_shapes((0, 2), (2,))
    except whycast.BroadcastError as error:
        print(error)
        print(error.tensor, error.axis, error.size, error.target)

    # The other rules, and what gradients need.
    print(numpy_rule.broadcast_shapes((0, 2), 2))
    grown: NDArray[np.float64] = numpy_rule.broadcast_to(column, (2, 3))
    print(onnx.expand(grown, (2, 1, 1)).shape)
    print(openvino.broadcast(row, (3, 2), [0], mode="explicit").tolist())
    print(ngraph.broadcast(row, (2, 3), {0}).tolist())
    print(lax.broadcast_in_dim(column, (1, 2), (1, 0)).tolist())
    gradient: NDArray[np.float64] = whycast.sum_to_shape(total, column.shape)
    print(gradient.tolist(), whycast.sum_to_shape(total, (3,)).tolist())
    print(openvino.broadcast_adjoint(total, (2,), [0], mode="explicit").tolist())
    print(ngraph.broadcast_adjoint(total, {0, 1}).tolist())
    print(reference.broadcast(["a", "b"], (2, 1), (2, 3)))
    print(reference.broadcast_all([([1, 2], (2, 1)), ([7, 8, 9], (3,))]))


if __name__ == "__main__":
    main()
