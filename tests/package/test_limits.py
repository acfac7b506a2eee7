"""Limits of Python and NumPy: errors come before anything large is allocated."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from bad_values import LOOSE_SHAPES, VECTORS, Parameter, fails, parameters
from plain_rule import Shape

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference
from whycast._errors import show_shape

X = np.zeros(())
BYTE = np.zeros((), np.int8)
# Too long for any tuple; the second length is too large for C.
LONG = (range(2**62), range(2**63), np.broadcast_to(BYTE, (2**62,)))

NO_ROOM = r"expected no more integers than memory holds, got .* \((range|ndarray)\)$"


@pytest.fixture
def frugal() -> Iterator[None]:
    """Demand that a test takes almost no memory."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("frugal")
@parameters(*VECTORS, *LOOSE_SHAPES)
def test_more_integers_than_a_tuple_holds(parameter: Parameter) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for long in LONG:
        error = fails(ValueError, f"{parameter.name}: {NO_ROOM}", parameter.call, long)
        assert error.__context__ is None


class Long(Sequence[Any]):
    def __len__(self) -> int:
        return 2**70

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError(index)


def test_more_tensors_than_a_tuple_holds() -> None:
    message = "tensors: expected no more tensors than memory holds"
    fails(ValueError, message, reference.broadcast_all, Long())
    message = "strides: expected no more sequences than memory holds"
    fails(ValueError, message, lambda: whycast.plan((3,), strides=Long()))


@pytest.mark.usefixtures("frugal")
@pytest.mark.parametrize(
    "shape",
    [(2**60,), (2**63,), (10**30,), (2**62, 2**62), (2, *(1,) * 64)],
    ids=lambda shape: f"{len(shape)}, {shape[0]}",
)
@pytest.mark.parametrize(
    "function",
    [
        lambda shape: onnx.expand(X, shape),
        lambda shape: lax.broadcast_in_dim(X, shape, ()),
        lambda shape: ngraph.broadcast(X, shape, range(len(shape))),
        lambda shape: openvino.broadcast(X, shape),
        lambda shape: openvino.broadcast(X, shape, (), "explicit"),
        lambda shape: openvino.broadcast(X, shape, mode="bidirectional"),
        lambda shape: numpy_rule.broadcast_to(X, shape),
    ],
)
def test_a_view_that_numpy_cannot_have(function: Callable[..., Any], shape: Shape) -> None:
    shown = show_shape(shape).replace("(", r"\(").replace(")", r"\)")
    fails(ValueError, rf"NumPy has no array of shape {shown} and dtype float64: ", function, shape)


@pytest.mark.usefixtures("frugal")
def test_views_that_numpy_cannot_have() -> None:
    column, row = np.broadcast_to(BYTE, (2**40, 1)), np.broadcast_to(BYTE, (2**40,))
    message = rf"NumPy has no array of shape \({2**40}, {2**40}\) and dtype int8: "
    for function in (whycast.broadcast, numpy_rule.broadcast_arrays):
        fails(ValueError, message, function, column, row)
    fails(ValueError, message, lambda: whycast.broadcast(column, row, copy=True))


def test_no_room_for_a_copy() -> None:
    """This test does not use `frugal`, which counts the memory that NumPy requests in vain."""
    with pytest.raises(MemoryError, match=r"shape \(70368744177664,\) and data type float64"):
        whycast.broadcast(X, np.broadcast_to(BYTE, (2**46,)), copy=True)
