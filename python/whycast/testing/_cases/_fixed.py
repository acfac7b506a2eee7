"""The fixed cases, by stage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations, product, zip_longest
from typing import Any

from whycast._rules import Rule
from whycast._types import Shape
from whycast.testing._cases._case import NAMES, OF_ARRAYS, STAGES, Case, Level, Stage
from whycast.testing._cases._smaller import renamed
from whycast.testing._cases._values import LAYOUTS, SHARED, dtypes_of

# 2 beside 4 reveals code that repeats a divisor; 2 beside 3, code that repeats the last element.
_SIZES = (0, 1, 2, 4)
_SIZES_OF_TRIPLES = (0, 1, 2, 3)
_SIZES_AND_NAMES: tuple[Any, ...] = (*_SIZES, *NAMES)
# np.broadcast takes at most 32 axes; a NumPy array has at most 64.
_HIGH_RANKS = (*range(4, 11), 16, 32, 33, 64)
_HIGHER_RANKS = (65, 100)
_LONG_SIZES = (63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 65537)
# Near the bounds of C's integers; if code drops the upper half, some of these become 0 or 1.
_HUGE_SIZES = (2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**53 + 1, 2**62)
# Larger arrays take too long. The few in _LARGE show faults of implementations that start threads.
MOST_ELEMENTS = 4096
_LARGE: tuple[tuple[Shape, Shape], ...] = (((1,), (2**20 + 1,)), ((1024, 1), (1024, 1024)))


def fixed(rule: Rule, level: Level) -> Iterator[tuple[Stage, Case]]:
    one = rule.has_target(level)
    if level == "symbolic":
        yield from (("small", case) for case in _small_with_names(one=one))
        return
    stages: list[tuple[Stage, Iterable[Case]]] = [
        ("small", sorted(_small(rule, one=one), key=lambda case: case.weight)),
        ("many", [] if one else _many()),
        ("ranks", _ranks(rule, one=one, arrays=level in OF_ARRAYS)),
        ("sizes", _sizes(rule, one=one, arrays=level in OF_ARRAYS)),
    ]
    if level in OF_ARRAYS:
        stages += [("dtypes", _dtypes(rule, level)), ("layouts", _layouts(rule, level))]
    for stage, found in stages:
        for case in found:
            for question in asked(rule, level, case):
                yield stage, question


@lru_cache(8)
def in_turn(rule: Rule, level: Level, every: int) -> tuple[tuple[Stage, Case], ...]:
    """Return every Nth fixed case in the order of a check: one of each stage, in turn.

    The first cases of a stage are spread over it, so even a short check asks cases of all kinds.
    """
    found: dict[Stage, list[Case]] = {stage: [] for stage in STAGES}
    for number, (stage, case) in enumerate(fixed(rule, level)):
        if number % every == 0:
            found[stage].append(case)
    turns = zip_longest(*[[(stage, case) for case in _spread(found[stage])] for stage in STAGES])
    return tuple([each for turn in turns for each in turn if each is not None])


def _spread(cases: Sequence[Case]) -> list[Case]:
    """Reorder cases so that the first ones are spread evenly: step by the golden section."""
    count = len(cases)
    step = round(count * 0.618) or 1
    while math.gcd(step, count) > 1:
        step += 1
    return [cases[number * step % count] for number in range(count)]


def is_small(rule: Rule, case: Case) -> bool:
    shapes = (rule.shape(case) or (), *case.every_shape)
    return max(map(math.prod, shapes)) <= MOST_ELEMENTS


def shapes_up_to(rank: int, sizes: Sequence[int]) -> list[Shape]:
    return [shape for each in range(rank + 1) for shape in product(sizes, repeat=each)]


def asked(rule: Rule, level: Level, case: Case) -> Iterator[Case]:
    """Add the level's question: strides, or a few indices of an accepted case's output."""
    if level == "strides":
        (shape,) = case.shapes
        # Strides of 4-byte elements with a gap; every second axis is reversed.
        strides: list[int] = []
        step = 4
        for axis in reversed(range(len(shape))):
            strides.insert(0, -step if axis % 2 else step)
            step *= max(1, shape[axis]) + 1
        yield case._replace(strides=tuple(strides))
    elif level == "index":
        output = rule.shape(case)
        if output is not None and 0 not in output:
            last = tuple([size - 1 for size in output])
            middle = tuple([size * (axis + 1) // 7 % size for axis, size in enumerate(output)])
            for index in sorted({(0,) * len(output), middle, last}):
                yield case._replace(multi_index=index)
    else:
        yield case


def _small(rule: Rule, *, one: bool) -> Iterator[Case]:
    pairs = product(shapes_up_to(3, _SIZES), repeat=2)
    if rule.takes == "axes":
        yield from _small_along_axes(rule)
    elif one:
        for shape, target in pairs:
            yield Case((shape,), target)
    else:
        yield from map(Case, pairs)
        yield from map(Case, product(shapes_up_to(1, _SIZES_OF_TRIPLES), repeat=3))


def _small_with_names(*, one: bool) -> list[Case]:
    """Return cases of small shapes of numbers and names; no two differ only in their names."""
    found = [
        Case(shapes[:1], shapes[1]) if one else Case(shapes)
        for shapes in product(shapes_up_to(2, _SIZES_AND_NAMES), repeat=2)
    ]
    if not one:
        found += map(Case, product(shapes_up_to(1, _SIZES_AND_NAMES), repeat=3))
    return sorted({case for case in found if renamed(case) == case}, key=lambda case: case.weight)


def _small_along_axes(rule: Rule) -> Iterator[Case]:
    shapes = shapes_up_to(3, _SIZES)
    for shape, target in product(shapes, repeat=2):
        rank = len(target)
        count = rank - len(shape) if rule.alignment == "missing" else len(shape)
        if rank < 3 and len(shape) < 3:
            ways = set(product(range(rank), repeat=max(0, count)))
            # Few sizes suffice for wrong, missing and surplus axes. Sizes of 2 reveal code that
            # treats a scalar as a tensor of size 1.
            if (set(shape) | set(target)) in (set(), {1}, {2}):
                for near in range(max(0, count - 1), count + 2):
                    ways.update(product(range(-1, rank + 1), repeat=near))
        else:
            ways = set(combinations(range(rank), max(0, count)))
            if target in ((1, 2, 4), (2, 4, 1), (2, 2, 4), (0, 1, 2)):
                ways.update(permutations(range(rank), max(0, count)))
        for axes in sorted(ways):
            yield Case((shape,), target, axes)


def _many() -> Iterator[Case]:
    for count in (*range(3, 13), 40):
        for m in range(count) if count < 11 else (0, 10, count - 1):
            for others, odd in (
                *(((), (2,)), ((1,), (4,)), ((3,), (1,)), ((2,), ())),
                *(((2,), (4,)), ((3, 1), (1, 3)), ((1,), (0,)), ((0,), (1,)), ((0,), ())),
            ):
                shapes = [others] * count
                shapes[m] = odd
                yield Case(tuple(shapes))
        cycle: list[Shape] = [(2, 1, 1), (3, 1), (4,), (), (1, 1), (2, 3, 1), (1, 3, 4)]
        yield Case(tuple([cycle[m % len(cycle)] for m in range(count)]))
        if 2**count <= MOST_ELEMENTS:
            yield Case(tuple([(2, *(1,) * m) for m in range(count)]))


def _ranks(rule: Rule, *, one: bool, arrays: bool) -> Iterator[Case]:
    for rank in (*_HIGH_RANKS, *(() if arrays else _HIGHER_RANKS)):
        chosen = sorted({0, rank - 1} | ({1, rank // 2, rank - 2} if rank <= 32 else set()))
        for i, j in product(chosen, repeat=2):
            wide = list((1,) * rank)
            wide[i], wide[j] = 2, 3
            narrow = tuple([2 if axis == i else 1 for axis in range(rank)])
            if rule.takes == "axes":
                places = sorted({i, j})
                shape = tuple([wide[axis] for axis in places])
                yield Case((shape,), tuple(wide), rule.axes_for(places, rank))
                yield Case((narrow,), tuple(wide), tuple(range(rank)))
                continue
            for shape in (narrow, narrow[1:], narrow[i:], (1,) * rank, ()):
                yield Case((shape,), tuple(wide)) if one else Case((shape, tuple(wide)))
            if not one:
                other = tuple([3 if axis == j else 1 for axis in range(rank)])
                yield Case((narrow, other))
                yield Case((other[1:], narrow, ()))


def _sizes(rule: Rule, *, one: bool, arrays: bool) -> Iterator[Case]:
    for size in (*_LONG_SIZES, *(() if arrays else _HUGE_SIZES)):
        pairs: list[tuple[Shape, Shape]] = [
            *(((size,), (1,)), ((1,), (size,)), ((), (size,)), ((size,), ()), ((size,), (size,))),
            *(((size,), (size - 1,)), ((size,), (0,)), ((1, size), (1, 1)), ((size, 1), (1, 1))),
            *(((1, 1), (1, size)), ((1, 1), (size, 1)), ((size,), (2,)), ((2, 1), (size,))),
        ]
        if size <= MOST_ELEMENTS:
            pairs += [((size,), (2 * size,)), ((3, 1), (3, size)), ((size, 1), (size, 3))]
        for shape, other in pairs:
            both = zip_longest(reversed(shape), reversed(other), fillvalue=1)
            if math.prod(max(1, *sizes) for sizes in both) < 2**63:
                yield _of_pair(rule, shape, other, one=one)
    if arrays:
        for shape, other in _LARGE:
            yield _of_pair(rule, shape, other, one=one)


def _of_pair(rule: Rule, shape: Shape, other: Shape, *, one: bool) -> Case:
    if rule.takes != "axes":
        return Case((shape,), other) if one else Case((shape, other))
    kept = range(max(0, len(other) - len(shape)), len(other))
    return Case((shape,), other, rule.axes_for(kept, len(other)))


_DTYPES_OF_LAYOUTS = ("int32", "uint8", "float64", "str")

_TENSORS = (
    *(((), ()), ((1,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (2, 1)), ((), (2, 2))),
    ((3, 1), (1, 4), (2, 1, 1)),
)
_TARGETS = (
    *(((), ()), ((1,), (3,)), ((3,), (2, 3)), ((2, 1, 3), (2, 2, 3)), ((), (2, 2))),
    ((3, 1), (2, 3, 4)),
)


def _accepted(rule: Rule, level: Level) -> Iterator[Case]:
    one = rule.has_target(level)
    if not one:
        yield from map(Case, _TENSORS)
    for shape, target in _TARGETS:
        if one and rule.takes != "axes":
            yield Case((shape,), target)
        if rule.takes == "axes":
            kept = range(len(target) - len(shape), len(target))
            own = shape if rule.grows else target[kept.start :]
            yield Case((own,), target, rule.axes_for(kept, len(target)))
    if rule.takes == "axes":
        yield Case(((2, 3),), (2, 3, 4), rule.axes_for((0, 1), 3))
    if rule.alignment == "distinct":
        yield Case(((2, 3),), (3, 2), (1, 0))


def _dtypes(rule: Rule, level: Level) -> Iterator[Case]:
    for case in _accepted(rule, level):
        count = len(case.shapes)
        for number, dtype in enumerate(dtypes := dtypes_of(rule, level)):
            yield case._replace(dtypes=(dtype,) * count)
            if count > 1 and level == "data":
                other = dtypes[(number + 5) % len(dtypes)]
                yield case._replace(dtypes=(dtype, *(other,) * (count - 1)))


def _layouts(rule: Rule, level: Level) -> Iterator[Case]:
    for case in _accepted(rule, level):
        count = len(case.shapes)
        some = [dtype for dtype in _DTYPES_OF_LAYOUTS if dtype in dtypes_of(rule, level)]
        for layout, dtype in product(LAYOUTS[1:], some):
            dtypes = (dtype,) * count
            for m in range(count):
                layouts = tuple([layout if k == m else "C" for k in range(count)])
                yield case._replace(dtypes=dtypes, layouts=layouts)
            if count > 1:
                yield case._replace(dtypes=dtypes, layouts=(layout,) * count)
    if not rule.has_target(level):
        for layout, shape in product(SHARED, ((), (3,), (2, 1, 3))):
            yield Case((shape, shape), layouts=("C", layout))
            yield Case((shape, shape, (2, 1)), layouts=("C", layout, "C"))
