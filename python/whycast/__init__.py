"""Formally verified Broadcast: NumPy views whose shapes and strides come from proved programs.

The rule is SONNX multidirectional broadcasting: the rule of NumPy and ONNX, except that a size of 0
broadcasts only with 0. `whycast.numpy_rule` follows NumPy's rule. `whycast.onnx`, `openvino`,
`ngraph`, `lax` and `torch` broadcast a tensor to a shape. `whycast.symbolic` takes sizes that have
names, `whycast.reference` plain lists. `whycast.testing` checks your implementation. The command
line is ``whycast``.

The Notes of a function name its theory (``why3/``), and usually its program. The program is proved
to return the theory's result, and to raise exactly if there is none (assumptions: ``proofs/``).
Lemmas ``view_offset`` (``why3/memory/layout.mlw``), ``explicit_offset``, ``in_dim_offset`` and
``ngraph_offset`` (``why3/memory/axes_layout.mlw``) prove that views are correct for any strides.

If Python or NumPy cannot hold a shape, such as one of rank 2**62, functions raise ValueError
before they allocate a result. If only the result lacks memory, they raise MemoryError. By default,
new arrays are plain ndarrays, also for a numpy.matrix, memmap or recarray. Other subclasses, which
may carry a mask or a unit, raise TypeError; `numpy.asarray` makes a plain array.

`native` is true if the accelerator is in use: the same programs, proved as C, for faster shapes,
views and copies. In the environment, ``WHYCAST_NATIVE=0`` turns it off, ``1`` requires it.

>>> import numpy as np
>>> import whycast
>>> column, row = whycast.broadcast(np.array([[1], [2], [3]]), np.array([10, 20, 30, 40]))
>>> column + row
array([[11, 21, 31, 41],
       [12, 22, 32, 42],
       [13, 23, 33, 43]])
"""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference, symbolic, torch
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
    "symbolic",
    "torch",
]

# Tracebacks, help and pickles show the public module.
for _name in __all__:
    if getattr(globals()[_name], "__module__", "").startswith("whycast."):
        globals()[_name].__module__ = "whycast"


def __dir__() -> list[str]:
    return __all__


for _each in (lax, ngraph, numpy_rule, onnx, openvino, reference, symbolic, torch):
    vars(_each)["__dir__"] = partial(list, _each.__all__)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # Called once for `testing`: the import sets the attribute.
        if name == "testing":
            return import_module("whycast.testing")
        raise AttributeError(f"module 'whycast' has no attribute {name!r}")
