"""The examples of the documents give the output that stands there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```(?:python|pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "proofs/FINDINGS.md"])
def test_examples(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    sessions = [block for block in FENCED.findall(text) if ">>>" in block]
    assert text.count(">>> ") == sum(block.count(">>> ") for block in sessions) > 0
    test = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, name, name, lineno=0)
    report: list[str] = []
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)
