"""What the benchmark times: its cells, each with one expression for every contender.

An expression is written as a user would write it, and is all that is timed. Those of a cell do the
same job on the same data, except where a note says otherwise, and have to give the same answer.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TypeAlias

import numpy as np

import whycast

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"
Shape: TypeAlias = tuple[int, ...]

OURS = "whycast"
NUMPY = "NumPy"
TORCH = "torch"
JAX = "JAX"
# These for memory only.
MEMCPY = "memcpy"
ONNXRUNTIME = "ONNX Runtime"
OPENVINO = "OpenVINO"
PEERS = (MEMCPY, NUMPY, TORCH, JAX, ONNXRUNTIME, OPENVINO)
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


@dataclass(frozen=True)
class Cell:
    """A line of the table: the same job for everyone.

    `code` has each contender's expression; `names` is what they speak of. Where there are `draws`,
    an expression is evaluated for each of them in turn, as the variable that is named first. The
    time is divided by `parts`, the things that one evaluation makes.
    """

    group: str
    name: str
    code: Mapping[str, str]
    names: Mapping[str, object]
    draws: tuple[str, Sequence[object]] | None = None
    parts: int = 1
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name that no other cell has."""
        return f"{self.group}: {self.name}"

    def statement(self, contender: str) -> str:
        """What is timed."""
        if self.draws is None:
            return self.code[contender]
        return f"for {self.draws[0]} in draws: {self.code[contender]}"

    def namespace(self) -> dict[str, object]:
        """What the statements speak of."""
        drawn = {} if self.draws is None else {"draws": self.draws[1]}
        return {**self.names, **drawn}

    def answer(self, contender: str) -> object:
        """What the expression gives, for each draw."""
        code = self.code[contender]
        if self.draws is not None:
            code = f"[{code} for {self.draws[0]} in draws]"
        return eval(code, self.namespace())


@dataclass(frozen=True)
class Peers:
    """The libraries that are there, by the names of their contenders."""

    modules: Mapping[str, ModuleType]

    def absent(self) -> list[str]:
        """Those that are not."""
        return [peer for peer in MODULES if peer not in self.modules]

    def names(self, **others: object) -> dict[str, object]:
        """What any expression may speak of."""
        jax = self.modules.get(JAX)
        named = {MODULES[peer]: module for peer, module in self.modules.items()}
        return {"whycast": whycast, "np": np, "jnp": getattr(jax, "numpy", None), **named, **others}

    def names_of_arrays(self, *arrays: Array) -> dict[str, object]:
        """Arrays, and the same as tensors of those who have such: `a` is the first of `arrays`."""
        names: dict[str, object] = {"arrays": arrays, "a": arrays[0]}
        plain = all(array.dtype.kind != "O" for array in arrays)
        torch, jax = self.modules.get(TORCH), self.modules.get(JAX)
        if torch and plain and min(min(a.strides, default=0) for a in arrays) >= 0:
            tensors = [torch.from_numpy(array) for array in arrays]
            names |= {"tensors": tensors, "t": tensors[0]}
        if jax and plain:
            on_device = [jax.numpy.asarray(array) for array in arrays]
            names |= {"jarrays": on_device, "j": on_device[0]}
        return self.names(**names)


def find_peers() -> Peers:
    """Import what is installed of the others."""
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
    return Peers(found)


def cells(peers: Peers) -> list[Cell]:
    """All cells, with the contenders that are there."""
    makers = (tuples, other_shapes, views, numpy_rule, operators, copies, sums)
    absent = peers.absent()
    found = []
    for cell in (cell for maker in makers for cell in maker(peers)):
        code = {contender: code for contender, code in cell.code.items() if contender not in absent}
        notes = {contender: note for contender, note in cell.notes.items() if contender in code}
        found.append(replace(cell, code=code, notes=notes))
    return found


# Shapes

SHAPE_CODE = {
    OURS: "whycast.broadcast_shapes(*shapes)",
    NUMPY: "np.broadcast_shapes(*shapes)",
    TORCH: "torch.broadcast_shapes(*shapes)",
    JAX: "jax.lax.broadcast_shapes(*shapes)",
}


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


def shape_cell(peers: Peers, group: str, name: str, draws: Sequence[object], *without: str) -> Cell:
    """Cell in which all contenders get the very same sets of shapes."""
    code = {contender: text for contender, text in SHAPE_CODE.items() if contender not in without}
    notes = {OURS: RANDOM_SHAPES, JAX: JAX_REMEMBERS}
    return Cell(group, name, code, peers.names(), ("shapes", draws), len(draws), notes)


def tuples(peers: Peers) -> Iterator[Cell]:
    """Common shape of tuples of ints."""
    group = "broadcast_shapes, tuples"
    for count in (2, 3, 10, 40):
        for rank in (1, 4, 8):
            name, draws = f"{count} shapes of rank {rank}", random_shapes(count, rank)
            yield shape_cell(peers, group, name, draws)
    for count in (2, 10):
        # Equal, not the same: whoever looks whether two are one object learns nothing.
        equal = [tuple(range(2, 6)) for _ in range(count)]
        cell = shape_cell(peers, group, f"{count} equal shapes of rank 4", [equal] * 8)
        yield replace(cell, notes={JAX: JAX_REMEMBERS})


def other_shapes(peers: Peers) -> Iterator[Cell]:
    """Common shape of what else a shape may be."""
    group = "broadcast_shapes, others"
    for count in (2, 10):
        draws = random_shapes(count, 4)
        as_lists = [[list(shape) for shape in shapes] for shapes in draws]
        cell = shape_cell(peers, group, f"{count} lists of rank 4", as_lists)
        # The function of jax.lax is faster, but for tuples only.
        yield replace(cell, code={**cell.code, JAX: "jnp.broadcast_shapes(*shapes)"})
        integers = [[tuple(map(np.int64, shape)) for shape in shapes] for shapes in draws]
        name = f"{count} tuples of NumPy integers, rank 4"
        # torch wants integers of Python.
        yield shape_cell(peers, group, name, integers, TORCH)
        if TORCH in peers.modules:
            sizes = [[peers.modules[TORCH].Size(shape) for shape in shapes] for shapes in draws]
            yield shape_cell(peers, group, f"{count} torch.Size of rank 4", sizes)


# Views

VIEW_CODE = {
    OURS: "whycast.broadcast(*arrays)",
    NUMPY: "np.broadcast_arrays(*arrays)",
    TORCH: "torch.broadcast_tensors(*tensors)",
    JAX: "jax.block_until_ready(jnp.broadcast_arrays(*jarrays))",
}


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
WITHOUT: Mapping[str, tuple[str, ...]] = {
    "reversed": (TORCH, JAX),  # torch has no negative strides
    "every second element": (JAX,),
    "transposed": (JAX,),
    "axes permuted": (JAX,),
}


def view_cell(
    peers: Peers, name: str, arrays: Sequence[Array], *without: str, group: str = "broadcast"
) -> Cell:
    """Cell of views of arrays."""
    code = {contender: text for contender, text in VIEW_CODE.items() if contender not in without}
    return Cell(
        group, name, code, peers.names_of_arrays(*arrays), notes={NUMPY: WRITEABLE, JAX: JAX_COPIES}
    )


def views(peers: Peers) -> Iterator[Cell]:
    """Views of the common shape."""
    for layout, makers in LAYOUTS.items():
        for count in (2, 3, 10, 40):
            arrays = [makers[m % len(makers)]() for m in range(count)]
            yield view_cell(peers, f"{count} arrays, {layout}", arrays, *WITHOUT.get(layout, ()))
    yield view_cell(peers, "2 arrays of rank 0", [ramp(), ramp()])
    yield view_cell(peers, "a scalar and a matrix", [ramp(), ramp(3, 4)])
    strings = np.array([str(number) for number in range(10**4)], object)
    # In a group of its own, as it says nothing about the speed of views.
    name, group = "10,000 strings and 1", "broadcast, objects"
    cell = view_cell(peers, name, [strings, strings[:1]], TORCH, JAX, group=group)
    yield replace(cell, notes={OURS: LOOKS_AT_STRINGS, **cell.notes})


# NumPy's own functions


def numpy_rule(peers: Peers) -> Iterator[Cell]:
    """The functions of NumPy and ours of the same names."""

    def both(function: str, arguments: str) -> dict[str, str]:
        return {
            OURS: f"whycast.numpy_rule.{function}({arguments})",
            NUMPY: f"np.{function}({arguments})",
        }

    for count in (2, 10, 40):
        name, draws = f"broadcast_shapes of {count}, rank 4", random_shapes(count, 4)
        code = both("broadcast_shapes", "*shapes")
        cell = shape_cell(peers, "numpy_rule", name, draws)
        yield replace(cell, code=code, notes={OURS: RANDOM_SHAPES})
    for name, array in {
        "broadcast_to, a row": ramp(4),
        "broadcast_to, a scalar": ramp(),
        "broadcast_to, its own shape": ramp(3, 4),
        "broadcast_to, a row reversed": ramp(4)[::-1],
    }.items():
        names = peers.names_of_arrays(array)
        yield Cell("numpy_rule", name, both("broadcast_to", "a, (3, 4)"), names)
    for layout in ("equal shapes", "mixed shapes", "reversed"):
        makers = LAYOUTS[layout]
        for count in (2, 10):
            arrays = [makers[m % len(makers)]() for m in range(count)]
            name = f"broadcast_arrays of {count}, {layout}"
            names = peers.names_of_arrays(*arrays)
            yield Cell("numpy_rule", name, both("broadcast_arrays", "*arrays"), names)


# Operators

# The array, and the expressions of whycast, NumPy, torch and JAX: `a` is the array, `t` and `j` are
# its tensors.
OPERATORS: Mapping[str, tuple[Shape, Sequence[str]]] = {
    "onnx.expand, a row": (
        (4,),
        (
            "whycast.onnx.expand(a, (3, 4))",
            "np.broadcast_to(a, (3, 4))",
            "t.expand((3, 4))",
            "jnp.broadcast_to(j, (3, 4))",
        ),
    ),
    "onnx.expand, both ways": (
        (3, 1),
        (
            "whycast.onnx.expand(a, (2, 1, 4))",
            "np.broadcast_to(a, np.broadcast_shapes(a.shape, (2, 1, 4)))",
        ),
    ),
    "openvino.broadcast, explicit": (
        (3,),
        (
            'whycast.openvino.broadcast(a, (2, 3, 4), (1,), "explicit")',
            "np.broadcast_to(a.reshape(3, 1), (2, 3, 4))",
            "torch.broadcast_to(t.reshape(3, 1), (2, 3, 4))",
            "jax.lax.broadcast_in_dim(j, (2, 3, 4), (1,))",
        ),
    ),
    "lax.broadcast_in_dim, transposing": (
        (3, 4),
        (
            "whycast.lax.broadcast_in_dim(a, (2, 4, 3), (2, 1))",
            "np.broadcast_to(a.T, (2, 4, 3))",
            "torch.broadcast_to(t.T, (2, 4, 3))",
            "jax.lax.broadcast_in_dim(j, (2, 4, 3), (2, 1))",
        ),
    ),
    "ngraph.broadcast": (
        (3, 4),
        (
            "whycast.ngraph.broadcast(a, (3, 2, 4), {1})",
            "np.broadcast_to(a.reshape(3, 1, 4), (3, 2, 4))",
            "torch.broadcast_to(t.reshape(3, 1, 4), (3, 2, 4))",
            "jax.lax.broadcast_in_dim(j, (3, 2, 4), (0, 2))",
        ),
    ),
}


def operators(peers: Peers) -> Iterator[Cell]:
    """Operators that broadcast one tensor to a shape."""
    for name, (shape, expressions) in OPERATORS.items():
        code = dict(zip((OURS, NUMPY, TORCH, JAX), expressions, strict=False))
        if JAX in code:
            code[JAX] = f"jax.block_until_ready({code[JAX]})"
        names = peers.names_of_arrays(ramp(*shape))
        yield Cell("one tensor to a shape", name, code, names, notes={JAX: JAX_COPIES})


# Copies and sums


def copies(peers: Peers) -> Iterator[Cell]:
    """Arrays that are no views."""
    for name, arrays in {
        "2 arrays, equal shapes": [ramp(3, 4), ramp(3, 4)],
        "2 arrays, mixed shapes": [ramp(3, 4), ramp(4)],
        "64 KB of a row and a column": [ramp(90), ramp(90, 1)],
        "16 MB of a row and a column": [ramp(1448), ramp(1448, 1)],
        "16 MB, each element repeated": [ramp(250_000, 1), ramp(1, 8)],
    }.items():
        yield Cell(
            "broadcast, copies",
            name,
            {
                OURS: "whycast.broadcast(*arrays, copy=True)",
                NUMPY: "[np.array(x, order='C') for x in np.broadcast_arrays(*arrays)]",
                TORCH: "[x.clone(memory_format=torch.contiguous_format)"
                " for x in torch.broadcast_tensors(*tensors)]",
                JAX: "jax.block_until_ready(jnp.broadcast_arrays(*jarrays))",
            },
            peers.names_of_arrays(*arrays),
        )


def sums(peers: Peers) -> Iterator[Cell]:
    """Adjoints: sums over the first axis."""
    others = {
        NUMPY: "np.sum(a, axis=0)",
        TORCH: "torch.sum(t, dim=0)",
        JAX: "jax.block_until_ready(jnp.sum(j, axis=0))",
    }
    for array in (ramp(3, 4), ramp(300, 400)):
        names = peers.names_of_arrays(array)
        code = {OURS: "whycast.ngraph.broadcast_adjoint(a, {0})", **others}
        yield Cell("sums", f"broadcast_adjoint, {array.shape}", code, names)
        code = {OURS: f"whycast.sum_to_shape(a, {array.shape[1:]})", **others}
        yield Cell("sums", f"sum_to_shape, {array.shape}", code, names)
