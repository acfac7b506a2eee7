"""The accelerator: `_native.c`. Each function answers, or leaves the question to Python: None."""

from typing import Literal

from whycast._types import Shape, Strides

def broadcast_shapes(shapes: object, /) -> Shape | Literal[False] | None:
    """Give the common shape of a tuple of shapes; False where they do not broadcast."""

def broadcast_strides(shape: object, strides: object, target: object, /) -> Strides | None:
    """Give the strides of the view of a tensor."""

def broadcast(output: object, input: object, /) -> bool | None:
    """Write an array, broadcast, to another; False where it would have to be contiguous."""
