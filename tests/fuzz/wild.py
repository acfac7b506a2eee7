"""Values for one argument of a call: right ones in any form, and wrong ones."""

import array
from collections import UserList, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from array_strategies import Array, elements, plain
from axes_cases import any_array
from bad_values import NEGATIVE, NOT_ARRAYS, NOT_INTEGERS, NOT_VECTORS
from hypothesis import strategies as st


class MineError(Exception):
    """An argument's own method raises this; every function lets it through."""


class Value(NamedTuple):
    """An argument; `plain` is its meaning if functions accept it."""

    given: Any
    plain: Any = None


LIMITS = (*(2**n + k for n in (31, 53, 62, 63, 64) for k in (-1, 0, 1)), 10**30, 10**5000)
# An array of fewer elements would be made, and would fill the machine.
_HUGE = st.sampled_from([size for size in LIMITS if size >= 2**53])
SMALL = st.integers(0, 4)


class Index:
    """Integer of neither Python nor NumPy."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value  # type: ignore[return-value]


class Raises:
    """Object whose every method fails."""

    def _fail(self, *_: object) -> Any:
        raise MineError

    __index__ = __len__ = __getitem__ = __iter__ = __repr__ = __eq__ = __lt__ = __bool__ = _fail
    __hash__ = __str__ = __float__ = __array__ = __call__ = __contains__ = _fail


class Whole(int):
    """Integer of a subclass with wrong methods."""

    def __index__(self) -> int:
        return 7

    def __lt__(self, other: object) -> bool:
        raise MineError

    __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __mul__ = __add__ = __lt__
    __hash__ = int.__hash__


NOT_SIZES = st.one_of(
    st.sampled_from([value for value, _ in (*NOT_INTEGERS, *NEGATIVE)]),
    st.sampled_from(LIMITS).map(lambda size: -size) | _HUGE,
    st.sampled_from([np.int8, np.uint8, np.uint64]).flatmap(lambda kind: SMALL.map(kind)),
    st.sampled_from([np.int64(-(2**63)), np.uint64(2**64 - 1), float("nan"), int, "\ud800"]),
    st.sampled_from(["2", 2.0, -1, 2**70, 3]).map(Index),
    st.builds(Whole, SMALL) | st.builds(Raises),
)


class Named(tuple[int, ...]):
    """Tuple of a subclass."""


class Liar(list[int]):
    """List of a subclass that answers differently each time."""

    def __init__(self, values: Sequence[int], other: int) -> None:
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
    """Sequence whose elements are integers at the first pass and differ later."""

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
    """Sequence with an invalid length."""

    def __init__(self, length: object) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length  # type: ignore[return-value]

    def __getitem__(self, index: Any) -> Any:
        return (1, 1)[index]


def _spread(values: Sequence[int]) -> Array:
    return np.array([[0, value] for value in values], ">i4").reshape(-1, 2)[:, 1]


def recursive() -> list[object]:
    found: list[object] = [2]
    found.append(found)
    return found


def _deep() -> object:
    found: object = ()
    for _ in range(2000):
        found = (found,)
    return found


NOT_SHAPES = st.one_of(
    st.sampled_from([value for value, _ in NOT_VECTORS]) | SMALL | _HUGE.map(range),
    st.builds(recursive) | st.builds(_deep) | st.builds(Raises) | st.builds(iter, st.just((2, 3))),
    st.sampled_from([None, "", range(5, 0, -2), deque([2, 3]), [[2, 3], [1]], [np.array([2, 3])]]),
    st.builds(Liar, st.just([2, 3]), st.sampled_from([1, -1])),
    st.builds(Fickle, st.just([2, 3]), st.sampled_from([["x", None], [2.0, True], [-1], []])),
    st.sampled_from([-1, 2**70, 2.0, 3, 2**62]).map(Long),
    st.builds(array.array, st.sampled_from("iqd"), st.just([2, 3])),
    st.sampled_from([33, 64, 65, 200]).map(lambda rank: (1,) * rank),
    st.tuples(_HUGE, st.integers(0, 1)) | st.just(np.broadcast_to(np.int8(1), (2**62,))),
)


class Offers:
    """Object with an `__array__`, right or wrong."""

    def __init__(self, made: object) -> None:
        self.made = made

    def __array__(self, dtype: object = None, copy: object = None) -> object:
        return self.made


NOT_TENSORS = st.one_of(
    st.sampled_from([value for value, _ in NOT_ARRAYS]),
    st.sampled_from(
        [np.float32(7), np.str_("a"), np.void(b"ab"), np.longdouble(1), np.dtype("i4")]
    ),
    st.builds(recursive) | st.builds(_deep) | st.builds(Raises),
    st.sampled_from([np.zeros((2, 1)), [1, 2], None, 3]).map(Offers),
    st.sampled_from([3, None, [], [None, "a"]]).map(lambda value: np.array(value, object)),
    st.sampled_from([np.empty((2**40, 0), "i1"), np.zeros((1,) * 64, "f2"), range(2**62)]),
    st.sampled_from([np.matrix, np.recarray]).map(lambda kind: np.ones((2, 1)).view(kind)),
    # Dtypes of which an array has no sum, and fields.
    st.sampled_from(["M8[s]", "S3", "V4", "i4,f4", "V0"]).map(
        lambda code: elements(3, np.dtype(code))
    ),
)
# More elements than can be counted, all in one place, and of dtypes that no function sums.
VAST = st.sampled_from(
    [np.broadcast_to(value, (2**40, 1)) for value in (np.void(b"ab"), np.array("a", object))]
)

# --- arguments ------------------------------------------------------------------------------------

# The last one must be looked at only once.
FORMS = (tuple, list, Named, UserList, np.int64, _spread, lambda values: Fickle(values, ["x"]))


@st.composite
def vectors(draw: st.DrawFn, forms: Sequence[Any] = FORMS) -> Value:
    """Integers in an accepted form or another one, sometimes with an odd element."""
    values: list[Any] = draw(st.lists(st.integers(-1, 4), max_size=4))
    form: Any = draw(st.sampled_from(forms))
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return Value(draw(NOT_SHAPES))
    if kind > 1 or not values:
        return Value(form(values), tuple(values))
    values[draw(st.integers(0, len(values) - 1))] = draw(NOT_SIZES)
    try:
        return Value(form(values))
    except Exception:
        # That form cannot hold the odd one.
        return Value(tuple(values))


@st.composite
def axis_sets(draw: st.DrawFn) -> Value:
    axes = draw(st.sets(st.integers(-1, 3)))
    kind = draw(st.sampled_from([set, frozenset]))
    return draw(st.just(Value(kind(axes), tuple(sorted(axes)))) | vectors())


@st.composite
def tensors(draw: st.DrawFn) -> Value:
    """Array of any dtype and layout, or another object."""
    if draw(st.integers(0, 2)) == 0:
        return Value(draw(NOT_TENSORS | VAST))
    x = draw(any_array(draw(st.sampled_from([(2, 3), (3,), (2, 1), (), (1,), (0, 3), (4,)]))))
    return Value(x, plain(x))
