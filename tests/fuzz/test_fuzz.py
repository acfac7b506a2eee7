"""Wild values (`make fuzz`: more): a call raises only documented exceptions, leaves its argument
unchanged, and returns the result of the plain argument.

The section Raises of a docstring documents exceptions. `MineError`, of an argument's method, passes
through. tests/package and tests/dialects test the results of plain arguments.
"""

import importlib
import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bad_values
import griffe
import numpy as np
import pytest
import wild
from bad_values import SHAPES, Parameter
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from wild import MineError, Value

import whycast


class DefectError(AssertionError):
    """A call broke a promise."""


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
        (SHAPES + bad_values.INTEGERS + bad_values.AXES, wild.vectors()),
        # NumPy's own look, `numpy.iterable`, is the first one.
        (bad_values.LOOSE_SHAPES, wild.vectors(wild.FORMS[:-1])),
        (bad_values.AXIS_SETS, wild.axis_sets()),
        (bad_values.TENSORS + bad_values.LOOSE_TENSORS, wild.tensors()),
    )
    for parameter in several
]


# Try no drawn value twice.
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
    if error is not None and not is_documented(error, (MineError, *target.documented)):
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
        # The number of the flags: asked for `writeable`, an array that NumPy has marked would warn.
        one, other = ((x.shape, x.dtype, x.flags.num & 0x400) for x in (found, wanted))
        # Views are on the same memory.
        shared = found.flags.owndata or not found.size or found.ctypes.data == wanted.ctypes.data
        return one == other and shared and _content(found) == _content(wanted)
    if type(found) is not type(wanted):
        return False
    if isinstance(found, (tuple, list)):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return found is wanted or bool(type(found) in (int, bool) and found == wanted)


def _content(array: Any) -> object:
    # Strings are elsewhere, structures and long numbers have gaps: bytes do not tell.
    if array.dtype.hasobject or array.dtype.kind in "TV" or array.dtype.char in "gG":
        return repr(array.tolist())
    return array.tobytes()


def is_documented(error: BaseException, types: tuple[type[BaseException], ...]) -> bool:
    is_own = isinstance(error, (whycast.BroadcastError, MemoryError))
    return isinstance(error, types) if is_own else type(error) in types


def state(value: Any, depth: int = 3) -> object:
    """Return all parts of a value that a call must not change."""
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
    """Turn warnings into errors, except those of float sums; work in a temporary folder."""
    at_work = pytest.MonkeyPatch.context()
    with tempfile.TemporaryDirectory() as folder, at_work as patch, warnings.catch_warnings():
        patch.chdir(folder)
        warnings.simplefilter("error")
        for kind in (RuntimeWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", kind)
        # NumPy's own, of a write that was asked for, to one of its arrays that it has marked.
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


def _raises(shape: Any) -> Any:
    raise UnicodeError(shape)


def _sorts(shape: Any) -> Any:
    if type(shape) is list:
        shape.sort()
    return whycast.broadcast_shapes(shape)


def _refuses_lists(shape: Any) -> Any:
    if type(shape) is list:
        raise TypeError(shape)
    return whycast.broadcast_shapes(shape)


def _keeps_integers(shape: Any) -> Any:
    whycast.broadcast_shapes(shape)
    return tuple(shape)


@pytest.mark.parametrize("wrong", [_raises, _sorts, _refuses_lists, _keeps_integers])
def test_a_function_that_does_wrong_is_noticed(wrong: Callable[..., Any]) -> None:
    (right, *_) = (each for each in TARGETS if each.parameter == SHAPES[0])
    target = right._replace(parameter=right.parameter._replace(call=wrong))

    @settings(once, max_examples=2000, report_multiple_bugs=False)
    @given(wild.vectors())
    def run(value: wild.Value) -> None:
        call(target, value)

    with settled(), pytest.raises(DefectError):
        run()


def test_a_copy_is_no_view() -> None:
    x = np.arange(3.0)
    assert same(x[:2], x[:2])
    assert not same(x[:2], x[:2].copy()[:])
