"""JAX on the CPU as a peer."""

from __future__ import annotations

from typing import Any

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function


def functions(rule: Rule) -> dict[str, Function]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    if rule.takes == "tensors":
        common = jnp.broadcast_shapes
        return {"verdict": common, "shape": common, "data": jnp.broadcast_arrays}
    operation: Function = lax.broadcast_in_dim if rule.takes == "axes" else jnp.broadcast_to

    def shape(own: Shape, *others: Shape) -> Shape:
        # Tracing computes nothing. Typed as Any: JAX's stubs are not visible outside.
        traced: Any = jax.ShapeDtypeStruct
        output = jax.eval_shape(lambda x: operation(x, *others), traced(own, np.int32))
        return tuple(output.shape)

    def data(array: AnyArray, *others: Shape) -> Any:
        # A copy: an array returned unchanged must not share memory with NumPy's.
        return operation(jnp.array(array), *others)

    return {"verdict": shape, "shape": shape, "data": data}
