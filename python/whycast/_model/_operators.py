"""Which operators of ONNX broadcast their inputs, since when, and by which rule.

The tests compare this table with the schemas that ONNX publishes: an operator whose text speaks of
broadcasting stands here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# multidirectional: all inputs to one shape. unidirectional: the last input to the shape of the
# others. stacked: the axes before the last two of both inputs. equal: they do not broadcast yet.
# explicit: Expand.
Direction = Literal["multidirectional", "unidirectional", "stacked", "equal", "explicit"]


@dataclass(frozen=True)
class Operator:
    """How an operator broadcasts, from which opset on. Before that, shapes have to be equal."""

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

# They say in the graph that they repeat elements.
EXPLICIT = frozenset({"Expand", "Tile"})

# They broadcast within a larger computation, which no node before them can make explicit.
INSIDE = frozenset({"Attention", "Einsum", "LayerNormalization", "RMSNormalization", "SwiGLU"})

# By which nodes a model can say that it broadcasts; the domain is ours: SONNX has none yet.
Form = Literal["expand", "reshape+tile", "sonnx"]
FORMS: tuple[Form, ...] = ("expand", "reshape+tile", "sonnx")
SONNX = "sonnx"

# Domains by which a model may name ONNX's own operators.
ONNX = frozenset({"", "ai.onnx"})
