"""Peers: the onnx package (shape inference, reference implementation), and ONNX Runtime.

ONNX has no operator that only broadcasts several tensors. ``Where`` serves, with a condition that
is true everywhere and has another tensor's shape.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, TypeProto, helper
from onnx.defs import get_schema
from onnx.reference import ReferenceEvaluator
from onnx.shape_inference import infer_node_outputs

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function, Named

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# Opset 13 has Expand and Where; the newest runtimes still support this opset.
OPSET = 13
IR_VERSION = 10


def functions(rule: Rule) -> dict[str, Function]:
    shape = _inferred if rule.takes == "target" else _common
    found = {"verdict": shape, "shape": shape, "data": _computed(rule, ReferenceEvaluator)}
    return found if rule.takes == "target" else found | {"symbolic": shape}


def runtime_functions(rule: Rule) -> dict[str, Function]:
    return {"data": _computed(rule, runtime_session)}


def symbolic_functions(rule: Rule) -> dict[str, Function]:
    return {"symbolic": _symbolic}


def merging_functions(rule: Rule) -> dict[str, Function]:
    return {"symbolic": lambda *shapes: _symbolic(*shapes, auto_merge=True)}


def runtime_session(model: ModelProto) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # By default a refusal logs an error beside the exception.
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _computed(rule: Rule, session: Callable[[ModelProto], Any]) -> Function:
    once = cache(lambda model, *dtypes: session(model(*dtypes)))

    def expand(array: AnyArray, target: Shape) -> Any:
        inputs = {"input": array, "shape": np.array(target, np.int64)}
        return once(expand_model, array.dtype.name).run(None, inputs)[0]

    def broadcast(*arrays: AnyArray) -> Any:
        running = once(where_model, *[array.dtype.name for array in arrays])
        return running.run(None, {f"x{i}": array for i, array in enumerate(arrays)})

    return expand if rule.takes == "target" else broadcast


def element_type(dtype: str) -> int:
    """Return ONNX's number of an element type; "object" stands for strings."""
    if dtype == "object":
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def expand_model(dtype: str) -> ModelProto:
    node = helper.make_node("Expand", ["input", "shape"], ["output"])
    return model_of([node], [("input", dtype), ("shape", "int64")], [("output", dtype)])


def where_model(*dtypes: str) -> ModelProto:
    """Make a model that broadcasts tensors of any rank, ``x0`` and so on, to ``z0`` and so on."""
    true = helper.make_tensor("value", TensorProto.BOOL, [1], [True])
    nodes = []
    for i in range(len(dtypes)):
        nodes.append(helper.make_node("Shape", [f"x{i}"], [f"shape{i}"]))
        nodes.append(helper.make_node("ConstantOfShape", [f"shape{i}"], [f"true{i}"], value=true))
    for i in range(len(dtypes)):
        name = f"x{i}"
        for j in range(len(dtypes)):
            if j != i:
                longer = f"{name}_{j}"
                nodes.append(helper.make_node("Where", [f"true{j}", name, name], [longer]))
                name = longer
        nodes.append(helper.make_node("Identity", [name], [f"z{i}"]))
    inputs = [(f"x{i}", dtype) for i, dtype in enumerate(dtypes)]
    return model_of(nodes, inputs, [(f"z{i}", dtype) for i, dtype in enumerate(dtypes)])


def model_of(nodes: Sequence[NodeProto], *ends: Sequence[tuple[str, str]]) -> ModelProto:
    inputs, outputs = (
        [helper.make_tensor_value_info(name, element_type(dtype), None) for name, dtype in values]
        for values in ends
    )
    graph = helper.make_graph(nodes, "broadcast", inputs, outputs)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _inferred(shape: Shape, target: Shape) -> Named:
    wanted = helper.make_tensor("shape", TensorProto.INT64, [len(target)], target)
    types = {"shape": helper.make_tensor_type_proto(TensorProto.INT64, [len(target)])}
    return _output_shape("Expand", {"input": shape}, types, {"shape": wanted})


def _common(*shapes: Named) -> Named:
    return _output_shape("Sum", {f"x{i}": shape for i, shape in enumerate(shapes)}, {}, {})


def _output_shape(
    operator: str,
    shapes: dict[str, Named],
    types: dict[str, TypeProto],
    known: dict[str, TensorProto],
) -> Named:
    types = {
        name: helper.make_tensor_type_proto(TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    } | types
    node = helper.make_node(operator, list(types), ["output"])
    found = infer_node_outputs(get_schema(operator, OPSET), node, types, known)
    return _sizes(found["output"])


def _sizes(found: TypeProto) -> Named:
    """Read a shape: an open size has neither a value nor a name."""
    sizes = found.tensor_type.shape.dim
    return tuple(
        size.dim_value if size.HasField("dim_value") else size.dim_param or None for size in sizes
    )


def _symbolic(*shapes: Named, auto_merge: bool = False) -> Named:
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    names = [f"x{i}" for i in range(len(shapes))]
    node = helper.make_node("Add" if len(shapes) == 2 else "Sum", names, ["output"])
    model = model_of([node], [], [("output", "float32")])
    for name, shape in zip(names, shapes, strict=True):
        model.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    here = Path.cwd()
    # A failed inference writes its model to the working directory.
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            found = SymbolicShapeInference.infer_shapes(model, auto_merge=auto_merge)
        finally:
            os.chdir(here)
    return _sizes(found.graph.output[0].type)
