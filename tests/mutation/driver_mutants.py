"""Mutants of the driver: each Python expression that it maps a symbol to, changed in one place.

Its contract in tests/extraction has to refuse each of them on some values.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple


class Mapping(NamedTuple):
    """A wrong mapping of a symbol, and whether its contract refuses it."""

    symbol: str
    old: str
    new: str
    refused: bool


def tried(operators: list[Any]) -> Iterator[Mapping]:
    """Change every template by the operators of Cosmic Ray, and ask the contract of its symbol."""
    trusted: Any = importlib.import_module("test_trusted")
    mutating: Any = importlib.import_module("cosmic_ray.mutating")
    for symbol, template in trusted.TEMPLATES.items():
        # The arguments, for the while, under names that Python has.
        code = re.sub(r"%(\d)", r"v\1", template) + "\n"
        for operator in operators:
            occurrence = 0
            while (changed := mutating.mutate_code(code, operator, occurrence)) is not None:
                occurrence += 1
                if changed != code:
                    new = re.sub(r"\bv(\d)\b", r"%\1", changed).strip()
                    yield Mapping(symbol, template, new, refuses(trusted, symbol, new))


def refuses(trusted: Any, symbol: str, template: str) -> bool:
    """Whether the contract of a symbol refuses a template; one that is no Python is refused."""
    templates = {**trusted.TEMPLATES, symbol: template}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            return next(trusted.refuted(symbol, templates), None) is not None
        except Exception:
            return True
