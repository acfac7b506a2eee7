"""What a built-in peer answers to single calls, in a child process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

import numpy as np
import pytest

from whycast._rules import RULES
from whycast.testing._peers import PEERS, ManyAtOnce, absent

_P = ParamSpec("_P")
_T = TypeVar("_T")

# What was returned: shape, dtype and elements; None where the call was refused.
Answer = tuple[tuple[int, ...], str, bytes] | None

# Many times what the slowest takes; without a limit, one that hangs would hang the tests.
_SECONDS = 240


def require(name: str) -> None:
    """Skip the test where the peer is not installed; the summary then names what is missing."""
    if missing := absent(PEERS[name]):
        pytest.skip(missing)


def apart(function: Callable[_P, _T], *arguments: _P.args, **keywords: _P.kwargs) -> _T:
    """Call a function in a child process."""
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        return pool.submit(function, *arguments, **keywords).result(_SECONDS)


def ask(name: str, rule: str, calls: Sequence[tuple[object, ...]]) -> list[Answer]:
    """Ask a peer for arrays."""
    require(name)
    return apart(_answers, name, rule, calls)


def _answers(name: str, rule: str, calls: Sequence[tuple[object, ...]]) -> list[Answer]:
    peer = PEERS[name]
    os.environ.update(peer.environment)
    function = peer.functions(RULES[rule])["data"]
    if isinstance(function, ManyAtOnce):
        return [taken(result) for result in function.many(calls)]
    return [taken(attempt(function, *call)) for call in calls]


def attempt(function: Callable[..., object], *arguments: object) -> object:
    """Return what a function returns, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def taken(result: object) -> Answer:
    """Take down an array."""
    if isinstance(result, Exception):
        return None
    array = np.asarray(result)
    return array.shape, array.dtype.name, array.tobytes()
