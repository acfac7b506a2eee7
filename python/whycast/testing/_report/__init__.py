"""The findings of a check: for people, for programs, and for collectors of tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from whycast._rules import Rule
from whycast._types import AnyArray
from whycast.testing._cases._case import OF_ARRAYS, Case, Level, asked
from whycast.testing._report._compare import KINDS

# Arrays of so few elements, of these dtypes, are written out in calls.
_MOST_LITERAL = 8
_LITERAL = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))

# Longer texts are cut where people read them, not in JSON.
_MOST_SHOWN = 800


@dataclass(frozen=True)
class Deviation:
    """Cases in which an implementation deviates in one way, with the smallest of them.

    Parameters
    ----------
    level : str
        What was asked.
    stages : mapping
        How many cases of each stage deviate.
    kind : str
        The kind of deviation, in one word or two.
    detail : str
        What the cases have in common besides: an exception's name, or ``with a size of 0``.
    case : Case
        The smallest of these cases that was found.
    call : str
        A call that reproduces it.
    expected, got : str
        The rule's answer, and the implementation's.
    clause : str
        Identifier of the clause that settles it; empty where no text does.

    Notes
    -----
    Each parameter is an attribute of the same name. ``str()`` is its text in reports.
    """

    level: str
    stages: Mapping[str, int]
    kind: str
    detail: str
    case: Case
    call: str
    expected: str
    got: str
    clause: str

    @property
    def count(self) -> int:
        """How many cases deviate."""
        return sum(self.stages.values())

    def __str__(self) -> str:
        words = " ".join(filter(None, [KINDS[self.kind].says, self.detail]))
        first = f"{self.level}: {words}: {_cases(self.count)}"
        names = ("call", "expected", "got", "clause")
        told = [(name, getattr(self, name)) for name in names]
        return "\n".join([first, *[f"    {name:<8}  {_cut(text)}" for name, text in told if text]])


@dataclass(frozen=True)
class Report:
    """What a check has found.

    Parameters
    ----------
    target : str
        What was checked; a built-in peer with its version.
    rule : str
        Name of the rule.
    chosen : str
        What was chosen, where no level was named and it is not ``data``.
    levels : mapping
        For each level that was asked, the number of cases by stage.
    unasked : mapping
        For each level, the number of fixed cases by stage for which time ran out.
    deviations : tuple of Deviation
        The classes of deviations, those of a level by their smallest case.
    limits : tuple of str
        The target's limits, beyond which it refuses all; see `check`.
    left_out : mapping
        How many cases were not asked, by reason.
    notes : tuple of str
        Levels that the target does not offer, and cases that were not run.
    complete : bool
        Whether only time has ended the check: it was neither given up nor stopped.
    seed : int
        Seed of the random cases.
    seconds : float
        How long it took.

    Notes
    -----
    Each parameter is an attribute of the same name. ``str()`` is the report for people.
    """

    target: str
    rule: str
    chosen: str
    levels: Mapping[str, Mapping[str, int]]
    unasked: Mapping[str, Mapping[str, int]]
    deviations: tuple[Deviation, ...]
    limits: tuple[str, ...]
    left_out: Mapping[str, int]
    notes: tuple[str, ...]
    complete: bool
    seed: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the check is complete, asked some cases, and found no deviation."""
        return self.complete and self.cases > 0 and not self.deviations

    @property
    def cases(self) -> int:
        """How many cases were asked."""
        return sum(sum(stages.values()) for stages in self.levels.values())

    def met(self, level: str, stage: str) -> list[Deviation]:
        """Return the deviations that cases of a stage show."""
        return [each for each in self.deviations if each.level == level and stage in each.stages]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __bool__(self) -> bool:
        raise TypeError("a Report is neither true nor false: its attribute `ok` is")

    def _lines(self) -> Iterator[str]:
        asked = f"{self.target}{self.chosen} by the rule {self.rule}"
        yield f"{asked}: {_cases(self.cases)} in {self.seconds:.1f} s"
        for level, stages in self.levels.items():
            yield f"  {level}: {_shown(stages) or 'none'}"
            if rest := self.unasked.get(level):
                yield f"  {level}: no time for {_cases(sum(rest.values()))}: {_shown(rest)}"
        for reason, count in self.left_out.items():
            yield f"  not asked: {_cases(count)}: {reason}"
        yield from (f"  limit: {each}" for each in self.limits)
        yield from (f"  {note}" for note in self.notes)
        for number, each in enumerate(self.deviations, start=1):
            first, *others = str(each).splitlines()
            yield f"{number}. {first}"
            yield from others
        if self.ok:
            yield "nothing deviates" + " of what there was time for" * bool(self.unasked)
        elif self.deviations:
            count = len(self.deviations)
            yield f"{count} {'kind' if count == 1 else 'kinds'} of deviation"
        else:
            yield "not all that was to be asked was asked"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON's types."""
        deviations = [
            {
                **vars(each),
                "count": each.count,
                "case": {"shapes": each.case.shapes, **each.case.given},
            }
            for each in self.deviations
        ]
        others = {"seconds": round(self.seconds, 3), "deviations": deviations}
        return {"ok": self.ok, **vars(self), **others}

    def to_junit(self) -> str:
        """Return the report as JUnit's XML: a test for each level and stage."""
        suite = ElementTree.Element(
            "testsuite", name=f"whycast {self.rule}: {self.target}", time=f"{self.seconds:.3f}"
        )

        def add_test(name: str, where: str, failure: str, text: str) -> ElementTree.Element:
            test = ElementTree.SubElement(
                suite, "testcase", classname=f"whycast.{self.rule}{where}", name=name
            )
            if failure:
                ElementTree.SubElement(test, "failure", message=failure).text = text
            return test

        for level, stages in self.levels.items():
            for stage, count in stages.items():
                wrong = self.met(level, stage)
                kind = wrong[0].kind if wrong else ""
                test = add_test(stage, f".{level}", kind, "\n".join(map(str, wrong)))
                ElementTree.SubElement(test, "system-out").text = _cases(count)
        others = [] if self.complete else self.notes
        if others or not len(suite):
            text = "\n".join(others) or "nothing was asked"
            add_test("run", "", "not as it should be", text)
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def call_of(rule: Rule, level: Level, case: Case) -> str:
    """Return the call of an implementation ``f`` that asks a case.

    >>> from whycast._rules import RULES
    >>> call_of(RULES["expand"], "data", Case(((3,),), (2, 3)))
    "f(np.array([16843009, 33686018, 50529027], 'int32'), (2, 3))"
    >>> call_of(RULES["numpy"], "operator", Case(((2, 1), (0, 1)), dtypes=("uint8", "uint8")))
    "f(np.array([[1], [2]], 'uint8'), np.zeros((0, 1), 'uint8'))"
    >>> call_of(RULES["expand"], "data", Case(((99,),), (2, 99)))
    'f(*Case(((99,),), target=(2, 99)).arrays(), (2, 99))'
    """
    arrays = [f"*{case!r}.arrays({'' if level == 'data' else repr(level)})"]
    if level in OF_ARRAYS and _is_short(case, level):
        arrays = [_literal(each) for each in case.arrays(level)]
    given = asked(rule, level, case, list(map(_Code, arrays)))
    out = "out, " if level == "inplace" else ""
    return f"f({out}{', '.join(map(repr, given))})"


class _Code(str):
    """Text that stands for itself in a call."""

    __repr__ = str.__str__


def _is_short(case: Case, level: Level) -> bool:
    """Whether people can read and paste the arrays: few integers, or none."""
    shapes = [shape for shape, _, _ in case.tensors(level)]
    small = max(map(math.prod, shapes)) <= _MOST_LITERAL and max(map(len, shapes)) <= 4
    return small and not case.layouts and all(dtype in _LITERAL for dtype in case.dtypes)


def _literal(array: AnyArray) -> str:
    if array.size:
        return f"np.array({array.tolist()}, '{array.dtype}')"
    return f"np.zeros({array.shape}, '{array.dtype}')"


def _shown(stages: Mapping[str, int]) -> str:
    return ", ".join(f"{stage} {count:,}" for stage, count in stages.items())


def _cut(text: str) -> str:
    """Cut a text that nobody would read to its end.

    >>> _cut(1000 * "x")[-22:]
    'xx… (1,000 characters)'
    """
    whole = len(text)
    return text if whole <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}… ({whole:,} characters)"


def _cases(count: int) -> str:
    return f"{count:,} {'case' if count == 1 else 'cases'}"
