"""The check on what users also write: answers of other types, processes that are no good guests.

A right implementation passes whatever its answers are made of; of a wrong one the report says why.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import whycast
from whycast.testing import Case, TargetError, check
from whycast.testing._cases._fixed import fixed
from whycast.testing._run import _worker

Shape = tuple[int, ...]


class Holder:
    """An array of another library."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Interface:
    """One that tells where its memory is."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Exchange:
    """One that gives its memory away."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Closed(Holder):
    """One that gives nothing away."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("detach it first")

    def __repr__(self) -> str:
        raise RuntimeError("no text")


def generator(*shapes: Shape) -> Iterator[int]:
    yield from whycast.broadcast_shapes(*shapes)


def each_array(*arrays: Any) -> Iterator[Any]:
    yield from whycast.broadcast(*arrays)


ANSWERS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("verdict", lambda *shapes: np.bool_(whycast.compatible(*shapes))),
    ("verdict", lambda *shapes: int(whycast.compatible(*shapes))),
    ("verdict", generator),
    ("shape", lambda *shapes: np.array(whycast.broadcast_shapes(*shapes))),
    ("shape", lambda *shapes: list(map(np.int64, whycast.broadcast_shapes(*shapes)))),
    ("shape", generator),
    ("data", each_array),
    ("data", lambda *arrays: deque(whycast.broadcast(*arrays))),
    ("data", lambda *arrays: [np.ma.asarray(z) for z in whycast.broadcast(*arrays)]),
    # Of rank 0 NumPy has scalars, but for objects and strings of no fixed width.
    (
        "data",
        lambda *arrays: [z if z.dtype.kind in "OT" else z[()] for z in whycast.broadcast(*arrays)],
    ),
    ("data", lambda *arrays: list(map(Holder, whycast.broadcast(*arrays)))),
)


@pytest.mark.parametrize(("level", "function"), ANSWERS)
def test_what_answers_are_made_of_is_no_deviation(level: Any, function: Callable[..., Any]) -> None:
    report = check(function, level=level, seconds=0, every=5)
    assert report.ok, str(report)


@pytest.mark.parametrize("wrapped", [memoryview, Interface, Exchange])
def test_arrays_by_other_protocols(wrapped: Callable[[Any], object]) -> None:
    """Not all dtypes have a place there: those are refused, nothing else deviates."""

    def function(*arrays: Any) -> Any:
        if any(x.dtype.kind in "OTU" for x in arrays):
            raise TypeError("numbers only")
        return [wrapped(np.array(z)) for z in whycast.broadcast(*arrays)]

    report = check(function, seconds=0, every=5)
    assert {(each.kind, each.detail) for each in report.deviations} == {("refuses", "TypeError")}
    assert all(set(each.case.dtypes) & {"str", "object", "StringDType"} for each in report.unknown)


def test_what_cannot_be_shown_or_read() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def closed(*arrays: Any) -> Any:
        return list(map(Closed, whycast.broadcast(*arrays)))

    def silent(*arrays: Any) -> Any:
        raise SilentError

    (first,) = check(closed, seconds=0, every=10).deviations
    assert (first.kind, first.got) == (
        "no array",
        "array 0: an object of type Closed, of which no array can be made: "
        "RuntimeError: detach it first",
    )
    assert {each.got for each in check(silent, seconds=0, every=10).deviations} == {"SilentError"}


def test_text_of_any_characters_is_shown_on_one_line() -> None:
    def function(*arrays: Any) -> Any:
        raise ValueError("\x1b[31m\0\udc80" + 10_000 * "x")

    report = check(function, seconds=0, every=100)
    assert all(each.got.startswith(r"ValueError: \x1b[31m\x00\udc80xxx") for each in report.unknown)
    assert all(len(each.got) < 600 for each in report.unknown)
    ElementTree.fromstring(report.to_junit())


def test_an_input_that_is_locked_or_renamed_is_changed() -> None:
    def locks(*arrays: Any) -> Any:
        for x in arrays:
            x.flags.writeable = False
        return whycast.broadcast(*arrays)

    def renames(*arrays: Any) -> Any:
        found = whycast.broadcast(*arrays, copy=True)
        arrays[0].dtype = f"V{arrays[0].itemsize}" if arrays[0].dtype == "i4" else arrays[0].dtype
        return found

    for function, was, now in ((locks, "writable", "read-only"), (renames, "int32", "|V4")):
        (first,) = check(function, seconds=0, every=20).deviations
        assert first.kind == "input changed"
        assert was in first.expected
        assert now in first.got


def test_memory_that_gathers_is_no_fault_of_a_case() -> None:
    kept = []

    def function(*arrays: Any) -> Any:
        kept.append(np.ones(200_000))
        return whycast.broadcast(*arrays)

    report = check(function, seconds=0, every=20, memory=50)
    assert report.ok, str(report)
    (note,) = report.notes
    assert "its memory grew from case to case" in note


def test_the_memory_of_the_cases_is_not_the_targets() -> None:
    report = check(whycast.broadcast, seconds=1.5, every=20, memory=1)
    assert report.ok, str(report)
    assert report.notes == ()


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(TargetError, match="program: cannot be run"):
        check([str(tmp_path / "program")], seconds=0)


# --- processes --------------------------------------------------------------------------------


def living(mark: str) -> list[str]:
    """Give the processes that have a word among theirs."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if mark in line.split()]


def test_what_a_function_has_started_does_not_live_on() -> None:
    def function(*shapes: Shape) -> bool:
        if shapes == ((2,), (1,)):
            subprocess.Popen(["sleep", "61.25"])
        return whycast.compatible(*shapes)

    assert check(function, level="verdict", seconds=0, every=1).ok
    assert living("61.25") == []


def test_two_lines_for_one_question_are_garbage_at_that_question() -> None:
    twice = 'while read line; do printf \'{"refused": true}\\n{"refused": true}\\n\'; done'
    (first,) = check(["sh", "-c", twice], level="shape", seconds=0, every=50).deviations
    assert (first.kind, first.case) == ("garbage", Case(((), ())))


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_an_interrupted_check_ends_quietly_with_all_it_started(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    mark = f"61.{number.value}"
    # As a mark the child has its parent's words.
    target = tmp_path / "sleeps.py"
    target.write_text(
        "import pathlib, time\ndef f(*shapes):\n    pathlib.Path('begun').touch()\n"
        "    time.sleep(60)\n",
        encoding="utf-8",
    )
    words = ("check", "sleeps.py:f", "--level", "shape", "--timeout", mark)
    command = [sys.executable, "-m", "whycast", *words]
    # Whoever runs the tests in the background has SIGINT ignored, and so would the child.
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    end = time.monotonic() + 30
    while not (tmp_path / "begun").exists() and time.monotonic() < end:
        time.sleep(0.05)
    running.send_signal(number)
    _, said = running.communicate(timeout=30)
    assert (running.returncode, said) == (code, b"")
    while living(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert living(mark) == []


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_from_the_start(closed: str) -> None:
    words = f"-m whycast check numpy --rule numpy --level shape --seconds 0 --every 99 {closed}"
    done = subprocess.run(["sh", "-c", f"{sys.executable} {words}"], check=False)
    assert done.returncode == 0


def test_what_the_checker_takes_is_not_the_targets_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first case it makes all the fixed ones, anew where the target died."""

    def slowly(rule: Any, level: Any) -> Any:
        time.sleep(1)
        return fixed(rule, level)

    def function(*shapes: Shape) -> bool:
        if shapes == ((2,), (1,)):
            os._exit(1)
        return whycast.compatible(*shapes)

    monkeypatch.setattr(_worker, "fixed", slowly)
    report = check(function, level="verdict", seconds=0, timeout=0.7)
    assert {each.kind for each in report.deviations} == {"exit"}, str(report)
