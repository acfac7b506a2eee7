"""The node tests that the onnx package publishes and that broadcast, with whycast broadcasting.

Of the published models of a single element-wise operator these are all whose inputs differ in shape
(for Expand: whose tensor and target differ). whycast broadcasts the inputs, ONNX's own reference
then applies the operator to elements that stand at the same place, and the result is compared with
the published one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from array_strategies import Array
from onnx.backend.test.case.test_case import TestCase as NodeTest
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

import whycast

ELEMENT_WISE = {
    *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Expand"),
    *("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or"),
    *("PRelu", "Pow", "Sub", "Sum", "Where", "Xor"),
}

# All others are exact, or correctly rounded by IEEE 754: one product, sum or quotient of float32.
# A power is computed by the machine's mathematical library, to within its own error.
INEXACT = {"Pow"}


def operator(case: NodeTest) -> str | None:
    """Return the element-wise operator that is all of the test's model, if it is one."""
    assert case.model is not None
    nodes = case.model.graph.node
    return nodes[0].op_type if len(nodes) == 1 and nodes[0].op_type in ELEMENT_WISE else None


def data_set(case: NodeTest) -> tuple[list[Array], Array]:
    """Return the tensors of a test and its output; a target becomes a tensor of that shape."""
    assert case.data_sets is not None
    # Each test has one set of data.
    ((inputs, (published,)),) = case.data_sets
    arrays = [np.asarray(x) for x in inputs]
    if operator(case) == "Expand":
        arrays[1] = np.zeros(tuple(arrays[1].tolist()), np.bool_)
    return arrays, published


def broadcasting_tests() -> list[NodeTest]:
    with warnings.catch_warnings():
        # The package computes its tests as it loads them, casts and logarithms of 0 included.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = [case for case in load_model_tests(kind="node") if operator(case) is not None]
    return [case for case in found if len({x.shape for x in data_set(case)[0]}) > 1]


def test_published_outputs() -> None:
    """[E_Broadcast_any_Origin_010] [E_Broadcast_any_Purpose_010] [E_Expand_any_Data_010]"""
    found = broadcasting_tests()
    assert len(found) == 37
    for case in found:
        arrays, published = data_set(case)
        views = whycast.broadcast(*arrays)
        assert len({z.shape for z in views}) == 1
        assert whycast.broadcast_shapes(*[x.shape for x in arrays]) == published.shape
        result: Any = views[0]
        if operator(case) != "Expand":
            peer = ReferenceEvaluator(case.model)
            (result,) = peer.run(None, dict(zip(peer.input_names, views, strict=True)))
        assert (result.shape, result.dtype) == (published.shape, published.dtype), case.name
        if operator(case) in INEXACT:
            ours, theirs = result.astype(np.float64), published.astype(np.float64)
            np.testing.assert_allclose(ours, theirs, rtol=case.rtol, atol=case.atol)
        else:
            assert result.tobytes() == published.tobytes(), case.name
