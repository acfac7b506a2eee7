"""JAX on the CPU as a peer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function

if TYPE_CHECKING:
    import jax

# What JAX refuses with.
_REFUSALS = (TypeError, ValueError)

# A compiled function takes about this many calls before the time for each of them grows.
_AT_ONCE = 500


def functions(rule: str) -> dict[str, Function]:
    """Give what JAX has for a rule."""
    import jax.numpy as jnp
    from jax import lax

    if rule in ("numpy", "sonnx"):
        shape: Function = jnp.broadcast_shapes
        return {"verdict": shape, "shape": shape, "data": Compiled(jnp.broadcast_arrays)}
    operation = lax.broadcast_in_dim if rule == "in-dim" else jnp.broadcast_to
    shape = partial(_traced_shape, operation)
    return {"verdict": shape, "shape": shape, "data": Compiled(operation)}


def _traced_shape(operation: Function, shape: Shape, *arguments: Shape) -> Shape:
    import jax

    traced = jax.ShapeDtypeStruct(shape, np.int32)
    return jax.eval_shape(lambda x: operation(x, *arguments), traced).shape


class Compiled:
    """An operation on arrays, of which many calls are compiled as one."""

    def __init__(self, operation: Callable[..., Any]) -> None:
        self.operation = operation

    def __call__(self, *arguments: Any) -> Any:
        """Do one call."""
        (result,) = self.many([arguments])
        if isinstance(result, Exception):
            raise result
        return result

    def many(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Do all calls, and give the exception of those that are refused."""
        return [
            result
            for start in range(0, len(calls), _AT_ONCE)
            for result in self._together(calls[start : start + _AT_ONCE])
        ]

    def _together(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        import jax

        results: list[Any] = []

        def accepted(arrays: Iterable[Sequence[jax.Array]]) -> list[Any]:
            # Of a refused operation nothing is left in what is traced.
            found = []
            for (_, others), own in zip(split, arrays, strict=True):
                try:
                    found.append(self.operation(*own, *others))
                except _REFUSALS as error:
                    results.append(error)
                else:
                    results.append(None)
            return found

        split = [_split(arguments) for arguments in calls]
        outputs = iter(jax.jit(accepted)([arrays for arrays, _ in split]))
        return [_as_numpy(next(outputs)) if result is None else result for result in results]


def _split(arguments: tuple[Any, ...]) -> tuple[list[AnyArray], list[Any]]:
    """Part arrays from what follows them, a target and axes."""
    arrays = [each for each in arguments if isinstance(each, np.ndarray)]
    return arrays, list(arguments[len(arrays) :])


def _as_numpy(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [np.asarray(each) for each in result]
    return np.asarray(result)
