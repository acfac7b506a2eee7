"""The proved laws on the elements of outputs, executed: which occur, how often, and what for.

Every test names the theorem it executes. In the arrays no element occurs twice, so that counting
values is counting multi-indices.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from array_strategies import Array, distinct_arrays
from hypothesis import given
from plain_rule import Shape, all_shapes, e1, fits, indices, maxima, source

import whycast
from whycast.testing import strategies

SHAPES = all_shapes(3, 3)
PAIRS = [pair for pair in product(SHAPES, repeat=2) if e1(pair) is None]
SMALL_PAIRS = list(product(all_shapes(2, 3), repeat=2))
TRIPLES = list(product([(), *all_shapes(1, 3), (2, 1), (1, 3), (2, 3), (0, 1)], repeat=3))


def repetitions(shape: Shape, target: Shape) -> list[int]:
    """Sizes of the axes that are prepended or grow, and 1 for each other one."""
    prepended = len(target) - len(shape)
    return [
        size if k < prepended or shape[k - prepended] != size else 1
        for k, size in enumerate(target)
    ]


def copy_index(shape: Shape, target: Shape, index: Shape) -> Shape:
    """Multi-index of the output that has the input's on its own axes, and 0 on all others."""
    prepended = len(target) - len(shape)
    return tuple(
        0 if k < prepended or shape[k - prepended] != size else index[k - prepended]
        for k, size in enumerate(target)
    )


def test_each_element_occurs_as_often_as_the_repetitions_say() -> None:
    """broadcast_covers, broadcast_occurs, sonnx/coverage.mlw, and broadcast_multiplicity,
    size_repetitions, adjoint/multiplicity.mlw: for all pairs of shapes of rank 3, sizes 0 to 3.

    [E_Broadcast_any_Purpose_030] [E_Broadcast_any_Derived_260]
    """
    assert len(PAIRS) > 1000
    for pair in PAIRS:
        arrays = distinct_arrays(pair)
        for x, z in zip(arrays, whycast.broadcast(*arrays), strict=True):
            times = prod(repetitions(x.shape, z.shape))
            values, counts = np.unique(np.asarray(z), return_counts=True)
            assert values.tolist() == x.ravel().tolist()
            assert (counts == times).all()
            assert times >= 1 or x.size == 0
            assert z.size == x.size * times


def test_where_an_element_is_found_again() -> None:
    """source_index_copy, broadcast_covers, sonnx/coverage.mlw: the index leads back.

    [E_Broadcast_any_Purpose_030] [E_Broadcast_any_F_020]
    """
    for pair in SMALL_PAIRS:
        if e1(pair) is None:
            target = maxima(pair)
            arrays = distinct_arrays(pair)
            for x, z in zip(arrays, whycast.broadcast(*arrays), strict=True):
                for i in indices(x.shape):
                    j = copy_index(x.shape, target, i)
                    assert whycast.source_index(x.shape, target, j) == i
                    assert z[j] == x[i]


def test_either_all_tensors_have_elements_or_none() -> None:
    """common_shape_positive, sonnx/coverage.mlw. [E_Broadcast_any_Purpose_030]"""
    for pair in PAIRS:
        assert len({0 in shape for shape in (*pair, whycast.broadcast_shapes(*pair))}) == 1


def test_an_element_is_lost_exactly_in_a_size_of_zero() -> None:
    """source_index_covers, sonnx/coverage.mlw: the targets with a 0 are those of E1.

    [E_Broadcast_any_Purpose_030]
    """
    for shape, target in SMALL_PAIRS:
        if 0 not in shape and len(shape) <= len(target) and fits(shape, target) is None:
            found = {source(shape, target, j) for j in indices(target)}
            assert (found == set(indices(shape))) == (0 not in target)
            assert (e1([shape, target]) is None) == (0 not in target)


def plain_elementwise(arrays: list[Array], target: Shape) -> dict[Shape, list[Any]]:
    """Source elements of every multi-index, by the clauses."""
    return {i: [x[source(x.shape, target, i)] for x in arrays] for i in indices(target)}


def test_an_operation_on_two_gets_the_elements_that_f_names() -> None:
    """elementwise_element, sonnx/lifting.mlw, elementwise2_element, elementwise2_refused,
    sonnx/lifting_two.mlw: numpy.subtract, of which the arguments cannot be exchanged.

    [E_Broadcast_any_Purpose_010]
    """
    for pair in SMALL_PAIRS:
        arrays = distinct_arrays(pair)
        if e1(pair) is None:
            x, y = whycast.broadcast(*arrays)
            z = np.subtract(x, y)
            assert z.shape == maxima(pair)
            assert np.array_equal(z, np.subtract(*arrays))
            for i, (a, b) in plain_elementwise(arrays, z.shape).items():
                assert z[i] == a - b
        else:
            with pytest.raises(whycast.BroadcastError):
                whycast.broadcast(*arrays)


def test_an_operation_on_three_types() -> None:
    """elementwise3_element, elementwise3_refused, sonnx/lifting_three.mlw, and tagged_output,
    untagged_output, sonnx/types.mlw: numpy.where of truth values, integers and numbers.

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


@given(strategies.shape_lists(compatible=True, max_side=3, min_shapes=2, max_shapes=5))
def test_an_operation_on_any_number(shapes: tuple[Shape, ...]) -> None:
    """elementwise_element, sonnx/lifting.mlw. [E_Broadcast_any_Purpose_010]"""
    arrays = distinct_arrays(shapes)
    zs = whycast.broadcast(*arrays)
    weighted = sum((m + 1) * np.asarray(z) for m, z in enumerate(zs))
    for i, elements in plain_elementwise(arrays, maxima(shapes)).items():
        expected = sum((m + 1) * element for m, element in enumerate(elements))
        assert np.asarray(weighted)[i] == expected


@given(strategies.shape_lists(compatible=True, max_side=3, min_shapes=2, max_shapes=2))
def test_a_commutative_operation_stays_commutative(shapes: tuple[Shape, ...]) -> None:
    """elementwise2_exchanged, sonnx/lifting_two.mlw. [E_Broadcast_any_Purpose_010]"""
    x, y = distinct_arrays(shapes)
    assert np.array_equal(np.add(*whycast.broadcast(x, y)), np.add(*whycast.broadcast(y, x)))


@given(strategies.shape_lists(compatible=True, max_side=3, min_shapes=2, max_shapes=4))
def test_tags_pass_through(shapes: tuple[Shape, ...]) -> None:
    """Texts that say of which tensor they are: broadcast_related, tagged_output, sonnx/types.mlw.

    [E_Broadcast_any_Types_010] [E_Broadcast_any_Inputs_020]
    """
    arrays = distinct_arrays(shapes)
    tagged = [np.asarray(np.char.add(f"{m}:", x.astype("U20"))) for m, x in enumerate(arrays)]
    alone = whycast.broadcast(*arrays)
    for m, (z, w) in enumerate(zip(whycast.broadcast(*tagged), alone, strict=True)):
        assert all(z[i] == f"{m}:{w[i]}" for i in indices(w.shape))
