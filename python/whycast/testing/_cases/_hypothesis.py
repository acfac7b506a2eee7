"""How `strategies` draws: accepted shapes are built, refused ones are made from these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st

from whycast._rules import Rule
from whycast._types import Shape
from whycast.testing._cases._case import Case

# Sizes are drawn close together, so that they often meet, and often miss, each other.
_SPREAD = 4


class Bounds(NamedTuple):
    """Least and greatest rank and size, both included."""

    min_dims: int
    max_dims: int
    min_side: int
    max_side: int

    @property
    def near(self) -> range:
        return range(self.min_side, min(self.max_side, self.min_side + _SPREAD) + 1)

    @property
    def sides(self) -> st.SearchStrategy[int]:
        """Sizes; the least are more frequent."""
        near = st.integers(self.min_side, self.near[-1])
        if self.max_side == self.near[-1]:
            return near
        return st.one_of(near, near, st.integers(self.min_side, self.max_side))

    @property
    def lists(self) -> st.SearchStrategy[list[int]]:
        return st.lists(self.sides, min_size=self.min_dims, max_size=self.max_dims)

    @property
    def has_one(self) -> bool:
        return self.min_side <= 1 <= self.max_side


@dataclass(frozen=True)
class Question:
    """Cases of a rule; with `one`, of one tensor and a target."""

    rule: Rule
    bounds: Bounds
    min_shapes: int = 2
    max_shapes: int = 2
    one: bool = False

    @property
    def several(self) -> bool:
        return self.rule.takes == "tensors" and not self.one

    def can_refuse(self) -> bool:
        if self.rule.takes == "axes":
            return True
        if self.several and self.max_shapes < 2:
            return False
        return self.bounds.max_dims > 0 and any(map(self.misfits, self.bounds.near))

    def misfits(self, size: int) -> list[int]:
        """Return the sizes that are refused beside a size, of another shape or of the target."""
        found = []
        for other in self.bounds.near:
            beside = Case(((size,), (other,))) if self.several else Case(((size,),), (other,))
            if self.rule.shape(beside) is None:
                found.append(other)
        return found

    def drawn(self, compatible: bool | None) -> st.SearchStrategy[Case]:
        """Draw accepted cases, refused ones, or with None both."""
        if compatible not in (None, True, False):
            raise TypeError(f"compatible: expected a bool or None, got {compatible!r}")
        if not self.can_refuse():
            if compatible is False:
                raise ValueError(
                    f"compatible: rule {self.rule.name!r} refuses nothing within these bounds"
                )
            compatible = True
        verdicts = st.sampled_from([True, True, False] if compatible is None else [compatible])

        @st.composite
        def asked(draw: st.DrawFn) -> Case:
            drawing = Drawing(**vars(self), draw=draw)
            return drawing.accepted() if draw(verdicts) else drawing.refused()

        return asked()


@dataclass(frozen=True)
class Drawing(Question):
    draw: st.DrawFn = field(kw_only=True)

    def accepted(self, least: int = 0) -> Case:
        """Draw an accepted case; of at least `least` shapes, where the rule takes several."""
        common = self.draw(self.bounds.lists)
        if self.several:
            least = max(least, self.min_shapes)
            count = self.draw(st.integers(least, self.max_shapes))
            return Case(tuple([self.shrunk(common) for _ in range(count)]))
        if self.rule.takes == "axes":
            return self._along_axes(common)
        shape = self.shrunk(common)
        target = self.shrunk(common) if self.rule.bidirectional else tuple(common)
        return Case((shape,), target)

    def refused(self) -> Case:
        """Draw an accepted case, and change one or a few things so that it is refused."""
        case = self.accepted(2)
        for _ in range(self.draw(st.integers(1, 3))):
            case = self._changed(case)
        if self.rule.shape(case) is None:
            return case
        if case.axes is not None:
            return case._replace(axes=(*case.axes, len(case.target or ())))
        return self._parted(case)

    def shrunk(self, common: Sequence[int]) -> Shape:
        """Draw a shape that broadcasts to `common`: without some first axes, some sizes 1."""
        lowest = self.bounds.min_dims
        if self._zeros_stay and 0 in common:
            lowest = max(lowest, len(common) - common.index(0))
        rank = self.draw(st.integers(lowest, len(common)))
        return self._with_ones(common[len(common) - rank :])

    @property
    def _zeros_stay(self) -> bool:
        """Whether no size grows to 0, as in SONNX."""
        return not self.rule.zero_meets_one and self.several

    def _with_ones(self, sizes: Sequence[int]) -> Shape:
        if not self.bounds.has_one or not self.rule.grows:
            return tuple(sizes)
        # One bit per axis: one draw for each would be some thousand.
        kept = self.draw(st.integers(0, 2 ** len(sizes) - 1))
        stays = [kept >> i & 1 or (size == 0 and self._zeros_stay) for i, size in enumerate(sizes)]
        return tuple([size if kept else 1 for size, kept in zip(sizes, stays, strict=True)])

    def _along_axes(self, target: Sequence[int]) -> Case:
        ranks = range(len(target))
        chosen = st.sets(st.sampled_from(ranks), min_size=self.bounds.min_dims)
        axes = sorted(self.draw(chosen)) if ranks else []
        if self.rule.alignment == "distinct":
            axes = list(self.draw(st.permutations(axes)))
        shape = self._with_ones([target[axis] for axis in axes])
        return Case((shape,), tuple(target), self.rule.axes_for(axes, len(target)))

    def _changed(self, case: Case) -> Case:
        if case.axes and self.draw(st.booleans()):
            return case._replace(axes=self._other_axes(case.axes, len(case.target or ())))
        shapes = list(case.every_shape)
        is_long = case.target and len(case.target) > self.bounds.min_dims
        if case.target and is_long and self.draw(st.booleans()):
            return case._replace(target=case.target[1:])
        places = [(m, i) for m, shape in enumerate(shapes) for i in range(len(shape))]
        if places:
            m, i = self.draw(st.sampled_from(places))
            shapes[m] = (*shapes[m][:i], self.draw(self.bounds.sides), *shapes[m][i + 1 :])
        return _with_shapes(case, shapes)

    def _other_axes(self, axes: tuple[int, ...], rank: int) -> tuple[int, ...]:
        j = self.draw(st.integers(0, len(axes) - 1))
        before, after = axes[:j], axes[j + 1 :]
        other = self.draw(st.sampled_from([rank, -1, axes[0], axes[-1]]))
        ways = [(*before, *after), (*axes, other), (*before, other, *after), axes[::-1]]
        return self.draw(st.sampled_from(ways))

    def _parted(self, case: Case) -> Case:
        """Put sizes that are refused together on one axis of two shapes, or shape and target."""
        shapes = list(case.every_shape)
        pairs = st.sets(st.sampled_from(range(len(shapes))), min_size=2, max_size=2)
        first, second = sorted(self.draw(pairs))
        size = self.draw(self.bounds.sides.filter(lambda size: bool(self.misfits(size))))
        other = self.draw(st.sampled_from(self.misfits(size)))
        back = self.draw(st.integers(1, self.bounds.max_dims))
        for m, own in ((first, size), (second, other)):
            filler = 1 if self.bounds.has_one else self.bounds.min_side
            longer = [filler] * (back - len(shapes[m])) + list(shapes[m])
            longer[-back] = own
            shapes[m] = tuple(longer)
        return _with_shapes(case, shapes)


def _with_shapes(case: Case, shapes: Sequence[Shape]) -> Case:
    if case.target is None:
        return case._replace(shapes=tuple(shapes))
    return case._replace(shapes=tuple(shapes[:-1]), target=shapes[-1])


def bounds_of(min_dims: int, max_dims: int, min_side: int, max_side: int) -> Bounds:
    check_range("dims", min_dims, max_dims)
    check_range("side", min_side, max_side)
    return Bounds(min_dims, max_dims, min_side, max_side)


def check_range(name: str, low: int, high: int, least: int = 0) -> None:
    for end, value in (("min", low), ("max", high)):
        if type(value) is not int:
            raise TypeError(f"{end}_{name}: expected an int, got {value!r}")
    if low < least:
        raise ValueError(f"min_{name}: expected at least {least}, got {low}")
    if high < low:
        raise ValueError(f"max_{name}: expected at least min_{name}, which is {low}, got {high}")
