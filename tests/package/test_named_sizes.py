"""Sizes that have names: answers for small shapes, compared with the rules for all small sizes.

Names get the sizes 0 to 4; 3 and 4 represent all sizes above 2. tests/extraction/test_symbolic.py
tests the order of answers.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal, cast

import numpy as np
import plain_axes
import plain_rule
import pytest

from whycast import _kernel, symbolic
from whycast._types import Shape

Named = tuple[int | str, ...]
Sizes = Mapping[str, int]

NAMES = ("N", "M", "K")
EVERY: list[Sizes] = [dict(zip(NAMES, given, strict=True)) for given in product(range(5), repeat=3)]
# Facts about names, and a function that tests them for sizes.
FACTS: list[tuple[dict[str, Any], Any]] = [
    ({}, lambda v: True),
    ({"N": ">= 2"}, lambda v: v["N"] >= 2),
    ({"N": "> 1", "M": "\u2265 1"}, lambda v: v["N"] > 1 <= v["M"]),
    ({"N": ">= 2", "M": ">= 3"}, lambda v: v["N"] >= 2 and v["M"] >= 3),
    ({"N": "= M", "M": ">= 2"}, lambda v: v["N"] == v["M"] >= 2),
    ({"M": "=N", "N": 3}, lambda v: v["N"] == v["M"] == 3),
    ({"N": "= M", "M": "= N", "K": "= 0"}, lambda v: v["N"] == v["M"] and v["K"] == 0),
]
AXIS: list[Named] = [(), *((z,) for z in (*NAMES, 0, 1, 2, 3))]
TWO_SIZES: tuple[int | str, ...] = ("N", "M", 0, 1, 2)
TWO_AXES: list[Named] = [(), ("N",), ("M",), (2,), *product(TWO_SIZES, repeat=2)]


def all_cases() -> Iterator[tuple[Named, ...]]:
    """Yield up to three shapes up to rank 1, pairs of shapes up to rank 2, and a few more lists."""
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
    placed = plain_axes.numpy_mode(*shapes)
    return placed and placed.shape


RULES = {"sonnx": sonnx_shape, "numpy": numpy_shape, "target": to_target}


def ask(rule: str, shapes: Sequence[Named], known: Mapping[str, int | str]) -> symbolic.Answer:
    if rule == "target":
        shape, target = shapes
        return symbolic.broadcast_to(shape, target, known)
    own: Literal["sonnx", "numpy"] = "sonnx" if rule == "sonnx" else "numpy"
    return symbolic.broadcast_shapes(*shapes, rule=own, known=known)


@pytest.mark.parametrize("fact", range(len(FACTS)))
@pytest.mark.parametrize("rule", RULES)
def test_answers(rule: str, fact: int) -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590] [E_Broadcast_any_Derived_670]"""
    known, is_known = FACTS[fact]
    fitting = [v for v in EVERY if is_known(v)]
    for shapes in all_cases():
        if rule == "target" and len(shapes) != 2:
            continue
        used = {z for s in shapes for z in s if isinstance(z, str)}
        # Sizes of other names do not matter: once is enough.
        every = [*{tuple(v[z] for z in used): v for v in fitting}.values()]
        wanted = [RULES[rule](instances(v, shapes)) for v in every]
        if not any(d is not None for d in wanted):
            with pytest.raises(symbolic.NeverError, match=r"never broadcast|no axis|not broadcast"):
                ask(rule, shapes, known)
            continue
        found = ask(rule, shapes, known)
        asked = (*found.condition, *(found.zeros if rule == "sonnx" else ()))
        if len(found.shape) < 3:
            # No part of a condition is superfluous, that is, true for all sizes.
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


def shapes_of(*shapes: Any, **more: Any) -> symbolic.Answer:
    return symbolic.broadcast_shapes(*shapes, **more)


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: shapes_of(), ValueError, "at least one shape, got none"),
    (lambda: shapes_of(("N",), rule="torch"), ValueError, "rule: expected 'sonnx' or 'numpy'"),
    (lambda: shapes_of("N,4"), TypeError, r"shapes\[0\]: expected a sequence of sizes and names"),
    (lambda: shapes_of((1,), 4), TypeError, r"shapes\[1\]: expected a sequence"),
    (lambda: shapes_of((1, 2.0)), TypeError, r"shapes\[0\]\[1\]: expected an integer, a"),
    (lambda: shapes_of((True,)), TypeError, r"shapes\[0\]\[0\]: expected an integer, a name"),
    (lambda: shapes_of((-2,)), ValueError, "at least -1, got -2"),
    (lambda: symbolic.expand((1,), (-2,)), ValueError, r"target\[0\]: expected a size of at least"),
    *(
        (
            lambda said=said: shapes_of(("N",), known={"N": said}),
            ValueError,
            r"\]: expected such as",
        )
        for said in ("2 or 3", "= -1", "== 2.0", ">= M", "=")
    ),
    (lambda: shapes_of(("N",), known={3: "= N"}), TypeError, "known: expected names, got 3"),
    (lambda: shapes_of(("N",), known={"N": 2.0}), TypeError, r"known\['N'\]: expected an integer"),
    (lambda: shapes_of(("N",), known={"N": -1}), ValueError, "at least 0, got -1"),
    (
        lambda: shapes_of(("N",), known={"N": "= M", "M": ">= 3", "K": "= N"}).substitute(N=2),
        ValueError,
        "M is known to be at least 3, and 2",
    ),
    (lambda: shapes_of(("N",), known={"N": 2}).holds(N=3), ValueError, "N is known to be 2, and 3"),
    (lambda: shapes_of(("N", "M")).holds(N=3), ValueError, "got none for 'M'"),
    (lambda: shapes_of(("N",)).substitute(K=3), ValueError, "no name 'K', expected one of N"),
    (lambda: shapes_of(("N",)).holds({"N": cast("int", "M")}), ValueError, "got none for 'N'"),
    (lambda: shapes_of(("N",), (3,)).condition.holds({}), ValueError, "got none for 'N'"),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG)
def test_wrong_arguments(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_unknown_sizes_and_objects() -> None:
    one = shapes_of((None, "?0"), (np.int64(-1), 4), rule="numpy")
    assert str(one) == "(?1|?2, 4) if (?1 = 1 or ?2 = 1 or ?1 = ?2) and (?0 = 1 or ?0 = 4)"
    assert one.substitute({"?1": 3, "?2": 3, "?0": 1}).shape == (3, 4)
    assert pickle.loads(pickle.dumps(one)) == one == shapes_of((-1, "?0"), (None, 4), rule="numpy")
    assert len({one, one.substitute({"?0": 4}), shapes_of((None, "?0"), (-1, 4))}) == 3
    with pytest.raises(symbolic.NeverError) as caught:
        symbolic.broadcast_to(("N", 4), ("M",))
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value)
    assert (error.size, error.target) == ("N", None)


def test_conditions_made_by_hand() -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590]"""
    assert symbolic.Clause((("N", 1), ("N", "M"))).names == ("N", "M")
    shown = {(0, 1): "0 meets 1", (0, "M"): "M is not 1", ("N", "M"): "N is not 0 where M is 1"}
    for (zero, one), text in cast("dict[tuple[Any, Any], str]", shown).items():
        made = symbolic.Zeros(zero, one)
        assert (str(made), made.names) == (text, tuple(x for x in "NM" if x in (zero, one)))


def test_a_name_without_a_least_size_is_at_least_0() -> None:
    """[E_Broadcast_any_Derived_670]"""
    for name, least in [(-1, 2), (-2, 0)]:
        assert _kernel.can_be_one((2,), name) == (least <= 1)
        for number in range(4):
            assert _kernel.can_be_equal((2,), name, number) == (least <= number)
