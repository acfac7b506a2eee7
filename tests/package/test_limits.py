"""Where Python and NumPy end: what no tuple, list or array holds is refused before it is made."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference
from whycast.testing._lines import _serve

X = np.zeros(())
BYTE = np.zeros((), np.int8)
# The first fits into no tuple, the second has a length that is no C integer.
LONG = (range(2**62), range(2**63))

NO_ROOM = r"expected no more integers than there is room for, got range\(0, \d+\) \(range\)$"

# Function, arguments, the argument that is a shape or the like of LONG, its name.
CALLS: list[tuple[Callable[..., Any], tuple[object, ...], int, str]] = [
    (whycast.broadcast_shapes, ((3,), None), 1, "argument 1"),
    (whycast.compatible, (None,), 0, "argument 0"),
    (whycast.broadcast_strides, (None, (8,), (3,)), 0, "shape"),
    (whycast.broadcast_strides, ((3,), None, (3,)), 1, "strides"),
    (whycast.broadcast_strides, ((3,), (8,), None), 2, "target"),
    (whycast.source_index, (None, (3,), (0,)), 0, "shape"),
    (whycast.source_index, ((3,), None, (0,)), 1, "target"),
    (whycast.source_index, ((3,), (3,), None), 2, "index"),
    (whycast.sum_to_shape, (X, None), 1, "shape"),
    (lax.broadcast_in_dim, (X, None, ()), 1, "shape"),
    (lax.broadcast_in_dim, (X, (), None), 2, "broadcast_dimensions"),
    (ngraph.broadcast, (X, None, ()), 1, "shape"),
    (ngraph.broadcast, (X, (), None), 2, "broadcast_axes"),
    (ngraph.broadcast_adjoint, (X, None), 1, "broadcast_axes"),
    (numpy_rule.broadcast_shapes, (None,), 0, "argument 0"),
    (numpy_rule.broadcast_to, (X, None), 1, "shape"),
    (onnx.expand, (X, None), 1, "shape"),
    (openvino.broadcast, (X, None), 1, "target_shape"),
    (openvino.broadcast, (X, (), None, "explicit"), 2, "axes_mapping"),
    (openvino.broadcast_adjoint, (X, None), 1, "data_shape"),
    (openvino.broadcast_adjoint, (X, (), None, "explicit"), 2, "axes_mapping"),
    (reference.broadcast, ([1], None, ()), 1, "shape"),
    (reference.broadcast, ([1], (), None), 2, "target"),
]


@pytest.fixture
def frugal() -> Iterator[None]:
    """Demand that next to no memory is taken."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("frugal")
@pytest.mark.parametrize(
    ("function", "arguments", "place", "name"),
    CALLS,
    ids=[f"{function.__module__}.{function.__name__}, {name}" for function, _, _, name in CALLS],
)
def test_more_integers_than_a_tuple_holds(
    function: Callable[..., Any], arguments: tuple[object, ...], place: int, name: str
) -> None:
    """[E_Broadcast_any_Derived_150]"""
    for long in LONG:
        given = [*arguments]
        given[place] = long
        with pytest.raises(ValueError, match=f"^{name}: {NO_ROOM}") as caught:
            function(*given)
        assert caught.type is ValueError
        assert caught.value.__context__ is None


@pytest.mark.usefixtures("frugal")
def test_more_integers_in_an_array_than_a_tuple_holds() -> None:
    long = np.broadcast_to(BYTE, (2**62,))
    message = (
        r"^argument 0: expected no more integers than there is room for, got an array of shape"
    )
    with pytest.raises(ValueError, match=message):
        whycast.broadcast_shapes(long)


class Long(Sequence[Any]):
    """Sequence of tensors with a length that is no C integer."""

    def __len__(self) -> int:
        return 2**70

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError(index)


def test_more_tensors_than_a_tuple_holds() -> None:
    with pytest.raises(ValueError, match=r"^tensors: expected no more tensors than there is room"):
        reference.broadcast_all(Long())


@pytest.mark.usefixtures("frugal")
@pytest.mark.parametrize("size", [2**60, 2**62, 2**63, 2**64, 10**30])
@pytest.mark.parametrize(
    "function",
    [
        lambda shape: onnx.expand(X, shape),
        lambda shape: lax.broadcast_in_dim(X, shape, ()),
        lambda shape: ngraph.broadcast(X, shape, {0}),
        lambda shape: openvino.broadcast(X, shape),
        lambda shape: openvino.broadcast(X, shape, (), "explicit"),
        lambda shape: openvino.broadcast(X, shape, mode="bidirectional"),
        lambda shape: numpy_rule.broadcast_to(X, shape),
    ],
)
def test_a_view_that_numpy_cannot_have(function: Callable[..., Any], size: int) -> None:
    message = rf"^NumPy has no array of shape \({size},\) and dtype float64: "
    with pytest.raises(ValueError, match=message):
        function((size,))


@pytest.mark.usefixtures("frugal")
@pytest.mark.parametrize("copy", [True, False])
def test_views_that_numpy_cannot_have(copy: bool) -> None:
    column, row = np.broadcast_to(BYTE, (2**40, 1)), np.broadcast_to(BYTE, (2**40,))
    message = rf"^NumPy has no array of shape \({2**40}, {2**40}\) and dtype int8: "
    with pytest.raises(ValueError, match=message):
        whycast.broadcast(column, row, copy=copy)
    with pytest.raises(ValueError, match=message):
        numpy_rule.broadcast_arrays(column, row)


# Of memory that is asked for in vain NumPy says that it has it.
@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda shape: whycast.broadcast(X, np.broadcast_to(BYTE, shape), copy=True), (2**46,)),
        (lambda shape: whycast.sum_to_shape(np.empty((*shape[:-1], 0)), shape), (2**46, 1)),
        (lambda shape: ngraph.broadcast_adjoint(np.empty((*shape, 0)), {1}), (2**46,)),
        (lambda shape: openvino.broadcast_adjoint(np.empty((*shape[:-1], 0)), shape), (2**46, 1)),
    ],
)
def test_no_room_for_an_array(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    shown = str(shape).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(MemoryError, match=f"for an array with shape {shown} and data type float64"):
        function(shape)


@pytest.mark.parametrize(
    "make", [numpy_rule.broadcast_arrays, lambda x: numpy_rule.broadcast_to(x, ())]
)
def test_no_room_for_what_numpy_makes_of_an_argument(make: Callable[..., Any]) -> None:
    with pytest.raises(MemoryError):
        make(range(2**62))


# What a sequence is when it is looked at again is of no account.


class Fickle(Sequence[Any]):
    """Sequence that has integers the first time, and then none."""

    def __init__(self, *integers: int) -> None:
        self.integers: tuple[object, ...] = integers

    def __len__(self) -> int:
        return len(self.integers)

    def __getitem__(self, index: Any) -> Any:
        return self.integers[index]

    def __iter__(self) -> Iterator[Any]:
        entries, self.integers = self.integers, ("changed",)
        return iter(entries)


def test_a_sequence_is_looked_at_once() -> None:
    assert whycast.broadcast_shapes(Fickle(3, 1), (4,)) == (3, 4)
    assert whycast.broadcast_strides(Fickle(3), Fickle(8), Fickle(2, 3)) == (0, 8)
    assert whycast.source_index(Fickle(3), Fickle(2, 3), Fickle(1, 2)) == (2,)
    assert lax.broadcast_in_dim(np.zeros(3), Fickle(2, 3), Fickle(1)).shape == (2, 3)


# Warnings and numbers that only show at the edges.


def test_an_array_that_numpy_has_marked_is_refused_as_a_place_to_write_to() -> None:
    """Asked whether it is writeable it would warn, before it is known that it overlaps itself."""
    (marked, _) = np.broadcast_arrays(np.zeros(2), np.zeros((3, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"^out, array 0: expected a writable array"):
            whycast.broadcast(np.zeros((3, 2)), out=[marked])


def test_a_number_that_no_float_can_be_is_no_end_of_serving(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = b'{"rule": "sonnx", "level": "shape", "shapes": [[3]], "id": 1e999}\n'
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(line)))
    with redirect_stdout(output):
        assert _serve.run(SimpleNamespace()) == 0  # type: ignore[arg-type]
    said = json.loads(output.buffer.getvalue())
    assert said == {"error": "expected JSON with numbers that a float can be, got 1e999", "line": 1}
