"""The proved laws of broadcasting along axes, executed on arrays, and those of the adjoint.

Every test names the theorem it executes. In the arrays no element occurs twice, and they are
compared bit by bit: one element in the wrong place shows.
"""

from __future__ import annotations

import numpy as np
import pytest
from array_strategies import Array
from axes_cases import SHAPE_PAIRS, axis_set_cases, inner, numbered, outcome
from hypothesis import given
from hypothesis import strategies as st
from plain_axes import p
from plain_rule import Shape, mixes_zero_and_one

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino

Axes = tuple[int, ...]


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


def numbers(shape: Shape) -> st.SearchStrategy[Array]:
    """Numbers whose products and sums stay far from 2**63."""
    count = int(np.prod(shape, dtype=int))
    values = st.lists(st.integers(-(10**6), 10**6), min_size=count, max_size=count)
    return values.map(lambda found: np.array(found, np.int64).reshape(shape))


# Explicit axes


@given(st.lists(st.integers(0, 3), max_size=5).map(tuple))
def test_identity(shape: Shape) -> None:
    """On all axes and to its own shape nothing changes: explicit_identity, axes/explicit.mlw, and
    in_dim_identity, axes/in_dim.mlw.

    [E_OpenvinoBroadcast_any_Derived_020] [E_BroadcastInDim_any_Derived_020]
    """
    x = numbered(shape)
    assert_same(lax.broadcast_in_dim(x, shape, range(len(shape))), x)


def explicit(x: Array, target: Shape, axes: Axes) -> Array:
    return openvino.broadcast(x, target, axes, "explicit")


def turned(case: tuple[Shape, Shape, Axes], data: st.DataObject) -> tuple[Shape, Shape, Axes]:
    """Give a case whose axes, and sizes with them, come in another order."""
    shape, target, axes = case
    order = data.draw(st.permutations(range(len(axes))))
    return tuple(shape[j] for j in order), target, tuple(axes[j] for j in order)


@given(along_axes(), st.data(), st.booleans())
def test_transitivity(
    case: tuple[Shape, Shape, Axes], data: st.DataObject, in_any_order: bool
) -> None:
    """In two steps or in one, along the axes of the axes: explicit_transitive, in_dim_transitive,
    axes/in_dim.mlw, and compose_are_axes, axes/explicit.mlw.

    [E_OpenvinoBroadcast_any_Derived_020] [E_BroadcastInDim_any_Derived_020]
    """
    broadcast = lax.broadcast_in_dim if in_any_order else explicit
    d, e, b = turned(case, data) if in_any_order else case
    case = data.draw(along_axes(d))
    s, _, a = turned(case, data) if in_any_order else case
    x = numbered(s)
    in_two_steps = broadcast(broadcast(x, d, a), e, b)
    assert_same(in_two_steps, broadcast(x, e, tuple(b[axis] for axis in a)))


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


# nGraph, ONNX Expand


def test_ngraph_beside_explicit_axes() -> None:
    """One operator, with its errors, but that no size of 1 grows: ngraph_valid_explicit,
    ngraph_explicit, explicit_ngraph, ngraph_size_one, axes/ngraph.mlw; ngraph_openvino,
    axes/operator_laws.mlw; ngraph_output, ngraph_error_exactly, axes/ngraph_operator.mlw.

    [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Derived_010]
    [E_NgraphBroadcast_any_Derived_020]
    """
    same = grown = 0
    for shape, target, broadcast_axes in axis_set_cases():
        x, kept = numbered(shape), p(range(len(target)), broadcast_axes)
        wanted = p(target, broadcast_axes)
        z = outcome(ngraph.broadcast, x, target, set(broadcast_axes))
        w = outcome(openvino.broadcast, x, target, kept, "explicit")
        if not isinstance(z, ValueError):
            assert_same(z, w)
            same += 1
        elif not isinstance(z, ngraph.ArgShapeError):
            assert len(shape) != len(kept)
            assert str(w).startswith("axes_mapping: expected ")
        elif any(size == 1 != other for size, other in zip(shape, wanted, strict=True)):
            grown += not isinstance(w, ValueError)
        else:
            assert isinstance(w, whycast.AxisSizeError)
            assert z.tensor_axis == w.tensor_axis
            assert shape[: z.tensor_axis] == wanted[: z.tensor_axis]
    # On an axis that both have: 4 pairs of equal sizes, 3 pairs in which a 1 grows.
    assert same == sum((4 + 4) ** rank for rank in range(4))
    assert grown == sum((4 + 7) ** rank - (4 + 4) ** rank for rank in range(4))


def test_expand_beside_the_broadcast_of_two_tensors() -> None:
    """The tensor times ones, by NumPy's rule, and by SONNX where no 0 meets a 1: expand_times_ones,
    axes/expand_ones.mlw; expand_numpy, expand_bidirectional, expand_sonnx, expand_e1,
    axes/expand.mlw.

    [E_Expand_any_Data_020] [E_OpenvinoThreeBroadcast_any_Modes_010]
    """
    for shape, target in SHAPE_PAIRS:
        x, ones = numbered(shape), np.ones(target, np.int16)
        z = outcome(onnx.expand, x, target)
        w = outcome(openvino.broadcast, x, target, None, "bidirectional")
        both = outcome(numpy_rule.broadcast_arrays, x, ones)
        by_sonnx = outcome(whycast.broadcast, x, ones)
        if isinstance(both, ValueError):
            assert isinstance(z, ValueError)
            assert isinstance(w, ValueError)
            assert isinstance(by_sonnx, ValueError)
            continue
        assert_same(z, both[0] * both[1])
        assert_same(w, z)
        assert isinstance(by_sonnx, ValueError) == mixes_zero_and_one([shape, target])
        if not isinstance(by_sonnx, ValueError):
            assert_same(by_sonnx[0], z)


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
