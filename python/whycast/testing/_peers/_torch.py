"""PyTorch on the CPU as a peer."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape, Strides
from whycast.testing._peers import Function, Named

if TYPE_CHECKING:
    import torch


def functions(rule: Rule) -> dict[str, Function]:
    if rule.takes == "tensors":
        found: dict[str, Function] = {
            "shape": _common,
            "strides": _strides,
            "data": _broadcast_tensors,
            "report": _common_of_tensors,
            "symbolic": _symbolic,
        }
    elif not rule.bidirectional:
        found = {"shape": _shape, "strides": _strides, "data": _broadcast_to, "report": _shape}
    else:
        found = {"shape": _common, "data": _expand}
    return {"verdict": found["shape"], **found}


def _tensor(array: AnyArray) -> torch.Tensor:
    """Make a tensor, on the array's own memory if torch allows that."""
    import torch

    flags = array.flags
    if not (flags.writeable and flags.aligned) or min(array.strides, default=0) < 0:
        array = np.array(array)
    return torch.from_numpy(array)


def of_arrays(function: Function) -> Function:
    """Let a function of tensors take arrays; pass other arguments unchanged."""

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        return function(*[_tensor(x) if isinstance(x, np.ndarray) else x for x in arguments])

    return called


def _without_elements(shape: Shape) -> torch.Tensor:
    import torch

    # With strides of 0 even 2^64 bytes are not too large.
    return torch.empty((), device="meta").expand(shape)


def _common(*shapes: Shape) -> Shape:
    import torch

    return tuple(torch.broadcast_shapes(*shapes))


def _common_of_tensors(*shapes: Shape) -> Shape:
    """Return the common shape; errors name the axis, unlike those of torch.broadcast_shapes."""
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


def _symbolic(*shapes: Named) -> tuple[Named, list[str]]:
    """Return the shape of a sum of fake tensors, and the equations that torch asserts.

    The sizes are symbols without a value, as torch.export has for sizes that depend on data.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    known = ShapeEnv()
    sizes: dict[str, Any] = {}
    names: dict[str, str] = {}

    def size_of(size: int | str | None) -> Any:
        if not isinstance(size, str):
            return size
        if size not in sizes:
            sizes[size] = known.create_unbacked_symint()
            # The symbol's text may change later: torch replaces symbols that it has resolved.
            names[str(sizes[size])] = size
        return sizes[size]

    def written(said: Any) -> str:
        if said.func.__name__ == "Or":
            return " or ".join(map(written, said.args))
        if not (said.is_Relational and said.rel_op == "=="):
            raise NotImplementedError(f"torch asserts {said}")
        return " = ".join(names.get(str(side), str(side)) for side in said.args)

    with FakeTensorMode(shape_env=known):
        tensors = [torch.empty([size_of(size) for size in shape]) for shape in shapes]
        total: Any = functools.reduce(operator.add, tensors)
    asserted = [each.expr for own in known.deferred_runtime_asserts.values() for each in own]
    told = [each for each in asserted if each.func.__name__ != "LessThan" or each.args[0] != 0]
    shape = [size if isinstance(size, int) else names.get(str(size)) for size in total.shape]
    return tuple(shape), list(dict.fromkeys(map(written, told)))
