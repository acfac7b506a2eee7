"""Which operators of ONNX broadcast their inputs, since when, and by which rule.

A test compares this table with ONNX's schemas: operators whose text mentions broadcasting are here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# multidirectional: all inputs to one shape. unidirectional: the last input to the others' shape.
# stacked: all but the last two axes of both inputs. equal: no broadcasting yet. explicit: Expand.
Direction = Literal["multidirectional", "unidirectional", "stacked", "equal", "explicit"]


@dataclass(frozen=True)
class Operator:
    """How an operator broadcasts, from an opset on; before, its shapes have to be equal."""

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

# Broadcasting is only a part of these; no node before them can make it explicit.
INSIDE = frozenset({"Attention", "Einsum", "LayerNormalization", "RMSNormalization", "SwiGLU"})

# Nodes that make a broadcast explicit; the domain is ours, as SONNX has none yet.
Form = Literal["expand", "reshape+tile", "sonnx"]
FORMS: tuple[Form, ...] = ("expand", "reshape+tile", "sonnx")
SONNX = "sonnx"

ONNX = frozenset({"", "ai.onnx"})
