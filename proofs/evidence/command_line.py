"""Sessions of the command line, and figures: a shell runs what the documentation shows."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import _whycast_pytest
from gate.closed import ROOT
from gate.toolchain import VENV

# What is not the same in every run.
SECONDS = re.compile(r"(?<= cases in )[0-9.]+(?= s$)", re.MULTILINE)

# Files that the sessions of the documentation begin with.
FILES = ROOT / "python" / "doc" / "session"

# The package is that of .venv; help is laid out for a width, whatever the terminal's.
ENVIRONMENT = {
    **{"PATH": f"{VENV / 'bin'}:/usr/bin:/bin", "COLUMNS": "90", "LC_ALL": "C.UTF-8"},
    "PYTHONDONTWRITEBYTECODE": "1",
}


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


def session(*lines: str) -> list[Typed]:
    """Run lines, one after the other, in a folder that has the files of sessions and no other."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        return [run(line, Path(folder)) for line in lines]


def run(line: str, folder: Path) -> Typed:
    """Run a line as a shell does. How long a check took is left out."""
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return Typed(line, SECONDS.sub("…", done.stdout), done.returncode)


def figure(*shapes: str) -> str:
    """Draw shapes as ``whycast explain`` does."""
    return session(f"whycast explain {' '.join(shapes)} --svg a.svg", "cat a.svg")[1].shown
