"""A program that is asked in lines of JSON on its standard input, and answers on its output."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, cast

from whycast._rules import Rule
from whycast.testing._cases._case import Case, Level
from whycast.testing._lines import read_answer, request
from whycast.testing._lines._json import parse
from whycast.testing._report._compare import NoAnswerError

# So many bytes are read at once; a line of more than so many pieces is no answer.
_CHUNK = 2**16
_MOST_CHUNKS = 2**14


class Program:
    """A running program that is asked about a rule; after a wrong answer a new one is started."""

    def __init__(self, arguments: Sequence[str], rule: Rule, level: Level) -> None:
        self.arguments = arguments
        self.rule = rule
        self.level = level
        self.process: subprocess.Popen[bytes] | None = None
        self.read = b""
        self.starts = 0

    def ask(self, case: Case) -> object:
        """Return its answer to a case, or a Refusal."""
        line = shown_request(self.rule, self.level, case).encode() + b"\n"
        try:
            return self._read(self._ask(line))
        except NoAnswerError:
            # Whatever it still writes would be taken for the next answer.
            self.stop()
            raise

    def stop(self) -> None:
        """End the program, if it runs."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
            self.read = b""

    def _ask(self, line: bytes) -> bytes:
        process = self.process
        if process is None:
            self.starts += 1
            try:
                process = subprocess.Popen(
                    self.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            except OSError as error:
                raise NoAnswerError("stopped", f"it cannot be started: {error}") from None
            self.process = process
        source, sink = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        # Where it can be asked: an answer that comes before its question is none.
        if sys.platform != "win32" and select.select([sink], [], [], 0)[0]:
            self.read = os.read(sink.fileno(), _CHUNK)
            self._check_rest()
        try:
            source.write(line)
            source.flush()
        except OSError:
            raise NoAnswerError("stopped", self._end("input")) from None
        parts: list[bytes] = []
        while not parts or b"\n" not in parts[-1]:
            if not (part := os.read(sink.fileno(), _CHUNK)) or len(parts) == _MOST_CHUNKS:
                if parts:
                    raise NoAnswerError(
                        "garbage", f"a line without an end: {_shown(b''.join(parts))}"
                    )
                raise NoAnswerError("stopped", self._end("output"))
            parts.append(part)
        answer, _, self.read = b"".join(parts).partition(b"\n")
        self._check_rest()
        return answer

    def _check_rest(self) -> None:
        if self.read:
            line, _, _ = self.read.partition(b"\n")
            raise NoAnswerError("garbage", f"more than one line: {_shown(line)}")

    def _read(self, line: bytes) -> object:
        try:
            return read_answer(self.level, parse(line))
        except ValueError as error:
            raise NoAnswerError("garbage", f"{_shown(line)} ({error})") from None

    def _end(self, closed: str) -> str:
        """Say how the program ended, or what it closed if it did not."""
        assert self.process is not None
        try:
            code = self.process.wait(1)
        except subprocess.TimeoutExpired:
            return f"it closed its {closed}"
        if code < 0:
            return f"it was ended by {signal.Signals(-code).name}"
        return f"it ended with exit code {code}"


def shown_request(rule: Rule, level: Level, case: Case) -> str:
    """Write the line that asks a case."""
    return json.dumps(request(rule, level, case))


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\n").decode(errors="backslashreplace")
    return repr(text if len(text) <= 120 else f"{text[:120]}…")
