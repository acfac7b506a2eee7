"""Requests and answers as lines of JSON lose only layouts and byte orders; errors name the field.

`whycast serve` answers each line at once, and continues after bad lines.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import IO, Any, cast

import numpy as np
import pytest
from command_line import Run, assert_same

from whycast._command import _serve, main
from whycast._rules import RULES, rule_named
from whycast.testing._cases import cases
from whycast.testing._cases._case import LEVELS, Case, Level
from whycast.testing._cases._drawn import random_case
from whycast.testing._export import _export_onnx
from whycast.testing._export._pack import NotPossibleError
from whycast.testing._lines import answer, read_answer, read_request, request
from whycast.testing._lines._elements import decoded, encoded, left_out
from whycast.testing._lines._json import Message, line_of, parse
from whycast.testing._report._judge import Refusal, expected

ARRAY = {"dtype": "int16", "shape": [2], "elements": "0100feff"}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", RULES)
def test_there_and_back(name: str, level: Level) -> None:
    rule = rule_named(name)
    for number in range(40):
        case = random_case(rule, level, 0, number)
        if level == "data" and left_out(rule, case):
            continue
        message = parse(line_of(request(rule, level, case)))
        read = read_request(message)
        assert (read.rule, read.level) == (rule, level)
        dtypes = read.case.dtypes if level == "data" else ()
        assert read.case == case._replace(dtypes=dtypes, layouts=())
        for x, y in zip(case.arrays() if level == "data" else (), read.arrays, strict=True):
            assert_same(native(x), y)
            assert (y.flags.writeable, y.flags.c_contiguous) == (True, True)
        value: Any = expected(rule, level, case)
        line = line_of(answer(level, value))
        assert line == line_of(_serve.respond(read))
        got: Any = read_answer(level, parse(line))
        if isinstance(value, ValueError):
            assert isinstance(got, Refusal)
            assert (got.text, got.axis) == (str(value), getattr(value, "axis", None))
        elif level == "data":
            outputs = (value, got) if rule.takes == "tensors" else ([value], [got])
            for x, y in zip(*outputs, strict=True):
                assert_same(native(x), y)
        else:
            assert got == (level == "verdict" or value)


def native(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array in this machine's byte order; lines have no byte order."""
    return x.astype(x.dtype.newbyteorder("=")) if not x.dtype.isnative else x


def test_bytes_are_little_endian_in_row_major_order() -> None:
    x = np.array([[1, -2, 3], [4, 5, 6]], np.int16)
    assert encoded(x)["elements"] == "0100feff0300040005000600"
    assert encoded(x.T)["elements"] == "01000400feff050003000600"
    floats = np.array([0x7FC00005, 0x80000000], np.uint32).view(np.float32)
    assert encoded(floats) == {"dtype": "float32", "shape": [2], "elements": "0500c07f00000080"}
    assert encoded(np.array(True)) == {"dtype": "bool", "shape": [], "elements": "01"}
    strings = np.array(["é", "\0", "\ud800"], np.object_)
    assert encoded(strings)["elements"] == ["é", "\0", "\ud800"]
    assert decoded(parse(line_of(encoded(strings)))).tolist() == ["é", "\0", "\ud800"]
    with pytest.raises(ValueError, match=r"^dtype: expected one of bool, .*, got datetime64\[s\]$"):
        encoded(np.zeros(2, "M8[s]"))


def test_integers_of_any_size() -> None:
    case = Case(((2**200, 1),), (3,), strides=(-(2**300), 2**64))
    line = line_of(request(rule_named("expand"), "strides", case))
    assert read_request(parse(line)).case == case


def served(*lines: object) -> list[Message]:
    """Send lines to `serve` in this process: bytes unchanged, other values as JSON."""
    asked = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    sink = io.BytesIO()
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(asked))))
        changed.setattr(sys, "stdout", io.TextIOWrapper(sink))
        assert main(["serve"]) == 0
        return list(map(json.loads, sink.getvalue().splitlines()))


SHAPES = {"rule": "sonnx", "level": "shape", "shapes": [[3, 1], [4]]}
DATA = {"rule": "numpy", "level": "data", "arrays": [ARRAY]}
STRIDES = {"rule": "ngraph", "level": "strides", "shape": [3], "target": [3], "axes": []}
INDEX = {"rule": "numpy", "level": "index", "shape": [], "target": [2]}
LARGE = {"rule": "expand", "level": "data", "target": [2, 2]}


def test_a_process_answers_each_line_at_once_and_ends_with_its_reader() -> None:
    # With PYTHONUNBUFFERED Python would flush each write.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe, command = subprocess.PIPE, (sys.executable, "-m", "whycast", "serve")
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        timer = Timer(60, process.kill)
        timer.start()
        source, sink = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        for number in range(3):
            source.write(line_of(SHAPES | {"id": number}))
            source.flush()
            assert json.loads(sink.readline()) == {"id": number, "shape": [3, 4]}
        sink.close()
        source.write(line_of(SHAPES))
        source.close()
        assert process.wait(60) == 0
        assert cast("IO[bytes]", process.stderr).read() == b""
        timer.cancel()


def test_lack_of_room_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is too long, or there is no memory for an answer."""
    own = _serve.respond
    respond: Any = lambda asked: own(asked) if asked.level != "verdict" else [0] * 2**62  # noqa: E731
    monkeypatch.setattr(_serve, "respond", respond)
    monkeypatch.setattr(_serve, "_MAX_LINE", 128)
    verdict = SHAPES | {"id": 3, "level": "verdict"}
    assert served(SHAPES, SHAPES | {"id": 200 * "9"}, verdict, SHAPES, b"a" * 300) == [
        {"shape": [3, 4]},
        {"error": "expected a line of at most 128 bytes", "line": 2},
        {"id": 3, "error": "there is no room for the answer", "line": 3},
        {"shape": [3, 4]},
        {"error": "expected a line of at most 128 bytes", "line": 5},
    ]
    monkeypatch.setattr(_serve, "_MAX_LINE", 4)
    source = io.BytesIO(b"abc\nabcd\n\nabcdefghijkl\nabcdefgh\nab\r\nabcdefghi")
    found = [(1, b"abc"), (2, None), (4, None), (5, None), (6, b"ab"), (7, None)]
    assert list(_serve._lines(source)) == found


BYTE = {"dtype": "int8", "shape": [1], "elements": "07"}
COMPLEX = {"dtype": "complex64", "shape": [], "elements": "00" * 8}
WRONG_TENSORS: list[tuple[dict[str, Any], str]] = [
    ({"dtype": "int17"}, ", dtype: expected one of bool, int8, "),
    ({"elements": "0100fe"}, ", elements: expected 8 hexadecimal digits, got 6"),
    ({"elements": "0100 fef"}, ", elements: expected hexadecimal digits alone, got '0100 fef'"),
    ({"elements": [1, -2]}, ", elements: expected a string of hexadecimal digits, got [1, -2]"),
    ({"dtype": "bool", "elements": "0102"}, ", elements: expected 00 or 01 for a bool, got '01"),
    ({"shape": [2**70, 0], "elements": ""}, f": NumPy can represent no array of shape ({2**70}, 0"),
    ({"shape": [1] * 65, "elements": "0001"}, ": NumPy can represent no array of shape (1, "),
    ({"dtype": "str", "elements": ["", 5]}, ", elements, number 1: expected a string, got 5"),
    ({"dtype": "object", "elements": ["a"]}, ", elements: expected 2 strings, got 1"),
    ({"dtype": "str", "elements": ["", "a\0"]}, ", elements: NumPy's str_ drops NUL at the "),
    ({"dtype": "StringDType", "elements": ["", "\ud800"]}, ", elements: NumPy's StringDType takes"),
]
WRONG: list[tuple[object, str]] = [
    ([], "request: expected an object, got [] (list)"),
    ({}, "rule: expected this field, got none"),
    (SHAPES | {"rule": "numpi"}, "rule: expected one of 'sonnx', 'numpy', "),
    (SHAPES | {"level": None}, "level: expected a str, got None"),
    (SHAPES | {"shapes": []}, "shapes: expected at least 1, got none"),
    (SHAPES | {"shapes": [3]}, "shapes, tensor 0: expected a list of integers, got 3 (int)"),
    (SHAPES | {"shapes": [[], [True]]}, "shapes, tensor 1, axis 0: expected an integer of at leas"),
    (SHAPES | {"target": [3]}, "target: expected no such field; rule sonnx at level shape tak"),
    (STRIDES | {"strides": []}, "strides: expected 1, one for each axis of shape, got 0"),
    (STRIDES | {"strides": [None]}, "strides, position 0: expected an integer, got None ("),
    (DATA | {"arrays": [{"dtype": "int16", "shape": []}]}, "arrays, tensor 0, elements: expected "),
    *[
        (DATA | {"arrays": [ARRAY | changes]}, f"arrays, tensor 0{text}")
        for changes, text in WRONG_TENSORS
    ],
    (b"{", "expected JSON: Expecting property name enclosed in double quotes at column 2"),
    (b'"\xff"', "expected UTF-8, got 0xff"),
    (b"[NaN]", "expected JSON, which has no NaN"),
    (b"[" * 100_000, "expected JSON that is nested less deeply"),
    (b"9" * 5000, "Exceeds the limit"),
    (b'{"id": 1e999}', "expected JSON with numbers that a float can be, got 1e999"),
    (INDEX | {"index": [0.5]}, "index, position 0: expected an integer, got 0.5 (float)"),
    (INDEX | {"index": [2]}, "index, axis 0: expected at least 0 and less than the target's size "),
    (INDEX | {"index": []}, "index: expected 1 indices, one for each axis of target, got 0"),
    (LARGE | {"array": ARRAY, "target": [10**12, 2]}, "expected an answer of at most "),
    (LARGE | {"array": BYTE, "target": [0, 2**70]}, "NumPy has no array of shape "),
    (LARGE | {"array": BYTE, "target": [1] * 65}, "NumPy has no array of shape "),
    (DATA | {"rule": "sonnx", "arrays": [COMPLEX]}, "argument 0: dtype complex64 is not one of SO"),
]


def test_wrong_lines() -> None:
    """A wrong line gets an error with its number; later lines get answers, blank lines none."""
    lines = [line for wrong, _ in WRONG for line in (wrong, b" \t\r")]
    *answers, last = served(*lines, SHAPES)
    assert last == {"shape": [3, 4]}
    for number, ((_, text), found) in enumerate(zip(WRONG, answers, strict=True)):
        assert found["error"].startswith(text), found
        assert (found["line"], set(found)) == (2 * number + 1, {"error", "line"})
    (found,) = served({"id": [1], "rule": "sonnx"})
    assert found == {"id": [1], "error": "level: expected this field, got none", "line": 1}


@pytest.mark.parametrize(
    ("level", "message", "value"),
    [
        ("verdict", {"accepted": True}, True),
        ("verdict", {"shape": [3]}, (3,)),
        ("verdict", {"accepted": False}, Refusal()),
        ("report", {"refused": "axis 1", "axis": 1, "tensor": 0}, Refusal("axis 1", 1)),
        ("report", {"accepted": True}, True),
        # Some programs write records with all fields.
        ("shape", {"refused": None, "shape": [-1, 2], "error": None}, (-1, 2)),
        ("shape", {"refused": False, "shape": []}, ()),
        ("index", {"refused": True, "index": None}, Refusal()),
    ],
)
def test_answers(level: Level, message: object, value: object) -> None:
    assert read_answer(level, message) == value


@pytest.mark.parametrize(
    ("level", "message", "text"),
    [
        ("shape", {}, "answer: expected shape or refused, got no field"),
        ("data", {"shape": [3]}, "answer: expected array, arrays or refused, got shape"),
        ("verdict", {"accepted": 1}, "accepted: expected true or false, got 1 (int)"),
        ("verdict", {"refused": 1}, "refused: expected true or a string, got 1 (int)"),
        ("report", {"refused": True, "axis": "1"}, "axis: expected an integer, got '1' (str)"),
        ("strides", {"strides": [4.0]}, "strides, position 0: expected an integer, got 4.0 "),
        ("shape", {"error": "what?", "line": 1}, "answer: expected no error, got 'what?' (str)"),
    ],
)
def test_malformed_answers(level: Level, message: object, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        read_answer(level, message)


def test_lines_on_the_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = []
    for seed in "556":
        words = "cases --rule in-dim --format jsonl --level index --out - --random 9 --seed"
        assert main([*words.split(), seed]) == 0
        found.append(capfdbinary.readouterr())
    done, again, other = found
    lines = list(map(json.loads, done.out.splitlines()))
    assert done.err.decode() == f"{len(lines)} cases: -\n"
    for message in lines:
        wanted = [message["index"][axis] for axis in message["axes"]]
        places = zip(wanted, message["shape"], strict=True)
        source = [0 if size == 1 else place for place, size in places]
        assert message["expected"] == {"index": source}
    assert (again.out == done.out, other.out == done.out) == (True, False)
    words = "cases --rule numpy --format jsonl --out -"
    few = f"{words} --tensors 3 --dtypes int8 --max-rank 1 --max-size 2"
    assert main(few.split()) == 0
    asked = [json.loads(line)["arrays"] for line in capfdbinary.readouterr().out.splitlines()]
    assert {len(arrays) for arrays in asked} == {3}
    assert {x["dtype"] for arrays in asked for x in arrays} == {"int8"}
    assert {size for arrays in asked for x in arrays for size in x["shape"]} == {0, 1, 2}
    # Lines with arrays also have the answers of `serve`.
    assert main(words.split()) == 0
    written = list(map(json.loads, capfdbinary.readouterr().out.splitlines()))
    assert len(written) == sum(not left_out(RULES["numpy"], each) for each in cases("numpy"))
    for message in written[::40]:
        assert message["expected"] == _serve.respond(read_request(message))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--format onnx --out -", "--out: expected a path for --format onnx, got -"),
        ("--format onnx --out x --level data", "none for --format onnx, which has what it takes"),
        ("--rule ngraph --format onnx --out x", "has no node with axes, which rule ngraph takes"),
        (
            "--rule ngraph --format stablehlo --out x",
            "has broadcast_in_dim, which is not rule ngraph",
        ),
        ("--format jsonl --out /", "--out: expected the name of a file, got the folder /"),
        ("--format onnx --out /", "--out: [Errno 17] expected the name of a new folder: '/'"),
        ("--format jsonl --out - --random -3", "random: expected at least 0, got -3"),
        ("--format onnx --out x --max-rank -1", "max_rank: expected at least 0, got -1"),
        ("--format jsonl --out - --dtypes int8,int7", ">i4, >f8, got 'int7'"),
    ],
)
def test_errors(words: str, error: str, run: Run) -> None:
    done = run(f"cases {words}")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"{error}\n")


def test_without_the_package_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NotPossibleError, match=r"pip install 'whycast\[test-data\]'"):
        _export_onnx.write(RULES["numpy"], [], tmp_path / "tests")
    assert not list(tmp_path.iterdir())
