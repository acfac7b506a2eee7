"""Right and wrong operators that broadcast; `operators.py NAME` runs NAME as a program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from implementations import Closed, kept
from numpy.lib.stride_tricks import as_strided

from whycast import sum_to_shape
from whycast._arrays import overlaps_itself
from whycast.testing import Case
from whycast.testing._lines import answer
from whycast.testing._lines._elements import decoded
from whycast.testing._lines._json import line_of
from whycast.testing._run._functions import form_of, pulling

Function = Callable[..., Any]


def common(*arrays: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*[x.shape for x in arrays])


def in_memory(x: Any, y: Any) -> Any:
    return np.multiply(x, y, out=np.empty(common(x, y), np.result_type(x, y)))


def one_by_one(x: Any, y: Any) -> Any:
    found = np.empty(common(x, y), np.result_type(x, y))
    for index in np.ndindex(*found.shape):
        places = (
            tuple([i * (n > 1) for i, n in zip(index[found.ndim - z.ndim :], z.shape, strict=True)])
            for z in (x, y)
        )
        a, b = (z[place] for z, place in zip((x, y), places, strict=True))
        found[index] = a if a > b else b
    return found


RIGHT: dict[str, tuple[int, Function]] = {
    "sum": (2, lambda x, y: x + y),
    "several": (2, lambda x, y: (x + y, x < y, x * y)),
    "minimum": (2, np.minimum),
    "equal": (2, lambda x, y: np.equal(x, y)),
    "bits": (2, np.bitwise_xor),
    "in memory": (2, in_memory),
    "one by one": (2, one_by_one),
    "where": (3, np.where),
    "fused": (3, lambda x, y, z: x * y + z),
    "clip": (3, lambda x, low, high: np.minimum(np.maximum(x, low), high)),
}


def padded_behind(x: Any, y: Any) -> Any:
    """Align shapes at the first axis."""
    rank = max(x.ndim, y.ndim)
    x, y = (z.reshape(z.shape + (1,) * (rank - z.ndim)) for z in (x, y))
    return x + y


def last_repeated(x: Any, y: Any) -> Any:
    shape = common(x, y)
    x, y = (np.broadcast_to(z[-1:] if z.ndim == len(shape) > 0 else z, shape) for z in (x, y))
    return x + y


def wrong_where(condition: Callable[..., Any]) -> Function:
    def function(x: Any, y: Any) -> Any:
        found = np.array(x + y)
        if condition(x, y, found):
            found[...] = 0
        return found

    return function


def has_stride_0(x: Any, y: Any, _: Any) -> bool:
    return any(0 in each.strides and each.size > 1 for each in (x, y))


def other_dtype(x: Any, y: Any) -> Any:
    return x + y if x.shape == y.shape else (x + y).astype("f8")


def beyond_16_bits(x: Any, y: Any) -> Any:
    found = np.array(x + y)
    found.reshape(-1)[2**16 :] = 0
    return found


def adds_to_the_first(x: Any, y: Any) -> Any:
    if x.shape == common(x, y) and x.flags.writeable:
        x += y
        return x.copy()
    return x + y


def tiled(x: Any, y: Any) -> Any:
    if x.ndim == y.ndim == 1 and x.size and y.size and y.size % x.size == 0:
        x = np.tile(x, y.size // x.size)
    return x + y


def two_of_three(x: Any, y: Any, z: Any) -> Any:
    """Broadcast two tensors, and demand that the third has their common shape."""
    found = x + y
    if found.shape != z.shape:
        raise ValueError("another shape")
    return found * z


def chooses_rows(condition: Any, x: Any, y: Any) -> Any:
    """Use only the first column of the condition."""
    return np.where(condition[..., :1] if condition.ndim > 1 else condition, x, y)


class Wrong(NamedTuple):
    """A wrong operator, with its number of tensors, kind of deviation and smallest case.

    A program is checked at `level`: memory shows some faults, elements show the others. If `level`
    is empty, a program's printed answers cannot show the fault.
    """

    tensors: int
    function: Function
    kind: str
    case: Case
    level: str = "operator"


SCALARS, EMPTY, TWO = (Case(((), shape)) for shape in ((), (0,), (2,)))
BROADCAST = Case(((), (2,)), layouts=("C", "broadcast"))
ROWS = Case(((2, 2), (), (2, 2)), dtypes=("bool", "int32", "int32"))
WRONG = {
    "first shape": Wrong(2, lambda x, y: x + np.broadcast_to(y, x.shape), "refuses", EMPTY),
    "first axis": Wrong(2, padded_behind, "shape", Case(((0,), (0, 1)))),
    "last element": Wrong(2, last_repeated, "elements", TWO),
    "stride 0": Wrong(2, wrong_where(has_stride_0), "elements", BROADCAST, "inplace"),
    "16 bits": Wrong(2, beyond_16_bits, "elements", Case(((), (65537,)))),
    "mutates": Wrong(2, adds_to_the_first, "input changed", SCALARS, "inplace"),
    "static": Wrong(2, lambda x, y: kept([np.array(x + y)])[0], "overwritten", TWO, ""),
    "tiles": Wrong(2, tiled, "accepts", Case(((2,), (4,)))),
    "other dtype": Wrong(2, other_dtype, "dtype", EMPTY),
    "no zeros": Wrong(2, lambda x, y: x + y if x.size and y.size else None, "refuses", EMPTY),
    "rank 5": Wrong(2, wrong_where(lambda x, y, z: z.ndim == 5), "elements", Case(((), (1,) * 5))),
    "no vectors": Wrong(
        2, lambda x, y: None if x.ndim == y.ndim == 1 else x + y, "refuses", SCALARS
    ),
    "more axes": Wrong(2, lambda x, y: (x + y)[(None,) * (x.ndim == 1)], "shape", SCALARS),
    "closed": Wrong(
        2, lambda x, y: x + y if x.ndim or y.ndim else Closed(x + y), "no array", SCALARS, ""
    ),
    "two of three": Wrong(3, two_of_three, "refuses", Case(((), (), (0,)))),
    "rows": Wrong(3, chooses_rows, "elements", ROWS),
}


def added(out: Any, x: Any, y: Any) -> None:
    """Add, and refuse an output that overlaps itself, which NumPy accepts."""
    if overlaps_itself(out):
        raise ValueError("one element for many")
    np.add(x, y, out=out)


def ignores_strides(out: Any, x: Any, y: Any) -> None:
    found = np.array(x + y, out.dtype)
    added(out, x, y)
    if out.size:
        as_strided(out, out.shape, found.strides)[...] = found


def row_by_row(out: Any, x: Any, y: Any) -> None:
    """Add the second tensor twice if the output may overlap the first."""
    added(out, x, y)
    if out.ndim and np.may_share_memory(out, x):
        out += y


def changes_the_second(out: Any, x: Any, y: Any) -> None:
    added(out, x, y)
    if y.ndim == 2 and y.flags.writeable:
        y[...] = 0


def leaves(out: Any, x: Any, y: Any) -> None:
    """Write nothing, but refuse bad outputs."""
    added(out, x, y) if not out.size else added(out.copy("K"), x, y)
    if not out.flags.writeable or overlaps_itself(out):
        raise ValueError("no place to write")


def zeros_in(condition: Callable[[Any], Any]) -> Function:
    def function(out: Any, x: Any, y: Any) -> None:
        added(out, x, y)
        if condition(out):
            out[...] = 0

    return function


def one_after_another(out: Any, x: Any, y: Any) -> None:
    """Write each element before the next one is read."""
    if not out.flags.writeable or overlaps_itself(out) or out.shape != common(x, y):
        raise ValueError("no place to write")
    x, y = np.broadcast_arrays(x, y)
    for index in np.ndindex(*out.shape):
        out[index] = x[index] + y[index]


def refuses_overlaps(out: Any, x: Any, y: Any) -> None:
    if np.shares_memory(out, x) and out.ctypes.data != x.ctypes.data:
        raise ValueError("an overlap")
    added(out, x, y)


def ends_if_read_only(out: Any, x: Any, y: Any) -> None:
    added(out, x, y) if out.flags.writeable else os._exit(1)


def writes(function: Function) -> Function:
    return lambda out, *arrays: added(out, function(*arrays), np.zeros((), out.dtype))


IN_PLACE: dict[str, tuple[Function, str]] = {
    "add": (added, ""),
    "fused": (lambda out, x, y, z: added(out, x, np.multiply(y, z)), ""),
    "any stride": (lambda out, x, y: np.add(x, y, out=out), "out"),
    "nothing": (lambda out, x, y: added(np.empty_like(out), x, y), "out"),
    "ignores strides": (ignores_strides, "outside"),
    "leaves": (leaves, "elements"),
    "backwards": (zeros_in(lambda out: min(out.strides, default=0) < 0), "elements"),
    "columns": (zeros_in(lambda out: out.flags.fnc), "elements"),
    "gaps": (zeros_in(lambda out: out.ndim == 1 and out.strides[0] > out.itemsize), "elements"),
    "row by row": (row_by_row, "out"),
    "windows": (lambda out, x, y: 0 not in out.strides and np.add(x, y, out=out), "out"),
    "one after another": (one_after_another, "out"),
    "no overlap": (refuses_overlaps, ""),
    "ends": (ends_if_read_only, "exit"),
    "input": (changes_the_second, "input changed"),
}


def sums(delta: Any, *shapes: Any) -> list[Any]:
    return [sum_to_shape(delta, shape) for shape in shapes]


def swapped(delta: Any, a: Any, b: Any) -> list[Any]:
    return sums(delta, b, a)


def never_refuses(delta: Any, a: Any, b: Any) -> list[Any]:
    try:
        return sums(delta, a, b)
    except ValueError:
        return [np.zeros(shape, delta.dtype) for shape in (a, b)]


def product(gradient: Callable[[Any, tuple[int, ...]], Any]) -> Function:
    """Return an operator that returns a product and the product's gradient function."""

    def function(x: Any, y: Any) -> Any:
        return x * y, lambda delta: (sum_to_shape(delta * y, x.shape), gradient(delta * x, y.shape))

    return function


def mean(delta: Any, shape: tuple[int, ...]) -> Any:
    found = sum_to_shape(delta, shape)
    return found // (delta.size // found.size) if delta.size > found.size > 0 else found


GRADIENTS: dict[str, tuple[Function, str]] = {
    "sums": (sums, ""),
    "product": (product(sum_to_shape), ""),
    "swapped": (swapped, "shape"),
    "not summed": (product(lambda delta, shape: delta), "shape"),
    "mean": (product(mean), "elements"),
    "one alone": (lambda delta, a, b: sums(delta, a), "count"),
    "never refuses": (never_refuses, "accepts"),
}


def answered(function: Function, asked: Any) -> Any:
    if "memories" in asked:
        memories = list(map(bytearray.fromhex, asked["memories"]))
        places = []
        for each in (asked["out"], *asked["arrays"]):
            start, steps = each["offset"], each["strides"]
            memory = memories[each["memory"]]
            places.append(np.ndarray(each["shape"], each["dtype"], memory, start, steps))
            places[-1].flags.writeable = each["writable"]
        function(*places)
        return {"memories": [memory.hex() for memory in memories]}
    arrays = [decoded(each) for each in asked["arrays"]]
    value = function(*arrays)
    if isinstance(value, str):
        # NumPy returns Python's str at rank 0 for object and StringDType.
        value = np.array(value, arrays[0].dtype)
    several = value is None or isinstance(value, (tuple, list))
    return answer("operator", value if several else np.asarray(value))


if __name__ == "__main__":
    name, level = sys.argv[1:]
    own = {"inplace": IN_PLACE, "vjp": GRADIENTS}.get(level, {})
    function = own[name][0] if name in own else (RIGHT.get(name) or WRONG[name])[1]
    if level == "vjp":
        function = pulling(function, form_of(function, ()))
    elif level == "inplace" and name not in own:
        function = writes(function)
    for line in sys.stdin:
        try:
            with np.errstate(all="ignore"):
                told = answered(function, json.loads(line))
        except Exception as error:
            told = {"refused": str(error)}
        sys.stdout.buffer.write(line_of(told))
        sys.stdout.buffer.flush()
