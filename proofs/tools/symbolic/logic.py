"""Formulas of integers and of Z3's terms alike: what is known is computed, the rest is a term."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

# An int or a term of Z3; a bool or a formula of Z3.
Whole: TypeAlias = Any
Truth: TypeAlias = Any


def both(*parts: Truth) -> Truth:
    """Join formulas by `and`."""
    return every(parts)


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


def either(condition: Truth, one: Whole, other: Whole) -> Whole:
    """Choose a number by a condition."""
    if isinstance(condition, bool):
        return one if condition else other
    return z3.If(condition, one, other)


def first(choices: Iterable[tuple[Truth, Whole]], otherwise: Whole) -> Whole:
    """Take the number of the first condition that holds."""
    found = otherwise
    for condition, number in reversed(list(choices)):
        found = either(condition, number, found)
    return found


def largest(numbers: Sequence[Whole]) -> Whole:
    """Take the maximum."""
    found = numbers[0]
    for number in numbers[1:]:
        found = either(number > found, number, found)
    return found


def product(numbers: Sequence[Whole]) -> Whole:
    """Multiply; 1 of no number."""
    found: Whole = 1
    for number in numbers:
        found = number * found
    return found


def count(conditions: Iterable[Truth]) -> Whole:
    """Count the conditions that hold."""
    found: Whole = 0
    for condition in conditions:
        found = found + either(condition, 1, 0)
    return found


def at(numbers: Sequence[Whole], place: Whole) -> Whole:
    """Take the number at a place that may be unknown, and is one of the sequence."""
    if isinstance(place, int):
        return numbers[place]
    return first([(place == k, number) for k, number in enumerate(numbers)], 0)


def formula(part: Truth) -> z3.BoolRef:
    """Give a formula to Z3."""
    return z3.BoolVal(part) if isinstance(part, bool) else part


# --- what a call comes to ---------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """A value of one of the kernel's classes, by its name and its fields in their order."""

    name: str
    fields: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Returns:
    """A value is returned."""

    value: Any


@dataclass(frozen=True)
class Raises:
    """One of the kernel's exceptions is raised, with what it carries."""

    name: str
    carries: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Case:
    """What a call comes to where `when` holds, and the condition of no case before."""

    when: Truth
    outcome: Returns | Raises


def same(one: Any, other: Any) -> Truth:
    """Say when two values are equal, in type and elements: a formula of the numbers in them."""
    if isinstance(one, Record) and isinstance(other, Record):
        return one.name == other.name and same(one.fields, other.fields)
    if isinstance(one, Returns) and isinstance(other, Returns):
        return same(one.value, other.value)
    if isinstance(one, Raises) and isinstance(other, Raises):
        return one.name == other.name and same(one.carries, other.carries)
    if isinstance(one, (tuple, list)) and type(one) is type(other):
        if len(one) != len(other):
            return False
        return every(same(a, b) for a, b in zip(one, other, strict=True))
    if is_number(one) and is_number(other):
        return one == other
    return one is other


def is_number(value: Any) -> bool:
    """Tell an int or a term from what is no number, as a truth value is."""
    return type(value) is int or isinstance(value, z3.ArithRef)
