"""The command line as the documentation shows it: what it takes, and what it answers.

Usage and options are those of its parsers, the calls and lines of JSON those of `whycast.testing`;
sessions are run when the page is made.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import _whycast_pytest
from gate.closed import ToolError
from whycast import _command
from whycast._rules import RULES, Rule
from whycast.testing import Case
from whycast.testing._cases._case import LEVELS, Level
from whycast.testing._lines import answer, fields, request
from whycast.testing._report import call_of
from whycast.testing._report._judge import expected

WIDTH = 88

# What is not the same in every run.
SECONDS = re.compile(r"(?<= cases in )[0-9.]+(?= s$)", re.MULTILINE)

# Files of the sessions.
FILES = {
    "mine.py": (
        "import numpy as np\n"
        "\n"
        "def expand(data, shape):\n"
        "    return np.broadcast_to(data, shape).copy()\n"
    ),
    "requests.jsonl": (
        '{"rule": "sonnx", "level": "shape", "shapes": [[3, 1], [4]], "id": 1}\n'
        '{"rule": "sonnx", "level": "report", "shapes": [[3, 2], [4]], "id": 2}\n'
        '{"rule": "expand", "level": "shape", "shape": [3, 1]}\n'
    ),
}

# What is typed, by subcommand.
SESSIONS = {
    "shape": (
        "whycast shape 3x1 1x4",
        "whycast shape 2x0 1",
        "whycast shape 2x0 1 --rule numpy",
        "whycast shape 3 3x4 --rule in-dim --axes 0 --json",
    ),
    "explain": ("whycast explain 2x0 1",),
    "index": ("whycast index 3x1 2x3x4 1,2,3",),
    "strides": (
        "whycast strides 3x1 2x3x4 --itemsize 4",
        "whycast strides 2x3 4x3x5x2 --rule in-dim --axes 3,1",
    ),
    "cases": (
        "whycast cases --rule expand --level shape --format jsonl --out cases.jsonl",
        "head -n 3 cases.jsonl",
    ),
    "check": (
        "cat mine.py",
        "whycast check mine.py:expand --rule expand --seconds 0",
        "whycast check numpy --level verdict --seconds 0",
    ),
    "serve": ("cat requests.jsonl", "whycast serve < requests.jsonl"),
}


class Typed(NamedTuple):
    """A line that was typed, what was shown then, and the exit code."""

    line: str
    shown: str
    code: int


class Command(NamedTuple):
    """A subcommand; texts are paragraphs, or True before what is laid out by columns."""

    name: str
    says: str
    usage: str
    about: list[tuple[bool, str]]
    options: list[tuple[str, str]]
    after: list[tuple[bool, str]]
    session: list[Typed]


def commands() -> list[Command]:
    """Read the subcommands, and run their sessions."""
    found = []
    for action in _command.parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            says = {str(choice.dest): choice.help or "" for choice in action._choices_actions}
            found += [read(name, says[name], parser) for name, parser in action.choices.items()]
    return found


def read(name: str, says: str, parser: argparse.ArgumentParser) -> Command:
    """Read a subcommand."""
    formatter = argparse.HelpFormatter(parser.prog, width=WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    return Command(
        name,
        says,
        formatter.format_help().strip(),
        blocks(parser.description or ""),
        options(parser),
        blocks(parser.epilog or ""),
        session(SESSIONS[name], FILES),
    )


def options(parser: argparse.ArgumentParser) -> list[tuple[str, str]]:
    """Give what a parser takes, as its help does."""
    formatter = argparse.HelpFormatter(parser.prog, width=WIDTH)
    return [
        (
            formatter._format_action_invocation(action),
            formatter._expand_help(action) if action.help else "",
        )
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction)
    ]


def blocks(text: str) -> list[tuple[bool, str]]:
    """Tell paragraphs from what is laid out by columns, which is indented."""
    found = []
    for part in re.split(r"\n{2,}", text):
        for indented, lines in groupby(part.splitlines(), lambda line: line.startswith("  ")):
            found.append((indented, textwrap.dedent("\n".join(lines))))
    return found


def pytest_options() -> list[tuple[str, str]]:
    """Give the options of pytest that are the package's."""
    parser = argparse.ArgumentParser(prog="pytest", add_help=False)
    group = SimpleNamespace(addoption=parser.add_argument)
    _whycast_pytest.pytest_addoption(cast("Any", SimpleNamespace(getgroup=lambda *_: group)))
    return options(parser)


# --- sessions ---------------------------------------------------------------------------------


def session(lines: Sequence[str], files: Mapping[str, str]) -> list[Typed]:
    """Run lines, one after the other, in a folder that has these files and no other."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        return [run(line) for line in lines]


def run(line: str) -> Typed:
    """Do what a shell does with ``whycast``, ``cat FILE`` and ``head -n N FILE``.

    How long a check took is left out.
    """
    words = shlex.split(line)
    given = ""
    if "<" in words:
        *words, _, file = words
        given = Path(file).read_text(encoding="utf-8")
    match words:
        case ["whycast", *rest]:
            code, text = whycast(rest, given)
            return Typed(line, SECONDS.sub("…", text), code)
        case ["cat", file]:
            return Typed(line, Path(file).read_text(encoding="utf-8"), 0)
        case ["head", "-n", count, file]:
            with Path(file).open(encoding="utf-8") as opened:
                return Typed(line, "".join([next(opened) for _ in range(int(count))]), 0)
    raise ToolError(f"a session of the documentation cannot be run: {line}")


def whycast(words: Sequence[str], given: str) -> tuple[int, str]:
    """Run the command line; give the exit code and what a terminal shows of both outputs."""
    shown = io.BytesIO()
    output = io.TextIOWrapper(shown, encoding="utf-8", write_through=True)
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    try:
        with redirect_stdout(output), redirect_stderr(output):
            code = _command.main(words)
    finally:
        sys.stdin = before
    return code, shown.getvalue().decode()


# --- implementations --------------------------------------------------------------------------


class Name(str):
    """What stands in a call for an argument."""

    def __repr__(self) -> str:
        return self


# A rule of each kind: on tensors alone, with a target, with axes.
KINDS = (RULES["sonnx"], RULES["expand"], RULES["in-dim"])

RETURNS: dict[Level, str] = {
    "verdict": "anything but None and False, which refuse",
    "shape": "the shape of the output",
    "index": "the multi-index, in the tensor, of the element that stands there",
    "strides": "the strides of the output as a view of the tensor",
    "data": "by the rules on tensors alone a tuple or list of arrays, by the others an array",
    "report": "as `shape`; what refuses names the axis at fault",
}

# An example of a request at each level.
EXAMPLES: dict[Level, tuple[Rule, Case]] = {
    "verdict": (RULES["numpy"], Case(((3, 1), (4,)))),
    "shape": (RULES["numpy"], Case(((3, 1), (4,)))),
    "index": (RULES["expand"], Case(((3, 1),), target=(3, 4), multi_index=(2, 3))),
    "strides": (RULES["expand"], Case(((3, 1),), target=(3, 4), strides=(4, 4))),
    "data": (RULES["in-dim"], Case(((2,),), target=(2, 2), axes=(0,), dtypes=("int16",))),
    "report": (RULES["sonnx"], Case(((3, 2), (4,)))),
}


class Asked(NamedTuple):
    """A level: how a function is called by each kind of rule, what it returns; the same in JSON."""

    level: Level
    calls: list[str]
    returns: str
    fields: list[str]
    request: str
    answer: str


def levels() -> list[Asked]:
    """Say how an implementation is asked at each level."""
    found = []
    for level in LEVELS:
        rule, case = EXAMPLES[level]
        found.append(
            Asked(
                level,
                [call(kind, level) for kind in KINDS],
                RETURNS[level],
                [", ".join(fields(kind, level)) for kind in KINDS],
                json.dumps(request(rule, level, case)),
                json.dumps(answer(level, expected(rule, level, case))),
            )
        )
    return found


def call(rule: Rule, level: Level) -> str:
    """Write the call of a function at a level, with names for its arguments."""
    alone = not rule.has_target(level)
    case = Case(
        (Name("*shapes") if alone else Name("shape"),),  # type: ignore[arg-type]
        target=None if alone else Name("target"),  # type: ignore[arg-type]
        axes=Name("axes") if rule.takes == "axes" else None,  # type: ignore[arg-type]
        multi_index=Name("index"),  # type: ignore[arg-type]
        strides=Name("strides"),  # type: ignore[arg-type]
    )
    return call_of(rule, level, case).replace(
        f"*{case!r}.arrays()", "*arrays" if alone else "array"
    )
