"""Proved laws, tried on arrays.

Every test names its theorems. All elements of an array differ, so a misplaced element shows.
"""

from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
import pytest
from array_strategies import Array, distinct_arrays
from axes_cases import numbered, outcome
from plain_rule import all_shapes, e1

import whycast
from whycast import numpy_rule, onnx, openvino

CASES = [*product(all_shapes(2, 2), repeat=3), *product([(), (0,), (1,), (2, 1)], repeat=4)]


def lists(arrays: Sequence[Array]) -> list[object]:
    return [(z.shape, z.tolist()) for z in arrays]


def folded(arrays: Sequence[Array]) -> list[Array]:
    """Broadcast one tensor after the other with all earlier tensors."""
    zs = [arrays[0]]
    for y in arrays[1:]:
        zs = [*(whycast.broadcast(z, y)[0] for z in zs), whycast.broadcast(zs[0], y)[1]]
    return zs


def test_permutation_and_recursion() -> None:
    """Permuted inputs lead to permuted outputs: broadcast_permuted, sonnx/permutation.mlw. A fold
    returns the operator's data, and fails if the operator fails: recursion_outputs,
    recursion_fails, sonnx/recursion.mlw.

    [E_SonnxOneBroadcast_any_Commutativity_010] [E_SonnxOneBroadcast_any_Recursion_010]
    [E_SonnxOneBroadcast_any_Binary_090]
    """
    for shapes in CASES:
        arrays = distinct_arrays(shapes)
        if e1(shapes) is not None:
            with pytest.raises(whycast.BroadcastError):
                folded(arrays)
            continue
        zs = whycast.broadcast(*arrays)
        assert lists(folded(arrays)) == lists(zs)
        for order in permutations(range(len(shapes))):
            permuted = whycast.broadcast(*[arrays[m] for m in order])
            assert lists(permuted) == lists([zs[m] for m in order])


def test_expand_beside_the_broadcast_of_two_tensors() -> None:
    """Expand returns the tensor times ones, by NumPy's rule: expand_times_ones,
    axes/expand_ones.mlw; expand_numpy, expand_bidirectional, axes/expand.mlw.

    [E_Expand_any_Data_020] [E_OpenvinoThreeBroadcast_any_Modes_010]
    """
    for shape, target in product(all_shapes(2, 3), repeat=2):
        x = numbered(shape)
        both = outcome(numpy_rule.broadcast_arrays, x, np.ones(target, np.int16))
        bidirectional = outcome(openvino.broadcast, x, target, None, "bidirectional")
        for z in (outcome(onnx.expand, x, target), bidirectional):
            if isinstance(both, ValueError) or isinstance(z, ValueError):
                assert type(z) is type(both)
            else:
                assert lists([z]) == lists([both[0] * both[1]])
