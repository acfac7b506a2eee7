"""The command line as the documentation shows it: its help, and sessions that are run."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

import _whycast_pytest
from gate.closed import ToolError
from whycast import _command

# What is not the same in every run.
SECONDS = re.compile(r"(?<= cases in )[0-9.]+(?= s$)", re.MULTILINE)

# Files of the sessions.
FILES = {
    "layer.onnxtxt": (
        '<ir_version: 8, opset_import: ["": 17]>\n'
        "layer (float[N,3,1] x, float[M,8] w) => (float[K,3,8] y)\n"
        "<float[1] half = {0.5}, float[3,1] bias = {1,2,3}> {\n"
        "  [scale] a = Mul(x, half)\n"
        "  [shift] b = Add(a, bias)\n"
        "  [mix] c = Mul(b, w)\n"
        "  [last] y = Relu(c)\n"
        "}\n"
    ),
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
    "plan": ("whycast plan 2x3x4x5 3x1x1",),
    "model": (
        "cat layer.onnxtxt",
        "whycast model layer.onnxtxt",
        "whycast model layer.onnxtxt --sizes N=2 --sizes M=3 --explicit out.onnx --check",
    ),
    "cases": (
        "whycast cases --rule expand --level shape --format jsonl --out cases.jsonl",
        "head -n 3 cases.jsonl",
    ),
    "check": (
        "cat mine.py",
        "whycast check mine.py:expand --rule expand --seconds all",
        "whycast check numpy --level verdict --seconds all",
    ),
    "serve": ("cat requests.jsonl", "whycast serve < requests.jsonl"),
}


class Typed(NamedTuple):
    """A line that was typed, what was shown then, and the exit code."""

    line: str
    shown: str
    code: int


class Command(NamedTuple):
    """A subcommand: a line about it, its help, and a session."""

    name: str
    says: str
    help: str
    session: list[Typed]


def commands() -> list[Command]:
    """Read the subcommands, and run their sessions."""
    (action,) = (a for a in _command.parser()._actions if isinstance(a, argparse._SubParsersAction))
    found = []
    for choice in action._choices_actions:
        name, says = str(choice.dest), choice.help or ""
        typed = session(SESSIONS[name], FILES)
        found.append(Command(name, says, action.choices[name].format_help(), typed))
    return found


def pytest_help() -> str:
    """Give the help of the options that the package adds to pytest."""
    parser = argparse.ArgumentParser(prog="pytest", usage=argparse.SUPPRESS, add_help=False)
    group = SimpleNamespace(addoption=parser.add_argument)
    _whycast_pytest.pytest_addoption(cast("Any", SimpleNamespace(getgroup=lambda *_: group)))
    return parser.format_help()


def figure(*shapes: str) -> str:
    """Draw shapes as ``whycast explain`` does."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        whycast(["explain", *shapes, "--svg", "figure.svg"], "")
        return Path("figure.svg").read_text(encoding="utf-8")


def session(lines: Sequence[str], files: Mapping[str, str]) -> list[Typed]:
    """Run lines, one after the other, in a folder that has these files and no other."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
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
