"""Models as exporters write them, each with broadcasts of one pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

Sizes = Sequence[int | str | None] | None


def value(name: str, shape: Sizes, element: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def constant(name: str, *shape: int) -> TensorProto:
    """Give elements that differ from each other and from those of other constants."""
    drawn = np.random.default_rng(len(name) + sum(shape))
    count = int(np.prod(shape, dtype=np.int64))
    data = (drawn.permutation(count) + 1).astype(np.float32) / 64
    return numpy_helper.from_array(data.reshape(shape), name)


def model(
    nodes: Sequence[NodeProto],
    inputs: dict[str, Sizes],
    outputs: Sequence[str],
    constants: Sequence[TensorProto] = (),
    opset: int = 17,
    **more: Any,
) -> ModelProto:
    graph = helper.make_graph(
        nodes,
        "built",
        [value(name, shape) for name, shape in inputs.items()],
        [value(name, None) for name in outputs],
        list(constants),
        doc_string="kept",
    )
    domains = {function.domain for function in more.get("functions", ())}
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8, **more)
    inferred = shape_inference.infer_shapes(made).graph.output
    for output, known in zip(made.graph.output, inferred, strict=True):
        has_shape = known.type.tensor_type.HasField("shape")
        output.CopyFrom(known if has_shape else value(output.name, (None,)))
    return made


def node(operator: str, inputs: str, output: str, **attributes: Any) -> NodeProto:
    """Make a node that is called as its output is, in capitals."""
    return helper.make_node(operator, inputs.split(), [output], name=output.upper(), **attributes)


def transformer(n: Sizes = (2, 5, 8)) -> ModelProto:
    """One layer: normalization, projections with a bias, attention with a mask, a residual."""
    assert n is not None
    batch, length, _ = n
    nodes = [
        node("ReduceMean", "x", "mean", axes=[-1]),
        node("Sub", "x mean", "centred"),
        node("Pow", "centred two", "squared"),
        node("ReduceMean", "squared", "variance", axes=[-1]),
        node("Add", "variance epsilon", "shifted"),
        node("Sqrt", "shifted", "deviation"),
        node("Div", "centred deviation", "normal"),
        node("Mul", "normal scale", "scaled"),
        node("Add", "scaled bias", "ready"),
        node("MatMul", "ready weight", "product"),
        node("Add", "product offset", "queries"),
        node("Transpose", "queries", "keys", perm=[0, 2, 1]),
        node("MatMul", "queries keys", "scores"),
        node("Unsqueeze", "scores one", "by_head"),
        node("Add", "by_head mask", "masked"),
        node("Softmax", "masked", "weights"),
        node("Squeeze", "weights one", "flat"),
        node("MatMul", "flat queries", "mixed"),
        node("Add", "mixed x", "y"),
    ]
    constants = [
        numpy_helper.from_array(np.array(2, np.float32), "two"),
        numpy_helper.from_array(np.array(1e-5, np.float32), "epsilon"),
        numpy_helper.from_array(np.array([1], np.int64), "one"),
        *(constant(name, 8) for name in ("scale", "bias", "offset")),
        constant("weight", 8, 8),
    ]
    return model(nodes, {"x": n, "mask": (batch, 1, 1, length)}, ["y"], constants)


def channels() -> ModelProto:
    """A bias for each channel, and a constant."""
    nodes = [node("Add", "x bias", "a"), node("Mul", "a half", "b"), node("PRelu", "b slope", "y")]
    constants = [constant("bias", 3, 1, 1), constant("half"), constant("slope", 3, 1, 1)]
    return model(nodes, {"x": (2, 3, 4, 5)}, ["y"], constants)


def products() -> ModelProto:
    """A stack of matrices by one matrix, and Gemm with a row."""
    nodes = [
        node("MatMul", "x weight", "stack"),
        node("Flatten", "stack", "rows", axis=2),
        node("Gemm", "rows square row", "y"),
    ]
    constants = [constant("weight", 4, 5), constant("square", 5, 6), constant("row", 6)]
    return model(nodes, {"x": (2, 3, 4)}, ["y"], constants)


def branches() -> ModelProto:
    """A value that both branches of If broadcast, one of them twice."""
    then = helper.make_graph(
        [node("Add", "x row", "a"), node("Mul", "a row", "t")], "then", [], [value("t", None)]
    )
    other = helper.make_graph([node("Sub", "x row", "e")], "else", [], [value("e", None)])
    nodes = [node("Cast", "flag", "yes", to=TensorProto.BOOL)]
    nodes.append(node("If", "yes", "y", then_branch=then, else_branch=other))
    return model(nodes, {"x": (3, 4), "flag": ()}, ["y"], [constant("row", 4)])


def loop() -> ModelProto:
    """A body of Loop that broadcasts a constant from outside, and a function of the model's own."""
    body = helper.make_graph(
        [
            node("Identity", "go", "on"),
            node("Add", "s row", "next"),
            node("Mul", "next half", "seen"),
        ],
        "body",
        [value("i", (), TensorProto.INT64), value("go", (), TensorProto.BOOL), value("s", (3, 4))],
        [value("on", (), TensorProto.BOOL), value("next", (3, 4)), value("seen", (3, 4))],
    )
    around = helper.make_node(
        "Loop", ["times", "true", "x"], ["end", "all"], name="LOOP", body=body
    )
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Add", "a a", "b")], [helper.make_opsetid("", 17)]
    )
    last = helper.make_node("Twice", ["end"], ["y"], name="Y", domain="own")
    made = model(
        [around, last],
        {"x": (3, 4)},
        ["y", "all"],
        [
            numpy_helper.from_array(np.array(3), "times"),
            numpy_helper.from_array(np.array(True), "true"),
            constant("row", 4),
            constant("half"),
        ],
        functions=[twice],
    )
    made.metadata_props.add(key="kept", value="too")
    return made


def named() -> ModelProto:
    """Sizes that have names, of which some meet others."""
    nodes = [node("Add", "a b", "c"), node("Mul", "c d", "e"), node("Min", "p e a", "y")]
    sizes: dict[str, Sizes] = {"a": ("N", 4), "b": ("M", 1), "d": (4,), "p": ("N", 1)}
    return model(nodes, sizes, ["y"])


PATTERNS = {
    "transformer": transformer,
    "channels": channels,
    "products": products,
    "branches": branches,
    "loop": loop,
}
