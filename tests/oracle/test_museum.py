"""The museum: `check` catches each of its bugs, by the smallest call that shows it."""

from __future__ import annotations

import pytest
from museum import MUSEUM, Exhibit

from whycast.testing import Report, check


def asked(exhibit: Exhibit) -> Report:
    """Ask all fixed cases of the rank of the smallest one that shows it, of one more, or less."""
    wrong = exhibit.wrong
    assert wrong.case is not None
    return check(
        wrong.target,
        rule=wrong.rule,
        level=wrong.level,
        seconds=None,
        max_rank=max(map(len, wrong.case.every_shape)) + 1,
    )


@pytest.mark.parametrize("exhibit", MUSEUM, ids=[each.wrong.name for each in MUSEUM])
def test_a_public_bug_is_caught(exhibit: Exhibit) -> None:
    assert len({each.wrong.name for each in MUSEUM}) == 15
    (first, *rest) = asked(exhibit).deviations
    assert {each.kind for each in rest} <= {first.kind}
    assert (first.kind, first.case) == (exhibit.wrong.kind, exhibit.wrong.case)
    assert (first.expected, first.got) == (exhibit.expected, exhibit.got)
