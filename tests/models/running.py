"""Find a model's broadcasts by running it, without the package."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import onnxruntime

ELEMENT_WISE = {
    *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater"),
    *("GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "PRelu"),
    *("Pow", "Sub", "Sum", "Where", "Xor"),
}


class Seen(NamedTuple):
    """Whether element-wise nodes and MatMuls of the outermost graph broadcast, by output name."""

    element_wise: dict[str, bool]
    stacks: dict[str, bool]


def started(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def seen_by_running(path: Path, inputs: dict[str, np.ndarray]) -> Seen:
    """Run a model in ONNX Runtime, and compare the shapes of the inputs of each such node."""
    model = onnx.load(path)
    nodes = [
        node
        for node in model.graph.node
        if node.domain in ("", "ai.onnx")
        and (node.op_type == "MatMul" or (node.op_type in ELEMENT_WISE and len(node.input) > 1))
    ]
    made = {name for node in model.graph.node for name in node.output}
    wanted = dict.fromkeys(name for n in nodes for name in (*n.input, *n.output) if name in made)
    known = {output.name for output in model.graph.output}
    model.graph.output.extend(
        onnx.ValueInfoProto(name=name) for name in wanted if name not in known
    )
    session = started(model)
    names = [output.name for output in session.get_outputs()]
    values = dict(zip(names, session.run(None, inputs), strict=True)) | inputs
    shapes = {name: np.shape(value) for name, value in values.items()}
    shapes |= {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    element_wise, stacks = {}, {}
    for node in nodes:
        own = [shapes[name] for name in node.input if name]
        if node.op_type != "MatMul":
            element_wise[node.output[0]] = len({*own}) > 1
        elif min(map(len, own)) >= 2:
            stacks[node.output[0]] = own[0][:-2] != own[1][:-2]
    return Seen(element_wise, stacks)
