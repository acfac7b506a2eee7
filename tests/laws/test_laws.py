"""The proved laws of Broadcast, executed: on the extracted programs and on real arrays.

Every test names the theorem it executes. In the arrays no element occurs twice, and they are
compared bit by bit: one element in the wrong place shows.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from array_strategies import Array, array_lists, distinct_arrays, elements
from hypothesis import example, given
from hypothesis import strategies as st
from plain_rule import Shape, all_shapes, indices, maxima, mixes_zero_and_one
from shape_strategies import chains, shape_lists

import whycast
from whycast import _kernel, numpy_rule
from whycast.testing import strategies

# A verdict: the common shape, or None for the error.
Verdict = Shape | None

# Of small sizes, so that many do not broadcast, by zeros and otherwise.
FEW_SIZES = st.sampled_from([0, 1, 1, 2, 3])
SOME_SHAPES = shape_lists(max_rank=4, max_tensors=5, sizes=FEW_SIZES)
THREE_SHAPES = shape_lists(max_rank=3, max_tensors=3, min_tensors=3, sizes=FEW_SIZES)


def verdict(shapes: Sequence[Shape]) -> Verdict:
    """Return the verdict of SONNX."""
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError:
        return None


def numpy_verdict(shapes: Sequence[Shape]) -> Verdict:
    try:
        return numpy_rule.broadcast_shapes(*shapes)
    except numpy_rule.IncompatibleError:
        return None


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Whether the program for views takes the one for a shape of the other."""
    try:
        _kernel.broadcast_strides(shape, (1,) * len(shape), target)
    except (_kernel.NotBroadcastable, _kernel.RankMismatch):
        return False
    return True


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


@given(SOME_SHAPES, st.randoms(use_true_random=False))
def test_permutation_of_shapes(shapes: tuple[Shape, ...], randomness: random.Random) -> None:
    """Permuted inputs have the same verdict: broadcast_permuted_fails, sonnx/permutation.mlw.

    [E_SonnxOneBroadcast_any_Commutativity_010] [E_SonnxOneBroadcast_any_Commutativity_020]
    """
    assert verdict(randomness.sample(shapes, len(shapes))) == verdict(shapes)


@given(SOME_SHAPES, st.data())
def test_only_the_set_of_shapes_matters(shapes: tuple[Shape, ...], data: st.DataObject) -> None:
    """Duplicates come and go: common_shape_same_members, e1_same_members, sonnx/order.mlw.

    [E_Broadcast_any_Derived_080]
    """
    repeated = data.draw(st.lists(st.sampled_from(shapes), max_size=5))
    assert verdict([*repeated, *shapes]) == verdict(shapes)
    assert verdict(sorted(set(shapes))) == verdict(shapes)


@given(SOME_SHAPES, SOME_SHAPES)
def test_more_shapes_repair_no_error(shapes: tuple[Shape, ...], others: tuple[Shape, ...]) -> None:
    """What fails goes on to fail: e1_more_members, sonnx/order.mlw.

    [E_Broadcast_any_Derived_080]
    """
    if verdict(shapes) is None:
        assert verdict(shapes + others) is None


# Recursion by the operator on two tensors


def binary(a: Verdict, b: Verdict) -> Verdict:
    """Return the verdict on two verdicts: an error stays one."""
    return None if a is None or b is None else verdict([a, b])


@given(shape_lists())
@example(((2,), (3,), (9,)))
@example(((), (0,), (0,)))
def test_recursion_on_shapes(shapes: tuple[Shape, ...]) -> None:
    """The fold has the common shape and the verdict: fold_shapes_common_shape, sonnx/fold.mlw.

    [E_SonnxOneBroadcast_any_Recursion_010]
    """
    folded_shape: Verdict = shapes[0]
    for shape in shapes[1:]:
        folded_shape = binary(folded_shape, shape)
    assert folded_shape == verdict(shapes)


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


@given(shape_lists(max_rank=5, max_tensors=2, min_tensors=2, sizes=FEW_SIZES))
def test_binary_form_of_the_predecessor(shapes: tuple[Shape, ...]) -> None:
    """SONNX-1's form for two tensors, counted from 1: binary_c1_e1, older/binary.mlw.

    [E_SonnxOneBroadcast_any_Binary_010] [E_SonnxOneBroadcast_any_Binary_060]
    """
    x1, x2 = sorted(shapes, key=len)
    rank = len(x2)
    axes = range(1, rank + 1)
    y1 = [1 if i <= rank - len(x1) else x1[i - rank + len(x1) - 1] for i in axes]
    y2 = [x2[i - 1] for i in axes]
    y = [max(sizes) for sizes in zip(y1, y2, strict=True)]
    agree = all({a, b} <= {c, 1} for a, b, c in zip(y1, y2, y, strict=True))
    assert verdict([x1, x2]) == (tuple(y) if agree else None)


@given(THREE_SHAPES)
def test_associativity(shapes: tuple[Shape, ...]) -> None:
    """Error included: binary_associative, binary_commutative, sonnx/binary.mlw.

    [E_Broadcast_any_Derived_090]
    """
    a, b, c = shapes
    assert binary(binary(a, b), c) == binary(a, binary(b, c))
    assert binary(a, b) == binary(b, a)


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


# The order "broadcasts to"


@given(chains(3))
def test_order_is_reflexive_and_transitive(shapes: tuple[Shape, ...]) -> None:
    """broadcasts_to_reflexive, core/common_shape.mlw, and broadcasts_to_transitive, core/order.mlw.

    [E_Broadcast_any_Derived_020]
    """
    s, d, e = shapes
    assert broadcasts_to(s, s)
    assert broadcasts_to(s, d)
    assert broadcasts_to(d, e)
    assert broadcasts_to(s, e)


@given(shape_lists(max_rank=2, min_tensors=2, max_tensors=2, sizes=FEW_SIZES))
def test_order_is_antisymmetric(shapes: tuple[Shape, ...]) -> None:
    """Both ways only between equal shapes: broadcasts_to_antisymmetric, core/order.mlw.

    [E_Broadcast_any_Derived_020]
    """
    s, t = shapes
    assert (broadcasts_to(s, t) and broadcasts_to(t, s)) == (s == t)


def test_order_on_all_small_shapes() -> None:
    """The same three laws without gaps, core/order.mlw; () is below all: scalar_broadcasts_to.

    [E_Broadcast_any_Derived_020]
    """
    shapes = all_shapes(2, 3)
    below = {(s, d): broadcasts_to(s, d) for s, d in product(shapes, repeat=2)}
    for s, d in below:
        assert below[s, s]
        assert below[(), d]
        assert not (below[s, d] and below[d, s]) or s == d
        for e in shapes:
            assert not (below[s, d] and below[d, e]) or below[s, e]
    # Of 16 pairs of sizes 7 fit; on an axis that the target alone has, all 4 sizes do.
    assert sum(below.values()) == (1 + 4 + 16) + (7 + 7 * 4) + 7 * 7


@st.composite
def shapes_with_upper_bound(draw: st.DrawFn) -> tuple[tuple[Shape, ...], Shape]:
    """Shapes that all broadcast to one more, which is not the least such shape in general."""
    bound = draw(st.lists(st.integers(0, 3), max_size=5))
    shapes = []
    for _ in range(draw(st.integers(1, 4))):
        own = bound[draw(st.integers(0, len(bound))) :]
        shapes.append(tuple([draw(st.sampled_from([size, 1])) for size in own]))
    return tuple(shapes), tuple(bound)


@given(shapes_with_upper_bound())
def test_common_shape_is_the_least_upper_bound(case: tuple[tuple[Shape, ...], Shape]) -> None:
    """Where there is no E1: common_shape_least_upper_bound, sonnx/order.mlw.

    [E_Broadcast_any_Purpose_030] [E_Broadcast_any_Derived_030]
    """
    shapes, bound = case
    common = verdict(shapes)
    if common is not None:
        assert all(broadcasts_to(shape, common) for shape in shapes)
        assert broadcasts_to(common, bound)


@given(SOME_SHAPES)
def test_maxima_are_an_upper_bound_exactly_without_e1(shapes: tuple[Shape, ...]) -> None:
    """e1_upper_bound, sonnx/order.mlw. [E_Broadcast_any_Derived_030]"""
    bounded = all(broadcasts_to(shape, maxima(shapes)) for shape in shapes)
    assert bounded == (verdict(shapes) is not None)


# The rule of NumPy


def numpy_binary(a: Verdict, b: Verdict) -> Verdict:
    return None if a is None or b is None else numpy_verdict([a, b])


@given(SOME_SHAPES, st.data())
def test_numpy_rule_depends_on_the_set_of_shapes(
    shapes: tuple[Shape, ...], data: st.DataObject
) -> None:
    """Neither order nor number matters: numpy_shape_same_members, numpy/order.mlw.

    [E_NumpyBroadcast_any_Derived_020]
    """
    order = data.draw(st.permutations(shapes))
    repeated = data.draw(st.lists(st.sampled_from(shapes), max_size=5))
    assert numpy_verdict([*repeated, *order]) == numpy_verdict(shapes)
    assert numpy_verdict(sorted(set(shapes))) == numpy_verdict(shapes)


@given(THREE_SHAPES)
def test_numpy_rule_is_associative(shapes: tuple[Shape, ...]) -> None:
    """Zeros and errors included: numpy_join_associative, numpy_join_associative_compatible and
    numpy_join_commutative, numpy/fold.mlw.

    [E_NumpyBroadcast_any_Derived_010]
    """
    a, b, c = shapes
    assert numpy_binary(numpy_binary(a, b), c) == numpy_binary(a, numpy_binary(b, c))
    assert numpy_binary(a, b) == numpy_binary(b, a)


@given(shape_lists())
@example(((2,), (3,), (9,)))
@example(((), (0,), (1,)))
def test_numpy_rule_two_shapes_at_a_time(shapes: tuple[Shape, ...]) -> None:
    """The fold: numpy_shape_fold, numpy_compatible_folds, numpy/fold.mlw.

    [E_NumpyBroadcast_any_Derived_010]
    """
    folded_shape: Verdict = ()
    for shape in shapes:
        folded_shape = numpy_binary(folded_shape, shape)
    assert folded_shape == numpy_verdict(shapes)


@given(shapes_with_upper_bound())
def test_numpy_shape_is_the_least_upper_bound(case: tuple[tuple[Shape, ...], Shape]) -> None:
    """Whenever there is one: numpy_shape_least_upper_bound, numpy/order.mlw.

    [E_NumpyBroadcast_any_Derived_020]
    """
    shapes, bound = case
    joined = numpy_verdict(shapes)
    assert joined is not None
    assert all(broadcasts_to(shape, joined) for shape in shapes)
    assert broadcasts_to(joined, bound)


@given(SOME_SHAPES)
def test_numpy_rejects_what_has_no_upper_bound(shapes: tuple[Shape, ...]) -> None:
    """What it accepts has one: numpy_compatible_upper_bound, numpy/order.mlw.

    [E_NumpyBroadcast_any_Derived_020]
    """
    joined = numpy_verdict(shapes)
    if joined is not None:
        assert all(broadcasts_to(shape, joined) for shape in shapes)


@given(SOME_SHAPES)
def test_sonnx_restricts_numpy(shapes: tuple[Shape, ...]) -> None:
    """To shapes that mix no 0 with a 1: sonnx_restricts_numpy, numpy/order.mlw.

    [E_Broadcast_any_Origin_010] [E_Broadcast_any_E1_030]
    """
    expected = None if mixes_zero_and_one(shapes) else numpy_verdict(shapes)
    assert verdict(shapes) == expected


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
