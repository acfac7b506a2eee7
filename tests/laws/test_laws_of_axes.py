"""The proved laws of broadcasting along axes, executed on arrays, and those of the adjoint.

Every test names the theorem it executes. In the arrays no element occurs twice, and they are
compared bit by bit: one element in the wrong place shows.
"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from array_strategies import Array, distinct_arrays
from axes_cases import SHAPE_PAIRS, axis_set_cases, inner, numbered, outcome
from hypothesis import given
from hypothesis import strategies as st
from plain_axes import axis_sets, p
from plain_rule import Shape, mixes_zero_and_one
from shape_strategies import shapes_and_target

import whycast
from whycast import _kernel, lax, ngraph, numpy_rule, onnx, openvino, reference

Axes = tuple[int, ...]

# Numbers whose products and sums stay far from 2**63.
NUMBERS = st.integers(-(10**6), 10**6)


def assert_same(z: Array | ValueError, w: Array | ValueError) -> None:
    assert not isinstance(z, ValueError)
    assert not isinstance(w, ValueError)
    assert (z.shape, z.dtype) == (w.shape, w.dtype)
    assert z.tobytes() == w.tobytes()


@st.composite
def along_axes(draw: st.DrawFn, target: Shape | None = None) -> tuple[Shape, Shape, Axes]:
    """Shape, target and axes such that the one broadcasts to the other along them."""
    if target is None:
        target = tuple(draw(st.lists(st.integers(0, 3), max_size=6)))
    axes = tuple(axis for axis in range(len(target)) if draw(st.booleans()))
    return tuple(draw(st.sampled_from([target[axis], 1])) for axis in axes), target, axes


@st.composite
def numbers(draw: st.DrawFn, shape: Shape) -> Array:
    count = int(np.prod(shape, dtype=int))
    values = draw(st.lists(NUMBERS, min_size=count, max_size=count))
    return np.array(values, np.int64).reshape(shape)


# Explicit axes


@given(st.lists(st.integers(0, 3), max_size=5).map(tuple))
def test_identity(shape: Shape) -> None:
    """On all axes and to its own shape nothing changes: explicit_identity, axes/explicit.mlw, and
    in_dim_identity, axes/in_dim.mlw.

    [E_OpenvinoBroadcast_any_Derived_020] [E_BroadcastInDim_any_Derived_020]
    """
    x = numbered(shape)
    assert_same(lax.broadcast_in_dim(x, shape, range(len(shape))), x)


@given(along_axes(), st.data())
def test_transitivity(case: tuple[Shape, Shape, Axes], data: st.DataObject) -> None:
    """In two steps or in one, along the axes of the axes: explicit_transitive, axes/in_dim.mlw, and
    compose_are_axes, axes/explicit.mlw.

    [E_OpenvinoBroadcast_any_Derived_020]
    """
    d, e, b = case
    s, _, a = data.draw(along_axes(d))
    x = numbered(s)
    in_two_steps = explicit(explicit(x, d, a), e, b)
    assert_same(in_two_steps, explicit(x, e, tuple(b[axis] for axis in a)))


def explicit(x: Array, target: Shape, axes: Axes) -> Array:
    return openvino.broadcast(x, target, axes, "explicit")


@given(along_axes(), st.data())
def test_transitivity_in_any_order(case: tuple[Shape, Shape, Axes], data: st.DataObject) -> None:
    """Distinct axes in two steps or in one: in_dim_transitive, axes/in_dim.mlw.

    [E_BroadcastInDim_any_Derived_020]
    """
    d, e, b = turned(case, data)
    s, _, a = turned(data.draw(along_axes(d)), data)
    x = numbered(s)
    in_two_steps = lax.broadcast_in_dim(lax.broadcast_in_dim(x, d, a), e, b)
    assert_same(in_two_steps, lax.broadcast_in_dim(x, e, [b[axis] for axis in a]))


def turned(case: tuple[Shape, Shape, Axes], data: st.DataObject) -> tuple[Shape, Shape, Axes]:
    """Give a case whose axes, and sizes with them, come in another order."""
    shape, target, axes = case
    order = data.draw(st.permutations(range(len(axes))))
    return tuple(shape[j] for j in order), target, tuple(axes[j] for j in order)


@given(along_axes(), st.data())
def test_axes_in_order_after_a_transpose(
    case: tuple[Shape, Shape, Axes], data: st.DataObject
) -> None:
    """Then it is mode explicit: in_dim_some_transpose, axes/in_dim_transpose.mlw.

    [E_BroadcastInDim_any_Derived_030]
    """
    shape, target, axes = turned(case, data)
    x = numbered(shape)
    order = sorted(range(len(axes)), key=axes.__getitem__)
    z = explicit(x.transpose(order), target, tuple(axes[j] for j in order))
    assert_same(lax.broadcast_in_dim(x, target, axes), z)


@given(along_axes())
def test_without_growth_the_shape_is_that_of_the_axes(case: tuple[Shape, Shape, Axes]) -> None:
    """And the other elements are copies: explicit_index_restriction, axes/explicit.mlw.

    [E_OpenvinoBroadcast_any_Modes_030]
    """
    _, target, axes = case
    x = numbered(tuple(target[axis] for axis in axes))
    z = lax.broadcast_in_dim(x, target, axes)
    for c in np.ndindex(target):
        assert z[c] == x[tuple(c[axis] for axis in axes)]


@given(along_axes())
def test_sonnx_broadcasts_the_unsqueezed_data(case: tuple[Shape, Shape, Axes]) -> None:
    """Unless a 1 has to grow to 0: explicit_broadcast_to and explicit_sonnx, axes/unsqueeze.mlw.

    [E_OpenvinoBroadcast_any_Derived_030]
    """
    shape, target, axes = case
    x = numbered(shape)
    y = np.expand_dims(x, [axis for axis in range(len(target)) if axis not in axes])
    if any(size == 1 and wanted == 0 for size, wanted in zip(y.shape, target, strict=True)):
        with pytest.raises(whycast.BroadcastError):
            whycast.broadcast_shapes(y.shape, target)
    else:
        z, _ = whycast.broadcast(y, np.zeros(target))
        assert_same(lax.broadcast_in_dim(x, target, axes), z)


# nGraph


def test_ngraph_and_explicit_axes() -> None:
    """The same, but that no size grows: ngraph_valid_explicit, ngraph_explicit, explicit_ngraph,
    p_restriction and ngraph_size_one, axes/ngraph.mlw.

    [E_NgraphBroadcast_any_Derived_010]
    """
    both = explicit_only = 0
    for shape, target, broadcast_axes in axis_set_cases():
        x = numbered(shape)
        kept = p(range(len(target)), broadcast_axes)
        z = outcome(ngraph.broadcast, x, target, set(broadcast_axes))
        w = outcome(lax.broadcast_in_dim, x, target, kept)
        if not isinstance(z, ValueError):
            assert_same(z, w)
            both += 1
        elif not isinstance(w, ValueError):
            grown = [shape[j] for j in range(len(shape)) if shape[j] != target[kept[j]]]
            assert set(grown) == {1}
            explicit_only += 1
    # On an axis that both have: 4 pairs of equal sizes, 3 pairs in which a 1 grows.
    assert both == sum((4 + 4) ** rank for rank in range(4))
    assert explicit_only == sum((4 + 7) ** rank - (4 + 4) ** rank for rank in range(4))


def test_ngraph_and_openvino_with_their_errors() -> None:
    """One operator where no size of 1 could grow: ngraph_openvino, axes/operator_laws.mlw, and
    ngraph_output and ngraph_error_exactly, axes/ngraph_operator.mlw.

    [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Derived_010]
    [E_NgraphBroadcast_any_Derived_020]
    """
    outputs = sizes = ranks = 0
    for shape, target, broadcast_axes in axis_set_cases():
        kept = p(range(len(target)), broadcast_axes)
        if any(size == 1 != target[axis] for size, axis in zip(shape, kept, strict=False)):
            continue
        x = numbered(shape)
        z = outcome(ngraph.broadcast, x, target, set(broadcast_axes))
        w = outcome(openvino.broadcast, x, target, kept, "explicit")
        if isinstance(z, ngraph.ArgShapeError):
            assert isinstance(w, whycast.AxisSizeError)
            assert z.tensor_axis == w.tensor_axis
            assert shape[: z.tensor_axis] == p(target, broadcast_axes)[: z.tensor_axis]
            sizes += 1
        elif isinstance(z, ValueError):
            assert len(shape) != len(kept)
            assert str(w).startswith("axes_mapping: expected ")
            ranks += 1
        else:
            assert_same(z, w)
            outputs += 1
    assert outputs
    assert sizes
    assert ranks


def test_axes_and_those_that_are_left() -> None:
    """One the complement of the other: kept_axes_complement, complement_kept_axes,
    axes/axis_set.mlw.

    [E_NgraphBroadcast_any_Derived_010]
    """
    for rank in range(7):
        for axes in axis_sets(rank):
            kept = _kernel.kept_axes(rank, axes)
            assert sorted(axes + kept) == list(range(rank))
            assert _kernel.kept_axes(rank, kept) == axes


# OpenVINO's mode numpy, ONNX Expand


def test_mode_numpy_beside_the_other_rules() -> None:
    """The same verdict and output by explicit axes, by NumPy's rule, by SONNX where no 1 grows to
    0, and by nGraph after squeezing: unidirectional_broadcasts_to, unidirectional_explicit,
    numpy_mode_explicit, unidirectional_numpy, unidirectional_sonnx and numpy_mode_sonnx,
    axes/openvino.mlw; unidirectional_ngraph, numpy_mode_ngraph and squeeze_data, axes/squeeze.mlw.

    [E_OpenvinoBroadcast_any_Purpose_020] [E_OpenvinoBroadcast_any_Modes_020]
    [E_OpenvinoBroadcast_any_Derived_030]
    """
    for shape, target in SHAPE_PAIRS:
        x, y = distinct_arrays([shape, target])
        z = outcome(openvino.broadcast, x, target)
        accepted = not isinstance(z, ValueError)
        more = len(target) - len(shape)

        by_numpy = outcome(numpy_rule.broadcast_shapes, shape, target)
        assert accepted == (by_numpy == target)
        grows_to_zero = any(
            size == 0 and (k < more or shape[k - more] == 1) for k, size in enumerate(target)
        )
        by_sonnx = outcome(whycast.broadcast_shapes, shape, target)
        assert (accepted and not grows_to_zero) == (by_sonnx == target)
        if by_sonnx == target:
            assert_same(whycast.broadcast(x, y)[0], z)

        if more < 0:
            assert not accepted
            continue
        explicit = outcome(lax.broadcast_in_dim, x, target, range(more, len(target)))
        growing = {k for k in range(len(target)) if k < more or shape[k - more] == 1}
        by_ngraph = outcome(ngraph.broadcast, np.squeeze(x), target, growing)
        for other in (explicit, by_ngraph):
            assert accepted == (not isinstance(other, ValueError))
            if accepted:
                assert_same(other, z)


def test_expand_beside_the_broadcast_of_two_tensors() -> None:
    """Its first output, by NumPy's rule and by SONNX where no 0 meets a 1: expand_shape_numpy,
    expand_numpy, expand_bidirectional, expand_sonnx, expand_e1, bidirectional_numpy_mode and
    unexpandable_expandable, axes/expand.mlw.

    [E_Expand_any_Data_020] [E_OpenvinoThreeBroadcast_any_Modes_010]
    """
    for shape, target in SHAPE_PAIRS:
        x, y = distinct_arrays([shape, target])
        z = outcome(onnx.expand, x, target)
        w = outcome(openvino.broadcast, x, target, None, "bidirectional")
        both = outcome(numpy_rule.broadcast_arrays, x, y)
        by_sonnx = outcome(whycast.broadcast, x, y)
        if isinstance(z, ValueError):
            assert isinstance(w, ValueError)
            assert isinstance(both, ValueError)
            assert isinstance(by_sonnx, ValueError)
            continue
        assert_same(w, z)
        assert not isinstance(both, ValueError)
        assert_same(both[0], z)
        assert isinstance(by_sonnx, ValueError) == mixes_zero_and_one([shape, target])
        if not isinstance(by_sonnx, ValueError):
            assert_same(by_sonnx[0], z)
        by_mode_numpy = outcome(openvino.broadcast, x, target)
        assert (z.shape == target) == (not isinstance(by_mode_numpy, ValueError))


# Lists


@given(shapes_and_target(max_rank=6, max_size=3))
def test_list_of_a_tensor(case: tuple[Shape, Shape]) -> None:
    """Broadcast, it is the list of the tensor that is broadcast: represents_broadcast,
    memory/flat.mlw.

    [E_Broadcast_any_Derived_130]
    """
    shape, target = case
    x = numbered(shape)
    z = outcome(numpy_rule.broadcast_to, x, target)
    if not isinstance(z, ValueError):
        assert reference.broadcast(x.ravel().tolist(), shape, target) == z.ravel().tolist()


def with_blocks_repeated(elements: list[int], shape: Shape, axis: int) -> list[int]:
    """Repeat the blocks behind an axis as often as the axis is long; its size was 1."""
    block = prod(shape[axis + 1 :])
    starts = [number * block for number in range(prod(shape[:axis]))]
    return [x for o in starts for _ in range(shape[axis]) for x in elements[o : o + block]]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple), st.data())
def test_one_axis_grows(target: Shape, data: st.DataObject) -> None:
    """Each block of the axes behind it stands as often as the axis is long, one after the other:
    axis_broadcast, memory/grown_axis.mlw.

    [E_Broadcast_any_Derived_130]
    """
    axis = data.draw(st.integers(0, len(target) - 1))
    shape = (*target[:axis], 1, *target[axis + 1 :])
    elements = list(range(prod(shape)))
    repeated = with_blocks_repeated(elements, target, axis)
    assert reference.broadcast(elements, shape, target) == repeated


@given(shapes_and_target(max_rank=6, max_size=3))
def test_axis_after_axis(case: tuple[Shape, Shape]) -> None:
    """One axis may grow after the other, the last one first: axis_after_axis,
    memory/axis_by_axis.mlw.

    [E_Broadcast_any_Derived_130]
    """
    shape, target = case
    elements = list(range(prod(shape)))
    at_once = outcome(reference.broadcast, elements, shape, target)
    if isinstance(at_once, ValueError):
        return
    padded = (1,) * (len(target) - len(shape)) + shape
    for axis in reversed(range(len(target))):
        if padded[axis] != target[axis]:
            partly = (*padded[:axis], *target[axis:])
            elements = with_blocks_repeated(elements, partly, axis)
    assert elements == at_once


# The adjoint


@given(along_axes(), st.data())
def test_adjoint(case: tuple[Shape, Shape, Axes], data: st.DataObject) -> None:
    """nGraph, on numbers that hypothesis looks for: ngraph_adjoint, adjoint/ngraph.mlw.

    [E_NgraphBroadcast_ring_Adjoint_010] [E_NgraphBroadcast_ring_Derived_010]
    """
    _, target, axes = case
    broadcast_axes = set(range(len(target))) - set(axes)
    x = data.draw(numbers(tuple(target[axis] for axis in axes)))
    delta = data.draw(numbers(target))
    z = ngraph.broadcast(x, target, broadcast_axes)
    assert inner(z, delta) == inner(x, ngraph.broadcast_adjoint(delta, broadcast_axes))


@pytest.mark.parametrize("shape", [(2, 3), (3, 1, 2), (2, 2, 2)])
def test_nothing_else_is_the_adjoint(shape: Shape) -> None:
    """Tested on the unit tensors, its elements follow: ngraph_adjoint_unique, adjoint/ngraph.mlw;
    inner_unique, adjoint/inner_product.mlw.

    [E_NgraphBroadcast_ring_Derived_010]
    """
    delta = numbered(shape).astype(np.int64) ** 3
    for axes in axis_sets(len(shape)):
        own = p(shape, axes)
        elements = []
        for index in np.ndindex(own):
            unit = np.zeros(own, np.int64)
            unit[index] = 1
            elements.append(inner(ngraph.broadcast(unit, shape, axes), delta))
        assert ngraph.broadcast_adjoint(delta, axes).ravel().tolist() == elements


def sum_repeated(delta: Array, shape: Shape, axes: Axes) -> Array:
    """Sum over the axes along which elements repeat; those that grow keep size 1."""
    own = {axis for axis, size in zip(axes, shape, strict=True) if size == delta.shape[axis]}
    sums = ngraph.broadcast_adjoint(delta, set(range(delta.ndim)) - own)
    return sums.reshape(shape)


@given(along_axes(), st.data())
def test_adjoint_along_explicit_axes(case: tuple[Shape, Shape, Axes], data: st.DataObject) -> None:
    """Sizes that grow included: explicit_adjoint and explicit_index_fibre, adjoint/explicit.mlw.

    [E_OpenvinoBroadcast_ring_Derived_010]
    """
    shape, target, axes = case
    x, delta = data.draw(numbers(shape)), data.draw(numbers(target))
    z = lax.broadcast_in_dim(x, target, axes)
    assert inner(z, delta) == inner(x, sum_repeated(delta, shape, axes))


@given(shapes_and_target(max_rank=5, max_size=3), st.data())
def test_adjoint_in_mode_numpy(case: tuple[Shape, Shape], data: st.DataObject) -> None:
    """Also where 1 grows to 0: numpy_adjoint, broadcast_to_adjoint and repeated_trailing,
    adjoint/numpy.mlw.

    [E_OpenvinoBroadcast_ring_Derived_010]
    """
    shape, target = case
    x = data.draw(numbers(shape))
    z = outcome(openvino.broadcast, x, target)
    if isinstance(z, ValueError):
        return
    delta = data.draw(numbers(target))
    sums = sum_repeated(delta, shape, tuple(range(len(target) - len(shape), len(target))))
    assert inner(z, delta) == inner(x, sums)


@given(st.lists(st.integers(0, 3), max_size=5).map(tuple), st.data())
def test_sum_in_steps(shape: Shape, data: st.DataObject) -> None:
    """Over some axes and then over some that are left: sum_axes_joined, adjoint/stepwise.mlw.

    [E_NgraphBroadcast_ring_Derived_020]
    """
    delta = data.draw(numbers(shape))
    first = {axis for axis in range(len(shape)) if data.draw(st.booleans())}
    left = [axis for axis in range(len(shape)) if axis not in first]
    second = {j for j in range(len(left)) if data.draw(st.booleans())}
    in_two_steps = ngraph.broadcast_adjoint(ngraph.broadcast_adjoint(delta, first), second)
    joined = first | {left[j] for j in second}
    assert_same(in_two_steps, ngraph.broadcast_adjoint(delta, joined))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), st.data())
def test_sum_over_one_axis(shape: Shape, data: st.DataObject) -> None:
    """It adds up what lies along the axis: sum_one_axis, adjoint/stepwise.mlw.

    [E_NgraphBroadcast_ring_Derived_020]
    """
    delta = data.draw(numbers(shape))
    k = data.draw(st.integers(0, len(shape) - 1))
    sums = ngraph.broadcast_adjoint(delta, {k})
    for i in np.ndindex(sums.shape):
        along = [delta[(*i[:k], j, *i[k:])].item() for j in range(shape[k])]
        assert sums[i] == sum(along)
