"""Implementations of broadcasting that are wrong in one way, and what `check` has to find.

Most of the ways are such that were seen or are easily made.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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

# It answers some questions, and then no more.
PROGRAM = ["sh", "-c", f"sed -u 500q | {sys.executable} -m whycast serve; sleep $0", "61.75"]


class Wrong(NamedTuple):
    """A wrong implementation; what kind of deviation it has, and the smallest case that shows it.

    `cases` is how many show it, where that is tested; `expected` and `got` are patterns of what the
    report says of it.
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
    """Make a case of shapes whose sizes may be names."""
    return Case(shapes)


def assert_ends(word: str) -> None:
    """Demand that no process with such a word is left; one that was killed stays a moment."""
    deadline = time.monotonic() + 30
    while any(word in words for words in started()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def started() -> Iterator[list[str]]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        # Others end while they are looked at.
        with suppress(OSError):
            yield path.read_text(errors="replace").split("\0")


# --- functions of arrays ----------------------------------------------------------------------


def right(*arrays: Array) -> tuple[Array, ...]:
    """Give copies, by NumPy's assignment of an array to another."""
    shape = whycast.broadcast_shapes(*[x.shape for x in arrays])
    results = tuple([np.empty(shape, x.dtype) for x in arrays])
    for x, z in zip(arrays, results, strict=True):
        z[...] = x
    return results


def each(change: Callable[[Array], object]) -> Function:
    """Change each array of the right answer."""
    return lambda *arrays: [change(z.copy()) for z in whycast.broadcast(*arrays)]


def zeros_where(condition: Callable[[Sequence[Array]], Any]) -> Function:
    def function(*arrays: Array) -> list[Array]:
        wrong = condition(arrays)
        return [np.zeros_like(z) if wrong else z.copy() for z in whycast.broadcast(*arrays)]

    return function


def where(condition: Callable[[Sequence[Any]], bool], act: Callable[[], object]) -> Function:
    """Do something before the right answer, to arrays or to shapes."""

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


def one_case(shapes: Sequence[Shape]) -> bool:
    return shapes == ((2,), (1,))


def swapped(z: Array) -> Array:
    """Swap rows and columns of square matrices."""
    square = z.ndim > 1 and z.shape[-1] == z.shape[-2]
    return z.swapaxes(-1, -2).copy() if square else z


def strings_turned(z: Array) -> Array:
    """Turn the strings of each row around, but for the first one."""
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
    """Repeat what divides the largest size, not only what is 1."""
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


def static(*arrays: Array) -> list[Array]:
    """Give results in memory of its own, which the next call takes again."""
    found, place = [], 0
    for z in whycast.broadcast(*arrays):
        if z.dtype.hasobject or z.nbytes > BUFFER.nbytes - place:
            found.append(z.copy())
            continue
        kept: Array = np.ndarray(z.shape, z.dtype, BUFFER.data, place)
        kept[...] = z
        found.append(kept)
        place += -(-z.nbytes // 16) * 16
    return found


def looked_up(*shapes: Shape) -> Shape:
    """Let an error of its own out where shapes are refused."""
    return {True: shapes}[whycast.compatible(*shapes)][0]


hangs = where(three, lambda: time.sleep(1000))
exits_at_once = where(three, lambda: os._exit(0))


def eat() -> None:
    eaten = []
    while True:
        eaten.append(np.ones(2**17))
        # No faster than who is to notice it gets a turn on a busy machine.
        time.sleep(0.001)


class Holder:
    """An array of another library."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Closed(Holder):
    """One that gives nothing away."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("detach it first")

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class SilentError(Exception):
    """One of which no more is known than its name."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


# --- at other levels --------------------------------------------------------------------------


def does_nothing(*arguments: object) -> None:
    """Refuse everything."""


def copied_strides(shape: Shape, strides: Shape, target: Shape) -> Shape:
    """Keep the stride of an axis that grows."""
    whycast.broadcast_strides(shape, strides, target)
    return (0,) * (len(target) - len(shape)) + tuple(strides)


def last_axis_at_fault(*shapes: Shape) -> Shape:
    """Refuse rightly, and name the last axis whatever is wrong."""
    try:
        return whycast.broadcast_shapes(*shapes)
    except whycast.BroadcastError:
        raise ValueError(f"axis {max(map(len, shapes)) - 1} is wrong") from None


def sorts_axes(array: Array, target: Shape, axes: Shape) -> Array:
    """Put axes in increasing order first, where that fits too."""
    rightly = whycast.lax.broadcast_in_dim(array, target, axes)
    try:
        return whycast.lax.broadcast_in_dim(array, target, sorted(axes))
    except ValueError:
        return rightly


def named(change: Callable[[Any], object]) -> Function:
    """Change the right answer for shapes with names, by the rule of NumPy."""
    return lambda *shapes: change(symbolic.broadcast_shapes(*shapes, rule="numpy"))


def refuses(least: int, deadly: tuple[Shape, ...]) -> Function:
    """Refuse sizes from one on, and end the process at some shapes."""

    def function(*shapes: Shape) -> bool:
        if shapes == deadly:
            os._exit(3)
        sizes = [size for shape in shapes for size in shape]
        return whycast.compatible(*shapes) and max(sizes, default=0) < least

    return function


# --- what is to be found ----------------------------------------------------------------------

SCALARS = Case(((), ()))
THREE = Case(((), (), ()))
HALF = Case(((2,),), dtypes=("float16",))
ONE = Case(((2,), (1,)))
STRINGS = Case(((3,),), dtypes=("StringDType",))
HALF_OF_0 = Case(((),), dtypes=("float16",))
STRIDES = Case(((1,),), (2,), strides=(4,))
OF_NAMES = ("numpy", "symbolic")
OF_GRADIENTS = ("numpy", "adjoint")
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
    Wrong("static buffer", static, "overwritten", None, every=5),
    Wrong(
        "rank 65",
        lambda *shapes: whycast.compatible(*shapes) and max(map(len, shapes)) < 65,
        *("refuses", Case(((1,) * 65,)), "sonnx", "verdict"),
        asked={"demand": {"rank": 65}},
    ),
    Wrong(
        "32 bits",
        lambda *given: [i & 0x7FFFFFFF for i in whycast.source_index(*given)],
        *("index", None, "sonnx", "index"),
    ),
    Wrong(
        "true for a size",
        lambda *shapes: [size == 1 or size for size in whycast.broadcast_shapes(*shapes)],
        *("shape", Case(((), (1,))), "sonnx", "shape"),
        got=r"^\[True\]$",
    ),
    Wrong(
        "an error that is no refusal",
        looked_up,
        *("error", None, "sonnx", "verdict"),
        expected="^a refusal by ValueError$",
        got="^KeyError: False$",
        asked={"refuses": ["ValueError"]},
    ),
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
    Wrong("does nothing", does_nothing, "refuses", SCALARS, level="verdict"),
    # Of sizes that have names: refusals are wrong if the answer depends on no name.
    Wrong(
        "no names",
        lambda *shapes: None if "N" in repr(shapes) else numpy_rule.broadcast_shapes(*shapes),
        *("refuses", sized((), ("N",)), *OF_NAMES),
    ),
    Wrong(
        "open to all",
        lambda *shapes: [None] * max(map(len, shapes)),
        *("accepts", Case(((0,), (2,))), *OF_NAMES),
        expected="^refusal: shapes never broadcast: axis 0 of ",
        got=r"^\(\?,\)$",
    ),
    Wrong(
        "no condition",
        named(lambda found: (found.shape, found.condition[:0])),
        *("condition", sized((0,), ("N",)), *OF_NAMES),
        expected=r"^\(0,\) if N = 1 or N = 0$",
        got=r"^\(0,\), also where N = 2$",
    ),
    Wrong(
        "no clause",
        named(lambda found: (found.shape, ["N > 1"])),
        *("garbage", SCALARS, *OF_NAMES),
        got="ValueError: expected such as 'N = 1 or N = M', got 'N > 1'$",
    ),
    Wrong(
        "conjugate",
        lambda d, s: whycast.sum_to_shape(d, s).conj(),
        *("elements", None, *OF_GRADIENTS),
    ),
    # Gradients: of a wrong place, too inexact, or in a narrower dtype.
    Wrong(
        "reversed gradient",
        lambda d, s: whycast.sum_to_shape(d[::-1] if d.ndim > 1 else d, s),
        "elements",
        Case(((2, 1),), (2, 1)),
        *OF_GRADIENTS,
    ),
    Wrong(
        "mean",
        lambda d, s: whycast.sum_to_shape(d, s) // (2 if math.prod(s) < d.size else 1),
        *("elements", Case(((),), (2,)), *OF_GRADIENTS),
        asked={"dtypes": ["int32"]},
    ),
    Wrong(
        "float32 inside",
        lambda d, s: whycast.sum_to_shape(d.astype("f4") if d.dtype == "f8" else d, s).astype(
            d.dtype
        ),
        "elements",
        None,
        *OF_GRADIENTS,
        got=r"^at ",
    ),
    Wrong(
        "narrow",
        lambda d, s: whycast.sum_to_shape(d, s).astype("i2" if d.dtype == "i4" else d.dtype),
        "dtype",
        Case(((),), ()),
        *OF_GRADIENTS,
    ),
    Wrong(
        "a list",
        lambda d, s: list(whycast.sum_to_shape(d, s)) if s == (1,) else whycast.sum_to_shape(d, s),
        "no array",
        Case(((1,),), (0,)),
        *OF_GRADIENTS,
    ),
    Wrong("last axis at fault", last_axis_at_fault, "axis", Case(((), (0, 0))), level="report"),
    Wrong("copied strides", copied_strides, "strides", STRIDES, level="strides"),
    Wrong("order of axes", sorts_axes, "elements", Case(((1, 2),), (2, 2), (1, 0)), "in-dim"),
    # What is raised and is no exception; and how a process ends.
    *[
        Wrong(
            f"one {kind} {got[1:9]}",
            where(one_case, act),
            kind,
            ONE,
            "sonnx",
            "verdict",
            cases=1,
            got=got,
        )
        for act, kind, got in (
            (raising(KeyboardInterrupt()), "exit", "^the process ended with exit code 1$"),
            (raising(SystemExit(3)), "exit", "^SystemExit: 3$"),
            (raising(MemoryError("no room")), "memory", "^MemoryError: no room$"),
            (raising(GeneratorExit("no more")), "refuses", "^GeneratorExit: no more$"),
            (os.abort, "crash", "by SIGABRT$"),
        )
    ],
    Wrong("program hangs", PROGRAM, "hang", None, every=9),
    Wrong(
        "deadly sizes",
        where(lambda shapes: any(65 in shape for shape in shapes), lambda: os._exit(3)),
        *("exit", Case(((65,),)), "sonnx", "verdict", 16),
        got="^the process ended with exit code 3$",
    ),
    # What is wrong where nothing small is: a smaller example is looked for, step by step. A step on
    # which the target dies is none, neither before others that are asked then nor as the last one.
    *[
        Wrong(
            *(name, function, "refuses", Case(((size,),))),
            level="verdict",
            asked={"demand": {"size": 65}},
        )
        for name, function, size in (
            ("deadly step", refuses(65, ((32,),)), 65),
            ("last deadly step", refuses(65, ((64,),)), 65),
            ("after a deadly step", refuses(51, ((31,),)), 51),
        )
    ],
    Wrong(
        "axes of a high rank",
        lambda shape, target, axes: (
            (len(target) <= 4 or len(axes) <= 2)
            and RULES["in-dim"].shape(Operands((shape,), target, axes)) is not None
        ),
        *("refuses", Case(((1,) * 3,), (1,) * 5, (0, 1, 2)), "in-dim", "verdict"),
    ),
)


class Levels:
    """An object with a function for some of the levels."""

    verdict = staticmethod(whycast.compatible)
    shape = staticmethod(whycast.broadcast_shapes)
    strides = staticmethod(whycast.broadcast_strides)
    data = staticmethod(each(np.zeros_like))
