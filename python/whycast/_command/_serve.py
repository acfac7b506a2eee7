"""`whycast serve`: the verified functions, by JSON lines on standard input."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from whycast._command._arguments import Subparsers
from whycast._errors import show_int, show_shape
from whycast._rules import names_of
from whycast._shapes import source_index
from whycast.testing._lines import Request, answer, read_request
from whycast.testing._lines._json import Message, line_of, parse
from whycast.testing._report._judge import expected

_MAX_BYTES, _MAX_LINE = 2**26, 2**28

_DESCRIPTION = (
    f"""\
Answer requests on standard input by the verified functions. A line is a JSON object in UTF-8 with
the fields "rule", "level" and

  level                    {names_of("tensors"):<24}other rules
  verdict, shape, report   shapes                  shape, target[, axes]
  index                    shape, target, index    shape, target[, axes], index
  strides                  shape, target, strides  shape, target[, axes], strides
  data                     arrays                  array, target[, axes]

"axes" for {names_of("axes")}. """
    """The answer repeats an "id" of any kind; "expected" is
ignored. An array is {"dtype": "int16", "shape": [2, 1], "elements": "0100feff"}: the elements in
row-major order, as hexadecimal digits of little-endian bytes, or for the dtypes "str", "object" and
"StringDType" as a list of strings.

The answer is {"accepted": true} (verdict), {"shape": [3, 4]} (shape, report), {"index": [2, 0]},
{"strides": [4, 0]}, {"arrays": [...]} or {"array": {...}} (data); if the rule refuses,
{"refused": "why"}, with "axis" and "tensor" if they are known. The answer to an invalid line is
{"error": "the reason", "line": 3}. Blank lines get no answer."""
)

_EPILOG = """\
example:
  $ echo '{"rule": "sonnx", "level": "shape", "shapes": [[3, 1], [4]]}' | whycast serve
  {"shape": [3, 4]}"""


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "serve",
        help="answer JSON lines with the verified functions",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Answer until the input ends, or the output has no reader."""
    output = sys.stdout.buffer
    try:
        for number, line in _lines(sys.stdin.buffer):
            output.write(line_of(_reply(line, number)))
            output.flush()
    except BrokenPipeError:
        # Otherwise Python's last flush reports the broken pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def respond(request: Request) -> Message:
    """Return the answer to a request, or raise ValueError or MemoryError."""
    rule, level, case, arrays = request
    shape = rule.shape(case)
    try:
        if shape is not None and level == "index":
            # Each rule needs a valid multi-index.
            source_index(shape, shape, case.multi_index or ())
        size = math.prod(shape or (0,)) * sum([array.itemsize for array in arrays])
        if size > _MAX_BYTES:
            got = f"got {show_int(size)} for shape {show_shape(shape or ())}"
            raise ValueError(f"expected an answer of at most {_MAX_BYTES} bytes, {got}")
        return answer(level, expected(rule, level, case, arrays))
    except (TypeError, IndexError) as error:
        raise ValueError(str(error)) from None


def _reply(line: bytes | None, number: int) -> Message:
    identity: Message = {}
    try:
        if line is None:
            raise ValueError(f"expected a line of at most {_MAX_LINE} bytes")
        message = parse(line)
        if isinstance(message, dict) and "id" in message:
            identity = {"id": message["id"]}
        return identity | respond(read_request(message))
    except MemoryError:
        return identity | {"error": "there is no room for the answer", "line": number}
    except ValueError as error:
        return identity | {"error": str(error), "line": number}


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Return the numbered lines that are not blank; None replaces a line that is too long."""
    number = 0
    while line := source.readline(_MAX_LINE):
        number += 1
        if len(line) == _MAX_LINE and not line.endswith(b"\n"):
            while (rest := source.readline(_MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            yield number, None
        elif line.strip():
            yield number, line.rstrip(b"\r\n")
