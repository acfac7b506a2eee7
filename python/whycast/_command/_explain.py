"""`whycast explain`: a rule's steps for given shapes, and the results of the other rules."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Sequence
from typing import Any

from whycast._command import _arguments
from whycast._command._alignment import Line, alignment, lines, named_alignment
from whycast._command._arguments import both_ends, elided
from whycast._command._verdicts import Verdict, findings, verdicts
from whycast._errors import show_int
from whycast._kernel import loop_plan, row_major_strides
from whycast._rules import RULES, Finding, Operands, Rule
from whycast._types import Shape
from whycast._usage import UsageError
from whycast.symbolic import Answer, NeverError

_WIDTH = 80
_WHOLE_WORDS: Any = {"break_long_words": False, "break_on_hyphens": False}


def add(subparsers: _arguments.Subparsers) -> None:
    about = "a rule's steps for given shapes, and the results of the other rules"
    parser = subparsers.add_parser(
        "explain",
        help=about,
        description=f"Print {about}. Each line of a step names its clause; why3/trace.toml has the "
        "clauses, proofs/FINDINGS.md the findings.",
    )
    _arguments.add_shapes(parser, "If a rule takes a target, it is the second of two shapes")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    rule: Rule = RULES[arguments.rule]
    axes: tuple[int, ...] | None = arguments.axes
    if axes is not None and len(arguments.shapes) != 2:
        raise UsageError(f"--axes: expected two shapes beside it, got {len(arguments.shapes)}")
    # The axes may be meant for other rules only.
    asked = _arguments.operands(rule, arguments.shapes, axes if rule.takes == "axes" else None)
    facts: list[tuple[str, str]] = arguments.known
    answer = _arguments.answered(rule, asked, facts)
    error = answer if isinstance(answer, ValueError) else None
    if isinstance(answer, (Answer, NeverError)):
        if axes is not None:
            raise UsageError("--axes: the rules that take axes take numbers")
        aligned = named_alignment(rule, asked, answer, facts)
    else:
        aligned = alignment(rule, asked)
    steps = [] if aligned is None else lines(rule, aligned, accepted=error is None)
    said = verdicts(rule, asked, axes, facts)
    why = findings(said)
    if arguments.json:
        rest = {
            "steps": [line._asdict() for line in steps],
            "verdicts": [verdict.described() for verdict in said],
            "findings": [finding._asdict() for finding in why],
        }
        asked_for = _arguments.described(rule, asked, facts)
        print(json.dumps(asked_for | _arguments.outcome(answer) | rest))
        return 0 if error is None else 1
    result: Sequence[object] | None = None
    if isinstance(answer, Answer):
        result, reason = answer.shape, _condition(rule, answer)
    elif isinstance(answer, ValueError):
        kind = "condition" if isinstance(answer, NeverError) else "report"
        first, _, _ = str(answer).partition("\n")
        reason = _folded(f"{first} [{rule.clauses[kind]}]")
    else:
        result, reason = answer, _folded(_loops(rule, asked, answer))
    head = _folded(_arguments.headline(rule, asked, result))
    blocks = [head, *_tables(rule, steps), _legend(rule, steps), reason]
    blocks += [_side_by_side(said), _reasons(said, why)]
    print("\n\n".join(block for block in blocks if block))
    return 0 if error is None else 1


def _tables(rule: Rule, steps: list[Line]) -> list[str]:
    if not steps:
        return []
    heads = [("", "axis", "clause"), *[(line.step, line.name, line.clause) for line in steps]]
    step, name, clause = (max(map(len, each)) for each in zip(*heads, strict=True))
    texts = zip(*[line.texts() for line in steps], strict=True)
    columns = [[str(axis), *column] for axis, column in enumerate(texts)]
    widths = [max(map(len, column)) + 2 for column in columns]
    room = _WIDTH - (step + 2 + name + 2 + clause)
    tables: list[str] = []
    end = 0
    while end < len(columns) or not tables:
        begin, end = end, min(end + 1, len(columns))
        while end < len(columns) and sum(widths[begin : end + 1]) <= room:
            end += 1
        rows, before = [], ""
        for number, (section, label, said) in enumerate(heads):
            cells = "".join([columns[k][number].rjust(widths[k]) for k in range(begin, end)])
            shown = "" if section == before else section
            before = section or before
            if section != rule.steps.fails or cells.strip():
                rows.append(f"{shown:<{step}}  {label:<{name}}{cells}  {said}")
        tables.append("\n".join(rows))
    return tables


def _legend(rule: Rule, steps: list[Line]) -> str:
    indices = {cell for line in steps if line.step == rule.steps.leads for cell in line.cells}
    sizes = {cell for line in steps if line.step != rule.steps.leads for cell in line.cells}
    said = {
        "(1): prepended": any(line.prepended for line in steps),
        "N|M: the one that is not 1": any("|" in str(size) for size in sizes),
        "i0: the index on axis 0": any(isinstance(cell, str) for cell in indices),
        "0: the first element": 0 in indices,
        "i0|0: 0 where the size is 1": any("|" in str(cell) for cell in indices),
        "><: does not fit": any(line.wrong for line in steps),
    }
    return _folded(";  ".join(text for text, occurs in said.items() if occurs))


def _condition(rule: Rule, answer: Answer) -> str:
    parts = [(part, "condition") for part in answer.condition]
    parts += [(part, "zeros") for part in answer.zeros if not rule.zero_meets_one]
    rows = [(f"axis {part.axis}", str(part), rule.clauses[kind]) for part, kind in parts]
    axis, said = (max([len(row[k]) for row in rows], default=0) for k in range(2))
    return "\n".join(
        _folded(f"{'' if n else 'if':<4}{row[0]:<{axis}}  {row[1]:<{said}}  {row[2]}", 6 + axis)
        for n, row in enumerate(rows)
    )


def _loops(rule: Rule, asked: Operands, result: Shape) -> str:
    strides = []
    for own in asked.shapes:
        one = asked if asked.target is not None else Operands((own,), result)
        layout = rule.layout(one, row_major_strides(own))
        assert layout is not None
        strides.append(layout.strides)
    loops = [
        f"{show_int(size)}: {', '.join(both_ends([*map(show_int, steps)], '...'))}"
        for size, steps in zip(*loop_plan(result, tuple(strides)), strict=True)
    ]
    text = ";  ".join(both_ends(loops, "..."))
    return f"loops (rounds: step of each tensor)  {text} [E_Broadcast_any_Derived_560]"


def _side_by_side(said: list[Verdict]) -> str:
    rows = [("rule", "result", "")]
    for verdict in said:
        result = "-" if verdict.operands is None else "refused"
        shape = verdict.result if verdict.answer is None else verdict.answer.shape
        if shape is not None:
            result = elided(shape, 2)
        rows.append((verdict.rule.name, result, verdict.why))
    first, second = (max(len(row[k]) for row in rows) + 2 for k in range(2))
    return "\n".join(
        _folded(f"{rule:<{first}}{result:<{second}}{why}".rstrip(), first + second)
        for rule, result, why in rows
    )


def _reasons(said: list[Verdict], why: list[Finding]) -> str:
    if why:
        return "\n".join(_folded(f"{finding.id}: {finding.reason}", 4) for finding in why)
    if all(verdict.compared is None for verdict in said):
        return "Every rule that can be asked refuses."
    return "Every rule that can be asked gives the same."


def _folded(text: str, indent: int = 2) -> str:
    rest = " " * min(indent, 50)
    return textwrap.fill(text, _WIDTH, subsequent_indent=rest, **_WHOLE_WORDS)
