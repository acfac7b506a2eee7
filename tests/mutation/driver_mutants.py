"""Mutants of the driver: each Python expression that it maps a symbol to, changed in one place.

The trial of the gate has to refuse each of them on some values.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from assurance import mapped, trial
from assurance.whygate import Whygate

ROOT = Path(__file__).parents[2]


class Mapping(NamedTuple):
    """A wrong mapping of a symbol, and whether its contract refuses it."""

    symbol: str
    old: str
    new: str
    refused: bool


def tried(operators: list[Any]) -> Iterator[Mapping]:
    """Change every template by the operators of Cosmic Ray, and try it."""
    mutating: Any = importlib.import_module("cosmic_ray.mutating")
    entries = [e for e in mapped.read(ROOT, "Python") if e.kind == "val"]
    there = trial.operations(Whygate(ROOT), sorted({e.module for e in entries}), "Python")
    for entry in entries:
        # The arguments, for the while, under names that Python has.
        code = re.sub(r"%(\d)", r"v\1", entry.template) + "\n"
        for operator in operators:
            occurrence = 0
            while (changed := mutating.mutate_code(code, operator, occurrence)) is not None:
                occurrence += 1
                if changed != code:
                    new = re.sub(r"\bv(\d)\b", r"%\1", changed).strip()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", SyntaxWarning)
                        wrong = entry._replace(template=new)
                        refused = next(trial.faults(there[entry.name], wrong, None), None)
                    yield Mapping(entry.name, entry.template, new, refused is not None)
