"""Texts of shapes and axes, short whatever their ranks are, for explanations and figures."""

from __future__ import annotations

from whycast._command._arguments import show_integers
from whycast._errors import show_int
from whycast._rules import Operands, Rule
from whycast._types import Shape

_MOST_AXES_OF_A_SHAPE = 16
_MOST_AXES_NAMED = 12


def elided(sizes: Shape, at_an_end: int = 5) -> str:
    """Text of a shape; of a long one, both ends.

    >>> elided((3, 1)), elided((2, 1) * 20, at_an_end=2)
    ('3x1', '2x1x...x2x1 (rank 40)')
    """
    shown = list(map(show_int, sizes))
    if len(sizes) <= _MOST_AXES_OF_A_SHAPE:
        return "x".join(shown) or "()"
    shown[at_an_end:-at_an_end] = ["..."]
    return f"{'x'.join(shown)} (rank {len(sizes)})"


def show_some(axes: tuple[int, ...]) -> str:
    """Text of axes; of many, the first ones.

    >>> show_some(tuple(range(40)))
    '0,1,2,3,4,5,6,7,8,9,10,11,...'
    """
    more = ",..." if len(axes) > _MOST_AXES_NAMED else ""
    return show_integers(axes[:_MOST_AXES_NAMED]) + more


def headline(rule: Rule, asked: Operands, result: Shape | None) -> str:
    """Say what is asked, and what comes of it."""
    text = ", ".join(map(elided, asked.shapes))
    if asked.target is not None:
        text += f" to {elided(asked.target)}"
    if asked.axes is not None:
        text += f", {rule.parameters[2]} {show_some(asked.axes)}"
    return f"{rule.title}: {text} -> {'refused' if result is None else elided(result)}"
