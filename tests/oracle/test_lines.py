"""Requests and answers as lines of JSON: nothing is lost on the way, and errors name the field."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from command_line import assert_same

from whycast._rules import RULES, rule_named
from whycast.testing._cases._case import LEVELS, Case, Level
from whycast.testing._cases._drawn import random_case
from whycast.testing._cases._values import DTYPES, LAYOUTS, array
from whycast.testing._lines import answer, read_answer, read_request, request
from whycast.testing._lines._elements import decoded, encoded
from whycast.testing._lines._json import line_of, parse
from whycast.testing._report._judge import Refusal, expected

ARRAY = {"dtype": "int16", "shape": [2], "elements": "0100feff"}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", RULES)
def test_there_and_back(name: str, level: Level) -> None:
    """Random cases, of every dtype and layout, and the answers that are expected."""
    rule = rule_named(name)
    for number in range(40):
        case = random_case(rule, level, 0, number)
        message = parse(line_of(request(rule, level, case)))
        read = read_request(message)
        assert (read.rule, read.level) == (rule, level)
        if level == "data":
            assert read.case == case._replace(dtypes=read.case.dtypes, layouts=())
            for x, y in zip(case.arrays(), read.arrays, strict=True):
                assert_same(x, y)
        else:
            assert read.case == case._replace(dtypes=(), layouts=())
        value: Any = expected(rule, level, case)
        got: Any = read_answer(level, parse(line_of(answer(level, value))))
        if isinstance(value, ValueError):
            assert isinstance(got, Refusal)
            assert (got.text, got.axis) == (str(value), getattr(value, "axis", None))
        elif level == "data":
            outputs = (value, got) if rule.takes == "tensors" else ([value], [got])
            for x, y in zip(*outputs, strict=True):
                assert_same(x, y)
        else:
            assert got == (level == "verdict" or value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_any_layout(dtype: str) -> None:
    for layout in LAYOUTS:
        x = array(0, (2, 3), dtype, layout)
        read = decoded(parse(line_of(encoded(x))))
        assert_same(x, read)
        assert read.flags.writeable
        assert read.flags.c_contiguous
        if x.dtype.kind in "iuf":
            assert encoded(x.astype(x.dtype.newbyteorder(">"))) == encoded(x)


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


def test_an_array_that_no_line_has_a_name_for() -> None:
    with pytest.raises(ValueError, match=r"^dtype: expected one of bool, .*, got datetime64\[s\]$"):
        encoded(np.zeros(2, "M8[s]"))


def test_integers_of_any_size() -> None:
    rule = rule_named("expand")
    case = Case(((2**200, 1),), (3,), multi_index=(2**200 - 1, 2), strides=(-(2**300), 2**64))
    for level in ("shape", "index", "strides"):
        wanted = case._replace(
            multi_index=case.multi_index if level == "index" else None,
            strides=case.strides if level == "strides" else None,
        )
        assert read_request(parse(line_of(request(rule, level, case)))).case == wanted


SHAPES = {"rule": "sonnx", "level": "shape", "shapes": [[3, 1], [4]]}
EXPAND = {"rule": "expand", "level": "shape", "shape": [3, 1], "target": [4]}
DATA = {"rule": "numpy", "level": "data", "arrays": [ARRAY]}
STRIDES = {"rule": "ngraph", "level": "strides", "shape": [3], "target": [3], "axes": []}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ([], "request: expected an object, got [] (list)"),
        ({}, "rule: expected this field, got none"),
        (SHAPES | {"rule": 3}, "rule: expected a str, got 3 (int)"),
        (SHAPES | {"rule": "numpi"}, "rule: expected one of 'sonnx', 'numpy', "),
        (SHAPES | {"level": "all"}, "level: expected one of 'verdict', 'shape', "),
        (SHAPES | {"level": None}, "level: expected a str, got None"),
        ({"rule": "sonnx", "level": "shape"}, "shapes: expected this field, got none"),
        (SHAPES | {"shapes": []}, "shapes: expected at least 1, got none"),
        (SHAPES | {"shapes": "3x1"}, "shapes: expected a list of shapes, got '3x1' (str)"),
        (SHAPES | {"shapes": [3]}, "shapes, tensor 0: expected a list of integers, got 3 (int)"),
        (
            SHAPES | {"shapes": [[], [3, True]]},
            "shapes, tensor 1, axis 1: expected an integer of at least 0, got True (bool)",
        ),
        (SHAPES | {"target": [3]}, "target: expected no such field; rule sonnx at level shape tak"),
        (EXPAND | {"axes": [0]}, "axes: expected no such field; rule expand at level shape takes "),
        (EXPAND | {"target": [-1]}, "target, axis 0: expected an integer of at least 0, got -1"),
        (EXPAND | {"shape": [2.0]}, "shape, axis 0: expected an integer of at least 0, got 2.0"),
        (STRIDES | {"strides": []}, "strides: expected 1, one for each axis of shape, got 0"),
        (STRIDES | {"strides": [None]}, "strides, position 0: expected an integer, got None ("),
        (DATA | {"arrays": [ARRAY, 5]}, "arrays, tensor 1: expected an object, got 5 (int)"),
        (
            DATA | {"arrays": [{"dtype": "int16", "shape": []}]},
            "arrays, tensor 0, elements: expected this field, got none",
        ),
    ],
)
def test_wrong_requests(message: object, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        read_request(message)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"dtype": "int17"}, ", dtype: expected one of bool, int8, "),
        ({"elements": "0100fe"}, ", elements: expected 8 hexadecimal digits, got 6"),
        ({"elements": "0100 fef"}, ", elements: expected hexadecimal digits alone, got '0100 fef'"),
        ({"elements": [1, -2]}, ", elements: expected a string of hexadecimal digits, got [1, -2]"),
        (
            {"dtype": "bool", "elements": "0102"},
            ", elements: expected 00 or 01 for a bool, got '01",
        ),
        (
            {"shape": [2**70, 0], "elements": ""},
            f": NumPy can represent no array of shape ({2**70}, 0): ",
        ),
        ({"shape": [1] * 65, "elements": "0001"}, ": NumPy can represent no array of shape (1, "),
        ({"dtype": "str", "elements": ["", 5]}, ", elements, number 1: expected a string, got 5"),
        ({"dtype": "object", "elements": ["a"]}, ", elements: expected 2 strings, got 1"),
        ({"dtype": "str", "elements": ["", "a\0"]}, ", elements: NumPy's str_ drops NUL at the "),
        (
            {"dtype": "StringDType", "elements": ["", "\ud800"]},
            ", elements: NumPy's StringDType takes no lone surrogate",
        ),
    ],
)
def test_wrong_tensors(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=f"^arrays, tensor 0{re.escape(text)}"):
        read_request(DATA | {"arrays": [ARRAY | changes]})


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"{", "expected JSON: Expecting property name enclosed in double quotes at column 2"),
        (b'"\xff"', "expected UTF-8, got 0xff"),
        (b"[NaN]", "expected JSON, which has no NaN"),
        (b"[" * 100_000, "expected JSON that is nested less deeply"),
        (b"9" * 5000, "Exceeds the limit"),
    ],
)
def test_no_json(line: bytes, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        parse(line)


@pytest.mark.parametrize(
    ("level", "message", "value"),
    [
        ("verdict", {"accepted": True}, True),
        ("verdict", {"shape": [3]}, (3,)),
        ("verdict", {"accepted": False}, Refusal()),
        ("report", {"refused": "axis 1", "axis": 1, "tensor": 0}, Refusal("axis 1", 1)),
        ("report", {"accepted": True}, True),
        # What programs write whose answers are records with all fields.
        ("shape", {"refused": None, "shape": [-1, 2], "error": None}, (-1, 2)),
        ("shape", {"refused": False, "shape": []}, ()),
        ("index", {"refused": True, "index": None}, Refusal()),
        ("data", {"arrays": []}, ()),
    ],
)
def test_answers(level: Level, message: object, value: object) -> None:
    assert read_answer(level, message) == value


@pytest.mark.parametrize(
    ("level", "message", "text"),
    [
        ("shape", 3, "answer: expected an object, got 3 (int)"),
        ("shape", {}, "answer: expected shape or refused, got no field"),
        ("data", {"shape": [3]}, "answer: expected array, arrays or refused, got shape"),
        ("verdict", {"accepted": 1}, "accepted: expected true or false, got 1 (int)"),
        ("verdict", {"refused": 1}, "refused: expected true or a string, got 1 (int)"),
        ("report", {"refused": True, "axis": "1"}, "axis: expected an integer, got '1' (str)"),
        ("shape", {"shape": 3}, "shape: expected a list of integers, got 3 (int)"),
        ("strides", {"strides": [4.0]}, "strides, position 0: expected an integer, got 4.0 "),
        ("data", {"arrays": {}}, "arrays: expected a list of arrays, got {} (dict)"),
        ("data", {"array": ARRAY | {"shape": [3]}}, "array, elements: expected 12 hexadecimal "),
        ("shape", {"error": "what?", "line": 1}, "answer: expected no error, got 'what?' (str)"),
    ],
)
def test_what_is_no_answer(level: Level, message: object, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        read_answer(level, message)
