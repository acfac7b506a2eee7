"""How fast a broadcast is written to memory that is there: the cells "C alone" and "memory".

The C alone is called from C, again and again, beside memcpy, which has the result to copy. Beside
the others the accelerator is called from Python as they are, and all write the same elements to the
same memory, with one thread. A cell is a layout, a number of elements that stand together at the
end, a width of an element and a size of the result.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import shutil
import subprocess
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cells import MEMCPY, NUMPY, ONNXRUNTIME, OPENVINO, OURS, TORCH, Array, Cell, Peers, Shape
from timing import STRETCH, DisagreementError, Result, calibrated, rounds

from whycast import _accelerator

ROOT = Path(__file__).parents[2]
LOOPS = Path(__file__).with_name("loops.c")
LIBRARY = ROOT / "build" / "bench" / "loops.so"

ALONE, BESIDE = "C alone", "memory"
RUNS = (1, 4, 16, 1000)
WIDTHS: Mapping[int, str] = {1: "u1", 2: "i2", 4: "f4", 8: "f8"}
SIZES: Mapping[int, str] = {1 << 16: "64 KB", 1 << 26: "64 MB"}

# What each of them does, in short; x is the tensor, z the memory, y the result.
CODE: Mapping[str, Mapping[str, str]] = {
    ALONE: {OURS: "whycast_broadcast(z, ..., x, ...)", MEMCPY: "memcpy(z, y, ...)"},
    BESIDE: {
        OURS: "whycast._native.broadcast(z, x)",
        NUMPY: "np.copyto(z, np.broadcast_to(x, z.shape))",
        TORCH: "z.copy_(x.expand(z.shape))",
        ONNXRUNTIME: "Expand, its output bound to z",
        OPENVINO: "Broadcast, its output tensor on z",
    },
}
NOTES: Mapping[str, str] = {OPENVINO: "Widths 1 and 4: of other types it makes these, and back."}

# It writes to z so many times, and gives the seconds.
Timer = Callable[[int], float]


class Question(NamedTuple):
    """A cell."""

    kind: str
    layout: str
    run: int
    width: int
    size: int

    @property
    def cell(self) -> Cell:
        """The cell of the table that it is."""
        ends = "" if self.layout == "scalar" else f", runs of {self.run}"
        name = f"{self.layout}{ends}, width {self.width}"
        return Cell(f"{self.kind}, {SIZES[self.size]}", name, CODE[self.kind], {}, notes=NOTES)

    @property
    def large(self) -> bool:
        """Whether a single call takes a while."""
        return self.size > 2**20

    def shapes(self) -> tuple[Shape, Shape]:
        """Shape of the tensor and of the result.

        >>> Question("memory", "trailing", 16, 1, 2**16).shapes()
        ((4096, 1), (4096, 16))
        >>> Question("memory", "alternating", 4, 2, 2**16).shapes()
        ((1024, 1, 2, 1, 4), (1024, 2, 2, 2, 4))
        """
        total, run = self.size // self.width, self.run
        if self.layout == "scalar":
            return (), (total,)
        if self.layout == "leading":
            return (run,), (total // run, run)
        if self.layout == "trailing":
            return (total // run, 1), (total // run, run)
        outer = max(1, total // (8 * run))
        if self.layout == "middle":
            return (outer, 1, run), (outer, 8, run)
        return (outer, 1, 2, 1, run), (outer, 2, 2, 2, run)


def questions() -> Iterator[Question]:
    """Give all cells."""
    for kind in (ALONE, BESIDE):
        for size in SIZES:
            for layout in ("scalar", "leading", "trailing", "middle", "alternating"):
                for run in RUNS[:1] if layout == "scalar" else RUNS:
                    for width in WIDTHS:
                        yield Question(kind, layout, run, width, size)


def missing() -> str | None:
    """Say what is missing, if something is."""
    if not _accelerator.native:
        return "the accelerator, and so all cells of memory"
    return None if shutil.which("cc") else "a C compiler, and so all cells of memory"


def measure_memory(question: Question, peers: Peers, seconds: float) -> Result:
    """Time all who can."""
    shape, target = question.shapes()
    dtype = WIDTHS[question.width]
    x = (np.arange(math.prod(shape)) % 251).astype(dtype).reshape(shape)
    y = np.broadcast_to(x, target).copy()
    z = np.zeros_like(y)
    timers = dict(alone(x, y, z) if question.kind == ALONE else beside(x, z, peers))
    for name, timer in timers.items():
        z.fill(255 if dtype == "u1" else -1)
        timer(1)
        if not np.array_equal(z, y):
            raise DisagreementError(f"{question.cell.title}: {name} gives something else")
    loops = {
        name: 1 if question.large else calibrated(timer, STRETCH) for name, timer in timers.items()
    }
    cell = replace(question.cell, code={name: question.cell.code[name] for name in timers})
    return rounds(cell, timers, loops, seconds, least=len(timers))


# The C alone


@cache
def _library() -> ctypes.CDLL:
    """Compile the loops together with the C that they call."""
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    options = ("-O3", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{ROOT / 'c'}")
    command = ["cc", *options, str(LOOPS), str(ROOT / "c" / "whycast.c"), "-o", str(LIBRARY)]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(LIBRARY))
    library.loop_broadcast.restype = library.loop_memcpy.restype = ctypes.c_double
    return library


def alone(x: Array, y: Array, z: Array) -> Iterator[tuple[str, Timer]]:
    """Give the C and memcpy."""

    def number(value: int) -> ctypes.c_int64:
        return ctypes.c_int64(value)

    def sizes(shape: Sequence[int]) -> list[Any]:
        return [(ctypes.c_int64 * len(shape))(*shape), number(len(shape))]

    def place(array: Array) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    library = _library()
    memory = [place(z), number(z.nbytes), place(x), number(x.nbytes)]
    given = [*memory, *sizes(x.shape), *sizes(z.shape), number(x.itemsize)]
    yield OURS, lambda loops: library.loop_broadcast(number(loops), *given)
    copied = [place(z), place(y), number(y.nbytes)]
    yield MEMCPY, lambda loops: library.loop_memcpy(number(loops), *copied)


# Beside others


def beside(x: Array, z: Array, peers: Peers) -> Iterator[tuple[str, Timer]]:
    """Give the accelerator and those who are there."""
    yield OURS, timeit.Timer(lambda: _accelerator.broadcast(z, x)).timeit
    view = np.broadcast_to(x, z.shape)
    yield NUMPY, timeit.Timer(lambda: np.copyto(z, view)).timeit
    if torch := peers.modules.get(TORCH):
        torch.set_num_threads(1)
        wide, place = torch.from_numpy(x).expand(z.shape), torch.from_numpy(z)
        yield TORCH, timeit.Timer(lambda: place.copy_(wide)).timeit
    if ONNXRUNTIME in peers.modules:
        yield ONNXRUNTIME, timeit.Timer(_onnxruntime(x, z)).timeit
    if OPENVINO in peers.modules and x.itemsize in (1, 4):
        yield OPENVINO, timeit.Timer(_openvino(peers.modules[OPENVINO], x, z)).timeit


def _onnxruntime(x: Array, z: Array) -> Callable[[], object]:
    peer: Any = importlib.import_module("whycast.testing._peers._onnxruntime")
    session = peer._expander(x.dtype.name)
    binding = session.io_binding()
    target = np.array(z.shape, np.int64)
    for name, array in (("input", x), ("shape", target)):
        place = (array.dtype.type, array.shape, array.ctypes.data)
        binding.bind_input(name, "cpu", 0, *place)
    (output,) = session.get_outputs()
    binding.bind_output(output.name, "cpu", 0, z.dtype.type, z.shape, z.ctypes.data)

    def call(kept: Array = target) -> None:
        session.run_with_iobinding(binding)

    return call


def _openvino(ov: Any, x: Array, z: Array) -> Callable[[], object]:
    peer: Any = importlib.import_module("whycast.testing._peers._openvino")
    data = ov.opset13.parameter(list(x.shape), x.dtype)
    target = ov.opset13.constant(list(z.shape), np.int64)
    request = peer.request_for(ov.Model([ov.opset13.broadcast(data, target)], [data]))
    request.set_input_tensor(0, ov.Tensor(x, shared_memory=True))
    request.set_output_tensor(0, ov.Tensor(z, shared_memory=True))
    # A compiled model must live on: after it is freed, the next one of the same kind may crash.
    _kept.append(request)

    def call() -> None:
        request.start_async()
        request.wait()

    return call


_kept: list[object] = []
