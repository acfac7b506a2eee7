"""`whycast serve` as a process: each line has its answer, at once, and bad lines end nothing."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import IO, Any, cast

import pytest

from whycast._command import main
from whycast._rules import RULES, rule_named
from whycast.testing._cases._case import LEVELS
from whycast.testing._cases._drawn import random_case
from whycast.testing._lines import Request, _serve, answer, request
from whycast.testing._lines._json import line_of
from whycast.testing._report._judge import expected

SERVE = (sys.executable, "-m", "whycast", "serve")
SHAPE = {"rule": "sonnx", "level": "shape", "shapes": [[3, 1], [4]]}
EXPAND = {"rule": "expand", "level": "data", "target": [2, 2]}
SECONDS = 60
# With that variable Python would write at once whatever the program does.
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}


def served(*lines: object) -> list[dict[str, Any]]:
    """Ask lines, bytes as they are and anything else as JSON; return the answers."""
    asked = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    done = subprocess.run(
        SERVE,
        input=b"\n".join(asked),
        env=ENVIRONMENT,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"\n") or not done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(SERVE, env=ENVIRONMENT, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        # An answer that never comes would be waited for without end.
        timer = Timer(SECONDS, process.kill)
        timer.start()
        try:
            yield process, cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        finally:
            timer.cancel()
            process.kill()


def test_every_rule_and_level() -> None:
    """Random cases of all rules and levels in one process, each with its number, in order."""
    asked: list[object] = []
    wanted: list[dict[str, Any]] = []
    for name in RULES:
        rule = rule_named(name)
        for level in LEVELS:
            for number in range(8):
                case = random_case(rule, level, 1, number)
                value = expected(rule, level, case)
                asked.append(request(rule, level, case) | {"id": len(asked), "expected": None})
                wanted.append({"id": len(wanted), **answer(level, value)})
    assert served(*asked) == json.loads(json.dumps(wanted))
    assert {"shape", "refused", "arrays", "array", "axis"} <= {
        key for each in wanted for key in each
    }


def test_answers() -> None:
    """[E_Broadcast_any_E1_010] [E_Expand_any_Data_010] [E_BroadcastInDim_any_Data_010]"""
    column = {"dtype": "int16", "shape": [2, 1], "elements": "0100feff"}
    words = {"dtype": "StringDType", "shape": [2], "elements": ["é", ""]}
    along = {"rule": "in-dim", "shape": [2], "target": [2, 3], "axes": [0]}
    refused, *others = served(
        {"rule": "sonnx", "level": "report", "shapes": [[2, 0], [1]]},
        SHAPE,
        SHAPE | {"level": "verdict"},
        EXPAND | {"array": column},
        EXPAND | {"array": words},
        along | {"level": "index", "index": [1, 2]},
        along | {"level": "strides", "strides": [-8]},
        {"rule": "numpy", "level": "data", "arrays": [column, words]},
    )
    assert refused["refused"].startswith("shapes do not broadcast (E1): axis 1 of the common rank")
    assert (refused["axis"], refused["tensor"]) == (1, 0)
    assert others == [
        {"shape": [3, 4]},
        {"accepted": True},
        {"array": {"dtype": "int16", "shape": [2, 2], "elements": "01000100fefffeff"}},
        {"array": words | {"shape": [2, 2], "elements": ["é", "", "é", ""]}},
        {"index": [1]},
        {"strides": [-8, 0]},
        {
            "arrays": [
                {"dtype": "int16", "shape": [2, 2], "elements": "01000100fefffeff"},
                words | {"shape": [2, 2], "elements": ["é", "", "é", ""]},
            ]
        },
    ]


def test_bad_lines() -> None:
    """Each is answered with its number, and the next one is read; blank ones have no answer."""
    byte = {"dtype": "int8", "shape": [1], "elements": "07"}
    complex_number = {"dtype": "complex64", "shape": [], "elements": "00" * 8}
    lines: list[tuple[object, str | None]] = [
        (b"hello", "expected JSON: Expecting value at column 1"),
        (b"", None),
        (b"\xff\xfe", "expected UTF-8, got 0xff"),
        (b" \t\r", None),
        ([SHAPE], "request: expected an object, got "),
        (SHAPE | {"rule": "numpi"}, "rule: expected one of 'sonnx', "),
        (SHAPE | {"shapes": [[3, "4"]]}, "shapes, tensor 0, axis 1: expected an integer "),
        (b"[" * 100_000, "expected JSON that is nested less deeply"),
        (b'{"id": 1e999}', "expected JSON with numbers that a float can be, got 1e999"),
        (
            {"rule": "numpy", "level": "index", "shape": [], "target": [2], "index": [2]},
            "index, axis 0: expected at least 0 and less than 2, got 2 (int)",
        ),
        (
            {"rule": "numpy", "level": "index", "shape": [], "target": [2], "index": []},
            "index: expected 1 integers, one for each axis of the output (2,), got 0",
        ),
        (EXPAND | {"array": byte, "target": [10**12]}, "expected an answer of at most "),
        (EXPAND | {"array": byte, "target": [0, 2**70]}, "NumPy has no array of shape "),
        (EXPAND | {"array": byte, "target": [1] * 65}, "NumPy has no array of shape "),
        (
            {"rule": "sonnx", "level": "data", "arrays": [complex_number]},
            "argument 0: dtype complex64 is not one of SONNX's types",
        ),
    ]
    answers = iter(served(*(line for line, _ in lines), SHAPE))
    for number, (_, text) in enumerate(lines, 1):
        if text is not None:
            found = next(answers)
            assert found["error"].startswith(text), found
            assert (found["line"], set(found)) == (number, {"error", "line"})
    assert list(answers) == [{"shape": [3, 4]}]


def test_an_error_has_the_id_too() -> None:
    (found,) = served({"id": {"n": [1.5, None]}, "rule": "sonnx"})
    assert found == {
        "id": {"n": [1.5, None]},
        "error": "level: expected this field, got none",
        "line": 1,
    }


def test_no_input() -> None:
    assert served() == []


def test_each_answer_is_there_before_the_next_line_is_asked() -> None:
    with serving() as (process, source, sink):
        for number in range(3):
            source.write(line_of(SHAPE | {"id": number}))
            source.flush()
            assert json.loads(sink.readline()) == {"id": number, "shape": [3, 4]}
        source.close()
        assert process.wait(SECONDS) == 0


def test_a_reader_that_goes_away() -> None:
    with serving() as (process, source, sink):
        source.write(line_of(SHAPE))
        source.flush()
        sink.readline()
        sink.close()
        source.write(line_of(SHAPE))
        source.close()
        assert process.wait(SECONDS) == 0
        assert cast("IO[bytes]", process.stderr).read() == b""


def answers(source: bytes, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Ask in this process."""
    sink = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(source)))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(sink))
    assert main(["serve"]) == 0
    return list(map(json.loads, sink.getvalue().splitlines()))


def test_what_has_no_room_is_an_error_of_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is too long, and an answer for which there is no memory."""

    def respond(asked: Request) -> dict[str, Any]:
        if asked.level == "verdict":
            raise MemoryError
        return respond_as_ever(asked)

    respond_as_ever = _serve.respond
    monkeypatch.setattr(_serve, "respond", respond)
    monkeypatch.setattr(_serve, "_MAX_LINE", 128)
    lines: list[dict[str, Any]]
    lines = [SHAPE, SHAPE | {"id": 200 * "9"}, SHAPE | {"id": 3, "level": "verdict"}, SHAPE]
    assert answers(b"".join(map(line_of, lines)), monkeypatch) == [
        {"shape": [3, 4]},
        {"error": "expected a line of at most 128 bytes", "line": 2},
        {"id": 3, "error": "there is no room for the answer", "line": 3},
        {"shape": [3, 4]},
    ]


def test_lines_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_serve, "_MAX_LINE", 4)
    source = io.BytesIO(b"abc\nabcd\n\nabcdefghijkl\nabcdefgh\nab\r\nabcdefghi")
    assert list(_serve._lines(source)) == [
        (1, b"abc"),
        (2, None),
        (4, None),
        (5, None),
        (6, b"ab"),
        (7, None),
    ]
