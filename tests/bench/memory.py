"""How fast a broadcast is written to memory that is there: the cells "memory".

The accelerator, which is the C, is called from Python as the others are, and all write the same
elements to the same memory, with one thread; memcpy has the result to copy. A cell is a layout, a
number of elements that stand together at the end, a width of an element and a size of the result.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import timeit
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from cells import MEMCPY, NUMPY, ONNXRUNTIME, OPENVINO, OURS, TORCH, Array, Cell, Peers, Shape
from timing import STRETCH, DisagreementError, Result, calibrated, rounds

from whycast import _accelerator
from whycast.testing._peers import _onnx

RUNS = (1, 4, 16, 1000)
WIDTHS: Mapping[int, str] = {1: "u1", 2: "i2", 4: "f4", 8: "f8"}
SIZES: Mapping[int, str] = {1 << 16: "64 KB", 1 << 26: "64 MB"}

# What each of them does, in short; x is the tensor, z the memory, y the result.
CODE: Mapping[str, str] = {
    OURS: "whycast._native.broadcast(z, x)",
    MEMCPY: "memcpy(z, y, ...)",
    NUMPY: "np.copyto(z, np.broadcast_to(x, z.shape))",
    TORCH: "z.copy_(x.expand(z.shape))",
    ONNXRUNTIME: "Expand, its output bound to z",
    OPENVINO: "Broadcast, its output tensor on z",
}
NOTES: Mapping[str, str] = {OPENVINO: "Widths 1 and 4: of other types it makes these, and back."}

# It writes to z so many times, and gives the seconds.
Timer = Callable[[int], float]


class Question(NamedTuple):
    """A cell."""

    layout: str
    run: int
    width: int
    size: int

    @property
    def cell(self) -> Cell:
        """The cell of the table that it is."""
        ends = "" if self.layout == "scalar" else f", runs of {self.run}"
        name = f"{self.layout}{ends}, width {self.width}"
        return Cell(f"memory, {SIZES[self.size]}", name, CODE, {}, notes=NOTES)

    @property
    def large(self) -> bool:
        """Whether a single call takes a while."""
        return self.size > 2**20

    def shapes(self) -> tuple[Shape, Shape]:
        """Shape of the tensor and of the result.

        >>> Question("trailing", 16, 1, 2**16).shapes()
        ((4096, 1), (4096, 16))
        >>> Question("alternating", 4, 2, 2**16).shapes()
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
    for size in SIZES:
        for layout in ("scalar", "leading", "trailing", "middle", "alternating"):
            for run in RUNS[:1] if layout == "scalar" else RUNS:
                for width in WIDTHS:
                    yield Question(layout, run, width, size)


def measure_memory(question: Question, peers: Peers, seconds: float) -> Result:
    """Time all who can."""
    shape, target = question.shapes()
    dtype = WIDTHS[question.width]
    x = (np.arange(math.prod(shape)) % 251).astype(dtype).reshape(shape)
    y = np.broadcast_to(x, target).copy()
    z = np.zeros_like(y)
    timers = dict(contenders(x, y, z, peers))
    for name, timer in timers.items():
        z.fill(255 if dtype == "u1" else -1)
        timer(1)
        if not np.array_equal(z, y):
            raise DisagreementError(f"{question.cell.title}: {name} gives something else")
    loops = {
        name: 1 if question.large else calibrated(timer, STRETCH) for name, timer in timers.items()
    }
    cell = replace(question.cell, code={name: CODE[name] for name in timers})
    return rounds(cell, timers, loops, seconds, least=len(timers))


def contenders(x: Array, y: Array, z: Array, peers: Peers) -> Iterator[tuple[str, Timer]]:
    """Give the accelerator and those who are there."""
    yield OURS, timeit.Timer(lambda: _accelerator.broadcast(z, x)).timeit
    memory, result, count = z.ctypes.data, y.ctypes.data, y.nbytes
    yield MEMCPY, timeit.Timer(lambda: ctypes.memmove(memory, result, count)).timeit
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
    session: Any = _onnx.runtime_session(_onnx.expand_model(x.dtype.name))
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
