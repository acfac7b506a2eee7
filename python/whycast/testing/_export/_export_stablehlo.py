"""Cases of broadcast_in_dim in StableHLO, in the form of its own tests."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import cast

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._cases._case import Case
from whycast.testing._cases._fixed import is_small
from whycast.testing._export._export_onnx import telling
from whycast.testing._export._pack import NotPossibleError, Test, chosen, pack, test_of

LAYOUT = """\
stablehlo: functions of broadcast_in_dim for StableHLO's own tools. accepted.mlir compares elements
(stablehlo-translate --interpret -split-input-file), refused.mlir has errors (stablehlo-opt
-verify-diagnostics -split-input-file)."""


def write(rule: Rule, cases: Iterable[Case], path: Path) -> int:
    if rule.alignment != "distinct":
        raise NotPossibleError(f"StableHLO has broadcast_in_dim, which is not rule {rule.name}")
    small = [case for case in cases if is_small(rule, case)]
    tests = chosen([test_of(rule, "", (*case.dtypes, "int32")[0], case) for case in small])
    with pack(rule, "{}.mlir", tests, path) as whole:
        for name in ("accepted", "refused"):
            functions = [_function(rule, t) for t in tests if t.accepted == (name == "accepted")]
            (whole / f"{name}.mlir").write_text("\n// -----\n\n".join(functions), encoding="ascii")
    return len(tests)


def _function(rule: Rule, test: Test) -> str:
    (shape,), target = test.case.shapes, cast("Shape", test.case.target)
    operand, result = _type(shape, test.dtype), _type(target, test.dtype)
    taken = f"dims = {list(test.case.axes or ())} : ({operand}) -> {result}"
    body = ""
    for k, elements in enumerate(telling(test.dtype, math.prod(shape))):
        given = elements.reshape(shape)
        body += f"  %x{k} = stablehlo.constant dense<{_dense(given)}> : {operand}\n"
        if not test.accepted:
            body += "  // expected-error@+1 {{}}\n"
        body += f"  %y{k} = stablehlo.broadcast_in_dim %x{k}, {taken}\n"
        if not test.accepted:
            end = f"  func.return %y{k} : {result}\n"
            return f"func.func @{test.id}() -> {result} {{\n{body}{end}}}\n"
        (right,) = rule.broadcast([given], test.case)
        body += f"  check.expect_eq_const %y{k}, dense<{_dense(right)}> : {result}\n"
    return f"func.func @{test.id}() {{\n{body}  func.return\n}}\n"


def _type(shape: Shape, dtype: str) -> str:
    bits = 8 * np.dtype(dtype).itemsize
    element = {"b": "i1", "u": f"ui{bits}", "i": f"i{bits}", "f": f"f{bits}"}[np.dtype(dtype).kind]
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def _dense(array: AnyArray) -> str:
    return json.dumps(array.tolist()) if array.size else ""
