"""The rules by their names: what each makes of shapes, decided by the proved programs alone.

The command line and `whycast.testing` ask here; the functions for arrays are those of the modules
of the specifications.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, cast

from whycast import _kernel, lax, ngraph, numpy_rule, onnx, openvino
from whycast._arrays import broadcast
from whycast._checks import show
from whycast._errors import Names
from whycast._shapes import broadcast_shapes, broadcast_strides
from whycast._types import AnyArray, Shape, Strides
from whycast._views import MISFITS, misfit

# What a rule takes: tensors alone, or one tensor and a shape, or these and axes.
Takes: TypeAlias = Literal["tensors", "target", "axes"]


class Asked(Protocol):
    """What has the parts of a question: `Operands`, and the cases of `whycast.testing`."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes of the tensors."""
        ...

    @property
    def target(self) -> Shape | None:
        """The target, where there is one."""
        ...

    @property
    def axes(self) -> tuple[int, ...] | None:
        """The axes, where there are any."""
        ...


class Operands(NamedTuple):
    """What a rule is asked about: shapes of tensors, and a target and axes where it takes them."""

    shapes: tuple[Shape, ...]
    target: Shape | None = None
    axes: tuple[int, ...] | None = None


class Layout(NamedTuple):
    """What one tensor becomes: the shape of the output, and its strides as a view."""

    shape: Shape
    strides: Strides


_Placed: TypeAlias = Callable[[Shape, Strides, Shape, tuple[int, ...]], Layout]

# What the kernel raises for shapes, axes and a target that do not go together.
_REFUSALS = (_kernel.E1, _kernel.Incompatible, *MISFITS)


@dataclass(frozen=True)
class Rule:
    """A rule of broadcasting.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title : str
        What texts call it.
    takes : {"tensors", "target", "axes"}
        What it takes: tensors, one tensor and a target, or these and axes.
    function : callable
        The package's own function for it, from arrays (a target, axes) to one array or several.
    call : str
        How a call of that function is written, ``{}`` for each of its arguments.
    parameters : tuple of str
        What its texts call the tensor, the target and the axes.
    clauses : dict
        For a kind of question (verdict, shape, index, strides, data, report) the clause that
        settles it.
    """

    name: str
    title: str
    takes: Takes
    function: Callable[..., Any]
    call: str
    parameters: tuple[str, ...]
    clauses: dict[str, str]
    placed: _Placed
    common: Callable[[tuple[Shape, ...]], Shape] | None = None

    @property
    def bidirectional(self) -> bool:
        """Whether the target may be the one that grows."""
        return self.placed is _bidirectional

    def shape(self, operands: Asked) -> Shape | None:
        """Shape of the outputs; None where the rule refuses."""
        try:
            if self.common is not None and operands.target is None:
                return self.common(operands.shapes)
            return self._placed(operands, operands.shapes[0]).shape
        except _REFUSALS:
            return None

    def layout(self, operands: Asked, strides: Strides) -> Layout | None:
        """Shape of the output, and its strides as a view of one tensor; None where it is refused.

        A rule for tensors alone is asked here with a target too, which is their common shape.
        """
        try:
            return self._placed(operands, strides)
        except _REFUSALS:
            return None

    def source(self, operands: Asked, index: tuple[int, ...]) -> tuple[int, ...]:
        """Multi-index of one tensor whose element stands at a valid index of the output.

        The rule has to accept the operands.

        Proved strides find it: those of a view address the right element whatever the strides of
        the tensor (lemmas ``view_offset`` and ``explicit_offset``), so also where only one of them
        is not 0 but 1, and then the offset of the element is its index on that axis.
        """
        (shape,) = operands.shapes
        found = []
        for j in range(len(shape)):
            unit = tuple([int(j == k) for k in range(len(shape))])
            found.append(_kernel.offset(index, self._placed(operands, unit).strides))
        return tuple(found)

    def refusal(self, operands: Asked) -> ValueError | None:
        """Error by which the package refuses; None where it does not."""
        try:
            if self.common is not None and operands.target is None:
                own = numpy_rule.broadcast_shapes if self.name == "numpy" else broadcast_shapes
                own(*operands.shapes)
            elif self.takes == "tensors":
                (shape,) = operands.shapes
                broadcast_strides(shape, shape, cast("Shape", operands.target))
            else:
                self._placed(operands, operands.shapes[0])
        except ValueError as error:
            return error
        except _REFUSALS as error:
            # As the rule's function does, but of shapes that no array of NumPy has, too.
            target, axes = cast("Shape", operands.target), operands.axes or ()
            if self.name == "ngraph":
                return ngraph.misfit(error, operands.shapes[0], target, axes)
            return misfit(error, operands.shapes[0], target, axes, Names(*self.parameters))
        return None

    def arguments(self, tensors: Sequence[object], operands: Asked) -> tuple[object, ...]:
        """Give the arguments of the rule's function: tensors (or shapes), target, axes."""
        if self.takes == "tensors" and operands.target is None:
            return tuple(tensors)
        if self.takes == "axes":
            return (*tensors, operands.target, operands.axes)
        return (*tensors, operands.target)

    def broadcast(self, arrays: Sequence[AnyArray], operands: Asked) -> tuple[AnyArray, ...]:
        """Broadcast arrays by the package's own function; it raises where the rule refuses."""
        result = self.function(*self.arguments(arrays, operands))
        return tuple(result) if self.takes == "tensors" else (result,)

    def _placed(self, operands: Asked, strides: Strides) -> Layout:
        # The kernel gives its verdict on whatever is there; only what is missing has to be found.
        (shape,) = operands.shapes
        return self.placed(shape, strides, cast("Shape", operands.target), operands.axes or ())


def _trailing(shape: Shape, strides: Strides, target: Shape, axes: tuple[int, ...]) -> Layout:
    return Layout(target, _kernel.broadcast_strides(shape, strides, target))


def _bidirectional(shape: Shape, strides: Strides, target: Shape, axes: tuple[int, ...]) -> Layout:
    common = _kernel.expand_shape(shape, target)
    return Layout(common, _kernel.broadcast_strides(shape, strides, common))


def _explicit(shape: Shape, strides: Strides, target: Shape, axes: tuple[int, ...]) -> Layout:
    return Layout(target, _kernel.explicit_strides(shape, strides, target, axes))


def _ngraph(shape: Shape, strides: Strides, target: Shape, axes: tuple[int, ...]) -> Layout:
    return Layout(target, _kernel.ngraph_strides(shape, strides, target, axes))


def _in_dim(shape: Shape, strides: Strides, target: Shape, axes: tuple[int, ...]) -> Layout:
    return Layout(target, _kernel.in_dim_strides(shape, strides, target, axes))


def _explicitly(data: AnyArray, target: Shape, axes: tuple[int, ...]) -> AnyArray:
    return openvino.broadcast(data, target, axes, "explicit")


def _both_ways(data: AnyArray, target: Shape) -> AnyArray:
    return openvino.broadcast(data, target, mode="bidirectional")


_RULES = (
    Rule(
        name="sonnx",
        title="SONNX",
        takes="tensors",
        function=broadcast,
        call="whycast.broadcast({})",
        parameters=("tensor",),
        clauses={
            "verdict": "E_Broadcast_any_E1_010",
            "shape": "E_Broadcast_any_Step2_040",
            "index": "E_Broadcast_any_Step2_050",
            "strides": "E_Broadcast_any_Derived_110",
            "data": "E_Broadcast_any_Step2_050",
            "report": "E_Broadcast_any_Derived_010",
        },
        placed=_trailing,
        common=_kernel.broadcast_shapes,
    ),
    Rule(
        name="numpy",
        title="NumPy",
        takes="tensors",
        function=numpy_rule.broadcast_arrays,
        call="whycast.numpy_rule.broadcast_arrays({})",
        parameters=("argument",),
        clauses={
            "verdict": "E_NumpyBroadcast_any_Rule_020",
            "shape": "E_NumpyBroadcast_any_Rule_010",
            "index": "E_NumpyBroadcast_any_Rule_050",
            "strides": "E_Broadcast_any_Derived_110",
            "data": "E_NumpyBroadcast_any_Functions_030",
            "report": "E_NumpyBroadcast_any_Error_010",
        },
        placed=_trailing,
        common=_kernel.numpy_broadcast_shapes,
    ),
    Rule(
        name="expand",
        title="ONNX Expand",
        takes="target",
        function=onnx.expand,
        call="whycast.onnx.expand({})",
        parameters=("input", "shape"),
        clauses={
            "verdict": "E_Expand_any_Error_010",
            "shape": "E_Expand_any_Shape_010",
            "index": "E_Expand_any_Data_010",
            "strides": "E_Broadcast_any_Derived_110",
            "data": "E_Expand_any_Data_010",
            "report": "E_Expand_any_Error_010",
        },
        placed=_bidirectional,
    ),
    Rule(
        name="openvino-numpy",
        title="OpenVINO numpy",
        takes="target",
        function=openvino.broadcast,
        call="whycast.openvino.broadcast({})",
        parameters=("data", "target_shape"),
        clauses={
            "verdict": "E_OpenvinoBroadcast_any_Modes_020",
            "shape": "E_OpenvinoBroadcast_any_Inputs_020",
            "index": "E_OpenvinoBroadcast_any_Modes_020",
            "strides": "E_OpenvinoBroadcast_any_Derived_040",
            "data": "E_OpenvinoBroadcast_any_Modes_020",
            "report": "E_OpenvinoBroadcast_any_Derived_010",
        },
        placed=_trailing,
    ),
    Rule(
        name="openvino-explicit",
        title="OpenVINO explicit",
        takes="axes",
        function=_explicitly,
        call="whycast.openvino.broadcast({}, mode='explicit')",
        parameters=("data", "target_shape", "axes_mapping"),
        clauses={
            "verdict": "E_OpenvinoBroadcast_any_Axes_010",
            "shape": "E_OpenvinoBroadcast_any_Inputs_020",
            "index": "E_OpenvinoBroadcast_any_Modes_030",
            "strides": "E_OpenvinoBroadcast_any_Derived_040",
            "data": "E_OpenvinoBroadcast_any_Modes_030",
            "report": "E_OpenvinoBroadcast_any_Derived_010",
        },
        placed=_explicit,
    ),
    Rule(
        name="openvino-bidirectional",
        title="OpenVINO bidirectional",
        takes="target",
        function=_both_ways,
        call="whycast.openvino.broadcast({}, mode='bidirectional')",
        parameters=("data", "target_shape"),
        clauses={
            "verdict": "E_OpenvinoThreeBroadcast_any_Modes_010",
            "shape": "E_OpenvinoThreeBroadcast_any_Modes_010",
            "index": "E_OpenvinoThreeBroadcast_any_Modes_010",
            "strides": "E_OpenvinoBroadcast_any_Derived_040",
            "data": "E_OpenvinoThreeBroadcast_any_Modes_010",
            "report": "E_OpenvinoThreeBroadcast_any_Modes_010",
        },
        placed=_bidirectional,
    ),
    Rule(
        name="ngraph",
        title="nGraph",
        takes="axes",
        function=ngraph.broadcast,
        call="whycast.ngraph.broadcast({})",
        parameters=("arg", "shape", "broadcast_axes"),
        clauses={
            "verdict": "E_NgraphBroadcast_any_Shape_010",
            "shape": "E_NgraphBroadcast_any_Outputs_020",
            "index": "E_NgraphBroadcast_any_Definition_010",
            "strides": "E_Broadcast_any_Derived_140",
            "data": "E_NgraphBroadcast_any_Definition_010",
            "report": "E_NgraphBroadcast_any_Shape_010",
        },
        placed=_ngraph,
    ),
    Rule(
        name="in-dim",
        title="broadcast_in_dim",
        takes="axes",
        function=lax.broadcast_in_dim,
        call="whycast.lax.broadcast_in_dim({})",
        parameters=("operand", "shape", "broadcast_dimensions"),
        clauses={
            "verdict": "E_BroadcastInDim_any_Size_010",
            "shape": "E_BroadcastInDim_any_Data_010",
            "index": "E_BroadcastInDim_any_Data_010",
            "strides": "E_Broadcast_any_Derived_140",
            "data": "E_BroadcastInDim_any_Data_010",
            "report": "E_BroadcastInDim_any_Size_010",
        },
        placed=_in_dim,
    ),
)
RULES: dict[str, Rule] = {rule.name: rule for rule in _RULES}


def rule_named(name: object) -> Rule:
    """Return the rule of a name.

    >>> rule_named("numpi")
    Traceback (most recent call last):
    ValueError: rule: expected one of 'sonnx', 'numpy', 'expand', 'openvino-numpy', \
'openvino-explicit', 'openvino-bidirectional', 'ngraph', 'in-dim', got 'numpi'
    """
    if not isinstance(name, str):
        raise TypeError(f"rule: expected a str, got {show(name)}")
    if name not in RULES:
        raise ValueError(f"rule: expected one of {', '.join(map(repr, RULES))}, got {name!r}")
    return RULES[name]
