"""Models from ONNX's text form, and patterns as exporters write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

Sizes = Sequence[int | str | None] | None


def value(name: str, shape: Sizes, element: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def constant(name: str, *shape: int) -> TensorProto:
    """Return a constant of different elements; the name's length and the sizes seed their order."""
    drawn = np.random.default_rng(len(name) + sum(shape))
    data = (drawn.permutation(math.prod(shape)) + 1).astype(np.float32) / 64
    return numpy_helper.from_array(data.reshape(shape), name)


def parsed(text: str, opset: int = 17, more: str = "") -> ModelProto:
    head = f'<ir_version: 8, opset_import: ["": {opset}, "own": 1]{more}>'
    return onnx.parser.parse_model(f"{head} g {text}")


def pattern(name: str) -> ModelProto:
    """Return a pattern as a model; declared values without elements become constants."""
    made = parsed(PATTERNS[name], more=', metadata_props: ["kept": "too"]')
    made.graph.doc_string = "kept"
    for each in made.graph.value_info:
        sizes = (dim.dim_value for dim in each.type.tensor_type.shape.dim)
        made.graph.initializer.append(constant(each.name, *sizes))
    del made.graph.value_info[:]
    return made


PATTERNS = {
    # Normalization, projections with a bias, attention with a mask, a residual connection.
    "transformer": """(float[2,5,8] x, float[2,1,1,5] mask) => (float[2,5,8] y)
<float two = {2}, float epsilon = {0.0001}, int64[1] one = {1}, float[8] scale, float[8] bias,
float[8] offset, float[8,8] weight> {
  mean = ReduceMean<axes = [-1]>(x)
  centred = Sub(x, mean)
  squared = Pow(centred, two)
  variance = ReduceMean<axes = [-1]>(squared)
  shifted = Add(variance, epsilon)
  deviation = Sqrt(shifted)
  normal = Div(centred, deviation)
  scaled = Mul(normal, scale)
  ready = Add(scaled, bias)
  product = MatMul(ready, weight)
  queries = Add(product, offset)
  keys = Transpose<perm = [0, 2, 1]>(queries)
  scores = MatMul(queries, keys)
  by_head = Unsqueeze(scores, one)
  masked = Add(by_head, mask)
  weights = Softmax(masked)
  flat = Squeeze(weights, one)
  mixed = MatMul(flat, queries)
  y = Add(mixed, x)
}""",
    # A bias for each channel, and a constant.
    "channels": """(float[2,3,4,5] x) => (float[2,3,4,5] y)
<float[3,1,1] bias, float half, float[3,1,1] slope> {
  a = Add(x, bias) b = Mul(a, half) y = PRelu(b, slope) }""",
    # A stack of matrices times one matrix, and Gemm with a row.
    "products": """(float[2,3,4] x) => (float[6,6] y)
<float[4,5] weight, float[5,6] square, float[6] row> {
  stack = MatMul(x, weight) rows = Flatten<axis = 2>(stack) y = Gemm(rows, square, row) }""",
    # A body of Loop that broadcasts a constant from outside; a function that the model defines.
    "loop": """(float[3,4] x) => (float[3,4] y, float[3,3,4] all)
<int64 times = {3}, bool yes = {1}, float[4] row, float half> {
  end, all = Loop(times, yes, x) <body = b (int64 i, bool go, float[3,4] s)
    => (bool on, float[3,4] next, float[3,4] seen) {
      on = Identity(go) next = Add(s, row) seen = Mul(next, half) }>
  y = own.Twice(end)
}
<domain: "own", opset_import: ["": 17]> Twice (a) => (b) { b = Add(a, a) }""",
}
