"""Helpers for tests of the command line and of its lines of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from plain_rule import Shape as Shape
from plain_rule import all_shapes

from whycast._command import main
from whycast._rules import RULES, Operands, Rule

SMALL = all_shapes(2, 2)


class Done(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Done]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command line on the words of a text."""

    def run(words: str) -> Done:
        code = main(words.split())
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def word(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "()"


def axes_of(rule: Rule, own: Shape, target: Shape) -> tuple[int, ...] | None:
    """Return the axes that put `own` last in the target; too few if its rank is too large."""
    if rule.takes != "axes":
        return None
    missing = max(0, len(target) - len(own))
    return rule.axes_for(range(missing, len(target)), len(target))


def small_operands() -> Iterator[tuple[Rule, Operands, str]]:
    """Yield every rule with all pairs of small shapes, and the command line's words for them."""
    for rule in RULES.values():
        for own, target in product(SMALL, repeat=2):
            words = f"--rule {rule.name} {word(own)} {word(target)}"
            if rule.takes == "tensors":
                yield rule, Operands((own, target)), words
                continue
            axes = axes_of(rule, own, target)
            if axes is not None:
                words += f" --axes {','.join(map(str, axes)) or '()'}"
            yield rule, Operands((own,), target, axes), words


def assert_same(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
    """Demand equal arrays; the dtypes of strings may differ in width."""
    assert (x.shape, x.dtype.kind) == (y.shape, y.dtype.kind)
    if x.dtype.kind in "OTU":
        assert x.tolist() == y.tolist()
    else:
        assert (x.dtype, x.tobytes()) == (y.dtype, y.tobytes())
