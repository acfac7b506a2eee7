"""Formally verified Broadcast: NumPy views whose shapes and strides come from proved programs.

The rule is SONNX multidirectional broadcasting. On sizes of at least 1 it is the rule of NumPy and
ONNX; a size of 0, however, broadcasts with nothing but 0. NumPy's rule, zero sizes included, has
its own functions, in `whycast.numpy_rule`, and so has each of the specifications that broadcast one
tensor to a given shape: `whycast.onnx`, `whycast.openvino`, `whycast.ngraph` and `whycast.lax`.
`whycast.reference` broadcasts plain lists. What is proved, and on what assumptions, stands in the
WhyML sources (``why3/``) and their replayed proofs (``proofs/``).
"""

from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference
from whycast._arrays import broadcast
from whycast._errors import AxisSizeError, BroadcastError
from whycast._shapes import broadcast_shapes, f, source_index

__version__ = "0.1.0"

__all__ = [
    "AxisSizeError",
    "BroadcastError",
    "__version__",
    "broadcast",
    "broadcast_shapes",
    "f",
    "lax",
    "ngraph",
    "numpy_rule",
    "onnx",
    "openvino",
    "reference",
    "source_index",
]
