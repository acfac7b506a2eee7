"""What the benchmark times: its cells, each with one expression for every contender.

An expression is written as a user would write it, and is all that is timed. Those of a cell do the
same job on the same data, except where a note says otherwise, and have to give the same answer.
Where there are `loops` in it, it runs so many of them itself, in C, and gives their seconds.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

import whycast
from whycast import _accelerator
from whycast.testing._peers import _onnx

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"
Shape: TypeAlias = tuple[int, ...]
Peers: TypeAlias = Mapping[str, ModuleType]
Code: TypeAlias = dict[str, str]

OURS = "whycast"
NUMPY = "NumPy"
TORCH = "torch"
JAX = "JAX"
# These for memory only.
BY_HAND = "by hand"
MEMCPY = "memcpy"
ONNXRUNTIME = "ONNX Runtime"
OPENVINO = "OpenVINO"
PEERS = (BY_HAND, MEMCPY, NUMPY, TORCH, JAX, ONNXRUNTIME, OPENVINO)
MODULES = {TORCH: "torch", JAX: "jax", ONNXRUNTIME: "onnxruntime", OPENVINO: "openvino"}

WRITEABLE = (
    "whycast's results are read-only views. NumPy's can be written to, with a warning, and are the "
    "arguments themselves where all shapes are equal. torch's can be written to."
)
LOOKS_AT_STRINGS = (
    "whycast does more: it looks at each element of an object array, which has to be a str. NumPy "
    "looks at none."
)
JAX_COPIES = "JAX does more where shapes differ: its arrays have no strides, the result is a copy."
JAX_REMEMBERS = "JAX does less: it remembers the answers to shapes that it has seen before."
RANDOM_SHAPES = (
    "Eight sets of shapes, drawn at random once and for all, one after the other: the sizes are 2 "
    "to 6, two in five are replaced by 1, and up to half of the axes are left out."
)
CONVERTS = "OpenVINO has widths 1 and 4 alone: of others it makes these, and back."


@dataclass(frozen=True)
class Cell:
    """A line of the table: the same job for everyone.

    `code` has each contender's expression; `names` makes what they speak of. If there are `draws`
    among these, an expression is evaluated for each of them in turn, as `shapes`, and the time is
    divided by their number. If there is a `z`, the answer is what is then in it.
    """

    group: str
    name: str
    code: Code
    names: Callable[[], dict[str, Any]]
    notes: Sequence[str] = ()

    @property
    def title(self) -> str:
        """The name that no other cell has."""
        return f"{self.group}: {self.name}"


def statement(code: str, names: Mapping[str, Any]) -> str:
    """What is timed."""
    return f"for shapes in draws: {code}" if "draws" in names else code


def answer(code: str, names: dict[str, Any]) -> object:
    """What an expression gives, for each draw."""
    if "draws" in names:
        code = f"[{code} for shapes in draws]"
    if "z" not in names:
        return eval(code, names)
    names["z"].view("u1").fill(255)
    eval(code, names)
    return names["z"].copy()


def find_peers() -> Peers:
    """Import what is installed of the others, by the names of their contenders."""
    # As NumPy has them: on the CPU, and with 64 bits.
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_X64"] = "1"
    # Without these they would report their use, and leave files in the user's home.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    found = {}
    for peer, name in MODULES.items():
        with suppress(ImportError):
            found[peer] = importlib.import_module(name)
    return found


def cells(peers: Peers) -> list[Cell]:
    """All cells, with the contenders that are there."""
    found = []
    for group, name, code, names, notes in rows(peers):
        here = {who: text for who, text in code.items() if who not in MODULES or who in peers}
        found.append(Cell(group, name, here, names, notes))
    found += [*memory_cells(peers)] if _accelerator.native else []
    return [*found, *cells_in_c(), *sums_by_plan(peers)]


Row: TypeAlias = tuple[str, str, Code, Callable[[], dict[str, Any]], Sequence[str]]


def contenders(*expressions: str) -> Code:
    """Give the expressions of whycast, NumPy, torch and JAX, as many as there are."""
    code = dict(zip((OURS, NUMPY, TORCH, JAX), expressions, strict=False))
    # An answer of its arrays may come before the work is done.
    if JAX in code and "shapes(" not in code[JAX]:
        code[JAX] = f"jax.block_until_ready({code[JAX]})"
    return code


def names_of(peers: Peers, **others: object) -> dict[str, Any]:
    """What any expression may speak of."""
    names = {"whycast": whycast, "np": np, **others}
    if JAX in peers:
        names |= {"jnp": peers[JAX].numpy, "lax": peers[JAX].lax}
    return names | {MODULES[peer]: module for peer, module in peers.items()}


def names_of_arrays(peers: Peers, arrays: Sequence[Array]) -> dict[str, Any]:
    """Arrays, and the same as tensors of those who have such: `a` is the first of `arrays`."""
    names = names_of(peers, arrays=arrays, a=arrays[0])
    plain = all(array.dtype.kind != "O" for array in arrays)
    if TORCH in peers and plain and min(min(a.strides, default=0) for a in arrays) >= 0:
        tensors = [peers[TORCH].from_numpy(array) for array in arrays]
        names |= {"tensors": tensors, "t": tensors[0]}
    if JAX in peers and plain:
        jarrays = [peers[JAX].numpy.asarray(array) for array in arrays]
        names |= {"jarrays": jarrays, "j": jarrays[0]}
    return names


def random_shapes(count: int, rank: int) -> list[list[Shape]]:
    """Eight sets of `count` shapes that broadcast; one shape at least has all axes."""
    chance = random.Random(f"{count} shapes of rank {rank}")
    draws = []
    for _ in range(8):
        common = [chance.randint(2, 6) for _ in range(rank)]
        full = chance.randrange(count)
        draws.append(
            [
                tuple(size if chance.random() < 0.6 else 1 for size in common)[
                    0 if m == full else chance.randint(0, rank // 2) :
                ]
                for m in range(count)
            ]
        )
    return draws


def ramp(*shape: int) -> Array:
    """Array that owns its memory, and whose elements tell their place."""
    return np.arange(float(np.prod(shape, dtype=int))).reshape(shape).copy()


# Of each the first is repeated after the last.
LAYOUTS: Mapping[str, Sequence[Callable[[], Array]]] = {
    "equal shapes": [lambda: ramp(3, 4)],
    "mixed shapes": [lambda: ramp(3, 4), lambda: ramp(4), lambda: ramp(3, 1)],
    "reversed": [lambda: ramp(3, 4)[::-1, ::-1], lambda: ramp(4)[::-1]],
    "every second element": [lambda: ramp(6, 8)[::2, ::2], lambda: ramp(8)[::2]],
    "transposed": [lambda: ramp(4, 3).T, lambda: ramp(1, 3).T],
    "axes permuted": [
        lambda: ramp(2, 5, 3, 4).transpose(1, 0, 2, 3),
        lambda: ramp(3, 2, 4).transpose(1, 0, 2),
    ],
}


def laid_out(layout: str, count: int) -> list[Array]:
    """Several arrays of a layout."""
    makers = LAYOUTS[layout]
    return [makers[m % len(makers)]() for m in range(count)]


SHAPES = contenders(
    "whycast.broadcast_shapes(*shapes)",
    "np.broadcast_shapes(*shapes)",
    "torch.broadcast_shapes(*shapes)",
    "jax.lax.broadcast_shapes(*shapes)",
)
VIEWS = contenders(
    "whycast.broadcast(*arrays)",
    "np.broadcast_arrays(*arrays)",
    "torch.broadcast_tensors(*tensors)",
    "jnp.broadcast_arrays(*jarrays)",
)
COPIES = contenders(
    "whycast.broadcast(*arrays, copy=True)",
    "[np.array(x, order='C') for x in np.broadcast_arrays(*arrays)]",
    "[x.clone(memory_format=torch.contiguous_format) for x in torch.broadcast_tensors(*tensors)]",
    "jnp.broadcast_arrays(*jarrays)",
)

# One tensor to a shape: a name and the shape of the array `a`, which is `t` for torch and `j` for
# JAX; then the expressions.
OPERATORS = """\
onnx.expand, a row: 4
whycast.onnx.expand(a, (3, 4))
np.broadcast_to(a, (3, 4))
t.expand((3, 4))
jnp.broadcast_to(j, (3, 4))

onnx.expand, both ways: 3 1
whycast.onnx.expand(a, (2, 1, 4))
np.broadcast_to(a, np.broadcast_shapes(a.shape, (2, 1, 4)))

openvino.broadcast, explicit: 3
whycast.openvino.broadcast(a, (2, 3, 4), (1,), "explicit")
np.broadcast_to(a.reshape(3, 1), (2, 3, 4))
torch.broadcast_to(t.reshape(3, 1), (2, 3, 4))
lax.broadcast_in_dim(j, (2, 3, 4), (1,))

lax.broadcast_in_dim, transposing: 3 4
whycast.lax.broadcast_in_dim(a, (2, 4, 3), (2, 1))
np.broadcast_to(a.T, (2, 4, 3))
torch.broadcast_to(t.T, (2, 4, 3))
lax.broadcast_in_dim(j, (2, 4, 3), (2, 1))

ngraph.broadcast: 3 4
whycast.ngraph.broadcast(a, (3, 2, 4), {1})
np.broadcast_to(a.reshape(3, 1, 4), (3, 2, 4))
torch.broadcast_to(t.reshape(3, 1, 4), (3, 2, 4))
lax.broadcast_in_dim(j, (3, 2, 4), (0, 2))"""
OF_FIRST_AXIS = ("np.sum(a, axis=0)", "torch.sum(t, dim=0)", "jnp.sum(j, axis=0)")


def rows(peers: Peers) -> Iterator[Row]:
    """Give all cells but those of memory, with all contenders."""

    def of_shapes(
        group: str, name: str, draws: Sequence[object], code: Code = SHAPES, *notes: str
    ) -> Row:
        notes = notes or (RANDOM_SHAPES, JAX_REMEMBERS)
        return group, name, code, lambda: names_of(peers, draws=draws), notes

    def of_arrays(group: str, name: str, arrays: Sequence[Array], code: Code, *notes: str) -> Row:
        return group, name, code, lambda: names_of_arrays(peers, arrays), notes

    def both(function: str, arguments: str) -> Code:
        return contenders(
            f"whycast.numpy_rule.{function}({arguments})", f"np.{function}({arguments})"
        )

    group = "broadcast_shapes, tuples"
    for count in (2, 3, 10, 40):
        for rank in (1, 4, 8):
            draws = random_shapes(count, rank)
            yield of_shapes(group, f"{count} shapes of rank {rank}", draws)
    for count in (2, 10):
        # Equal, not the same: whoever looks whether two are one object learns nothing.
        equal = [[tuple(range(2, 6)) for _ in range(count)]] * 8
        yield of_shapes(group, f"{count} equal shapes of rank 4", equal, SHAPES, JAX_REMEMBERS)

    group = "broadcast_shapes, others"
    for count in (2, 10):
        draws = random_shapes(count, 4)
        as_lists = [[list(shape) for shape in shapes] for shapes in draws]
        # The function of jax.lax is faster, but for tuples only.
        code = {**SHAPES, JAX: "jnp.broadcast_shapes(*shapes)"}
        yield of_shapes(group, f"{count} lists of rank 4", as_lists, code)
        integers = [[tuple(map(np.int64, shape)) for shape in shapes] for shapes in draws]
        name = f"{count} tuples of NumPy integers, rank 4"
        # torch wants integers of Python.
        yield of_shapes(group, name, integers, without(SHAPES, TORCH))
        if TORCH in peers:
            sizes = [[peers[TORCH].Size(shape) for shape in shapes] for shapes in draws]
            yield of_shapes(group, f"{count} torch.Size of rank 4", sizes)

    notes = (WRITEABLE, JAX_COPIES)
    # torch has no negative strides, JAX has none at all.
    strided = {"reversed": (TORCH, JAX), "equal shapes": (), "mixed shapes": ()}
    for layout in LAYOUTS:
        for count in (2, 3, 10, 40):
            name, code = f"{count} arrays, {layout}", without(VIEWS, *strided.get(layout, (JAX,)))
            yield of_arrays("broadcast", name, laid_out(layout, count), code, *notes)
    yield of_arrays("broadcast", "2 arrays of rank 0", [ramp(), ramp()], VIEWS, *notes)
    yield of_arrays("broadcast", "a scalar and a matrix", [ramp(), ramp(3, 4)], VIEWS, *notes)
    strings = np.array([str(number) for number in range(10**4)], object)
    # In a group of its own, as it says nothing about the speed of views.
    name, code = "10,000 strings and 1", without(VIEWS, TORCH, JAX)
    notes = (LOOKS_AT_STRINGS, WRITEABLE)
    yield of_arrays("broadcast, objects", name, [strings, strings[:1]], code, *notes)

    for count in (2, 10, 40):
        name, draws = f"broadcast_shapes of {count}, rank 4", random_shapes(count, 4)
        code = both("broadcast_shapes", "*shapes")
        yield of_shapes("numpy_rule", name, draws, code, RANDOM_SHAPES)
    for name, array in {
        "a row": ramp(4),
        "a scalar": ramp(),
        "its own shape": ramp(3, 4),
        "a row reversed": ramp(4)[::-1],
    }.items():
        code = both("broadcast_to", "a, (3, 4)")
        yield of_arrays("numpy_rule", f"broadcast_to, {name}", [array], code)
    for layout in ("equal shapes", "mixed shapes", "reversed"):
        for count in (2, 10):
            name = f"broadcast_arrays of {count}, {layout}"
            code = both("broadcast_arrays", "*arrays")
            yield of_arrays("numpy_rule", name, laid_out(layout, count), code)

    for block in OPERATORS.split("\n\n"):
        head, *expressions = block.split("\n")
        name, _, shape = head.partition(": ")
        array, code = ramp(*map(int, shape.split())), contenders(*expressions)
        yield of_arrays("one tensor to a shape", name, [array], code, JAX_COPIES)
    for name, arrays in {
        "2 arrays, equal shapes": [ramp(3, 4), ramp(3, 4)],
        "2 arrays, mixed shapes": [ramp(3, 4), ramp(4)],
        "64 KB of a row and a column": [ramp(90), ramp(90, 1)],
        "16 MB of a row and a column": [ramp(1448), ramp(1448, 1)],
        "16 MB, each element repeated": [ramp(250_000, 1), ramp(1, 8)],
    }.items():
        yield of_arrays("broadcast, copies", name, arrays, COPIES)
    for array in (ramp(3, 4), ramp(300, 400)):
        for name, ours in {
            "broadcast_adjoint": "whycast.ngraph.broadcast_adjoint(a, {0})",
            "sum_to_shape": f"whycast.sum_to_shape(a, {array.shape[1:]})",
        }.items():
            code = contenders(ours, *OF_FIRST_AXIS)
            yield of_arrays("sums", f"{name}, {array.shape}", [array], code)


def without(code: Code, *peers: str) -> Code:
    """Leave contenders out."""
    return {who: text for who, text in code.items() if who not in peers}


# How fast a broadcast is written to memory that is there. The accelerator, which is the C, is
# called from Python as the others are, and all write the same elements to the same memory, with one
# thread. A cell is a layout, a number of elements that stand next to each other at the end, a width
# of an element and a size of the result.
RUNS = (1, 4, 16, 1000)
WIDTHS: Mapping[int, str] = {1: "u1", 2: "i2", 4: "f4", 8: "f8"}
SIZES: Mapping[int, str] = {1 << 12: "4 KB", 1 << 16: "64 KB", 1 << 20: "1 MB", 1 << 26: "64 MB"}
MEMORY = {
    OURS: "native.broadcast(z, x, np.copyto)",
    NUMPY: "np.copyto(z, view)",
    TORCH: "z_tensor.copy_(x_tensor.expand(z.shape))",
    ONNXRUNTIME: "session.run_with_iobinding(binding)",
    OPENVINO: "(request.start_async(), request.wait())",
}


def memory_cells(peers: Peers) -> Iterator[Cell]:
    """Give the cells of memory."""
    absent = {peer for peer in MODULES if peer not in peers}
    for size, name, width, shapes in jobs():
        code = without(MEMORY, *absent, *(() if width in (1, 4) else (OPENVINO,)))
        names = partial(memory_names, peers, *shapes, WIDTHS[width])
        yield Cell(f"memory, {size}", name, code, names, (CONVERTS,) if OPENVINO in code else ())


def jobs() -> Iterator[tuple[str, str, int, tuple[Shape, Shape]]]:
    """Give the size of each cell of memory, its name, its width, and the two shapes."""
    layouts = [("scalar", 1), *product(("leading", "trailing", "middle", "alternating"), RUNS)]
    for size, (layout, run), width in product(SIZES, layouts, WIDTHS):
        # Of a small result there are no eight long runs.
        if size >= 8 * run * width:
            ends = "" if layout == "scalar" else f", runs of {run}"
            shapes = written(layout, run, size // width)
            yield SIZES[size], f"{layout}{ends}, width {width}", width, shapes


def written(layout: str, run: int, total: int) -> tuple[Shape, Shape]:
    """Shape of the tensor and of the result.

    >>> written("trailing", 16, 2**16)
    ((4096, 1), (4096, 16))
    >>> written("alternating", 4, 2**15)
    ((1024, 1, 2, 1, 4), (1024, 2, 2, 2, 4))
    """
    rest, outer = total // run, total // (8 * run)
    return {
        "scalar": ((), (total,)),
        "leading": ((run,), (rest, run)),
        "trailing": ((rest, 1), (rest, run)),
        "middle": ((outer, 1, run), (outer, 8, run)),
        "alternating": ((outer, 1, 2, 1, run), (outer, 2, 2, 2, run)),
    }[layout]


def memory_names(peers: Peers, shape: Shape, target: Shape, dtype: str) -> dict[str, Any]:
    """What the expressions of a cell of memory speak of: x is the tensor, z the memory."""
    x, z = tensor_and_memory(shape, target, dtype)
    names: dict[str, Any] = {"x": x, "z": z, "view": np.broadcast_to(x, target)}
    names |= {"native": _accelerator, "np": np}
    if TORCH in peers:
        peers[TORCH].set_num_threads(1)
        names |= {f"{name}_tensor": peers[TORCH].from_numpy(names[name]) for name in "xz"}
    if ONNXRUNTIME in peers:
        inputs = {"input": x, "shape": np.array(target, np.int64)}
        names |= bound(_onnx.expand_model(x.dtype.name), inputs, z)
    if OPENVINO in peers and x.itemsize in (1, 4):
        names["request"] = openvino_request(peers[OPENVINO], x, z)
    return names


def tensor_and_memory(shape: Shape, target: Shape, dtype: str) -> tuple[Array, Array]:
    """Give a tensor whose elements tell their place, and room for what it is to become."""
    x = (np.arange(math.prod(shape)) % 251).astype(dtype).reshape(shape)
    return x, np.zeros(target, dtype)


def openvino_request(ov: Any, x: Array, z: Array) -> Any:
    """Compile a model that writes to z."""
    peer: Any = importlib.import_module("whycast.testing._peers._openvino")
    data = ov.opset13.parameter(list(x.shape), x.dtype)
    target = ov.opset13.constant(list(z.shape), np.int64)
    request = peer.request_for(ov.Model([ov.opset13.broadcast(data, target)], [data]))
    request.set_input_tensor(0, ov.Tensor(x, shared_memory=True))
    request.set_output_tensor(0, ov.Tensor(z, shared_memory=True))
    # A compiled model must live on: after it is freed, the next one of the same kind may crash.
    _kept.append(request)
    return request


_kept: list[object] = []


# The same from C, where a call takes nanoseconds: beside what a programmer writes for speed, and
# beside memcpy, which has the result to copy.
IN_C = {
    OURS: "in_c.ours(job, loops)",
    BY_HAND: "in_c.hand(job, loops)",
    MEMCPY: "in_c.copy(job, loops)",
}
SHAPE_IN_C = {OURS: "in_c.our_shape(job, loops)", BY_HAND: "in_c.hand_shape(job, loops)"}
CHECKS_NOTHING = "What is written by hand does less: it believes the shapes, the room, the extent."
SMALL = (((2, 1), (2, 3)), ((8, 1), (8, 8)), ((8, 1, 1), (8, 4, 4)))


def cells_in_c() -> Iterator[Cell]:
    """Give the cells whose calls come from C."""
    notes = (CHECKS_NOTHING,)
    small = [("small", f"{s} to {d}, width 4", 4, (s, d)) for s, d in SMALL]
    for size, name, width, shapes in (*jobs(), *small):
        names = partial(names_in_c, *shapes, WIDTHS[width])
        yield Cell(f"called from C, {size}", name, IN_C, names, notes)
    name = "the shape of 10 shapes of rank 4"
    yield Cell("called from C, small", name, SHAPE_IN_C, shapes_in_c, notes)


def names_in_c(shape: Shape, target: Shape, dtype: str) -> dict[str, Any]:
    """What the expressions of a cell in C speak of, and what their job points to."""
    x, z = tensor_and_memory(shape, target, dtype)
    arrays = (z, x, np.broadcast_to(x, target).copy(), np.array(shape), np.array(target))
    return job(arrays, z.nbytes, x.nbytes, len(shape), len(target), x.itemsize)


def shapes_in_c() -> dict[str, Any]:
    """Ten shapes: all else is as in other cells."""
    shapes = [np.array(shape) for shape in random_shapes(10, 4)[0]]
    pointers = np.array([shape.ctypes.data for shape in shapes])
    ranks, z = np.array([*map(len, shapes)]), np.zeros(4, np.int64)
    return {"shapes": shapes, **job((z, pointers, z, ranks, z), 4, 0, 10, 0, 0)}


# Element-wise operators make no copy of what they broadcast. Ours is a plan, and a loop in C that
# adds: for each sum it is made anew.
SUM = {
    OURS: "in_c.our_sum(job, loops)",
    NUMPY: "np.add(x, y, out=z)",
    TORCH: "torch.add(x_tensor, y_tensor, out=z_tensor)",
    ONNXRUNTIME: "session.run_with_iobinding(binding)",
}
SUMMANDS = {
    "equal shapes": ((512, 512), (512, 512)),
    "bias": ((4, 64, 28, 28), (64, 1, 1)),
    "mask": ((4, 8, 64, 64), (4, 1, 1, 64)),
    "scalar": ((1 << 18,), ()),
    "row": ((512, 512), (512,)),
    "column": ((512, 512), (512, 1)),
    "both": ((512, 1), (512,)),
}


def sums_by_plan(peers: Peers) -> Iterator[Cell]:
    """Give the cells of sums."""
    absent = {peer for peer in MODULES if peer not in peers}
    for name, shapes in SUMMANDS.items():
        yield Cell("sum by a plan", name, without(SUM, *absent), partial(summands, peers, *shapes))


def summands(peers: Peers, *shapes: Shape) -> dict[str, Any]:
    """What the expressions of a sum speak of: x and y are added in z."""
    x, y = (tensor_and_memory(shape, (), "f4")[0] for shape in shapes)
    z = np.zeros(np.broadcast_shapes(*shapes), "f4")
    arrays = z, x, y, np.array(x.shape, np.int64), np.array(y.shape, np.int64)
    names = {"np": np, "x": x, "y": y, **job(arrays, 0, 0, x.ndim, y.ndim, 4)}
    if TORCH in peers:
        peers[TORCH].set_num_threads(1)
        names |= {f"{name}_tensor": peers[TORCH].from_numpy(names[name]) for name in "xyz"}
        names["torch"] = peers[TORCH]
    if ONNXRUNTIME in peers:
        add = importlib.import_module("onnx.helper").make_node("Add", ["x", "y"], ["z"])
        ends = [("x", "float32"), ("y", "float32")], [("z", "float32")]
        names |= bound(_onnx.model_of([add], *ends), {"x": x, "y": y}, z)
    return names


def bound(model: Any, inputs: Mapping[str, Array], z: Array) -> dict[str, Any]:
    """Bind arrays to the inputs of a model, and z to its output."""
    session: Any = _onnx.runtime_session(model)
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_input(name, "cpu", 0, array.dtype.type, array.shape, array.ctypes.data)
    (output,) = session.get_outputs()
    binding.bind_output(output.name, "cpu", 0, z.dtype.type, z.shape, z.ctypes.data)
    return {"session": session, "binding": binding, "inputs": inputs}


def job(arrays: Sequence[Array], *numbers: int) -> dict[str, Any]:
    """Fill in the struct of in_c.c: here an address has 64 bits, as a number has."""
    fields = (*(array.ctypes.data for array in arrays), *numbers)
    made = (ctypes.c_int64 * len(fields))(*fields)
    return {"in_c": in_c(), "job": made, "loops": 1, "arrays": arrays, "z": arrays[0]}


@cache
def in_c() -> ctypes.CDLL:
    """Compile the C as it is now, and what is timed beside it, as setup.py does."""
    here = Path(__file__).parent
    folder = here.parents[1] / "c"
    sources = [here / "in_c.c", here / "by_hand.c", folder / "whycast.c"]
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "in_c.so"
        words = ["-O3", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
        subprocess.run(["cc", *words, *sources, "-o", made], check=True)
        library = ctypes.CDLL(str(made))
    for name in ("ours", "hand", "copy", "our_shape", "hand_shape", "our_sum"):
        function = getattr(library, name)
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_int64]
    return library
