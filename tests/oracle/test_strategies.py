"""The strategies draw each kind of case within the bounds, and shrink to the smallest case."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from whycast._rules import RULES
from whycast.testing import Case
from whycast.testing._cases._case import LEVELS, Level
from whycast.testing._cases._values import DTYPES
from whycast.testing._report._judge import expected
from whycast.testing.strategies import arrays, cases, shape_lists, shapes

BOUNDS: list[dict[str, int]] = [
    {},
    {"max_shapes": 40, "max_dims": 40, "max_side": 2**70},
    {"min_shapes": 3, "max_shapes": 3, "min_dims": 2, "max_dims": 3, "min_side": 2, "max_side": 3},
    {"max_dims": 1, "max_side": 2},
    {"min_dims": 3, "max_dims": 3, "max_side": 9},
]

# With all health checks, the strategies may discard only few examples.
quick = settings(max_examples=100, suppress_health_check=())


def accepts(rule: str, case: Case) -> bool:
    return RULES[rule].shape(case) is not None


def within(shape: tuple[int, ...], bounds: dict[str, int]) -> bool:
    ranks = bounds.get("min_dims", 0), bounds.get("max_dims", 4)
    sizes = bounds.get("min_side", 0), bounds.get("max_side", 4)
    return ranks[0] <= len(shape) <= ranks[1] and all(sizes[0] <= s <= sizes[1] for s in shape)


@pytest.mark.parametrize("rule", RULES)
def test_cases_are_accepted_or_refused_as_asked(rule: str) -> None:
    @quick
    @given(st.sampled_from(BOUNDS), st.booleans(), st.data())
    def check(bounds: dict[str, int], compatible: bool, data: st.DataObject) -> None:
        case = data.draw(cases(rule, "verdict", compatible=compatible, **bounds))
        assert accepts(rule, case) is compatible
        assert all(within(shape, bounds) for shape in case.shapes)
        assert case.target is None or within(case.target, bounds)
        if RULES[rule].takes == "tensors":
            low, high = bounds.get("min_shapes", 1), bounds.get("max_shapes", 4)
            assert low <= len(case.shapes) <= high
        assert (case.target is not None) == (RULES[rule].takes != "tensors")
        assert (case.axes is not None) == (RULES[rule].takes == "axes")

    check()


def third_misfits(shapes: tuple[tuple[int, ...], ...]) -> bool:
    return accepts("numpy", Case(shapes[:2])) and not accepts("numpy", Case(shapes[:3]))


def falls(axes: tuple[int, ...]) -> bool:
    return len(axes) > 1 and axes[0] > axes[1] >= 0


# Kinds of cases that must appear.
SHOWN: list[tuple[str, str, Callable[[Case], object]]] = [
    ("sonnx", "a misfit of 0 and 1", lambda c: c.shapes == ((0,), (1,))),
    ("sonnx", "zeros that fit", lambda c: all(0 in s for s in c.shapes) and accepts("sonnx", c)),
    ("numpy", "a 1 that grows to 0", lambda c: (0,) in c.shapes and (1,) in c.shapes),
    ("numpy", "a misfit of the third", lambda c: third_misfits(c.shapes)),
    ("expand", "a target of less rank", lambda c: accepts("expand", c) and c.target == ()),
    ("openvino-explicit", "axes that fall", lambda c: falls(c.axes or ())),
    ("ngraph", "an axis of -1", lambda c: -1 in (c.axes or ())),
    ("ngraph", "too many axes", lambda c: len(c.axes or ()) > len(c.target or ())),
    ("in-dim", "a transpose", lambda c: accepts("in-dim", c) and (c.axes or ())[:2] == (2, 0)),
    ("in-dim", "too few axes", lambda c: len(c.axes or ()) < len(c.shapes[0])),
]


@pytest.mark.parametrize(("rule", "text", "shown"), SHOWN)
def test_each_kind_of_case_appears(rule: str, text: str, shown: Callable[[Case], object]) -> None:
    # Another test shrinks.
    quickly = settings(max_examples=4000, phases=[Phase.generate])
    drawn = cases(rule, "shape", max_dims=3, max_side=3)
    find(drawn, lambda case: bool(shown(case)), settings=quickly)


def test_examples_shrink_to_the_smallest() -> None:
    assert find(shape_lists(compatible=True), lambda _: True) == ((),)
    assert find(shape_lists(compatible=False), lambda _: True) == ((), (0,))
    fourth = find(shape_lists("numpy", max_shapes=9), lambda shapes: len(shapes) > 3)
    assert fourth == ((), (), (), ())
    assert find(shapes(), lambda shape: len(shape) > 2) == (0, 0, 0)
    case = find(cases("in-dim", "data"), lambda case: (case.target or ()).count(3) > 1)
    assert case == Case(((),), (3, 3), (), ("int32",), ("C",))


@pytest.mark.parametrize("level", LEVELS)
def test_a_case_has_all_fields_of_its_level(level: Level) -> None:
    verdicts: list[bool] = []

    @settings(max_examples=150)
    @given(st.sampled_from([*RULES]), st.data())
    def check(rule: str, data: st.DataObject) -> None:
        case = data.draw(cases(rule, level))
        verdicts.append(accepts(rule, case))
        count = len(case.shapes) if level == "data" else 0
        assert (len(case.dtypes), len(case.layouts)) == (count, count)
        # A multi-index outside the output, and strides of another rank, raise an exception.
        right = expected(RULES[rule], level, case)
        assert (right is None or isinstance(right, ValueError)) is not verdicts[-1]
        assert [x.shape for x in case.arrays()] == [*case.shapes]

    check()
    assert level == "index" or 0.4 < sum(verdicts) / len(verdicts) < 0.9


def test_arrays_are_of_every_dtype_in_every_layout() -> None:
    seen: dict[str, set[tuple[bool, bool]]] = {}

    @settings(max_examples=400)
    @given(arrays())
    def check(x: np.ndarray[Any, Any]) -> None:
        flags = x.flags.c_contiguous, x.flags.writeable
        seen.setdefault(x.dtype.name.rstrip("0123456789") + str(x.dtype.kind), set()).add(flags)

    check()
    assert len(seen) == len({name.rstrip("0123456789") for name in DTYPES if name[0] != ">"})
    assert all(flags >= {(True, True), (True, False), (False, True)} for flags in seen.values())


def test_an_array_of_a_drawn_shape() -> None:
    drawn = arrays(st.just("int8"), shapes(min_dims=2, max_dims=2, min_side=3, max_side=3))
    assert find(drawn, lambda x: True).shape == (3, 3)


NONE = "compatible: rule 'numpy' refuses nothing within these bounds$"
WRONG: list[tuple[Callable[..., object], dict[str, Any], str]] = [
    (shape_lists, {"rule": "expand"}, "rule: expected one on tensors alone, .* see"),
    (shapes, {"min_dims": -1}, "min_dims: expected at least 0, got -1$"),
    (shapes, {"max_side": 1.5}, "max_side: expected an int, got 1.5$"),
    (shapes, {"min_side": 3, "max_side": 2}, "max_side: expected at least min_side, which is 3, "),
    (arrays, {"dtype": "int33"}, "dtype: expected one of 'int32', .*, got 'int33'$"),
    (arrays, {"layout": "F"}, "layout: expected one of 'C', .*, got 'F'$"),
    (shape_lists, {"min_shapes": 0}, "min_shapes: expected at least 1, got 0"),
    (shape_lists, {"compatible": "no"}, "compatible: expected a bool or None"),
    (
        *(cases, {"rule": "sonnx", "level": "index", "compatible": False}),
        "compatible: level 'index' has no refused cases$",
    ),
    (shape_lists, {"rule": "numpy", "compatible": False, "max_dims": 0}, NONE),
    (shape_lists, {"rule": "numpy", "compatible": False, "max_shapes": 1}, NONE),
    (shape_lists, {"rule": "numpy", "compatible": False, "min_side": 1, "max_side": 2}, NONE),
]


@pytest.mark.parametrize(("call", "arguments", "text"), WRONG)
def test_errors(call: Callable[..., object], arguments: dict[str, Any], text: str) -> None:
    error = TypeError if "expected an int, " in text or "a bool" in text else ValueError
    with pytest.raises(error, match=f"^{text}"):
        call(**arguments)


def test_bounds_that_refuse_nothing_are_no_error_by_default() -> None:
    assert find(shape_lists("numpy", max_side=1), lambda _: True) == ((),)


def test_without_hypothesis_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "whycast.testing.strategies")
    with pytest.raises(ImportError, match=r"needs Hypothesis: pip install 'whycast\[test-data\]'"):
        importlib.import_module("whycast.testing.strategies")
