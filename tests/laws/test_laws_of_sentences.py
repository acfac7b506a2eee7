"""Sentences of SONNX and of ONNX Expand, executed on all small shapes.

Executed are the theorems of why3/sonnx/sentences.mlw and why3/axes/expand_ones.mlw. In the arrays
no element occurs twice.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from array_strategies import distinct_arrays
from plain_rule import all_shapes, indices, prepend

import whycast
from whycast import _kernel, numpy_rule, onnx

CASES = [
    *product(all_shapes(3, 2), repeat=2),
    *product(all_shapes(2, 3), repeat=2),
    *product(all_shapes(1, 3), repeat=3),
]


def test_missing_data_is_copied() -> None:
    """broadcast_rank_largest, missing_data_copied: sonnx/sentences.mlw.

    [E_Broadcast_any_Condition1_010] [E_Broadcast_any_Condition2_020] [E_Broadcast_any_Step2_010]
    """
    copied = 0
    for shapes in CASES:
        xs = distinct_arrays(shapes)
        try:
            zs = whycast.broadcast(*xs)
        except whycast.BroadcastError:
            continue
        rank = max(map(len, shapes))
        for x, z in zip(xs, zs, strict=True):
            assert z.ndim == rank
            sizes = prepend(x.shape, rank)
            for index, k in product(indices(z.shape), range(rank)):
                if index[k] >= sizes[k]:
                    assert z[index] == z[(*index[:k], 0, *index[k + 1 :])]
                    copied += 1
    assert copied > 1000


def test_padding_and_f() -> None:
    """pad_prepends, f_cases: sonnx/sentences.mlw.

    [E_Broadcast_any_Condition1_020] [E_Broadcast_any_Step1_020] [E_Broadcast_any_F_010]
    """
    for shape in all_shapes(3, 2):
        for prepended in range(3):
            padded = _kernel.pad(shape, len(shape) + prepended)
            assert padded == (1,) * prepended + shape
    for a, b, c in product(range(5), repeat=3):
        assert whycast.f(a, b, c) == (a if b == c else 0)


def test_expand_is_multiplication_by_ones() -> None:
    """expand_times_ones: axes/expand_ones.mlw. [E_Expand_any_Data_020]"""
    expanded = 0
    for shape, target in product(all_shapes(3, 2), repeat=2):
        (x,) = distinct_arrays((shape,))
        ones = np.ones(target, int)
        try:
            both = numpy_rule.broadcast_arrays(x, ones)
        except numpy_rule.IncompatibleError:
            continue
        z = onnx.expand(x, target)
        assert z.shape == both[0].shape == both[1].shape
        assert np.array_equal(z, both[0] * both[1])
        expanded += 1
    assert 0 < expanded < 40**2
