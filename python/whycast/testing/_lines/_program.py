"""A program that reads requests on its standard input and writes answers on its output."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, Queue
from typing import IO, cast

from whycast._rules import Rule
from whycast._types import AnyArray
from whycast.testing._cases._case import Case, Level
from whycast.testing._lines import read_answer, request
from whycast.testing._lines._json import Message, line_of, parse
from whycast.testing._lines._memory import Memories
from whycast.testing._report._compare import NoAnswerError
from whycast.testing._report._judge import Refusal

# _CHUNK: the most bytes of one read. _MOST_CHUNKS: the most reads for one answer.
_CHUNK = 2**16
_MOST_CHUNKS = 2**14

# The check gives up on a program that dies this often without any answer.
_FIRST_DEATHS = 3

# After this many seconds without any answer, a second process gets an input that ends.
_PATIENCE = 1.0


class Program:
    """A program that answers about a rule; a new process replaces an ended one."""

    def __init__(self, arguments: Sequence[str], rule: Rule, level: Level) -> None:
        self.arguments = arguments
        self.rule = rule
        self.level = level
        self.process: subprocess.Popen[bytes] | None = None
        self.deaths = 0
        # The reason why the program never answers, if known.
        self.is_of_no_use = ""
        self._has_been_started = False
        self._has_answered = False

    def ask(self, case: Case, tensors: Sequence[AnyArray] | None = None) -> object:
        return self._read(request(self.rule, self.level, case, tensors), lambda found: found)

    def write(self, out: AnyArray, *arrays: AnyArray) -> None:
        """Ask to write into `out` at level ``inplace``; raise an exception for a refusal."""
        memories = Memories(out, arrays)
        asked = {"rule": self.rule.name, "level": self.level} | memories.message

        def read(found: object) -> object:
            if not isinstance(found, Refusal):
                memories.read(cast("Message", found))
            return found

        if isinstance(refusal := self._read(asked, read), Refusal):
            raise ValueError(refusal.text)

    def _read(self, asked: Message, read: Callable[[object], object]) -> object:
        try:
            answer = self._ask(line_of(asked))
        except NoAnswerError as error:
            # A late answer must not count for the next request.
            self.stop()
            self.deaths += error.kind == "stopped"
            if not self._has_answered and self.deaths == _FIRST_DEATHS:
                self.is_of_no_use = f"{error.text}, before it had answered anything"
            raise
        self._has_answered = True
        try:
            return read(read_answer(self.level, parse(answer)))
        except ValueError as error:
            # The program may have printed an extra line before the answer.
            self.stop()
            raise NoAnswerError("garbage", f"{_shown(answer)} ({error})") from None

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with suppress(OSError):
                cast("IO[bytes]", self.process.stdin).close()
            self.process = None

    def _start(self) -> tuple[subprocess.Popen[bytes], Queue[bytes]]:
        # Show messages of the standard error stream once, not at each start.
        aside = subprocess.DEVNULL if self._has_been_started else None
        self._has_been_started = True
        try:
            process = subprocess.Popen(
                self.arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=aside
            )
        except OSError as error:
            raise NoAnswerError("stopped", f"it cannot be started: {error}") from None
        # A thread reads: the program may answer before it has read all of a long line.
        chunks: Queue[bytes] = Queue(_MOST_CHUNKS)
        reading = (cast("IO[bytes]", process.stdout), chunks)
        threading.Thread(target=_read, args=reading, daemon=True).start()
        return process, chunks

    def _ask(self, line: bytes) -> bytes:
        if self.process is None:
            self.process, self.chunks = self._start()
        if not self.chunks.empty():
            if early := self.chunks.get():
                raise _more_than_one(early)
            raise NoAnswerError("stopped", self._end("output"))
        try:
            _write(self.process, line)
        except OSError:
            raise NoAnswerError("stopped", self._end("input")) from None
        parts: list[bytes] = []
        while not parts or b"\n" not in parts[-1]:
            if not (part := self._next(line)) or len(parts) == _MOST_CHUNKS:
                if parts:
                    text = f"a line without an end: {_shown(b''.join(parts))}"
                    raise NoAnswerError("garbage", text)
                raise NoAnswerError("stopped", self._end("output"))
            parts.append(part)
        answer, _, rest = b"".join(parts).partition(b"\n")
        if rest:
            raise _more_than_one(rest)
        return answer

    def _next(self, line: bytes) -> bytes:
        """Return the next output; if the first is late, test if it comes when the input ends."""
        if self._has_answered:
            return self.chunks.get()
        with suppress(Empty):
            return self.chunks.get(timeout=_PATIENCE)
        # If the first process is only slow to start, it answers in the meantime.
        second, chunks = self._start()
        try:
            with suppress(OSError, Empty):
                _write(second, line, is_last=True)
                keeps_back = chunks.get(timeout=2 * _PATIENCE) != b""
                if keeps_back and self.chunks.empty():
                    time.sleep(_PATIENCE)
                if keeps_back and self.chunks.empty():
                    self.is_of_no_use = (
                        "it answers only at the end of its input: expected a flush after each line"
                    )
                    raise NoAnswerError("hang", self.is_of_no_use)
        finally:
            second.kill()
            second.wait()
        return self.chunks.get()

    def _end(self, closed: str) -> str:
        assert self.process is not None
        try:
            code = self.process.wait(1)
        except subprocess.TimeoutExpired:
            return f"it closed its {closed}"
        if code < 0:
            return f"it was ended by {signal.Signals(-code).name}"
        return f"it ended with exit code {code}"


def _write(process: subprocess.Popen[bytes], line: bytes, *, is_last: bool = False) -> None:
    source = cast("IO[bytes]", process.stdin)
    source.write(line)
    source.flush()
    if is_last:
        source.close()


def _read(stream: IO[bytes], chunks: Queue[bytes]) -> None:
    with stream:
        while part := os.read(stream.fileno(), _CHUNK):
            chunks.put(part)
    chunks.put(b"")


def _more_than_one(rest: bytes) -> NoAnswerError:
    line, _, _ = rest.partition(b"\n")
    return NoAnswerError("garbage", f"more than one line: {_shown(line)}")


def _shown(line: bytes) -> str:
    text = line.rstrip(b"\n").decode(errors="backslashreplace")
    return repr(text if len(text) <= 120 else f"{text[:120]}…")
