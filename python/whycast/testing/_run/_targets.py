"""What is held against the rule: a function, a peer, or a program; opened in a child process."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from whycast._checks import show
from whycast._rules import Rule
from whycast.testing._cases._case import LEVELS, Case, Level
from whycast.testing._lines._program import Program
from whycast.testing._peers import PEERS, Function, ManyAtOnce, absent


class TargetError(ValueError):
    """There is no such target, or it cannot be asked.

    Parameters
    ----------
    text : str
        What is wrong.

    Notes
    -----
    It is a ValueError. `check` raises it, and never for what an answer to a case is.
    """


# What can be asked.
Askable: TypeAlias = Function | ManyAtOnce | Program


@dataclass(frozen=True)
class Opened:
    """A target in the child process: what reports call it, a peer with its version.

    `function` returns what answers at a level, with arguments as the rule's own function takes, and
    `left_out` says why a case is not for it, if it is not.
    """

    title: str
    function: Callable[[Rule, Level], Askable | None]
    left_out: Callable[[Rule, Level, Case], str | None] = lambda rule, level, case: None


@dataclass(frozen=True)
class Target:
    """A target as the parent process knows it; to be sent to the child, which opens it.

    `given` is what `opens` has to be given. Where it is a built-in peer, `peer` is its name, for
    the register of known deviations.
    """

    name: str
    given: Any
    opens: Callable[[Any, str], Opened]
    peer: str | None = None

    @property
    def is_program(self) -> bool:
        """Whether it answers lines of JSON."""
        return self.opens is _program

    def open(self) -> Opened:
        """Prepare it, in the child process."""
        return self.opens(self.given, self.name)


def target_of(value: object) -> Target:
    """Return what a user means by a target.

    >>> target_of("numpy").name
    'numpy'
    >>> target_of("numpi")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    whycast.testing.TargetError: target 'numpi': expected one of numpy, ..., jax, \
or module:function, or file.py:function
    """
    if isinstance(value, str):
        if value in PEERS:
            if missing := absent(PEERS[value]):
                raise TargetError(f"target {value}: {missing}")
            return Target(value, value, _peer, peer=value)
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


def _object(value: object, name: str) -> Opened:
    """Take a function, or an object with one for each level that is named like it, as it is."""

    def function(rule: Rule, level: Level) -> Askable | None:
        found: object = getattr(value, level, None) if _levels_of(value) else value
        if found is not None and not callable(found):
            raise TargetError(f"target {name}: expected a function, got {show(found)}")
        if any(map(_is_asynchronous, (found, getattr(found, "__call__", None)))):  # noqa: B004
            raise TargetError(
                f"target {name}: expected a function that returns its answer, got an asynchronous "
                "one"
            )
        return found

    return Opened(name, function)


def _named(path: str, name: str) -> Opened:
    """Import a function or an object, ``module:name`` or ``file.py:name``."""
    module_name, _, within = path.rpartition(":")
    try:
        value: object = _imported(module_name)
        for part in within.split("."):
            value = getattr(value, part)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise TargetError(f"target {name}: cannot be imported: {text}") from error
    return _object(value, name)


def _peer(peer_name: str, name: str) -> Opened:
    """Prepare to import a built-in peer."""
    peer = PEERS[peer_name]
    # Before anything of it is imported: only then they are read.
    os.environ.update(peer.environment)
    return Opened(
        f"{peer.name} {peer.version}",
        lambda rule, level: peer.functions(rule.name).get(level) if name in rule.peers else None,
        lambda rule, level, case: peer.left_out(rule.name, level, case),
    )


def _program(arguments: Sequence[str], name: str) -> Opened:
    """Start a program for each level, and end that of the one before."""
    running: list[Program] = []

    def function(rule: Rule, level: Level) -> Program:
        for each in running:
            each.stop()
        running[:] = [Program(arguments, rule, level)]
        return running[0]

    def left_out(rule: Rule, level: Level, case: Case) -> str | None:
        return "a layout in memory, of which lines say nothing" if case.layouts else None

    return Opened(name, function, left_out)


def _levels_of(value: object) -> list[Level]:
    """Levels for which an object that is no function has one."""
    return [level for level in LEVELS if callable(getattr(value, level, None))]


def _is_asynchronous(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _imported(name: str) -> object:
    # As `python -m` does; an installed command looks in its own folder.
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    # What lies beside the file is found, as if the file had been run.
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
