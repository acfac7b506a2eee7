"""The examples of README.md give the output that stands there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
FENCED = re.compile(r"^```(?:python|pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_examples() -> None:
    text = README.read_text(encoding="utf-8")
    sessions = [block for block in FENCED.findall(text) if ">>>" in block]
    assert text.count(">>> ") == sum(block.count(">>> ") for block in sessions)
    test = doctest.DocTestParser().get_doctest(
        "\n".join(sessions), {}, README.name, str(README), lineno=0
    )
    report: list[str] = []
    runner = doctest.DocTestRunner()
    result = runner.run(test, out=report.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(report)
