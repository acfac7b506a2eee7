"""What the register says of cases, each condition on a case that has it and on one that lacks it.

Which deviations it is said of, the tests of the peers decide; not every peer is always there.
"""

from __future__ import annotations

import pytest

from whycast._rules import RULES
from whycast.testing import Case
from whycast.testing._peers import PEERS
from whycast.testing._peers._conditions import CONDITIONS


def laid_out(shape: tuple[int, ...], layout: str) -> Case:
    return Case((shape,), layouts=(layout,))


@pytest.mark.parametrize(
    ("name", "rule", "case", "holds"),
    [
        ("an element is repeated", "numpy", Case(((2, 1), (3,))), True),
        ("an element is repeated", "numpy", Case(((2, 3), (2, 3))), False),
        ("an element is repeated", "numpy", Case(((0, 1), (3,))), False),
        ("an element is repeated", "numpy", Case(((2,), (3,))), False),
        ("an element is repeated", "expand", Case(((2,),), (3, 2)), True),
        ("torch takes the memory of a tensor", "numpy", Case(((2,),)), True),
        ("torch takes the memory of a tensor", "numpy", laid_out((2,), "sliced"), True),
        ("torch takes the memory of a tensor", "numpy", laid_out((2,), "reversed"), False),
        ("torch takes the memory of a tensor", "numpy", laid_out((), "reversed"), True),
        ("torch takes the memory of a tensor", "numpy", laid_out((2,), "readonly"), False),
    ],
)
def test_condition(name: str, rule: str, case: Case, holds: bool) -> None:
    assert CONDITIONS[name](RULES[rule], case) is holds


def test_torch_is_not_asked_for_negative_strides() -> None:
    torch, case = PEERS["torch"], Case(((2, 3),), (2, 3))
    for strides, reason in (
        ((12, 4), None),
        ((0, 0), None),
        ((12, -4), "torch has no negative strides"),
    ):
        assert torch.left_out("numpy", "strides", case._replace(strides=strides)) == reason
    assert torch.left_out("numpy", "strides", Case(((),), (2,), strides=())) is None
