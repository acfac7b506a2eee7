"""Libraries of arrays that have the functions of NumPy, by its names, as peers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np

from whycast._rules import Rule
from whycast._types import AnyArray, Shape
from whycast.testing._peers import Function

Convert = Callable[[Any], Any]


def _functions(rule: Rule, library: Any, make: Convert, back: Convert) -> dict[str, Function]:
    """Give what a library has for a rule: `make` takes an array of NumPy's, `back` gives one."""

    def arrays(*given: AnyArray) -> list[Any]:
        return [back(each) for each in library.broadcast_arrays(*map(make, given))]

    def to(array: AnyArray, target: Shape) -> Any:
        return back(library.broadcast_to(make(array), target))

    return {"data": arrays if rule.takes == "tensors" else to}


def array_api_strict(rule: Rule) -> dict[str, Function]:
    """Give what array-api-strict has for a rule."""
    library = import_module("array_api_strict")
    return _functions(rule, library, library.asarray, np.asarray)


def awkward(rule: Rule) -> dict[str, Function]:
    """Give what Awkward Array has for a rule."""
    library = import_module("awkward")
    return _functions(rule, library, library.from_numpy, library.to_numpy)


def dask(rule: Rule) -> dict[str, Function]:
    """Give what Dask has for a rule."""
    library = import_module("dask.array")
    # Not its threads: of what they hold a process that is forked off has nothing.
    return _functions(rule, library, library.from_array, lambda z: z.compute(scheduler="sync"))


def sparse(rule: Rule) -> dict[str, Function]:
    """Give what sparse has for a rule."""
    library = import_module("sparse")
    return _functions(rule, library, library.COO.from_numpy, lambda z: z.todense())


def tensorflow(rule: Rule) -> dict[str, Function]:
    """Give what TensorFlow has for a rule."""
    library = import_module("tensorflow")
    return _functions(rule, library.experimental.numpy, library.constant, lambda z: z.numpy())


def tinygrad(rule: Rule) -> dict[str, Function]:
    """Give what tinygrad has for a rule."""
    tensor = import_module("tinygrad").Tensor
    library = SimpleNamespace(broadcast_to=tensor.expand)
    return _functions(rule, library, lambda x: tensor(np.array(x)), lambda z: z.numpy())
