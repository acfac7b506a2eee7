"""Texts of shapes, and the usage error, for the command line and the models."""

from __future__ import annotations

from collections.abc import Sequence

from whycast._types import Shape


class UsageError(Exception):
    """A wrong use of the command line: exit code 2."""


def show_sizes(sizes: Shape) -> str:
    """Return a shape as the command line reads it, such as 3x1 or ()."""
    return "x".join(map(str, sizes)) or "()"


def show_named(sizes: Sequence[int | str]) -> str:
    """Return a shape whose sizes may have names, such as N×3 or ()."""
    return "×".join(map(str, sizes)) or "()"
