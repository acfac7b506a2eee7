"""Values for the arguments of a call, read off bytes: what a function takes, and what it does not.

Any bytes are a call, and few changes of bytes are few changes of the call: what a fuzzer that is
guided by coverage works with.
"""

from __future__ import annotations

import array as stdlib_array
import decimal
import fractions
from collections import UserList, deque
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from array_strategies import elements
from numpy.lib.stride_tricks import as_strided

_T = TypeVar("_T")

Shape = tuple[int, ...]


class MineError(Exception):
    """What an argument's own method raises: it passes through every function."""


class Choices:
    """Choices read off bytes; once these are used up, always the first.

    `tame` tells whether all that was chosen so far is what a function says that it takes.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self.tame = True

    def below(self, count: int) -> int:
        """Choose an integer from 0 to `count` - 1, of at most 256."""
        if self._at >= len(self._data):
            return 0
        byte = self._data[self._at]
        self._at += 1
        return byte % count

    def pick(self, options: Sequence[_T]) -> _T:
        """Choose one of some things."""
        return options[self.below(len(options))]

    def once_in(self, count: int) -> bool:
        """Say yes once in so many times."""
        return self.below(count) == count - 1

    def rest(self) -> bytes:
        """Take all bytes that are left."""
        rest = self._data[self._at :]
        self._at = len(self._data)
        return rest


# Values to choose from, or functions of the choices that make one.
Options = tuple[object, ...]


def one_of(c: Choices, options: Options) -> Any:
    """Choose a value, or make one."""
    option = c.pick(options)
    return option(c) if isinstance(option, FunctionType) else option


# --- integers ---------------------------------------------------------------------------------

LIMITS = (
    *(2**power + more for power in (31, 32, 33, 53, 62, 63, 64, 65) for more in (-1, 0, 1)),
    *(2**128, 10**30, 10**5000),
)
# An array of fewer elements than that would be made, and would fill the machine.
_HUGE = tuple(size for size in LIMITS if size >= 2**53)


class Index:
    """Integer that is none of Python's, nor of NumPy's."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value  # type: ignore[return-value]


class Raises:
    """Object of which whatever is asked fails."""

    def _fail(self, *_: object) -> Any:
        raise MineError

    __index__ = __len__ = __getitem__ = __iter__ = __repr__ = __eq__ = __lt__ = __bool__ = _fail
    __hash__ = __str__ = __float__ = __array__ = __call__ = __contains__ = _fail


class Whole(int):
    """Integer of a subclass that has its own opinion of its value."""

    def __index__(self) -> int:
        return 7

    def __lt__(self, other: object) -> bool:
        raise MineError

    __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __mul__ = __add__ = __lt__
    __hash__ = int.__hash__


def size(c: Choices) -> int:
    """Size of an axis."""
    return c.pick((1, 2, 3, 1, 2, 1, 0, 4))


def integer(c: Choices) -> int:
    """Integer of either sign."""
    value = c.pick((0, 1, 2, 3, -1, 5, -2, 8))
    return c.pick(LIMITS) * c.pick((1, -1)) if c.once_in(12) else value


_NOT_SIZES: Options = (
    lambda c: -1 - c.below(3),
    lambda c: -c.pick(LIMITS),
    lambda c: c.pick(_HUGE),
    lambda c: bool(c.below(2)),
    lambda c: np.bool_(c.below(2)),
    lambda c: c.pick((float("nan"), float("inf"), -0.0, 2.0, 1e300)),
    lambda c: np.float64(c.pick((2.0, float("nan")))),
    lambda c: c.pick((np.int8, np.uint8, np.int16, np.int64, np.uint64))(c.below(5)),
    lambda c: c.pick((np.int8(-128), np.int64(-(2**63)), np.uint64(2**64 - 1), np.int64(2**62))),
    lambda c: c.pick(("2", "", "x" * 10_000, b"2", "\ud800")),
    *(None, 2 + 0j),
    lambda c: Index(c.below(4)),
    lambda c: Index(c.pick(("2", 2.0, None, -1, 2**70))),
    lambda c: Whole(c.below(4)),
    Raises(),
    lambda c: (c.below(3),),
    lambda c: [c.below(3)],
    lambda c: np.array(c.below(4)),
    lambda c: np.array([c.below(4)]),
    lambda c: np.array(c.below(4), object),
    *(np.ma.masked, decimal.Decimal(2), fractions.Fraction(2)),
    *(np.datetime64("2020-01-01"), np.timedelta64(2, "s"), Ellipsis, slice(2), int),
)


def spoiled(c: Choices, value: Any) -> Any:
    """Now and then another value in the place of an integer."""
    if not c.once_in(16):
        return value
    c.tame = False
    return one_of(c, _NOT_SIZES)


# --- sequences of integers ----------------------------------------------------------------------


class Named(tuple[int, ...]):
    """Tuple of a subclass."""


class Liar(list[int]):
    """List of a subclass that says other things of itself each time."""

    def __init__(self, values: Sequence[int] = (), other: int = 1) -> None:
        super().__init__(values)
        self.other = other

    def __len__(self) -> int:
        return max(0, super().__len__() + self.other)

    def __getitem__(self, index: object) -> Any:
        return "other"

    def __iter__(self) -> Iterator[Any]:
        self.other = -self.other
        return iter(("other",)) if self.other > 0 else super().__iter__()


class Fickle(Sequence[Any]):
    """Sequence whose elements are integers when they are first looked at, and something else."""

    def __init__(self, values: Sequence[object], after: Sequence[object]) -> None:
        self.both = [values, after]

    def __len__(self) -> int:
        return len(self.both[0])

    def __getitem__(self, index: Any) -> Any:
        return self.both[0][index]

    def __iter__(self) -> Iterator[Any]:
        self.both.reverse()
        return iter(self.both[1])


class Long(Sequence[int]):
    """Sequence of a length that is none."""

    def __init__(self, length: object) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length  # type: ignore[return-value]

    def __getitem__(self, index: Any) -> Any:
        if index > 2:
            raise IndexError
        return 1


def recursive() -> list[object]:
    """List that is its own element."""
    found: list[object] = [2]
    found.append(found)
    return found


def _deep() -> object:
    found: object = ()
    for _ in range(2000):
        found = (found,)
    return found


def _overlapping(c: Choices) -> object:
    memory = np.array([2, 1, 3, 1, 2, 2], c.pick(("i1", "<u2", ">i4", "i8", ">u8")))
    return as_strided(memory, (c.below(4),), (memory.itemsize * c.pick((0, 1, 2)),))


_NOT_SHAPES: Options = (
    lambda c: c.below(4),
    lambda c: np.int64(c.below(4)),
    *(True, None),
    lambda c: c.pick(("", "23", b"\2\3", bytearray(b"\2"), memoryview(b"\2\3"))),
    lambda _: iter((2, 3)),
    lambda _: (each for each in (2, 3)),
    *({2: 3, 1: 1}, {2, 3}, frozenset({1}), recursive(), _deep(), Raises()),
    lambda c: Liar([2, 3], c.pick((1, -1))),
    lambda c: Fickle([2, 3], c.pick((["x", None], [2.0, True], [-1, -2], [1], []))),
    lambda c: Long(c.pick((-1, 2**70, 2.0, 3, 2**62, MineError))),
    lambda c: range(c.pick((2**62, 2**63, 2**70, 10**30))),
    *(range(5, 0, -2), UserList([2, 3]), deque([2, 3])),
    lambda c: stdlib_array.array(c.pick("biqd"), [2, 3]),
    Named((2, 3)),
    lambda c: (1,) * c.pick((64, 65, 33, 200)),
    *([[2, 3], [1]], [np.array([2, 3])], np.array([[2, 3]]), np.array(2), np.array([2.0, np.nan])),
    *(np.array([2, 3], object), np.array([True]), np.array(["2"]), np.array([(2, 3)], "i4,f4")),
    *(np.array([2], "m8[s]"), np.zeros((0, 2), int)),
    np.ma.MaskedArray([2, 3], np.array([True, False])),
    lambda c: np.broadcast_to(np.int8(1), (c.pick((2**60, 2**62)),)),
    lambda _: np.matrix([[2, 3]]),
    _overlapping,
    lambda c: tuple([c.pick(_HUGE) for _ in range(1 + c.below(3))]),
    lambda c: (c.pick(_HUGE), 0),
    lambda c: (c.pick(_HUGE), 1),
)


def disguised(c: Choices, values: Sequence[int]) -> Any:
    """Integers in one of the forms that a function takes, or in none."""
    if c.once_in(14):
        c.tame = False
        return one_of(c, _NOT_SHAPES)
    values = [spoiled(c, value) for value in values]
    form = c.below(12)
    if form < 6:
        return tuple(values)
    if form < 8:
        return values
    if form == 8:
        return Named(values)
    if form == 9:
        return UserList(values)
    if not all(type(value) is int and abs(value) < 2**7 for value in values):
        return tuple(values)
    if form == 10:
        kind = c.pick((np.int8, np.int64, np.intc))
        return [kind(value) for value in values]
    spread = np.zeros((len(values), 2), c.pick(("i1", "<i2", ">i4", "i8")))
    spread[:, 1] = values
    return spread[:, 1]


# --- arrays -------------------------------------------------------------------------------------


class Subclass(np.ndarray[Any, Any]):
    """Subclass whose attributes and methods fail."""

    def __getattribute__(self, name: str) -> object:
        raise MineError


class Quiet(np.ndarray[Any, Any]):
    """Subclass without any meaning of its own."""


class Offers:
    """What NumPy makes an array of, as it says."""

    def __init__(self, array: object) -> None:
        self.array = array

    def __array__(self, dtype: object = None, copy: object = None) -> object:
        return self.array


_DTYPES = (
    *("f8", "i4", "u1", "f4", "f2", "i8", ">i2", ">f8", "u8", "?", "<U3", ">U2"),
    *("O", "T", "c8", "c16", "g", "M8[s]", "m8[D]", "S3", "V4", "i4,f4", "(2,)i4,f4", "V0"),
)


def array(c: Choices, shape: Shape) -> Any:
    """Array of a shape, of any dtype and layout."""
    code = c.pick(_DTYPES)
    count = int(np.prod(shape, dtype=object))
    if count > 4096:
        return np.broadcast_to(np.zeros((), "i1"), shape)
    layout = c.below(10)
    memory: Any = elements(
        2 * count + 9, np.dtypes.StringDType() if code == "T" else np.dtype(code)
    )
    if code == "O" and c.once_in(6):
        memory[c.below(len(memory))] = c.pick(([], 1, None, 2.5))
    if layout == 0 or not shape:
        made = memory[:count].reshape(shape)
    elif layout == 1:
        made = memory[:count].reshape(shape[::-1]).T
    elif layout == 2:
        made = memory[: 2 * count : 2].reshape(shape)[..., ::-1]
    elif layout == 3 and code != "T":
        made = as_strided(memory, shape, tuple([memory.itemsize] * len(shape)))
    elif layout == 4:
        made = np.broadcast_to(memory[: shape[-1]], shape)
    elif layout == 5:
        made = np.broadcast_arrays(memory[: shape[-1]], np.empty((*shape[:-1], 1), "i1"))[0]
    elif layout == 6:
        made = memory[:count].reshape(shape)
        made.setflags(write=False)
    elif layout == 7 and memory.dtype.itemsize:
        made = memory[: 2 * count : 2].reshape(shape)
    else:
        made = memory[:count].reshape(shape)[::-1]
    if c.once_in(10):
        kind = c.pick((Quiet, np.ma.MaskedArray, np.matrix, Subclass, np.recarray))
        try:
            return np.ndarray.view(made, kind)
        except (ValueError, TypeError):
            return made
    return made


_NOT_TENSORS: Options = (
    lambda c: c.pick((1, 2.5, True, 2j, None, "text", b"bytes")),
    *([1.0, 2.0], [np.zeros(2), np.zeros((2, 1))], recursive(), _deep(), [[1, 2], [3]], Raises()),
    lambda c: Offers(c.pick((np.zeros((2, 1)), [1, 2], None, 3))),
    *(memoryview(b"ab"), stdlib_array.array("d", [1, 2])),
    lambda c: c.pick((np.float32(7), np.int8(-1), np.bool_(1), np.str_("a"), np.void(b"abcd"))),
    lambda c: c.pick((np.datetime64("NaT"), np.complex64(1), np.bytes_(b"x"), np.longdouble(1))),
    lambda c: np.array(c.pick((3, None, "x", 2.5)), object),
    *(np.empty((2**40, 0), "i1"), np.zeros((0, 3)), np.ma.masked),
    np.ma.MaskedArray([1, 2], np.array([True, False])),
    *(np.zeros((1,) * 64), np.zeros((1,) * 40, "f2")),
    lambda c: range(c.pick((3, 2**62, 2**63))),
    lambda _: iter((1, 2)),
    *(np.ndarray, np.dtype("i4"), ()),
)

# More elements than can be counted, all in one place.
_VAST: Options = (
    lambda c: np.broadcast_to(np.int8(1), (c.pick((2**62, 2**40)), 1)),
    np.broadcast_to(np.array("a", object), (2**40, 1)),
)


def tensor(c: Choices, shape: Shape, *, summed: bool = False) -> Any:
    """Array of a shape, or something else; none whose elements cannot be summed in a second."""
    if c.once_in(14):
        c.tame = False
        return one_of(c, _NOT_TENSORS if summed else (*_NOT_TENSORS, *_VAST))
    if not shape and c.once_in(4):
        return c.pick((np.float32(7), np.int64(3), np.bool_(1), np.str_("a")))
    return array(c, shape)


# --- what goes together -------------------------------------------------------------------------


def target(c: Choices) -> Shape:
    """Shape that others are to broadcast to."""
    rank = c.pick((2, 1, 0, 3, 2, 4, 3, 5))
    return tuple([size(c) for _ in range(rank)])


def own(c: Choices, target: Shape, axes: Sequence[int] | None = None) -> Shape:
    """Shape that mostly broadcasts to a target, on its last axes or on given ones."""
    if axes is None:
        axes = range(c.pick((0, 0, 1, 2, 3)), len(target))
    sizes = [1 if c.once_in(3) else target[axis] for axis in axes if axis < len(target)]
    if c.once_in(10):
        sizes = [size(c), *sizes]
    if sizes and c.once_in(8):
        sizes[c.below(len(sizes))] = size(c)
    return tuple(sizes)


def axes_of(c: Choices, rank: int, *, any_order: bool = False) -> list[int]:
    """Axes of a rank, mostly increasing."""
    chosen = [axis for axis in range(rank) if c.below(2)]
    if any_order and c.below(2):
        chosen.reverse()
    if c.once_in(8):
        chosen.insert(c.below(len(chosen) + 1), c.pick((0, 1, -1, rank, 2, 64, 2**63, -(2**63))))
    if chosen and c.once_in(8):
        chosen.pop(c.below(len(chosen)))
    return chosen
