"""Hypothesis strategies for shapes, targets, axes and arrays; some broadcast, others do not.

This module needs Hypothesis: ``pip install 'whycast[test-data]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from whycast._rules import RULES, rule_named
from whycast._types import AnyArray, Shape
from whycast.testing._cases._case import Case, Level, level_named
from whycast.testing._cases._drawn import Bounds, Draw, Drawing, with_arrays
from whycast.testing._cases._values import DTYPES, LAYOUTS, array

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError(
        "whycast.testing.strategies needs Hypothesis: pip install 'whycast[test-data]'"
    ) from error

_T = TypeVar("_T")

__all__ = ["arrays", "cases", "shape_lists", "shapes"]


def __dir__() -> list[str]:
    return __all__


def shapes(
    *, min_dims: int = 0, max_dims: int = 4, min_side: int = 0, max_side: int = 4
) -> st.SearchStrategy[Shape]:
    """Draw shapes.

    Parameters
    ----------
    min_dims, max_dims : int, optional
        Least and greatest rank.
    min_side, max_side : int, optional
        Least and greatest size, even beyond 64 bits. Sizes near `min_side` are frequent.

    Returns
    -------
    strategy of tuples of int
        Shapes that shrink to few axes and small sizes.

    Raises
    ------
    TypeError
        A bound is not an int.
    ValueError
        A bound is negative, or a least bound exceeds the greatest.

    Notes
    -----
    The default lower bounds are 0; those of ``hypothesis.extra.numpy.array_shapes`` are 1.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(shapes(), lambda shape: True)
    ()
    >>> find(shapes(max_side=2**40), lambda shape: len(shape) > 1 and max(shape) > 2**32)
    (0, 4294967297)
    """
    bounds = _bounds(min_dims, max_dims, min_side, max_side)
    return _drawn(lambda draw: tuple(draw.sizes(bounds)))


def shape_lists(
    rule: str = "sonnx",
    *,
    compatible: bool | None = None,
    min_shapes: int = 1,
    max_shapes: int = 4,
    min_dims: int = 0,
    max_dims: int = 4,
    min_side: int = 0,
    max_side: int = 4,
) -> st.SearchStrategy[tuple[Shape, ...]]:
    """Draw several shapes for a rule on tensors.

    Parameters
    ----------
    rule : {"sonnx", "numpy"}, optional
        The rule. For rules with a target see `cases`.
    compatible : bool, optional
        True: the rule accepts the shapes. False: it refuses them. None: it may do either.
    min_shapes, max_shapes : int, optional
        Least and greatest number of shapes; a refused list has at least two.
    min_dims, max_dims, min_side, max_side : int, optional
        Least and greatest rank and size, as for `shapes`.

    Returns
    -------
    strategy of tuples of shapes
        Lists that shrink to few shapes, few axes and small sizes.

    Raises
    ------
    TypeError
        A bound or `compatible` has another type.
    ValueError
        As for `shapes`; `rule` is unknown or takes a target; or `compatible` is False, but the rule
        refuses nothing within the bounds.

    Notes
    -----
    The rule's proved program decides which shapes broadcast.
    ``hypothesis.extra.numpy.mutually_broadcastable_shapes`` draws only shapes that broadcast.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(shape_lists(compatible=False), lambda shapes: True)
    ((), (0,))
    >>> find(shape_lists("numpy", compatible=False), lambda shapes: True)
    ((0,), (2,))
    """
    found = rule_named(rule)
    if found.takes != "tensors":
        known = " or ".join(repr(each.name) for each in RULES.values() if each.takes == "tensors")
        raise ValueError(
            f"rule: expected one on tensors alone, {known}, got {rule!r}, which takes "
            "one tensor and a target: see cases"
        )
    bounds = _bounds(min_dims, max_dims, min_side, max_side)
    drawing = partial(Drawing, found, bounds, *_range("shapes", min_shapes, max_shapes, 1), False)
    return _drawn(_cases(drawing, compatible)).map(lambda case: case.shapes)


def cases(
    rule: str = "sonnx",
    level: Level = "data",
    *,
    compatible: bool | None = None,
    min_shapes: int = 1,
    max_shapes: int = 4,
    min_dims: int = 0,
    max_dims: int = 4,
    min_side: int = 0,
    max_side: int = 4,
) -> st.SearchStrategy[Case]:
    """Draw cases as `whycast.testing.check` asks them.

    Parameters
    ----------
    rule : str, optional
        Name of the rule: see `whycast.testing.cases`.
    level : str, optional
        ``verdict``, ``shape``, ``index``, ``strides``, ``data`` or ``report``.
    compatible : bool, optional
        As for `shape_lists`. At level ``index`` the rule accepts all cases.
    min_shapes, max_shapes : int, optional
        As for `shape_lists`, for rules on tensors at levels except ``index`` and ``strides``.
    min_dims, max_dims, min_side, max_side : int, optional
        Least and greatest rank and size, also of a target. At level ``index`` no size is 0.

    Returns
    -------
    strategy of whycast.testing.Case
        At level ``data`` a case contains each tensor's dtype and layout; ``case.arrays()`` makes
        the tensors. At ``index`` it contains a multi-index of the output, at ``strides`` a stride
        for each axis of the tensor.

    Raises
    ------
    TypeError, ValueError
        As for `shape_lists`, or `level` is wrong; every rule is allowed.

    Notes
    -----
    Refused cases have sizes that do not fit, a target with too few axes, or wrong axes: too few,
    too many, unordered, repeated, or outside the target, such as -1.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(cases("in-dim", "shape", compatible=True), lambda case: case.axes == (1, 0))
    Case(((1, 1),), target=(0, 0), axes=(1, 0))
    >>> find(cases("expand", "verdict", compatible=False), lambda case: True)
    Case(((0,),), target=(2,))
    >>> find(cases("numpy"), lambda case: "reversed" in case.layouts)
    Case(((),), dtypes=('int32',), layouts=('reversed',))
    >>> find(cases("expand", "index"), lambda case: sum(case.multi_index) > 2)
    Case(((),), target=(4,), multi_index=(3,))
    """
    found = rule_named(rule)
    level_named(level)
    if level == "index":
        if compatible is False:
            raise ValueError("compatible: level 'index' has no refused cases")
        compatible, min_side = True, max(1, min_side)
    bounds = _bounds(min_dims, max_dims, min_side, max_side)
    one = level in ("index", "strides")
    drawing = partial(Drawing, found, bounds, *_range("shapes", min_shapes, max_shapes, 1), one)
    one_case = _cases(drawing, compatible)

    def asked(draw: Draw) -> Case:
        case = one_case(draw)
        if level == "strides":
            strides = [draw.choice([4, 1, 0, -4, 7]) * draw.randint(1, 9) for _ in case.shapes[0]]
            return case._replace(strides=tuple(strides))
        if level == "index":
            output = found.shape(case) or ()
            return case._replace(multi_index=tuple([draw.randint(0, size - 1) for size in output]))
        return with_arrays(found, level, case, draw)

    return _drawn(asked)


def arrays(
    dtype: str | st.SearchStrategy[str] | None = None,
    shape: Shape | st.SearchStrategy[Shape] | None = None,
    *,
    layout: str | st.SearchStrategy[str] | None = None,
) -> st.SearchStrategy[AnyArray]:
    """Draw arrays in which a misplaced element shows.

    Parameters
    ----------
    dtype : str or strategy of str, optional
        Name of a dtype, as in `Case`. Default: any of SONNX's types.
    shape : shape or strategy of shapes, optional
        Default: any shape that `shapes` draws.
    layout : str or strategy of str, optional
        As in `Case`. Default: any layout of a single array.

    Returns
    -------
    strategy of numpy.ndarray
        New arrays that shrink to int32 in C order.

    Raises
    ------
    ValueError
        `dtype` or `layout` is unknown.

    Notes
    -----
    The elements differ as far as type and layout permit. A floating-point array with different
    elements contains a negative zero and a NaN with a payload.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(arrays("int8", (4,)), lambda x: True)
    array([1, 2, 3, 4], dtype=int8)
    >>> find(arrays("float32", (2, 2)), lambda x: x.strides[0] < 0).strides
    (-8, -4)
    """
    return st.builds(
        array,
        st.integers(0, 3),
        shapes() if shape is None else _strategy(shape),
        _one_of(dtype, "dtype", DTYPES),
        _one_of(layout, "layout", LAYOUTS),
    )


def _one_of(given: object, name: str, known: tuple[str, ...]) -> st.SearchStrategy[str]:
    if isinstance(given, str) and given not in known:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, got {given!r}")
    return st.sampled_from(known) if given is None else _strategy(given)


def _strategy(given: object) -> st.SearchStrategy[Any]:
    return given if isinstance(given, st.SearchStrategy) else st.just(given)


class _Choices(NamedTuple):
    draw: st.DrawFn

    def randint(self, low: int, high: int, /) -> int:
        return self.draw(st.integers(low, high))

    def choice(self, values: Sequence[_T], /) -> _T:
        return self.draw(st.sampled_from(values))

    def sizes(self, bounds: Bounds, /) -> list[int]:
        sides = st.integers(bounds.min_side, bounds.near[-1])
        if bounds.max_side > bounds.near[-1]:
            sides = st.one_of(sides, sides, st.integers(bounds.min_side, bounds.max_side))
        return self.draw(st.lists(sides, min_size=bounds.min_dims, max_size=bounds.max_dims))

    def subset(self, values: Sequence[int], least: int, /) -> list[int]:
        chosen = self.draw(st.sets(st.sampled_from(values), min_size=least)) if values else ()
        return self.draw(st.permutations(sorted(chosen)))


@st.composite
def _drawn(draw: st.DrawFn, function: Callable[[Draw], _T]) -> _T:
    return function(_Choices(draw))


def _cases(drawing: Callable[[Any], Drawing], compatible: bool | None) -> Callable[[Draw], Case]:
    if compatible not in (None, True, False):
        raise TypeError(f"compatible: expected a bool or None, got {compatible!r}")
    if not (known := drawing(None)).can_refuse():
        if compatible is False:
            name = known.rule.name
            raise ValueError(f"compatible: rule {name!r} refuses nothing within these bounds")
        compatible = True
    verdicts = [True, True, False] if compatible is None else [compatible]

    def drawn(draw: Draw) -> Case:
        own = drawing(draw)
        return own.accepted() if draw.choice(verdicts) else own.refused()

    return drawn


def _bounds(min_dims: int, max_dims: int, min_side: int, max_side: int) -> Bounds:
    return Bounds(*_range("dims", min_dims, max_dims), *_range("side", min_side, max_side))


def _range(name: str, low: int, high: int, least: int = 0) -> tuple[int, int]:
    for end, value in (("min", low), ("max", high)):
        if type(value) is not int:
            raise TypeError(f"{end}_{name}: expected an int, got {value!r}")
    if low < least:
        raise ValueError(f"min_{name}: expected at least {least}, got {low}")
    if high < low:
        raise ValueError(f"max_{name}: expected at least min_{name}, which is {low}, got {high}")
    return low, high
