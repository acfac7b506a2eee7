"""Formulas of integers and of Z3's terms alike: what is known is computed, the rest is a term."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import z3

# A bool or a formula of Z3.
Truth: TypeAlias = Any


def every(parts: Iterable[Truth]) -> Truth:
    """Say that all of the formulas hold."""
    found = [part for part in parts if part is not True]
    if any(part is False for part in found):
        return False
    return z3.And(*found) if len(found) > 1 else found[0] if found else True


def some(parts: Iterable[Truth]) -> Truth:
    """Say that one of the formulas holds at least."""
    found = [part for part in parts if part is not False]
    if any(part is True for part in found):
        return True
    return z3.Or(*found) if len(found) > 1 else found[0] if found else False


def opposite(part: Truth) -> Truth:
    """Turn a formula round."""
    return not part if isinstance(part, bool) else z3.Not(part)


def formula(part: Truth) -> z3.BoolRef:
    """Give a formula to Z3."""
    return z3.BoolVal(part) if isinstance(part, bool) else part


def is_number(value: Any) -> bool:
    """Tell an int or a term from what is no number, as a truth value is."""
    return type(value) is int or isinstance(value, z3.ArithRef)
