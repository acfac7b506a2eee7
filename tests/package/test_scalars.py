"""NumPy's scalars are tensors of rank 0, wherever a tensor is taken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from array_strategies import DTYPES, OTHER_DTYPES, Array, DType, elements
from plain_rule import Shape

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino

# Object and StringDType have no scalars of NumPy's: their elements are Python's str.
WITH_SCALARS = [dtype for dtype in DTYPES if dtype.kind not in "OT"]


@pytest.mark.parametrize("dtype", WITH_SCALARS, ids=repr)
def test_scalar_of_every_type(dtype: DType) -> None:
    """[E_Broadcast_any_Types_010] [E_Broadcast_any_Restrictions_010]"""
    scalar = elements(7, dtype)[5]
    assert isinstance(scalar, np.generic)
    own = np.asarray(scalar)
    for z, shape in zip(
        (*whycast.broadcast(scalar), whycast.broadcast(scalar, np.zeros((2, 3)))[0]),
        ((), (2, 3)),
        strict=True,
    ):
        assert type(z) is np.ndarray
        assert (z.shape, z.dtype) == (shape, own.dtype)
        assert not z.flags.writeable
        assert all(element.tobytes() == own.tobytes() for element in z.flat)


FUNCTIONS: dict[str, tuple[Callable[[np.generic], Array], Shape]] = {
    "broadcast": (lambda x: whycast.broadcast(x, np.zeros(2))[0], (2,)),
    "expand": (lambda x: onnx.expand(x, (2, 1)), (2, 1)),
    "numpy": (lambda x: openvino.broadcast(x, (2,)), (2,)),
    "explicit": (lambda x: openvino.broadcast(x, (2,), (), "explicit"), (2,)),
    "bidirectional": (lambda x: openvino.broadcast(x, (), None, "bidirectional"), ()),
    "ngraph": (lambda x: ngraph.broadcast(x, (2, 3), {0, 1}), (2, 3)),
    "lax": (lambda x: lax.broadcast_in_dim(x, (2, 3), ()), (2, 3)),
    "numpy_rule": (lambda x: numpy_rule.broadcast_to(x, (2, 0)), (2, 0)),
    "sum_to_shape": (lambda x: whycast.sum_to_shape(x, ()), ()),
    "adjoint": (lambda x: ngraph.broadcast_adjoint(x, ()), ()),
    "explicit adjoint": (lambda x: openvino.broadcast_adjoint(x, (), (), "explicit"), ()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_scalar_wherever_a_tensor_is_taken(name: str) -> None:
    function, shape = FUNCTIONS[name]
    z = function(np.int16(-7))
    assert type(z) is np.ndarray
    assert (z.shape, z.dtype) == (shape, np.dtype(np.int16))
    assert (z == -7).all()


def test_results_of_arithmetic() -> None:
    """What sums, elements and operations on tensors of rank 0 are."""
    a, b = np.arange(6.0).reshape(2, 3), np.zeros(4)
    (z,) = whycast.broadcast(np.array(2.5))
    for scalar, value in ((a.sum(), 15), (a[1, 2], 5), (z + z, 5), (z[()], 2.5)):
        x, y = whycast.broadcast(scalar, b)
        assert (x.tolist(), y.shape) == ([value] * 4, (4,))


@pytest.mark.parametrize(
    "dtype", [dtype for dtype in OTHER_DTYPES if not dtype.hasobject], ids=repr
)
def test_scalar_of_a_type_that_sonnx_does_not_have(dtype: DType) -> None:
    scalar = np.zeros(1, dtype)[0]
    with pytest.raises(TypeError, match=r"argument 0: dtype .* is not one of SONNX's types"):
        whycast.broadcast(scalar)
    assert onnx.expand(scalar, (2,)).dtype == np.asarray(scalar).dtype
