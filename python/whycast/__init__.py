"""Formally verified Broadcast: NumPy views whose shapes and strides come from proved programs.

The rule is SONNX multidirectional broadcasting. On sizes of at least 1 it is the rule of NumPy and
ONNX; a size of 0, however, broadcasts with nothing but 0. NumPy's rule, zero sizes included, has
its own functions, in `whycast.numpy_rule`, and so has each of the specifications that broadcast one
tensor to a given shape: `whycast.onnx`, `whycast.openvino`, `whycast.ngraph`, `whycast.lax` and
`whycast.torch`. `whycast.reference` broadcasts plain lists. The command ``whycast`` answers from
the same programs, and `whycast.testing`, imported when it is asked for, holds an implementation of
your own against them. What is proved, and on what assumptions, stands in the WhyML sources
(``why3/``) and their replayed proofs (``proofs/``).

What Python or NumPy cannot hold, a shape of 2**62 sizes or the elements of an array of such a size,
is refused before anything is made, by a ValueError that names the argument, or the shape and dtype;
where only the room is missing it is a MemoryError. Views are read-only and on the memory of their
arrays, and results are plain ndarrays also where an argument is a numpy.matrix, memmap or recarray.
An array of another subclass may mean more than its elements, by a mask or a unit for instance: it
is refused by a TypeError, and `numpy.asarray` makes a plain one of it.

`native` says whether an accelerator works for the package: the same rule in C, proved as well and
built where there was a compiler. It makes shapes, views and copies faster, nothing else; the
environment variable ``WHYCAST_NATIVE=0`` leaves it out, ``WHYCAST_NATIVE=1`` demands it.

>>> import numpy as np
>>> import whycast
>>> column, row = whycast.broadcast(np.array([[1], [2], [3]]), np.array([10, 20, 30, 40]))
>>> column + row
array([[11, 21, 31, 41],
       [12, 22, 32, 42],
       [13, 23, 33, 43]])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference, torch
from whycast._accelerator import native
from whycast._adjoints import sum_to_shape
from whycast._arrays import broadcast
from whycast._errors import AxisSizeError, BroadcastError
from whycast._plans import LoopPlan, plan
from whycast._shapes import broadcast_shapes, broadcast_strides, compatible, f, source_index
from whycast._views import broadcast_to

if TYPE_CHECKING:
    from whycast import testing as testing

__version__ = "1.0.0"

__all__ = [
    "AxisSizeError",
    "BroadcastError",
    "LoopPlan",
    "__version__",
    "broadcast",
    "broadcast_shapes",
    "broadcast_strides",
    "broadcast_to",
    "compatible",
    "f",
    "lax",
    "native",
    "ngraph",
    "numpy_rule",
    "onnx",
    "openvino",
    "plan",
    "reference",
    "source_index",
    "sum_to_shape",
    "torch",
]

# Tracebacks, help and pickles name them as callers do.
for _each in (
    *(broadcast, broadcast_shapes, broadcast_strides, broadcast_to, compatible, f, source_index),
    *(LoopPlan, plan, sum_to_shape),
):
    _each.__module__ = "whycast"


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # The import sets the attribute: there is no second time.
        if name == "testing":
            return import_module("whycast.testing")
        raise AttributeError(f"module 'whycast' has no attribute {name!r}")
