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
from typing import Any, TypeVar

_T0 = TypeVar("_T0")
_T1 = TypeVar("_T1")
_T2 = TypeVar("_T2")
_AnswerT = TypeVar("_AnswerT")

native = False
"""Whether the accelerator works."""
# [E_Broadcast_any_Derived_490]


def _of_one(given: _T0, otherwise: Callable[[_T0], _AnswerT], /) -> _AnswerT:
    return otherwise(given)


def _of_two(one: _T0, two: _T1, otherwise: Callable[[_T0, _T1], _AnswerT], /) -> _AnswerT:
    return otherwise(one, two)


def _of_three(
    one: _T0, two: _T1, three: _T2, otherwise: Callable[[_T0, _T1, _T2], _AnswerT], /
) -> _AnswerT:
    return otherwise(one, two, three)


def leave(*given: object) -> Any:
    """Answer None: the last argument of who goes on by itself."""


# Of a tuple of shapes: the common one, and whether there is one. Of a tuple of tensors: the views.
broadcast_shapes = compatible = broadcast_views = _of_one
# Write the elements of an array, the second, broadcast, to another, the first.
broadcast = _of_two
# The view of an array with a given shape, and with the common shape of its own and a given one.
broadcast_to = expand = _of_two
# Of a shape and a target: the axes of the target along which elements repeat. Of a shape and axes:
# the sizes on all others.
repeated = p = _of_two
# Of a shape, strides and a target: the strides of the view.
broadcast_strides = _of_three
# The view of an array with a given shape: along axes that increase, along any, along all but these.
explicit = in_dim = ngraph = _of_three


_asked = os.environ.get("WHYCAST_NATIVE")
if _asked not in (None, "0", "1"):
    raise ValueError(f"WHYCAST_NATIVE: expected 0 or 1, or that it is not set, got {_asked!r}")
if _asked != "0":
    try:
        _native = importlib.import_module("whycast._native")
    except ImportError as _error:
        if _asked == "1":
            raise ImportError(
                "WHYCAST_NATIVE=1 demands the accelerator, and there is none: unset the variable, "
                "or build it with a C compiler, by pip install . in a checkout of whycast"
            ) from _error
    else:
        native = True
        # They are called so often that a function in between would be felt.
        for _name in _native.__dir__():
            if not _name.startswith("_"):
                globals()[_name] = getattr(_native, _name)
