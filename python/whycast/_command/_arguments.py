"""Shapes, integers and questions on the command line: how they are read and shown."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from whycast._checks import cut
from whycast._errors import BroadcastError, show_int
from whycast._rules import RULES, Operands, Rule, names_of
from whycast._types import Shape
from whycast._usage import UsageError

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

# Python converts no int of more than 4300 digits; products of two sizes have to be written too.
_MOST_DIGITS = 2000

# "1,000" is not the shape 1x0.
_SIZE = "(?:0|[1-9][0-9]*)"

# Explanations stay short at any rank.
_MOST_AXES_OF_A_SHAPE = 16
_MOST_AXES_NAMED = 12


def _pattern(number: str, *forms: str) -> str:
    """Match numbers with commas between them, in brackets or not, or one of other forms."""
    commas = rf"{number}(?: *, *{number})*"
    # Without brackets "3," may be half of "3, 1", which a shell splits.
    inside = rf" *(?:{commas} *(?:, *)?)?"
    return "|".join(
        (*forms, commas, rf"\({inside}\)", rf"\[{inside}\]", rf"torch\.Size\(\[{inside}\]\)")
    )


# The page of the documentation to play with uses this too.
SHAPE = _pattern(_SIZE, "scalar", rf"{_SIZE}(?: *[xX×] *{_SIZE})*")
SIZES = "sizes of at least 0, such as 3x1, 3,1 or (3, 1), or () for rank 0"


def shape(text: str) -> Shape:
    """Read a shape, written as on the command line or as in Python, NumPy and torch.

    >>> shape("3x1"), shape("3X1"), shape("3×1"), shape("3,1"), shape("(3, 1)"), shape("[3,1]")
    ((3, 1), (3, 1), (3, 1), (3, 1), (3, 1), (3, 1))
    >>> shape("0"), shape("(3,)"), shape("()"), shape("scalar"), shape("torch.Size([3, 1])")
    ((0,), (3,), (), (), (3, 1))
    """
    return _numbers(text, SHAPE, SIZES)


def path(text: str) -> Path:
    """Read the name of a file, existing or not."""
    try:
        named = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        named = False
    if not named:
        raise argparse.ArgumentTypeError(f"expected the name of a file, got {text!r}")
    return Path(text)


def integers(text: str) -> tuple[int, ...]:
    """Read axes, an index or strides.

    >>> integers("1,-2"), integers("(1, -2)"), integers("()")
    ((1, -2), (1, -2), ())
    >>> integers("1;2")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: expected integers with commas between them, such as 0,2, or () \
for none, got '1;2'
    """
    expected = "integers with commas between them, such as 0,2, or () for none"
    return _numbers(text, _pattern(f"-?{_SIZE}"), expected)


def count(least: int) -> Callable[[str], int]:
    """Return a reader of integers of at least `least`.

    >>> count(1)("0")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: expected an integer of at least 1, got '0'
    """

    def read(text: str) -> int:
        if not re.fullmatch(f"[0-9]{{1,{_MOST_DIGITS}}}", text.strip()) or int(text) < least:
            raise argparse.ArgumentTypeError(
                f"expected an integer of at least {least}, got {cut(text.strip())!r}"
            )
        return int(text)

    return read


def _numbers(text: str, pattern: str, expected: str) -> tuple[int, ...]:
    word = text.strip()
    if not re.fullmatch(pattern, word):
        raise argparse.ArgumentTypeError(f"expected {expected}, got {cut(word)!r}")
    found: list[str] = re.findall("-?[0-9]+", word)
    if sum(map(len, found)) > _MOST_DIGITS:
        raise argparse.ArgumentTypeError(
            f"expected at most {_MOST_DIGITS} digits, got {cut(word)!r}"
        )
    return tuple(map(int, found))


def show_integers(numbers: tuple[int, ...]) -> str:
    """Write an index, strides or axes so that `integers` can read them."""
    return ",".join(map(str, numbers)) or "()"


def elided(sizes: Shape, at_an_end: int = 5) -> str:
    """Write a shape; of a long one, both ends.

    >>> elided((3, 1)), elided((2, 1) * 20, at_an_end=2)
    ('3x1', '2x1x...x2x1 (rank 40)')
    """
    shown = both_ends([*map(show_int, sizes)], "...", at_an_end)
    text = "x".join(shown) or "()"
    return text if len(shown) == len(sizes) else f"{text} (rank {len(sizes)})"


def both_ends(items: list[str], gap: str, at_an_end: int = 5) -> list[str]:
    if len(items) <= _MOST_AXES_OF_A_SHAPE:
        return items
    return [*items[:at_an_end], gap, *items[-at_an_end:]]


def show_some(axes: tuple[int, ...]) -> str:
    """Write axes; of many, the first ones.

    >>> show_some(tuple(range(40)))
    '0,1,2,3,4,5,6,7,8,9,10,11,...'
    """
    more = ",..." if len(axes) > _MOST_AXES_NAMED else ""
    return show_integers(axes[:_MOST_AXES_NAMED]) + more


def headline(rule: Rule, asked: Operands, result: Shape | None) -> str:
    text = ", ".join(map(elided, asked.shapes))
    if asked.target is not None:
        text += f" to {elided(asked.target)}"
    if asked.axes is not None:
        text += f", {rule.parameters[2]} {show_some(asked.axes)}"
    return f"{rule.title}: {text} -> {'refused' if result is None else elided(result)}"


def add_rule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rule",
        choices=RULES,
        default="sonnx",
        metavar="RULE",
        help=f"one of {', '.join(RULES)}; by default sonnx",
    )


SHAPE_HELP = "sizes such as 3x1, 3,1 or '(3, 1)'; () or scalar for rank 0. "


def add_options(parser: argparse.ArgumentParser) -> None:
    add_rule(parser)
    parser.add_argument(
        "--axes",
        type=integers,
        metavar="I,J,...",
        help="; ".join(
            f"{each.name}: {each.told.axes}" for each in RULES.values() if each.takes == "axes"
        )
        + "; () for none",
    )
    add_json(parser)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def operands(rule: Rule, shapes: list[Shape], axes: tuple[int, ...] | None) -> Operands:
    """Sort shapes and axes into operands, if the rule takes so many."""
    if rule.takes == "tensors" and axes is None:
        return Operands(tuple(shapes))
    if rule.takes != "tensors" and len(shapes) != 2:
        raise UsageError(
            f"rule {rule.name} takes two shapes, that of the tensor and the target, "
            f"got {len(shapes)}"
        )
    return placed(rule, shapes[0], shapes[-1], axes)


def placed(rule: Rule, own: Shape, target: Shape, axes: tuple[int, ...] | None) -> Operands:
    """Sort a shape, its target and axes into operands, if the rule takes axes or there are none."""
    if rule.takes != "axes" and axes is not None:
        raise UsageError(f"--axes: rule {rule.name} takes none; {names_of('axes')} do")
    if rule.takes == "axes" and axes is None:
        raise UsageError(f"rule {rule.name} takes axes, its {rule.parameters[2]}: add --axes")
    return Operands((own,), target, axes)


def described(rule: Rule, operands: Operands) -> dict[str, Any]:
    asked: dict[str, Any] = {"rule": rule.name}
    if operands.target is None:
        asked["shapes"] = operands.shapes
        return asked
    asked |= {"shape": operands.shapes[0], "target": operands.target}
    return asked if operands.axes is None else asked | {"axes": operands.axes}


def refused(error: Exception) -> dict[str, Any]:
    """Return a refusal for JSON: its axis is the target's, or the common rank's."""
    said: dict[str, Any] = {"refused": str(error).partition("\n")[0]}
    if isinstance(error, BroadcastError):
        said |= {"axis": error.axis, "tensor": error.tensor}
        said |= {"size": error.size, "expected": error.target}
    return said
