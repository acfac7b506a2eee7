"""The processes of a check: their memory, time and end, and the faults of programs."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import implementations
import numpy as np
import pytest
from implementations import assert_ends, one_case, where

import whycast
from whycast._rules import RULES
from whycast.testing import Case, TargetError, cases, check
from whycast.testing._cases._fixed import in_turn
from whycast.testing._lines import _program
from whycast.testing._lines._program import Program
from whycast.testing._peers import PEERS
from whycast.testing._report._compare import NoAnswerError, as_integers
from whycast.testing._report._judge import Judge, Refusal
from whycast.testing._run import _child, _worker

Shape = tuple[int, ...]


def copies_itself(*shapes: Shape) -> bool:
    """Fork the process, and wait for the copy, which continues the cases until it must report."""
    if shapes == ((), ()) and (copy := os.fork()):
        _, status = os.waitpid(copy, 0)
        return os.waitstatus_to_exitcode(status) == 0
    return whycast.compatible(*shapes)


def test_a_copy_of_the_process_says_nothing() -> None:
    report = check(copies_itself, level="verdict", seconds=None, every=50)
    assert report.ok, str(report)
    assert report.cases == len(range(0, len(list(cases(level="verdict"))), 50))


def test_a_fault_of_the_checker_is_an_assertion(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(judge: Judge, case: Case, value: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(Judge, "finding", broken)
    with pytest.raises(AssertionError, match="ZeroDivisionError: a fault"):
        check(whycast.compatible, level="verdict", seconds=None)


def test_memory_that_grows_from_case_to_case_is_no_deviation() -> None:
    kept = []
    function = where(lambda _: True, lambda: kept.append(np.ones(200_000)))
    report = check(function, seconds=None, every=20, memory=50)
    assert report.ok, str(report)
    (note,) = report.notes
    assert "its memory grew from case to case" in note


def test_the_memory_of_the_cases_is_not_the_targets() -> None:
    report = check(whycast.broadcast, seconds=1.5, every=20, memory=1)
    assert report.ok, str(report)
    assert report.notes == ()


def test_memory_that_two_processes_share_counts_once() -> None:
    """A forked child shares its parent's memory, and has none of its own."""
    held = np.ones(2**25)

    def fork() -> None:
        if os.fork() == 0:
            time.sleep(0.5)
            os._exit(0)
        time.sleep(0.3)
        assert held[-1] == 1

    report = check(where(one_case, fork), level="verdict", seconds=None, every=1, memory=50)
    assert report.ok, str(report)


def test_the_time_of_the_checker_is_not_the_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new process may make all fixed cases before its first case."""

    def slowly(rule: Any, level: Any, every: int) -> Any:
        time.sleep(1)
        return in_turn(rule, level, every)

    monkeypatch.setattr(_worker, "in_turn", slowly)
    dies = where(one_case, lambda: os._exit(1))
    report = check(dies, level="verdict", seconds=None, timeout=0.7)
    assert {each.kind for each in report.deviations} == {"exit"}, str(report)


def test_processes_of_a_function_end_with_it() -> None:
    function = where(one_case, lambda: subprocess.Popen(["sleep", "61.25"]))
    assert check(function, level="verdict", seconds=None, every=1).ok
    assert_ends("61.25")


SLEEPS = """
import pathlib, time, whycast
begun, asked = pathlib.Path("begun"), []
def f(*shapes):
    asked.append(shapes)
    if len(asked) > 40:
        begun.touch()
        time.sleep(60)
    time.sleep(0.01)
    return whycast.broadcast_shapes(*shapes)[::{sign}]
"""


@pytest.mark.parametrize(
    ("number", "sign", "code", "last"),
    [
        (signal.SIGINT, 1, 130, "the check is incomplete"),
        (signal.SIGTERM, -1, 1, "1 kind of deviation"),
        (signal.SIGKILL, 1, -9, None),
    ],
)
def test_a_check_that_is_ended_reports_and_ends_all_it_started(
    number: signal.Signals, sign: int, code: int, last: str | None, tmp_path: Path
) -> None:
    mark = f"61.{number.value}"
    # The child has its parent's command line, which contains the mark.
    (tmp_path / "sleeps.py").write_text(SLEEPS.format(sign=sign), encoding="utf-8")
    words = ("check", "sleeps.py:f", "--level", "shape", "--timeout", mark, "--seconds", "60")
    # A shell's background process ignores SIGINT; the child would inherit that.
    running = subprocess.Popen(
        [sys.executable, "-m", "whycast", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(number)
    printed, said = running.communicate(timeout=30)
    assert (running.returncode, said) == (code, "")
    if last is not None:
        first, *_, end = printed.splitlines()
        assert re.fullmatch(r"sleeps.py:f by the rule sonnx: [234]\d cases in .*", first), printed
        assert end == last
        assert "\n  stopped before the end\n" in printed
    assert_ends(mark)


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_from_the_start(closed: str) -> None:
    words = f"-m whycast check numpy --rule numpy --level shape --seconds all --every 99 {closed}"
    done = subprocess.run(["sh", "-c", f"{sys.executable} {words}"], check=False)
    assert done.returncode == 0


def test_where_there_is_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    asked: Any = {"rule": "numpy", "level": "verdict", "seconds": None, "every": 50}
    assert check("numpy", **asked).ok
    (first, *_) = check(whycast.compatible, **asked).deviations
    assert first.kind == "refuses"
    assert not whycast.compatible(*first.case.shapes)


def test_without_what_only_some_systems_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems have no groups of processes, and do not end a child with its parent."""
    monkeypatch.setattr(_child, "WARM_UP", 1)
    monkeypatch.delattr(os, "killpg")
    monkeypatch.delattr(os, "setsid")
    monkeypatch.setattr(sys, "platform", "another")
    assert check(whycast.compatible, level="verdict", seconds=None, every=50).ok
    report = check(implementations.hangs, seconds=None, every=2, timeout=0.3)
    assert {each.kind for each in report.deviations} == {"hang"}


def test_sequences_of_integers() -> None:
    for answer in ((3, 4), np.array([3, 4]), iter([np.int8(3), 4])):
        assert as_integers(answer) == (3, 4)
    for other in ("34", b"34", 34, (3, 4.0)):
        assert as_integers(other) is None


def test_torch_is_not_asked_for_negative_strides() -> None:
    for strides, is_asked in ((), True), ((12, 4), True), ((0, 0), True), ((12, -4), False):
        case = Case(((2, 3)[: len(strides)],), (2, 3), strides=strides)
        reason = PEERS["torch"].left_out("strides", case)
        assert (reason is None) is is_asked


CASE = Case(((3, 1), (4,)))
REFUSED = 'echo "{\\"refused\\": true}"'


@contextmanager
def shell(script: str) -> Iterator[Callable[[], object]]:
    """Return a function that asks a script; the first call starts the script."""
    program = Program(["sh", "-c", script], RULES["sonnx"], "shape")

    def ask() -> object:
        found = program.ask(CASE)
        # Wait for more output.
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
        # The program is slow to start.
        (f"sleep 0.3; read line; {REFUSED}; exit 7", 1, "stopped", "^it ended with exit code 7$"),
        ("read line; kill -9 $$", 0, "stopped", "^it was ended by SIGKILL$"),
        ("read line; printf '{\"shape'", 0, "garbage", "^a line without an end: '{\"shape'$"),
        ("read line; echo no", 0, "garbage", r"^'no' \(expected JSON: "),
        ("read line; printf 'a\\nb\\n'; cat", 0, "garbage", "^more than one line: 'b'$"),
        (
            "read line; head -c 1000 /dev/zero | tr '\\0' x; cat",
            *(0, "garbage", f"^a line without an end: '{120 * 'x'}…'$"),
        ),
        # After its answer, the program prints another line instead of a second answer.
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
EMPTY = ANSWERS.replace("shape", "memories").replace("9", "")
LATE = "import sys\nfor line in sys.stdin: print('no')"
BUFFERED = ("env", "-u", "PYTHONUNBUFFERED")


@pytest.mark.parametrize(
    ("program", "asked", "text"),
    [
        # A fault of the whole program raises one error.
        (["sh", "-c", "exit 3"], {}, "^target .*: it ended with exit code 3, before it had answ"),
        ([*BUFFERED, sys.executable, "-c", LATE], {}, "expected a flush after each line$"),
        (
            ["sh", "-c", f"read line; {REFUSED}"],
            *({}, "(?s)given up at case .* stops before it has answered: 20 cases"),
        ),
        # The check reads the answer while it writes a long line.
        (["cat"], {"level": "data"}, r"\n1. data: another shape: "),
        (["cat"], {"level": "data", "max_rank": 0}, r"\n  not asked: [\d,]+ cases: a rank above 0"),
        (["cat"], {"level": "adjoint"}, r"\n1. adjoint: "),
        (
            ["sh", "-c", EMPTY],
            {"level": "inplace", "tensors": 2},
            "memories: expected as many digits",
        ),
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
