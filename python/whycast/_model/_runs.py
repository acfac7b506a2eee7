"""Runs of two models on the same random inputs, compared bit by bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import whycast
from whycast._model._infer import Read
from whycast._model._names import Names
from whycast._model._operators import SONNX
from whycast._model._places import Place
from whycast._model._read import TEXT, data_files, load
from whycast._types import Shape
from whycast._usage import UsageError

# The number for a size that neither model, caller nor condition determines.
_OPEN_SIZE = 2
# Limits: nodes and bytes of a model for the slow reference; elements of an input.
_MOST_NODES, _MOST_BYTES, _MOST_ELEMENTS = 100, 2**26, 2**28
_SEED = 33

Inputs = dict[str, Any]
_Runner = Callable[[Path, Inputs], list[Any]]


class Broadcast(OpRun):
    op_domain = SONNX

    def _run(self, *tensors: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(np.array(each) for each in whycast.broadcast(*tensors))


def check(
    before: Path,
    after: Path,
    names: Names,
    found: Sequence[Place],
    known: Read,
    numbers: Mapping[str, float],
) -> dict[str, Any]:
    sizes = _numbers_for(names, found, known.given)
    inputs = feeds(known.inputs, sizes, numbers)
    try:
        by, differences = _differences(before, after, inputs)
    except UsageError:
        # Sizes that the model computes at run time may have conditions, too: try 1 for all sizes.
        inputs = feeds(known.inputs, dict.fromkeys(sizes, 1), numbers)
        by, differences = _differences(before, after, inputs)
    shapes = {name: [*np.shape(each)] for name, each in inputs.items() if np.ndim(each)}
    chosen = sorted(shapes.keys() - known.given.keys())
    return {"by": by, "inputs": shapes, "differences": differences, "chosen": chosen}


def _numbers_for(
    names: Names, found: Sequence[Place], given: Mapping[str, object]
) -> dict[str, int]:
    """Choose numbers for names; a size of 1 meets every condition of a broadcast."""
    sizes = {name: _OPEN_SIZE for name in names.numbered if name not in given and name[0] != "\0"}
    for clause in (clause for place in found for clause in place.condition):
        used = {name: sizes.get(name, _OPEN_SIZE) for name in clause.names}
        if not clause.holds(used):
            sizes |= {name: 1 for name in used if name in sizes}
    return sizes


def feeds(
    inputs: Sequence[onnx.ValueInfoProto], chosen: Mapping[str, int], numbers: Mapping[str, float]
) -> Inputs:
    """Draw a model's inputs; for an input that is a sequence, two tensors.

    If `numbers` contains a number for an input, all its elements are this number. Otherwise all
    strings of a tensor differ, and so do its fractions before they are rounded; integers, which may
    be indices, are below 100. `chosen` maps names of sizes to sizes.
    """
    drawn = np.random.default_rng(_SEED)
    if unknown := sorted(numbers.keys() - {value.name for value in inputs}):
        raise UsageError(f"--input: the model has no input {unknown[0]!r}")
    found: Inputs = {}
    for value in inputs:
        said, is_sequence = f"input {value.name!r}", value.type.HasField("sequence_type")
        about = value.type.sequence_type.elem_type if is_sequence else value.type
        if not about.HasField("tensor_type"):
            raise UsageError(f"--check: {said} is neither a tensor nor a sequence of tensors")
        tensor = about.tensor_type
        if not tensor.HasField("shape"):
            raise UsageError(f"--check: the shape of {said} is open (--sizes)")
        sizes = tuple(
            dim.dim_value
            if dim.HasField("dim_value") and dim.dim_value >= 0
            else chosen.get(dim.dim_param, _OPEN_SIZE)
            for dim in tensor.shape.dim
        )
        if (count := math.prod(sizes)) > _MOST_ELEMENTS:
            most = f"expected at most {_MOST_ELEMENTS:,} (--sizes)"
            raise UsageError(f"--check: {said} would have {count:,} elements, {most}")
        asked = (drawn, tensor.elem_type, sizes, numbers.get(value.name))
        made = [_drawn(*asked) for _ in range(1 + is_sequence)]
        found[value.name] = made if is_sequence else made[0]
    return found


def _drawn(
    drawn: np.random.Generator, element: int, sizes: Shape, number: float | None
) -> np.ndarray:
    dtype = helper.tensor_dtype_to_np_dtype(element)
    data: np.ndarray = drawn.permutation(math.prod(sizes))
    if number is not None:
        data = np.full(data.size, number)
    elif dtype == np.bool_:
        data = data % 2
    elif "int" in dtype.name:
        bits = int("".join(filter(str.isdigit, dtype.name)))
        data = data % min(100, 2 ** (bits - 1))
    elif dtype == np.object_:
        data = np.array([f"t{k}" for k in data], dtype)
    else:
        data = (data + 1) / (data.size + 1) * (1 + 2j if dtype.kind == "c" else 1)
    return data.astype(dtype).reshape(sizes)


def _differences(before: Path, after: Path, inputs: Inputs) -> tuple[str, list[str]]:
    """Run two models, one in memory at a time; return the evaluators' names and differences."""
    first, second = load(before, data=False), load(after, data=False)
    of_sonnx = any(o.domain == SONNX for o in second.opset_import)
    outputs = [output.name for output in first.graph.output]
    is_small = len(second.graph.node) <= _MOST_NODES and _size_of(before, first) <= _MOST_BYTES
    del first, second
    runners: dict[str, _Runner] = {} if of_sonnx else {"ONNX Runtime": _by_onnxruntime}
    runners["the reference evaluator"] = _by_reference
    ran, reasons, found = list[str](), list[str](), list[str]()
    for name, run in runners.items():
        if ran and not is_small:
            continue
        expected = _attempt(name, run, before, inputs)
        if isinstance(expected, str):
            reasons.append(expected)
            continue
        ran.append(name)
        got = _attempt(name, run, after, inputs)
        if isinstance(got, str):
            found.append(got)
            continue
        texts = zip(outputs, map(_difference, expected, got), strict=True)
        found += [f"{name}: output {output!r} differs: {text}" for output, text in texts if text]
    if not ran:
        raise UsageError(f"--check: {'; '.join(reasons)}")
    return " and ".join(ran), found


def _size_of(path: Path, model: ModelProto) -> int:
    files = (path.parent / name for name in data_files(model))
    return path.stat().st_size + sum(file.stat().st_size for file in files)


def _attempt(name: str, run: _Runner, path: Path, inputs: Inputs) -> list[Any] | str:
    try:
        return run(path, inputs)
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        return f"{name} does not run {path}: {reason}"


def _difference(a: Any, b: Any) -> str:
    """Return where two outputs, tensors or lists, differ in a bit; else an empty text."""
    if isinstance(a, list) or isinstance(b, list):
        if not (isinstance(a, list) and isinstance(b, list) and len(a) == len(b)):
            return "a sequence of another length"
        texts = enumerate(map(_difference, a, b))
        return next((f"at {k}, {text}" for k, text in texts if text), "")
    if a is None or b is None:
        return "" if a is b else "one of them is empty"
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype} of shape {a.shape} before, {b.dtype} of shape {b.shape} after"
    if a.dtype == object:
        unlike = np.array([x != y for x, y in zip(a.flat, b.flat, strict=True)], bool)
    else:
        each = (x.reshape(-1).view(np.uint8).reshape(-1, a.dtype.itemsize) for x in (a, b))
        unlike = np.not_equal(*each).any(axis=1)
    if not unlike.any():
        return ""
    first = int(unlike.argmax())
    at = tuple(map(int, np.unravel_index(first, a.shape)))
    text = f"{unlike.sum():,} of {a.size:,} elements, the first at {at}: "
    text += f"{a.flat[first]} before, {b.flat[first]} after"
    if a.dtype.kind in "fiu":
        far = np.abs(a.reshape(-1)[unlike].astype(np.float64) - b.reshape(-1)[unlike])
        text += f"; at most {np.nanmax(far):.3g} apart" if not np.isnan(far).all() else ""
    return text


def _by_onnxruntime(path: Path, inputs: Inputs) -> list[Any]:
    import onnxruntime as runtime

    options = runtime.SessionOptions()
    # Optimizations of the two models may differ.
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    # With a path, ONNX Runtime finds external data.
    source = load(path, data=True).SerializeToString() if path.suffix == TEXT else path
    session = runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    results: list[Any] = session.run(None, inputs)
    return results


def _by_reference(path: Path, inputs: Inputs) -> list[Any]:
    model = load(path, data=True)
    return list(ReferenceEvaluator(model, new_ops=[Broadcast]).run(None, dict(inputs)))
