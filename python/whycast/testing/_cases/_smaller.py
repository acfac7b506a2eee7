"""Cases smaller than a given one, to find a small example of a deviation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from whycast._types import Shape
from whycast.testing._cases._case import NAMES, Case, names_in, replaced, weight_of

_T = TypeVar("_T")


def smaller(case: Case) -> list[Case]:
    count = len(case.shapes)
    fewer = [[k for k in range(count) if k != m] for m in range(count)] if count > 1 else []
    found = [*_plainer(case), *map(case.of_tensors, fewer)]
    if case.axes is None:
        found += _without_axis(case)
    if case.multi_index is None and case.strides is None:
        found += _less(case)
    distinct = {each for each in map(renamed, found) if each.weight < case.weight}
    return sorted(distinct, key=lambda each: each.weight)


def renamed(case: Case) -> Case:
    """Rename named sizes to N, M, K in the order of first use."""
    return replaced(case, dict(zip(names_in(case), NAMES, strict=False)))


def _plainer(case: Case) -> Iterator[Case]:
    yield case._replace(dtypes=())
    yield case._replace(layouts=())
    for m in range(len(case.dtypes)):
        yield case._replace(dtypes=_with(case.dtypes, m, "int32"))
    for m in range(len(case.layouts)):
        yield case._replace(layouts=_with(case.layouts, m, "C"))


def _without_axis(case: Case) -> Iterator[Case]:
    for back in range(1, 1 + max(map(len, case.every_shape))):
        shapes = tuple([_dropped(back, shape) for shape in case.shapes])
        target, index, strides = (
            each and _dropped(back, each) for each in (case.target, case.multi_index, case.strides)
        )
        yield case._replace(shapes=shapes, target=target, multi_index=index, strides=strides)


def _less(case: Case) -> Iterator[Case]:
    """Lower a size in all shapes that have it, or in one shape; or remove an axis of a shape."""
    for old in {size for shape in case.every_shape for size in shape}:
        for new in _lighter(old, 0, 1, 2, 3):
            yield replaced(case, {old: new})
    for m, shape in enumerate(case.shapes):
        if shape and case.axes is None:
            yield case._replace(shapes=_with(case.shapes, m, shape[1:]))
        for axis, size in enumerate(shape):
            for new in _lighter(size, 1, 2):
                yield case._replace(shapes=_with(case.shapes, m, _with(shape, axis, new)))
    if case.axes:
        (shape,) = case.shapes
        for j in range(min(len(shape), len(case.axes))):
            yield case._replace(shapes=(_without(shape, j),), axes=_without(case.axes, j))


def _lighter(size: Any, *others: Any) -> list[Any]:
    found = {*others, *(NAMES if size in NAMES else (size // 2, size - 1))}
    return [each for each in found if 0 <= weight_of(each) < weight_of(size)]


def _dropped(back: int, values: Shape) -> Shape:
    return _without(values, len(values) - back) if back <= len(values) else values


def _with(values: tuple[_T, ...], m: int, value: _T) -> tuple[_T, ...]:
    return (*values[:m], value, *values[m + 1 :])


def _without(values: tuple[_T, ...], m: int) -> tuple[_T, ...]:
    return (*values[:m], *values[m + 1 :])
