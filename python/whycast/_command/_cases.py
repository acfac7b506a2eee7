"""`whycast cases`: the cases of checks, with the expected results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from whycast._command._arguments import Subparsers, add_rule, path
from whycast._command._check import add_options, options_of
from whycast._command._output import output
from whycast._rules import RULES, Rule
from whycast._usage import UsageError
from whycast.testing._cases import cases
from whycast.testing._cases._case import LEVELS, Case, Level
from whycast.testing._export import _export_onnx, _export_stablehlo
from whycast.testing._export._pack import MANIFEST, NotPossibleError
from whycast.testing._lines import answer, request
from whycast.testing._lines._elements import left_out
from whycast.testing._lines._json import line_of
from whycast.testing._report._judge import expected

_STANDARD_OUTPUT = Path("-")
_PACKS = {"onnx": _export_onnx.write, "stablehlo": _export_stablehlo.write}

_DESCRIPTION = f"""\
Write cases of `whycast check` with the expected results, the smallest fixed cases first, for tests
in another language or without whycast. No format contains dates, durations, bytes, or outputs of
over 2^18 elements.

jsonl: one request of `whycast serve` a line, with the answer as "expected".

{_export_onnx.LAYOUT}

{_export_stablehlo.LAYOUT}

{MANIFEST}"""


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "cases",
        help="write the cases with the expected results, in several formats",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_rule(parser)
    parser.add_argument("--format", choices=("jsonl", *_PACKS), required=True)
    out = "a path, or - for the standard output"
    parser.add_argument("--out", required=True, type=path, metavar="PATH", help=out)
    parser.add_argument("--level", choices=LEVELS, help="for jsonl only; default: data")
    add_options(parser, cases)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        count = _write(arguments)
    except OSError as error:
        # For jsonl, a write has failed: for a wrong path, `output` raises UsageError.
        if arguments.format not in _PACKS:
            raise
        raise UsageError(f"--out: {error}") from None
    except NotPossibleError as error:
        raise UsageError(f"--format {arguments.format}: {error}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(f"{count} cases: {arguments.out}", file=sys.stderr)
    return 0


def _write(arguments: argparse.Namespace) -> int:
    rule, form, out = RULES[arguments.rule], arguments.format, arguments.out
    if form != "jsonl" and arguments.level is not None:
        raise UsageError(f"--level: expected none for --format {form}, which has what it takes")
    if form != "jsonl" and out == _STANDARD_OUTPUT:
        raise UsageError(f"--out: expected a path for --format {form}, got -")

    level: Level = arguments.level or "data"
    options = {name: getattr(arguments, name) for name in options_of(cases)}
    every = cases(rule.name, level, **options)
    asked = (each for each in every if level != "data" or left_out(rule, each) is None)
    if form in _PACKS:
        return _PACKS[form](rule, asked, out)
    if out == _STANDARD_OUTPUT:
        return _write_lines(rule, level, asked, sys.stdout.buffer)
    with output(out, "--out") as file:
        return _write_lines(rule, level, asked, file)


def _write_lines(rule: Rule, level: Level, asked: Iterable[Case], file: BinaryIO) -> int:
    written = 0
    for case in asked:
        right = answer(level, expected(rule, level, case))
        file.write(line_of(request(rule, level, case) | {"expected": right}))
        written += 1
    file.flush()
    return written
