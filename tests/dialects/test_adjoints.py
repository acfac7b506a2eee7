"""The adjoints of broadcasting: sums of repeated elements, in a new array."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from array_strategies import Array, Subclass, arrays_of_shape, elements
from axes_cases import numbered, outcome
from bad_values import fails
from hypothesis import given
from hypothesis import strategies as st
from plain_axes import Placed, axis_sets, explicit, ngraph, numpy_mode, sources
from plain_rule import Shape, all_shapes

import whycast
from whycast import openvino
from whycast.ngraph import broadcast_adjoint as of_ngraph

# With the type Any, tests can pass modes and axes by name.
adjoint: Any = openvino.broadcast_adjoint
sum_to_shape: Any = whycast.sum_to_shape
# An adjoint, the shape of its result, and the places of the result's axes in the argument.
Summed = tuple[Callable[[Array], Array], Shape, Placed | None]


def adjoints(target: Shape) -> Iterator[Summed]:
    """Yield right and wrong calls that sum a tensor of shape `target` to small shapes."""
    for shape in all_shapes(2, 3):
        placed = numpy_mode(shape, target)
        yield partial(sum_to_shape, shape=shape), shape, placed
        for mode in (None, "numpy", "bidirectional"):
            yield partial(adjoint, data_shape=shape, mode=mode), shape, placed
        for axes in product(range(len(target)), repeat=len(shape)):
            along = {"data_shape": shape, "axes_mapping": axes, "mode": "explicit"}
            yield partial(adjoint, **along), shape, explicit(shape, target, axes, increasing=True)
    for axes in axis_sets(len(target)):
        shape = tuple(size for axis, size in enumerate(target) if axis not in axes)
        yield partial(of_ngraph, broadcast_axes={*axes}), shape, ngraph(shape, target, axes)


@pytest.mark.parametrize("rank", range(4))
def test_every_small_case(rank: int) -> None:
    """[E_OpenvinoBroadcast_ring_Derived_010] [E_NgraphBroadcast_ring_Adjoint_010]
    [E_NgraphBroadcast_ring_Derived_010]
    """
    accepted = refused = 0
    for target in product(range(4), repeat=rank):
        x = numbered(target).astype("i8")
        delta = np.where(x % 3 == 1, -x, x * x)
        for function, shape, placed in adjoints(target):
            sums = outcome(function, delta)
            if placed is None:
                assert isinstance(sums, ValueError)
                refused += 1
                continue
            assert not isinstance(sums, ValueError)
            expected = dict.fromkeys(np.ndindex(shape), 0)
            for index, source in sources(shape, placed).items():
                expected[source] += delta[index].item()
            assert (sums.shape, sums.dtype) == (shape, delta.dtype)
            assert dict(np.ndenumerate(sums)) == expected
            accepted += 1
    assert (accepted > 4, refused > 50) == (True, True)


@pytest.mark.parametrize("name", ["sum_to_shape", "ngraph"])
@given(data=st.data())
def test_any_layout_and_type(name: str, data: st.DataObject) -> None:
    """[E_NgraphBroadcast_ring_Derived_030]"""
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=6)))
    codes = ["i1", ">u2", "<i4", ">i8", "u8", "f2", ">f4", "f8", "g", "F", ">c16", "G"]
    delta = data.draw(arrays_of_shape(shape, np.dtype(data.draw(st.sampled_from(codes)))))
    function: Any = sum_to_shape
    other: Any
    if name == "ngraph":
        axes = tuple(axis for axis in range(len(shape)) if data.draw(st.booleans()))
        wanted = tuple(size for axis, size in enumerate(shape) if axis not in axes)
        function, other = of_ngraph, {*axes}
    else:
        dropped = data.draw(st.integers(0, len(shape)))
        wanted = tuple(data.draw(st.sampled_from([1, size])) for size in shape[dropped:])
        grown = [dropped + k for k, size in enumerate(wanted) if size != shape[dropped + k]]
        axes, other = (*range(dropped), *grown), wanted
    with np.errstate(all="ignore"):
        sums = function(delta.view(Subclass) if data.draw(st.booleans()) else delta, other)
        # NumPy's sums have the byte order of the machine.
        expected = np.asarray(np.sum(delta, axis=axes, dtype=delta.dtype.type)).astype(delta.dtype)
    assert (type(sums), sums.shape, sums.dtype.str) == (np.ndarray, wanted, delta.dtype.str)
    assert (sums.flags.c_contiguous, sums.flags.writeable) == (True, True)
    assert not np.may_share_memory(sums, delta)
    # Do not compare the unused bytes of long doubles.
    long = sums.dtype.char in "gG"
    assert long or sums.tobytes() == expected.tobytes()
    assert not long or np.array_equal(sums.ravel(), expected.ravel(), equal_nan=True)


# NumPy mistakes the second type for one of its own.
FOREIGN = (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.int4)


@pytest.mark.parametrize(
    "code", ["?", "O", "U3", "S3", "M8[s]", "m8[s]", "V4", "i4,f4", "T", *FOREIGN]
)
def test_what_has_no_sum(code: Any) -> None:
    delta = np.zeros(6, code) if np.dtype(code).kind not in "OTb" else elements(6, np.dtype(code))
    message = rf"delta: dtype {re.escape(str(delta.dtype))} has no sum here: expected one of int8"
    for function, other in ((adjoint, ()), (sum_to_shape, ()), (of_ngraph, {0})):
        fails(TypeError, message, function, delta, other)
