"""Hypothesis strategies for shapes, targets, axes and arrays that broadcast or do not.

They need Hypothesis: ``pip install 'whycast[test-data]'``.
"""

from __future__ import annotations

from typing import Any

from whycast._rules import RULES, rule_named
from whycast._types import AnyArray, Shape
from whycast.testing._cases._case import Case, Level, level_named
from whycast.testing._cases._values import DTYPES, LAYOUTS, array, dtypes_of

try:
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError(
        "whycast.testing.strategies needs Hypothesis: pip install 'whycast[test-data]'"
    ) from error

from whycast.testing._cases._hypothesis import Question, bounds_of, check_range

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
        Least and greatest size, even beyond 64 bits; small sizes are frequent all the same.

    Returns
    -------
    strategy of tuples of int
        They shrink to few axes and to small sizes.

    Raises
    ------
    TypeError
        A bound is no int.
    ValueError
        A bound is negative, or a least above its greatest.

    Notes
    -----
    The bounds of ``hypothesis.extra.numpy.array_shapes`` begin at 1, these at 0.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(shapes(), lambda shape: True)
    ()
    >>> find(shapes(max_side=2**40), lambda shape: len(shape) > 1 and max(shape) > 2**32)
    (0, 4294967297)
    """
    return bounds_of(min_dims, max_dims, min_side, max_side).lists.map(tuple)


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
    """Draw several shapes for a rule on tensors, that broadcast or do not.

    Parameters
    ----------
    rule : {"sonnx", "numpy"}, optional
        The rule. For rules with a target see `cases`.
    compatible : bool, optional
        True: only shapes that the rule accepts. False: only shapes that it refuses. None: both, two
        times in three accepted ones.
    min_shapes, max_shapes : int, optional
        How many shapes; refused ones are at least two.
    min_dims, max_dims, min_side, max_side : int, optional
        Least and greatest rank and size, as for `shapes`.

    Returns
    -------
    strategy of tuples of shapes
        They shrink to few, short and small shapes.

    Raises
    ------
    TypeError
        A bound or `compatible` is of another type.
    ValueError
        There is no such rule, or it takes a target; a bound is negative, or a least above its
        greatest; or `compatible` is False, and the bounds allow nothing that is refused.

    Notes
    -----
    The rule's proved program decides. ``hypothesis.extra.numpy.mutually_broadcastable_shapes``
    draws nothing that is refused.

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
    bounds = bounds_of(min_dims, max_dims, min_side, max_side)
    check_range("shapes", min_shapes, max_shapes, least=1)
    question = Question(found, bounds, min_shapes, max_shapes)
    return question.drawn(compatible).map(lambda case: case.shapes)


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
        What is asked: ``verdict``, ``shape``, ``index``, ``strides``, ``data`` or ``report``.
    compatible : bool, optional
        As for `shape_lists`. At level ``index`` only accepted cases are asked.
    min_shapes, max_shapes : int, optional
        How many shapes, for rules on tensors at levels other than ``index`` and ``strides``.
    min_dims, max_dims, min_side, max_side : int, optional
        Least and greatest rank and size, also of a target. At level ``index`` no size is 0.

    Returns
    -------
    strategy of whycast.testing.Case
        At level ``data`` with each tensor's dtype and layout: ``case.arrays()`` makes them. At
        level ``index`` with a multi-index of the output, at level ``strides`` with strides.

    Raises
    ------
    TypeError
        A bound, `rule`, `level` or `compatible` is of another type.
    ValueError
        There is no such rule or level; a bound is negative, or a least above its greatest; or
        `compatible` is False, and the bounds or the level allow nothing that is refused.

    Notes
    -----
    Refused cases have sizes that do not fit, a target of too few axes, or wrong axes: too few, too
    many, out of order, repeated, or outside the target, such as -1.

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
            raise ValueError("compatible: level 'index' asks about nothing that is refused")
        compatible, min_side = True, max(1, min_side)
    bounds = bounds_of(min_dims, max_dims, min_side, max_side)
    check_range("shapes", min_shapes, max_shapes, least=1)
    one = level in ("index", "strides")
    found_cases = Question(found, bounds, min_shapes, max_shapes, one).drawn(compatible)

    @st.composite
    def asked(draw: st.DrawFn) -> Case:
        case = draw(found_cases)
        if level == "strides":
            stride = st.sampled_from([4, 1, 0, -4, 7])
            strides = [draw(stride) * draw(st.integers(1, 9)) for _ in case.shapes[0]]
            return case._replace(strides=tuple(strides))
        if level == "index":
            output = found.shape(case)
            index = [draw(st.integers(0, size - 1)) for size in output or ()]
            return case._replace(multi_index=tuple(index))
        if level != "data":
            return case
        dtypes = [draw(st.sampled_from(dtypes_of(found))) for _ in case.shapes]
        layouts = [draw(st.sampled_from(LAYOUTS)) for _ in case.shapes]
        return case._replace(dtypes=tuple(dtypes), layouts=tuple(layouts))

    return asked()


def arrays(
    dtype: str | st.SearchStrategy[str] | None = None,
    shape: Shape | st.SearchStrategy[Shape] | None = None,
    *,
    layout: str | st.SearchStrategy[str] | None = None,
) -> st.SearchStrategy[AnyArray]:
    """Draw arrays whose elements show their place.

    Parameters
    ----------
    dtype : str or strategy of them, optional
        Name of a dtype, as in `Case`. Default: any of SONNX's types.
    shape : shape or strategy of them, optional
        Default: any that `shapes` draws.
    layout : str or strategy of them, optional
        As in `Case`. Default: any that one array can have.

    Returns
    -------
    strategy of numpy.ndarray
        New arrays. They shrink to int32 in C order.

    Raises
    ------
    ValueError
        There is no such dtype or layout.

    Notes
    -----
    Shape, dtype and layout decide the elements: as different as the type permits, with a negative
    zero and a NaN with a payload in floating-point types.

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
