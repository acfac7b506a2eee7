"""JAX on the CPU as a peer."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function, Named


def functions(rule: Rule) -> dict[str, Function]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    # The process may have imported JAX before `environment` was set.
    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    if rule.takes == "tensors":
        common = jnp.broadcast_shapes
        arrays = jnp.broadcast_arrays
        return {"verdict": common, "shape": common, "data": arrays, "symbolic": _symbolic}
    operation: Function = lax.broadcast_in_dim if rule.takes == "axes" else jnp.broadcast_to

    def shape(own: Shape, *others: Shape) -> Shape:
        # Tracing computes nothing.
        traced: Any = jax.ShapeDtypeStruct
        output = jax.eval_shape(lambda x: operation(x, *others), traced(own, np.int32))
        return tuple(output.shape)

    def data(array: AnyArray, *others: Shape) -> Any:
        # Make a copy: an unchanged array must not share memory with NumPy's.
        return operation(jnp.array(array), *others)

    return {"verdict": shape, "shape": shape, "data": data}


def _symbolic(*shapes: Named) -> Named:
    """Return the shape of a sum; JAX's dimension variables are at least 1."""
    import jax
    from jax import export

    # JAX accepts only identifiers as names.
    sizes = list(dict.fromkeys(size for shape in shapes for size in shape if isinstance(size, str)))
    scope = export.SymbolicScope()

    def spelled(size: int | str | None) -> str:
        return f"v{sizes.index(size)}" if isinstance(size, str) else str(size)

    typed: Any = jax.ShapeDtypeStruct
    tensors = [
        typed(export.symbolic_shape(", ".join(map(spelled, shape)), scope=scope), np.float32)
        for shape in shapes
    ]
    found = jax.eval_shape(lambda *x: functools.reduce(operator.add, x), *tensors)
    names = {f"v{k}": name for k, name in enumerate(sizes)}
    return tuple(size if isinstance(size, int) else names.get(str(size)) for size in found.shape)
