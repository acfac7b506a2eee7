"""The printer for Python: what it accepts, and what it refuses.

The programs in printer/accepted.mlw have conditions in comments at the top, `python: f(1) == 2`,
with what Why3's own interpreter makes of the calls. Those in printer/refused.mlw have above them
the message, and the line that it points to. The form of the Python is to be seen in the committed
kernel, which `extract --check` compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate import closed, extraction

PROGRAMS = Path(__file__).with_name("printer")
ACCEPTED = PROGRAMS / "accepted.mlw"
CONDITIONS = re.findall(r"\(\* python: (.*) \*\)", ACCEPTED.read_text(encoding="utf-8"))
REFUSED = (PROGRAMS / "refused.mlw").read_text(encoding="utf-8").split("\n\n")[1:]


def extracted(file: Path) -> str:
    return extraction.python(extraction.why3_extract(str(file), drivers=[extraction.DRIVER]))


def raised(function: Callable[..., object], *arguments: object) -> tuple[str, object] | None:
    """Give the name and the value of the exception that a call raises."""
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__, getattr(error, "value", None)
    return None


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Run what is made of the accepted programs."""
    made: dict[str, Any] = {"raised": raised, "__name__": "accepted"}
    exec(extracted(ACCEPTED), made)
    return made


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_hold(condition: str, names: dict[str, Any]) -> None:
    assert eval(condition, names), condition


@pytest.mark.parametrize("program", REFUSED, ids=lambda text: text.splitlines()[-1])
def test_refusals_say_what_and_where(program: str, tmp_path: Path) -> None:
    heads = re.findall(r"^\(\* (?:line (\d+): )?(.*) \*\)\n", program, re.MULTILINE)
    (line, message), body = heads[-1], program[program.rindex(" *)\n") + 4 :]
    file = tmp_path / "refused.mlw"
    file.write_text(f"module M use int.Int\n{body}\nend\n", encoding="utf-8")
    with pytest.raises(closed.ToolError) as refusal:
        extracted(file)
    said = str(refusal.value)
    assert message in said
    if line:
        assert f'refused.mlw", line {int(line) + 1},' in said
