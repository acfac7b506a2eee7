"""The accelerator: proved programs like those of the kernel, as C, on what is plain and common.

Here alone it is decided, once, whether it works: it has to have been built, and the environment may
say WHYCAST_NATIVE=0, to leave it out, or WHYCAST_NATIVE=1, to demand it, and nothing else. Each
function answers as the kernel would, or leaves the question to Python: it then calls its last
argument with the others. So all errors are Python's, and so is all else where there is no
accelerator.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import TypeVar

from whycast._types import AnyArray, Shape, Strides

_GivenT = TypeVar("_GivenT")
_AnswerT = TypeVar("_AnswerT")

native = False
"""Whether the accelerator works."""
# [E_Broadcast_any_Derived_490]


def broadcast_shapes(
    shapes: _GivenT, otherwise: Callable[[_GivenT], _AnswerT], /
) -> Shape | _AnswerT:
    """Give the common shape of a tuple of shapes."""
    return otherwise(shapes)


def compatible(shapes: _GivenT, otherwise: Callable[[_GivenT], bool], /) -> bool:
    """Tell whether the shapes in a tuple broadcast."""
    return otherwise(shapes)


def broadcast_strides(
    shape: _GivenT,
    strides: _GivenT,
    target: _GivenT,
    otherwise: Callable[[_GivenT, _GivenT, _GivenT], Strides],
    /,
) -> Strides:
    """Give the strides of the view of a tensor."""
    return otherwise(shape, strides, target)


def broadcast(
    output: AnyArray, input: AnyArray, otherwise: Callable[[AnyArray, AnyArray], None], /
) -> None:
    """Write the elements of an array, broadcast, to another."""
    otherwise(output, input)


_asked = os.environ.get("WHYCAST_NATIVE")
if _asked not in (None, "0", "1"):
    raise ValueError(f"WHYCAST_NATIVE: expected 0 or 1, or that it is not set, got {_asked!r}")
if _asked != "0":
    try:
        _native = importlib.import_module("whycast._native")
    except ImportError:
        if _asked == "1":
            raise
    else:
        native = True
        # They are called so often that a function in between would be felt.
        for _name in ("broadcast", "broadcast_shapes", "broadcast_strides", "compatible"):
            globals()[_name] = getattr(_native, _name)
