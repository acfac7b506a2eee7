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


def _numbers(numbers: Numbers) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(numbers))(*numbers)


def _counted(numbers: Numbers) -> tuple[object, object]:
    return _numbers(numbers), ctypes.c_int64(len(numbers))


def _rows(shapes: Sequence[Numbers]) -> ctypes.Array[Any]:
    rows = (ctypes.POINTER(ctypes.c_int64) * len(shapes))()
    for m, shape in enumerate(shapes):
        rows[m] = ctypes.cast(_numbers(shape), ctypes.POINTER(ctypes.c_int64))
    return rows


class Library:
    """The functions of a shared library that was made of c/whycast.c.

    What they may not write is for exhaustive.c to see.
    """

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))

    def call(self, name: str, *arguments: object) -> Outcome:
        """Call a function; where an argument is None it gets the place."""
        function, place = getattr(self.library, f"whycast_{name}"), Place(77, 77)
        function.restype = ctypes.c_int64
        code = function(*(ctypes.byref(place) if each is None else each for each in arguments))
        return Outcome(code, place.tensor, place.axis)

    def shape(self, shapes: Sequence[Numbers]) -> Outcome:
        """Ask for the common shape."""
        room = _numbers([0] * max(map(len, shapes), default=0))
        given = _rows(shapes), *_counted([*map(len, shapes)])
        found = self.call("broadcast_shape", room, ctypes.c_int64(len(room)), None, *given)
        return found._replace(written=tuple(room[: found.code])) if found.code >= 0 else found

    def strides(self, strides: Numbers, shape: Numbers, target: Numbers) -> Outcome:
        """Ask for the strides of a view."""
        room = _numbers([0] * len(target))
        given = _numbers(strides), *_counted(shape), *_counted(target)
        found = self.call("broadcast_strides", room, None, *given)
        return found._replace(written=tuple(room)) if found.code == 0 else found

    def byte_size(self, shape: Numbers, width: int) -> Outcome:
        """Ask for a count of bytes."""
        return self.call("byte_size", None, *_counted(shape), ctypes.c_int64(width))

    def broadcast_all(
        self, data: Sequence[bytes], shapes: Sequence[Numbers], widths: Numbers, rooms: Numbers
    ) -> Outcome:
        """Ask for all tensors at once."""
        target = _numbers([0] * max(map(len, shapes), default=0))
        outputs = [ctypes.create_string_buffer(room + 1) for room in rooms]
        inputs = [ctypes.create_string_buffer(each, len(each)) for each in data]
        pointers = ctypes.c_void_p * len(shapes)
        found = self.call(
            "broadcast_all",
            *(pointers(*map(ctypes.addressof, outputs)), _numbers(rooms)),
            *(target, ctypes.c_int64(len(target)), None),
            *(pointers(*map(ctypes.addressof, inputs)), _numbers([*map(len, data)])),
            *(_rows(shapes), _numbers([*map(len, shapes)]), *_counted(widths)),
        )
        written = tuple(target[: found.code]), tuple(output.raw[:-1] for output in outputs)
        return found._replace(written=written) if found.code >= 0 else found
