"""What cases do not contain, asked of runtimes in a child process: negative sizes, other axes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, product
from multiprocessing import get_context
from typing import cast

import numpy as np
import pytest
from plain_rule import all_shapes

from whycast._rules import RULES
from whycast._types import AnyArray
from whycast.openvino import Mode, broadcast
from whycast.testing._peers import PEERS, ManyAtOnce, absent

# What was returned: shape, dtype and elements; None where the call was refused.
Answer = tuple[tuple[int, ...], str, bytes] | None

# Many times what the slowest takes; without a limit, one that hangs would hang the tests.
SECONDS = 240


def ask(name: str, rule: str, calls: Sequence[tuple[object, ...]]) -> list[Answer]:
    """Ask a peer for arrays."""
    if missing := absent(PEERS[name]):
        pytest.skip(missing)
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        return pool.submit(_answers, name, rule, calls).result(SECONDS)


def _answers(name: str, rule: str, calls: Sequence[tuple[object, ...]]) -> list[Answer]:
    peer = PEERS[name]
    os.environ.update(peer.environment)
    function = peer.functions(RULES[rule])["data"]
    if isinstance(function, ManyAtOnce):
        return [taken(result) for result in function.many(calls)]
    return [taken(attempt(function, *call)) for call in calls]


def attempt(function: Callable[..., object], *arguments: object) -> object:
    """Return what a function returns, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def taken(result: object) -> Answer:
    """Take down an array."""
    if isinstance(result, Exception):
        return None
    array = np.asarray(result)
    return array.shape, array.dtype.name, array.tobytes()


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
