"""The proved laws of blocks of bytes that are repeated, executed on all small numbers.

Every test names the theorem it executes.
"""

from __future__ import annotations

from itertools import product
from math import prod

from plain_rule import indices, source

from whycast import _kernel

NUMBERS = range(1, 5)


def origin(k: int, b: int, r: int) -> int:
    """Where the byte at `k` comes from if blocks of `b` bytes stand `r` times each."""
    return k // (r * b) * b + k % b


def test_one_axis_that_grows_is_blocks_that_are_repeated() -> None:
    """origin_copy_place and origin_range, c/repeated_bytes.mlw.

    [E_Broadcast_any_Derived_130]
    """
    for m, r, b in product(NUMBERS, repeat=3):
        small, large = (m, 1, b), (m, r, b)
        before = _kernel.row_major_strides(small)
        after = _kernel.row_major_strides(large)
        places = [_kernel.offset(i, after) for i in indices(large)]
        assert places == list(range(prod(large)))
        origins = [_kernel.offset(source(small, large, i), before) for i in indices(large)]
        assert origins == [origin(k, b, r) for k in places]
        assert set(origins) == set(range(m * b))


def test_rows_further_on_come_from_blocks_further_on() -> None:
    """origin_shift and origin_first_row, c/spread_bytes.mlw: with them the last half of the blocks
    is moved like the first blocks of a list of their own.

    [E_Broadcast_any_Derived_130]
    """
    for b, r in product(NUMBERS, repeat=2):
        assert [origin(k, b, r) for k in range(r * b)] == [k % b for k in range(r * b)]
        for k, d in product(range(-9, 50), range(-3, 4)):
            assert origin(d * r * b + k, b, r) == d * b + origin(k, b, r)


def test_copies_of_copies() -> None:
    """origin_twice, c/spread_bytes.mlw: so a pass may go by fours.

    [E_Broadcast_any_Derived_130]
    """
    for b, g, s in product(NUMBERS, repeat=3):
        for k in range(-9, 4 * b * g * s):
            assert origin(origin(k, g * b, s), b, g) == origin(k, b, g * s)
