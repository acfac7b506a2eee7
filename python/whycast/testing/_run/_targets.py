"""The targets of a check: a function, a peer, or a program; a child process opens them."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from whycast._checks import show
from whycast._rules import Rule
from whycast.testing._cases._case import ALL_LEVELS, OF_ARRAYS, Case, Level
from whycast.testing._lines import _elements
from whycast.testing._lines._program import Program
from whycast.testing._peers import PEERS, Function, absent


class TargetError(ValueError):
    """The target is unknown or unusable; a ValueError.

    Parameters
    ----------
    text : str
        The reason.

    Notes
    -----
    `check` never raises it for an answer to a case.
    """


Askable: TypeAlias = Function | Program


@dataclass(frozen=True)
class Opened:
    """A target in the child process; `title` is its name in reports, with a peer's version.

    `function` returns the function or program of a level, or None; `left_out` returns why a case is
    left out, or None. `code` makes the function `f`; it may contain {level} for a level's name.
    """

    title: str
    function: Callable[[Level], Askable | None]
    left_out: Callable[[Level, Case], str | None] = lambda level, case: None
    code: str = ""


@dataclass(frozen=True)
class Target:
    """A target in the parent process; the child opens it. `given` is the user's value."""

    name: str
    given: Any
    opens: Callable[[Target, Rule], Opened]

    @property
    def is_program(self) -> bool:
        return self.opens is _program


def target_of(value: object) -> Target:
    if isinstance(value, str):
        if value in PEERS:
            if missing := absent(PEERS[value]):
                raise TargetError(f"target {value}: {missing}")
            return Target(value, value, _peer)
        if ":" in value:
            return Target(value, value, _named)
        raise TargetError(
            f"target {value!r}: expected one of {', '.join(PEERS)}, or module:function, "
            "or file.py:function"
        )
    if isinstance(value, (list, tuple)):
        if not value or not all(isinstance(each, str) for each in value):
            raise TargetError(f"target: expected a program and its arguments, got {show(value)}")
        if shutil.which(value[0]) is None:
            wrong = "cannot be run" if Path(value[0]).exists() else "there is no such program"
            raise TargetError(f"target {value[0]}: {wrong}")
        return Target(" ".join(value), tuple(value), _program)
    if callable(value) or _levels_of(value):
        name = getattr(value, "__qualname__", type(value).__name__)
        return Target(f"{getattr(value, '__module__', '?')}:{name}", value, _object)
    raise TargetError(
        f"target: expected a function, a name or the arguments of a program, got {show(value)}"
    )


def _object(target: Target, rule: Rule) -> Opened:
    value = target.given

    def function(level: Level) -> Askable | None:
        found: object = getattr(value, level, None) if _levels_of(value) else value
        if found is None and level == "vjp":
            found = getattr(value, "adjoint", None)
        if found is not None and not callable(found):
            raise TargetError(f"target {target.name}: expected a function, got {show(found)}")
        for each in (found, getattr(found, "__call__", None)):  # noqa: B004
            if inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each):
                text = "expected a function that returns its answer, got an asynchronous one"
                raise TargetError(f"target {target.name}: {text}")
        return found

    module, _, name = target.name.rpartition(":")
    try:
        known = attrgetter(name)(sys.modules[module]) is value
    except (AttributeError, KeyError):
        known = False
    return Opened(target.name, function, code=_code(module, name, value) if known else "")


def _code(module: str, name: str, value: object) -> str:
    """Return the code that imports a function as `f`.

    >>> _code("numpy", "add", sum), _code("numpy", "linalg.norm", sum)
    ('from numpy import add as f', 'from numpy import linalg; f = linalg.norm')
    """
    first = name.partition(".")[0]
    name += ".{level}" if _levels_of(value) else ""
    return f"from {module} import {first}" + (" as f" if name == first else f"; f = {name}")


def _named(target: Target, rule: Rule) -> Opened:
    module_name, _, within = target.given.rpartition(":")
    try:
        value: object = attrgetter(within)(_imported(module_name))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        path = Path(os.path.relpath(module_name)).with_suffix("")
        if module_name.endswith(".py") and "relative import" in text:
            text += f"; expected {'.'.join(path.parts)}:{within}"
        raise TargetError(f"target {target.name}: cannot be imported: {text}") from error
    path = Path(module_name)
    name = path.stem if module_name.endswith(".py") else module_name
    code = _code(name, within, value)
    if path.parent != Path():
        code = f"import sys; sys.path.insert(0, {str(path.parent)!r}); {code}"
    if name.partition(".")[0] == "torch" and callable(value):
        value = importlib.import_module("whycast.testing._peers._torch").of_arrays(value)
        code = f"import {name}; f = lambda *x: {name}.{within}(*map(torch.as_tensor, x))"
    return replace(_object(replace(target, given=value), rule), code=code)


def _peer(target: Target, rule: Rule) -> Opened:
    peer = PEERS[target.given]
    # Peers read the environment only during the import.
    os.environ.update(peer.environment)
    follows = peer.name in rule.peers
    return Opened(
        f"{peer.name} {peer.version}",
        lambda level: peer.functions(rule).get(level) if follows else None,
        peer.left_out,
    )


def _program(target: Target, rule: Rule) -> Opened:
    running: list[Program] = []

    def function(level: Level) -> Program:
        if level == "symbolic":
            text = "expected a function at level symbolic: lines of JSON have no names of sizes"
            raise TargetError(f"target {target.name}: {text}")
        if not running or running[0].level != level:
            for each in running:
                each.stop()
            running[:] = [Program(target.given, rule, level)]
        return running[0]

    def left_out(level: Level, case: Case) -> str | None:
        if level == "inplace" and not {*case.dtypes} <= {*_elements.FIXED_WIDTH}:
            return "lines have no bytes of the dtype in memory"
        if case.layouts and level != "inplace":
            return "lines have no layout in memory"
        return _elements.left_out(rule, case) if level in OF_ARRAYS else None

    return Opened(target.name, function, left_out)


def _levels_of(value: object) -> list[Level]:
    return [level for level in ALL_LEVELS if callable(getattr(value, level, None))]


def _imported(name: str) -> object:
    # As with `python -m`: the path of an installed command lacks the current folder.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not name.endswith(".py"):
        return importlib.import_module(name)
    # As for a script: a file may import its neighbours.
    path = Path(name).resolve()
    sys.path.insert(0, str(path.parent))
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
