"""broadcast_in_dim as JAX does it on a CPU, beside whycast; and its rule for two shapes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from axes_cases import SHAPE_PAIRS, explicit_cases
from plain_axes import are_distinct, explicit_misfit
from runtime_worker import Array, Case
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

from whycast import numpy_rule
from whycast.lax import broadcast_in_dim

NOT_TRANSPOSED = Deviation(
    lambda case: (
        case.shape == case.target
        and 0 not in case.shape
        and case.axes is not None
        and are_distinct(case.axes, len(case.target))
        and len(case.axes) == len(case.shape)
        and explicit_misfit(case.shape, case.target, case.axes) is None
        and any(size != 1 and case.axes[j] != j for j, size in enumerate(case.shape))
    ),
    "returns something else",
    "Along (1,0) a matrix is transposed, a square one too. JAX 0.10.2 returns the operand as it is "
    "whenever it has the shape of the result.",
)

NO_AXES = Deviation(
    lambda case: case.axes == () and len(case.shape) == len(case.target) > 0,
    "accepts",
    "There is one axis of the result for each axis of the operand. JAX returns the operand as it "
    "is if there are none, and its rank is that of the result.",
)


def ours(cases: Sequence[Case]) -> list[Answer]:
    def function(x: Array, case: Case) -> Array:
        assert case.axes is not None
        return broadcast_in_dim(x, case.target, case.axes)

    return [whycast_answer(function, case) for case in cases]


def cases_of_rank(rank: int) -> list[Case]:
    """All cases with sizes of 0 to 3 in which the higher rank is that, with axes in any order."""
    return [
        Case("broadcast_in_dim", "int32", shape, target, axes)
        for shape, target, axes in explicit_cases()
        if max(len(shape), len(target)) == rank
    ]


def test_every_small_case() -> None:
    """Rank 2 at most, and axes that increase, that do not, and that are repeated.

    [E_BroadcastInDim_any_Axes_010] [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Size_010]
    [E_BroadcastInDim_any_Data_010]
    """
    cases = [case for rank in range(3) for case in cases_of_rank(rank)]
    answers = ask("jax", cases)
    assert_known(cases, ours(cases), answers, [NOT_TRANSPOSED])
    assert {type(answer) for answer in answers} == {Returned, Refused}


def test_cases_of_rank_three() -> None:
    """Some of all, and more of those that are accepted.

    [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Derived_030]
    """
    cases = cases_of_rank(3)
    accepted = [
        case
        for case, answer in zip(cases, ours(cases), strict=True)
        if isinstance(answer, Returned)
    ]
    # Both numbers are prime, so that all sizes and axes take their turn.
    chosen = cases[::127] + accepted[::11]
    answers = ask("jax", chosen)
    assert_known(chosen, ours(chosen), answers, [NOT_TRANSPOSED])
    unsorted = [
        case
        for case, answer in zip(chosen, answers, strict=True)
        if isinstance(answer, Returned) and list(case.axes or ()) != sorted(case.axes or ())
    ]
    assert {len(case.shape) for case in unsorted} == {2, 3}


def test_the_example_of_stablehlo() -> None:
    """[E_BroadcastInDim_any_Examples_010]"""
    case = Case("broadcast_in_dim", "int32", (1, 3), (2, 3, 2), (2, 1))
    assert ask("jax", [case]) == ours([case])
    assert isinstance(ours([case])[0], Returned)


def test_axes_that_are_not_one_for_each_of_the_operand_or_out_of_range() -> None:
    cases = [
        Case("broadcast_in_dim", "int32", (2,) * rank, (2,) * rank_of_target, axes)
        for rank, rank_of_target, count in product(range(3), repeat=3)
        for axes in product(range(-1, rank_of_target + 1), repeat=count)
        if count != rank or not are_distinct(axes, rank_of_target)
    ]
    our_answers = ours(cases)
    assert set(our_answers) == {Refused()}
    assert_known(cases, our_answers, ask("jax", cases), [NO_AXES])


def test_negative_sizes_are_refused() -> None:
    cases = [
        Case("broadcast_in_dim", "int32", (1,) * len(target), target, tuple(range(len(target))))
        for target in NEGATIVE_TARGETS
    ]
    answers = ask("jax", cases)
    assert_known(cases, ours(cases), answers)
    assert set(answers) == {Refused()}


def test_every_element_type() -> None:
    cases = [
        Case("broadcast_in_dim", dtype, (2, 1, 3), (3, 2, 2, 4), (2, 1, 0)) for dtype in DTYPES
    ]
    answers = ask("jax", cases)
    assert_known(cases, ours(cases), answers)
    assert all(isinstance(answer, Returned) for answer in answers)


def test_two_shapes() -> None:
    """All pairs of shapes of rank 3 at most with sizes of 0 to 3.

    [E_NumpyBroadcast_any_Rule_010]
    """

    def result(case: Case) -> Answer:
        try:
            shape = numpy_rule.broadcast_shapes(case.shape, case.target)
        except numpy_rule.IncompatibleError as error:
            return Refused(str(error))
        return returned(np.array(shape, np.int64))

    cases = [Case("shapes", "int32", shape, target) for shape, target in SHAPE_PAIRS]
    assert_known(cases, list(map(result, cases)), ask("jax", cases))
