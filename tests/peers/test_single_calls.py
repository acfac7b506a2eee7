"""What cases do not contain, asked of runtimes: negative sizes, needless axes, what came before."""

from __future__ import annotations

from itertools import combinations, product
from typing import cast

import numpy as np
import pytest
from asked import Answer, apart, ask, attempt, require, taken
from plain_rule import Shape, all_shapes

from whycast._rules import RULES
from whycast._types import AnyArray
from whycast.openvino import Mode, broadcast

# Of rank 1 and 2; -1 has no meaning in any of the texts, it is a size that no tensor has.
NEGATIVE_TARGETS = [
    target
    for rank in (1, 2)
    for target in product((-2, -1, 0, 1, 2), repeat=rank)
    if min(target) < 0
]


def numbered(*shape: int) -> AnyArray:
    return np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("onnx-reference", "expand"),
        ("onnxruntime", "expand"),
        ("openvino", "openvino-numpy"),
        ("openvino", "openvino-explicit"),
        ("openvino", "openvino-bidirectional"),
        ("jax", "in-dim"),
    ],
)
def test_negative_sizes_are_refused(name: str, rule: str) -> None:
    calls: list[tuple[object, ...]] = []
    for shape, target in product(all_shapes(2, 2), NEGATIVE_TARGETS):
        if RULES[rule].takes == "target":
            calls.append((numbered(*shape), target))
            continue
        for axes in combinations(range(len(target)), len(shape)):
            calls.append((numbered(*shape), target, axes))
    assert all(isinstance(attempt(RULES[rule].function, *call), ValueError) for call in calls)
    assert ask(name, rule, calls) == [None] * len(calls)


@pytest.mark.parametrize("mode", ["numpy", "bidirectional"])
def test_openvino_does_not_look_at_axes_in_a_mode_without_them(mode: str) -> None:
    """Its text wants no third input there."""
    calls = [
        (numbered(2), target, (axis,))
        for target in [(2,), (3, 2), (2, 3), (3, 3)]
        for axis in (0, 1)
    ]
    ours = [attempt(broadcast, *call, mode) for call in calls]
    assert all(isinstance(refused, ValueError) for refused in ours)
    without = [taken(attempt(broadcast, x, to, None, cast("Mode", mode))) for x, to, _ in calls]
    assert ask("openvino", f"openvino-{mode}", calls) == without


def inferences(calls: list[tuple[Shape, Shape]]) -> list[Answer]:
    """Answers of one compiled model, one inference after the other."""
    from whycast.testing._peers import _openvino

    request = _openvino._request("numpy", "int32", 2, 2, None)
    return [
        taken(attempt(_openvino._run, request, numbered(*shape), target, None))
        for shape, target in calls
    ]


def test_what_came_before_can_change_the_verdict_of_openvino() -> None:
    """After an output without elements the target is compared with the one before."""
    require("openvino")
    first, empty, wrong = ((1, 3), (3, 3)), ((2, 0), (2, 0)), ((2, 0), (3, 3))
    no_elements = ((2, 0), "int32", b"")
    assert apart(inferences, [wrong]) == [None]
    assert apart(inferences, [first, wrong])[1:] == apart(inferences, [empty, wrong])[1:] == [None]
    assert apart(inferences, [first, empty, wrong])[1:] == [no_elements, no_elements]
