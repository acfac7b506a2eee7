"""The accelerator: the kernel's programs, proved as C, for plain arguments.

Only this module decides, once, whether the accelerator is available. Each function returns its
result, or None to leave the question to Python, which raises the errors of arguments.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

native = False
"""Whether the accelerator is in use."""
# [E_Broadcast_any_Derived_490]


def _leave(*given: object) -> Any:
    """Leave every question to Python."""


# Argument: a tuple of shapes or tensors.
broadcast_shapes = compatible = broadcast_views = _leave
# Arguments: an output, and an array to broadcast to it; returns True.
broadcast = _leave
# Arguments: an array and a shape.
broadcast_to = expand = _leave
# `repeated`: a shape and a target; `p`: a shape and axes; `broadcast_strides`: a shape, strides and
# a target.
repeated = p = broadcast_strides = _leave
# Arguments: an array, a shape and axes.
explicit = in_dim = ngraph = _leave

_asked = os.environ.get("WHYCAST_NATIVE")
if _asked not in (None, "0", "1"):
    raise ValueError(f"WHYCAST_NATIVE: expected 0, 1 or no value, got {_asked!r}")
if _asked != "0":
    try:
        _native = importlib.import_module("whycast._native")
    except ImportError as _error:
        if _asked == "1":
            raise ImportError(
                "WHYCAST_NATIVE=1 demands the accelerator, which is missing: unset the variable, "
                "or run pip install . in a checkout of whycast, with a C compiler"
            ) from _error
    else:
        native = True
        # A wrapper would slow down each call.
        for _name in _native.__dir__():
            if not _name.startswith("_"):
                globals()[_name] = getattr(_native, _name)
