"""Readers and writers of the command line's shapes, integers and questions."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import count as count_from
from pathlib import Path
from typing import Any, TypeAlias, cast

from whycast._checks import cut
from whycast._errors import BroadcastError, show_int
from whycast._rules import RULES, Operands, Rule, names_of
from whycast._types import Shape
from whycast._usage import UsageError
from whycast.symbolic import Answer, NeverError, facts_of

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
NamedShape: TypeAlias = "tuple[int | str, ...]"

# By default, Python prints at most 4300 digits; a product of two arguments must fit.
_MOST_DIGITS = 2000

# "1,000" is not the shape 1x0.
_SIZE = "(?:0|[1-9][0-9]*)"

_NAME = r"[^\W\d_]\w*"
_NO_X = r"[^\W\d_xX][^\WxX]*"
_UNNAMED = rf"(?:{_SIZE}|\?)"

_MOST_AXES_OF_A_SHAPE, _MOST_AXES_NAMED = 16, 12


def _pattern(number: str, *forms: str, one: str = "") -> str:
    """Return a pattern of numbers with commas, of a single number (`one`), and of other forms."""
    commas = rf"(?:{number}(?: *, *{number})+|{one or number})"
    # Without brackets, "3," may be the first word of "3, 1".
    inside = rf" *(?:{commas} *(?:, *)?|{number} *, *)?"
    return "|".join(
        (*forms, commas, rf"\({inside}\)", rf"\[{inside}\]", rf"torch\.Size\(\[{inside}\]\)")
    )


# The site's page Play uses SHAPE, SIZES and NAMED, too.
SHAPE = _pattern(_SIZE, "scalar", rf"{_SIZE}(?: *[xX×] *{_SIZE})*")
SIZES = "sizes of at least 0, such as 3x1, 3,1 or (3, 1), or () for rank 0"

# An x between two names may be part of a name.
_SPLIT = rf"(?:{_UNNAMED} *[xX×] *|{_NO_X} *(?:×|[xX](?= *[0-9?])) *)*(?:{_UNNAMED}|{_NO_X})"
NAMED = _pattern(f"(?:{_UNNAMED}|{_NAME})", _SPLIT, one=f"(?:{_UNNAMED}|{_NO_X})")
_NAMED_SIZES = "sizes of at least 0, or names, such as 3x1, N,4 or (N, 4), or () for rank 0"


def shape(text: str) -> Shape:
    """Read a shape, also as Python, NumPy and torch print it.

    >>> shape("3x1"), shape("3X1"), shape("3×1"), shape("3,1"), shape("(3, 1)"), shape("[3,1]")
    ((3, 1), (3, 1), (3, 1), (3, 1), (3, 1), (3, 1))
    >>> shape("0"), shape("(3,)"), shape("()"), shape("scalar"), shape("torch.Size([3, 1])")
    ((0,), (3,), (), (), (3, 1))
    """
    word = text.strip()
    if not re.fullmatch(SHAPE, word) and re.fullmatch(NAMED, word):
        got = f"got a name in {cut(word)!r}; shape and explain take names"
        raise argparse.ArgumentTypeError(f"expected numbers here, {got}")
    return _numbers(text, SHAPE, SIZES)


def named_shape(text: str) -> NamedShape:
    """Read a shape whose sizes may have names; ``?`` is unknown.

    >>> named_shape("3x1"), named_shape("Nx3x?"), named_shape("N,M"), named_shape("(max_x,)")
    ((3, 1), ('N', 3, '?'), ('N', 'M'), ('max_x',))
    >>> named_shape("scalar"), named_shape("N×M"), named_shape("torch.Size([N, 1])")
    ((), ('N', 'M'), ('N', 1))
    """
    word = text.strip()
    if re.fullmatch(SHAPE, word):
        return shape(text)
    if not re.fullmatch(NAMED, word):
        expected = _NAMED_SIZES
        asked = (re.sub(" *[xX×] *", ",", word), f"({word},)")
        forms = [each for each in asked if re.fullmatch(NAMED, each)]
        if forms and not re.fullmatch(SHAPE, forms[0]):
            expected = f"commas where a name has an x: {' or '.join(map(repr, map(cut, forms)))}"
        raise _wrong(expected, word)
    if len(word) > _MOST_DIGITS:
        raise _wrong(f"at most {_MOST_DIGITS} letters and digits", word)
    name = _NO_X if re.fullmatch(_SPLIT, word) else _NAME
    found = re.findall(rf"{_UNNAMED}|{name}", word.removeprefix("torch.Size"))
    return tuple([int(size) if re.fullmatch(_SIZE, size) else size for size in found])


def known(text: str) -> list[tuple[str, str]]:
    """Read facts about names, as `whycast.symbolic` takes them.

    >>> known("N>=2,M=N"), known("K = 3")
    ([('N', '>=2'), ('M', '=N')], [('K', '= 3')])
    """
    facts = [re.fullmatch(rf" *({_NAME}|\?[0-9]+) *(.*?) *", each) for each in text.split(",")]
    read = [(each[1], each[2]) for each in facts if each]
    try:
        if len(text) <= _MOST_DIGITS and len(read) == len(facts):
            # Check each fact alone: `answered` rejects two facts for a name.
            return [fact for fact in read if facts_of(dict([fact]))]
    except ValueError:
        pass
    raise _wrong("such as 'N>=2,M=N'", text)


def path(text: str) -> Path:
    with suppress(UnicodeEncodeError):
        if b"\0" not in os.fsencode(text):
            return Path(text)
    raise argparse.ArgumentTypeError(f"expected the name of a file, got {text!r}")


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
    def read(text: str) -> int:
        if not re.fullmatch(f"[0-9]{{1,{_MOST_DIGITS}}}", text.strip()) or int(text) < least:
            raise _wrong(f"an integer of at least {least}", text.strip())
        return int(text)

    return read


def _numbers(text: str, pattern: str, expected: str) -> tuple[int, ...]:
    word = text.strip()
    if not re.fullmatch(pattern, word):
        raise _wrong(expected, word)
    found: list[str] = re.findall("-?[0-9]+", word)
    if sum(map(len, found)) > _MOST_DIGITS:
        raise _wrong(f"at most {_MOST_DIGITS} digits", word)
    return tuple(map(int, found))


def _wrong(expected: str, word: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"expected {expected}, got {cut(word)!r}")


def show_integers(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers)) or "()"


def elided(sizes: Sequence[object], at_an_end: int = 5) -> str:
    """Return a shape's text, or both ends of a long one.

    >>> elided((3, 1)), elided(("N", 1)), elided((2, 1) * 20, at_an_end=2)
    ('3x1', 'N×1', '2x1x...x2x1 (rank 40)')
    """
    texts = [show_int(size if isinstance(size, int) else str(size)) for size in sizes]
    shown = both_ends(texts, "...", at_an_end)
    text = ("x" if all(isinstance(size, int) for size in sizes) else "×").join(shown) or "()"
    return text if len(shown) == len(sizes) else f"{text} (rank {len(sizes)})"


def both_ends(items: list[str], gap: str, at_an_end: int = 5) -> list[str]:
    if len(items) <= _MOST_AXES_OF_A_SHAPE:
        return items
    return [*items[:at_an_end], gap, *items[-at_an_end:]]


def show_some(axes: tuple[int, ...]) -> str:
    more = ",..." if len(axes) > _MOST_AXES_NAMED else ""
    return show_integers(axes[:_MOST_AXES_NAMED]) + more


def headline(rule: Rule, asked: Operands, result: Sequence[object] | None) -> str:
    text = ", ".join(map(elided, asked.shapes))
    if asked.target is not None:
        text += f" to {elided(asked.target)}"
    if asked.axes is not None:
        text += f", {rule.parameters[2]} {show_some(asked.axes)}"
    return f"{rule.title}: {text} -> {'refused' if result is None else elided(result)}"


def add_rule(parser: argparse.ArgumentParser) -> None:
    about = f"one of {', '.join(RULES)}; by default sonnx"
    parser.add_argument("--rule", choices=RULES, default="sonnx", metavar="RULE", help=about)


def add_shapes(parser: argparse.ArgumentParser, more: str) -> None:
    parser.add_argument(
        "shapes",
        nargs="+",
        type=named_shape,
        metavar="SHAPE",
        help="sizes such as 3x1, 3,1 or '(3, 1)'; () or scalar for rank 0. A size may also be a "
        "name that begins with a letter, as in N,4 or Nx4 (a name with an x needs commas), or ? "
        f"for unknown. {more}",
    )
    facts: Any = {"type": known, "action": "extend", "default": [], "metavar": "FACTS"}
    about = "facts about names, such as 'N>=2,M=N'; at most one for each name"
    parser.add_argument("--known", **facts, help=about)
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    add_rule(parser)
    taken = [f"{each.name}: {each.told.axes}" for each in RULES.values() if each.takes == "axes"]
    about = "; ".join([*taken, "() for none"])
    parser.add_argument("--axes", type=integers, metavar="I,J,...", help=about)
    add_json(parser)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def operands(rule: Rule, shapes: Sequence[NamedShape], axes: tuple[int, ...] | None) -> Operands:
    """Return operands of a rule, with unknown sizes as names ?0, ?1, ..."""
    if names_in(shapes) and rule.named is None:
        able = ", ".join([each.name for each in RULES.values() if each.named])
        raise UsageError(f"rule {rule.name} takes numbers; {able} take names too")
    unknown = count_from()
    named = [[f"?{next(unknown)}" if size == "?" else size for size in own] for own in shapes]
    # Despite the type `Shape`, the shapes may contain names.
    shapes = cast("list[Shape]", [*map(tuple, named)])
    if rule.takes == "tensors" and axes is None:
        return Operands(tuple(shapes))
    if rule.takes != "tensors" and len(shapes) != 2:
        two = "two shapes, that of the tensor and the target"
        raise UsageError(f"rule {rule.name} takes {two}, got {len(shapes)}")
    return placed(rule, shapes[0], shapes[-1], axes)


def names_in(shapes: Sequence[NamedShape]) -> list[str]:
    return [size for own in shapes for size in own if isinstance(size, str)]


def answered(
    rule: Rule, asked: Operands, facts: Sequence[tuple[str, str]]
) -> Shape | Answer | ValueError:
    """Return a rule's shape, its answer if sizes have names, or its error."""
    shapes = asked.shapes if asked.target is None else (*asked.shapes, asked.target)
    names = names_in(shapes)
    if not names and not facts:
        error = rule.refusal(asked)
        return cast("Shape", rule.shape(asked)) if error is None else error
    said = dict(facts)
    if len(said) < len(facts):
        raise UsageError("--known: expected one fact for each name")
    others = {text.strip("\u2265>= ") for text in said.values()} if names else {}
    for name in said:
        if name not in names and name not in others:
            raise UsageError(f"--known: the shapes have no name {name}")
    assert rule.named is not None
    try:
        return rule.named(*shapes, known=said)
    except NeverError as error:
        return error


def placed(rule: Rule, own: Shape, target: Shape, axes: tuple[int, ...] | None) -> Operands:
    if rule.takes != "axes" and axes is not None:
        raise UsageError(f"--axes: rule {rule.name} takes none; {names_of('axes')} do")
    if rule.takes == "axes" and axes is None:
        raise UsageError(f"rule {rule.name} takes axes, its {rule.parameters[2]}: add --axes")
    return Operands((own,), target, axes)


def described(
    rule: Rule, operands: Operands, facts: Sequence[tuple[str, str]] = ()
) -> dict[str, Any]:
    asked: dict[str, Any] = {"rule": rule.name}
    if operands.target is None:
        asked["shapes"] = operands.shapes
    else:
        asked |= {"shape": operands.shapes[0], "target": operands.target}
    if operands.axes is not None:
        asked["axes"] = operands.axes
    return asked | ({"known": dict(facts)} if facts else {})


def outcome(answer: Shape | Answer | Exception | None) -> dict[str, Any]:
    if isinstance(answer, Exception):
        said: dict[str, Any] = {"refused": str(answer).partition("\n")[0]}
        if isinstance(answer, BroadcastError):
            said |= {name: getattr(answer, name) for name in ("axis", "tensor", "size")}
            said["expected"] = answer.target
        return said
    if not isinstance(answer, Answer):
        return {"result": answer}
    return {
        "result": [size if isinstance(size, int) else str(size) for size in answer.shape],
        "condition": [*map(str, answer.condition)],
        "condition of SONNX": [*map(str, answer.zeros)],
        "clauses": [*map(asdict, answer.condition)],
        "clauses of SONNX": [*map(asdict, answer.zeros)],
    }
