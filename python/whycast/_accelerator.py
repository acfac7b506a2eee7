"""The accelerator: proved programs like those of the kernel, as C, on what is plain and common.

It is there where the package was built with a compiler. Each function answers as the kernel would,
or leaves the question to the kernel, by what is false: all errors are the kernel's, and so is all
else where there is no accelerator. So it is asked in one way, ``accelerator(...) or kernel(...)``;
calls are so short that a function in between would be felt. WHYCAST_NATIVE=0 in the environment
leaves it out, WHYCAST_NATIVE=1 demands it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from whycast._types import AnyArray, Shape, Strides

if TYPE_CHECKING:
    _Shapes: TypeAlias = Callable[[object], Shape | Literal[False] | None]
    _Strides: TypeAlias = Callable[[object, object, object], Strides | None]
    _Broadcast: TypeAlias = Callable[[AnyArray, AnyArray], bool | None]


def _leave(*arguments: object) -> None:
    """Answer nothing."""


native = False
"""Whether the accelerator is there."""
# [E_Broadcast_any_Derived_490]

broadcast_shapes: _Shapes = _leave
broadcast_strides: _Strides = _leave
broadcast: _Broadcast = _leave

if os.environ.get("WHYCAST_NATIVE") != "0":
    try:
        from whycast import _native
    except ImportError:
        if os.environ.get("WHYCAST_NATIVE") == "1":
            raise
    else:
        native = True
        broadcast_shapes = _native.broadcast_shapes
        broadcast_strides = _native.broadcast_strides
        broadcast = _native.broadcast


def copied(array: AnyArray, target: AnyArray) -> bool:
    """Whether the accelerator has copied an array, broadcast, to a target of the same dtype.

    It does so from memory that is contiguous. One of another layout is copied to such before, where
    that costs little beside the target.
    """
    done = broadcast(target, array)
    if done is False and 4 * array.nbytes <= target.nbytes:
        done = broadcast(target, array.copy())
    return bool(done)
