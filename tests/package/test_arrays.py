"""broadcast on arrays: every type, every layout, element by element and address by address."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from array_strategies import (
    DTYPES,
    Array,
    DType,
    Subclass,
    array_lists,
    arrays_of_shape,
    elements,
    plain,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from plain_rule import Shape, maxima, source
from view_checks import assert_view

import whycast
from whycast._arrays import _iterated_view


def assert_broadcast(z: Array, x: Array, common: Shape) -> None:
    """Demand a view whose every element is the one that step 1 and step 2 lead to."""
    assert_view(z, x, common, lambda index: source(x.shape, common, index))


@given(array_lists())
def test_any_arrays(arrays: tuple[Array, ...]) -> None:
    """[E_Broadcast_any_Signature_010] [E_Broadcast_any_Purpose_020] [E_Broadcast_any_Purpose_030]
    [E_Broadcast_any_Condition1_030] [E_Broadcast_any_Outputs_010] [E_Broadcast_any_Derived_110]
    """
    plain_arrays = [plain(array) for array in arrays]
    common = maxima([x.shape for x in plain_arrays])
    views = whycast.broadcast(*arrays)
    assert isinstance(views, tuple)
    assert len(views) == len(arrays)
    for z, x in zip(views, plain_arrays, strict=True):
        assert_broadcast(z, x, common)


@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
@settings(max_examples=100)
@given(data=st.data())
def test_every_type_in_any_layout(dtype: DType, data: st.DataObject) -> None:
    """[E_Broadcast_any_Types_010] [E_Broadcast_any_Derived_160]"""
    x = data.draw(arrays_of_shape((3, 1, 2), dtype))
    z, _ = whycast.broadcast(x, np.zeros((2, 1, 4, 1)))
    assert_broadcast(z, x, (2, 3, 4, 2))


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "C order": lambda a: a,
    "Fortran order": lambda a: a.copy(order="F"),
    "transposed": lambda a: a.transpose(0, 2, 1).copy().transpose(0, 2, 1),
    "reversed": lambda a: a[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "every second": lambda a: np.stack([a, a], axis=3).reshape(2, 1, 12)[:, :, ::2],
    "middle part": lambda a: np.pad(a, 1, mode="edge")[1:-1, 1:-1, 1:-1],
    "already broadcast": lambda a: np.broadcast_to(a[:, :, :1], a.shape),
    "owner in a permuted order": lambda a: a.transpose(1, 2, 0).copy().transpose(2, 0, 1)[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
def test_every_type_in_each_named_layout(dtype: DType, layout: str) -> None:
    """[E_Broadcast_any_Types_010] [E_Broadcast_any_Derived_160]"""
    x = LAYOUTS[layout](elements(12, dtype).reshape(2, 1, 6))
    z, y = whycast.broadcast(x, np.zeros((3, 1), np.int8))
    assert_broadcast(z, x, (2, 3, 6))
    assert y.shape == (2, 3, 6)


@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
def test_same_shape_gives_views_all_the_same(dtype: DType) -> None:
    """[E_Broadcast_any_Derived_040] [E_Broadcast_any_Derived_160]"""
    x = elements(6, dtype).reshape(2, 3)
    for z in (*whycast.broadcast(x), *whycast.broadcast(x, x)):
        assert_broadcast(z, x, (2, 3))


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("order", "<>")
def test_nan_payloads_and_signed_zeros_survive(width: int, order: str) -> None:
    """[E_Broadcast_any_Accuracy_010]"""
    x = elements(2**11, np.dtype(f"{order}f{width}"))
    patterns = x.view(f"{order}u{width}").tolist()
    assert {0, 2 ** (8 * width - 1)} <= set(patterns)
    assert len({pattern for pattern, nan in zip(patterns, np.isnan(x), strict=True) if nan}) > 1
    z, _ = whycast.broadcast(x, np.zeros((3, 1)))
    for row in z:
        assert row.tobytes() == x.tobytes()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_one_element_fills_everything(shape: Shape) -> None:
    """[E_Broadcast_any_Condition2_020]"""
    x = np.full(shape, 7.5)
    z, _ = whycast.broadcast(x, np.zeros((4, 1, 5, 2)))
    assert_broadcast(z, x, (4, 1, 5, 2))


@pytest.mark.parametrize(
    "shapes",
    [((0,), (0,)), ((0,), (3, 0)[1:]), ((2, 0), (2, 0)), ((1, 0), (5, 0)), ((0, 4), (0, 1))],
)
def test_zero_sizes(shapes: tuple[Shape, ...]) -> None:
    """[E_Broadcast_any_Restrictions_010]"""
    arrays = [np.zeros(shape) for shape in shapes]
    for z, x in zip(whycast.broadcast(*arrays), arrays, strict=True):
        assert_broadcast(z, x, maxima(shapes))


def test_up_to_the_highest_rank_of_numpy() -> None:
    """NumPy's own broadcast ends at rank 32, its arrays at 64.

    [E_Broadcast_any_Restrictions_010]
    """
    x = np.arange(6.0).reshape(2, 1, 3)
    for array in (x, x[::-1], x.astype("T"), x.astype("T")[::-1], x.astype(str).astype(object)):
        z, _ = whycast.broadcast(array, np.zeros((1,) * 61 + (1, 2, 1)))
        assert_broadcast(z, array, (1,) * 61 + (2, 2, 3))


@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
def test_owner_that_is_contiguous_in_an_order_of_its_own(dtype: DType) -> None:
    owner = elements(24, dtype).reshape(2, 3, 4).transpose(1, 0, 2).copy(order="K")
    assert not owner.flags.forc
    assert owner.base is None
    for x in (owner, owner[::-1, :, ::2]):
        z, _ = whycast.broadcast(x, np.zeros((2, 1, 1, 1)))
        assert_broadcast(z, x, (2, *x.shape))


def test_unaligned_memory() -> None:
    raw = np.arange(33, dtype=np.uint8)
    x = raw[1:].view(np.float64)
    assert not x.flags.aligned
    z, _ = whycast.broadcast(x, np.zeros((2, 1)))
    assert_broadcast(z, x, (2, 4))


def test_memory_that_is_not_numpys() -> None:
    """No array owns the memory, and it is not contiguous."""
    x = np.asarray(memoryview(bytes(range(24)))[::3])
    assert not isinstance(x.base, np.ndarray)
    z, _ = whycast.broadcast(x, np.zeros((2, 1)))
    assert_broadcast(z, x, (2, 8))


@pytest.mark.parametrize("dtype", [np.dtype(float), np.dtypes.StringDType()], ids=repr)
@pytest.mark.parametrize("step", [1, -1, 2])
def test_subclass_comes_back_as_plain_array(dtype: DType, step: int) -> None:
    x = elements(4, dtype)[::step]
    for others in ((), (np.zeros((2, 1)),)):
        z = whycast.broadcast(x.view(Subclass), *others)[0]
        assert_broadcast(z, x, (2, len(x)) if others else x.shape)


def test_well_known_subclasses() -> None:
    masked = np.ma.MaskedArray([1.0, 2.0], mask=[True, False])
    matrix = np.asarray([[1.0, 2.0]]).view(np.matrix)
    for x in (masked, matrix):
        z, _ = whycast.broadcast(x, np.zeros((3, 1)))
        assert_broadcast(z, plain(x), (3, 2))


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
def test_view_keeps_the_memory_alive(dtype: DType, step: int) -> None:
    """[E_Broadcast_any_Derived_160]"""
    x = elements(500, dtype)[::step]
    expected = x.tolist()
    z, _ = whycast.broadcast(x, np.zeros((2, 1)))
    del x
    gc.collect()
    refill = [elements(500, dtype)[::-1].copy() for _ in range(20)]
    assert repr(z[1].tolist()) == repr(expected)
    assert len(refill) == 20


def test_memory_is_freed_with_the_last_view() -> None:
    class Owner(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
        """Array that takes weak references and owns its memory."""

    owner = Owner((5,))
    x = np.asarray(owner)
    gone = weakref.ref(owner)
    views = [*whycast.broadcast(x, np.zeros((2, 1))), *whycast.broadcast(x[::2], np.zeros((2, 1)))]
    del owner, x
    gc.collect()
    assert gone() is not None
    del views
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writes_to_the_input_show_and_writes_to_the_view_fail(layout: str) -> None:
    """[E_Broadcast_any_Derived_160]"""
    x = LAYOUTS[layout](np.arange(12.0).reshape(2, 1, 6))
    for z, _ in (whycast.broadcast(x, np.zeros((3, 1))), whycast.broadcast(x, np.zeros(x.shape))):
        with pytest.raises(ValueError, match="read-only"):
            z[0, 0, 0] = 99.0
        if x.flags.writeable:
            x[1, 0, 4] = -1.0 - z.size
            assert z[1, -1, 4] == x[1, 0, 4]


@pytest.mark.parametrize("writeable", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_are_left_as_they_were(layout: str, writeable: bool) -> None:
    """[E_Broadcast_any_Derived_160]"""
    x = LAYOUTS[layout](np.arange(12.0).reshape(2, 1, 6))
    if not writeable:
        x.flags.writeable = False
    y = np.zeros((3, 1))
    before = [(a.tobytes(), a.shape, a.strides, a.dtype, str(a.flags)) for a in (x, y)]
    whycast.broadcast(x, y)
    whycast.broadcast(x, x)
    assert [(a.tobytes(), a.shape, a.strides, a.dtype, str(a.flags)) for a in (x, y)] == before


def test_views_broadcast_again_to_themselves() -> None:
    x, y = np.arange(3.0).reshape(3, 1), np.arange(4)
    once = whycast.broadcast(x, y)
    for z, again in zip(once, whycast.broadcast(*once), strict=True):
        assert_broadcast(again, z, (3, 4))


def test_types_may_differ() -> None:
    """[E_Broadcast_any_Inputs_020]"""
    arrays = [elements(1, dtype) for dtype in DTYPES]
    for z, x in zip(whycast.broadcast(*arrays, np.zeros(3)), arrays, strict=False):
        assert_broadcast(z, x, (3,))


def test_object_array_repeated_without_end() -> None:
    """Only the elements in memory are looked at: a stride of 0 may repeat them 10**15 times."""
    x = np.broadcast_to(np.array([["a"], ["b"]], object), (2, 10**15))
    (z,) = whycast.broadcast(x)
    assert (z.shape, z[1, 10**14]) == ((2, 10**15), "b")


def test_object_array_that_overlaps_itself() -> None:
    """10**10 elements in 2 * 10**5 places: each place is looked at once."""
    size = 10**5
    places = np.array([str(k) for k in range(2 * size)], object)
    windows = as_strided(places, (size, size), (8, 8))
    upside_down = as_strided(places[::-1], (size, size), (-8, -8))
    for x in (windows, upside_down, windows[::2, ::-3], as_strided(places, (9, 4, 3), (8, 0, 24))):
        (z,) = whycast.broadcast(x)
        assert (z.shape, z.strides) == (x.shape, x.strides)
    # What lies between the places that are reached may be anything.
    places[1::2] = None
    even = as_strided(places, (size // 2, size // 2), (16, 16))
    (z,) = whycast.broadcast(even)
    assert z.shape == even.shape
    places[6] = 6
    for array in (even, even[::-1, ::-1]):
        with pytest.raises(TypeError, match=r"every element is a str, got 6 \(int\); "):
            whycast.broadcast(array)


def test_a_view_that_is_not_the_proved_one_is_refused() -> None:
    """NumPy's iterator makes views of what is not contiguous: it is not taken at its word."""
    x = np.arange(12)[::2]
    assert _iterated_view(x, (4, 6), (0, 16), None).strides == (0, 16)
    for shape, strides in (((4, 6), (0, 8)), ((4, 6), (16, 16)), ((1, 6), (0, -16))):
        with pytest.raises(AssertionError, match="NumPy's view has strides"):
            _iterated_view(x, shape, strides, None)
    # No element is read by the strides of an axis of size 1, or of an array without elements.
    assert _iterated_view(x, (1, 6), (7, 16), None).shape == (1, 6)
    assert _iterated_view(x[:0][::2], (3, 0), (5, 5), None).shape == (3, 0)


def test_many_arrays() -> None:
    """[E_Broadcast_any_Inputs_010] [E_Broadcast_any_Outputs_010]"""
    shapes: list[Shape] = [(3, 1), (1, 4), (4,), ()] * 500
    arrays = [np.full(shape, m) for m, shape in enumerate(shapes)]
    for m, z in enumerate(whycast.broadcast(*arrays)):
        assert z.shape == (3, 4)
        assert (z == m).all()


def test_shape_that_no_array_can_have() -> None:
    x, y = (np.broadcast_to(np.zeros(1), shape) for shape in [(2**40, 1), (2**40,)])
    with pytest.raises(ValueError, match=r"no array of shape \(1099511627776, 1099511627776\)"):
        whycast.broadcast(x, y)


def test_error_counts_as_for_shapes() -> None:
    """[E_Broadcast_any_E1_020]"""
    for shapes in itertools.permutations([(2, 3), (4, 1), (3,)]):
        with pytest.raises(whycast.BroadcastError) as for_arrays:
            whycast.broadcast(*[np.zeros(shape) for shape in shapes])
        with pytest.raises(whycast.BroadcastError) as for_shapes:
            whycast.broadcast_shapes(*shapes)
        assert vars(for_arrays.value) == vars(for_shapes.value)
