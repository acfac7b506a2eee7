"""MISRA C:2012: a row for each rule, for the pages and the tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

MATRIX = "tests/c/misra.toml"


class Row(NamedTuple):
    """A rule, or a directive (with a D), and how the C keeps it."""

    rule: str
    category: str
    status: str
    by: str
    places: int
    reason: str


def number(rule: str) -> tuple[bool, int, int]:
    """Return a rule's place in the order: directives first."""
    first, _, second = rule.lstrip("D").partition(".")
    return not rule.startswith("D"), int(first), int(second)


def rows(matrix: Mapping[str, Any]) -> list[Row]:
    """Return the matrix's rows, one for each rule."""
    found = [("deviation", rule, by, n, why) for rule, n, by, why in matrix["deviations"]]
    for by, why, rules in matrix["compliant"]:
        found += [("compliant", rule, by, 0, why) for rule in rules.split()]
    for _, what, rules in matrix["absent"]:
        why = f"The C has none: {what}."
        found += [("not applicable", rule, "the words", 0, why) for rule in rules.split()]
    categories = {rule: name for name in ("mandatory", "advisory") for rule in matrix[name].split()}
    made = [Row(r, categories.pop(r, "required"), s, by, n, why) for s, r, by, n, why in found]
    assert not categories, f"no rule, or listed twice: {[*categories]}"
    return sorted(made, key=lambda row: number(row.rule))
