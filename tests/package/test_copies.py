"""broadcast with copy=True uses new memory; with out= it uses the caller's memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from array_strategies import DTYPES, Array, DType, Subclass, array_lists, arrays_of_shape, plain
from bad_values import fails
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided
from plain_rule import Shape, maxima

import whycast


def assert_elements(z: Array, x: Array, common: Shape) -> None:
    """Compare with the view, which test_arrays.py tests."""
    expected = whycast.broadcast(x, np.zeros(common))[0]
    assert (z.shape, z.dtype.str) == (common, x.dtype.str)
    if x.dtype.kind in "TO":
        assert z.tolist() == expected.tolist()
    else:
        assert z.tobytes() == expected.tobytes()


@given(array_lists())
def test_copies_of_any_arrays(arrays: tuple[Array, ...]) -> None:
    """[E_Broadcast_any_Outputs_010] [E_Broadcast_any_Accuracy_010]"""
    plain_arrays = [plain(array) for array in arrays]
    common = maxima([x.shape for x in plain_arrays])
    copies = whycast.broadcast(*arrays, copy=True)
    for m, (z, x) in enumerate(zip(copies, plain_arrays, strict=True)):
        assert type(z) is np.ndarray
        assert all((z.flags.c_contiguous, z.flags.writeable, z.flags.owndata))
        assert_elements(z, x, common)
        assert not any(np.shares_memory(z, y) for y in (*plain_arrays, *copies[:m]))


@settings(max_examples=20)
@given(data=st.data())
@pytest.mark.parametrize("dtype", DTYPES, ids=repr)
def test_out_in_any_layout(dtype: DType, data: st.DataObject) -> None:
    """[E_Broadcast_any_Outputs_010] [E_Broadcast_any_Accuracy_010]"""
    x = data.draw(arrays_of_shape((3, 1, 2), dtype))
    y = np.arange(4.0).reshape(4, 1)
    order = data.draw(st.permutations(range(3)))
    steps = data.draw(st.tuples(*[st.sampled_from([1, -1, 2])] * 3))
    room = np.empty([(3, 4, 2)[axis] * 2 for axis in order], dtype)
    window = room.transpose(np.argsort(order))[tuple([slice(None, None, s) for s in steps])]
    target = window[:3, :4, :2]
    other = np.full((3, 4, 2), -1.0)
    given_out = (target.view(Subclass) if data.draw(st.booleans()) else target, other)
    results = whycast.broadcast(x, y, out=given_out)
    assert isinstance(results, tuple)
    assert all(z is o for z, o in zip(results, given_out, strict=True))
    assert_elements(target, x, (3, 4, 2))
    assert_elements(other, y, (3, 4, 2))


# With this looser type, the type checker accepts bad input.
broadcast: Callable[..., tuple[Array, ...]] = vars(whycast)["broadcast"]
X, Y = np.arange(3.0).reshape(3, 1), np.arange(4, dtype=np.int16)


def good() -> list[Array]:
    return [np.full((3, 4), -1.0), np.full((3, 4), -1, np.int16)]


NO_LIST = r"out: expected a tuple or a list of arrays, got "
NOT_WRITABLE = r"expected a writable array, each element in a place of its own$"
BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "count": (good()[:1], ValueError, "out: expected 2 arrays, one for each tensor, got 1$"),
    "one array": (np.zeros((2, 3, 4)), TypeError, rf"{NO_LIST}an array of shape \(2, 3, 4\)"),
    "generator": (iter(good()), TypeError, NO_LIST),
    "None": ([good()[0], None], TypeError, "out, array 1: expected a numpy.ndarray, got None"),
    "mask": (list(map(np.ma.asarray, good())), TypeError, "out, array 0: .*MaskedArray may mean"),
}
# An array for the second result, and the error.
BAD_SECOND: dict[str, tuple[Array, str]] = {
    "shape": (np.zeros((4, 3), np.int16), r"expected the shape \(3, 4\), got \(4, 3\)$"),
    "dtype": (np.zeros((3, 4)), "expected the dtype int16, got float64$"),
    "byte order": (np.zeros((3, 4), ">i2"), "expected the dtype int16, got >i2$"),
    "read-only": (np.frombuffer(bytes(24), np.int16).reshape(3, 4), NOT_WRITABLE),
    # For this array, reading the flag `writeable` warns.
    "marked": (np.broadcast_arrays(np.zeros(4, np.int16), np.zeros((3, 1)))[0], NOT_WRITABLE),
    "one place for a row": (as_strided(np.zeros(4, np.int16), (3, 4), (0, 2)), NOT_WRITABLE),
    "window": (as_strided(np.zeros(6, np.int16), (3, 4), (2, 2)), NOT_WRITABLE),
}


@pytest.mark.parametrize("name", [*BAD, *BAD_SECOND])
def test_bad_out_is_refused_before_anything_is_written(name: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    second, said = BAD_SECOND.get(name, (None, ""))
    given = ([good()[0], second], ValueError, f"out, array 1: {said}")
    out, error, message = BAD.get(name, given)
    fails(error, message, lambda: broadcast(X, Y, out=out))
    assert not isinstance(out, list) or (out[0] == -1).all()


def test_out_that_is_an_input_or_another_output() -> None:
    x, first = np.zeros((3, 4)), np.zeros((3, 4))
    for out, noun in (
        ([x, first], "tensor 0"),
        ([first[::-1], x[:, ::-1]], "tensor 0"),
        ([first, first.T.T], "array 0"),
    ):
        message = rf"out, array \d: expected memory of its own, got some of {noun}$"
        fails(ValueError, message, partial(broadcast, x, np.zeros(4), out=out))
    both = partial(broadcast, X, Y, copy=True, out=good())
    fails(ValueError, "out: expected none where copy is True", both)
    # Outputs may interleave.
    room = np.zeros((3, 8))
    z, w = broadcast(np.arange(4.0), X, out=(room[:, ::2], room[:, 1::2]))
    assert (z.tolist(), w.T.tolist()) == ([[0, 1, 2, 3]] * 3, [[0, 1, 2]] * 4)


def test_zero_sizes_and_rank_0() -> None:
    """[E_Broadcast_any_Restrictions_010]"""
    target = np.empty(())
    assert whycast.broadcast(np.float64(7), out=[target])[0] is target
    assert target == 7
    room = as_strided(np.zeros(0), (0, 5), (0, 0))
    assert whycast.broadcast(np.zeros((0, 1)), np.zeros((0, 5)), out=[room, np.zeros((0, 5))])
