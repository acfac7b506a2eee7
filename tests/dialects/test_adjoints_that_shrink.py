"""The adjoints of the broadcasts in which sizes grow: what was repeated is added up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from array_strategies import Array, Subclass, arrays_of_shape
from axes_cases import SHAPE_PAIRS, explicit_cases, inner, numbered, outcome
from hypothesis import given
from hypothesis import strategies as st
from plain_axes import Sources, are_axes, explicit, explicit_misfit, numpy_mode
from plain_rule import Shape

import whycast
from whycast import numpy_rule, openvino
from whycast.openvino import broadcast_adjoint


def signed(shape: Shape, dtype: str = "i8") -> Array:
    """Array whose elements differ in size and sign, and add up to nothing by chance."""
    x = numbered(shape).astype(dtype)
    return np.where(x % 3 == 1, -x, x * x)


def added(delta: Array, shape: Shape, sources: Sources) -> dict[tuple[int, ...], int]:
    """Add each element of `delta` to that of the data from which it was copied."""
    sums = dict.fromkeys(np.ndindex(shape), 0)
    for index, source in sources.items():
        sums[source] += delta[index].item()
    return sums


def assert_sums(sums: Array, delta: Array, shape: Shape, sources: Sources) -> None:
    assert (sums.shape, sums.dtype) == (shape, delta.dtype)
    assert dict(np.ndenumerate(sums)) == added(delta, shape, sources)


def test_every_small_case_of_numpys_rule() -> None:
    """All pairs of shapes of rank <= 3 and sizes <= 3: what broadcasts has an adjoint, and nothing
    else; <broadcast_to(x), delta> = <x, sums>.

    [E_OpenvinoBroadcast_ring_Derived_010]
    """
    accepted = 0
    for shape, target in SHAPE_PAIRS:
        delta = signed(target)
        results = [
            outcome(whycast.sum_to_shape, delta, shape),
            outcome(broadcast_adjoint, delta, shape),
            outcome(broadcast_adjoint, delta, shape, None, "numpy"),
            outcome(broadcast_adjoint, delta, shape, None, "bidirectional"),
        ]
        sources = numpy_mode(shape, target)
        for sums in results:
            if sources is None:
                assert isinstance(sums, ValueError)
                assert isinstance(sums, whycast.BroadcastError) == (len(shape) <= len(target))
            else:
                assert not isinstance(sums, ValueError)
                assert_sums(sums, delta, shape, sources)
                x = signed(shape)[...]
                assert inner(numpy_rule.broadcast_to(x, target), delta) == inner(x, sums)
                accepted += 1
    # Of each axis 4 sizes stay and 3 grow from 1, before them any are prepended.
    assert accepted == 4 * sum(7**rank * 4**more for rank in range(4) for more in range(4 - rank))


def test_every_small_case_along_explicit_axes() -> None:
    """[E_OpenvinoBroadcast_ring_Derived_010]"""
    accepted = misfits = 0
    for shape, target, axes in explicit_cases():
        delta = signed(target)
        sums = outcome(broadcast_adjoint, delta, shape, axes, "explicit")
        if not are_axes(axes, len(target)):
            assert type(sums) is ValueError
            assert str(sums).startswith("axes_mapping, position ")
        elif (misfit := explicit_misfit(shape, target, axes)) is not None:
            assert type(sums) is whycast.AxisSizeError
            assert (sums.tensor_axis, sums.axes, sums.shapes) == (misfit, axes, (shape,))
            assert sums.target_shape == target
            misfits += 1
        else:
            assert not isinstance(sums, ValueError)
            assert_sums(sums, delta, shape, explicit(shape, target, axes))
            x = signed(shape)
            z = openvino.broadcast(x, target, axes, "explicit")
            assert inner(z, delta) == inner(x, sums)
            accepted += 1
    # A target's axis is not taken (1 way), taken by an equal size or by 1 (7 of 16 pairs), or by
    # another size (9).
    assert accepted == sum((4 + 7) ** rank for rank in range(4))
    assert accepted + misfits == sum((4 + 16) ** rank for rank in range(4))


@given(st.data())
def test_any_layout_and_type(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=6)))
    code = data.draw(st.sampled_from(["i1", ">u2", "<i4", ">i8", "u8", "f2", ">f4", "f8", "c8"]))
    delta = data.draw(arrays_of_shape(shape, np.dtype(code)))
    dropped = data.draw(st.integers(0, len(shape)))
    wanted = tuple(data.draw(st.sampled_from([1, size])) for size in shape[dropped:])
    grown = [dropped + k for k, size in enumerate(wanted) if size != shape[dropped + k]]
    with np.errstate(all="ignore"):
        sums = whycast.sum_to_shape(
            delta.view(Subclass) if data.draw(st.booleans()) else delta, wanted
        )
        axes = (*range(dropped), *grown)
        expected = np.asarray(np.sum(delta, axis=axes, dtype=delta.dtype.type)).astype(code)
    assert type(sums) is np.ndarray
    assert (sums.shape, sums.dtype.str) == (wanted, delta.dtype.str)
    assert sums.flags.c_contiguous
    assert sums.flags.writeable
    assert not np.shares_memory(sums, delta)
    assert sums.tobytes() == expected.tobytes()


def test_integers_wrap_around() -> None:
    """[E_NgraphBroadcast_ring_Derived_030]"""
    delta = np.full((3, 2), 100, np.uint8)
    assert whycast.sum_to_shape(delta, (1, 2)).tolist() == [[44, 44]]
    assert broadcast_adjoint(delta, (3,), (0,), "explicit").tolist() == [200] * 3


def test_half_precision_is_that_of_numpy() -> None:
    """In float32 along contiguous memory, in float16 across it."""
    tenth = np.full((1000, 2), 0.1, np.float16)
    along, across = np.ascontiguousarray(tenth.T), tenth
    assert whycast.sum_to_shape(along, (2, 1)).tolist() == [[100.0]] * 2
    assert whycast.sum_to_shape(across, (2,)).tolist() == [np.float16(105.2)] * 2


FAILURES: dict[str, tuple[Callable[..., object], Sequence[Any], str]] = {
    "size": (
        whycast.sum_to_shape,
        (np.zeros((2, 4)), (3,)),
        "shape (3,) does not broadcast to (2, 4): axis 1 of the target's rank 2, the shape has "
        "size 3, expected 4 or 1\n  shape:      >3<\n  target:  2  [4]",
    ),
    "rank": (
        whycast.sum_to_shape,
        (np.zeros(2), (1, 2)),
        "delta: expected a rank of at least 2, that of shape, got 1",
    ),
    "mode numpy": (
        broadcast_adjoint,
        (np.zeros((2, 4)), (3,)),
        "data of shape (3,) does not broadcast to delta (2, 4): axis 1 of the target's rank 2, "
        "data has size 3, expected 4 or 1\n  data:      >3<\n  delta:  2  [4]",
    ),
    "explicit": (
        broadcast_adjoint,
        (np.zeros((2, 4)), (3,), (0,), "explicit"),
        "data of shape (3,) does not broadcast to delta (2, 4): axis 0 of data, which lies on axis "
        "0 of delta, has size 3, expected 2 or 1\n"
        "  data:         >3<\n  delta:        [2]  4\n  axes_mapping:  0",
    ),
    "count": (
        broadcast_adjoint,
        (np.zeros((2, 4)), (2,), (0, 1), "explicit"),
        "axes_mapping: expected 1 axis, one for each axis of data, got 2",
    ),
    "range": (
        broadcast_adjoint,
        (np.zeros((2, 4)), (2,), (2,), "explicit"),
        "axes_mapping, position 0: expected an axis of delta, whose rank is 2, got 2",
    ),
    "missing": (
        broadcast_adjoint,
        (np.zeros((2, 4)), (2,), None, "explicit"),
        "axes_mapping: mode 'explicit' expects it, got none",
    ),
    "not allowed": (
        broadcast_adjoint,
        (np.zeros((2, 4)), (4,), (1,)),
        "axes_mapping: mode 'numpy' expects none, got (1,) (tuple)",
    ),
    "unknown mode": (
        broadcast_adjoint,
        (np.zeros((2, 4)), (4,), None, "pdpd"),
        "mode: expected one of 'numpy', 'explicit', 'bidirectional', got 'pdpd'",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_text(name: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    function, arguments, text = FAILURES[name]
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$") as caught:
        function(*arguments)
    assert str(caught.value) == text
    # No exception of the kernel hangs on.
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


@pytest.mark.parametrize("code", ["?", "O", "U3", "S3", "M8[s]", "V4", "i4,f4"])
def test_what_has_no_sum(code: str) -> None:
    message = r"^delta: expected an integer, floating-point or complex dtype, got "
    for function in (whycast.sum_to_shape, broadcast_adjoint):
        with pytest.raises(TypeError, match=message):
            function(np.zeros(6, code), ())


def test_no_room_for_the_sums() -> None:
    """An axis of size 0 leaves nothing to read, and much to write to."""
    delta = np.zeros((0, 2**45))
    shown = r"array with shape \(35184372088832,\) and data type float64"
    with pytest.raises(MemoryError, match=shown):
        whycast.sum_to_shape(delta, (2**45,))
    with pytest.raises(MemoryError, match=shown):
        whycast.ngraph.broadcast_adjoint(delta, {0})
