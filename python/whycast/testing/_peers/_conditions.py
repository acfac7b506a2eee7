"""Conditions on cases, by which the register of known deviations says what it is about."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from whycast._rules import RULES, Operands, Rule
from whycast._types import Shape
from whycast.testing._cases._case import Case

Condition = Callable[[Rule, Case], bool]


def _only_numpy_accepts(rule: Rule, case: Case) -> bool:
    operands = Operands(case.shapes)
    return RULES["sonnx"].shape(operands) is None and RULES["numpy"].shape(operands) is not None


def _output_has_elements(rule: Rule, case: Case) -> bool:
    output = rule.shape(case)
    return output is not None and 0 not in output


def _an_element_repeats(rule: Rule, case: Case) -> bool:
    output = rule.shape(case)
    return output is not None and any(math.prod(shape) < math.prod(output) for shape in case.shapes)


def _writable_of_output_shape(rule: Rule, case: Case) -> bool:
    output = rule.shape(case)
    return any(
        shape == output and layout not in ("overlapping", "readonly")
        for shape, _, layout in case.tensors()
    )


def _memory_that_torch_takes(rule: Rule, case: Case) -> bool:
    # Of rank 0 no tensor is reversed.
    return any(
        layout in ("C", "transposed", "sliced") or (layout == "reversed" and not shape)
        for shape, _, layout in case.tensors()
    )


def _has(*dtypes: str) -> Condition:
    return lambda rule, case: any(dtype in dtypes for dtype in case.dtypes)


def _float_with_negative_zero(rule: Rule, case: Case) -> bool:
    # The first of several elements is one.
    return any(
        dtype.startswith("float") and math.prod(shape) > 1 for shape, dtype, _ in case.tensors()
    )


def _along_axes(case: Case) -> tuple[Shape, Shape, tuple[int, ...]]:
    return case.shapes[0], case.target or (), case.axes or ()


def _one_axis_each(rule: Rule, case: Case) -> bool:
    shape, target, axes = _along_axes(case)
    return len(axes) == len(shape) and all(0 <= axis < len(target) for axis in axes)


def _axes_repeat_in_order(rule: Rule, case: Case) -> bool:
    axes = case.axes or ()
    return list(axes) == sorted(axes) and any(a == b for a, b in pairwise(axes))


def _sizes_fit(rule: Rule, case: Case) -> bool:
    shape, target, axes = _along_axes(case)
    return all(
        0 <= axis < len(target) and size in (1, target[axis])
        for size, axis in zip(shape, axes, strict=False)
    )


def _scalar_on_axis_of_size_1(rule: Rule, case: Case) -> bool:
    shape, target, axes = _along_axes(case)
    if shape != () or len(axes) != 1:
        return False
    return 0 <= axes[0] < len(target) and target[axes[0]] == 1


def _of_target_rank_without_axes(rule: Rule, case: Case) -> bool:
    shape, target, axes = _along_axes(case)
    return axes == () and len(shape) == len(target) > 0


def _turned_onto_itself(rule: Rule, case: Case) -> bool:
    shape, target, axes = _along_axes(case)
    if shape != target or 0 in shape or rule.shape(case) is None:
        return False
    places = enumerate(zip(shape, axes, strict=True))
    return any(size != 1 and axis != j for j, (size, axis) in places)


def _shape_and_target(shape: Shape, target: Shape) -> Condition:
    return lambda rule, case: (case.shapes, case.target) == ((shape,), target)


CONDITIONS: dict[str, Condition] = {
    "only NumPy's rule accepts": _only_numpy_accepts,
    "the output has elements": _output_has_elements,
    "an element is repeated": _an_element_repeats,
    "a writable tensor has the shape of the output": _writable_of_output_shape,
    "torch takes the memory of a tensor": _memory_that_torch_takes,
    "there are elements of 64 bits": _has("int64", "uint64", "float64"),
    "there is a float16": _has("float16"),
    "there are objects": _has("object"),
    "the output is of rank 0": lambda rule, case: rule.shape(case) == (),
    "there is a negative zero": _float_with_negative_zero,
    "the rule refuses": lambda rule, case: rule.shape(case) is None,
    "there are several tensors": lambda rule, case: len(case.shapes) > 1,
    "there is an axis for each of the tensor": _one_axis_each,
    "axes are sorted and repeat": _axes_repeat_in_order,
    "sizes fit": _sizes_fit,
    "a scalar has an axis, of size 1": _scalar_on_axis_of_size_1,
    "a tensor of the target's rank has no axes": _of_target_rank_without_axes,
    "a tensor is turned onto its own shape": _turned_onto_itself,
    "the target is of rank 0": lambda rule, case: case.target == (),
    "(0,) to (0,)": _shape_and_target((0,), (0,)),
    "(1,) to (0,)": _shape_and_target((1,), (0,)),
    "(0,) to (1,)": _shape_and_target((0,), (1,)),
}
