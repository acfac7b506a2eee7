"""Conditions on cases, by which the register of known deviations says what it is about."""

from __future__ import annotations

import math
from collections.abc import Callable

from whycast._rules import Operands, Rule, rule_on_tensors
from whycast._types import Shape
from whycast.testing._cases._case import Case

Condition = Callable[[Rule, Case], bool]


def _output(rule: Rule, case: Case) -> Shape:
    """Shape of the output; of what is refused one without elements."""
    output = rule.shape(case)
    return (0,) if output is None else output


def _only_numpy_accepts(rule: Rule, case: Case) -> bool:
    own, numpy = (rule_on_tensors(zero_meets_one=meets) for meets in (False, True))
    operands = Operands(case.shapes)
    return own.shape(operands) is None and numpy.shape(operands) is not None


def _tensor(has: Callable[[Rule, Case, Shape, str, str], bool]) -> Condition:
    """Whether some tensor has something, by its shape, dtype and layout."""
    return lambda rule, case: any(has(rule, case, *tensor) for tensor in case.tensors())


def _has(*dtypes: str) -> Condition:
    return lambda rule, case: any(dtype in dtypes for dtype in case.dtypes)


def _axes(has: Callable[[Shape, Shape, tuple[int, ...]], bool]) -> Condition:
    """Whether a tensor, its target and the axes have something."""
    return lambda rule, case: has(case.shapes[0], case.target or (), case.axes or ())


def _sizes_fit(shape: Shape, target: Shape, axes: tuple[int, ...]) -> bool:
    return all(
        0 <= axis < len(target) and size in (1, target[axis])
        for size, axis in zip(shape, axes, strict=False)
    )


def _turned_onto_itself(rule: Rule, case: Case) -> bool:
    (shape,) = case.shapes
    if shape != case.target or 0 in shape or rule.shape(case) is None:
        return False
    places = enumerate(zip(shape, case.axes or (), strict=True))
    return any(size != 1 and axis != j for j, (size, axis) in places)


def _shape_and_target(shape: Shape, target: Shape) -> Condition:
    return lambda rule, case: (case.shapes, case.target) == ((shape,), target)


CONDITIONS: dict[str, Condition] = {
    "only NumPy's rule accepts": _only_numpy_accepts,
    "the output has elements": lambda rule, case: 0 not in _output(rule, case),
    "an element is repeated": lambda rule, case: any(
        math.prod(shape) < math.prod(_output(rule, case)) for shape in case.shapes
    ),
    "a writable tensor has the shape of the output": _tensor(
        lambda rule, case, shape, dtype, layout: (
            shape == rule.shape(case)
            and layout not in ("overlapping", "readonly")
            and (layout != "broadcast" or not shape)
        )
    ),
    # Of rank 0 no tensor is reversed, nor broadcast.
    "torch takes the memory of a tensor": _tensor(
        lambda rule, case, shape, dtype, layout: (
            layout in ("C", "transposed", "sliced", "unaligned", "same")
            or (layout in ("reversed", "broadcast", "backwards") and not shape)
        )
    ),
    "there are elements of 64 bits": _has("int64", "uint64", "float64"),
    "there is a float16": _has("float16"),
    "there are objects": _has("object"),
    "the output is of rank 0": lambda rule, case: rule.shape(case) == (),
    # The first of several elements is one.
    "there is a negative zero": _tensor(
        lambda rule, case, shape, dtype, layout: dtype.startswith("float") and math.prod(shape) > 1
    ),
    "the rule refuses": lambda rule, case: rule.shape(case) is None,
    "there are several tensors": lambda rule, case: len(case.shapes) > 1,
    "there is an axis for each of the tensor": _axes(
        lambda shape, target, axes: (
            len(axes) == len(shape) and all(0 <= axis < len(target) for axis in axes)
        )
    ),
    "axes are sorted and repeat": _axes(
        lambda shape, target, axes: list(axes) == sorted(axes) and len(axes) > len(set(axes))
    ),
    "sizes fit": _axes(_sizes_fit),
    "a scalar has an axis, of size 1": _axes(
        lambda shape, target, axes: (
            (shape, len(axes)) == ((), 1) and axes[0] in range(len(target)) and target[axes[0]] == 1
        )
    ),
    "a tensor of the target's rank has no axes": _axes(
        lambda shape, target, axes: axes == () and len(shape) == len(target) > 0
    ),
    "a tensor is turned onto its own shape": _turned_onto_itself,
    "the target is of rank 0": lambda rule, case: case.target == (),
    "(0,) to (0,)": _shape_and_target((0,), (0,)),
    "(1,) to (0,)": _shape_and_target((1,), (0,)),
    "(0,) to (1,)": _shape_and_target((0,), (1,)),
}
