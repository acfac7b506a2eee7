"""Bad input to the functions with a target: each error names the parameter and what it expected."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from bad_values import (
    NOT_ARRAYS,
    NOT_INTEGERS,
    NOT_VECTORS,
    VECTOR,
    Caller,
    fails,
    state,
)

import whycast
from whycast import lax, ngraph, numpy_rule, onnx, openvino, reference

X = np.arange(6.0).reshape(2, 3)

# Under a looser type: the checker must not keep us from passing what has to be refused.
expand: Caller = vars(onnx)["expand"]
openvino_broadcast: Caller = vars(openvino)["broadcast"]
ngraph_broadcast: Caller = vars(ngraph)["broadcast"]
broadcast_adjoint: Caller = vars(ngraph)["broadcast_adjoint"]
broadcast_in_dim: Caller = vars(lax)["broadcast_in_dim"]
on_lists: Caller = vars(reference)["broadcast"]


class Parameter(NamedTuple):
    """Parameter of a function, and a call in which it alone is bad."""

    name: str
    call: Callable[..., object]
    id: str


def parameters(*values: Parameter) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("parameter", values, ids=lambda value: value.id)


TARGETS = (
    Parameter("shape", lambda value: expand(X, value), "expand"),
    Parameter("target_shape", lambda value: openvino_broadcast(X, value), "numpy"),
    Parameter(
        "target_shape",
        lambda value: openvino_broadcast(X, value, [0, 1], "explicit"),
        "explicit",
    ),
    Parameter(
        "target_shape",
        lambda value: openvino_broadcast(X, value, None, "bidirectional"),
        "bidirectional",
    ),
    Parameter("shape", lambda value: ngraph_broadcast(X, value, {0}), "ngraph"),
    Parameter("shape", lambda value: broadcast_in_dim(X, value, (0, 1)), "lax"),
    Parameter("shape", lambda value: on_lists([1, 2], value, (2, 2)), "shape of a list"),
    Parameter("target", lambda value: on_lists([1, 2], (2,), value), "target of a list"),
)
AXES = (
    Parameter(
        "axes_mapping",
        lambda value: openvino_broadcast(X, (2, 3, 4), value, "explicit"),
        "explicit",
    ),
    Parameter("broadcast_dimensions", lambda value: broadcast_in_dim(X, (2, 3, 4), value), "lax"),
)
AXIS_SETS = (
    Parameter("broadcast_axes", lambda value: ngraph_broadcast(X, (2, 3, 4), value), "ngraph"),
    Parameter("broadcast_axes", lambda value: broadcast_adjoint(X, value), "adjoint"),
)
DATA = (
    Parameter("input", lambda value: expand(value, (2, 3)), "expand"),
    Parameter("data", lambda value: openvino_broadcast(value, (2, 3)), "numpy"),
    Parameter(
        "data", lambda value: openvino_broadcast(value, (2, 3), [0, 1], "explicit"), "explicit"
    ),
    Parameter("arg", lambda value: ngraph_broadcast(value, (2, 3), set()), "ngraph"),
    Parameter("delta", lambda value: broadcast_adjoint(value, {0}), "adjoint"),
    Parameter("operand", lambda value: broadcast_in_dim(value, (2, 3), (0, 1)), "lax"),
)


SET_OR_VECTOR = VECTOR.replace("expected ", "expected a set of integers, ")


@parameters(*TARGETS, *AXES)
@pytest.mark.parametrize(("value", "shown"), NOT_VECTORS)
def test_not_a_vector_of_integers(parameter: Parameter, value: object, shown: str) -> None:
    """[E_OpenvinoBroadcast_any_Inputs_020] [E_OpenvinoBroadcast_any_Inputs_030]
    [E_Broadcast_any_Derived_150]
    """
    fails(TypeError, f"{parameter.name}: {VECTOR}{shown}$", parameter.call, value)


@parameters(*AXIS_SETS)
@pytest.mark.parametrize(("value", "shown"), NOT_VECTORS)
def test_not_a_set_of_axes(parameter: Parameter, value: object, shown: str) -> None:
    """[E_NgraphBroadcast_any_Attributes_020] [E_Broadcast_any_Derived_150]"""
    fails(TypeError, f"{parameter.name}: {SET_OR_VECTOR}{shown}$", parameter.call, value)


@parameters(*TARGETS, AXES[1])
@pytest.mark.parametrize("value", [None, {2, 3}], ids=repr)
def test_none_and_sets_are_no_vectors(parameter: Parameter, value: object) -> None:
    kind = type(value).__name__
    fails(TypeError, rf"{parameter.name}: {VECTOR}.*\({kind}\)$", parameter.call, value)


@parameters(*AXIS_SETS)
def test_none_is_no_set(parameter: Parameter) -> None:
    message = rf"{parameter.name}: {SET_OR_VECTOR}None \(NoneType\)$"
    fails(TypeError, message, parameter.call, None)


@parameters(*TARGETS, *AXES, *AXIS_SETS)
@pytest.mark.parametrize(("value", "shown"), NOT_INTEGERS)
def test_not_an_integer(parameter: Parameter, value: object, shown: str) -> None:
    place = "axis" if parameter in TARGETS else "position"
    for make in (tuple, list):
        bad = make([2, value, 3])
        message = f"{parameter.name}, {place} 1: expected an integer, got {shown}$"
        fails(TypeError, message, parameter.call, bad)


@parameters(*AXIS_SETS)
@pytest.mark.parametrize("value", [2.0, "2", None, True, np.False_, (2,)], ids=repr)
def test_not_an_integer_in_a_set(parameter: Parameter, value: object) -> None:
    message = rf"{parameter.name}: expected an integer, got .* \({type(value).__name__}_?\)$"
    fails(TypeError, message, parameter.call, {value, 0} if value is not np.False_ else {value})


@parameters(*TARGETS)
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (-1, "-1; -1 has no special meaning here"),
        (-2, "-2"),
        (np.int8(-3), "-3"),
        (-(10**5000), r"-2\*\*16609\+"),
    ],
    ids=["-1", "int", "int8", "too long to print"],
)
def test_negative_size(parameter: Parameter, value: int, shown: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    message = f"{parameter.name}, axis 1: expected a size of at least 0, got {shown}$"
    for make in (tuple, list):
        fails(ValueError, message, parameter.call, make([3, value, -1]))
    if abs(value) < 100:
        fails(ValueError, message, parameter.call, np.array([3, value, -1], np.int16))


@parameters(*DATA)
@pytest.mark.parametrize(("value", "message"), NOT_ARRAYS)
def test_not_an_array(parameter: Parameter, value: object, message: str) -> None:
    """[E_Broadcast_any_Derived_150]"""
    fails(TypeError, f"{parameter.name}: {message}$", parameter.call, value)


@pytest.mark.parametrize("value", [(1, 2), np.zeros(2), "ab", None, iter([1, 2]), {1, 2}])
def test_not_a_list(value: object) -> None:
    message = rf"data: expected a list, got .*\({type(value).__name__}\)$"
    fails(TypeError, message, on_lists, value, (2,), (2,))


@pytest.mark.parametrize("value", [1, b"numpy", ["numpy"], np.array("numpy"), True])
def test_mode_that_is_no_string(value: object) -> None:
    """[E_OpenvinoBroadcast_any_Modes_010]"""
    message = rf"mode: expected a str, got .*\({type(value).__name__}\)$"
    fails(TypeError, message, openvino_broadcast, X, (2, 3), None, value)


@pytest.mark.parametrize("value", ["", "NUMPY", "numpy ", "pdpd", "Explicit"])
def test_unknown_mode(value: str) -> None:
    """[E_OpenvinoBroadcast_any_Modes_010]"""
    message = f"mode: expected one of 'numpy', 'explicit', 'bidirectional', got {value!r}$"
    fails(ValueError, message, openvino_broadcast, X, (2, 3), None, value)
    fails(ValueError, message, openvino_broadcast, X, (2, 3), [0, 1], value)


def test_third_input_where_it_does_not_belong() -> None:
    """[E_OpenvinoBroadcast_any_Inputs_050]"""
    for mode in ("numpy", "bidirectional"):
        for axes in ([0, 1], (), [5], np.array([0, 1])):
            message = f"axes_mapping: mode '{mode}' expects none, got "
            fails(ValueError, message, openvino_broadcast, X, (2, 3), axes, mode)
        for value in (7, "x"):
            message = "axes_mapping: expected a sequence of integers or "
            fails(TypeError, message, openvino_broadcast, X, (2, 3), value, mode)
    # Numpy is the default mode.
    fails(ValueError, "axes_mapping: mode 'numpy'", openvino_broadcast, X, (2, 3), [0, 1])


def test_third_input_missing() -> None:
    """[E_OpenvinoBroadcast_any_Inputs_050]"""
    message = "axes_mapping: mode 'explicit' expects it, got none$"
    for x, target in ((X, (2, 3)), (np.zeros(()), ())):
        fails(ValueError, message, openvino_broadcast, x, target, None, "explicit")


class Failure(NamedTuple):
    """A call that fails for what its arguments say, and the text of its error."""

    call: Callable[[], object]
    error: type[ValueError]
    text: str


def zeros(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.zeros(shape)


FAILURES = {
    "expand": Failure(
        lambda: expand(zeros(3, 4), (2, 5, 1)),
        numpy_rule.IncompatibleError,
        "shapes do not broadcast (NumPy's rule): axis 1 of the common rank 3, input has size 3, "
        "shape has size 5, expected equal sizes or 1\n"
        "  input:     [3]  4\n"
        "  shape:  2  >5<  1",
    ),
    "expand 0 and 2": Failure(
        lambda: expand(zeros(1, 2, 0), (0, 2)),
        numpy_rule.IncompatibleError,
        "shapes do not broadcast (NumPy's rule): axis 1 of the common rank 3, input has size 2, "
        "shape has size 0, expected equal sizes or 1\n"
        "  input:  1  [2]  0\n"
        "  shape:     >0<  2",
    ),
    "bidirectional": Failure(
        lambda: openvino_broadcast(zeros(2, 3), (7, 1, 2), None, "bidirectional"),
        numpy_rule.IncompatibleError,
        "shapes do not broadcast (NumPy's rule): axis 2 of the common rank 3, data has size 3, "
        "target_shape has size 2, expected equal sizes or 1\n"
        "  data:              2  [3]\n"
        "  target_shape:  7   1  >2<",
    ),
    "numpy": Failure(
        lambda: openvino_broadcast(zeros(16, 2, 1), (1, 16, 50, 50)),
        whycast.BroadcastError,
        "data of shape (16, 2, 1) does not broadcast to target_shape (1, 16, 50, 50): axis 2 of "
        "the target's rank 4, data has size 2, expected 50 or 1\n"
        "  data:              16   >2<   1\n"
        "  target_shape:  1   16  [50]  50",
    ),
    "numpy, no 0 to 1": Failure(
        lambda: openvino_broadcast(zeros(0), (1,)),
        whycast.BroadcastError,
        "data of shape (0,) does not broadcast to target_shape (1,): axis 0 of the target's rank "
        "1, data has size 0, expected 1\n"
        "  data:         >0<\n"
        "  target_shape: [1]",
    ),
    "numpy, rank": Failure(
        lambda: openvino_broadcast(zeros(1, 2), (2,)),
        ValueError,
        "target_shape: expected a rank of at least 2, that of data, got 1",
    ),
    "explicit": Failure(
        lambda: openvino_broadcast(zeros(50, 2), (1, 50, 50, 16), (1, 2), "explicit"),
        whycast.AxisSizeError,
        "data of shape (50, 2) does not broadcast to target_shape (1, 50, 50, 16): axis 1 of "
        "data, which lies on axis 2 of target_shape, has size 2, expected 50 or 1\n"
        "  data:              50   >2<\n"
        "  target_shape:  1   50  [50]  16\n"
        "  axes_mapping:       1    2",
    ),
    "explicit, to 1": Failure(
        lambda: openvino_broadcast(zeros(0), (2, 1), [1], "explicit"),
        whycast.AxisSizeError,
        "data of shape (0,) does not broadcast to target_shape (2, 1): axis 0 of data, which lies "
        "on axis 1 of target_shape, has size 0, expected 1\n"
        "  data:             >0<\n"
        "  target_shape:  2  [1]\n"
        "  axes_mapping:      1",
    ),
    "explicit, count": Failure(
        lambda: openvino_broadcast(zeros(2, 3), (2, 3), [0], "explicit"),
        ValueError,
        "axes_mapping: expected 2 axes, one for each axis of data, got 1",
    ),
    "explicit, count 1": Failure(
        lambda: openvino_broadcast(zeros(2), (2, 3), [5, 6], "explicit"),
        ValueError,
        "axes_mapping: expected 1 axis, one for each axis of data, got 2",
    ),
    "explicit, range": Failure(
        lambda: openvino_broadcast(zeros(2, 3), (2, 3), [0, 2], "explicit"),
        ValueError,
        "axes_mapping, position 1: expected an axis of target_shape, whose rank is 2, got 2",
    ),
    "explicit, negative": Failure(
        lambda: openvino_broadcast(zeros(2, 3), (2, 3), [0, -1], "explicit"),
        ValueError,
        "axes_mapping, position 1: expected an axis of target_shape, whose rank is 2, got -1; "
        "axes are counted from 0, none from the end",
    ),
    "explicit, repeated": Failure(
        lambda: openvino_broadcast(zeros(2, 2), (2, 2), [1, 1], "explicit"),
        ValueError,
        "axes_mapping, position 1: expected strictly increasing axes, got 1 after 1 (repeated)",
    ),
    "explicit, unsorted": Failure(
        lambda: openvino_broadcast(zeros(2, 2), (2, 2), [1, 0], "explicit"),
        ValueError,
        "axes_mapping, position 1: expected strictly increasing axes, got 0 after 1 (unsorted)",
    ),
    "explicit, long": Failure(
        lambda: openvino_broadcast(
            zeros(*(1,) * 9, 3, *(1,) * 9),
            (7,) * 40,
            [*range(8, 17), 19, *range(21, 30)],
            "explicit",
        ),
        whycast.AxisSizeError,
        "data of shape (1, 1, 1, 1, 1, ..., 1, 1, 1, 1, 1) does not broadcast to target_shape "
        "(7, 7, 7, 7, 7, ..., 7, 7, 7, 7, 7): axis 9 of data, which lies on axis 19 of "
        "target_shape, has size 3, expected 7 or 1\n"
        "  data:         ...   1    1    1           >3<       1    1    1    1  ...\n"
        "  target_shape: ...   7    7    7   7   7   [7]  7    7    7    7    7  ...\n"
        "  axes_mapping: ...  14   15   16           19       21   22   23   24  ...",
    ),
    "lax": Failure(
        lambda: broadcast_in_dim(zeros(2, 3), (2, 5, 4), [0, 2]),
        whycast.AxisSizeError,
        "operand of shape (2, 3) does not broadcast to shape (2, 5, 4): axis 1 of operand, which "
        "lies on axis 2 of shape, has size 3, expected 4 or 1\n"
        "  operand:               2      >3<\n"
        "  shape:                 2   5  [4]\n"
        "  broadcast_dimensions:  0       2",
    ),
    "lax, count": Failure(
        lambda: broadcast_in_dim(zeros(), (2, 3), [0]),
        ValueError,
        "broadcast_dimensions: expected 0 axes, one for each axis of operand, got 1",
    ),
    "lax, range": Failure(
        lambda: broadcast_in_dim(zeros(2), (), [2**5000]),
        ValueError,
        "broadcast_dimensions, position 0: expected an axis of shape, whose rank is 0, "
        "got 2**5000+",
    ),
    "lax, repeated": Failure(
        lambda: broadcast_in_dim(zeros(2, 2, 2), (2, 2, 2), [1, 0, 1]),
        ValueError,
        "broadcast_dimensions, positions 0 and 2: expected distinct axes, got 1 twice",
    ),
    "lax, unsorted": Failure(
        lambda: broadcast_in_dim(zeros(2, 3, 4), (3, 9, 4, 2), [3, 0, 1]),
        whycast.AxisSizeError,
        "operand of shape (2, 3, 4) does not broadcast to shape (3, 9, 4, 2): axis 2 of operand, "
        "which lies on axis 1 of shape, has size 4, expected 9 or 1\n"
        "  axis of operand:       1   2       0\n"
        "  operand:               3  >4<      2\n"
        "  shape:                 3  [9]  4   2\n"
        "  broadcast_dimensions:  0   1       3",
    ),
    "ngraph, growth": Failure(
        lambda: ngraph_broadcast(zeros(2, 1), (2, 5, 3), {1}),
        ngraph.ArgShapeError,
        "arg of shape (2, 1) does not broadcast to shape (2, 5, 3): axis 1 of arg, which lies on "
        "axis 2 of shape, has size 1, expected 3; nGraph grows no size of 1: reshape arg so that "
        "it lacks the axis, and add 2 to broadcast_axes\n"
        "  arg:             2      >1<\n"
        "  shape:           2   5  [3]\n"
        "  broadcast_axes:      1",
    ),
    "ngraph, size": Failure(
        lambda: ngraph_broadcast(zeros(2), (4, 2**5000, 3), [0, 2]),
        ngraph.ArgShapeError,
        "arg of shape (2,) does not broadcast to shape (4, 2**5000+, 3): axis 0 of arg, which "
        "lies on axis 1 of shape, has size 2, expected 2**5000+\n"
        "  arg:                       >2<\n"
        "  shape:           4  [2**5000+]  3\n"
        "  broadcast_axes:  0              2",
    ),
    "ngraph, count": Failure(
        lambda: ngraph_broadcast(zeros(3), (2, 3, 4), {0}),
        ValueError,
        "broadcast_axes: expected 2 axes, as shape has rank 3 and arg rank 1, got 1",
    ),
    "ngraph, count 1": Failure(
        lambda: ngraph_broadcast(zeros(3), (2, 3), {0, 1}),
        ValueError,
        "broadcast_axes: expected 1 axis, as shape has rank 2 and arg rank 1, got 2",
    ),
    "ngraph, rank": Failure(
        lambda: ngraph_broadcast(zeros(2, 3), (3,), set()),
        ValueError,
        "shape: expected a rank of at least 2, that of arg, got 1",
    ),
    "ngraph, range": Failure(
        lambda: ngraph_broadcast(zeros(3), (2, 3), {2}),
        ValueError,
        "broadcast_axes: expected an axis of shape, whose rank is 2, got 2",
    ),
    "ngraph, negative": Failure(
        lambda: ngraph_broadcast(zeros(3), (2, 3), [-2]),
        ValueError,
        "broadcast_axes, position 0: expected an axis of shape, whose rank is 2, got -2; "
        "axes are counted from 0, none from the end",
    ),
    "ngraph, repeated": Failure(
        lambda: ngraph_broadcast(zeros(), (2, 3), [0, 0]),
        ValueError,
        "broadcast_axes, position 1: expected strictly increasing axes, got 0 after 0 (repeated)",
    ),
    "adjoint, range": Failure(
        lambda: broadcast_adjoint(zeros(2, 3), {0, -1}),
        ValueError,
        "broadcast_axes: expected an axis of delta, whose rank is 2, got -1; "
        "axes are counted from 0, none from the end",
    ),
    "adjoint, unsorted": Failure(
        lambda: broadcast_adjoint(zeros(2, 3), np.array([1, 0])),
        ValueError,
        "broadcast_axes, position 1: expected strictly increasing axes, got 0 after 1 (unsorted)",
    ),
    "reference": Failure(
        lambda: on_lists([1, 2], (2, 1), (3, 4)),
        whycast.BroadcastError,
        "shape (2, 1) does not broadcast to (3, 4): axis 0 of the target's rank 2, the shape has "
        "size 2, expected 3 or 1\n"
        "  shape:  >2<  1\n"
        "  target: [3]  4",
    ),
    "reference, rank": Failure(
        lambda: on_lists([1, 2], (2, 1), (2,)),
        ValueError,
        "target: expected a rank of at least 2, that of shape, got 1",
    ),
    "reference, elements": Failure(
        lambda: on_lists([], (2, 1), (2, 1)),
        ValueError,
        "data: expected 2 elements, the product of the sizes of shape (2, 1), got 0",
    ),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_text(failure: Failure) -> None:
    """[E_OpenvinoBroadcast_any_Axes_010] [E_OpenvinoBroadcast_any_Derived_010]
    [E_NgraphBroadcast_any_Interface_020] [E_BroadcastInDim_any_Axes_010]
    [E_BroadcastInDim_any_Axes_020] [E_BroadcastInDim_any_Size_010] [E_Expand_any_Error_010]
    [E_Broadcast_any_Derived_150]
    """
    with pytest.raises(failure.error) as caught:
        failure.call()
    assert caught.type is failure.error
    assert str(caught.value) == failure.text
    # No exception of the kernel hangs on.
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


def twins(error: ValueError) -> Iterator[Any]:
    yield type(error)(*error.args)
    yield copy.copy(error)
    yield copy.deepcopy(error)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(error, protocol))


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_copies_are_equal_in_all_but_identity(failure: Failure) -> None:
    with pytest.raises(failure.error) as caught:
        failure.call()
    error = caught.value
    for twin in twins(error):
        assert twin is not error
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (whycast.AxisSizeError, "whycast.AxisSizeError"),
        (ngraph.ArgShapeError, "whycast.ngraph.ArgShapeError"),
    ],
)
def test_errors_name_themselves_as_callers_do(kind: type[ValueError], name: str) -> None:
    assert issubclass(kind, whycast.BroadcastError)
    assert f"{kind.__module__}.{kind.__qualname__}" == name


def test_attributes() -> None:
    with pytest.raises(ngraph.ArgShapeError) as caught:
        ngraph_broadcast(zeros(2, 1), (2, 5, 3), {1})
    assert vars(caught.value) == {
        **{"tensor": 0, "tensor_axis": 1, "axis": 2, "size": 1, "target": 3, "axes": (0, 2)},
        **{"shapes": ((2, 1),), "target_shape": (2, 5, 3), "broadcast_axes": (1,)},
        "names": ("arg", "shape", "broadcast_axes"),
    }
    with pytest.raises(whycast.AxisSizeError) as of_explicit_axes:
        broadcast_in_dim(zeros(1, 3), (2, 5, 4), (0, 2))
    assert vars(of_explicit_axes.value) == {
        **{"tensor": 0, "tensor_axis": 1, "axis": 2, "size": 3, "target": 4, "axes": (0, 2)},
        **{"shapes": ((1, 3),), "target_shape": (2, 5, 4)},
        "names": ("operand", "shape", "broadcast_dimensions"),
    }


UNREPRESENTABLE = [(2, 3) + (1,) * 63, (2, 3, 2**62, 2**62), (2, 3, 2**70)]


@pytest.mark.parametrize("target", UNREPRESENTABLE, ids=["rank 65", "2**124 elements", "2**70"])
def test_shape_that_no_array_can_have(target: tuple[int, ...]) -> None:
    calls: list[tuple[Caller, tuple[object, ...]]] = [
        (expand, (zeros(1), target)),
        (openvino_broadcast, (zeros(1, 1, 1), target)),
        (openvino_broadcast, (X, target, [0, 1], "explicit")),
        (openvino_broadcast, (zeros(1), target, None, "bidirectional")),
        (broadcast_in_dim, (X, target, [0, 1])),
        (ngraph_broadcast, (X, target, range(2, len(target)))),
    ]
    for function, arguments in calls:
        message = r"NumPy has no array of shape \(.*\) and dtype float64: "
        fails(ValueError, message, function, *arguments)


def test_arguments_are_left_as_they_were() -> None:
    """[E_Broadcast_any_Derived_150]"""
    x = np.arange(6.0).reshape(2, 3)[:, ::-1]
    target, axes, axis_set = [2, 4, 3], np.array([0, 2]), {1}
    before = state(x), list(target), state(axes), set(axis_set)
    for _ in range(2):
        broadcast_in_dim(x, target, axes)
        ngraph_broadcast(x, target, axis_set)
        broadcast_adjoint(x, axis_set)
        with pytest.raises(whycast.BroadcastError):
            broadcast_in_dim(x, [2, 4, 4], axes)
        with pytest.raises(ValueError, match="expected"):
            ngraph_broadcast(x, target, axis_set | {2})
    assert (state(x), target, state(axes), axis_set) == before
