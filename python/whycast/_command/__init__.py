"""The command line: `whycast`, or `python -m whycast`."""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

import whycast
from whycast._command._arguments import UsageError

# Which module adds a subcommand, by its function `add`. Only that of the subcommand that is asked
# for is imported.
_MODULES = {
    "shape": "whycast._command._shapes",
    "explain": "whycast._command._explain",
    "index": "whycast._command._shapes",
    "strides": "whycast._command._shapes",
    "cases": "whycast.testing._command_cases",
    "check": "whycast.testing._command_check",
    "serve": "whycast.testing._lines._serve",
}
# Subcommands that take a program and its own words after two dashes.
_WITH_PROGRAM = ("check",)


def parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line, with all subcommands or those of one's module.

    Each sets ``run``, a function of the parsed arguments that returns the exit code. Among these is
    ``program``, the words after two dashes where the subcommand takes a program.
    """
    made = argparse.ArgumentParser(
        prog="whycast",
        description="What is the right answer, by the verified rules of broadcasting? And is yours "
        "right?",
        epilog="Exit code: 0 accepted, 1 refused or deviating, 2 bad usage.",
    )
    made.add_argument("--version", action="version", version=f"whycast {whycast.__version__}")
    subparsers = made.add_subparsers(dest="command", metavar="COMMAND", required=True)
    modules = [_MODULES[command]] if command in _MODULES else _MODULES.values()
    for module in dict.fromkeys(modules):
        import_module(module).add(subparsers)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after the name of the program; by default those that it was started with.

    Returns
    -------
    int
        Exit code: 0 accepted, 1 refused or deviating, 2 bad usage.

    Examples
    --------
    >>> main(["shape", "3x1", "1x4"])
    3x4
    0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What its encoding lacks, such as an ellipsis, is no reason to say nothing.
        sys.stdout.reconfigure(errors="backslashreplace")
    command = words[0] if words else None
    program: list[str] = []
    if command in _WITH_PROGRAM and "--" in words:
        end = words.index("--")
        words, program = words[:end], words[end + 1 :]
    known = argparse.Namespace(program=program)
    try:
        arguments = parser(command).parse_args(_with_numbers(words), known)
    except SystemExit as stop:
        # Help, the version, or a complaint, which is on standard error.
        return stop.code if isinstance(stop.code, int) else 2
    try:
        code: int = arguments.run(arguments)
        # It is None where the output was closed from the start.
        if sys.stdout is not None:
            sys.stdout.flush()
    except UsageError as error:
        print(f"whycast {arguments.command}: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Its reader has enough; Python would complain once more when it closes the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        # As shells give it for a program that is interrupted.
        return 128 + signal.SIGINT
    return code


def _open_streams() -> None:
    """Open what was closed from the start, before a file or a pipe is taken for it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _with_numbers(words: list[str]) -> list[str]:
    """Mark negative numbers, such as an index -1,2, which argparse would take for options.

    It takes a word with a space in it for what it is; the readers of numbers skip the space.
    """
    end = words.index("--") if "--" in words else len(words)
    return [f" {w}" if re.match("-[0-9]", w) else w for w in words[:end]] + words[end:]
