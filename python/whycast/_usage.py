"""The command line's text of shapes, for the oracle and the models too."""

from __future__ import annotations

from collections.abc import Sequence

from whycast._types import Shape


class UsageError(Exception):
    """Words of the command line that are right one by one do not go together: exit code 2."""


def show_sizes(sizes: Shape) -> str:
    """Text of a shape as the command line reads it, such as 3x1 or ()."""
    return "x".join(map(str, sizes)) or "()"


def show_named(sizes: Sequence[int | str]) -> str:
    """Text of a shape whose sizes may have names, with an x in them too: N×3 or ()."""
    return "×".join(map(str, sizes)) or "()"
