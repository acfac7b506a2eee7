"""The cells of the benchmark, each with one expression for every contender.

Only the expression is timed, as a user would write it. All expressions of a cell do the same job on
the same data, unless a note states a difference, and must return equal values. An expression with
`loops` runs that many loops in C, and returns the seconds that they took.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import whycast

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"
Shape: TypeAlias = tuple[int, ...]

OURS, WITHOUT, NUMPY = "whycast", "without the accelerator", "NumPy"
PLAIN, MEMCPY = "a plain loop", "memcpy"
PEERS = (WITHOUT, NUMPY, PLAIN, MEMCPY)

NOTES = {
    "broadcast_shapes": "Eight sets of shapes in turn, the same in each run: two in five sizes are "
    "1, the others 2 to 6; up to half of the axes are left out.",
    "broadcast, views": "whycast's results are read-only views. NumPy's results can be written to, "
    "with a warning, and are the arguments themselves where all shapes are equal. whycast checks "
    "that each of 10,000 strings is a str; NumPy checks none.",
    "addition": "A call from C plans and adds, as in c/examples.c; NumPy is called from Python.",
    "called from C": "The plain loop and memcpy do less: they do not check shapes or the room. "
    "memcpy copies the finished result.",
}


@dataclass(frozen=True)
class Cell:
    """A line of the table: one job for all contenders.

    `code` contains each contender's expression, `names` the variables. If `names` has `draws`, the
    expression is evaluated with each draw as `shapes`, and the time is divided by their number. If
    `names` has a `z`, the answer is the content of `z` afterwards.
    """

    group: str
    name: str
    code: Mapping[str, str]
    names: Mapping[str, Any]


def cells() -> Iterator[Cell]:
    yield from cells_of_shapes()
    yield from cells_of_arrays()
    yield from cells_of_lists()
    yield from cells_in_c()


def of_whycast(expression: str, other: str, theirs: str = NUMPY) -> dict[str, str]:
    """Return the expressions of whycast, with and without the accelerator, and of a peer."""
    return {OURS: expression, WITHOUT: expression.replace("whycast", "plain", 1), theirs: other}


def names_of(**others: object) -> dict[str, Any]:
    return {"whycast": whycast, "plain": without_accelerator(), "np": np, **others}


@cache
def without_accelerator() -> Any:
    """Import the package once more, without its accelerator."""
    kept = {name: sys.modules.pop(name) for name in [*sys.modules] if name.startswith("whycast")}
    asked = os.environ.get("WHYCAST_NATIVE")
    os.environ["WHYCAST_NATIVE"] = "0"
    try:
        return importlib.import_module("whycast")
    finally:
        os.environ.pop("WHYCAST_NATIVE")
        os.environ.update({} if asked is None else {"WHYCAST_NATIVE": asked})
        sys.modules.update(kept)


def random_shapes(count: int, rank: int) -> list[list[Shape]]:
    """Draw eight sets of `count` shapes that broadcast; at least one shape has all axes."""
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


def cells_of_shapes() -> Iterator[Cell]:
    draws: dict[str, Sequence[Sequence[Any]]] = {
        f"{count} shapes of rank {rank}": random_shapes(count, rank)
        for count, rank in itertools.product((2, 10), (1, 4, 8))
    }
    # Equal shapes that are different objects: a test of identity cannot succeed.
    draws["2 equal shapes of rank 4"] = [[tuple(range(2, 6)) for _ in range(2)]] * 8
    fours = random_shapes(2, 4)
    draws["2 lists of rank 4"] = [[list(shape) for shape in shapes] for shapes in fours]
    draws["2 tuples of NumPy integers"] = [
        [tuple(map(np.int64, s)) for s in some] for some in fours
    ]
    for rule, function in (
        ("SONNX", "whycast.broadcast_shapes"),
        ("NumPy", "whycast.numpy_rule.broadcast_shapes"),
    ):
        code = of_whycast(f"{function}(*shapes)", "np.broadcast_shapes(*shapes)")
        for name, given in draws.items():
            yield Cell(f"broadcast_shapes, rule of {rule}", name, code, names_of(draws=given))


def ramp(*shape: int) -> Array:
    """Make an array that owns its memory and repeats no element."""
    return np.arange(float(math.prod(shape))).reshape(shape).copy()


# A cell repeats the arrays of a layout until it has enough.
LAYOUTS: Mapping[str, Sequence[Array]] = {
    "equal shapes": [ramp(3, 4)],
    "mixed shapes": [ramp(3, 4), ramp(4), ramp(3, 1)],
    "reversed": [ramp(3, 4)[::-1, ::-1], ramp(4)[::-1]],
    "transposed": [ramp(4, 3).T, ramp(1, 3).T],
}
SONNX_VIEWS = of_whycast("whycast.broadcast(*arrays)", "np.broadcast_arrays(*arrays)")
NUMPY_VIEWS = of_whycast(
    "whycast.numpy_rule.broadcast_arrays(*arrays)", "np.broadcast_arrays(*arrays)"
)
COPIES = of_whycast(
    "whycast.broadcast(*arrays, copy=True)",
    "[np.array(x, order='C') for x in np.broadcast_arrays(*arrays)]",
)
# Each line: an array's shape, our expression and NumPy's.
OF_ONE = """\
4: whycast.broadcast_to(a, (3, 4)) | np.broadcast_to(a, (3, 4))
4: whycast.numpy_rule.broadcast_to(a, (3, 4)) | np.broadcast_to(a, (3, 4))
3 4: whycast.onnx.expand(a, (2, 1, 4)) | np.broadcast_to(a, (2, 3, 4))
3: whycast.openvino.broadcast(a, (2, 3, 4), (1,), "explicit") \
| np.broadcast_to(a.reshape(3, 1), (2, 3, 4))
3 4: whycast.lax.broadcast_in_dim(a, (2, 4, 3), (2, 1)) | np.broadcast_to(a.T, (2, 4, 3))
3 4: whycast.ngraph.broadcast(a, (3, 2, 4), {1}) | np.broadcast_to(a.reshape(3, 1, 4), (3, 2, 4))
3 4: whycast.sum_to_shape(a, (4,)) | np.sum(a, axis=0)
300 400: whycast.sum_to_shape(a, (400,)) | np.sum(a, axis=0)"""


def cells_of_arrays() -> Iterator[Cell]:
    some = {
        f"{count} arrays, {layout}": list(itertools.islice(itertools.cycle(arrays), count))
        for layout, arrays in LAYOUTS.items()
        for count in (2, 10)
    }
    strings = np.array([str(number) for number in range(10**4)], object)
    others = {"a scalar and a matrix": [ramp(), ramp(3, 4)], "10,000 strings": [strings] * 2}
    for name, arrays in {**some, **others}.items():
        yield Cell("broadcast, views", name, SONNX_VIEWS, names_of(arrays=arrays))
    for name, arrays in some.items():
        yield Cell("numpy_rule.broadcast_arrays", name, NUMPY_VIEWS, names_of(arrays=arrays))
    copied = {
        "2 arrays, mixed shapes": [ramp(3, 4), ramp(4)],
        "64 KB of a row and a column": [ramp(90), ramp(90, 1)],
        "16 MB of a row and a column": [ramp(1448), ramp(1448, 1)],
        "16 MB, each element repeated": [ramp(250_000, 1), ramp(1, 8)],
    }
    for name, arrays in copied.items():
        yield Cell("broadcast, copies", name, COPIES, names_of(arrays=arrays))
    for line in OF_ONE.splitlines():
        shape, ours, theirs = re.split(r": (?=w)| \| ", line)
        array = ramp(*map(int, shape.split()))
        name = f"{ours.removeprefix('whycast.')}, shape {array.shape}"
        yield Cell("one array", name, of_whycast(ours, theirs), names_of(a=array))


def cells_of_lists() -> Iterator[Cell]:
    code = of_whycast(
        "whycast.reference.broadcast(data, shape, target)", "loop(data, shape, target)", PLAIN
    )
    for shape, target in (((4,), (3, 4)), ((3, 1), (3, 4)), ((64, 1, 8), (64, 16, 8))):
        data = [*range(math.prod(shape))]
        names = names_of(data=data, shape=shape, target=target, loop=loop_over_lists)
        yield Cell("flat lists", f"{shape} to {target}", code, names)


def loop_over_lists(data: list[Any], shape: Shape, target: Shape) -> list[Any]:
    steps = [0] * len(target)
    step = 1
    for k in range(1, len(shape) + 1):
        steps[-k] = step if shape[-k] != 1 else 0
        step *= shape[-k]
    places = [0]
    for size, step in zip(target, steps, strict=True):
        places = [place + step * i for place in places for i in range(size)]
    return [data[place] for place in places]


IN_C = {
    OURS: "in_c.ours(job, loops)",
    PLAIN: "in_c.plain(job, loops)",
    MEMCPY: "in_c.copy(job, loops)",
}
SHAPE_IN_C = {OURS: "in_c.our_shape(job, loops)", PLAIN: "in_c.plain_shape(job, loops)"}
# The number of elements of a result.
JOBS = {"4 KB": 1 << 10, "1 MB": 1 << 18}


def cells_in_c() -> Iterator[Cell]:
    """Yield the cells with calls from C; elements have 4 bytes."""
    for size, total in JOBS.items():
        rest, outer = total // 16, total // 128
        for name, shape, target in (
            ("a scalar", (), (total,)),
            ("a row", (16,), (rest, 16)),
            ("a column", (rest, 1), (rest, 16)),
            ("runs of 16 in the middle", (outer, 1, 16), (outer, 8, 16)),
            ("axes in turn", (outer, 1, 2, 1, 4), (outer, 8, 2, 2, 4)),
        ):
            x = np.arange(math.prod(shape), dtype="f4").reshape(shape)
            z, wanted = np.zeros(target, "f4"), np.broadcast_to(x, target).copy()
            arrays = (z, x, wanted, np.array(shape, np.int64), np.array(target))
            numbers = (z.nbytes, x.nbytes, len(shape), len(target), 4)
            yield Cell("called from C", f"{size}, {name}", IN_C, job(arrays, *numbers))
        code = {OURS: "in_c.our_sum(job, loops)", NUMPY: "np.add(x, y, out=z)"}
        side = math.isqrt(total)
        for name, shape, other in (
            ("a bias", (total // 64, 64), (64,)),
            ("a mask", (total // 64, 64), (total // 64, 1)),
            ("a channel", (4, total // 64, 16), (total // 64, 1)),
            ("a scalar", (total,), ()),
            ("a row and a column", (side,), (side, 1)),
            ("rows of 7", (total // 7, 7), (7,)),
        ):
            x, y = (np.arange(math.prod(each), dtype="f4").reshape(each) for each in (shape, other))
            z, shapes = x + y, [np.array(each, np.int64) for each in (shape, other)]
            names = job((z, x, y, *shapes), z.nbytes, x.nbytes, x.ndim, y.ndim, 4)
            yield Cell("addition", f"{size}, {name}", code, names | {"np": np, "x": x, "y": y})
    shapes = [np.array(shape) for shape in random_shapes(10, 4)[0]]
    pointers = np.array([shape.ctypes.data for shape in shapes])
    ranks, z = np.array([*map(len, shapes)]), np.zeros(4, np.int64)
    names = {"shapes": shapes, **job((z, pointers, z, ranks, z), 4, 0, 10, 0, 0)}
    yield Cell("called from C", "the shape of 10 shapes of rank 4", SHAPE_IN_C, names)


def job(arrays: Sequence[Array], *numbers: int) -> dict[str, Any]:
    """Fill in the struct of in_c.c; an address has 64 bits here."""
    fields = (*(array.ctypes.data for array in arrays), *numbers)
    made = (ctypes.c_int64 * len(fields))(*fields)
    return {"in_c": in_c(), "job": made, "loops": 1, "arrays": arrays, "z": arrays[0]}


@cache
def in_c() -> ctypes.CDLL:
    """Compile the tree's C with in_c.c, as setup.py does."""
    here = Path(__file__).parent
    folder = here.parents[1] / "c"
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "in_c.so"
        words = ["-O3", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
        sources = [here / "in_c.c", folder / "whycast.c"]
        subprocess.run(["cc", *words, *sources, "-o", made], check=True)
        library = ctypes.CDLL(str(made))
    for name in ("ours", "plain", "copy", "our_shape", "plain_shape", "our_sum"):
        function = getattr(library, name)
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_int64]
    return library
