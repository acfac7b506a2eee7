"""Broadcast as OpenVINO does it on a CPU, in each of its modes, beside whycast.

The models take target and axes at run time and leave the sizes of the data open, but for one test:
networks in which all of that is constant take other paths, and some of them crash.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import cast

import numpy as np
import pytest
from plain_rule import Shape, all_shapes
from runtime_worker import Array, Case, sample
from runtimes import (
    DTYPES,
    NEGATIVE_TARGETS,
    Answer,
    Deviation,
    Refused,
    Returned,
    ask,
    assert_known,
    returned,
    whycast_answer,
)

from whycast.openvino import Mode, broadcast

# The rank up to which all shapes are tried, and the type of the elements. Opset 3 adds a mode; its
# other two are those of opset 1.
OPERATORS = {
    "1 numpy": (3, "float32"),
    "1 explicit": (3, "int32"),
    "3 numpy": (2, "int32"),
    "3 explicit": (2, "float32"),
    "3 bidirectional": (3, "float32"),
}

NO_TARGET = Deviation(
    lambda case: case.target == (),
    "refuses",
    "A target of rank 0 is the shape of a scalar, and bidirectionally anything broadcasts with a "
    "scalar. OpenVINO makes a tensor of ones of the target first, from one of shape (1,).",
)

REPEATED_AXES = Deviation(
    lambda case: (
        case.axes is not None
        and len(case.axes) == len(case.shape)
        and all(0 <= axis < len(case.target) for axis in case.axes)
        and any(a == b for a, b in zip(case.axes, case.axes[1:], strict=False))
        and all(a <= b for a, b in zip(case.axes, case.axes[1:], strict=False))
        and fits(case.shape, case.target, case.axes)
    ),
    "accepts",
    "Two axes of the data on one of the output have no meaning. OpenVINO checks that the axes are "
    "sorted, which these are; some of what it returns is no element of the data.",
)

AXIS_OF_A_SCALAR = Deviation(
    lambda case: (
        case.shape == ()
        and case.axes is not None
        and len(case.axes) == 1
        and 0 <= case.axes[0] < len(case.target)
        and fits((1,), case.target, case.axes, grows=False)
    ),
    "accepts",
    "A scalar has no axis, and the axes must be as many as those of the data. OpenVINO takes it "
    "for a tensor of shape (1,), of which the size may not even grow.",
)


def fits(shape: Shape, target: Shape, axes: Sequence[int], *, grows: bool = True) -> bool:
    """Tell whether each size is that of the axis of the target on which it lies, or may grow."""
    return all(
        size == target[axis] or (grows and size == 1)
        for size, axis in zip(shape, axes, strict=True)
    )


def ours(cases: Iterable[Case]) -> list[Answer]:
    def function(x: Array, case: Case) -> Array:
        mode = cast("Mode", case.operator.rpartition(" ")[2])
        return broadcast(x, case.target, case.axes, mode)

    return [whycast_answer(function, case) for case in cases]


def theirs(cases: Sequence[Case]) -> list[Answer]:
    """Ask OpenVINO, each time after a case with sizes that no other has.

    A compiled model remembers sizes from one inference to the next, and not always rightly, as
    `test_what_came_before_can_change_the_verdict` shows.
    """
    asked: list[Case] = []
    for case in cases:
        axes = None
        if case.axes is not None:
            # As long as the axes are sorted and there is one for each of the data, it accepts.
            axes = tuple(min(j, max(0, len(case.target) - 1)) for j in range(len(case.axes)))
        shape, target = (4,) * len(case.shape), (4,) * len(case.target)
        asked += [case._replace(shape=shape, target=target, axes=axes), case]
    return ask("openvino", asked)[1::2]


def small_cases(operator: str, rank: int, dtype: str) -> list[Case]:
    """All shapes and targets of a rank at most with sizes of 0 to 3, and all increasing axes."""
    pairs = list(product(all_shapes(rank, 3), repeat=2))
    if operator.endswith("explicit"):
        return [
            Case(operator, dtype, shape, target, axes)
            for shape, target in pairs
            for axes in combinations(range(len(target)), len(shape))
        ]
    return [Case(operator, dtype, shape, target) for shape, target in pairs]


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_small_case(operator: str) -> None:
    """[E_OpenvinoBroadcast_any_Purpose_010] [E_OpenvinoBroadcast_any_Modes_020]
    [E_OpenvinoBroadcast_any_Modes_030] [E_OpenvinoThreeBroadcast_any_Modes_010]
    """
    cases = small_cases(operator, *OPERATORS[operator])
    known = [NO_TARGET] if operator.endswith("bidirectional") else []
    answers = theirs(cases)
    assert_known(cases, ours(cases), answers, known)
    assert {type(answer) for answer in answers} == {Returned, Refused}


def test_axes_that_are_not_one_for_each_of_the_data_or_do_not_increase() -> None:
    """Too few, too many, negative, too large, not sorted, or twice the same."""
    cases = [
        Case("1 explicit", "int32", shape, target, axes)
        for shape in all_shapes(2, 2)
        for target in all_shapes(2, 2)
        for count in range(len(shape) + 2)
        for axes in product(range(-1, len(target) + 1), repeat=count)
        if 0 not in shape
        if axes not in combinations(range(len(target)), len(shape))
    ]
    our_answers = ours(cases)
    assert set(our_answers) == {Refused()}
    assert_known(cases, our_answers, theirs(cases), [REPEATED_AXES, AXIS_OF_A_SCALAR])


@pytest.mark.parametrize("operator", OPERATORS)
def test_negative_sizes_are_refused(operator: str) -> None:
    cases = [
        Case(operator, "int32", shape, target, axes)
        for shape in all_shapes(2, 2)
        for target in NEGATIVE_TARGETS
        for axes in (
            combinations(range(len(target)), len(shape)) if "explicit" in operator else [None]
        )
    ]
    answers = theirs(cases)
    assert_known(cases, ours(cases), answers)
    assert set(answers) == {Refused()}


@pytest.mark.parametrize("operator", ["1 numpy", "3 numpy", "3 bidirectional"])
def test_axes_in_a_mode_without_them(operator: str) -> None:
    cases = [
        Case(operator, "int32", (2,), target, (axis,))
        for target in [(2,), (3, 2), (2, 3), (3, 3)]
        for axis in (0, 1)
    ]
    ignored = Deviation(
        lambda case: case.target[-1] == 2,
        "accepts",
        "The text wants no third input here; OpenVINO does not look at it.",
    )
    without = ours(case._replace(axes=None) for case in cases)
    answers = theirs(cases)
    assert_known(cases, ours(cases), answers, [ignored])
    assert_known(cases, without, answers)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_element_type(operator: str) -> None:
    axes = (0, 1, 2) if operator.endswith("explicit") else None
    cases = [Case(operator, dtype, (2, 1, 3), (2, 2, 3), axes) for dtype in DTYPES]
    short = Deviation(
        lambda case: case.dtype.endswith("64"),
        "returns something else",
        "The CPU has no elements of 64 bits in OpenVINO: it works with 32 of them.",
    )
    answers = theirs(cases)
    assert_known(cases, ours(cases), answers, [short])
    for case, answer in zip(cases, answers, strict=True):
        if short.holds(case):
            x = sample(case.dtype, case.shape)
            kept = x.astype(case.dtype.replace("64", "32")).astype(case.dtype)
            assert answer == returned(np.broadcast_to(kept, case.target))


def test_what_came_before_can_change_the_verdict() -> None:
    """After an output without elements the target is compared with the one before."""
    first = Case("1 numpy", "int32", (1, 3), (3, 3))
    empty = Case("1 numpy", "int32", (2, 0), (2, 0))
    wrong = Case("1 numpy", "int32", (2, 0), (3, 3))
    no_elements = Returned((2, 0), "int32", b"")
    assert ours([wrong]) == ask("openvino", [wrong]) == [Refused()]
    assert ask("openvino", [first, wrong])[1] == ask("openvino", [empty, wrong])[1] == Refused()
    assert ask("openvino", [first, empty, wrong])[1:] == [no_elements, no_elements]


@pytest.mark.parametrize("operator", ["1 numpy", "1 explicit", "3 bidirectional"])
def test_constants(operator: str) -> None:
    """The shape of the data and the target are part of the model, as in a finished network."""
    # Its Python interface refuses to make a constant of a target of rank 0.
    cases = [case for case in small_cases(f"constant {operator}", 1, "int32") if case.target]
    known = [
        Deviation(
            lambda case: (case.shape, case.target) == ((0,), (0,)),
            "crashes with SIGFPE",
            "Where all sizes are known beforehand it divides by one of them.",
        )
    ]
    if operator.endswith("bidirectional"):
        known += [
            Deviation(
                lambda case: (case.shape, case.target) == ((1,), (0,)),
                "returns something else",
                "It makes the larger of the two sizes the output's: the result has shape (1,).",
            ),
            Deviation(
                lambda case: (case.shape, case.target) == ((0,), (1,)),
                "refuses",
                "The larger of the two sizes again: 0 does not grow to 1.",
            ),
        ]
    assert_known(cases, ours(cases), ask("openvino", cases), known)
