"""The operations that the proofs trust: each contract of why3/trusted/python.mlw, tried on values.

The Python is read from the driver of the extraction, so that what is tried is what is printed. The
contracts are written here a second time, as Python, clause by clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import judge
import prooftool
from hypothesis import given
from hypothesis import strategies as st

DRIVER = prooftool.ROOT / "why3" / "extraction" / "python.drv"

# Elements that are told apart by identity: a copy of an element would show as well.
elements = st.builds(object)
tuples = st.lists(elements).map(tuple)
lists = st.lists(elements)


def operations() -> dict[str, str]:
    """Read from the driver what each trusted operation is in Python."""
    section = re.search(
        r"^module trusted\.python\.Tuple$(.*?)^end$",
        DRIVER.read_text(encoding="utf-8"),
        re.M | re.S,
    )
    assert section is not None
    return dict(re.findall(r'syntax val (\w+) "([^"]+)"', section[1]))


OPERATIONS = operations()


def operation(name: str, arguments: int) -> Callable[..., Any]:
    """Make a function of the Python expression that the driver has for an operation."""
    expression = re.sub(r"%(\d)", r"x\1", OPERATIONS[name])
    parameters = ", ".join(f"x{number}" for number in range(1, arguments + 1))
    function: Callable[..., Any] = eval(f"lambda {parameters}: {expression}")
    return function


def same(left: Sequence[object], right: Sequence[object]) -> bool:
    """Compare length and elements, these by identity."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


def test_these_are_all_that_the_proofs_trust() -> None:
    """[E_Broadcast_any_Derived_190]"""
    prooftool.build()
    audit = prooftool.goals([judge.TRUSTED])["audit"]
    assert [assumed["name"] for assumed in judge.trusted(audit)] == list(OPERATIONS)
    assert set(OPERATIONS) == {"ix", "thaw", "freeze"}


@given(st.data(), tuples.filter(bool))
def test_ix_is_the_element_at_an_index_in_range(
    data: st.DataObject, values: tuple[object, ...]
) -> None:
    """[E_Broadcast_any_Derived_190]"""
    index = data.draw(st.integers(0, len(values) - 1))
    (expected,) = [value for place, value in enumerate(values) if place == index]
    assert operation("ix", 2)(values, index) is expected


@given(tuples)
def test_thaw_is_a_new_list_of_the_elements(values: tuple[object, ...]) -> None:
    """[E_Broadcast_any_Derived_190]"""
    thaw = operation("thaw", 1)
    before = list(values)
    thawed = thaw(values)
    assert type(thawed) is list
    assert same(thawed, values)
    thawed.append(None)
    thawed[0] = None
    assert same(values, before)
    assert same(thaw(values), before)


@given(lists)
def test_freeze_is_a_tuple_of_the_elements_that_the_list_has_now(values: list[object]) -> None:
    """[E_Broadcast_any_Derived_190]"""
    freeze = operation("freeze", 1)
    before = list(values)
    frozen = freeze(values)
    assert type(frozen) is tuple
    assert same(frozen, before)
    assert same(values, before)
    values.append(None)
    values[0] = None
    assert same(frozen, before)
