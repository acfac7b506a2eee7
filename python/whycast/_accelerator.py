"""The accelerator: proved programs like those of the kernel, as C, on what is plain and common.

This module alone decides, once, whether it is available: it has to be built, and the environment
may say WHYCAST_NATIVE=0, to leave it out, or WHYCAST_NATIVE=1, to demand it. Each function answers
as the kernel would, or leaves the question to Python by None: all errors are Python's.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

native = False
"""Whether the accelerator works."""
# [E_Broadcast_any_Derived_490]


def _leave(*given: object) -> Any:
    """Leave every question to Python."""


# Of a tuple of shapes: the common one, and whether there is one. Of a tuple of tensors: the views.
broadcast_shapes = compatible = broadcast_views = _leave
# Write the elements of an array, the second, broadcast, to another, the first: then True.
broadcast = _leave
# The view of an array with a given shape, and with the common shape of its own and a given one.
broadcast_to = expand = _leave
# Of a shape and a target: the axes of the target along which elements repeat. Of a shape and axes:
# the sizes on all others.
repeated = p = _leave
# Of a shape, strides and a target: the strides of the view.
broadcast_strides = _leave
# The view of an array with a given shape: along axes that increase, along any, along all but these.
explicit = in_dim = ngraph = _leave


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
