"""c/whycast.c compiled, and its functions as Python's."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "c"
HERE = Path(__file__).parent
SOURCE = FOLDER / "whycast.c"
PLAIN, EXHAUSTIVE = HERE / "plain.c", HERE / "exhaustive.c"

# What a careful user of a compiler asks for.
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SECONDS = 300

CODES = {
    "NOT_BROADCASTABLE": -1,
    "RANK_MISMATCH": -2,
    "NEGATIVE_SIZE": -3,
    "NEGATIVE_RANK": -4,
    "NO_TENSOR": -5,
    "CAPACITY_EXCEEDED": -6,
    "BAD_WIDTH": -7,
    "TOO_LARGE": -8,
    "ROOM_EXCEEDED": -9,
    "EXTENT_EXCEEDED": -10,
}


def compiled(
    binary: Path, *words: str | Path, compiler: str = "gcc", strict: Sequence[str] = STRICT
) -> Path:
    """Compile; whatever the compiler has to say is an error."""
    program = shutil.which(compiler)
    assert program, f"{compiler} is missing"
    command = [program, *strict, f"-I{FOLDER}", *map(str, words), "-o", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (0, ""), " ".join(command)
    return binary


def run(*command: str | Path, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    """Run a program."""
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=seconds, check=False
    )


class Place(ctypes.Structure):
    """`whycast_place`."""

    _fields_ = (("tensor", ctypes.c_int64), ("axis", ctypes.c_int64))


class Outcome(NamedTuple):
    """What a function returned, the place that it set, and what it wrote if that is no error."""

    code: int
    tensor: int
    axis: int
    written: Any = None


Numbers = Sequence[int]
_UNWRITTEN = -(2**63) + 7


def _numbers(numbers: Numbers) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(numbers))(*numbers)


def _rows(shapes: Sequence[Numbers]) -> ctypes.Array[Any]:
    rows = (ctypes.POINTER(ctypes.c_int64) * len(shapes))()
    for m, shape in enumerate(shapes):
        rows[m] = ctypes.cast(_numbers(shape), ctypes.POINTER(ctypes.c_int64))
    return rows


class Library:
    """The functions of a shared library that was made of c/whycast.c.

    Each gives an outcome; of what must not be written it asserts that it is not.
    """

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        for name in ("shape", "strides", "all"):
            getattr(library, f"whycast_broadcast_{name}").restype = ctypes.c_int64
        library.whycast_broadcast.restype = library.whycast_byte_size.restype = ctypes.c_int64
        self.library = library

    def shape(self, shapes: Sequence[Numbers]) -> Outcome:
        """Ask for the common shape."""
        most = max(map(len, shapes), default=0)
        room, place = _numbers([_UNWRITTEN] * (most + 1)), Place(77, 77)
        code = self.library.whycast_broadcast_shape(
            *(room, ctypes.c_int64(most), ctypes.byref(place)),
            *(_rows(shapes), _numbers([*map(len, shapes)]), ctypes.c_int64(len(shapes))),
        )
        assert room[max(code, 0) :] == [_UNWRITTEN] * (most + 1 - max(code, 0))
        return Outcome(code, place.tensor, place.axis, tuple(room[:code]) if code >= 0 else None)

    def strides(self, strides: Numbers, shape: Numbers, target: Numbers) -> Outcome:
        """Ask for the strides of a view."""
        room, place = _numbers([_UNWRITTEN] * (len(target) + 1)), Place(77, 77)
        code = self.library.whycast_broadcast_strides(
            *(room, ctypes.byref(place), _numbers(strides)),
            *(_numbers(shape), ctypes.c_int64(len(shape))),
            *(_numbers(target), ctypes.c_int64(len(target))),
        )
        *view, last = room
        assert last == _UNWRITTEN
        assert code == 0 or view == [_UNWRITTEN] * len(view)
        return Outcome(code, place.tensor, place.axis, tuple(view) if code == 0 else None)

    def byte_size(self, shape: Numbers, width: int) -> Outcome:
        """Ask for a count of bytes."""
        place = Place(77, 77)
        code = self.library.whycast_byte_size(
            *(ctypes.byref(place), _numbers(shape), ctypes.c_int64(len(shape))),
            ctypes.c_int64(width),
        )
        return Outcome(code, place.tensor, place.axis)

    def broadcast(
        self, data: bytes, shape: Numbers, target: Numbers, width: int, room: int
    ) -> Outcome:
        """Ask for the bytes of a tensor with the shape of a target."""
        around = 64
        before = bytes(k % 251 for k in range(room + 2 * around))
        memory, place = bytearray(before), Place(77, 77)
        code = self.library.whycast_broadcast(
            (ctypes.c_uint8 * (room + around)).from_buffer(memory, around),
            *(ctypes.c_int64(room), ctypes.byref(place), data, ctypes.c_int64(len(data))),
            *(_numbers(shape), ctypes.c_int64(len(shape))),
            *(_numbers(target), ctypes.c_int64(len(target)), ctypes.c_int64(width)),
        )
        assert (
            memory[:around] + memory[around + room :] == before[:around] + before[around + room :]
        )
        if code < 0:
            assert memory == before
            return Outcome(code, place.tensor, place.axis)
        return Outcome(code, place.tensor, place.axis, bytes(memory[around : around + room]))

    def broadcast_all(
        self, data: Sequence[bytes], shapes: Sequence[Numbers], widths: Numbers, rooms: Numbers
    ) -> Outcome:
        """Ask for all tensors at once."""
        most, place = max(map(len, shapes), default=0), Place(77, 77)
        target = _numbers([_UNWRITTEN] * most)
        outputs = [ctypes.create_string_buffer(b"\xa5" * (room + 1), room + 1) for room in rooms]
        pointers = ctypes.c_void_p * len(shapes)
        inputs = [ctypes.create_string_buffer(each, len(each)) for each in data]
        code = self.library.whycast_broadcast_all(
            *(pointers(*map(ctypes.addressof, outputs)), _numbers(rooms), target),
            *(ctypes.c_int64(most), ctypes.byref(place)),
            *(pointers(*map(ctypes.addressof, inputs)), _numbers([*map(len, data)])),
            *(_rows(shapes), _numbers([*map(len, shapes)]), _numbers(widths)),
            ctypes.c_int64(len(shapes)),
        )
        if code < 0:
            assert all(set(output.raw) == {0xA5} for output in outputs)
            return Outcome(code, place.tensor, place.axis)
        assert all(output.raw[-1] == 0xA5 for output in outputs)
        found = tuple(output.raw[:-1] for output in outputs)
        return Outcome(code, place.tensor, place.axis, (tuple(target[:code]), found))


def library(folder: Path, *sources: Path) -> Library:
    """Compile the library, and load it."""
    given = sources or (SOURCE,)
    return Library(compiled(folder / "whycast.so", "-O2", "-fPIC", "-shared", *given))
