"""Two models run on the same random inputs, and their outputs compared bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import whycast
from whycast._command._arguments import UsageError
from whycast._model._graphs import TEXT, load
from whycast._model._operators import SONNX
from whycast._types import Shape

# What a size is where neither the model nor the caller says.
_OPEN_SIZE = 2
# Above that the reference, which is slow, is not asked too.
_MOST_NODES = 100
_SEED = 33


class Broadcast(OpRun):
    """SONNX's Broadcast, by the verified program."""

    op_domain = SONNX

    def _run(self, *tensors: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.array(each) for each in whycast.broadcast(*tensors))


def feeds(
    model: ModelProto, given: Mapping[str, Shape | int], numbers: Mapping[str, float]
) -> dict[str, np.ndarray]:
    """Draw inputs of the types and shapes that a model declares.

    Strings and fractions of an input differ from each other. Integers are below 100, since they may
    be indices, and then recur; `numbers` says of inputs what they hold.
    """
    drawn = np.random.default_rng(_SEED)
    constants = {tensor.name for tensor in model.graph.initializer}
    found = {}
    for value in model.graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        if not tensor.HasField("shape"):
            raise UsageError(f"--check: the shape of input {value.name!r} is open (--sizes)")
        sizes = given.get(value.name)
        if not isinstance(sizes, tuple):
            sizes = tuple(_size(dim, given) for dim in tensor.shape.dim)
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        count = int(np.prod(sizes, dtype=np.int64))
        if value.name in numbers:
            data = np.full(count, numbers[value.name])
        elif dtype == np.bool_:
            data = drawn.integers(0, 2, count)
        elif np.issubdtype(dtype, np.integer):
            data = drawn.permutation(count) % 100
        elif dtype == np.object_:
            data = np.array([f"t{k}" for k in range(count)], dtype)
        else:
            data = (drawn.permutation(count) + 1) / (count + 1)
        found[value.name] = data.astype(dtype).reshape(sizes)
    return found


def _size(dim: onnx.TensorShapeProto.Dimension, given: Mapping[str, Shape | int]) -> int:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return dim.dim_value
    size = given.get(dim.dim_param, _OPEN_SIZE)
    return size if isinstance(size, int) else _OPEN_SIZE


def differences(before: Path, after: Path, inputs: dict[str, np.ndarray]) -> tuple[str, list[str]]:
    """Run two models; say by what they were run, and in which outputs they differ.

    Raises
    ------
    UsageError
        If the first model does not run on these inputs.
    """
    first, second = load(before, data=True), load(after, data=True)
    of_sonnx = any(o.domain == SONNX for o in second.opset_import)
    runners = {} if of_sonnx else {"ONNX Runtime": _by_onnxruntime}
    if of_sonnx or len(second.graph.node) <= _MOST_NODES:
        runners["the reference evaluator"] = _by_reference
    ran: list[str] = []
    found = []
    for name, run in runners.items():
        try:
            expected = run(before, first, inputs)
        except Exception as error:
            if ran:
                # The reference lacks some operators.
                continue
            raise UsageError(f"--check: {name} does not run {before}: {_reason(error)}") from None
        ran.append(name)
        try:
            got = run(after, second, inputs)
        except Exception as error:
            found.append(f"{name} does not run {after}: {_reason(error)}")
            continue
        outputs = [output.name for output in first.graph.output]
        found += [
            f"{name}: output {output!r} differs"
            for output, a, b in zip(outputs, expected, got, strict=True)
            if not _same(a, b)
        ]
    return " and ".join(ran), found


def _reason(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _same(a: Any, b: Any) -> bool:
    """Say whether two outputs are the same to the bit; an output may be a list of tensors."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes())


def _by_onnxruntime(path: Path, model: ModelProto, inputs: dict[str, np.ndarray]) -> list[Any]:
    try:
        import onnxruntime as runtime
    except ImportError:
        raise UsageError(
            "--check runs the models in ONNX Runtime: install onnxruntime, or whycast[oracle]"
        ) from None
    options = runtime.SessionOptions()
    # It may otherwise change one model in another way than the other.
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    # Its path leads to external data.
    source = model.SerializeToString() if path.suffix == TEXT else path
    session = runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    results: list[Any] = session.run(None, inputs)
    return results


def _by_reference(path: Path, model: ModelProto, inputs: dict[str, np.ndarray]) -> list[Any]:
    return list(ReferenceEvaluator(model, new_ops=[Broadcast]).run(None, inputs))
