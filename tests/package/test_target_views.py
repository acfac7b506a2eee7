"""What all functions with a target return: read-only views, of any type and in any layout."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from array_strategies import (
    DTYPES,
    OTHER_DTYPES,
    Array,
    DType,
    Subclass,
    arrays_of_shape,
    elements,
    plain,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from plain_rule import Shape
from view_checks import address, assert_view

from whycast import lax, ngraph, onnx, openvino

Index = tuple[int, ...]


class Broadcast(NamedTuple):
    """Broadcast of an array of shape (2, 1, 3)."""

    function: Callable[[Array], Array]
    shape: Shape
    source: Callable[[Index], Index]


# The target has other axes, in front of the last and between them; the size 1 grows, but in nGraph.
GROWING: dict[str, Broadcast] = {
    "expand": Broadcast(
        lambda x: onnx.expand(x, (4, 1, 5, 1)), (4, 2, 5, 3), lambda i: (i[1], 0, i[3])
    ),
    "numpy": Broadcast(
        lambda x: openvino.broadcast(x, (4, 2, 5, 3)), (4, 2, 5, 3), lambda i: (i[1], 0, i[3])
    ),
    "bidirectional": Broadcast(
        lambda x: openvino.broadcast(x, (5, 1), mode="bidirectional"),
        *((2, 5, 3), lambda i: (i[0], 0, i[2])),
    ),
    "explicit": Broadcast(
        lambda x: openvino.broadcast(x, (2, 4, 5, 3, 2), (0, 2, 3), "explicit"),
        *((2, 4, 5, 3, 2), lambda i: (i[0], 0, i[3])),
    ),
    "lax": Broadcast(
        lambda x: lax.broadcast_in_dim(x, (2, 2, 5, 3), (0, 2, 3)),
        *((2, 2, 5, 3), lambda i: (i[0], 0, i[3])),
    ),
    "ngraph": Broadcast(
        lambda x: ngraph.broadcast(x, (2, 4, 1, 3, 2), {1, 4}),
        *((2, 4, 1, 3, 2), lambda i: (i[0], i[2], i[3])),
    ),
}
SAME: dict[str, Broadcast] = {
    "expand, same": Broadcast(lambda x: onnx.expand(x, (2, 1, 1)), (2, 1, 3), lambda i: i),
    "numpy, same": Broadcast(lambda x: openvino.broadcast(x, (2, 1, 3)), (2, 1, 3), lambda i: i),
    "explicit, same": Broadcast(
        lambda x: openvino.broadcast(x, (2, 1, 3), (0, 1, 2), "explicit"), (2, 1, 3), lambda i: i
    ),
    "lax, same": Broadcast(
        lambda x: lax.broadcast_in_dim(x, (2, 1, 3), (0, 1, 2)), (2, 1, 3), lambda i: i
    ),
    "ngraph, same": Broadcast(
        lambda x: ngraph.broadcast(x, (2, 1, 3), set()), (2, 1, 3), lambda i: i
    ),
}
EMPTY: dict[str, Broadcast] = {
    "expand, empty": Broadcast(lambda x: onnx.expand(x, (0, 1)), (2, 0, 3), lambda i: i),
    "numpy, empty": Broadcast(lambda x: openvino.broadcast(x, (2, 0, 3)), (2, 0, 3), lambda i: i),
    "explicit, empty": Broadcast(
        lambda x: openvino.broadcast(x, (2, 0, 3), (0, 1, 2), "explicit"), (2, 0, 3), lambda i: i
    ),
    "lax, empty": Broadcast(
        lambda x: lax.broadcast_in_dim(x, (0, 2, 1, 3), (1, 2, 3)), (0, 2, 1, 3), lambda i: i
    ),
    "ngraph, empty": Broadcast(
        lambda x: ngraph.broadcast(x, (2, 1, 3, 0), {3}), (2, 1, 3, 0), lambda i: i
    ),
}


def broadcasts(*tables: dict[str, Broadcast]) -> pytest.MarkDecorator:
    named = {name: value for table in tables for name, value in table.items()}
    return pytest.mark.parametrize("broadcast", named.values(), ids=named)


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "C order": lambda a: a,
    "Fortran order": lambda a: a.copy(order="F"),
    "transposed": lambda a: a.transpose(0, 2, 1).copy().transpose(0, 2, 1),
    "reversed": lambda a: a[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "every second": lambda a: np.stack([a, a], axis=3).reshape(2, 1, 6)[:, :, ::2],
    "middle part": lambda a: np.pad(a, 1, mode="edge")[1:-1, 1:-1, 1:-1],
    "already broadcast": lambda a: np.broadcast_to(a[:, :, :1], a.shape),
    "marked by NumPy": lambda a: np.broadcast_arrays(a[:, :, :1], np.zeros(3))[0],
    "owner in a permuted order": lambda a: a.transpose(1, 2, 0).copy().transpose(2, 0, 1)[::-1],
    "memory with gaps": lambda a: as_strided(
        np.repeat(a.ravel(), 2), a.shape, (6 * a.itemsize, 0, 2 * a.itemsize)
    )[::-1],
}


@broadcasts(GROWING, SAME, EMPTY)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_named_layout(broadcast: Broadcast, layout: str) -> None:
    """[E_Broadcast_any_Derived_160]"""
    dtypes: list[DType] = [np.dtype(">f8"), np.dtype(object), np.dtype("i2,O")]
    if layout != "memory with gaps":
        # NumPy's as_strided does not know this type.
        dtypes.append(np.dtypes.StringDType())
    for dtype in dtypes:
        x = LAYOUTS[layout](elements(6, dtype).reshape(2, 1, 3))
        assert_view(broadcast.function(x), x, broadcast.shape, broadcast.source)


@broadcasts(GROWING)
@pytest.mark.parametrize("dtype", [*DTYPES, *OTHER_DTYPES], ids=repr)
def test_every_type(broadcast: Broadcast, dtype: DType) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_010] [E_NgraphBroadcast_any_Inputs_010]
    [E_NgraphBroadcast_any_Outputs_010] [E_Broadcast_any_Derived_160]
    """
    x = elements(12, dtype).reshape(2, 1, 6)[:, :, ::-2]
    assert_view(broadcast.function(x), x, broadcast.shape, broadcast.source)
    y = x.view(Subclass)
    assert_view(broadcast.function(y), x, broadcast.shape, broadcast.source)


@broadcasts(GROWING, SAME, EMPTY)
@settings(max_examples=30)
@given(data=st.data())
def test_any_layout(broadcast: Broadcast, data: st.DataObject) -> None:
    """[E_Broadcast_any_Derived_160]"""
    x = data.draw(arrays_of_shape((2, 1, 3)))
    assert_view(broadcast.function(x), x, broadcast.shape, broadcast.source)


@broadcasts(GROWING)
@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("order", "<>")
def test_nan_payloads_and_signed_zeros_survive(
    broadcast: Broadcast, width: int, order: str
) -> None:
    """[E_Broadcast_any_Accuracy_010]"""
    bits = np.dtype(f"{order}u{width}")
    sign, one = 2 ** (8 * width - 1), np.ones((), f"{order}f{width}").view(bits).item()
    infinity = np.full((), np.inf, f"{order}f{width}").view(bits).item()
    patterns = np.array([0, sign, infinity | 5, sign | infinity | 3, infinity | 1, one], bits)
    x = patterns.view(f"{order}f{width}").reshape(2, 1, 3)
    assert np.isnan(x).sum() == 3
    z = broadcast.function(x)
    for index in np.ndindex(broadcast.shape):
        assert z.view(bits)[index] == patterns.reshape(2, 1, 3)[broadcast.source(index)]


def test_rank_0() -> None:
    x = np.array(2.5)
    for z, shape in (
        (onnx.expand(x, ()), ()),
        (onnx.expand(x, (2, 0)), (2, 0)),
        (openvino.broadcast(x, (2, 3)), (2, 3)),
        (openvino.broadcast(x, (2, 3), (), "explicit"), (2, 3)),
        (lax.broadcast_in_dim(x, (), ()), ()),
        (lax.broadcast_in_dim(x, (2, 0), ()), (2, 0)),
        (ngraph.broadcast(x, (2, 3), {0, 1}), (2, 3)),
        (ngraph.broadcast(x, (), set()), ()),
    ):
        assert_view(z, x, shape, lambda index: ())
        assert np.shares_memory(z, x) == (0 not in shape)


@broadcasts(GROWING, SAME)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_writes_to_the_input_show_and_writes_to_the_view_fail(
    broadcast: Broadcast, layout: str
) -> None:
    """[E_Broadcast_any_Derived_160]"""
    x = LAYOUTS[layout](np.arange(6.0).reshape(2, 1, 3)).view()
    z = broadcast.function(x)
    with pytest.raises(ValueError, match="read-only"):
        z[(0,) * z.ndim] = 99.0
    if layout in ("already broadcast", "marked by NumPy"):
        return
    x[1, 0, 2] = -7.0
    last = tuple(size - 1 for size in z.shape)
    assert z[last] == -7.0
    assert address(z, last) == address(x, (1, 0, 2))


@broadcasts(GROWING, SAME, EMPTY)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_are_left_as_they_were(broadcast: Broadcast, layout: str) -> None:
    for writeable in (True, False):
        x = LAYOUTS[layout](np.arange(6.0).reshape(2, 1, 3))
        if not writeable:
            x.flags.writeable = False
        before = (x.tobytes(), x.shape, x.strides, x.dtype, x.flags.num)
        broadcast.function(x)
        assert (x.tobytes(), x.shape, x.strides, x.dtype, x.flags.num) == before


@broadcasts(GROWING, SAME, EMPTY)
def test_view_keeps_the_memory_alive_and_no_longer_than_itself(broadcast: Broadcast) -> None:
    class Owner(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
        """Array that takes weak references and owns its memory."""

    for step in (1, -1):
        owner = Owner((2, 1, 3))
        gone = weakref.ref(owner)
        view = broadcast.function(plain(owner)[::step])
        del owner
        gc.collect()
        assert gone() is not None
        del view
        gc.collect()
        assert gone() is None


@broadcasts(GROWING, SAME, EMPTY)
def test_well_known_subclasses(broadcast: Broadcast) -> None:
    values = np.arange(6.0).reshape(2, 1, 3)
    masked = np.ma.MaskedArray(values, mask=values > 3)
    assert_view(broadcast.function(masked), plain(masked), broadcast.shape, broadcast.source)
    record = np.zeros((2, 1, 3), "i4,f4").view(np.recarray)
    assert_view(broadcast.function(record), plain(record), broadcast.shape, broadcast.source)


@broadcasts(GROWING)
def test_memory_that_is_not_numpys(broadcast: Broadcast) -> None:
    for buffer in (bytearray(range(24)), bytes(range(24))):
        for part in (memoryview(buffer)[:6], memoryview(buffer)[::-4]):
            x = np.asarray(part).reshape(2, 1, 3)
            assert_view(broadcast.function(x), x, broadcast.shape, broadcast.source)
