"""whycast.numpy_rule on arrays, compared with NumPy's functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from array_strategies import DTYPES, OTHER_DTYPES, Array, array_lists, plain, read_only
from hypothesis import given
from view_checks import address

import whycast
from whycast import numpy_rule

broadcast_arrays: Any = numpy_rule.broadcast_arrays
broadcast_to: Any = numpy_rule.broadcast_to
np_broadcast_arrays: Any = np.broadcast_arrays
np_broadcast_to: Any = np.broadcast_to

ALL_DTYPES = (*DTYPES, *OTHER_DTYPES)


def reaction(array: Any) -> tuple[object, ...]:
    """Return an array's flags, and its warnings at a write."""
    content = np.array(array)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            readonly = memoryview(array).readonly
        except (BufferError, NotImplementedError, ValueError):
            readonly = None
        writeable = array.flags.writeable
        try:
            array[...] = content
            written = True
        except ValueError:
            written = False
    return (writeable, written, readonly, *(warning.category for warning in caught))


def assert_same_array(ours: Array, theirs: Array) -> None:
    """Demand equal arrays, except for unused strides."""
    both = [(type(each), each.shape, each.dtype, each.dtype.str) for each in (ours, theirs)]
    assert both[0] == both[1]
    for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "ALIGNED"):
        assert ours.flags[flag] == theirs.flags[flag], flag
    if ours.dtype.kind in "TV":
        # Do not compare bytes: long strings are stored elsewhere, and structures may have gaps.
        assert repr(ours.tolist()) == repr(theirs.tolist())
    else:
        # The bytes of objects are their addresses.
        assert ours.ravel().tobytes() == theirs.ravel().tobytes()
    if ours.size:
        assert address(ours, (0,) * ours.ndim) == address(theirs, (0,) * theirs.ndim)
        for size, stride, expected in zip(ours.shape, ours.strides, theirs.strides, strict=True):
            assert size < 2 or stride == expected


@given(array_lists(dtypes=ALL_DTYPES, zero_meets_one=True))
def test_broadcast_arrays(arrays: tuple[Array, ...]) -> None:
    """[E_NumpyBroadcast_any_Functions_030] [E_Broadcast_any_Derived_160]"""
    for given_ones in (tuple(map(plain, arrays)), arrays):
        ours, theirs = broadcast_arrays(*given_ones), np_broadcast_arrays(*given_ones)
        assert type(ours) is type(theirs)
        for z, expected, x in zip(ours, theirs, given_ones, strict=True):
            assert_same_array(z, expected)
            if given_ones is not arrays:
                assert (z is x) == (expected is x)
                assert z.base is expected.base
                assert reaction(z) == reaction(expected)


@given(array_lists(dtypes=ALL_DTYPES, zero_meets_one=True))
def test_broadcast_to(arrays: tuple[Array, ...]) -> None:
    """[E_NumpyBroadcast_any_Functions_020] [E_Broadcast_any_Derived_160]"""
    target = np.broadcast_shapes(*(x.shape for x in arrays))
    for x in map(plain, arrays):
        ours, theirs = broadcast_to(x, target), np_broadcast_to(x, target)
        assert ours is not x
        assert ours.base is theirs.base
        assert_same_array(ours, theirs)
        assert reaction(ours) == reaction(theirs)


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "already broadcast": lambda a: np_broadcast_to(a[:, :, :1], a.shape),
    "read-only": lambda a: read_only(a.copy()),
    "read-only part": lambda a: read_only(np.repeat(a, 2, axis=0))[::-2],
    "marked": lambda a: np_broadcast_arrays(a, np.zeros((2, 1, 6)))[0],
    "marked and contiguous": lambda a: np_broadcast_arrays(a[0, 0], np.zeros((1, 1, 6)))[0],
    "marked part": lambda a: np_broadcast_arrays(a[:, :, :1], np.zeros(6))[0][::-1],
}


@pytest.mark.parametrize("function", [whycast.broadcast, broadcast_arrays])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_warning_before_a_write(layout: str, function: Any) -> None:
    """A call neither warns nor clears NumPy's mark on its argument."""
    x = LAYOUTS[layout](np.arange(12.0).reshape(2, 1, 6))
    twin = LAYOUTS[layout](np.arange(12.0).reshape(2, 1, 6))
    function(x, np.zeros((3, 1)))
    function(x, x)
    broadcast_to(x, (4, *np.broadcast_shapes(x.shape, (3, 1))))
    assert reaction(x) == reaction(twin)


ARRAY_LIKES: list[Any] = [7, 2.5, True, "text", [1, 2, 3], (4,), [[1], [2]], range(3), None, []]


@pytest.mark.parametrize("value", ARRAY_LIKES, ids=repr)
def test_array_likes(value: Any) -> None:
    shape = (2, *np.shape(value)) if np.shape(value) else (2,)
    ours = (*broadcast_arrays(value, np.zeros(shape)), broadcast_to(value, shape))
    theirs = (*np_broadcast_arrays(value, np.zeros(shape)), np_broadcast_to(value, shape))
    for z, expected in zip(ours, theirs, strict=True):
        assert (z.dtype, z.shape, z.tolist()) == (expected.dtype, expected.shape, expected.tolist())
        assert reaction(z) == reaction(expected)


class Labelled(np.ndarray[tuple[int, ...], np.dtype[np.generic]]):
    """A subclass whose views inherit `label`."""

    label = "none"
    finalized = 0

    def __array_finalize__(self, source: object) -> None:
        self.label = getattr(source, "label", "none")
        self.finalized += 1


LABELLED = np.arange(1.0, 4.0).reshape(3, 1).view(Labelled)
LABELLED.label = "x"
PLAIN = [np.ones((3, 1)).view(kind) for kind in (np.matrix, np.recarray)]
SUBCLASSES = [LABELLED, *(x for array in PLAIN for x in (array, array[::-1], array[:2]))]


@pytest.mark.parametrize("x", SUBCLASSES, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("subok", [False, True])
def test_subclass(x: Array, subok: bool) -> None:
    if isinstance(x, Labelled) and not subok:
        with pytest.raises(TypeError, match=r"^array: .*; \w+ may mean more than its elements"):
            broadcast_to(x, (3, 4))
        return
    target = (len(x), 4)
    ours = (*broadcast_arrays(x, np.zeros(4), subok=subok), broadcast_to(x, target, subok=subok))
    theirs = np_broadcast_arrays(x, np.zeros(4), subok=subok)
    for z, expected in zip(ours, (*theirs, np_broadcast_to(x, target, subok=subok)), strict=True):
        assert type(z) is type(expected)
        assert np.asarray(z).tobytes() == np.asarray(expected).tobytes()
        for name in ("label", "finalized"):
            assert getattr(z, name, None) == getattr(expected, name, None)
    # For a single array, the result is this array or, for a subclass without subok, a view.
    assert (broadcast_arrays(x, subok=subok)[0] is x) == (subok or type(x) is np.ndarray)
    assert type(ours[2]) is (type(x) if subok else np.ndarray)
