"""Wild values: a call raises only documented exceptions, leaves its argument unchanged, and returns
the same as for the plain argument. `make fuzz` draws more values.

The section Raises of a docstring lists the documented exceptions. tests/package and tests/dialects
test plain arguments.
"""

import array
import importlib
import inspect
import tempfile
import warnings
from collections import UserList, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, NamedTuple

import bad_values
import griffe
import numpy as np
import pytest
from array_strategies import Array, elements, plain
from axes_cases import any_array
from bad_values import NEGATIVE, NOT_ARRAYS, NOT_INTEGERS, NOT_VECTORS, SHAPES, Parameter
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import whycast


class MineError(Exception):
    """An argument's own method raises this; every function may let it through."""


class Value(NamedTuple):
    """An argument; `plain` is its meaning to functions that accept it."""

    given: Any
    plain: Any = None


LIMITS = (*(2**n + k for n in (31, 53, 62, 63, 64) for k in (-1, 0, 1)), 10**30, 10**5000)
# NumPy refuses arrays of these sizes; smaller sizes could fill the machine's memory.
_HUGE = st.sampled_from([size for size in LIMITS if size >= 2**53])
SMALL = st.integers(0, 4)


def only(method: str) -> Callable[[object], object]:
    """Return a function from a value to an object whose one method returns this value."""
    return lambda value: type("Only", (), {method: lambda *_, **__: value})()


class Raises:
    def _fail(self, *_: object) -> Any:
        raise MineError

    __index__ = __len__ = __getitem__ = __iter__ = __repr__ = __eq__ = __lt__ = __bool__ = _fail
    __hash__ = __str__ = __float__ = __array__ = __call__ = __contains__ = _fail


class Whole(int):
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
    st.sampled_from(["2", 2.0, -1, 2**70, 3]).map(only("__index__")),
    st.builds(Whole, SMALL) | st.builds(Raises),
)


class Named(tuple[int, ...]):
    """Tuple of a subclass."""


class Liar(list[int]):
    """A subclass of list whose methods contradict each other, and change their results."""

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
    """Sequence that yields `values` in the first pass, and `after` in the second."""

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


NOTHING: object = ()
DEEP = st.just(reduce(lambda inside, _: (inside,), range(2000), NOTHING))


VALUES = [*(value for value, _ in NOT_VECTORS), None, "", range(5, 0, -2), deque([2, 3])]
VALUES += [[[2, 3], [1]], [np.array([2, 3])]]
NOT_SHAPES = st.one_of(
    # Copy each list: a call that changes a list must not affect the next call.
    st.sampled_from(VALUES).map(lambda value: value[:] if type(value) is list else value),
    SMALL | _HUGE.map(range),
    st.builds(recursive) | DEEP | st.builds(Raises) | st.builds(iter, st.just((2, 3))),
    st.builds(Liar, st.just([2, 3]), st.sampled_from([1, -1])),
    st.builds(Fickle, st.just([2, 3]), st.sampled_from([["x", None], [2.0, True], [-1], []])),
    st.sampled_from([-1, 2**70, 2.0, 3, 2**62]).map(Long),
    st.builds(array.array, st.sampled_from("iqd"), st.just([2, 3])),
    st.sampled_from([33, 64, 65, 200]).map(lambda rank: (1,) * rank),
    st.tuples(_HUGE, st.integers(0, 1)) | st.just(np.broadcast_to(np.int8(1), (2**62,))),
)


NOT_TENSORS = st.one_of(
    st.sampled_from([value for value, _ in NOT_ARRAYS]),
    st.sampled_from([np.float32(7), np.str_("a"), np.void(b"ab"), np.longdouble(1)]),
    st.builds(np.dtype, st.just("i4")),
    st.builds(recursive) | DEEP | st.builds(Raises),
    st.sampled_from([np.zeros((2, 1)), [1, 2], None, 3]).map(only("__array__")),
    st.sampled_from([3, None, [], [None, "a"]]).map(lambda value: np.array(value, object)),
    st.sampled_from([np.empty((2**40, 0), "i1"), np.zeros((1,) * 64, "f2"), range(2**62)]),
    st.sampled_from([np.matrix, np.recarray]).map(lambda kind: np.ones((2, 1)).view(kind)),
    # Dtypes without a sum, one of them with fields.
    st.sampled_from(["M8[s]", "S3", "V4", "i4,f4", "V0"]).map(lambda c: elements(3, np.dtype(c))),
)
# Huge numbers of elements at one address, of dtypes that no function sums.
VAST = st.sampled_from(
    [np.broadcast_to(value, (2**40, 1)) for value in (np.void(b"ab"), np.array("a", object))]
)

# Functions must read the last form only once.
FORMS = (tuple, list, Named, UserList, np.int64, _spread, lambda values: Fickle(values, ["x"]))


@st.composite
def vectors(draw: st.DrawFn, forms: Sequence[Any] = FORMS) -> Value:
    """Integers in an accepted or a wrong form, sometimes with an odd element."""
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
        # This form cannot contain the odd element.
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


class DefectError(AssertionError):
    """A call broke a promise of the head of this file."""


class Target(NamedTuple):
    """A parameter, the values to draw for it, and the documented exceptions."""

    name: str
    parameter: Parameter
    values: st.SearchStrategy[Value]
    documented: tuple[type[BaseException], ...]

    def __repr__(self) -> str:
        return self.name


def documented(parameter: Parameter) -> tuple[type[BaseException], ...]:
    module, name = parameter.call.__code__.co_names[:2]
    home = importlib.import_module(f"whycast.{module}".removesuffix(".whycast"))
    text = griffe.Docstring(inspect.getdoc(getattr(home, name)) or "")
    names = vars(home) | vars(whycast)
    return tuple(
        eval(str(each.annotation), names, {"whycast": whycast})
        for section in griffe.parse(text, "numpy")
        if section.kind is griffe.DocstringSectionKind.raises
        for each in section.value
    )


TARGETS = [
    Target(str(parameter), parameter, values, documented(parameter))
    for several, values in (
        (SHAPES + bad_values.INTEGERS + bad_values.AXES, vectors()),
        # No Fickle here: like NumPy, these functions call `numpy.iterable`, which takes a pass.
        (bad_values.LOOSE_SHAPES, vectors(FORMS[:-1])),
        (bad_values.AXIS_SETS, axis_sets()),
        (bad_values.TENSORS + bad_values.LOOSE_TENSORS, tensors()),
    )
    for parameter in several
]


# Try each drawn value only once.
once = settings(phases=[Phase.generate], suppress_health_check=[*HealthCheck], database=None)


def call(target: Target, value: Value) -> bool:
    """Return whether a call returned; raise DefectError if it broke a promise."""
    before = state(value.given)
    result, error = _outcome(target, value.given)
    said = _complaint(target, value, result, error)
    if state(value.given) != before:
        said = f"the argument was {before} and is {state(value.given)}"
    if said:
        raise DefectError(f"{target!r}: {said}\n  {type(value.given)} {value.plain!r}") from error
    return error is None


def _outcome(target: Target, value: Any) -> tuple[Any, Exception | None]:
    try:
        return target.parameter.call(value), None
    except Exception as error:
        return None, error


def _complaint(target: Target, value: Value, result: Any, error: Exception | None) -> str:
    # The documented ValueError does not cover its subclass UnicodeError.
    is_own = isinstance(error, (whycast.BroadcastError, MemoryError))
    types: tuple[type[BaseException], ...] = (MineError, *target.documented)
    if error is not None and not (isinstance(error, types) if is_own else type(error) in types):
        return f"undocumented: {error!r:.500}"
    if value.plain is None:
        return ""
    wanted, refusal = _outcome(target, value.plain)
    if type(error) is type(refusal) and same(result, wanted):
        return ""
    return f"gives {result!r:.500}, {error!r:.500}, not {wanted!r:.500}, {refusal!r:.500}"


def same(found: Any, wanted: Any) -> bool:
    """Compare the types of two results, and the bits of arrays."""
    if isinstance(found, np.ndarray) and isinstance(wanted, np.ndarray):
        # Read all flags as one number: if NumPy has marked an array, reading `writeable` warns.
        one, other = ((x.shape, x.dtype, x.flags.num & 0x400) for x in (found, wanted))
        # Views must have the same memory.
        shared = found.flags.owndata or not found.size or found.ctypes.data == wanted.ctypes.data
        return one == other and shared and _content(found) == _content(wanted)
    if type(found) is not type(wanted):
        return False
    if isinstance(found, (tuple, list)):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return found is wanted or bool(type(found) in (int, bool) and found == wanted)


def _content(array: Any) -> object:
    # Do not compare bytes: strings are stored elsewhere, structures and long doubles have gaps.
    if array.dtype.hasobject or array.dtype.kind in "TV" or array.dtype.char in "gG":
        return repr(array.tolist())
    return array.tobytes()


def state(value: Any, depth: int = 3) -> object:
    """Return parts of a value that a call must not change."""
    if isinstance(value, np.ndarray):
        array = np.ndarray.view(value, np.ndarray)
        about = (id(value), array.shape, array.strides, array.dtype, array.flags.num)
        return about if array.size > 4096 else (*about, _content(array))
    if type(value) in (list, tuple) and depth:
        return (id(value), len(value), [state(each, depth - 1) for each in value[:100]])
    if type(value) in (dict, set):
        return (id(value), *map(id, value))
    return id(value)


@contextmanager
def settled() -> Iterator[None]:
    """Turn most warnings into errors; work in a temporary folder."""
    at_work = pytest.MonkeyPatch.context()
    with tempfile.TemporaryDirectory() as folder, at_work as patch, warnings.catch_warnings():
        patch.chdir(folder)
        warnings.simplefilter("error")
        for kind in (RuntimeWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", kind)
        # NumPy warns of a write to an array that it has marked.
        warnings.filterwarnings("ignore", "future versions will not create a writeable array")
        yield


@pytest.mark.parametrize("target", TARGETS, ids=repr)
@settings(once, max_examples=settings().max_examples // 5)
@given(st.data())
def test_wild_values(target: Target, data: st.DataObject) -> None:
    """[E_Broadcast_any_Derived_150]"""
    assert target.documented
    with settled():
        call(target, data.draw(target.values))


@pytest.mark.parametrize("fault", ["raises", "sorts", "refuses lists", "keeps integers"])
def test_a_function_that_does_wrong_is_noticed(fault: str) -> None:
    def wrong(shape: Any) -> Any:
        if fault == "raises":
            raise UnicodeError(shape)
        if fault == "sorts" and type(shape) is list:
            shape.sort()
        if fault == "refuses lists" and type(shape) is list:
            raise TypeError(shape)
        result = whycast.broadcast_shapes(shape)
        return tuple(shape) if fault == "keeps integers" else result

    (right, *_) = (each for each in TARGETS if each.parameter == SHAPES[0])
    target = right._replace(parameter=right.parameter._replace(call=wrong))

    @settings(once, max_examples=2000)
    @given(vectors())
    def run(value: Value) -> None:
        call(target, value)

    with settled(), pytest.raises(DefectError):
        run()


def test_a_copy_is_no_view() -> None:
    x = np.arange(3.0)
    assert same(x[:2], x[:2])
    assert not same(x[:2], x[:2].copy()[:])
