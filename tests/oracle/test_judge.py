"""What the judge keeps from one case to the next, not without end; and what it reads answers as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from whycast._rules import RULES
from whycast.testing import Case
from whycast.testing._report import _judge
from whycast.testing._report._compare import as_integers
from whycast.testing._report._judge import Judge


@pytest.mark.parametrize(("bound", "most"), [("_KEPT", 2), ("_KEPT_BYTES", 3 * (8 + 12) - 1)])
def test_arrays_are_kept_up_to_a_bound(
    bound: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_judge, bound, most)
    judge = Judge(RULES["expand"], "data")
    first, second, third = (Case(((size,),), (size,)) for size in (2, 3, 4))

    def given(case: Case) -> Any:
        return judge.arguments(case)[0]

    kept = given(first)
    given(second)
    assert given(first) is kept
    last = given(third)
    assert given(third) is last
    again = given(first)
    assert again is not kept
    assert judge.finding(first, again.copy()) is None


class Broken:
    """It begins like a shape."""

    def __iter__(self) -> Iterator[int]:
        yield 3
        raise RuntimeError("no more")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ((3, 4), (3, 4)),
        (np.array([3, 4]), (3, 4)),
        (iter([np.int8(3)]), (3,)),
        ((), ()),
        ("34", None),
        (b"34", None),
        (34, None),
        ((3, 4.0), None),
        (Broken(), None),
    ],
)
def test_what_is_taken_for_integers(answer: object, found: tuple[int, ...] | None) -> None:
    assert as_integers(answer) == found
