"""Sizes that have names: for small shapes, what the answers say of all sizes of the names.

Names get 0 to 4, of which the last two stand for all sizes beyond. What is said is compared with
the rules of NumPy and of SONNX for each instance. In which order the programs say it,
tests/extraction/test_symbolic.py asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal

import plain_rule
import pytest

from whycast import symbolic
from whycast._types import Shape

Named = tuple[int | str, ...]
Sizes = Mapping[str, int]

NAMES = ("N", "M", "K")
EVERY: list[Sizes] = [dict(zip(NAMES, given, strict=True)) for given in product(range(5), repeat=3)]
# What is known, and for which sizes it holds.
FACTS: list[tuple[dict[str, Any], Any]] = [
    ({}, lambda v: True),
    ({"N": ">= 2"}, lambda v: v["N"] >= 2),
    ({"N": "> 1", "M": "≥ 1"}, lambda v: v["N"] > 1 <= v["M"]),
    ({"N": ">= 2", "M": ">= 3"}, lambda v: v["N"] >= 2 and v["M"] >= 3),
    ({"N": "= M", "M": ">= 2"}, lambda v: v["N"] == v["M"] >= 2),
    ({"M": "=N", "N": 3}, lambda v: v["N"] == v["M"] == 3),
    ({"N": "= M", "M": "= N", "K": "= 0"}, lambda v: v["N"] == v["M"] and v["K"] == 0),
]
AXIS: list[Named] = [(), *((z,) for z in (*NAMES, 0, 1, 2, 3))]
TWO_AXES: list[Named] = [(), ("N",), ("M",), (2,), *product(("N", "M", 0, 1, 2), repeat=2)]


def all_cases() -> Iterator[tuple[Named, ...]]:
    """Give shapes of names: up to three of one axis, up to two of two, and a few more."""
    for n in range(1, 4):
        yield from product(AXIS, repeat=n)
    yield from product(TWO_AXES, repeat=2)
    yield from product([("N",), (2, "N"), ("M", 1), (3, "M")], repeat=3)
    yield from product([("N", "M", "K"), ("M", 1, 2), (1, "K", "N"), (3, 3, 2)], repeat=2)


def instances(sizes: Sizes, shapes: Sequence[Named]) -> tuple[Shape, ...]:
    return tuple(tuple(z if isinstance(z, int) else sizes[z] for z in s) for s in shapes)


def numpy_shape(shapes: Sequence[Shape]) -> Shape | None:
    return None if plain_rule.first_mismatch(shapes) else plain_rule.agreed(shapes)


def sonnx_shape(shapes: tuple[Shape, ...]) -> Shape | None:
    return None if plain_rule.e1(shapes) is not None else plain_rule.agreed(shapes)


def to_target(shapes: Sequence[Shape]) -> Shape | None:
    shape, target = shapes
    own = (1,) * (len(target) - len(shape)) + shape
    fits = len(own) == len(target) and all(a in (1, b) for a, b in zip(own, target, strict=True))
    return target if fits else None


RULES = {"sonnx": sonnx_shape, "numpy": numpy_shape, "target": to_target}


def ask(rule: str, shapes: Sequence[Named], known: Mapping[str, int | str]) -> symbolic.Answer:
    if rule == "target":
        return symbolic.broadcast_to(*shapes, known)
    own: Literal["sonnx", "numpy"] = "sonnx" if rule == "sonnx" else "numpy"
    return symbolic.broadcast_shapes(*shapes, rule=own, known=known)


@pytest.mark.parametrize("fact", range(len(FACTS)))
@pytest.mark.parametrize("rule", RULES)
def test_answers(rule: str, fact: int) -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590] [E_Broadcast_any_Derived_670]"""
    known, is_known = FACTS[fact]
    every = [v for v in EVERY if is_known(v)]
    for shapes in all_cases():
        if rule == "target" and len(shapes) != 2:
            continue
        used = {z for s in shapes for z in s if isinstance(z, str)}
        wanted = [RULES[rule](instances(v, shapes)) for v in every]
        if not any(d is not None for d in wanted):
            with pytest.raises(symbolic.NeverError, match=r"never broadcast|no axis|not broadcast"):
                ask(rule, shapes, known)
            continue
        found = ask(rule, shapes, known)
        asked = (*found.condition, *(found.zeros if rule == "sonnx" else ()))
        if len(found.shape) < 3:
            # No part says nothing.
            assert not any(all(each.holds(v) for v in every) for each in asked), (shapes, asked)
        for v, shape in zip(every, wanted, strict=True):
            own = {name: size for name, size in v.items() if name in used}
            assert found.holds(own) == (shape is not None), (shapes, v, str(found))
            if shape is None:
                continue
            sizes = [
                max(set(instances(v, [z.sizes])[0]) - {1}, default=1)
                if isinstance(z, symbolic.OneOf)
                else instances(v, [(z,)])[0][0]
                for z in found.shape
            ]
            assert tuple(sizes) == shape, (shapes, v, str(found))
            if len(shapes) == 2:
                assert found.substitute(own).shape == shape
