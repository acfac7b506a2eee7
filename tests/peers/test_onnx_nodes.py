"""The node tests that the onnx package publishes and that broadcast, with whycast broadcasting.

Of the published models of a single element-wise operator these are all whose inputs differ in shape
(for Expand: whose tensor and target differ). whycast broadcasts the inputs, the operator is then
applied to elements that stand at the same place, and the result is compared with the published one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from array_strategies import Array
from onnx.backend.test.case.test_case import TestCase as NodeTest
from onnx.backend.test.loader import load_model_tests

import whycast

ELEMENT_WISE: dict[str, Callable[..., Array]] = {
    "Add": np.add,
    "And": np.logical_and,
    "BitShift": np.left_shift,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Div": np.divide,
    "Equal": np.equal,
    "Expand": lambda x, target: x,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Max": np.maximum,
    "Mean": lambda *xs: sum(xs) / len(xs),
    "Min": np.minimum,
    "Mod": np.mod,
    "Mul": np.multiply,
    "Or": np.logical_or,
    "PRelu": lambda x, slope: np.where(x < 0, x * slope, x),
    "Pow": np.power,
    "Sub": np.subtract,
    "Sum": lambda *xs: sum(xs),
    "Where": np.where,
    "Xor": np.logical_xor,
}

# All others are exact, or correctly rounded by IEEE 754: one product, sum or quotient of float32.
# A power is computed by the machine's mathematical library, to within its own error.
INEXACT = {"Pow"}

EXPECTED = (
    "test_add_bcast",
    "test_and_bcast3v1d",
    "test_and_bcast3v2d",
    "test_and_bcast4v2d",
    "test_and_bcast4v3d",
    "test_and_bcast4v4d",
    "test_bitwise_and_ui64_bcast_3v1d",
    "test_bitwise_and_ui8_bcast_4v3d",
    "test_bitwise_or_ui64_bcast_3v1d",
    "test_bitwise_or_ui8_bcast_4v3d",
    "test_bitwise_xor_ui64_bcast_3v1d",
    "test_bitwise_xor_ui8_bcast_4v3d",
    "test_div_bcast",
    "test_equal_bcast",
    "test_equal_string_broadcast",
    "test_expand_dim_changed",
    "test_expand_dim_unchanged",
    "test_greater_bcast",
    "test_greater_equal_bcast",
    "test_less_bcast",
    "test_less_equal_bcast",
    "test_mod_broadcast",
    "test_mul_bcast",
    "test_or_bcast3v1d",
    "test_or_bcast3v2d",
    "test_or_bcast4v2d",
    "test_or_bcast4v3d",
    "test_or_bcast4v4d",
    "test_pow_bcast_array",
    "test_pow_bcast_scalar",
    "test_prelu_broadcast",
    "test_sub_bcast",
    "test_xor_bcast3v1d",
    "test_xor_bcast3v2d",
    "test_xor_bcast4v2d",
    "test_xor_bcast4v3d",
    "test_xor_bcast4v4d",
)


def operator(case: NodeTest) -> str | None:
    """Return the element-wise operator that is all of the test's model, if it is one."""
    assert case.model is not None
    nodes = case.model.graph.node
    return nodes[0].op_type if len(nodes) == 1 and nodes[0].op_type in ELEMENT_WISE else None


def data_set(case: NodeTest) -> tuple[Sequence[Array], Sequence[Array]]:
    """Return the inputs and the published outputs of a test; each test has one set of them."""
    assert case.data_sets is not None
    ((inputs, outputs),) = case.data_sets
    return inputs, outputs


def tensors(case: NodeTest) -> list[Array]:
    """Inputs of the test; the target that Expand takes becomes a tensor of that shape."""
    inputs, _ = data_set(case)
    arrays = [np.asarray(x) for x in inputs]
    if operator(case) == "Expand":
        x, target = arrays
        return [x, np.zeros(tuple(target.tolist()), np.bool_)]
    return arrays


@cache
def broadcasting_tests() -> dict[str, NodeTest]:
    with warnings.catch_warnings():
        # The package computes its tests as it loads them, casts and logarithms of 0 included.
        warnings.simplefilter("ignore", RuntimeWarning)
        cases = load_model_tests(kind="node")
    return {
        case.name: case
        for case in cases
        if operator(case) is not None and len({x.shape for x in tensors(case)}) > 1
    }


def test_all_that_broadcast_are_tested() -> None:
    assert len(EXPECTED) == 37
    assert sorted(broadcasting_tests()) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_published_output(name: str) -> None:
    """[E_Broadcast_any_Origin_010] [E_Broadcast_any_Purpose_010] [E_Expand_any_Data_010]"""
    case = broadcasting_tests()[name]
    _, (published,) = data_set(case)
    arrays = tensors(case)
    views = whycast.broadcast(*arrays)
    assert len({z.shape for z in views}) == 1
    assert whycast.broadcast_shapes(*[x.shape for x in arrays]) == published.shape
    result = ELEMENT_WISE[operator(case) or ""](*views)
    assert result.shape == published.shape
    assert result.dtype == published.dtype
    if operator(case) in INEXACT:
        ours, theirs = result.astype(np.float64), published.astype(np.float64)
        np.testing.assert_allclose(ours, theirs, rtol=case.rtol, atol=case.atol)
    else:
        assert result.tobytes() == published.tobytes()
