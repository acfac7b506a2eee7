"""ONNX's operators that broadcast their inputs, with opset and rule.

A test compares all but stacked operators with ONNX's schemas whose text mentions broadcasting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# multidirectional: all inputs grow. unidirectional: only the last input grows. stacked: both
# factors grow, except on the last two axes. equal: an opset before the rule. explicit: Expand.
Direction = Literal["multidirectional", "unidirectional", "stacked", "equal", "explicit"]


@dataclass(frozen=True)
class Operator:
    """An operator's rule, which holds from opset `since` on."""

    since: int
    direction: Direction = "multidirectional"


OPERATORS = {
    **dict.fromkeys(
        ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"),
        Operator(7),
    ),
    **dict.fromkeys(("Max", "Mean", "Min", "Sum"), Operator(8)),
    "Where": Operator(9),
    "Mod": Operator(10),
    "BitShift": Operator(11),
    **dict.fromkeys(("GreaterOrEqual", "LessOrEqual"), Operator(12)),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), Operator(18)),
    "StringConcat": Operator(20),
    "PRelu": Operator(7, "unidirectional"),
    "Gemm": Operator(7, "unidirectional"),
    **dict.fromkeys(("MatMul", "MatMulInteger", "QLinearMatMul"), Operator(1, "stacked")),
}

EXPLICIT = frozenset({"Expand", "Tile"})

# These operators broadcast inside a larger computation: the report only counts them.
INSIDE = frozenset({"Attention", "Einsum", "LayerNormalization", "RMSNormalization", "SwiGLU"})

# The nodes of an explicit broadcast; SONNX has not named its domain yet.
Form = Literal["expand", "reshape+tile", "sonnx"]
FORMS: tuple[Form, ...] = ("expand", "reshape+tile", "sonnx")
SONNX = "sonnx"

ONNX = frozenset({"", "ai.onnx"})
