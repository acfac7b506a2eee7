"""The judge confirms each recorded verdict about a tool's answer for sizes with names."""

from __future__ import annotations

import doctest
import json

import pytest
from record_symbolic import FILE, QUESTIONS, TOOLS, judge

RECORD = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("tool", TOOLS)
def test_verdicts(tool: str) -> None:
    """[E_Broadcast_any_Derived_580]"""
    assert [*RECORD[tool]] == ["version", *QUESTIONS]
    for question in QUESTIONS:
        verdict, _, answer = RECORD[tool][question].partition(": ")
        assert judge(question, answer)[0] == verdict, question


def test_the_page_shows_what_the_package_answers() -> None:
    page = FILE.parents[2] / "python/doc/names.md"
    assert doctest.testfile(f"{page}", module_relative=False) == (0, 4)
