"""Sessions of the command line: what a shell would show is what the documentation shows."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

import _whycast_pytest
from gate.closed import ROOT, ToolError
from whycast import _command

# What is not the same in every run.
SECONDS = re.compile(r"(?<= cases in )[0-9.]+(?= s$)", re.MULTILINE)

# Files that the sessions of the documentation begin with.
FILES = ROOT / "doc" / "session"


class Typed(NamedTuple):
    """A line that was typed, what was shown then, and the exit code."""

    line: str
    shown: str
    code: int


def pytest_options() -> argparse.ArgumentParser:
    """Give the options that the package adds to pytest."""
    parser = argparse.ArgumentParser(prog="pytest --pyargs whycast.testing", add_help=False)
    group = SimpleNamespace(addoption=parser.add_argument)
    _whycast_pytest.pytest_addoption(cast("Any", SimpleNamespace(getgroup=lambda *_: group)))
    return parser


def figure(*shapes: str) -> str:
    """Draw shapes as ``whycast explain`` does."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        whycast(["explain", *shapes, "--svg", "figure.svg"], "")
        return Path("figure.svg").read_text(encoding="utf-8")


def session(*lines: str) -> list[Typed]:
    """Run lines, one after the other, in a folder that has the files of sessions and no other."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for path in FILES.iterdir():
            Path(path.name).write_bytes(path.read_bytes())
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
