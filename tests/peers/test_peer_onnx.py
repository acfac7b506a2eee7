"""ONNX Expand as the reference implementation and ONNX Runtime do it, beside whycast."""

from __future__ import annotations

from itertools import product

import pytest
from plain_rule import all_shapes
from runtime_worker import Array, Case
from runtimes import (
    DTYPES,
    NEGATIVE_TARGETS,
    Answer,
    Refused,
    Returned,
    ask,
    assert_known,
    whycast_answer,
)

from whycast.onnx import expand

RUNTIMES = ("onnx reference", "onnxruntime")


def ours(cases: list[Case]) -> list[Answer]:
    def function(x: Array, case: Case) -> Array:
        return expand(x, case.target)

    return [whycast_answer(function, case) for case in cases]


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_small_case(runtime: str, dtype: str) -> None:
    """All shapes and targets of rank 3 at most with sizes of 0 to 3.

    [E_Expand_any_Shape_010] [E_Expand_any_Error_010] [E_Expand_any_Data_010]
    """
    pairs = product(all_shapes(3, 3), repeat=2)
    cases = [Case("Expand", dtype, shape, target) for shape, target in pairs]
    answers = ask(runtime, cases)
    assert_known(cases, ours(cases), answers)
    # Neither half is empty: of the 16 pairs of sizes 10 go together.
    accepted = sum(10 ** min(a, b) * 4 ** abs(a - b) for a in range(4) for b in range(4))
    assert sum(isinstance(answer, Returned) for answer in answers) == accepted
    assert len(answers) == 85**2


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_element_type(runtime: str) -> None:
    cases = [Case("Expand", dtype, (2, 1, 3), (2, 1)) for dtype in DTYPES]
    cases += [Case("Expand", dtype, (2, 1, 3), (2, 2, 1)) for dtype in DTYPES]
    answers = ask(runtime, cases)
    assert_known(cases, ours(cases), answers)
    assert all(isinstance(answer, Returned) for answer in answers)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_negative_sizes_are_refused(runtime: str) -> None:
    """The text gives -1 no meaning, unlike other operators: it is a size that no tensor has."""
    cases = [
        Case("Expand", "int32", shape, target)
        for shape in all_shapes(2, 3)
        for target in NEGATIVE_TARGETS
    ]
    answers = ask(runtime, cases)
    assert_known(cases, ours(cases), answers)
    assert all(isinstance(answer, Refused) for answer in answers)
