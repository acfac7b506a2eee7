"""What is held against the rule: a function, a peer, or a program; opened in a child process."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from whycast._checks import show
from whycast._rules import Rule
from whycast.testing._cases._case import LEVELS, Case, Level
from whycast.testing._lines._program import Program
from whycast.testing._peers import PEERS, Function, ManyAtOnce, Peer, absent


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


class Opened(Protocol):
    """A target in the child process."""

    @property
    def title(self) -> str:
        """What reports call it: a peer with its version."""
        ...

    def function(self, rule: Rule, level: Level) -> Askable | None:
        """Return what answers at a level, with arguments as the rule's own function takes."""
        ...

    def left_out(self, rule: Rule, level: Level, case: Case) -> str | None:
        """Say why a case is not for this target, if it is not."""
        ...


class Target(Protocol):
    """A target as the parent process knows it; to be sent to the child."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def peer(self) -> str | None:
        """Name of the built-in peer, for the register of known deviations."""
        ...

    def open(self) -> Opened:
        """Prepare it, in the child process."""
        ...


@dataclass(frozen=True)
class FunctionTarget:
    """A Python function, or an object with one for each level, named like it."""

    value: object
    name: str
    peer: None = None

    def open(self) -> Opened:
        """Take it as it is."""
        return _OpenedObject(self.value, self.name)


@dataclass(frozen=True)
class NamedTarget:
    """A function, or an object with functions, named as ``module:name`` or ``file.py:name``."""

    name: str
    peer: None = None

    def open(self) -> Opened:
        """Import it."""
        module_name, _, path = self.name.rpartition(":")
        try:
            value: object = _imported(module_name)
            for part in path.split("."):
                value = getattr(value, part)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise TargetError(f"target {self.name}: cannot be imported: {text}") from error
        return _OpenedObject(value, self.name)


@dataclass(frozen=True)
class PeerTarget:
    """A built-in peer."""

    name: str

    @property
    def peer(self) -> str:
        """The peer's name."""
        return self.name

    def open(self) -> Opened:
        """Import what it needs."""
        return _OpenedPeer(PEERS[self.name])


@dataclass(frozen=True)
class ProgramTarget:
    """A program that answers lines of JSON."""

    arguments: tuple[str, ...]
    peer: None = None

    @property
    def name(self) -> str:
        """The command."""
        return " ".join(self.arguments)

    def open(self) -> Opened:
        """Start it."""
        return _OpenedProgram(self.arguments, self.name)


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
            return PeerTarget(value)
        if ":" in value:
            return NamedTarget(value)
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
        return ProgramTarget(tuple(value))
    if callable(value) or _levels_of(value):
        name = getattr(value, "__qualname__", type(value).__name__)
        return FunctionTarget(value, f"{getattr(value, '__module__', '?')}:{name}")
    raise TargetError(
        f"target: expected a function, a name or the arguments of a program, got {show(value)}"
    )


@dataclass
class _OpenedObject:
    value: object
    title: str

    def function(self, rule: Rule, level: Level) -> Callable[..., object] | None:
        offered = _levels_of(self.value)
        found: object = getattr(self.value, level, None) if offered else self.value
        if found is not None and not callable(found):
            raise TargetError(f"target {self.title}: expected a function, got {show(found)}")
        if any(map(_is_asynchronous, (found, getattr(found, "__call__", None)))):  # noqa: B004
            raise TargetError(
                f"target {self.title}: expected a function that returns its answer, got an "
                "asynchronous one"
            )
        return found

    def left_out(self, rule: Rule, level: Level, case: Case) -> str | None:
        return None


class _OpenedPeer:
    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.title = f"{peer.name} {peer.version}"
        # Before anything of it is imported: only then they are read.
        os.environ.update(peer.environment)

    def function(self, rule: Rule, level: Level) -> Function | ManyAtOnce | None:
        if self.peer.name not in rule.peers:
            return None
        return self.peer.functions(rule.name).get(level)

    def left_out(self, rule: Rule, level: Level, case: Case) -> str | None:
        return self.peer.left_out(rule.name, level, case)


@dataclass
class _OpenedProgram:
    arguments: Sequence[str]
    title: str
    running: list[Program] = field(default_factory=list)

    def function(self, rule: Rule, level: Level) -> Program | None:
        for each in self.running:
            each.stop()
        self.running = [Program(self.arguments, rule, level)]
        return self.running[0]

    def left_out(self, rule: Rule, level: Level, case: Case) -> str | None:
        return "a layout in memory, of which lines say nothing" if case.layouts else None


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
