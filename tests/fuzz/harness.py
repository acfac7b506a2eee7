"""One wild call: only documented exceptions, inputs as they were, what plain arguments give.

The exceptions are those that the docstring of a function names under Raises. What is raised by a
method of an argument, `MineError`, passes through. That the answer to plain arguments is right is
the subject of tests/package and tests/dialects.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import calls
import griffe
import numpy as np
import pytest
from calls import Call
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from wild import MineError

import whycast


class DefectError(AssertionError):
    """A call after which something is not as it has to be."""


class Target(NamedTuple):
    """A function with its public name, what it is given, what it may raise."""

    name: str
    function: Callable[..., Any]
    roles: str
    documented: tuple[type[BaseException], ...]

    def __repr__(self) -> str:
        return self.name

    @property
    def calls(self) -> st.SearchStrategy[Call]:
        """Draw calls of the function."""
        return calls.calls(self.roles)


def public() -> dict[str, Callable[..., Any]]:
    """Give all public functions of the package by their names."""
    names = [f"whycast.{module.name}" for module in pkgutil.iter_modules(whycast.__path__)]
    modules = [importlib.import_module(name) for name in names if "._" not in name]
    return {
        f"{module.__name__}.{name}": value
        for module in (whycast, *(each for each in modules if each.__name__ != "whycast.testing"))
        for name in module.__all__
        if inspect.isfunction(value := getattr(module, name))
    }


def documented(function: Callable[..., Any]) -> tuple[type[BaseException], ...]:
    """Give the exceptions that a docstring names under Raises."""
    text = griffe.Docstring(inspect.getdoc(function) or "")
    home = vars(inspect.getmodule(function)) | vars(whycast)
    return tuple(
        eval(str(each.annotation), home, {"whycast": whycast})
        for section in griffe.parse(text, "numpy")
        if section.kind is griffe.DocstringSectionKind.raises
        for each in section.value
    )


TARGETS = [
    Target(name, function, calls.ROLES[name], documented(function))
    for name, function in public().items()
]


# Of drawn calls, none is looked at twice.
once = settings(phases=[Phase.generate], suppress_health_check=[*HealthCheck], database=None)


def run(target: Target, call: Call) -> bool:
    """Make a call, and say whether it returned; a `DefectError` says what is wrong with it."""
    arguments = [*call.args, *call.kwargs.values()]
    before = [state(each) for each in arguments]
    result, error = _outcome(target, call)
    said = _complaint(target, call, result, error)
    for each, was in zip(arguments, before, strict=True):
        # What is written to may change.
        if state(each) != was and each is not call.kwargs.get("out"):
            said = f"an argument was {was} and is {state(each)}"
    if said:
        raise DefectError(f"{target.name}: {said}\n  {call!r}") from error
    return error is None


def _outcome(target: Target, call: Call) -> tuple[Any, Exception | None]:
    try:
        return target.function(*call.args, **call.kwargs), None
    except Exception as error:
        return None, error


def _complaint(target: Target, call: Call, result: Any, error: Exception | None) -> str:
    if error is not None and not is_documented(error, (MineError, *target.documented)):
        return f"undocumented: {error!r:.500}"
    if error is not None and (not call.tame or isinstance(error, MineError)):
        return ""
    try:
        wanted, refusal = _outcome(target, calls.plain_call(target.roles, call))
        if (error, refusal) == (None, None) and not (
            same(result, wanted) and homes(result, call) == homes(wanted, call)
        ):
            return f"gives {result!r:.500}, and of plain arguments {wanted!r:.500}"
    except (MineError, TypeError, ValueError, IndexError, OverflowError, MemoryError) as strange:
        # The arguments have no plain form.
        return f"gives {result!r:.500}: {strange!r}" if call.tame else ""
    if (error is None) != (refusal is None):
        return f"gives {result!r:.500}, {error!r:.500}, and of plain arguments {refusal!r:.500}"
    return ""


def same(found: Any, wanted: Any) -> bool:
    """Whether two results are equal: of the same types, and arrays with the same bits."""
    if isinstance(found, np.ndarray) and isinstance(wanted, np.ndarray):
        # Asked for `writeable`, an array that NumPy has marked would warn.
        (one, other) = ((x.shape, x.dtype, x.flags.num & 0x400) for x in (found, wanted))
        return one == other and (found.size > 4096 or _content(found) == _content(wanted))
    if type(found) is not type(wanted):
        return False
    if isinstance(found, (tuple, list)):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return found is wanted or bool(type(found) in (int, bool) and found == wanted)


def homes(result: Any, call: Call) -> list[bool]:
    """Whether each array in a result has memory of each argument."""
    results, arguments = (
        [x for x in several if isinstance(x, np.ndarray)]
        for several in (result if isinstance(result, tuple) else (result,), call.args)
    )
    return [np.may_share_memory(z, x) for z in results for x in arguments]


def _content(array: Any) -> object:
    # Of these the bytes do not tell: strings are elsewhere, structures and long numbers have gaps.
    if array.dtype.hasobject or array.dtype.kind in "TV" or array.dtype.char in "gG":
        return repr(array.tolist())
    return array.tobytes()


def is_documented(error: BaseException, types: tuple[type[BaseException], ...]) -> bool:
    """Whether an error is of a type that is named, or of a subclass that says no more.

    A UnicodeError is a ValueError too, and is none that anybody has in mind.
    """
    if isinstance(error, (whycast.BroadcastError, MemoryError)):
        return isinstance(error, types)
    return type(error) in types


def state(value: Any, depth: int = 3) -> object:
    """All of a value that a call may not change."""
    if isinstance(value, np.ndarray):
        array = np.ndarray.view(value, np.ndarray)
        # Asked for `writeable`, an array that NumPy has marked would warn.
        about = (id(value), array.shape, array.strides, array.dtype, array.flags.num)
        return about if array.size > 4096 else (*about, _content(array))
    if type(value) in (list, tuple) and depth:
        return (id(value), len(value), [state(each, depth - 1) for each in value[:100]])
    if type(value) in (dict, set):
        return (id(value), *map(id, value))
    return id(value)


@contextmanager
def settled() -> Iterator[None]:
    """Let warnings be errors, but for what a sum of floats may say; write no file here."""
    at_work = pytest.MonkeyPatch.context()
    with tempfile.TemporaryDirectory() as folder, at_work as patch, warnings.catch_warnings():
        patch.chdir(folder)
        warnings.simplefilter("error")
        for kind in (RuntimeWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", kind)
        # NumPy's own, of a write that was asked for, to one of its arrays that it has marked.
        warnings.filterwarnings("ignore", "future versions will not create a writeable array")
        yield
