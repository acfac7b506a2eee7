"""JAX on the CPU as a peer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from whycast._rules import Rule
from whycast.testing._peers import Function, ManyAtOnce

# What JAX refuses with.
_REFUSALS = (TypeError, ValueError)


def functions(rule: Rule) -> dict[str, Function | ManyAtOnce]:
    """Give what JAX has for a rule."""
    import jax.numpy as jnp
    from jax import lax

    if rule.takes == "tensors":
        shapes: Function | ManyAtOnce = jnp.broadcast_shapes
        operation: Function = jnp.broadcast_arrays
    else:
        operation = lax.broadcast_in_dim if rule.takes == "axes" else jnp.broadcast_to
        shapes = Traced(operation)
    return {"verdict": shapes, "shape": shapes, "data": Compiled(operation)}


class _Together(ABC):
    """An operation of which many calls are traced as one function."""

    def __init__(self, operation: Function) -> None:
        self.operation = operation

    def many(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Do all calls, and give the exception of those that are refused."""
        results: list[Any] = []
        split = [self._split(arguments) for arguments in calls]

        def traced(operands: Sequence[Sequence[Any]]) -> list[Any]:
            # Of a refused operation nothing is left in what is traced.
            found = []
            for own, (_, others) in zip(operands, split, strict=True):
                try:
                    found.append(self.operation(*own, *others))
                except _REFUSALS as error:
                    results.append(error)
                else:
                    results.append(None)
            return found

        outputs = iter(self._outputs(traced, [own for own, _ in split]))
        return [next(outputs) if result is None else result for result in results]

    @abstractmethod
    def _split(self, arguments: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
        """Part what is traced from what follows it, a target and axes."""

    @abstractmethod
    def _outputs(self, traced: Function, operands: list[list[Any]]) -> Iterable[Any]:
        """Give what a function of all operands makes of them."""


class Traced(_Together):
    """The shapes that an operation gives, without computing."""

    def _split(self, arguments: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
        import jax

        shape, *others = arguments
        # Without types, as seen from outside.
        traced: Any = jax.ShapeDtypeStruct
        return [traced(shape, np.int32)], tuple(others)

    def _outputs(self, traced: Function, operands: list[list[Any]]) -> Iterable[Any]:
        import jax

        return [output.shape for output in jax.eval_shape(traced, operands)]


class Compiled(_Together):
    """What an operation makes of arrays; alone, each call would be compiled for itself."""

    def _split(self, arguments: tuple[Any, ...]) -> tuple[list[Any], tuple[Any, ...]]:
        arrays = [each for each in arguments if isinstance(each, np.ndarray)]
        return arrays, arguments[len(arrays) :]

    def _outputs(self, traced: Function, operands: list[list[Any]]) -> Iterable[Any]:
        import jax

        return [_as_numpy(output) for output in jax.jit(traced)(operands)]


def _as_numpy(output: Any) -> Any:
    if isinstance(output, (list, tuple)):
        return [np.asarray(each) for each in output]
    return np.asarray(output)
