"""Public bugs, most of 2024 to 2026, each rebuilt as a function that `check` has to catch.

A function does what the report of the bug says, and nothing of it is code of the project. Where the
bug has another operation around it, as a matrix product, what is rebuilt is its broadcasting alone.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from implementations import Array, Shape, Wrong, sized, zeros_where
from numpy.lib.stride_tricks import as_strided

import whycast
from whycast import numpy_rule
from whycast._rules import RULES, Operands
from whycast.testing import Case
from whycast.testing._cases._case import NAMES


class Exhibit(NamedTuple):
    """A public bug: its project and number, the year, what was wrong, and a function that has it.

    `expected` and `got` are what the report says of the smallest case.
    """

    group: str
    year: int
    said: str
    wrong: Wrong
    expected: str
    got: str


def padded(shapes: Sequence[Shape]) -> list[Shape]:
    """Put axes of size 1 before those of the shorter shapes."""
    rank = max(map(len, shapes))
    return [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]


# --- the maximum where the size that is not 1 is due ---------------------------------------------


def largest(*shapes: Shape) -> Shape:
    """Take the largest size on each axis, for shapes that fit."""
    numpy_rule.broadcast_shapes(*shapes)
    return tuple([max(sizes) for sizes in zip(*padded(shapes), strict=True)])


def fit_the_largest(*shapes: Shape) -> bool:
    """Compare each size with the largest: 0 is neither that nor 1."""
    axes = zip(*padded(shapes), strict=True)
    return all(size in (1, max(sizes)) for sizes in axes for size in sizes)


def largest_or_error(*shapes: Shape) -> Shape:
    if not fit_the_largest(*shapes):
        raise ValueError("a size is neither 1 nor the largest")
    return largest(*shapes)


def largest_if_several(*shapes: Shape) -> Shape:
    """Take the largest sizes where there are several axes."""
    return (largest if max(map(len, shapes)) > 1 else numpy_rule.broadcast_shapes)(*shapes)


def none_is_zero(shape: Shape, target: Shape) -> Shape:
    """Say of each size of the output that it is at least 1."""
    return tuple([max(1, size) for size in numpy_rule.broadcast_shapes(shape, target)])


def reads_an_empty_list(*arrays: Array) -> Any:
    """Compute as many elements as the longest list has, of which an empty one has none."""
    found = [z.copy() for z in numpy_rule.broadcast_arrays(*arrays)]
    sizes = [x.size for x in arrays if x.ndim == 1 and x.dtype.kind == "i"]
    if len(arrays) == len(sizes) == 2 and min(sizes) < max(sizes) == 1:
        signal.raise_signal(signal.SIGSEGV)
    return found


# --- alignment, and the shape of the output -------------------------------------------------------


def ones_win(*shapes: Shape) -> Shape:
    """Where one of two sizes is 1 take that; right are axes that only one shape has."""

    def two(first: Shape, second: Shape) -> Shape:
        common = min(len(first), len(second))
        axes = zip(*padded([first, second]), strict=True)
        sizes = [a if a == b else 1 if 1 in (a, b) else max(a, b) for a, b in axes]
        longer = max(first, second, key=len)
        return longer[: len(longer) - common] + tuple(sizes[len(longer) - common :])

    numpy_rule.broadcast_shapes(*shapes)
    return reduce(two, shapes)


def grows_from_the_front(shape: Shape, target: Shape) -> Shape:
    """Add zeros of the sizes that are missing, compared axis by axis from the first one on."""
    if RULES["openvino-numpy"].shape(Operands((shape,), target)) is None:
        raise ValueError("they do not fit")
    same = [a == b for a, b in zip(shape, target, strict=False)] + [False] * len(target)
    zeros = [1 if there else size for there, size in zip(same, target, strict=False)]
    return numpy_rule.broadcast_shapes(shape, tuple(zeros))


def divides(shape: Shape, target: Shape) -> Shape:
    """Divide the target's sizes by those of the tensor."""
    if RULES["openvino-numpy"].shape(Operands((shape,), target)) is not None and 0 in shape:
        raise ArithmeticError("division by 0")
    return numpy_rule.broadcast_to(np.broadcast_to(np.int8(0), shape), target).shape


def first_axis_first(*arrays: Array) -> list[Array]:
    """Keep the first axis the first, and put those that are missing behind it."""
    found = []
    for x, z in zip(arrays, numpy_rule.broadcast_arrays(*arrays), strict=True):
        shape = x.shape[:1] + (1,) * (z.ndim - x.ndim) + x.shape[1:]
        fits = x.ndim > 1 and all(a in (1, b) for a, b in zip(shape, z.shape, strict=True))
        found.append(np.broadcast_to(x.reshape(shape), z.shape).copy() if fits else z.copy())
    return found


# --- limits of rank, memory, overflow -------------------------------------------------------------


def nine_axes(*shapes: Shape) -> Shape:
    """Keep the sizes where eight have their place, and strides in the eight places behind them."""
    common = numpy_rule.broadcast_shapes(*shapes)
    memory = [*common, *[0] * 16]
    memory[8 : 8 + len(common)] = [math.prod(common[k + 1 :]) for k in range(len(common))]
    return tuple(memory[: len(common)])


def one_counter_beyond_6(*arrays: Array) -> list[Array]:
    """Count all axes from the sixth last outwards by one counter, as long as the output is."""
    found = []
    for x, z in zip(arrays, numpy_rule.broadcast_arrays(*arrays), strict=True):
        outer = max(0, z.ndim - 5)
        (own,) = padded([x.shape, z.shape])[:1]
        places = np.arange(math.prod(z.shape[:outer])) % max(1, math.prod(own[:outer]))
        rows = x.reshape(-1 if x.size else 0, *own[outer:]) if outer > 1 and x.size else None
        if rows is None or z.size == 0:
            found.append(z.copy())
        else:
            flat = (len(places), *z.shape[outer:])
            found.append(np.broadcast_to(rows[places], flat).reshape(z.shape).copy())
    return found


def folds(shape: Shape, target: Shape) -> Shape:
    """Find the shape of what is constant by computing it: there is no room for 2³¹ elements."""
    common = numpy_rule.broadcast_shapes(shape, target)
    if math.prod(common) >= 2**31:
        raise MemoryError("no room")
    return common


# --- strides of 0 ---------------------------------------------------------------------------------


def rows_that_are_one(*arrays: Array) -> list[Array]:
    """Hand out what was expanded for writing: what is written into one row stands in all."""
    found = []
    for x, z in zip(arrays, numpy_rule.broadcast_arrays(*arrays), strict=True):
        grows = x.size < z.size and x.dtype.kind != "T"
        found.append(as_strided(x, z.shape, z.strides) if grows else z.copy())
    return found


# The stride of the last axis but one is taken for the length of a row, and nothing is done if that
# is too short. Of an axis of size 1 the stride is of no account, and may be 0.
short_rows = zeros_where(
    lambda xs: any(
        x.ndim == 2 and len(x) == 1 and abs(x.strides[0]) < x.shape[1] * x.itemsize for x in xs
    )
)


# --- one-sided rules, and rewriters ---------------------------------------------------------------


def last_axes_fit(shape: Shape, target: Shape) -> bool:
    """Ask whether a sum is possible, and not whether its shape is the target."""
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False))


# --- gradients ------------------------------------------------------------------------------------


def fit(delta: Array, shape: Shape) -> None:
    """Refuse a shape that is not that of a tensor which grows to the gradient's."""
    numpy_rule.broadcast_to(np.broadcast_to(np.int8(0), shape), delta.shape)


def not_summed(delta: Array, shape: Shape) -> Array:
    """Give the gradient of the output for that of the tensor."""
    fit(delta, shape)
    return delta.copy()


def new_axes_stay(delta: Array, shape: Shape) -> Array:
    """Sum where a size of 1 has grown, and not where an axis is new."""
    fit(delta, shape)
    sizes = (1,) * (delta.ndim - len(shape)) + tuple(shape)
    return whycast.sum_to_shape(delta, sizes)


def scalars_not_summed(delta: Array, shape: Shape) -> Array:
    return whycast.sum_to_shape(delta, shape) if shape else delta.copy()


# --- sizes that have names ------------------------------------------------------------------------


def common(shapes: Sequence[Any]) -> list[tuple[int, list[str]]]:
    """Give for each axis the size of the numbers, and the names: what is right, or a refusal."""
    numbers = [tuple([1 if isinstance(size, str) else size for size in s]) for s in shapes]
    axes = zip(*padded(shapes), strict=True)
    names = [list(dict.fromkeys(size for size in sizes if size in NAMES)) for sizes in axes]
    return list(zip(numpy_rule.broadcast_shapes(*numbers), names, strict=True))


def larger(*shapes: Any) -> tuple[Any, ...]:
    """Take the larger of a number and a name, which for that is at least 1."""

    def one(number: int, names: list[str]) -> Any:
        if number > 1 or not names:
            return number
        return names[0] if len(names) == 1 else None

    return tuple([one(*axis) for axis in common(shapes)])


def first_name(*shapes: Any) -> tuple[Any, ...]:
    """Keep a name beside one of which nothing is known."""
    return tuple(
        [names[0] if names and number == 1 else number for number, names in common(shapes)]
    )


def number_for_name(*shapes: Any) -> tuple[Any, ...]:
    """Take a name beside a number for that number, on all axes."""
    axes = common(shapes)
    taken = {name: number for number, names in axes for name in names if number > 1}

    def one(number: int, names: list[str]) -> Any:
        if number != 1 or not names:
            return number
        return taken.get(names[0], names[0]) if len(names) == 1 else None

    return tuple([one(*axis) for axis in axes])


MAXIMUM = "The maximum where the size that is not 1 is due"
ALIGNMENT = "Alignment, and the shape of the output"
LIMITS = "Limits of rank, memory, overflow"
STRIDES = "Strides of 0"
ONE_SIDED = "One-sided rules, and rewriters"
GRADIENTS = "Gradients that are not summed"
NAMED = "Sizes that have names"

SCALAR = Case(((), (0,)))
TARGET = Case(((),), (0,))
LOWER = Case(((0,),), ())
NO_AXIS = (
    "refusal: data of shape (0,) does not broadcast to target_shape (): target_shape has no axis "
    "for axis 0 of data, of size 0; expected a rank of at least 1, got 0"
)
BOTH_WAYS, ONE_WAY = "openvino-bidirectional", "openvino-numpy"

MUSEUM = (
    Exhibit(
        *(MAXIMUM, 2026),
        "A size of 0 beside a 1 was compared with the larger of the two, and refused.",
        Wrong("burn 5334", largest_or_error, "refuses", SCALAR, "numpy", "shape"),
        *("(0,)", "ValueError: a size is neither 1 nor the largest"),
    ),
    Exhibit(
        *(MAXIMUM, 2026),
        "The output had the larger of two sizes: 1 where one of them is 0.",
        Wrong("burn 5287", largest, "shape", SCALAR, "numpy", "shape"),
        *("(0,)", "(1,)"),
    ),
    Exhibit(
        *(MAXIMUM, 2025),
        "Bidirectionally, 1 and 0 gave 1, whichever of them was in the target.",
        Wrong("openvino PR 31156", largest, "shape", TARGET, BOTH_WAYS, "shape"),
        *("(0,)", "(1,)"),
    ),
    Exhibit(
        *(MAXIMUM, 2025),
        "Of two stacks of matrices, one without any and one of length 1 were refused.",
        Wrong("onnxruntime PR 25663", fit_the_largest, "refuses", SCALAR, "numpy", "verdict"),
        *("(0,)", "a refusal"),
    ),
    Exhibit(
        *(MAXIMUM, 2024),
        "An element was read of a list without any, as the other list had one.",
        Wrong("onnx 6294", reads_an_empty_list, "crash", Case(((0,), (1,))), "numpy"),
        *("int32 (0,) [], int32 (0,) []", "the process was ended by SIGSEGV"),
    ),
    Exhibit(
        *(MAXIMUM, 2026),
        "Where several axes were summed, the larger of two sizes was taken for the output.",
        Wrong("rten PR 1369", largest_if_several, "shape", Case(((), (0, 0))), "numpy", "shape"),
        *("(0, 0)", "(1, 1)"),
    ),
    Exhibit(
        *(MAXIMUM, 2026),
        "Of a target that comes at run time each size was taken to be at least 1.",
        Wrong("MIGraphX PR 4927", none_is_zero, "shape", TARGET, "expand", "shape"),
        *("(0,)", "(1,)"),
    ),
    Exhibit(
        *(MAXIMUM, 2026),
        "How often an axis is repeated was found by a division, also by a size of 0.",
        Wrong("tt-mlir 6975", divides, "refuses", Case(((0,),), (0,)), ONE_WAY, "shape"),
        *("(0,)", "ArithmeticError: division by 0"),
    ),
    Exhibit(
        *(ALIGNMENT, 2026),
        "Where one of two sizes is 1, the output had the 1.",
        Wrong("XNNPACK PR 10650", ones_win, "shape", Case(((0,), (1,))), "numpy", "shape"),
        *("(0,)", "(1,)"),
    ),
    Exhibit(
        *(ALIGNMENT, 2026),
        "The sizes that a tensor has already were looked for from the first axis on.",
        Wrong(
            *("XNNPACK PR 11203", grows_from_the_front, "shape"),
            *(Case(((0,),), (0, 0)), ONE_WAY, "shape"),
        ),
        *("(0, 0)", "(1, 0)"),
    ),
    Exhibit(
        *(ALIGNMENT, 2026),
        "A tensor of rank 3 beside one of rank 4 got its missing axis behind the first one.",
        Wrong("LiteRT 8980", first_axis_first, "elements", Case(((2, 1), (2, 1, 1))), "numpy"),
        *("array 0: at (0, 1, 0) 33686018", "array 0: at (0, 1, 0) 16843009"),
    ),
    Exhibit(
        *(LIMITS, 2026),
        "Lists for 8 axes stood on the stack, and a ninth was written behind them.",
        Wrong("tensorflow 124845", nine_axes, "shape", Case(((0,) * 8 + (1,),)), "numpy", "shape"),
        *("(0, 0, 0, 0, 0, 0, 0, 0, 1)", "(0, 0, 0, 0, 0, 0, 0, 0, 0)"),
    ),
    Exhibit(
        *(LIMITS, 2026),
        "From rank 7 on one counter went over all outer axes, and past the end of a tensor.",
        Wrong(
            *("tt-metal 55351", one_counter_beyond_6, "elements"),
            *(Case(((2, 1, 1, 1, 1, 1), (2, 1, 1, 1, 1, 1, 1))), "numpy"),
        ),
        "array 1: at (0, 1, 0, 0, 0, 0, 0) 640034342",
        "array 1: at (0, 1, 0, 0, 0, 0, 0) 656877351",
    ),
    Exhibit(
        *(LIMITS, 2026),
        "Expand of a constant was computed when a model was loaded, of whatever size.",
        Wrong(
            *("onnxruntime PR 28055", folds, "memory"),
            *(Case(((),), (2147483648,)), "expand", "shape"),
        ),
        *("(2147483648,)", "MemoryError: no room"),
    ),
    Exhibit(
        *(STRIDES, 2026),
        "What was expanded was written to in place, where all its rows are one in memory.",
        Wrong("pytorch 183986", rows_that_are_one, "writable", Case(((), (2,))), "numpy"),
        "array 0: read-only, or in memory of its own",
        "array 0: writable, in memory that it shares",
    ),
    Exhibit(
        *(STRIDES, 2026),
        "An axis of size 1 with a stride of 0 left the output as it was, without an error.",
        Wrong(
            *("pytorch 195066", short_rows, "elements"),
            *(Case(((1, 1),), layouts=("broadcast",)), "sonnx"),
        ),
        *("array 0: at (0, 0) 16843009", "array 0: at (0, 0) 0"),
    ),
    Exhibit(
        *(ONE_SIDED, 2026),
        "`broadcast_to` let the target grow as well.",
        Wrong("NumSharp 536", numpy_rule.broadcast_shapes, "accepts", LOWER, ONE_WAY, "shape"),
        *(NO_AXIS, "(0,)"),
    ),
    Exhibit(
        *(ONE_SIDED, 2026),
        "A bias of rank 5 was fused into an operator that takes one of rank 2 at most.",
        Wrong("OnnxSlim 323", last_axes_fit, "accepts", LOWER, ONE_WAY, "verdict"),
        *(NO_AXIS, "True"),
    ),
    Exhibit(
        *(GRADIENTS, 2017),
        "The gradient of a row that was added to a matrix had the matrix's shape.",
        Wrong("nd4j 2424", not_summed, "shape", TARGET, "numpy", "adjoint"),
        *("()", "(0,)"),
    ),
    Exhibit(
        *(GRADIENTS, 2017),
        "By a product of tensors that both grow, each got a gradient of the output's shape.",
        Wrong("pytorch 1787", not_summed, "shape", TARGET, "numpy", "adjoint"),
        *("()", "(0,)"),
    ),
    Exhibit(
        *(GRADIENTS, 2017),
        "Axes that were new in front stayed in the gradient.",
        Wrong("pytorch 998", new_axes_stay, "shape", TARGET, "numpy", "adjoint"),
        *("()", "(1,)"),
    ),
    Exhibit(
        *(GRADIENTS, 2020),
        "The gradient of a scalar that was multiplied by a vector was a vector.",
        Wrong("rust-autograd 38", scalars_not_summed, "shape", TARGET, "numpy", "adjoint"),
        *("()", "(0,)"),
    ),
    Exhibit(
        *(NAMED, 2026),
        "A size n beside 4 was taken for 4; it may be 1 as well.",
        Wrong(
            *("tvm PR 20218", number_for_name, "shape"),
            *(sized((2,), ("N", "N")), "numpy", "symbolic"),
        ),
        "(N, 2) if N = 1 or N = 2, so (1, 2) where N = 1",
        "(2, 2), so (2, 2) where N = 1",
    ),
    Exhibit(
        *(NAMED, 2025),
        "The output had the larger of two sizes, of which one with a name is at least 1.",
        Wrong("rten PR 1150", larger, "shape", sized((0,), ("N",)), "numpy", "symbolic"),
        *("(0,) if N = 1 or N = 0, so (0,) where N = 1", "(N,), so (1,) where N = 1"),
    ),
    Exhibit(
        *(NAMED, 2026),
        "An unknown size, here M, beside N gave N: its source of August 2026 says so, no issue.",
        Wrong("pyrefly", first_name, "shape", sized(("N",), ("M",)), "numpy", "symbolic"),
        "(N|M,) if N = 1 or M = 1 or N = M, so (2,) where N = 1, M = 2",
        "(N,), so (1,) where N = 1, M = 2",
    ),
)
