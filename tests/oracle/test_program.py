"""What a program can do wrong between one question and the next, each in a program of its own."""

from __future__ import annotations

import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from whycast._rules import RULES
from whycast.testing import Case, check
from whycast.testing._lines import _program
from whycast.testing._lines._program import GarbageError, Program, StoppedError
from whycast.testing._report._judge import Refusal

CASE = Case(((3, 1), (4,)))
REFUSED = 'echo "{\\"refused\\": true}"'


@pytest.fixture
def started() -> Iterator[list[Program]]:
    """Programs that are ended in any case."""
    programs: list[Program] = []
    yield programs
    for program in programs:
        program.stop()


def shell(started: list[Program], script: str) -> Program:
    """Start a script as soon as it is asked something."""
    started.append(Program(["sh", "-c", script], RULES["sonnx"], "shape"))
    return started[-1]


@pytest.mark.parametrize(
    ("script", "error", "text"),
    [
        ("exec >&-; cat > /dev/null", StoppedError, "^it closed its output$"),
        ("read line; exit 7", StoppedError, "^it ended with exit code 7$"),
        ("read line; kill -9 $$", StoppedError, "^it was ended by SIGKILL$"),
        ("read line; printf '{\"shape'", GarbageError, "^a line without an end: '{\"shape'$"),
        ("read line; echo no", GarbageError, r"^'no' \(expected JSON: "),
        ("read line; printf 'a\\nb\\n'; cat", GarbageError, "^more than one line: 'b'$"),
    ],
)
def test_a_wrong_answer(
    started: list[Program], script: str, error: type[Exception], text: str
) -> None:
    program = shell(started, script)
    with pytest.raises(error, match=text):
        program.ask(CASE)
    assert program.process is None


def test_an_answer_without_a_question(started: list[Program]) -> None:
    program = shell(started, f"read line; {REFUSED}; sleep 0.3; echo more; cat > /dev/null")
    assert program.ask(CASE) == Refusal()
    assert program.process is not None
    assert program.process.stdout is not None
    select.select([program.process.stdout], [], [], 30)
    with pytest.raises(GarbageError, match=r"^more than one line: 'more'$"):
        program.ask(CASE)
    assert program.starts == 1


def test_a_program_that_takes_no_more_questions(started: list[Program]) -> None:
    program = shell(started, f"read line; exec <&-; {REFUSED}; exec sleep 60")
    assert program.ask(CASE) == Refusal()
    with pytest.raises(StoppedError, match=r"^it closed its input$"):
        program.ask(CASE)


def test_a_line_that_is_too_long(started: list[Program], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_program, "_CHUNK", 16)
    monkeypatch.setattr(_program, "_MOST_CHUNKS", 8)
    program = shell(started, "read line; head -c 1000 /dev/zero | tr '\\0' x; cat")
    with pytest.raises(GarbageError, match=f"^a line without an end: '{120 * 'x'}…'$"):
        program.ask(CASE)


def test_what_the_system_cannot_start(tmp_path: Path) -> None:
    """It may be run, says its mode, but it is no program."""
    program = tmp_path / "program"
    program.write_bytes(b"\x7fnone")
    program.chmod(0o755)
    report = check([str(program)], level="shape", seconds=0)
    (found,) = report.deviations
    assert found.kind == "stopped"
    assert found.got.startswith("it cannot be started: [Errno 8] Exec format error")
    assert not report.complete
