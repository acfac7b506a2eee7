"""Sizes that have names: for small shapes of symbols, what the programs say of every valuation.

Names are N, M and K, -1, -2 and -3. Valuations give them 0, 1, 2 or 3, of which 2 and 3 stand for
all sizes beyond. What is said is compared with the rules of NumPy and of SONNX for each instance.
In which order it is said, tests/extraction/test_symbolic.py asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import plain_rule
import pytest
from plain_rule import Shape

from whycast import _kernel

Valuation = dict[int, int]
Clause = tuple[int, int, int]

SIZES = (0, 1, 2, 3)
VALUATIONS: list[Valuation] = [
    dict(zip((-1, -2, -3), given, strict=True)) for given in product(SIZES, repeat=3)
]
AXIS: list[Shape] = [(), *((z,) for z in (-3, -2, -1, 0, 1, 2, 3))]
TWO_AXES: list[Shape] = [(), *((z,) for z in (-1, -2, 2)), *product((-2, -1, 0, 1, 2), repeat=2)]


def all_cases() -> Iterator[tuple[Shape, ...]]:
    """Give shapes of symbols: none, up to four of one axis, up to two of two, and a few more."""
    for n in range(5):
        yield from product(AXIS, repeat=n)
    yield from product(TWO_AXES, repeat=2)
    yield from product([(-1,), (2, -1), (-2, 1), (3, -2)], repeat=3)


def value(valuation: Valuation, symbol: int) -> int:
    """Give the size of a symbol."""
    return valuation[symbol] if symbol < 0 else symbol


def instances(valuation: Valuation, shapes: Sequence[Shape]) -> list[Shape]:
    """Give the shapes of numbers."""
    return [tuple(value(valuation, z) for z in s) for s in shapes]


def numpy_shape(shapes: Sequence[Shape]) -> Shape | None:
    """Give the shape by the rule of NumPy."""
    return None if plain_rule.first_mismatch(shapes) else plain_rule.agreed(shapes)


def holds(valuation: Valuation, clause: Clause) -> bool:
    """Say whether a clause holds."""
    a, b = (value(valuation, z) for z in clause[1:])
    return a == 1 or b == 1 or a == b


def first_numbers(shapes: Sequence[Shape]) -> Clause | None:
    """Give the first two numbers that differ and are both not 1: names are as if they were 1."""
    return plain_rule.first_mismatch([tuple(max(1, z) if z else 0 for z in s) for s in shapes])


@pytest.mark.parametrize("part", range(4))
def test_conditions(part: int) -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590]"""
    for shapes in list(all_cases())[part::4]:
        compatible = [numpy_shape(instances(v, shapes)) for v in VALUATIONS]
        zeros = _kernel.symbolic_zeros(shapes)
        if (wrong := first_numbers(shapes)) is not None:
            assert not any(d is not None for d in compatible), shapes
            for program in (_kernel.symbolic_sizes, _kernel.symbolic_conditions):
                with pytest.raises(_kernel.NeverAgree) as caught:
                    program(shapes)
                assert caught.value.value == wrong, shapes
            continue
        sizes, clauses = _kernel.symbolic_sizes(shapes), _kernel.symbolic_conditions(shapes)
        assert all(a < 0 and a != b and b != 1 for _, a, b in clauses), shapes
        assert len(sizes) == max(map(len, shapes), default=0), shapes
        # Every clause can break; so what has no clause always broadcasts, and else it depends.
        for clause in clauses:
            assert not all(holds(v, clause) for v in VALUATIONS), shapes
        for v, found in zip(VALUATIONS, compatible, strict=True):
            assert (found is not None) == all(holds(v, c) for c in clauses), (shapes, v)
            if found is None or not shapes:
                continue
            for size, symbols in zip(found, sizes, strict=True):
                others = {value(v, z) for z in symbols} - {1}
                assert others == {size} - {1}, (shapes, v)
                assert len(symbols) > 1 or value(v, *symbols or (1,)) == size, (shapes, v)
            e1 = plain_rule.e1(tuple(instances(v, shapes))) is not None
            meets = any({value(v, a), value(v, b)} == {0, 1} for _, a, b in zeros)
            assert e1 == meets, (shapes, v)
