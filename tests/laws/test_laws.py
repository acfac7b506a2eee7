"""Proved laws, executed on real arrays: those that no comparison with a reading of a text executes.

Every test names the theorem it executes. What follows from the place of each element alone, which
tests/package and tests/dialects compare without gaps, is not repeated here.
In the arrays no element occurs twice, and they are compared bit by bit: one element in the wrong
place shows.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from array_strategies import Array, array_lists, distinct_arrays, elements
from axes_cases import numbered, outcome
from hypothesis import given
from hypothesis import strategies as st
from plain_axes import p
from plain_rule import Shape, all_shapes, e1, mixes_zero_and_one
from shape_strategies import shape_lists

import whycast
from whycast import ngraph, numpy_rule, onnx, openvino
from whycast.testing import strategies

# Of small sizes, so that many do not broadcast, by zeros and otherwise.
SOME_SHAPES = shape_lists(max_rank=4, max_tensors=5, sizes=st.sampled_from([0, 1, 1, 2, 3]))
COMPATIBLE = strategies.shape_lists(compatible=True, max_side=3)


def assert_same(ours: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(ours) == len(expected)
    for z, w in zip(ours, expected, strict=True):
        assert (z.shape, z.dtype) == (w.shape, w.dtype)
        assert z.tobytes() == w.tobytes()


@given(COMPATIBLE, st.randoms(use_true_random=False))
def test_permutation_of_tensors(shapes: tuple[Shape, ...], randomness: random.Random) -> None:
    """Permuted inputs give permuted outputs: broadcast_permuted, sonnx/permutation.mlw.

    [E_SonnxOneBroadcast_any_Commutativity_010]
    """
    order = randomness.sample(range(len(shapes)), len(shapes))
    arrays = distinct_arrays(shapes)
    zs = whycast.broadcast(*arrays)
    assert_same(whycast.broadcast(*[arrays[m] for m in order]), [zs[m] for m in order])


def folded(arrays: Sequence[Array]) -> list[Array]:
    """Broadcast one tensor after the other, each time all those so far with the new one."""
    zs = [arrays[0]]
    for y in arrays[1:]:
        zs = [*(whycast.broadcast(z, y)[0] for z in zs), whycast.broadcast(zs[0], y)[1]]
    return zs


@given(SOME_SHAPES)
def test_recursion_on_tensors(shapes: tuple[Shape, ...]) -> None:
    """The fold has the data of the operator on all tensors: recursion_outputs, and fails where that
    does: recursion_fails, sonnx/recursion.mlw.

    [E_SonnxOneBroadcast_any_Recursion_010] [E_SonnxOneBroadcast_any_Binary_090]
    """
    arrays = distinct_arrays(shapes)
    if e1(shapes) is None:
        assert_same(folded(arrays), whycast.broadcast(*arrays))
    else:
        with pytest.raises(whycast.BroadcastError):
            folded(arrays)


@given(array_lists(), st.data())
def test_output_depends_on_its_own_input_alone(
    arrays: tuple[Array, ...], data: st.DataObject
) -> None:
    """The other tensors get other elements and types: broadcast_own_input, sonnx/laws.mlw.

    [E_Broadcast_any_Derived_070]
    """
    arrays = tuple(np.ndarray.view(array, np.ndarray) for array in arrays)
    m = data.draw(st.integers(0, len(arrays) - 1))
    types = [np.dtype(code) for code in ("f2", "?", "U4", "u8")]
    others = [
        elements(array.size, types[n % 4]).reshape(array.shape) for n, array in enumerate(arrays)
    ]
    z = whycast.broadcast(*arrays)[m]
    w = whycast.broadcast(*others[:m], arrays[m], *others[m + 1 :])[m]
    assert (z.shape, z.strides, z.dtype) == (w.shape, w.strides, w.dtype)
    assert z.tobytes() == w.tobytes()


def test_expand_beside_the_broadcast_of_two_tensors() -> None:
    """The tensor times ones, by NumPy's rule, and by SONNX where no 0 meets a 1: expand_times_ones,
    axes/expand_ones.mlw; expand_numpy, expand_bidirectional, expand_sonnx, expand_e1,
    axes/expand.mlw.

    [E_Expand_any_Data_020] [E_OpenvinoThreeBroadcast_any_Modes_010]
    """
    for shape, target in product(all_shapes(3, 3), repeat=2):
        x, ones = numbered(shape), np.ones(target, np.int16)
        found = [outcome(onnx.expand, x, target)]
        found += [outcome(openvino.broadcast, x, target, None, "bidirectional")]
        both = outcome(numpy_rule.broadcast_arrays, x, ones)
        by_sonnx = outcome(whycast.broadcast, x, ones)
        if isinstance(both, ValueError):
            assert all(isinstance(each, ValueError) for each in (*found, by_sonnx))
            continue
        if not isinstance(by_sonnx, ValueError):
            found += by_sonnx[:1]
        assert isinstance(by_sonnx, ValueError) == mixes_zero_and_one([shape, target])
        expected = both[0] * both[1]
        for z in found:
            assert not isinstance(z, ValueError)
            assert_same([z], [expected])


def numbers(shape: Shape) -> st.SearchStrategy[np.ndarray[Any, np.dtype[np.int64]]]:
    """Numbers whose products and sums stay far from 2**63."""
    values = st.lists(st.integers(-(10**6), 10**6), min_size=prod(shape), max_size=prod(shape))
    return values.map(lambda found: np.array(found, np.int64).reshape(shape))


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=6), st.data())
def test_adjoint(sizes: list[tuple[int, bool]], data: st.DataObject) -> None:
    """nGraph, on numbers that hypothesis looks for: ngraph_adjoint, adjoint/ngraph.mlw.

    [E_NgraphBroadcast_ring_Adjoint_010] [E_NgraphBroadcast_ring_Derived_010]
    """
    target = tuple(size for size, _ in sizes)
    axes = {axis for axis, (_, lacking) in enumerate(sizes) if lacking}
    x = data.draw(numbers(p(target, axes)))
    delta = data.draw(numbers(target))
    z = ngraph.broadcast(x, target, axes)
    assert np.vdot(z, delta) == np.vdot(x, ngraph.broadcast_adjoint(delta, axes))
