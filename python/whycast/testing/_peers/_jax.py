"""JAX on the CPU as a peer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whycast._rules import Rule
from whycast.testing._peers import Function, ManyAtOnce

# The arguments that are traced, and those that follow them, a target and axes.
Split = tuple[list[Any], tuple[Any, ...]]

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
        shapes = Together(operation, _shapes_apart, _traced)
    return {
        "verdict": shapes,
        "shape": shapes,
        "data": Together(operation, _arrays_apart, _compiled),
    }


@dataclass(frozen=True)
class Together:
    """An operation of which many calls are traced as one function.

    `split` parts the arguments of a call; `outputs` gives what a function of all operands makes of
    them.
    """

    operation: Function
    split: Callable[[tuple[Any, ...]], Split]
    outputs: Callable[[Function, list[list[Any]]], Iterable[Any]]

    def many(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Do all calls, and give the exception of those that are refused."""
        results: list[Any] = []
        split = [self.split(arguments) for arguments in calls]

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

        outputs = iter(self.outputs(traced, [own for own, _ in split]))
        return [next(outputs) if result is None else result for result in results]


def _shapes_apart(arguments: tuple[Any, ...]) -> Split:
    import jax

    shape, *others = arguments
    # Without types, as seen from outside.
    traced: Any = jax.ShapeDtypeStruct
    return [traced(shape, np.int32)], tuple(others)


def _arrays_apart(arguments: tuple[Any, ...]) -> Split:
    arrays = [each for each in arguments if isinstance(each, np.ndarray)]
    return arrays, arguments[len(arrays) :]


def _traced(function: Function, operands: list[list[Any]]) -> Iterable[Any]:
    """Give the shapes, without computing."""
    import jax

    return [output.shape for output in jax.eval_shape(function, operands)]


def _compiled(function: Function, operands: list[list[Any]]) -> Iterable[Any]:
    """Give the arrays; alone, each call would be compiled for itself."""
    import jax

    return [_as_numpy(output) for output in jax.jit(function)(operands)]


def _as_numpy(output: Any) -> Any:
    if isinstance(output, (list, tuple)):
        return [np.asarray(each) for each in output]
    return np.asarray(output)
