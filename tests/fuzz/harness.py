"""One wild call: only documented exceptions, inputs as they were, a result as it has to be.

The exceptions are those that the docstring of a function names under Raises. What is raised by a
method of an argument, `MineError`, passes through.
"""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from typing import Any, NamedTuple

import calls
import commands
import griffe
import numpy as np
from wild import Choices, MineError

import whycast


class DefectError(AssertionError):
    """A call after which something is not as it has to be."""


class Target(NamedTuple):
    """A function, by its public name, and what it may raise."""

    name: str
    function: Callable[..., Any]
    make: Callable[[Choices], calls.Call]
    documented: tuple[type[BaseException], ...]


def public() -> dict[str, Callable[..., Any]]:
    """Give all public functions of the package by their names."""
    return {
        f"{module.__name__}.{name}": value
        for module in calls.MODULES
        for name in module.__all__
        if inspect.isfunction(value := getattr(module, name))
    }


def documented(function: Callable[..., Any]) -> tuple[type[BaseException], ...]:
    """Give the exceptions that a docstring names under Raises."""
    text = griffe.Docstring(inspect.getdoc(function) or "")
    home = vars(inspect.getmodule(function)) | vars(whycast)
    found: list[type[BaseException]] = [MineError]
    for section in griffe.parse(text, "numpy"):
        if section.kind is griffe.DocstringSectionKind.raises:
            for each in section.value:
                name = str(each.annotation)
                found.append(eval(name, home, {"whycast": whycast}))
    return tuple(found)


FUNCTIONS = public()
_OF_THE_PACKAGE = [
    Target(name, FUNCTIONS[name], make, documented(FUNCTIONS[name]))
    for name, make in calls.MAKERS.items()
]
TARGETS = (
    # A command takes as long as many calls.
    *_OF_THE_PACKAGE * 7,
    Target("whycast serve", commands.serve, commands.lines, ()),
    Target("whycast", commands.command, commands.words, ()),
)


class Done(NamedTuple):
    """What came of a call."""

    target: Target
    call: calls.Call
    accepted: bool


def run(data: bytes) -> Done:
    """Make the call that some bytes stand for; a `DefectError` says what is not as it has to be."""
    c = Choices(data)
    target = c.pick(TARGETS)
    call = target.make(c)
    before = [state(each) for each in (*call.args, *call.kwargs.values())]
    # What is written to may change.
    kept = len(call.args) + list(call.kwargs).index("out") if "out" in call.kwargs else None
    result: Any = None
    error: BaseException | None = None
    try:
        result = target.function(*call.args, **call.kwargs)
    except Exception as caught:
        error = caught
    said = _complaint(target, call, c, result, error)
    after = [state(each) for each in (*call.args, *call.kwargs.values())]
    for number, (was, now) in enumerate(zip(before, after, strict=True)):
        if was != now and number != kept:
            said = f"argument {number} was {was} and is {now}"
    if said:
        raise DefectError(f"{target.name}: {said}\n  {data.hex()}\n  {shown(call)}") from error
    return Done(target, call, error is None)


def _complaint(
    target: Target, call: calls.Call, c: Choices, result: Any, error: BaseException | None
) -> str:
    if error is not None:
        if not is_documented(error, target.documented):
            return f"undocumented: {error!r:.500}"
        if not c.tame or isinstance(error, MineError) or not call.judged:
            return ""
    try:
        check = call.wanted()
        if error is None:
            check(result)
    except calls.RefusedError:
        return f"accepted: {result!r:.500}" if error is None else ""
    except AssertionError as wrong:
        return f"wrong result {result!r:.500}: {wrong}"
    except (MineError, TypeError, ValueError, IndexError, OverflowError, MemoryError) as strange:
        # The arguments themselves do not let it be told what is right.
        return f"wrong result {result!r:.500}: {strange!r}" if c.tame else ""
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
        if array.dtype.hasobject or array.dtype.kind == "T":
            return (*about, repr(array.tolist()))
        return (*about, array.tobytes())
    if type(value) in (list, tuple) and depth:
        return (id(value), len(value), [state(each, depth - 1) for each in value[:100]])
    if type(value) in (dict, set):
        return (id(value), *map(id, value))
    return id(value)


def shown(call: calls.Call) -> str:
    """Text of the arguments, as far as they have one."""
    try:
        return f"{call.args!r:.1500} {call.kwargs!r:.500}"
    except Exception:
        return ", ".join(type(each).__name__ for each in call.args)


@contextmanager
def settled() -> Iterator[None]:
    """Let warnings be errors, but for what a sum of floats may say; write no file here."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        for kind in (RuntimeWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", kind)
        # NumPy's own, of a write that was asked for, to one of its arrays that it has marked.
        warnings.filterwarnings("ignore", "future versions will not create a writeable array")
        yield
