"""The command ``whycast check``."""

from __future__ import annotations

import argparse
import json
import math
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from inspect import Parameter, getdoc, signature
from types import FrameType
from typing import Any

from whycast._command._arguments import add_rule, path
from whycast._command._output import output
from whycast._usage import UsageError
from whycast.testing._cases._case import ALL_LEVELS, LEVELS
from whycast.testing._check import check
from whycast.testing._peers import PEERS, absent

_SECONDS_BETWEEN_LINES = 5.0

_TARGETS = """\
Compare an implementation of broadcasting with the verified one. TARGET is a built-in peer (see
--peers), module:function or file.py:function. If a program answers JSON lines, as 'whycast serve'
does, put it after two dashes, with its arguments; 'whycast cases' prints such lines.

"""


def _names(text: str) -> list[str]:
    return text.split(",")


def _numbers(text: str) -> dict[str, int]:
    return {name: int(number) for name, number in (each.split("=") for each in _names(text))}


def _range(text: str) -> int | tuple[int, int]:
    low, _, high = text.partition("-")
    return (int(low), int(high)) if high else int(low)


def _seconds(text: str) -> float | None:
    return None if text == "all" else float(text)


def _number(text: str) -> float:
    return int(text) if text.strip(" -").isdecimal() else float(text)


# For a parameter's annotation: the option's reader and placeholder.
_READERS: dict[str, tuple[Callable[[str], object], str]] = {
    "int": (int, "N"),
    "float": (_number, "N"),
    "float | None": (_seconds, "N or all"),
    "int | tuple[int, int] | None": (_range, "N or N-M"),
    "Sequence[str]": (_names, "NAME,..."),
    "Mapping[str, int] | None": (_numbers, "NAME=N,..."),
}


def options_of(function: Callable[..., object]) -> dict[str, Parameter]:
    """Return the parameters that are options of the command line."""
    given = signature(function).parameters
    return {name: each for name, each in given.items() if each.annotation in _READERS}


def add_options(parser: argparse.ArgumentParser, function: Callable[..., object]) -> None:
    """Add a function's options, described as in the docstring of `check` or of the function."""
    for name, each in options_of(function).items():
        read, metavar = _READERS[each.annotation]
        about: Any = {"type": read, "default": each.default, "metavar": metavar}
        said = _says(name, check) or _says(name, function)
        if function is not check:
            # Only `check` has a target, on which these defaults depend.
            said, _, _ = said.partition(" Default:")
        parser.add_argument(f"--{name.replace('_', '-')}", **about, help=said)


def _says(name: str, function: Callable[..., object]) -> str:
    """Return the description of a parameter in a docstring."""
    pattern = rf"(?m)^(?:\w+, )?{name}(?:, \w+)? :.*\n((?: {{4}}.*\n)+)"
    found = re.search(pattern, getdoc(function) or "")
    return " ".join(found[1].split()).replace("``", "").replace("%", "%%") if found else ""


def add(commands: Any) -> None:
    # Only the notes of `check` describe the levels.
    (notes,) = re.findall(r"(?s)\nNotes\n-+\n(.*)\n\nExamples\n", getdoc(check) or "")
    parser: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="compare an implementation with the verified one",
        description=_TARGETS + notes.replace("`", ""),
        epilog="Exit code 0: no deviations; 1: deviations, or an incomplete check; 2: bad usage. "
        "SIGINT and SIGTERM end the check with its report: 1 for deviations, else 130 or 143.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="whycast check [options] (TARGET | -- PROGRAM [ARGUMENT ...])",
    )
    parser.add_argument("target", nargs="?", metavar="TARGET", help="the implementation")
    add_rule(parser)
    levels = parser.add_mutually_exclusive_group()
    levels.add_argument("--level", choices=ALL_LEVELS, help="default: data or operator")
    levels.add_argument("--up-to", choices=LEVELS, help="all levels up to this one")
    add_options(parser, check)
    progress = "print the progress, also without a terminal"
    parser.add_argument("--progress", action="store_true", help=progress)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--junit", type=path, metavar="FILE", help="write the report as JUnit XML")
    parser.add_argument("--peers", action="store_true", help="list the built-in peers and end")
    parser.set_defaults(run=run, rule=None)


def run(arguments: argparse.Namespace) -> int:
    if arguments.peers:
        for peer in PEERS.values():
            print(f"{peer.name:<20} {absent(peer) or peer.version}")
        return 0
    target = arguments.program or arguments.target
    if target is None or (arguments.program and arguments.target):
        raise UsageError("expected one TARGET, or a program after --")
    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    said = -math.inf

    def tell(text: str) -> None:
        nonlocal said
        if on_terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif arguments.progress and time.monotonic() >= said + _SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    stop, ended_by = threading.Event(), []

    def end(number: int, _frame: FrameType | None) -> None:
        ended_by.append(number)
        stop.set()

    # Ignored signals, as in a shell's background, stay ignored.
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for each, handler in before.items():
        signal.signal(each, handler if handler == signal.SIG_IGN else end)
    try:
        report = check(
            target,
            rule=arguments.rule,
            level=arguments.up_to or arguments.level,
            up_to=arguments.up_to is not None,
            **{name: getattr(arguments, name) for name in options_of(check)},
            progress=tell,
            stop=stop,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        if on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(json.dumps(report.to_dict(), indent=1) if arguments.json else report)
    if arguments.junit is not None:
        with output(arguments.junit, "--junit") as file:
            file.write(report.to_junit().encode())
    if ended_by and not report.deviations:
        return 128 + ended_by[0]
    return 0 if report.ok else 1
