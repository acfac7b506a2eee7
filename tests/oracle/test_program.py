"""What a program can do wrong between one question and the next, each in a program of its own."""

from __future__ import annotations

import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from whycast._rules import RULES
from whycast.testing import Case, check
from whycast.testing._lines import _program
from whycast.testing._lines._program import Program
from whycast.testing._report._compare import NoAnswerError
from whycast.testing._report._judge import Refusal

CASE = Case(((3, 1), (4,)))
REFUSED = 'echo "{\\"refused\\": true}"'


@contextmanager
def shell(script: str) -> Iterator[Callable[[], object]]:
    """Start a script as soon as it is asked something; give what asks it."""
    program = Program(["sh", "-c", script], RULES["sonnx"], "shape")

    def ask() -> object:
        found = program.ask(CASE)
        assert program.process is not None
        assert program.process.stdout is not None
        # What it says beside its answer comes soon.
        select.select([program.process.stdout], [], [], 0.5)
        return found

    try:
        yield ask
        assert program.process is None
        assert program.starts == 1
    finally:
        program.stop()


@pytest.mark.parametrize(
    ("script", "answered", "kind", "text"),
    [
        ("exec >&-; cat > /dev/null", 0, "stopped", "^it closed its output$"),
        ("read line; exit 7", 0, "stopped", "^it ended with exit code 7$"),
        ("read line; kill -9 $$", 0, "stopped", f"^it was ended by {signal.SIGKILL.name}$"),
        ("read line; printf '{\"shape'", 0, "garbage", "^a line without an end: '{\"shape'$"),
        ("read line; echo no", 0, "garbage", r"^'no' \(expected JSON: "),
        ("read line; printf 'a\\nb\\n'; cat", 0, "garbage", "^more than one line: 'b'$"),
        (
            "read line; head -c 1000 /dev/zero | tr '\\0' x; cat",
            *(0, "garbage", f"^a line without an end: '{120 * 'x'}…'$"),
        ),
        # After an answer: one without a question, and none to the next one.
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
    with shell(script) as ask:
        for _ in range(answered):
            assert ask() == Refusal()
        with pytest.raises(NoAnswerError, match=text) as caught:
            ask()
        assert caught.value.kind == kind


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
