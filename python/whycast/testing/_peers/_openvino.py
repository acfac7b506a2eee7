"""OpenVINO as a peer: building a node computes shapes; the CPU plugin computes data."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function

if TYPE_CHECKING:
    import openvino


def functions(rule: Rule) -> dict[str, Function]:
    # Only opset 3 has bidirectional; the other modes are those of opset 1.
    mode = "bidirectional" if rule.bidirectional else "numpy"
    mode = "explicit" if rule.takes == "axes" else mode
    shape = partial(_node_shape, mode)
    return {"verdict": shape, "shape": shape, "data": partial(_infer, mode)}


def _quiet() -> ModuleType:
    """Import OpenVINO without telemetry, which would send a report and write to the user's home."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    return importlib.import_module("openvino")


@cache
def _core() -> openvino.Core:
    return _quiet().Core()


def _node_shape(mode: str, shape: Shape, target: Shape, axes: Shape | None = None) -> Shape:
    opset = _quiet().opset3
    # OpenVINO makes a constant of an empty list, but not of an empty NumPy array.
    mapping = None if axes is None else opset.constant(list(axes), np.int64)
    data = opset.parameter(list(shape), np.float32)
    node = opset.broadcast(data, opset.constant(list(target), np.int64), mapping, mode)
    return tuple(node.output(0).get_shape())


# A compiled model must stay alive: after it is freed, the next one of the same kind may crash.
@cache
def _request(
    mode: str, dtype: str, rank: int, target_rank: int, axes: int | None
) -> openvino.InferRequest:
    """Compile a model of one Broadcast; all sizes, the target and the axes come at run time."""
    ov = _quiet()
    ranks = [target_rank] if axes is None else [target_rank, axes]
    data = ov.opset3.parameter([-1] * rank, np.dtype(dtype))
    others = [ov.opset3.parameter([each], np.int64) for each in ranks]
    target, mapping = others if axes is not None else (*others, None)
    node = ov.opset3.broadcast(data, target, mapping, mode)
    # Some processors compute in a shorter type by default; at small sizes, threads cost time.
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    model = ov.Model([node], [data, *others])
    return _core().compile_model(model, "CPU", options).create_infer_request()


# After an empty output a compiled model wrongly compares the next target with the previous one.
_EMPTIED: set[openvino.InferRequest] = set()


def _infer(mode: str, array: AnyArray, target: Shape, axes: Shape | None = None) -> AnyArray:
    count = None if axes is None else len(axes)
    request = _request(mode, array.dtype.name, array.ndim, len(target), count)
    if request in _EMPTIED:
        _forget(request, array, len(target), count)
        _EMPTIED.remove(request)
    output = _run(request, array, target, axes)
    if output.size == 0:
        _EMPTIED.add(request)
    return output


def _run(
    request: openvino.InferRequest, array: AnyArray, target: Shape, axes: Shape | None
) -> AnyArray:
    integers = [target] if axes is None else [target, axes]
    inputs = [np.array(array), *[np.array(each, np.int64) for each in integers]]
    # With one thread `infer` drops every error and returns the previous output.
    request.start_async(dict(enumerate(inputs)))
    request.wait()
    return np.array(request.get_output_tensor(0).data)


def _forget(
    request: openvino.InferRequest, array: AnyArray, target_rank: int, axes: int | None
) -> None:
    """Infer once with a size that no fixed case has: a compiled model remembers sizes."""
    shape, target = ((1,) * (rank - 1) + (7,) * (rank > 0) for rank in (array.ndim, target_rank))
    last = None if axes is None else tuple([max(0, target_rank - axes + j) for j in range(axes)])
    # For some ranks the model refuses everything, and remembers nothing.
    with suppress(RuntimeError):
        _run(request, np.zeros(shape, array.dtype), target, last)
