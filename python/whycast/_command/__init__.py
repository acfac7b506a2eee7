"""The command line: `whycast`, or `python -m whycast`."""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import whycast
from whycast._usage import UsageError

# Each subcommand's module; only that of the given subcommand is imported.
_MODULES = {
    **{"shape": "_shapes", "explain": "_explain", "index": "_shapes", "strides": "_shapes"},
    **{"model": "_model", "cases": "_cases", "check": "_check", "serve": "_serve"},
}
# Subcommands that take a program after two dashes.
_WITH_PROGRAM = ("check",)

# More exit codes, as in sysexits.h and shells.
_FAULT, _NOT_WRITTEN, _INTERRUPTED, _NO_READER = 70, 74, 128 + signal.SIGINT, 128 + 13


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser with all subcommands, or with those of `command`'s module.

    A subcommand sets ``run``, a function from parsed arguments to the exit code.
    """
    made = argparse.ArgumentParser(
        prog="whycast",
        description="Answer by the verified rules of broadcasting, and check other answers.",
        epilog="Exit code: 0 accepted, 1 refused or deviating, 2 bad usage, 3 a model without "
        f"changes; {_FAULT} a fault of whycast, {_NOT_WRITTEN} a failure to write the output, "
        f"{_INTERRUPTED} interrupted, {_NO_READER} output without a reader.",
    )
    made.add_argument("--version", action="version", version=f"whycast {whycast.__version__}")
    subparsers = made.add_subparsers(dest="command", metavar="COMMAND", required=True)
    modules = [_MODULES[command]] if command in _MODULES else _MODULES.values()
    for module in dict.fromkeys(modules):
        import_module(f"whycast._command.{module}").add(subparsers)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, by default on the program's arguments; return the exit code.

    If whycast itself fails, raises the exception; without `argv`, prints its traceback instead.

    >>> main(["shape", "3x1", "1x4"])
    3x4
    0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The encoding may lack a character.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(words)
        # A stream closed from the start is None.
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except BrokenPipeError:
        code = _NO_READER
    except OSError as error:
        code = _NOT_WRITTEN
        with suppress(OSError):
            print(f"whycast: error: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except Exception:
        if argv is not None:
            raise
        code = _FAULT
        traceback.print_exc()
    # Otherwise Python reports unwritten output when it closes the streams.
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


def _run(words: list[str]) -> int:
    command = words[0] if words else None
    program: list[str] = []
    if command in _WITH_PROGRAM and "--" in words:
        end = words.index("--")
        words, program = words[:end], words[end + 1 :]
    known = argparse.Namespace(program=program)
    try:
        arguments = parser(command).parse_args(_with_numbers(words), known)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        code: int = arguments.run(arguments)
    except UsageError as error:
        print(f"whycast {arguments.command}: error: {error}", file=sys.stderr)
        return 2
    return code


def _open_streams() -> None:
    """Open closed standard streams on the null device, before a file takes their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _with_numbers(words: list[str]) -> list[str]:
    """Put a space before words such as -1,2, which argparse takes for options; readers skip it."""
    end = words.index("--") if "--" in words else len(words)
    return [f" {w}" if re.match("-[0-9]", w) else w for w in words[:end]] + words[end:]
