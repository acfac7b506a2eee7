"""Each function that broadcasts one array to a target, compared with a reading of its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from array_strategies import Array, plain
from axes_cases import any_array, assert_elements, numbered, outcome, shapes_along_axes
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_axes import Placed, expand, explicit, numpy_mode, p, sources, torch_expand
from plain_axes import ngraph as removed
from plain_rule import Shape, all_shapes, prepend
from view_checks import assert_view

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference, torch

Axes = tuple[int, ...]


class Dialect(NamedTuple):
    """A function of an array, a target and axes, with a reading of its text."""

    broadcast: Callable[..., Array]
    # The names of the tensor, the target and the axes in the function's errors.
    names: tuple[str, str, str]
    reading: Callable[..., Placed | None]
    # The function's axes, if it takes any: "increasing", "distinct", "removed" (from the target).
    takes: str = ""


def on_lists(x: Array, target: Shape) -> Array:
    flat = reference.broadcast(x.ravel().tolist(), x.shape, target)
    return np.array(flat, x.dtype).reshape(target)


along_axes = partial(openvino.broadcast, mode="explicit")
bidirectional = partial(openvino.broadcast, mode="bidirectional")
increasing = partial(explicit, increasing=True)
OF_OPENVINO = ("data", "target_shape", "axes_mapping")
DIALECTS = {
    "expand": Dialect(onnx.expand, ("input", "shape", ""), expand),
    "numpy": Dialect(openvino.broadcast, OF_OPENVINO, numpy_mode),
    "bidirectional": Dialect(bidirectional, OF_OPENVINO, expand),
    "broadcast_to": Dialect(whycast.broadcast_to, ("tensor", "shape", ""), numpy_mode),
    "numpy_to": Dialect(numpy_rule.broadcast_to, ("array", "shape", ""), numpy_mode),
    "torch": Dialect(torch.expand, ("input", "size", ""), torch_expand),
    "lists": Dialect(on_lists, ("shape", "target", ""), numpy_mode),
    "explicit": Dialect(along_axes, OF_OPENVINO, increasing, "increasing"),
    "in-dim": Dialect(
        lax.broadcast_in_dim, ("operand", "shape", "broadcast_dimensions"), explicit, "distinct"
    ),
    "ngraph": Dialect(ngraph.broadcast, ("arg", "shape", "broadcast_axes"), removed, "removed"),
}
WITH_AXES = [name for name in DIALECTS if DIALECTS[name].takes]
BOTH_WAYS = ("expand", "bidirectional")
# If sizes do not fit, these functions' errors have rows for the tensor, the target and any axes.
NAMED = ("numpy", "broadcast_to", "numpy_to", "torch", *BOTH_WAYS, *WITH_AXES)


def wrong_axes(dialect: Dialect, rank: int, target: Shape, axes: Axes) -> str | None:
    """Return the error if axes and ranks do not fit."""
    _, to, name = dialect.names
    if dialect.takes != "removed" and len(axes) != rank:
        return f"{name}: expected {rank} ax"
    for j, axis in enumerate(axes):
        if not 0 <= axis < len(target):
            return f"{name}, position {j}: expected an axis of {to}, whose rank is {len(target)}"
        if dialect.takes == "distinct" and axis in axes[:j]:
            return f"{name}, positions {axes.index(axis)} and {j}: expected distinct axes, got "
        if dialect.takes != "distinct" and j and axis <= axes[j - 1]:
            return f"{name}, position {j}: expected strictly increasing axes, got {axis} after "
    if dialect.takes == "removed" and len(target) - len(axes) != rank <= len(target):
        return f"{name}: expected {len(target) - rank} ax"
    return None


def misfit(name: str, shape: Shape, target: Shape, axes: Axes) -> tuple[int | None, ...] | None:
    """Return the axis and both sizes of the error that the call must raise, if sizes do not fit."""
    if name not in BOTH_WAYS and len(target) < len(shape):
        return 0, shape[0], None
    if name in BOTH_WAYS:
        rank = max(len(shape), len(target))
        both = zip(prepend(target, rank), prepend(shape, rank), strict=True)
        wrong = [(axis, a, b) for axis, (a, b) in enumerate(both) if a != b and 1 not in (a, b)]
        return wrong[0] if wrong else None
    if name == "ngraph":
        axes = p(range(len(target)), axes)
    elif name not in WITH_AXES:
        axes = tuple(range(len(target) - len(shape), len(target)))
    for size, axis in zip(shape, axes, strict=True):
        if size != target[axis] and (size != 1 or name == "ngraph"):
            return axis, size, target[axis]
    return None


def small_calls(name: str) -> Iterator[tuple[Shape, Shape, Axes]]:
    """Yield all calls on small shapes, with all axes, right and wrong."""
    if name not in WITH_AXES:
        yield from product(all_shapes(2, 3), all_shapes(2, 3), [()])
        yield from product([(2, 1, 3)], [(2, 1, 3), (2, 4, 3), (1, 3, 2, 4, 3), (2, 3)], [()])
        return
    axes = [axes for count in range(4) for axes in product(range(-1, 3), repeat=count)]
    yield from product(all_shapes(2, 2), all_shapes(2, 2), axes)
    for target in ((2, 3, 4), (4, 2, 3), (3, 0, 2)):
        yield from product([(2, 3), (3, 2), (3, 1), (2,)], [target], axes)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_small_call(name: str) -> None:
    """[E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Expand_any_Data_010]
    [E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Purpose_020]
    [E_OpenvinoBroadcast_any_Inputs_020]
    [E_OpenvinoBroadcast_any_Inputs_030] [E_OpenvinoBroadcast_any_Inputs_040]
    [E_OpenvinoBroadcast_any_Modes_020] [E_OpenvinoBroadcast_any_Modes_030]
    [E_OpenvinoThreeBroadcast_any_Modes_010] [E_OpenvinoBroadcast_any_Axes_010]
    [E_OpenvinoBroadcast_any_Derived_010] [E_OpenvinoBroadcast_any_Derived_050]
    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Size_010]
    [E_BroadcastInDim_any_Data_010] [E_BroadcastInDim_any_Derived_010]
    [E_NgraphBroadcast_any_Purpose_010] [E_NgraphBroadcast_any_Attributes_010]
    [E_NgraphBroadcast_any_Attributes_020] [E_NgraphBroadcast_any_Outputs_020]
    [E_NgraphBroadcast_any_Shape_010] [E_NgraphBroadcast_any_Definition_010]
    [E_NgraphBroadcast_any_Definition_030] [E_NgraphBroadcast_any_Interface_010]
    [E_NgraphBroadcast_any_Interface_020] [E_NumpyBroadcast_any_Functions_020]
    [E_Broadcast_any_Derived_130]
    """
    dialect, seen = DIALECTS[name], {"wrong": 0, "misfit": 0, "accepted": 0}
    for shape, target, axes in small_calls(name):
        given_axes = (axes,) if dialect.takes else ()
        z = outcome(dialect.broadcast, numbered(shape), target, *given_axes)
        wrong = wrong_axes(dialect, len(shape), target, axes) if dialect.takes else None
        placed = dialect.reading(shape, target, *given_axes)
        if wrong is not None:
            assert (placed, type(z), str(z)[: len(wrong)]) == (None, ValueError, wrong)
            seen["wrong"] += 1
        elif placed is None:
            assert isinstance(z, whycast.BroadcastError)
            assert (z.axis, z.size, z.target) == misfit(name, shape, target, axes)
            shown = dialect.names[: 2 + (dialect.takes != "" and z.target is not None)]
            assert name not in NAMED or all(f"  {n}:" in str(z) for n in shown)
            seen["misfit"] += 1
        else:
            assert not isinstance(z, ValueError)
            assert_elements(z, shape, placed)
            seen["accepted"] += 1
    assert min(seen.values()) > 40 or (name not in WITH_AXES and seen["wrong"] == 0)


@pytest.mark.parametrize("name", [name for name in DIALECTS if name != "lists"])
@settings(max_examples=150)
@given(data=st.data())
def test_any_array(name: str, data: st.DataObject) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_010] [E_NgraphBroadcast_any_Inputs_010]
    [E_NgraphBroadcast_any_Outputs_010] [E_Expand_any_Data_010] [E_BroadcastInDim_any_Data_010]
    [E_TorchExpand_any_View_010]
    """
    dialect = DIALECTS[name]
    grow, turn = name != "ngraph", dialect.takes == "distinct"
    shape, target, axes = data.draw(shapes_along_axes(grow=grow, turn=turn))
    array = data.draw(any_array(shape))
    others = tuple(axis for axis in range(len(target)) if axis not in axes)
    if not dialect.takes:
        target = tuple(target[axis] for axis in (*others, *axes))
    given_axes = {"": (), "removed": (others,)}.get(dialect.takes, (axes,))
    placed = dialect.reading(shape, target, *given_axes)
    if placed is None:
        with pytest.raises(whycast.BroadcastError):
            dialect.broadcast(array, target, *given_axes)
    else:
        found = dialect.broadcast(array, target, *given_axes)
        assert_view(found, plain(array), placed.shape, sources(shape, placed).__getitem__)


def test_sizes_of_torch() -> None:
    """-1 means the tensor's own size. [E_TorchExpand_any_Size_010]"""
    for shape, rank in product(all_shapes(2, 2), range(4)):
        for size in product((-1, 0, 1, 2), repeat=rank):
            z, placed = outcome(torch.expand, numbered(shape), size), torch_expand(shape, size)
            if placed is None:
                assert "size" in str(z)
            else:
                assert not isinstance(z, ValueError)
                assert_elements(z, shape, placed)
    wrong = {
        (-1, 3, 1): "size, axis 0: expected a size of at least 0, got -1; input has no such axis",
        (3, -2): "size, axis 1: expected a size of at least 0, got -2",
    }
    for size, text in wrong.items():
        assert str(outcome(torch.expand, np.zeros((3, 1)), size)) == text


def test_up_to_the_highest_rank_of_numpy() -> None:
    """[E_NgraphBroadcast_any_Attributes_020] [E_OpenvinoBroadcast_any_Inputs_030]"""
    x = numbered((3, 2))
    target = (2, *(1,) * 60, 3, 1, 2)
    for name, axes in (("explicit", (61, 63)), ("in-dim", (61, 63)), ("ngraph", {*range(61), 62})):
        z = DIALECTS[name].broadcast(x, target, axes)
        assert (z.shape, z.ravel().tobytes()) == (target, x.tobytes() * 2)
    # Iterating over this set yields 8, then 1.
    assert (ngraph.broadcast_adjoint(np.ones((2,) * 9), {8, 1}) == np.full((2,) * 7, 4.0)).all()


HWC = ((1, 50, 50, 16), (1, 2))


def test_examples_of_openvino() -> None:
    """[E_OpenvinoBroadcast_any_Examples_010] [E_OpenvinoBroadcast_any_Examples_020]
    [E_OpenvinoBroadcast_any_Examples_030] [E_OpenvinoBroadcast_any_Examples_040]
    [E_OpenvinoBroadcast_any_Examples_050] [E_OpenvinoBroadcast_any_Examples_060]
    """
    x, to = numbered((16, 1, 1)), np.array([1, 16, 50, 50])
    along = openvino.broadcast(x[:, 0, 0], to, np.array([1]), mode="explicit")
    for result in (openvino.broadcast(x, to, mode="numpy"), along):
        assert result.shape == (1, 16, 50, 50)
        assert all((result[0, c] == x[c, 0, 0]).all() for c in range(16))
    for target, axes in (*product(product(range(4), repeat=4), [(1,), (1, 2)]), HWC):
        x = numbered(tuple(target[axis] for axis in axes))
        z = along_axes(x, target, axes)
        assert all(z[i] == x[tuple(i[axis] for axis in axes)] for i in np.ndindex(target))
        # Mode numpy aligns the last axes.
        by_numpy = outcome(openvino.broadcast, x, target)
        assert (numpy_mode(x.shape, target) is None) == isinstance(by_numpy, ValueError)


def test_examples_of_ngraph() -> None:
    """[E_NgraphBroadcast_any_Examples_010] [E_NgraphBroadcast_any_Examples_020]
    [E_NgraphBroadcast_any_Definition_020]
    """
    arg = np.array([10, 20, 30])
    assert ngraph.broadcast(arg, (2, 3), {0}).tolist() == [[10, 20, 30]] * 2
    assert ngraph.broadcast(arg, (3, 2), {1}).T.tolist() == [[10, 20, 30]] * 2
    # p([d0, d1, d2, d3, d4]) = [d0, d2, d4]
    arg = numbered((2, 4, 6))
    z = ngraph.broadcast(arg, (2, 3, 4, 5, 6), {1, 3})
    assert all(z[d] == arg[d[0], d[2], d[4]] for d in np.ndindex(2, 3, 4, 5, 6))


def test_the_example_of_stablehlo() -> None:
    """[E_BroadcastInDim_any_Examples_010]"""
    z = lax.broadcast_in_dim(np.array([[1, 2, 3]]), (2, 3, 2), (2, 1))
    assert z.tolist() == [[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]
