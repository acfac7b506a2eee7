"""The proved bounds of products, strides and offsets, executed on the extracted programs.

Every test names the theorem it executes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, product
from math import prod
from operator import mul

from hypothesis import given
from hypothesis import strategies as st
from plain_rule import Shape, all_shapes, fits, indices, source
from shape_strategies import chains

from whycast import _kernel

SHAPES = all_shapes(3, 3)
PAIRS = [(s, d) for s, d in product(SHAPES, repeat=2) if len(s) <= len(d) and fits(s, d) is None]
STRIDES = st.integers(-9, 9)


def products(shape: Shape) -> list[int]:
    """All products of first sizes and of last sizes."""
    return [*accumulate(shape, mul, initial=1), *accumulate(reversed(shape), mul, initial=1)]


def sums(index: Shape, strides: Shape) -> list[int]:
    """What an offset is on the way, the first sum being 0."""
    return [*accumulate(map(mul, index, strides), initial=0)]


def reach(shape: Shape, strides: Shape) -> int:
    return sum((size - 1) * abs(stride) for size, stride in zip(shape, strides, strict=True))


def test_no_product_of_sizes_is_larger_than_that_of_all() -> None:
    """sizes_within, sizes_within_without_zeros, memory/sizes.mlw; zero_sizes_larger,
    memory/examples.mlw.

    [E_Broadcast_any_Derived_250]
    """
    for shape in SHAPES:
        bound = prod(max(1, size) for size in shape)
        strides = _kernel.row_major_strides(shape)
        assert max(products(shape)) <= bound
        assert max(strides, default=1) <= bound
        if 0 in shape:
            # They are larger here, so the theorem for all other shapes cannot include these.
            assert max(strides) > prod(shape)
        else:
            assert bound == prod(shape)
    assert _kernel.row_major_strides((0, 3)) == (3, 1)


def offsets(shape: Shape, strides: Shape) -> Iterator[int]:
    return (_kernel.offset(i, strides) for i in indices(shape))


def test_a_view_stays_within_its_tensor() -> None:
    """row_major_reach, row_major_view_within, memory/bytes.mlw, and view_offset_of_tensor,
    memory/bounds.mlw: for all shapes of rank 3 with sizes 0 to 3, and what they broadcast to.

    [E_Broadcast_any_Derived_250]
    """
    width = 8
    for s, d in PAIRS:
        if 0 in d:
            continue
        strides = tuple(width * stride for stride in _kernel.row_major_strides(s))
        view = _kernel.broadcast_strides(s, strides, d)
        last = width * prod(s) - width
        assert reach(s, strides) == reach(d, view) == last
        assert max(offsets(s, strides)) == last
        assert set(offsets(d, view)) == set(offsets(s, strides))
        assert all(0 <= stride <= width * prod(s) for stride in view)
        assert all(0 <= some <= last for i in indices(d) for some in sums(i, view))


@given(chains(2, max_rank=4), st.data())
def test_any_strides(shapes: tuple[Shape, ...], data: st.DataObject) -> None:
    """view_reach, view_offsets_within, offset_sums_within, offset_products_within,
    memory/bounds.mlw: negative strides, overlapping elements, sizes of 0.

    [E_Broadcast_any_Derived_250]
    """
    s, d = shapes
    strides = tuple(data.draw(STRIDES) for _ in s)
    view = _kernel.broadcast_strides(s, strides, d)
    bound = reach(s, strides)
    assert reach(d, view) == bound
    for i in indices(d):
        assert all(abs(some) <= bound for some in sums(i, view))
        assert all(abs(k * stride) <= bound for k, stride in zip(i, view, strict=True))
        assert _kernel.offset(i, view) == _kernel.offset(source(s, d, i), strides)
