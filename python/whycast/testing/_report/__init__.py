"""The findings of a check: as text, as JSON, and as JUnit XML."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from whycast._rules import Rule
from whycast.testing._cases._case import OF_ARRAYS, Case, Level, asked
from whycast.testing._report._compare import KINDS

# Literals in calls: arrays of at most _MOST_LITERAL elements and 4 axes, of dtypes in _LITERAL.
_MOST_LITERAL = 8
_LITERAL = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))

# The report for people cuts longer texts; JSON does not.
_MOST_SHOWN = 800


@dataclass(frozen=True)
class Deviation:
    """The cases of one kind of deviation, with a small example.

    Parameters
    ----------
    level, stages : str, mapping
        The level of the cases; the number of deviating cases of each stage.
    kind, detail : str
        The kind, one or two words; a detail, such as an exception's name or ``with a size of 0``.
    case, call : Case, str
        The smallest case found; a call that reproduces the deviation, with its imports.
    expected, got : str
        The answers of the rule and of the implementation.
    clause : str
        Identifier of the clause that decides; empty if no clause does.

    Notes
    -----
    Each parameter is an attribute of the same name. ``str()`` is the text in reports.
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
        """The number of deviating cases."""
        return sum(self.stages.values())

    def __str__(self) -> str:
        words = " ".join(filter(None, [KINDS[self.kind].says, self.detail]))
        first = f"{self.level}: {words}: {_cases(self.count)}"
        names = ("call", "expected", "got", "clause")
        told = [(name, getattr(self, name)) for name in names]
        return "\n".join([first, *[f"    {name:<8}  {_cut(text)}" for name, text in told if text]])


@dataclass(frozen=True)
class Report:
    """The result of a check.

    Parameters
    ----------
    target, rule : str
        Name of the target, with the version of a built-in peer; name of the rule.
    chosen : str
        At levels of operators: the kind of function, and the number of tensors.
    levels, unasked : mapping
        The numbers of cases asked, and of fixed cases not asked in time, by level and stage.
    deviations : tuple of Deviation
        The kinds of deviations, by level; within a level, by the smallest case asked.
    limits : tuple of str
        The target's limits, beyond which it refuses all cases; see `check`.
    left_out : mapping
        The number of cases left out, by reason.
    notes : tuple of str
        Levels that the target does not offer, and other remarks.
    complete : bool
        False if the check was stopped or given up.
    seed, seconds : int, float
        Seed of the random cases; duration of the check.

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
        """The number of cases."""
        return sum(sum(stages.values()) for stages in self.levels.values())

    def met(self, level: str, stage: str) -> list[Deviation]:
        """Return the deviations with cases of a stage."""
        return [each for each in self.deviations if each.level == level and stage in each.stages]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __bool__(self) -> bool:
        raise TypeError("a Report has no truth value: use its attribute `ok`")

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
            yield "the check is incomplete"

    def to_dict(self) -> dict[str, Any]:
        """Return the report in JSON's types."""

        def told(each: Deviation) -> dict[str, Any]:
            case = {"shapes": each.case.shapes, **each.case.given}
            return {**vars(each), "count": each.count, "case": case}

        deviations = list(map(told, self.deviations))
        seconds = round(self.seconds, 3)
        return {"ok": self.ok, **vars(self), "seconds": seconds, "deviations": deviations}

    def to_junit(self) -> str:
        """Return the report as JUnit XML: a test for each level and stage."""
        add = ElementTree.SubElement
        known = {"name": f"whycast {self.rule}: {self.target}", "time": f"{self.seconds:.3f}"}
        suite = ElementTree.Element("testsuite", known)
        for level, stages in self.levels.items():
            for stage, count in stages.items():
                name = {"classname": f"whycast.{self.rule}.{level}", "name": stage}
                test = add(suite, "testcase", name)
                if wrong := self.met(level, stage):
                    text = "\n".join(map(str, wrong))
                    add(test, "failure", {"message": wrong[0].kind}).text = text
                add(test, "system-out").text = _cases(count)
        others = [] if self.complete else self.notes
        if others or not len(suite):
            test = add(suite, "testcase", {"classname": f"whycast.{self.rule}", "name": "run"})
            text = "\n".join(others) or "no case was asked"
            add(test, "failure", {"message": "the check is incomplete"}).text = text
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def call_of(rule: Rule, level: Level, case: Case) -> str:
    """Return the call that asks an implementation ``f`` a case.

    >>> from whycast._rules import RULES
    >>> call_of(RULES["expand"], "data", Case(((3,),), (2, 3)))
    "f(np.array([16843009, 33686018, 50529027], 'int32'), (2, 3))"
    >>> call_of(RULES["numpy"], "operator", Case(((2, 1), (0, 1)), dtypes=("uint8", "uint8")))
    "f(np.array([[1], [2]], 'uint8'), np.zeros((0, 1), 'uint8'))"
    >>> call_of(RULES["expand"], "data", Case(((99,),), (2, 99)))
    'f(*Case(((99,),), target=(2, 99)).arrays(), (2, 99))'
    """
    arrays, before = [f"*{case!r}.arrays({'' if level == 'data' else repr(level)})"], ""
    plain = level in OF_ARRAYS and not case.layouts and {*case.dtypes} <= {*_LITERAL}
    shapes = [shape for shape, _, _ in case.tensors(level)] if plain else [(_MOST_LITERAL + 1,)]
    if max(map(math.prod, shapes)) <= _MOST_LITERAL and max(map(len, shapes)) <= 4:
        every = case.arrays(level)
        texts = [f"array({x.tolist()}" if x.size else f"zeros({x.shape}" for x in every]
        arrays = [f"np.{text}, '{x.dtype}')" for text, x in zip(texts, every, strict=True)]
    elif level == "inplace":
        arrays, before = ["*x"], f"x = {arrays[0][1:]}; "
    given = [str(x) if x in arrays else repr(x) for x in asked(rule, level, case, arrays)]
    if level == "inplace":
        dtype = "x[-1].dtype" if before else repr((case.dtypes or ("int32",))[-1])
        shape = rule.shape(case) or case.shapes[0]
        before, given = f"{before}out = np.zeros({shape}, {dtype}); ", ["out", *given]
    return f"{before}f({', '.join(given)})"


def pasted(code: str, call: str) -> str:
    """Return the imports, the code that makes `f`, and a call.

    >>> pasted("from numpy import add as f", "f(np.array(1), np.array(2))")
    'import numpy as np; from numpy import add as f; f(np.array(1), np.array(2))'
    """
    imports = {"np.": "import numpy as np", "Case(": "from whycast.testing import Case"}
    needed = [each for word, each in imports.items() if word in call]
    return "; ".join(filter(None, [*needed, code, call]))


def _shown(stages: Mapping[str, int]) -> str:
    return ", ".join(f"{stage} {count:,}" for stage, count in stages.items())


def _cut(text: str) -> str:
    """Cut a long text.

    >>> _cut(1000 * "x")[-22:]
    'xx… (1,000 characters)'
    """
    whole = len(text)
    return text if whole <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}… ({whole:,} characters)"


def _cases(count: int) -> str:
    return f"{count:,} {'case' if count == 1 else 'cases'}"
