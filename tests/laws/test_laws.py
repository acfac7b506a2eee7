"""The proved laws of Broadcast, executed: on the extracted programs and on real arrays.

Every test names the theorem it executes. In the arrays no element occurs twice, and they are
compared bit by bit: one element in the wrong place shows.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from array_strategies import Array, array_lists, distinct_arrays, elements
from hypothesis import example, given
from hypothesis import strategies as st
from plain_rule import Shape, indices
from shape_strategies import chains, shape_lists

import whycast
from whycast import numpy_rule
from whycast.testing import strategies

# A verdict: the common shape, or None for the error.
Verdict = Shape | None

# Of small sizes, so that many do not broadcast, by zeros and otherwise.
FEW_SIZES = st.sampled_from([0, 1, 1, 2, 3])
SOME_SHAPES = shape_lists(max_rank=4, max_tensors=5, sizes=FEW_SIZES)


def verdict(shapes: Sequence[Shape]) -> Verdict:
    """Return the verdict of SONNX."""
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError:
        return None


def assert_same(ours: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(ours) == len(expected)
    for z, w in zip(ours, expected, strict=True):
        assert (z.shape, z.dtype) == (w.shape, w.dtype)
        assert z.tobytes() == w.tobytes()


# Laws of the operator


@given(strategies.shape_lists(compatible=True, max_side=3))
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
    assert verdict([shape] * count) == shape
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


@given(strategies.shape_lists(compatible=True, max_side=3), st.randoms(use_true_random=False))
def test_permutation_of_tensors(shapes: tuple[Shape, ...], randomness: random.Random) -> None:
    """Permuted inputs give permuted outputs: broadcast_permuted, sonnx/permutation.mlw.

    [E_SonnxOneBroadcast_any_Commutativity_010]
    """
    order = randomness.sample(range(len(shapes)), len(shapes))
    arrays = distinct_arrays(shapes)
    zs = whycast.broadcast(*arrays)
    assert_same(whycast.broadcast(*[arrays[m] for m in order]), [zs[m] for m in order])


# Recursion by the operator on two tensors


def folded(arrays: Sequence[Array]) -> list[Array]:
    """Broadcast one tensor after the other, each time all those so far with the new one."""
    zs = [arrays[0]]
    for y in arrays[1:]:
        zs = [*(whycast.broadcast(z, y)[0] for z in zs), whycast.broadcast(zs[0], y)[1]]
    return zs


@given(strategies.shape_lists(compatible=True, max_side=3))
def test_recursion_on_tensors(shapes: tuple[Shape, ...]) -> None:
    """The fold has the data of the operator on all tensors: recursion_outputs, sonnx/recursion.mlw.

    [E_SonnxOneBroadcast_any_Recursion_010] [E_SonnxOneBroadcast_any_Binary_090]
    """
    arrays = distinct_arrays(shapes)
    assert_same(folded(arrays), whycast.broadcast(*arrays))


@given(SOME_SHAPES)
def test_recursion_fails_where_the_operator_does(shapes: tuple[Shape, ...]) -> None:
    """And only there: recursion_fails, sonnx/recursion.mlw.

    [E_SonnxOneBroadcast_any_Recursion_010]
    """
    arrays = distinct_arrays(shapes)
    try:
        folded(arrays)
    except whycast.BroadcastError:
        assert verdict(shapes) is None
    else:
        assert verdict(shapes) is not None


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


@given(SOME_SHAPES)
def test_verdict_depends_on_shapes_alone(shapes: tuple[Shape, ...]) -> None:
    """Whatever the types and elements are: broadcast_fails_shapes, sonnx/laws.mlw.

    [E_Broadcast_any_Derived_070]
    """
    expected = verdict(shapes)
    for types in (["i8"], ["?", "f4", "U4"], ["f2", "u1"]):
        arrays = [
            elements(int(np.prod(shape)), np.dtype(types[m % len(types)])).reshape(shape)
            for m, shape in enumerate(shapes)
        ]
        if expected is None:
            with pytest.raises(whycast.BroadcastError):
                whycast.broadcast(*arrays)
        else:
            assert {z.shape for z in whycast.broadcast(*arrays)} == {expected}


@given(strategies.shape_lists(compatible=True, max_side=3))
def test_elements_are_moved_and_never_looked_at(shapes: tuple[Shape, ...]) -> None:
    """Changed before or after, to another type: broadcast_map, sonnx/laws.mlw.

    [E_Broadcast_any_Accuracy_010] [E_Broadcast_any_Derived_070]
    """
    arrays = distinct_arrays(shapes)
    zs = whycast.broadcast(*arrays)
    assert_same(whycast.broadcast(*[as_text(array) for array in arrays]), [as_text(z) for z in zs])


def as_text(array: Array) -> Array:
    return array.astype("U20")


@given(strategies.shape_lists(compatible=True, max_side=3, min_shapes=3, max_shapes=3))
def test_types_may_be_mixed_as_in_where(shapes: tuple[Shape, ...]) -> None:
    """A condition of bools and two tensors of numbers: broadcast_own_input, sonnx/laws.mlw.

    [E_Broadcast_any_Inputs_020]
    """
    condition, x, y = distinct_arrays(shapes)
    condition, y = np.asarray(condition % 2 == 0), y.astype(">f8")
    outputs = whycast.broadcast(condition, x, y)
    assert [z.dtype for z in outputs] == [condition.dtype, x.dtype, y.dtype]
    assert_same([np.where(*outputs)], [np.where(condition, x, y)])


# The rule of NumPy


@given(strategies.shape_lists("numpy", compatible=True, max_side=3))
def test_numpy_rule_moves_data_as_sonnx_does(shapes: tuple[Shape, ...]) -> None:
    """By step 1 and step 2 to its own shape: numpy_broadcast_to_equal, numpy/comparison.mlw.

    [E_NumpyBroadcast_any_Functions_020]
    """
    joined = numpy_rule.broadcast_shapes(*shapes)
    arrays = distinct_arrays(shapes)
    for z, x in zip(numpy_rule.broadcast_arrays(*arrays), arrays, strict=True):
        assert z.shape == joined
        for i in indices(joined):
            assert z[i] == x[whycast.source_index(x.shape, joined, i)]


@given(strategies.shape_lists(compatible=True, max_side=3))
def test_data_of_both_rules_is_the_same(shapes: tuple[Shape, ...]) -> None:
    """Wherever SONNX gives any: sonnx_numpy_data, numpy/comparison.mlw.

    [E_Broadcast_any_Origin_010] [E_NumpyBroadcast_any_Functions_030]
    """
    arrays = distinct_arrays(shapes)
    assert_same(numpy_rule.broadcast_arrays(*arrays), whycast.broadcast(*arrays))
