"""What the command line reads and prints, for the oracle and the models too."""

from __future__ import annotations

from collections.abc import Sequence

from whycast._types import Shape


class UsageError(Exception):
    """Words of the command line that are right one by one do not go together: exit code 2."""


def show_sizes(sizes: Shape) -> str:
    """Text of a shape as the command line reads it.

    >>> show_sizes((3, 1)), show_sizes(())
    ('3x1', '()')
    """
    return "x".join(map(str, sizes)) or "()"


def show_named(sizes: Sequence[int | str]) -> str:
    """Text of a shape whose sizes may have names, with an x in them too.

    >>> show_named(["N", 3]), show_named([])
    ('N×3', '()')
    """
    return "×".join(map(str, sizes)) or "()"
