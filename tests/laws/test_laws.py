"""The proved laws of Broadcast, executed on real arrays: which elements stand where, how often.

Every test names the theorem it executes. What a theorem says of shapes alone is not repeated here.
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
from hypothesis import example, given
from hypothesis import strategies as st
from plain_rule import Shape, all_shapes, e1, indices, maxima, prepend, source
from shape_strategies import chains, shape_lists

import whycast
from whycast import numpy_rule
from whycast.testing import strategies

TRIPLES = list(product([(), *all_shapes(1, 3), (2, 1), (1, 3), (2, 3), (0, 1)], repeat=3))

# Of small sizes, so that many do not broadcast, by zeros and otherwise.
SOME_SHAPES = shape_lists(max_rank=4, max_tensors=5, sizes=st.sampled_from([0, 1, 1, 2, 3]))
COMPATIBLE = strategies.shape_lists(compatible=True, max_side=3)


def assert_same(ours: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(ours) == len(expected)
    for z, w in zip(ours, expected, strict=True):
        assert (z.shape, z.dtype) == (w.shape, w.dtype)
        assert z.tobytes() == w.tobytes()


# Laws of the operator


@given(COMPATIBLE)
def test_idempotence(shapes: tuple[Shape, ...]) -> None:
    """Broadcast of its own outputs: broadcast_idempotent, sonnx/laws.mlw.

    [E_Broadcast_any_Derived_040]
    """
    zs = whycast.broadcast(*distinct_arrays(shapes))
    assert_same(whycast.broadcast(*zs), zs)


@given(st.lists(st.integers(0, 3), max_size=4).map(tuple), st.integers(1, 4))
def test_identity_on_equal_shapes(shape: Shape, count: int) -> None:
    """No tensor changes, of size zero neither: broadcast_identity, sonnx/laws.mlw.

    [E_Broadcast_any_Derived_040]
    """
    arrays = distinct_arrays([shape] * count)
    assert_same(whycast.broadcast(*arrays), arrays)


@given(st.lists(st.integers(0, 3), max_size=4).map(tuple))
@example((2, 3))
@example((2, 0))
def test_scalar(shape: Shape) -> None:
    """Repeated over a positive shape, E1 with a size 0: broadcast_scalar, sonnx/laws.mlw.

    [E_Broadcast_any_Restrictions_010] [E_Broadcast_any_Derived_060]
    """
    scalar, other = distinct_arrays([(), shape])
    if 0 in shape:
        # scalar_common_shape, sonnx/laws.mlw
        with pytest.raises(whycast.BroadcastError) as caught:
            whycast.broadcast(scalar, other)
        assert (caught.value.tensor, caught.value.axis) == (1, shape.index(0))
    else:
        z, w = whycast.broadcast(scalar, other)
        assert_same([z, w], [np.full(shape, scalar[()]), other])


@given(chains(3))
def test_transitivity(shapes: tuple[Shape, ...]) -> None:
    """In two steps or in one: broadcast_to_transitive, source_index_transitive, sonnx/laws.mlw.

    [E_Broadcast_any_Derived_050]
    """
    s, d, e = shapes
    (x,) = distinct_arrays([s])
    assert_same(
        [numpy_rule.broadcast_to(numpy_rule.broadcast_to(x, d), e)],
        [numpy_rule.broadcast_to(x, e)],
    )
    for i in indices(e):
        in_two_steps = whycast.source_index(s, d, whycast.source_index(d, e, i))
        assert in_two_steps == whycast.source_index(s, e, i)


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


@given(COMPATIBLE)
def test_data_of_both_rules_is_the_same(shapes: tuple[Shape, ...]) -> None:
    """Wherever SONNX gives any: sonnx_numpy_data, numpy/comparison.mlw.

    [E_Broadcast_any_Origin_010] [E_NumpyBroadcast_any_Functions_030]
    """
    arrays = distinct_arrays(shapes)
    assert_same(numpy_rule.broadcast_arrays(*arrays), whycast.broadcast(*arrays))


# What an output depends on


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


@given(COMPATIBLE)
def test_elements_are_moved_and_never_looked_at(shapes: tuple[Shape, ...]) -> None:
    """Changed before or after, to another type: broadcast_map, sonnx/laws.mlw.

    [E_Broadcast_any_Accuracy_010] [E_Broadcast_any_Derived_070]
    """
    arrays = distinct_arrays(shapes)
    zs = whycast.broadcast(*arrays)
    assert_same(whycast.broadcast(*[as_text(array) for array in arrays]), [as_text(z) for z in zs])


def as_text(array: Array) -> Array:
    return array.astype("U20")


# Where elements stand


def repetitions(shape: Shape, target: Shape) -> list[int]:
    """Sizes of the axes that are prepended or grow, and 1 for each other one."""
    prepended = len(target) - len(shape)
    return [
        size if k < prepended or shape[k - prepended] != size else 1
        for k, size in enumerate(target)
    ]


def test_each_element_occurs_as_often_as_the_repetitions_say() -> None:
    """broadcast_covers, broadcast_occurs, sonnx/coverage.mlw, and broadcast_multiplicity,
    adjoint/multiplicity.mlw: for all pairs of shapes of rank 3, sizes 0 to 3.

    [E_Broadcast_any_Purpose_030] [E_Broadcast_any_Derived_260]
    """
    pairs = [pair for pair in product(all_shapes(3, 3), repeat=2) if e1(pair) is None]
    assert len(pairs) > 1000
    for pair in pairs:
        arrays = distinct_arrays(pair)
        for x, z in zip(arrays, whycast.broadcast(*arrays), strict=True):
            times = prod(repetitions(x.shape, z.shape))
            values, counts = np.unique(np.asarray(z), return_counts=True)
            assert values.tolist() == x.ravel().tolist()
            assert (counts == times).all()
            assert times >= 1 or x.size == 0
            assert z.size == x.size * times


def test_missing_data_is_copied() -> None:
    """broadcast_rank_largest, missing_data_copied: sonnx/sentences.mlw.

    [E_Broadcast_any_Condition1_010] [E_Broadcast_any_Condition2_020] [E_Broadcast_any_Step2_010]
    """
    copied = 0
    for shapes in [*product(all_shapes(3, 2), repeat=2), *TRIPLES]:
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


# Operations on what was broadcast


def plain_elementwise(arrays: list[Array], target: Shape) -> dict[Shape, list[Any]]:
    """Source elements of every multi-index, by the clauses."""
    return {i: [x[source(x.shape, target, i)] for x in arrays] for i in indices(target)}


def test_an_operation_on_three_types() -> None:
    """elementwise_element, sonnx/lifting.mlw, elementwise3_element,
    sonnx/lifting_three.mlw, and tagged_output, untagged_output, sonnx/types.mlw: numpy.where of
    truth values, integers and numbers.

    [E_Broadcast_any_Purpose_010] [E_Broadcast_any_Types_010] [E_Broadcast_any_Inputs_020]
    """
    assert {e1(triple) is None for triple in TRIPLES} == {True, False}
    for triple in TRIPLES:
        numbers, x, y = distinct_arrays(triple)
        arrays: list[Array] = [np.asarray(numbers % 2 == 0), x, y.astype(np.float64)]
        if e1(triple) is None:
            zs = whycast.broadcast(*arrays)
            assert [z.dtype for z in zs] == [array.dtype for array in arrays]
            chosen = np.where(*zs)
            assert chosen.shape == maxima(triple)
            assert np.array_equal(chosen, np.where(*arrays))
            for i, (c, a, b) in plain_elementwise(arrays, chosen.shape).items():
                assert chosen[i] == (a if c else b)
        else:
            with pytest.raises(whycast.BroadcastError):
                whycast.broadcast(*arrays)
