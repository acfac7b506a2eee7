"""Judge answers about shapes whose sizes have names: numbers replace the names.

Shapes and conditions only compare sizes with each other and with numbers. So the judge only
tries 0, 1, the numbers of the shapes and the condition, and one more number for each name.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, islice, product, zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias

from whycast._rules import Rule
from whycast._types import Shape
from whycast.symbolic import Answer, Clause, Condition, OneOf, Size
from whycast.testing._cases._case import Case, names_in, replaced
from whycast.testing._report._compare import Finding, one_line, show

Numbers: TypeAlias = Mapping[str, int]

# "cautious": a refusal that is right for some numbers; "open" and "": right; others: deviations.
Verdict: TypeAlias = Literal["accepts", "refuses", "condition", "shape", "cautious", "open", ""]

_EQUATION = re.compile(r"(\w+) = (\w+)")


class Claim(NamedTuple):
    """An answer: sizes, None for an open size, and the condition, if any."""

    sizes: tuple[Size | None, ...]
    condition: Condition | None


class Judged(NamedTuple):
    """The verdict, and numbers that show it, with the rule's shape and the claimed shape."""

    verdict: Verdict
    numbers: Numbers
    right: Shape | None = None
    claimed: tuple[int | None, ...] | None = None


def read_claim(value: Any) -> Claim:
    """Read the answer of a function; raise an exception if it is malformed.

    >>> read_claim((("N", 4, None, -1), ["N = 1 or N = M"])).sizes
    ('N', 4, None, None)
    """
    if isinstance(value, Answer):
        zeros = value.zeros if value.rule == "sonnx" else ()
        return Claim(value.shape, Condition((*value.condition, *zeros)))
    sizes, condition = tuple(value), None
    if len(sizes) == 2 and isinstance(sizes[0], Iterable) and not isinstance(sizes[0], str):
        sizes, condition = tuple(sizes[0]), sizes[1]
    read = None if condition is None else Condition(map(_clause, condition))
    return Claim(tuple(map(_size, sizes)), read)


def _size(size: Any) -> Size | None:
    if size is None or isinstance(size, (str, OneOf)):
        return size
    number = operator.index(size)
    return None if number < 0 else number


def _clause(clause: Any) -> Any:
    """Read a clause from a text; return other values unchanged."""
    if not isinstance(clause, str):
        return clause
    found = []
    for text in clause.split(" or "):
        if (equation := _EQUATION.fullmatch(text.strip())) is None:
            raise ValueError(f"expected such as 'N = 1 or N = M', got {clause!r}")
        a, b = (int(side) if side.isdecimal() else side for side in equation.groups())
        found.append((a, b))
    return Clause(tuple(found))


def right_answer(rule: Rule, case: Case) -> Answer | ValueError:
    assert rule.named is not None
    try:
        return rule.named(*case.every_shape)
    except ValueError as error:
        return error


def judged(rule: Rule, case: Case, claim: Claim | None) -> Judged:
    names = names_in(case)
    found = [(numbers, rule.shape(replaced(case, numbers))) for numbers in _instances(case, claim)]
    agreed = [each for each in found if each[1] is not None]
    told = agreed
    if claim is not None and claim.condition is not None:
        told = [each for each in found if claim.condition.holds(each[0])]
    if claim is None or (not told and claim.condition is not None):
        verdict: Verdict = "cautious" if agreed else ""
        return Judged("refuses" if len(agreed) == len(found) else verdict, *found[0])
    if not agreed:
        return Judged("accepts", {})
    for numbers, shape in told:
        if shape is None:
            return Judged("condition", numbers)
        own = tuple([_number(size, numbers) for size in claim.sizes])
        pairs = zip_longest(own, shape, fillvalue=-1)
        if len(own) != len(shape) or any(a not in (None, b) for a, b in pairs):
            return Judged("shape", numbers, shape, own)
    is_open = any(_number(size, dict.fromkeys(names, 0)) is None for size in claim.sizes)
    return Judged("open" if is_open else "", {})


def _instances(case: Case, claim: Claim | None) -> Iterator[Numbers]:
    """Return all combinations of numbers for the names: 1 first, 0 last."""
    sizes: list[Any] = [size for shape in case.every_shape for size in shape]
    names = names_in(case)
    for part in (claim and claim.condition) or ():
        ends = part.equations if isinstance(part, Clause) else ((part.zero, part.one),)
        sizes += [end for pair in ends for end in pair]
    known = {1, *(size for size in sizes if isinstance(size, int) and size > 1)}
    known |= {*islice((size for size in count(2) if size not in known), len(names))}
    for values in product((*sorted(known), 0), repeat=len(names)):
        yield dict(zip(names, values, strict=True))


def _number(size: Size | None, numbers: Numbers) -> int | None:
    if isinstance(size, OneOf):
        return next((numbers[n] for n in size.sizes if numbers.get(n, 1) != 1), 1)
    return numbers.get(size) if isinstance(size, str) else size


def finding(rule: Rule, case: Case, claim: Claim | None, got: str, found: Judged) -> Finding:
    """Describe a deviation, and the numbers that show it; `got` is the text of a refusal."""
    kind, numbers, right, claimed = found
    wanted = str(right_answer(rule, case)).partition("\n")[0]
    if claim is not None:
        sizes = tuple(["?" if size is None else size for size in claim.sizes])
        got = str(Answer(sizes, claim.condition or Condition()))
    where = ", ".join(f"{name} = {number}" for name, number in numbers.items())
    if kind == "accepts":
        wanted = f"refusal: {wanted}"
    elif kind == "condition":
        got = f"{got}, also where {where}"
    elif kind == "shape" and where:
        wanted = f"{wanted}, so {show(right)} where {where}"
        got = f"{got}, so {show(claimed)} where {where}"
    return Finding(kind, "", wanted, one_line(got))
