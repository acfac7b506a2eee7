"""PyTorch on the CPU as a peer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape, Strides
from whycast.testing._peers import Function

if TYPE_CHECKING:
    import torch


def functions(rule: Rule) -> dict[str, Function]:
    if rule.takes == "tensors":
        found: dict[str, Function] = {
            "shape": _common,
            "strides": _strides,
            "data": _broadcast_tensors,
            "report": _common_of_tensors,
        }
    elif not rule.bidirectional:
        found = {"shape": _shape, "strides": _strides, "data": _broadcast_to, "report": _shape}
    else:
        found = {"shape": _common, "data": _expand}
    return {"verdict": found["shape"], **found}


def _tensor(array: AnyArray) -> torch.Tensor:
    """Make a tensor, on the array's own memory where torch allows it."""
    import torch

    if not array.flags.writeable or min(array.strides, default=0) < 0:
        array = np.array(array)
    return torch.from_numpy(array)


def _without_elements(shape: Shape) -> torch.Tensor:
    import torch

    # With strides of 0 even 2^64 bytes and more are not too large.
    return torch.empty((), device="meta").expand(shape)


def _common(*shapes: Shape) -> Shape:
    import torch

    return tuple(torch.broadcast_shapes(*shapes))


def _common_of_tensors(*shapes: Shape) -> Shape:
    """Return the common shape of tensors: these errors name an axis, those of shapes do not."""
    import torch

    tensors = torch.broadcast_tensors(*map(_without_elements, shapes))
    return tuple(tensors[0].shape)


def _shape(shape: Shape, target: Shape) -> Shape:
    return tuple(_without_elements(shape).broadcast_to(target).shape)


def _strides(shape: Shape, strides: Strides, target: Shape) -> Strides:
    import torch

    tensor = torch.empty_strided(shape, strides, device="meta")
    return tuple(tensor.broadcast_to(target).stride())


def _broadcast_tensors(*arrays: AnyArray) -> list[Any]:
    import torch

    return [tensor.numpy() for tensor in torch.broadcast_tensors(*map(_tensor, arrays))]


def _broadcast_to(array: AnyArray, target: Shape) -> Any:
    return _tensor(array).broadcast_to(target).numpy()


def _expand(array: AnyArray, target: Shape) -> Any:
    import torch

    return torch.broadcast_tensors(_tensor(array), torch.zeros(()).expand(target))[0].numpy()
