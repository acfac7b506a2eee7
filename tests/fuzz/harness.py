"""One wild call: only documented exceptions, inputs as they were, a result as it has to be.

The exceptions are those that the docstring of a function names under Raises. What is raised by a
method of an argument, `MineError`, passes through.
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
from calls import Call, Check, RefusedError
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from wild import MineError

import whycast


class DefectError(AssertionError):
    """A call after which something is not as it has to be."""


class Target(NamedTuple):
    """A function with its public name, its calls, what has to come of them, what it may raise."""

    name: str
    function: Callable[..., Any]
    calls: st.SearchStrategy[Call]
    # Gives the check of the result, or raises a `RefusedError`.
    wanted: Callable[[Call], Check]
    documented: tuple[type[BaseException], ...]

    def __repr__(self) -> str:
        return self.name


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


FUNCTIONS = public()
TARGETS = (
    *(
        Target(
            name,
            FUNCTIONS[name],
            calls.calls(roles),
            lambda call, roles=roles, model=model: calls.wanted(roles, model, call),  # type: ignore[misc]
            documented(FUNCTIONS[name]),
        )
        for name, (roles, model) in calls.MODELS.items()
    ),
)
ANY_CALL = st.sampled_from(TARGETS).flatmap(lambda target: st.tuples(st.just(target), target.calls))


# Of drawn calls, none is looked at twice.
once = settings(phases=[Phase.generate], suppress_health_check=[*HealthCheck], database=None)


def run(target: Target, call: Call) -> bool:
    """Make a call, and say whether it returned; a `DefectError` says what is wrong with it."""
    arguments = [*call.args, *call.kwargs.values()]
    before = [state(each) for each in arguments]
    result: Any = None
    error: BaseException | None = None
    try:
        result = target.function(*call.args, **call.kwargs)
    except Exception as caught:
        error = caught
    said = _complaint(target, call, result, error)
    for each, was in zip(arguments, before, strict=True):
        # What is written to may change.
        if state(each) != was and each is not call.kwargs.get("out"):
            said = f"an argument was {was} and is {state(each)}"
    if said:
        raise DefectError(f"{target.name}: {said}\n  {call!r}") from error
    return error is None


def _complaint(target: Target, call: Call, result: Any, error: BaseException | None) -> str:
    if error is not None:
        if not is_documented(error, (MineError, *target.documented)):
            return f"undocumented: {error!r:.500}"
        if not call.tame or isinstance(error, MineError):
            return ""
    try:
        check = target.wanted(call)
        if error is None:
            check(result)
    except RefusedError:
        return f"accepted: {result!r:.500}" if error is None else ""
    except AssertionError as wrong:
        return f"wrong result {result!r:.500}: {wrong}"
    except (MineError, TypeError, ValueError, IndexError, OverflowError, MemoryError) as strange:
        # The arguments themselves do not let it be told what is right.
        return f"wrong result {result!r:.500}: {strange!r}" if call.tame else ""
    return f"refused: {error!r:.500}" if error is not None else ""


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
        if array.size > 4096:
            return about
        if array.dtype.hasobject or array.dtype.kind in "TV":
            return (*about, repr(array.tolist()))
        return (*about, array.tobytes())
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
