"""Faults of programs between one question and the next, each in a program of its own."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from whycast._rules import RULES
from whycast.testing import Case, TargetError, check
from whycast.testing._lines import _program
from whycast.testing._lines._program import Program
from whycast.testing._report._compare import NoAnswerError
from whycast.testing._report._judge import Refusal

CASE = Case(((3, 1), (4,)))
REFUSED = 'echo "{\\"refused\\": true}"'


@contextmanager
def shell(script: str) -> Iterator[Callable[[], object]]:
    """Return a function that asks a script; the first call starts it."""
    program = Program(["sh", "-c", script], RULES["sonnx"], "shape")

    def ask() -> object:
        found = program.ask(CASE)
        # Output beside the answer comes soon.
        time.sleep(0.5)
        return found

    try:
        yield ask
        assert program.process is None
    finally:
        program.stop()


@pytest.mark.parametrize(
    ("script", "answered", "kind", "text"),
    [
        ("exec >&-; cat > /dev/null", 0, "stopped", "^it closed its output$"),
        ("read line; exit 7", 0, "stopped", "^it ended with exit code 7$"),
        ("read line; printf '{\"shape'", 0, "garbage", "^a line without an end: '{\"shape'$"),
        ("read line; echo no", 0, "garbage", r"^'no' \(expected JSON: "),
        ("read line; printf 'a\\nb\\n'; cat", 0, "garbage", "^more than one line: 'b'$"),
        (
            "read line; head -c 1000 /dev/zero | tr '\\0' x; cat",
            *(0, "garbage", f"^a line without an end: '{120 * 'x'}…'$"),
        ),
        # After an answer: another line, and no second answer.
        (
            f"read line; {REFUSED}; sleep 0.3; echo more; cat > /dev/null",
            *(1, "garbage", "^more than one line: 'more'$"),
        ),
        (
            f"read line; exec <&-; {REFUSED}; exec sleep 60",
            *(1, "stopped", "^it closed its input$"),
        ),
    ],
)
def test_a_wrong_answer(
    script: str, answered: int, kind: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_program, "_CHUNK", 16)
    monkeypatch.setattr(_program, "_MOST_CHUNKS", 20)
    monkeypatch.setattr(_program, "_PATIENCE", 0.2)
    with shell(script) as ask:
        for _ in range(answered):
            assert ask() == Refusal()
        with pytest.raises(NoAnswerError, match=text) as caught:
            ask()
        assert caught.value.kind == kind


ANSWERS = 'while read line; do echo "{\\"shape\\": [9]}"; done'
LATE = "import sys\nfor line in sys.stdin: print('no')"
BUFFERED = ("env", "-u", "PYTHONUNBUFFERED")


@pytest.mark.parametrize(
    ("program", "asked", "text"),
    [
        # A fault of the whole program is one error.
        (["sh", "-c", "exit 3"], {}, "^target .*: it ended with exit code 3, before it had answ"),
        ([*BUFFERED, sys.executable, "-c", LATE], {}, "expected a flush after each line$"),
        (
            ["sh", "-c", f"read line; {REFUSED}"],
            *({}, "(?s)given up at case .* stops before it has answered: 20 cases"),
        ),
        # The check reads the answer while it writes a long line, and does not give up.
        (["cat"], {"level": "data"}, r"\n1. data: another shape: "),
        (["cat"], {"level": "data", "max_rank": 0}, r"\n  not asked: [\d,]+ cases: a rank above 0"),
        (["sh", "-c", ANSWERS], {"max_size": 2**53}, "cases: a number above 9007199254740992\n"),
    ],
)
def test_a_report_on_a_program(program: list[str], asked: Any, text: str) -> None:
    try:
        said = str(check(program, **{"level": "shape", "seconds": None, "every": 9} | asked))
    except TargetError as error:
        said = str(error)
    assert re.search(text, said), said
    assert ("given up" in said) == ("given up" in text)


def test_the_standard_error_of_a_program_appears_once(capfd: pytest.CaptureFixture[str]) -> None:
    check(["sh", "-c", f"echo begun >&2; read line; {REFUSED}"], level="shape", every=400)
    assert capfd.readouterr().err == "begun\n"


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fnone")
    program.chmod(0o755)
    with pytest.raises(TargetError, match=r"it cannot be started: \[Errno 8\] Exec format error"):
        check([str(program)], level="shape")
