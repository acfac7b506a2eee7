"""Public bugs, most of 2024 to 2026, each rebuilt as a function that `check` has to catch.

Each function follows the report of the bug, without code of the project. If the bug lies in another
operation, such as a matrix product, the function contains only the broadcasting.
"""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable, Iterator, Sequence
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
    """A public bug, a function with this bug, and the report's words about the smallest case."""

    group: str
    year: int
    said: str
    wrong: Wrong
    expected: str
    got: str


def padded(shapes: Sequence[Shape]) -> list[Shape]:
    rank = max(map(len, shapes))
    return [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]


def largest(*shapes: Shape) -> Shape:
    numpy_rule.broadcast_shapes(*shapes)
    return tuple([max(sizes) for sizes in zip(*padded(shapes), strict=True)])


def fit_the_largest(*shapes: Shape) -> bool:
    axes = zip(*padded(shapes), strict=True)
    return all(size in (1, max(sizes)) for sizes in axes for size in sizes)


def largest_or_error(*shapes: Shape) -> Shape:
    if not fit_the_largest(*shapes):
        raise ValueError("a size is neither 1 nor the largest")
    return largest(*shapes)


def largest_if_several(*shapes: Shape) -> Shape:
    return (largest if max(map(len, shapes)) > 1 else numpy_rule.broadcast_shapes)(*shapes)


def none_is_zero(shape: Shape, target: Shape) -> Shape:
    return tuple([max(1, size) for size in numpy_rule.broadcast_shapes(shape, target)])


def reads_an_empty_list(*arrays: Array) -> Any:
    found = [z.copy() for z in numpy_rule.broadcast_arrays(*arrays)]
    sizes = [x.size for x in arrays if x.ndim == 1 and x.dtype.kind == "i"]
    if len(arrays) == len(sizes) == 2 and min(sizes) < max(sizes) == 1:
        signal.raise_signal(signal.SIGSEGV)
    return found


def ones_win(*shapes: Shape) -> Shape:
    def two(first: Shape, second: Shape) -> Shape:
        common = min(len(first), len(second))
        axes = zip(*padded([first, second]), strict=True)
        sizes = [a if a == b else 1 if 1 in (a, b) else max(a, b) for a, b in axes]
        longer = max(first, second, key=len)
        return longer[: len(longer) - common] + tuple(sizes[len(longer) - common :])

    numpy_rule.broadcast_shapes(*shapes)
    return reduce(two, shapes)


def grows_from_the_front(shape: Shape, target: Shape) -> Shape:
    if RULES["openvino-numpy"].shape(Operands((shape,), target)) is None:
        raise ValueError("they do not fit")
    same = [a == b for a, b in zip(shape, target, strict=False)] + [False] * len(target)
    zeros = [1 if there else size for there, size in zip(same, target, strict=False)]
    return numpy_rule.broadcast_shapes(shape, tuple(zeros))


def divides(shape: Shape, target: Shape) -> Shape:
    if RULES["openvino-numpy"].shape(Operands((shape,), target)) is not None and 0 in shape:
        raise ArithmeticError("division by 0")
    return numpy_rule.broadcast_to(np.broadcast_to(np.int8(0), shape), target).shape


def first_axis_first(*arrays: Array) -> list[Array]:
    found = []
    for x, z in zip(arrays, numpy_rule.broadcast_arrays(*arrays), strict=True):
        shape = x.shape[:1] + (1,) * (z.ndim - x.ndim) + x.shape[1:]
        fits = x.ndim > 1 and all(a in (1, b) for a, b in zip(shape, z.shape, strict=True))
        found.append(np.broadcast_to(x.reshape(shape), z.shape).copy() if fits else z.copy())
    return found


def nine_axes(*shapes: Shape) -> Shape:
    """Keep room for eight sizes: the strides, which follow, overwrite a ninth."""
    common = numpy_rule.broadcast_shapes(*shapes)
    memory = [*common, *[0] * 16]
    memory[8 : 8 + len(common)] = [math.prod(common[k + 1 :]) for k in range(len(common))]
    return tuple(memory[: len(common)])


def one_counter_beyond_6(*arrays: Array) -> list[Array]:
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
    common = numpy_rule.broadcast_shapes(shape, target)
    if math.prod(common) >= 2**31:
        raise MemoryError("no room")
    return common


def rows_that_are_one(*arrays: Array) -> list[Array]:
    found = []
    for x, z in zip(arrays, numpy_rule.broadcast_arrays(*arrays), strict=True):
        grows = x.size < z.size and x.dtype.kind != "T"
        found.append(as_strided(x, z.shape, z.strides) if grows else z.copy())
    return found


# The code takes a matrix's first stride for the length of a row. If this is too short, the code
# returns without an error or an output (here: zeros). But on an axis of size 1 any stride is right.
short_rows = zeros_where(
    lambda xs: any(
        x.ndim == 2 and len(x) == 1 and abs(x.strides[0]) < x.shape[1] * x.itemsize for x in xs
    )
)


def last_axes_fit(shape: Shape, target: Shape) -> bool:
    """Return whether a sum is possible, even if the sum does not have the target's shape."""
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False))


def fit(delta: Array, shape: Shape) -> None:
    """Refuse a shape that does not broadcast to the gradient's shape."""
    numpy_rule.broadcast_to(np.broadcast_to(np.int8(0), shape), delta.shape)


def not_summed(delta: Array, shape: Shape) -> Array:
    fit(delta, shape)
    return delta.copy()


def new_axes_stay(delta: Array, shape: Shape) -> Array:
    fit(delta, shape)
    sizes = (1,) * (delta.ndim - len(shape)) + tuple(shape)
    return whycast.sum_to_shape(delta, sizes)


def scalars_not_summed(delta: Array, shape: Shape) -> Array:
    return whycast.sum_to_shape(delta, shape) if shape else delta.copy()


def named(choose: Callable[[int, list[str], dict[str, int]], Any]) -> Callable[..., Any]:
    def function(*shapes: Any) -> tuple[Any, ...]:
        numbers = [tuple([1 if isinstance(size, str) else size for size in s]) for s in shapes]
        columns = zip(*padded(shapes), strict=True)
        names = [list(dict.fromkeys(size for size in sizes if size in NAMES)) for sizes in columns]
        axes = list(zip(numpy_rule.broadcast_shapes(*numbers), names, strict=True))
        beside = {name: number for number, names in axes for name in names if number > 1}
        return tuple([choose(number, names, beside) for number, names in axes])

    return function


def one_name(names: list[str]) -> str | None:
    return names[0] if len(names) == 1 else None


larger = named(lambda number, names, _: one_name(names) if number <= 1 and names else number)
first_name = named(lambda number, names, _: names[0] if names and number == 1 else number)
number_for_name = named(
    lambda number, names, beside: (
        beside.get(names[0], one_name(names)) if names and number == 1 else number
    )
)

SCALAR = Case(((), (0,)))
TARGET = Case(((),), (0,))
LOWER = Case(((0,),), ())
ROWS = Case(((1, 1),), layouts=("broadcast",))
SHORTER = Case(((2, 1), (2, 1, 1)))
SEVEN = Case(((2, 1, 1, 1, 1, 1), (2, 1, 1, 1, 1, 1, 1)))
SHAPE, DATA = ("numpy", "shape"), ("numpy", "data")
BOTH_WAYS, ONE_WAY = "openvino-bidirectional", "openvino-numpy"
GRADIENT, NAMED = ("numpy", "adjoint"), ("numpy", "symbolic")

# The function, its kind of deviation, the smallest case, the rule and the level.
REBUILT: dict[str, tuple[Any, str, Case, str, Any]] = {
    "burn 5334": (largest_or_error, "refuses", SCALAR, *SHAPE),
    "burn 5287": (largest, "shape", SCALAR, *SHAPE),
    "openvino PR 31156": (largest, "shape", TARGET, BOTH_WAYS, "shape"),
    "onnxruntime PR 25663": (fit_the_largest, "refuses", SCALAR, "numpy", "verdict"),
    "onnx 6294": (reads_an_empty_list, "crash", Case(((0,), (1,))), *DATA),
    "rten PR 1369": (largest_if_several, "shape", Case(((), (0, 0))), *SHAPE),
    "MIGraphX PR 4927": (none_is_zero, "shape", TARGET, "expand", "shape"),
    "tt-mlir 6975": (divides, "refuses", Case(((0,),), (0,)), ONE_WAY, "shape"),
    "XNNPACK PR 10650": (ones_win, "shape", Case(((0,), (1,))), *SHAPE),
    "XNNPACK PR 11203": (grows_from_the_front, "shape", Case(((0,),), (0, 0)), ONE_WAY, "shape"),
    "LiteRT 8980": (first_axis_first, "elements", SHORTER, *DATA),
    "tensorflow 124845": (nine_axes, "shape", Case(((0,) * 8 + (1,),)), *SHAPE),
    "tt-metal 55351": (one_counter_beyond_6, "elements", SEVEN, *DATA),
    "onnxruntime PR 28055": (folds, "memory", Case(((),), (2147483648,)), "expand", "shape"),
    "pytorch 183986": (rows_that_are_one, "writable", Case(((), (2,))), *DATA),
    "pytorch 195066": (short_rows, "elements", ROWS, "sonnx", "data"),
    "NumSharp 536": (numpy_rule.broadcast_shapes, "accepts", LOWER, ONE_WAY, "shape"),
    "OnnxSlim 323": (last_axes_fit, "accepts", LOWER, ONE_WAY, "verdict"),
    "nd4j 2424": (not_summed, "shape", TARGET, *GRADIENT),
    "pytorch 1787": (not_summed, "shape", TARGET, *GRADIENT),
    "pytorch 998": (new_axes_stay, "shape", TARGET, *GRADIENT),
    "rust-autograd 38": (scalars_not_summed, "shape", TARGET, *GRADIENT),
    "tvm PR 20218": (number_for_name, "shape", sized((2,), ("N", "N")), *NAMED),
    "rten PR 1150": (larger, "shape", sized((0,), ("N",)), *NAMED),
    "pyrefly": (first_name, "shape", sized(("N",), ("M",)), *NAMED),
}

# Name, year and fault; then, for the smallest case, the right answer and the wrong answer.
TOLD = """
# The maximum in place of the size that is not 1
burn 5334, 2026: A size of 0 beside a 1 was compared with the larger of the two, and refused.
(0,)  |  ValueError: a size is neither 1 nor the largest
burn 5287, 2026: The output had the larger of two sizes: 1 beside a 0.
(0,)  |  (1,)
openvino PR 31156, 2025: In mode bidirectional, 1 and 0 became 1, in either order.
(0,)  |  (1,)
onnxruntime PR 25663, 2025: A stack without matrices was refused beside a stack of one matrix.
(0,)  |  a refusal
onnx 6294, 2024: The code read an element of an empty list, because the other list had an element.
int32 (0,) [], int32 (0,) []  |  the process was ended by SIGSEGV
rten PR 1369, 2026: For several summed axes the output had the larger of two sizes.
(0, 0)  |  (1, 1)
MIGraphX PR 4927, 2026: The code assumed that sizes of a target at run time are at least 1.
(0,)  |  (1,)
tt-mlir 6975, 2026: The number of repetitions came from a division, also by a size of 0.
(0,)  |  ArithmeticError: division by 0

# Alignment, and the shape of the output
XNNPACK PR 10650, 2026: If one of two sizes is 1, the output had the 1.
(0,)  |  (1,)
XNNPACK PR 11203, 2026: The code looked for a tensor's sizes from the first axis on.
(0, 0)  |  (1, 0)
LiteRT 8980, 2026: A tensor of rank 3 beside one of rank 4 got its missing axis behind the first.
array 0: at (0, 1, 0) 33686018  |  array 0: at (0, 1, 0) 16843009

# Limits of rank, memory, overflow
tensorflow 124845, 2026: The stack had lists for 8 axes; the code wrote a ninth behind them.
(0, 0, 0, 0, 0, 0, 0, 0, 1)  |  (0, 0, 0, 0, 0, 0, 0, 0, 0)
tt-metal 55351, 2026: At rank 7 or more, a counter ran over all outer axes, past the tensor's end.
array 1: at (0, 1, 0, 0, 0, 0, 0) 640034342  |  array 1: at (0, 1, 0, 0, 0, 0, 0) 656877351
onnxruntime PR 28055, 2026: Loading a model computed Expand of a constant, of any size.
(2147483648,)  |  MemoryError: no room

# Strides of 0
pytorch 183986, 2026: Code wrote in place to an expanded tensor, whose rows share memory.
array 0: read-only, or in memory of its own  |  array 0: writable, in memory that it shares
pytorch 195066, 2026: With size 1 and stride 0, the output stayed unchanged, without an error.
array 0: at (0, 0) 16843009  |  array 0: at (0, 0) 0

# One-sided rules, and rewriters
NumSharp 536, 2026: `broadcast_to` let the target grow as well.
{no_axis}  |  (0,)
OnnxSlim 323, 2026: A bias of rank 5 was fused into an operator that takes at most rank 2.
{no_axis}  |  True

# Gradients that are not summed
nd4j 2424, 2017: The gradient of a row that was added to a matrix had the matrix's shape.
()  |  (0,)
pytorch 1787, 2017: Two tensors that both grow in a product got gradients of the output's shape.
()  |  (0,)
pytorch 998, 2017: New leading axes stayed in the gradient.
()  |  (1,)
rust-autograd 38, 2020: The gradient of a scalar that was multiplied by a vector was a vector.
()  |  (0,)

# Sizes that have names
tvm PR 20218, 2026: A size n beside 4 was taken for 4; it may also be 1.
(N, 2) if N = 1 or N = 2, so (1, 2) where N = 1  |  (2, 2), so (2, 2) where N = 1
rten PR 1150, 2025: The output had the larger of two sizes; a name counted as at least 1.
(0,) if N = 1 or N = 0, so (0,) where N = 1  |  (N,), so (1,) where N = 1
pyrefly, 2026: An unknown size, here M, beside N became N (source code of August 2026, no issue).
(N|M,) if N = 1 or M = 1 or N = M, so (2,) where N = 1, M = 2  |  (N,), so (1,) where N = 1, M = 2
"""
NO_AXIS = (
    "refusal: data of shape (0,) does not broadcast to target_shape (): target_shape has no axis "
    "for axis 0 of data, of size 0; expected a rank of at least 1, got 0"
)


def exhibits() -> Iterator[Exhibit]:
    for room in TOLD.format(no_axis=NO_AXIS).split("# ")[1:]:
        group, *lines = room.split("\n")
        for first, second in zip(*[filter(None, lines)] * 2, strict=True):
            ((name, year, said),) = re.findall(r"^(.*), (\d+): (.*)$", first)
            yield Exhibit(
                group, int(year), said, Wrong(name, *REBUILT[name]), *second.split("  |  ")
            )


MUSEUM = tuple(exhibits())
