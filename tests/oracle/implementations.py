"""Implementations of broadcasting, each wrong in one way, and what `check` must find."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided

import whycast
from whycast import numpy_rule, symbolic
from whycast._rules import RULES, Operands
from whycast.testing import Case

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
Function = Callable[..., Any]

# A program that answers 500 requests, then sleeps.
PROGRAM = ["sh", "-c", f"sed -u 500q | {sys.executable} -m whycast serve; sleep $0", "61.75"]


class Wrong(NamedTuple):
    """A wrong implementation, its kind of deviation, and the smallest case that shows it.

    `cases` is the number of deviating cases, if a test checks it; `expected` and `got` are patterns
    for the report's words.
    """

    name: str
    target: Function | Sequence[str]
    kind: str
    case: Case | None
    rule: str = "sonnx"
    level: Any = "data"
    every: int = 1
    cases: int | None = None
    expected: str = ""
    got: str = ""
    asked: Mapping[str, Any] = MappingProxyType({})


def sized(*shapes: Any) -> Case:
    return Case(shapes)


def assert_ends(word: str) -> None:
    """Demand that every process with this argument ends soon; a killed process stays a moment."""

    def started() -> Iterator[list[str]]:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            # A process may end before its file is read.
            with suppress(OSError):
                yield path.read_text(errors="replace").split("\0")

    deadline = time.monotonic() + 30
    while any(word in words for words in started()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def right(*arrays: Array) -> tuple[Array, ...]:
    shape = whycast.broadcast_shapes(*[x.shape for x in arrays])
    results = tuple([np.empty(shape, x.dtype) for x in arrays])
    for x, z in zip(arrays, results, strict=True):
        z[...] = x
    return results


def each(change: Callable[[Array], object]) -> Function:
    return lambda *arrays: [change(z.copy()) for z in whycast.broadcast(*arrays)]


def zeros_where(condition: Callable[[Sequence[Array]], Any]) -> Function:
    def function(*arrays: Array) -> list[Array]:
        wrong = condition(arrays)
        return [np.zeros_like(z) if wrong else z.copy() for z in whycast.broadcast(*arrays)]

    return function


def where(condition: Callable[[Sequence[Any]], bool], act: Callable[[], object]) -> Function:
    """Return a function that acts if the condition holds, then answers rightly."""

    def function(*given: Any) -> Any:
        if condition(given):
            act()
        arrays = isinstance(given[0], np.ndarray)
        return whycast.broadcast(*given, copy=True) if arrays else whycast.compatible(*given)

    return function


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def act() -> NoReturn:
        raise error

    return act


def always(error: BaseException) -> Function:
    return where(lambda _: True, raising(error))


def is_float(z: Array) -> bool:
    return z.dtype.kind == "f"


def three(given: Sequence[object]) -> bool:
    return len(given) == 3


ONE = Case(((2,), (1,)))


def one_case(shapes: Sequence[Shape]) -> bool:
    return shapes == ONE.shapes


def swapped(z: Array) -> Array:
    square = z.ndim > 1 and z.shape[-1] == z.shape[-2]
    return z.swapaxes(-1, -2).copy() if square else z


def strings_turned(z: Array) -> Array:
    """Reverse each row of strings, except its first string."""
    if z.ndim and z.dtype.kind in "OTU":
        z[..., 1:] = z[..., :0:-1].copy()
    return z


def nan_canonical(*arrays: Array) -> list[Array]:
    results = [z.copy() for z in whycast.broadcast(*arrays)]
    for z in results:
        if is_float(z):
            z[np.isnan(z)] = np.nan
    return results


def writable_alias(*arrays: Array) -> list[Array]:
    views = whycast.broadcast(*arrays)
    return [
        as_strided(x, z.shape, z.strides) if x.flags.writeable and x.dtype.kind != "T" else z
        for x, z in zip(arrays, views, strict=True)
    ]


wrong_at_rank_5 = zeros_where(lambda arrays: max(x.ndim for x in arrays) == 5)


def tiles_divisors(*arrays: Array) -> list[Array]:
    """Repeat every size that divides the largest, not only 1."""
    rank = max(x.ndim for x in arrays)
    padded = [x.reshape((1,) * (rank - x.ndim) + x.shape) for x in arrays]
    shape = tuple([max(sizes) for sizes in zip(*[x.shape for x in padded], strict=True)])
    results = []
    for x in padded:
        pairs = zip(x.shape, shape, strict=True)
        z = np.tile(x, [grown // own if own else grown + 1 for own, grown in pairs])
        if z.shape != shape:
            raise ValueError("sizes do not divide")
        results.append(z)
    return results


def changes_its_input(*arrays: Array) -> Sequence[Array]:
    results = whycast.broadcast(*arrays, copy=True)
    for x in arrays:
        if x.flags.writeable and x.ndim == 2 and x.size:
            x.flat[0] = x.flat[-1]
    return results


def locks(*arrays: Array) -> Sequence[Array]:
    for x in arrays:
        x.flags.writeable = False
    return whycast.broadcast(*arrays)


def renames(*arrays: Array) -> Sequence[Array]:
    found = whycast.broadcast(*arrays, copy=True)
    if arrays[0].dtype == "i4":
        vars(np.ndarray)["dtype"].__set__(arrays[0], "V4")
    return found


BUFFER = np.empty(2**16)


def kept(results: Iterable[Array]) -> list[Array]:
    """Copy results to memory that the next call uses again."""
    found, place = [], 0
    for z in results:
        if z.dtype.hasobject or z.nbytes > BUFFER.nbytes - place:
            found.append(z.copy())
            continue
        found.append(np.ndarray(z.shape, z.dtype, BUFFER.data, place))
        found[-1][...] = z
        place += -(-z.nbytes // 16) * 16
    return found


def looked_up(*shapes: Shape) -> Shape:
    """Refuse by an internal error."""
    return {True: shapes}[whycast.compatible(*shapes)][0]


hangs = where(three, lambda: time.sleep(1000))
exits_at_once = where(three, lambda: os._exit(0))


def eat() -> None:
    eaten = []
    while True:
        eaten.append(np.ones(2**17))
        # On a busy machine the checker needs time to notice the memory.
        time.sleep(0.001)


class Holder:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Closed(Holder):
    """An array that raises on every access."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("detach it first")

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def does_nothing(*arguments: object) -> None:
    """Refuse everything."""


def copied_strides(shape: Shape, strides: Shape, target: Shape) -> Shape:
    whycast.broadcast_strides(shape, strides, target)
    return (0,) * (len(target) - len(shape)) + tuple(strides)


def last_axis_at_fault(*shapes: Shape) -> Shape:
    """Refuse rightly, but always name the last axis."""
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError:
        raise ValueError(f"axis {max(map(len, shapes)) - 1} is wrong") from None


def sorts_axes(array: Array, target: Shape, axes: Shape) -> Array:
    rightly = whycast.lax.broadcast_in_dim(array, target, axes)
    try:
        return whycast.lax.broadcast_in_dim(array, target, sorted(axes))
    except ValueError:
        return rightly


def half_of_the_bits(*given: Shape) -> list[int]:
    return [i & 0x7FFFFFFF for i in whycast.source_index(*given)]


def true_for_1(*shapes: Shape) -> list[int]:
    return [size == 1 or size for size in whycast.broadcast_shapes(*shapes)]


def refuses_n(*shapes: Any) -> Any:
    return None if "N" in repr(shapes) else numpy_rule.broadcast_shapes(*shapes)


def open_to_all(*shapes: Any) -> list[None]:
    return [None] * max(map(len, shapes))


def named(change: Callable[[Any], object]) -> Function:
    """Change the right answer by NumPy's rule for shapes with names."""
    return lambda *shapes: change(symbolic.broadcast_shapes(*shapes, rule="numpy"))


def refuses(size: float, deadly: tuple[Shape, ...] = (), rank: float = math.inf) -> Function:
    """Refuse sizes from `size` on and ranks from `rank` on; end the process at `deadly`."""

    def function(*shapes: Shape) -> bool:
        if shapes == deadly:
            os._exit(3)
        small = all(n < size for shape in shapes for n in shape)
        return whycast.compatible(*shapes) and small and max(map(len, shapes)) < rank

    return function


def few_axes(shape: Shape, target: Shape, axes: Shape) -> bool:
    fits = RULES["in-dim"].shape(Operands((shape,), target, axes)) is not None
    return fits and (len(target) <= 4 or len(axes) <= 2)


def summed(change: Callable[[Array, Array], Any]) -> Function:
    """Change the right gradient; `change` also takes the gradient of the output."""
    return lambda delta, shape: change(whycast.sum_to_shape(delta, shape), delta)


def float32_inside(right: Array, delta: Array) -> Array:
    inside = delta.astype("f4") if delta.dtype == "f8" else delta
    return whycast.sum_to_shape(inside, right.shape).astype(delta.dtype)


def reversed_rows(right: Array, delta: Array) -> Array:
    return whycast.sum_to_shape(delta[::-1] if delta.ndim > 1 else delta, right.shape)


MEAN = summed(lambda z, d: z // (2 if z.size < d.size else 1))
NARROW = summed(lambda z, d: z.astype("i2" if d.dtype == "i4" else d.dtype))
A_LIST = summed(lambda z, d: list(z) if z.shape == (1,) else z)

SCALARS = Case(((), ()))
THREE = Case(((), (), ()))
HALF = Case(((2,),), dtypes=("float16",))
STRINGS = Case(((3,),), dtypes=("StringDType",))
HALF_OF_0 = Case(((),), dtypes=("float16",))
STRIDES = Case(((1,),), (2,), strides=(4,))
ROWS = Case(((2, 1),), (2, 1))
AXES = Case(((1,) * 3,), (1,) * 5, (0, 1, 2))
NAMES, GRADIENTS = ("numpy", "symbolic"), ("numpy", "adjoint")
VERDICT, SHAPE = ("sonnx", "verdict"), ("sonnx", "shape")
CLOSED = (
    "^array 0: an object of type Closed, of which no array can be made: RuntimeError: detach it "
    "first$"
)
ODD_TEXT, SHOWN = "\x1b[31m\0\udc80" + 10_000 * "x", r"^ValueError: \\x1b\[31m\\x00\\udc80xxx"

WRONG = (
    Wrong("swapped axes", each(swapped), "elements", Case(((), (2, 2)))),
    Wrong("strings turned", each(strings_turned), "elements", STRINGS, got=r"^array 0: at \(1,\) "),
    Wrong("flattened", each(np.ravel), "shape", SCALARS),
    Wrong("dtype", each(lambda z: z.astype("f4") if z.dtype == "f2" else z), "dtype", HALF_OF_0),
    Wrong("one NaN", nan_canonical, "nan", HALF),
    Wrong("plus 0", each(lambda z: z + z.dtype.type(0) if is_float(z) else z), "zero", HALF),
    Wrong("writable alias", writable_alias, "writable", SCALARS),
    Wrong("static buffer", lambda *xs: kept(whycast.broadcast(*xs)), "overwritten", None, every=5),
    Wrong("tiles divisors", tiles_divisors, "accepts", Case(((2,), (4,)))),
    Wrong("changes its input", changes_its_input, "input changed", Case(((), (1, 2)))),
    Wrong("locks", locks, "input changed", SCALARS, every=20, expected="writable", got="read-only"),
    Wrong("renames", renames, "input changed", SCALARS, every=20, expected="int32", got=r"\|V4"),
    Wrong("hangs", hangs, "hang", THREE),
    Wrong("exits at once", exits_at_once, "exit", THREE),
    Wrong("eats memory", where(three, eat), "memory", THREE),
    Wrong("one array", lambda *xs: whycast.broadcast(*xs)[0].copy(), "no array", SCALARS),
    Wrong("forgets the last", lambda *xs: right(*xs)[: max(1, len(xs) - 1)], "count", SCALARS),
    Wrong("closed", each(Closed), "no array", SCALARS, every=20, got=CLOSED),
    Wrong("silent", always(SilentError()), "refuses", SCALARS, every=10, got="^SilentError$"),
    Wrong("odd text", always(ValueError(ODD_TEXT)), "refuses", SCALARS, every=100, got=SHOWN),
    Wrong("program hangs", PROGRAM, "hang", None, every=9),
    Wrong("does nothing", does_nothing, "refuses", SCALARS, *VERDICT),
    Wrong("32 bits", half_of_the_bits, "index", None, "sonnx", "index"),
    Wrong("true for a size", true_for_1, "shape", Case(((), (1,))), *SHAPE, got=r"^\[True\]$"),
    Wrong("last axis at fault", last_axis_at_fault, "axis", Case(((), (0, 0))), level="report"),
    Wrong("copied strides", copied_strides, "strides", STRIDES, level="strides"),
    Wrong("order of axes", sorts_axes, "elements", Case(((1, 2),), (2, 2), (1, 0)), "in-dim"),
    Wrong("axes of a high rank", few_axes, "refuses", AXES, "in-dim", "verdict"),
    Wrong(
        *("an error that is no refusal", looked_up, "error", None, *VERDICT),
        expected="^a refusal by ValueError$",
        got="^KeyError: False$",
        asked={"refuses": ["ValueError"]},
    ),
    # For sizes with names, a refusal is wrong only if the shapes broadcast for all numbers.
    Wrong("no names", refuses_n, "refuses", sized((), ("N",)), *NAMES),
    Wrong(
        *("open to all", open_to_all, "accepts", Case(((0,), (2,))), *NAMES),
        expected="^refusal: shapes never broadcast: axis 0 of ",
        got=r"^\(\?,\)$",
    ),
    Wrong(
        "no condition",
        named(lambda found: (found.shape, found.condition[:0])),
        *("condition", sized((0,), ("N",)), *NAMES),
        expected=r"^\(0,\) if N = 1 or N = 0$",
        got=r"^\(0,\), also where N = 2$",
    ),
    Wrong(
        "no clause",
        named(lambda found: (found.shape, ["N > 1"])),
        *("garbage", SCALARS, *NAMES),
        got="ValueError: expected such as 'N = 1 or N = M', got 'N > 1'$",
    ),
    Wrong("conjugate", summed(lambda z, d: z.conj()), "elements", None, *GRADIENTS),
    Wrong("reversed gradient", summed(reversed_rows), "elements", ROWS, *GRADIENTS),
    Wrong("mean", MEAN, "elements", Case(((),), (2,)), *GRADIENTS, asked={"dtypes": ["int32"]}),
    Wrong("float32 inside", summed(float32_inside), "elements", None, *GRADIENTS, got=r"^at "),
    Wrong("narrow", NARROW, "dtype", Case(((),), ()), *GRADIENTS),
    Wrong("a list", A_LIST, "no array", Case(((1,),), (0,)), *GRADIENTS),
    # MemoryError, exceptions outside the class Exception, and ends of the process.
    *[
        Wrong(f"one {kind} {got[1:9]}", where(one_case, act), kind, ONE, *VERDICT, 1, 1, got=got)
        for act, kind, got in (
            (raising(KeyboardInterrupt()), "exit", "^the process ended with exit code 1$"),
            (raising(SystemExit(3)), "exit", "^SystemExit: 3$"),
            (raising(MemoryError("no room")), "memory", "^MemoryError: no room$"),
            (raising(GeneratorExit("no more")), "refuses", "^GeneratorExit: no more$"),
            (os.abort, "crash", "by SIGABRT$"),
        )
    ],
    Wrong(
        "deadly sizes",
        where(lambda shapes: any(65 in shape for shape in shapes), lambda: os._exit(3)),
        *("exit", Case(((65,),)), *VERDICT, 16),
        got="^the process ended with exit code 3$",
    ),
    # Small cases are right, so the check searches for a smaller example in steps. A step at which
    # the target dies is no example.
    *[
        Wrong(name, function, "refuses", case, *VERDICT, asked={"demand": {"size": 65, "rank": 65}})
        for name, function, case in (
            ("rank 65", refuses(math.inf, rank=65), Case(((1,) * 65,))),
            ("deadly step", refuses(65, ((32,),)), Case(((65,),))),
            ("last deadly step", refuses(65, ((64,),)), Case(((65,),))),
            ("after a deadly step", refuses(51, ((31,),)), Case(((51,),))),
        )
    ],
)


class Levels:
    verdict = staticmethod(whycast.compatible)
    shape = staticmethod(whycast.broadcast_shapes)
    strides = staticmethod(whycast.broadcast_strides)
    data = staticmethod(each(np.zeros_like))
