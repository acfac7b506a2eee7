"""OpenVINO as a peer: shapes as it builds a node, data as its CPU plugin computes them.

Only opset 3 has all three modes; opset 1 has the first two, which are the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function

if TYPE_CHECKING:
    import openvino

# To import OpenVINO would otherwise send a report and leave files in the user's home.
_TELEMETRY = "openvino_telemetry"


def functions(rule: str) -> dict[str, Function]:
    """Give what OpenVINO has for a rule."""
    sys.modules[_TELEMETRY] = None  # type: ignore[assignment]
    mode = rule.removeprefix("openvino-")
    shape = partial(_node_shape, mode)
    return {"verdict": shape, "shape": shape, "data": partial(_infer, mode)}


def _integers(values: Sequence[int]) -> AnyArray:
    return np.array(values, np.int64)


def _node_shape(mode: str, shape: Shape, target: Shape, axes: Shape | None = None) -> Shape:
    """Let it find the shape of a node whose target and axes are constants, without computing."""
    import openvino as ov

    data = ov.opset3.parameter(list(shape), np.float32)
    mapping = None if axes is None else ov.opset3.constant(_integers(axes))
    node = ov.opset3.broadcast(data, ov.opset3.constant(_integers(target)), mapping, mode)
    return tuple(node.output(0).get_shape())


@cache
def _core() -> openvino.Core:
    import openvino as ov

    return ov.Core()


# A compiled model must live on: after it is freed, the next one of the same kind may crash.
@cache
def _request(
    mode: str, dtype: str, rank: int, target_rank: int, axes: int | None
) -> openvino.InferRequest:
    """Compile a model of one Broadcast, the sizes of its data and all of the rest open."""
    import openvino as ov

    data = ov.opset3.parameter([-1] * rank, np.dtype(dtype))
    target = ov.opset3.parameter([target_rank], np.int64)
    inputs = [data, target]
    mapping = None
    if axes is not None:
        mapping = ov.opset3.parameter([axes], np.int64)
        inputs.append(mapping)
    node = ov.opset3.broadcast(data, target, mapping, mode)
    # A processor that has instructions for it may else compute in a shorter type; and of more
    # threads than one these sizes would only have the cost.
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    model = _core().compile_model(ov.Model([node], inputs), "CPU", options)
    return model.create_infer_request()


def _infer(mode: str, array: AnyArray, target: Shape, axes: Shape | None = None) -> AnyArray:
    count = None if axes is None else len(axes)
    request = _request(mode, array.dtype.name, array.ndim, len(target), count)
    _forget(request, array.ndim, len(target), count, array.dtype)
    return _run(request, array, target, axes)


def _run(
    request: openvino.InferRequest, array: AnyArray, target: Shape, axes: Shape | None
) -> AnyArray:
    inputs = [np.array(array), _integers(target)]
    if axes is not None:
        inputs.append(_integers(axes))
    # With one thread `infer` drops every error and returns what was there before.
    request.start_async(dict(enumerate(inputs)))
    request.wait()
    return np.array(request.get_output_tensor(0).data)


def _forget(
    request: openvino.InferRequest,
    rank: int,
    target_rank: int,
    axes: int | None,
    dtype: np.dtype[Any],
) -> None:
    """Let it infer once with a size that no case has.

    A compiled model remembers sizes from one inference to the next, and not always rightly: after
    an output without elements the target is compared with the one before.
    """
    shape, target = ((1,) * (length - 1) + (7,) * (length > 0) for length in (rank, target_rank))
    last = None if axes is None else tuple([max(0, target_rank - axes + j) for j in range(axes)])
    try:
        _run(request, np.zeros(shape, dtype), target, last)
    except RuntimeError:
        # There are ranks with which it accepts nothing; then there is nothing to remember.
        pass
