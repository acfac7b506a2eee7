"""Random cases, from a seed or from Hypothesis; a refused case is a changed accepted case."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

from whycast._rules import Rule
from whycast._types import Shape
from whycast.testing._cases._case import NAMES, OF_ARRAYS, Case, Level
from whycast.testing._cases._fixed import asked, is_small
from whycast.testing._cases._smaller import renamed
from whycast.testing._cases._values import LAYOUTS, dtypes_of

_T = TypeVar("_T")

# Most sizes exceed the least by at most _SPREAD, so equal and different sizes are frequent.
_SPREAD = 4


class Draw(Protocol):
    def randint(self, low: int, high: int, /) -> int: ...

    def choice(self, values: Sequence[_T], /) -> _T: ...

    def sizes(self, bounds: Bounds, /) -> list[int]: ...

    def subset(self, values: Sequence[int], least: int, /) -> list[int]:
        """Choose `least` values or more, in any order."""


class _Seeded(random.Random):
    def sizes(self, bounds: Bounds) -> list[int]:
        ways = (bounds.near, bounds.near, range(bounds.min_side, bounds.max_side + 1))
        rank = self.randint(bounds.min_dims, bounds.max_dims)
        return [self.choice(each) for each in self.choices(ways, k=rank)]

    def subset(self, values: Sequence[int], least: int) -> list[int]:
        return self.sample(values, self.randint(least, len(values)))


def random_case(rule: Rule, level: Level, seed: int, number: int) -> Case:
    draw = _Seeded(f"{seed} {number} {rule.name} {level}")
    while True:
        # Only about one case in four may have sizes of 0: they hide other faults.
        highest = 4 if level == "symbolic" else 8
        bounds = Bounds(draw.randint(0, 3), highest, draw.choice((0, 1, 1, 1)), 65)
        drawing = Drawing(rule, bounds, 1, draw.choice((2, 3, 10)), rule.has_target(level), draw)
        case = drawing.refused() if draw.random() < 0.3 else drawing.accepted()
        if level in OF_ARRAYS and not is_small(rule, case):
            continue
        if level == "symbolic":
            case = renamed(_with_names(case, draw))
        # At level index, refused cases and cases with an empty output have no question.
        if questions := list(asked(rule, level, case)):
            return with_arrays(rule, level, draw.choice(questions), draw)


def with_arrays(rule: Rule, level: Level, case: Case, draw: Draw) -> Case:
    if level not in OF_ARRAYS:
        return case
    dtypes = tuple([draw.choice(dtypes_of(rule, level)) for _ in case.shapes])
    return case._replace(dtypes=dtypes, layouts=tuple([draw.choice(LAYOUTS) for _ in dtypes]))


def _with_names(case: Case, draw: Draw) -> Case:
    """Replace most sizes by names; equal sizes often get the same name."""
    sizes = sorted({size for shape in case.every_shape for size in shape})
    names: dict[int, Any] = {size: draw.choice(NAMES) for size in sizes}

    def own(shape: Shape) -> Any:
        return tuple([draw.choice((size, names[size], names[size], *NAMES)) for size in shape])

    # More tensors take longer to judge.
    shapes = tuple([own(shape) for shape in case.shapes[:4]])
    return case._replace(shapes=shapes, target=case.target and own(case.target))


class Bounds(NamedTuple):
    min_dims: int
    max_dims: int
    min_side: int
    max_side: int

    @property
    def near(self) -> range:
        return range(self.min_side, min(self.max_side, self.min_side + _SPREAD) + 1)

    @property
    def has_one(self) -> bool:
        return self.min_side <= 1 <= self.max_side


@dataclass(frozen=True)
class Drawing:
    """A source of cases; with `one`, each case has one tensor and a target."""

    rule: Rule
    bounds: Bounds
    min_shapes: int
    max_shapes: int
    one: bool
    draw: Draw

    @property
    def several(self) -> bool:
        return self.rule.takes == "tensors" and not self.one

    def can_refuse(self) -> bool:
        if self.rule.takes == "axes":
            return True
        if self.several and self.max_shapes < 2:
            return False
        return self.bounds.max_dims > 0 and bool(self._misfits)

    @property
    def _misfits(self) -> dict[int, list[int]]:
        return _misfits(self.rule, self.several, self.bounds.near)

    def accepted(self, least: int = 0) -> Case:
        """Draw an accepted case, with at least `least` shapes if the rule takes several."""
        common = tuple(self.draw.sizes(self.bounds))
        if self.several:
            count = self.draw.randint(max(least, self.min_shapes), self.max_shapes)
            return Case(tuple([self._shrunk(common) for _ in range(count)]))
        if self.rule.takes == "axes":
            return self._along_axes(common)
        shape = self._shrunk(common)
        return Case((shape,), self._shrunk(common) if self.rule.bidirectional else common)

    def refused(self) -> Case:
        """Change an accepted case 1 to 3 times; if the rule still accepts it, add a misfit."""
        case = self.accepted(2)
        for _ in range(self.draw.randint(1, 3)):
            case = self._changed(case)
        if self.rule.shape(case) is None:
            return case
        if case.axes is not None:
            return case._replace(axes=(*case.axes, len(case.target or ())))
        return self._parted(case)

    def _shrunk(self, common: Shape) -> Shape:
        """Draw a shape that broadcasts to `common`: drop leading axes, set some sizes to 1."""
        lowest = self.bounds.min_dims
        if self._zeros_stay and 0 in common:
            lowest = max(lowest, len(common) - common.index(0))
        rank = self.draw.randint(lowest, len(common))
        return self._with_ones(common[len(common) - rank :])

    @property
    def _zeros_stay(self) -> bool:
        """Whether a size of 1 must not meet a size of 0, as in SONNX's rule."""
        return not self.rule.zero_meets_one and self.several

    def _with_ones(self, sizes: Sequence[int]) -> Shape:
        if not self.bounds.has_one or not self.rule.grows:
            return tuple(sizes)
        # Draw the bits of all axes at once: at high ranks, one draw for each axis is too many.
        kept = self.draw.randint(0, 2 ** len(sizes) - 1)
        stays = [kept >> i & 1 or (size == 0 and self._zeros_stay) for i, size in enumerate(sizes)]
        return tuple([size if kept else 1 for size, kept in zip(sizes, stays, strict=True)])

    def _along_axes(self, target: Shape) -> Case:
        axes = self.draw.subset(range(len(target)), self.bounds.min_dims)
        if self.rule.alignment != "distinct":
            axes.sort()
        shape = self._with_ones([target[axis] for axis in axes])
        return Case((shape,), target, self.rule.axes_for(axes, len(target)))

    def _changed(self, case: Case) -> Case:
        if case.axes and self.draw.randint(0, 1):
            return case._replace(axes=self._other_axes(case.axes, len(case.target or ())))
        shapes = list(case.every_shape)
        is_long = case.target and len(case.target) > self.bounds.min_dims
        if case.target and is_long and self.draw.randint(0, 1):
            return case._replace(target=case.target[1:])
        places = [(m, i) for m, shape in enumerate(shapes) for i in range(len(shape))]
        if places:
            m, i = self.draw.choice(places)
            (size,) = self.draw.sizes(self.bounds._replace(min_dims=1, max_dims=1))
            shapes[m] = (*shapes[m][:i], size, *shapes[m][i + 1 :])
        return _with_shapes(case, shapes)

    def _other_axes(self, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
        j = self.draw.randint(0, len(axes) - 1)
        before, after = axes[:j], axes[j + 1 :]
        other = self.draw.choice([rank, -1, axes[0], axes[-1]])
        ways = [(*before, *after), (*axes, other), (*before, other, *after), axes[::-1]]
        return self.draw.choice(ways)

    def _parted(self, case: Case) -> Case:
        """Set an axis of two shapes, or of shape and target, to sizes that the rule refuses."""
        shapes = list(case.every_shape)
        first, second = sorted(self.draw.subset(range(len(shapes)), 2)[:2])
        size = self.draw.choice(list(self._misfits))
        other = self.draw.choice(self._misfits[size])
        back = self.draw.randint(1, self.bounds.max_dims)
        for m, own in ((first, size), (second, other)):
            filler = 1 if self.bounds.has_one else self.bounds.min_side
            longer = [filler] * (back - len(shapes[m])) + list(shapes[m])
            longer[-back] = own
            shapes[m] = tuple(longer)
        return _with_shapes(case, shapes)


@lru_cache(64)
def _misfits(rule: Rule, several: bool, sizes: range) -> dict[int, list[int]]:
    """Map each size to the sizes that the rule refuses beside it, if there are any."""
    like, found = Case(((),), None if several else ()), {}
    for size in sizes:
        cases = {other: _with_shapes(like, [(size,), (other,)]) for other in sizes}
        if misfits := [other for other, case in cases.items() if rule.shape(case) is None]:
            found[size] = misfits
    return found


def _with_shapes(case: Case, shapes: Sequence[Shape]) -> Case:
    if case.target is None:
        return case._replace(shapes=tuple(shapes))
    return case._replace(shapes=tuple(shapes[:-1]), target=shapes[-1])
