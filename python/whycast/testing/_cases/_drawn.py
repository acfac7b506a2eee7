"""Random cases, each the same for its seed and number."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from whycast._rules import Rule
from whycast._types import Shape
from whycast.testing._cases._case import NAMES, OF_ARRAYS, Case, Level
from whycast.testing._cases._fixed import MOST_ELEMENTS, asked
from whycast.testing._cases._smaller import renamed
from whycast.testing._cases._values import LAYOUTS, dtypes_of


def random_case(rule: Rule, level: Level, seed: int, number: int) -> Case:
    draw = random.Random(f"{seed} {number} {rule.name} {level}")
    while True:
        case = _drawn(rule, level, draw)
        # At level index, refused cases and empty outputs leave no question.
        if questions := list(asked(rule, level, case)):
            return draw.choice(questions)


def _drawn(rule: Rule, level: Level, draw: random.Random) -> Case:
    one = rule.has_target(level)
    common = [draw.choice(_DRAWN_SIZES) for _ in range(draw.choice(_DRAWN_RANKS))]
    # A size of 0 may become 1 in a shape.
    while level in OF_ARRAYS and math.prod([size or 1 for size in common]) > MOST_ELEMENTS:
        common.remove(max(common))
    if rule.takes == "axes":
        case = _drawn_along_axes(rule, tuple(common), draw)
    else:
        count = 1 if one else draw.choice((1, 2, 2, 2, 3, 3, 4, 5, 7, 10))
        shapes = [_cut(common, draw) for _ in range(count)]
        if draw.random() < 0.25:
            m = draw.randrange(count)
            shapes[m] = _spoilt(shapes[m], draw)
        target = tuple(common)
        if rule.bidirectional and draw.random() < 0.5:
            target = _cut(common, draw)
        case = Case(tuple(shapes), target if one else None)
    if level in OF_ARRAYS:
        count = len(case.shapes)
        case = case._replace(
            dtypes=tuple([draw.choice(dtypes_of(rule, level)) for _ in range(count)]),
            layouts=tuple([draw.choice(LAYOUTS) for _ in range(count)]),
        )
    return renamed(_with_names(case, draw)) if level == "symbolic" else case


def _with_names(case: Case, draw: random.Random) -> Case:
    """Put names in the place of most sizes, one for all of a size or others."""
    names: dict[int, Any] = {size: draw.choice(NAMES) for size in _DRAWN_SIZES}

    def own(shape: Shape) -> Any:
        return tuple([draw.choice((size, names[size], names[size], *NAMES)) for size in shape])

    # Judging takes longer with each tensor, and each number.
    shapes = tuple([own(shape[-4:]) for shape in case.shapes[:4]])
    return case._replace(shapes=shapes, target=case.target and own(case.target[-4:]))


_DRAWN_RANKS = (0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 8)
_DRAWN_SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 65)


def _cut(common: Sequence[int], draw: random.Random) -> Shape:
    """Drop axes in front, and set sizes to 1."""
    kept = common[draw.randrange(len(common) + 1) :] if draw.random() < 0.4 else common
    return tuple([size if draw.random() < 0.6 else 1 for size in kept])


def _spoilt(shape: Shape, draw: random.Random) -> Shape:
    """Change a size, or add an axis."""
    if not shape or draw.random() < 0.1:
        return (draw.choice(_DRAWN_SIZES), *shape)
    axis = draw.randrange(len(shape))
    return (*shape[:axis], draw.choice(_DRAWN_SIZES), *shape[axis + 1 :])


def _drawn_along_axes(rule: Rule, target: Shape, draw: random.Random) -> Case:
    rank = len(target)
    axes = [axis for axis in range(rank) if draw.random() < 0.6]
    if rule.alignment == "distinct" and draw.random() < 0.5:
        draw.shuffle(axes)
    shape = tuple([1 if rule.grows and draw.random() < 0.4 else target[axis] for axis in axes])
    if draw.random() < 0.2:
        shape = _spoilt(shape, draw)
    axes = list(rule.axes_for(axes, rank))
    if axes and draw.random() < 0.1:
        axes[draw.randrange(len(axes))] = draw.randrange(-1, rank + 1)
    return Case((shape,), target, tuple(axes))
