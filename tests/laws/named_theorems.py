"""The check that every test of a module of laws names the theorems it executes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

THEORIES = Path(__file__).parents[1] / "why3"
THEOREM = re.compile(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b(?!\.mlw)")
THEORY = re.compile(r"\b\w+\.mlw")


def assert_every_test_names_a_theorem(module: str, at_least: int) -> None:
    """Demand that the docstring of each test names lemmas, and theories that have them."""
    tests = [
        function
        for name, function in vars(sys.modules[module]).items()
        if name.startswith("test_") and name != "test_every_test_names_a_theorem"
    ]
    assert len(tests) >= at_least
    for function in tests:
        theories = [(THEORIES / name).read_text() for name in THEORY.findall(function.__doc__)]
        theorems = THEOREM.findall(function.__doc__)
        assert theorems, function
        for name in theorems:
            assert any(re.search(rf"\blemma {name}\b", text) for text in theories), name
