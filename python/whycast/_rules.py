"""The rules as data: arguments, programs, clauses and words.

Proved programs decide about shapes. Except for sizes with names, the command line and
`whycast.testing` do not branch on a rule's name: a new rule is one more object below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from whycast import _kernel, lax, ngraph, numpy_rule, onnx, openvino, symbolic, torch
from whycast._arrays import broadcast
from whycast._checks import show
from whycast._errors import REFUSALS, Names
from whycast._shapes import broadcast_shapes, broadcast_strides
from whycast._types import AnyArray, Axes, Shape, Strides
from whycast._views import misfit

if TYPE_CHECKING:
    from whycast.testing import Case

Asked: TypeAlias = "Operands | Case"

# Arguments of a rule: tensors; a tensor and a shape; or a tensor, a shape and axes.
Takes: TypeAlias = Literal["tensors", "target", "axes"]

# The output's axes where a tensor lies: the last axes; given axes, which increase or are distinct;
# or all except the given axes.
Alignment: TypeAlias = Literal["trailing", "increasing", "distinct", "missing"]


class Operands(NamedTuple):
    shapes: tuple[Shape, ...]
    target: Shape | None = None
    axes: Axes | None = None


class Layout(NamedTuple):
    shape: Shape
    strides: Strides


class Steps(NamedTuple):
    """Words for the steps of a rule.

    Step `lies` puts a tensor on axes, step `output` finds the `size`, step `fails` refuses sizes,
    step `leads` finds an index of the tensor. With `letters`, letters name the tensors.
    """

    size: str
    lies: str = "sizes"
    output: str = "output"
    fails: str = "error"
    leads: str = "index"
    letters: bool = False


class Told(NamedTuple):
    """A row in a table of the rules: the theory, and words for arguments, sizes and axes."""

    theory: str
    takes: str = "a tensor and a target"
    size: str = "that of the target"
    axes: str = "the last axes of the target"


class Finding(NamedTuple):
    """Why rules differ: a finding of ``proofs/FINDINGS.md``, or a clause."""

    id: str
    reason: str


# If a question has no clause of its own, the clause of another question decides.
_SETTLED_BY = {
    **{"index": "data", "report": "verdict", "size": "shape", "fails": "verdict"},
    **{"kept": "data", "first": "kept", "bits": "data"},
}
_DERIVED = {"strides": "110", "condition": "580", "zeros": "590", "operator": "600"}


def _clauses(text: str, **numbers: str) -> dict[str, str]:
    """Return each question's clause; `numbers` contains identifiers, with or without `text`."""
    own = {kind: f"E_Broadcast_any_Derived_{number}" for kind, number in _DERIVED.items()}
    own |= {"adjoint": "E_OpenvinoBroadcast_ring_Derived_010", **numbers}
    found = {k: v if v.startswith("E_") else f"{text}_{v}" for k, v in own.items()}
    for kind, other in _SETTLED_BY.items():
        found.setdefault(kind, found[other])
    return found


@dataclass(frozen=True, eq=False)
class Rule:
    name: str
    title: str
    takes: Takes
    # The package's function on arrays, and its names for the tensor, the target and the axes.
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    # Clauses of questions (verdict, shape, index, strides, data, report, bits, operator, adjoint)
    # and of steps (lies, size, fails, kept, first, condition, zeros).
    clauses: Mapping[str, str]
    told: Told
    steps: Steps
    strides: Callable[..., Strides] = _kernel.broadcast_strides
    # `common`: the proved program for the common shape of tensors, or of a tensor and a target that
    # may grow. `shapes`: the package's function for the common shape of tensors.
    common: Callable[[tuple[Shape, ...]], Shape] | None = None
    shapes: Callable[..., Shape] | None = None
    # The package's function for sizes that have names.
    named: Callable[..., symbolic.Answer] | None = None
    misfit: Callable[..., ValueError] = misfit
    alignment: Alignment = "trailing"
    # `grows`: whether a size of 1 grows. `zero_meets_one`: if the rule takes tensors, whether 0
    # and 1 have the common size 0.
    grows: bool = True
    zero_meets_one: bool = True
    # The types of elements: numbers; numbers and strings; or all of NumPy's.
    dtypes: Literal["numbers", "strings", "any"] = "numbers"
    # Whether the function returns an argument of the common shape itself, not a view.
    gives_back: bool = False
    # The built-in peers that follow this rule, each with levels.
    peers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Why other rules differ.
    findings: Mapping[str, Finding] = field(default_factory=dict)

    @property
    def bidirectional(self) -> bool:
        """Whether the target may grow."""
        return self.takes == "target" and self.common is not None

    def shape(self, operands: Asked) -> Shape | None:
        """Return the output's shape; None if the rule refuses."""
        try:
            if self.common is not None and operands.target is None:
                return self.common(operands.shapes)
            return self._placed(operands, operands.shapes[0]).shape
        except REFUSALS:
            return None

    def layout(self, operands: Asked, strides: Strides) -> Layout | None:
        """Return the output's layout as a view of one tensor; None if the rule refuses."""
        try:
            return self._placed(operands, strides)
        except REFUSALS:
            return None

    def source(self, operands: Asked, index: tuple[int, ...]) -> tuple[int, ...]:
        """Return the tensor's index for a valid index of the output, if the rule accepts.

        If one axis has stride 1 and all others 0, the offset is the index on this axis: views are
        correct for any strides (``view_offset`` and the other lemmas of `whycast`).
        """
        axes = range(len(operands.shapes[0]))
        units = [tuple([int(j == k) for k in axes]) for j in axes]
        return tuple([_kernel.offset(index, self._placed(operands, u).strides) for u in units])

    def refusal(self, operands: Asked) -> ValueError | None:
        target, axes = operands.target, operands.axes or ()
        try:
            if target is None:
                cast("Callable[..., Shape]", self.shapes)(*operands.shapes)
            elif self.takes == "tensors":
                (shape,) = operands.shapes
                broadcast_strides(shape, shape, target)
            else:
                self._placed(operands, operands.shapes[0])
        except ValueError as error:
            return error
        except REFUSALS as error:
            # Do not call the function: it takes only shapes that NumPy's arrays can have.
            names = Names(*self.parameters)
            return self.misfit(error, operands.shapes[0], cast("Shape", target), axes, names)
        return None

    def places(self, rank: int, target: Shape, axes: Axes | None) -> tuple[int, ...]:
        """Return the axes of the target on which a tensor of this rank lies."""
        if self.alignment == "trailing":
            return tuple(range(len(target) - rank, len(target)))
        if self.alignment == "missing":
            return _kernel.kept_axes(len(target), axes or ())
        return axes or ()

    def axes_for(self, places: Sequence[int], rank: int) -> tuple[int, ...]:
        """Return the axes argument that puts a tensor on `places` of a target."""
        if self.alignment == "missing":
            return tuple([axis for axis in range(rank) if axis not in places])
        return tuple(places)

    def has_target(self, level: str) -> bool:
        """Whether a level's questions have one tensor and a target, not a common shape."""
        return self.takes != "tensors" or level in ("index", "strides", "adjoint")

    def arguments(self, tensors: Sequence[object], operands: Asked) -> tuple[object, ...]:
        if self.takes == "tensors" and operands.target is None:
            return tuple(tensors)
        axes = (operands.axes,) if self.takes == "axes" else ()
        return (*tensors, operands.target, *axes)

    def broadcast(self, arrays: Sequence[AnyArray], operands: Asked) -> tuple[AnyArray, ...]:
        result = self.function(*self.arguments(arrays, operands))
        return tuple(result) if self.takes == "tensors" else (result,)

    def _placed(self, operands: Asked, strides: Strides) -> Layout:
        (shape,) = operands.shapes
        target = cast("Shape", operands.target)
        if self.bidirectional:
            target = _kernel.expand_shape(shape, target)
        axes = (operands.axes or (),) if self.takes == "axes" else ()
        return Layout(target, self.strides(shape, strides, target, *axes))


# The clause of sizes with names, for a tensor and a target.
_ONE_WAY = "E_Broadcast_any_Derived_670"

_TO_TARGET = _clauses(
    "E_NumpyBroadcast_any",
    **dict.fromkeys(("verdict", "shape", "data"), "Functions_020"),
    **{"lies": "Rule_010", "condition": _ONE_WAY},
)

_SHAPES = ("verdict", "shape")
_DATA = (*_SHAPES, "data")
_STRIDES = (*_SHAPES, "strides", "data")
_TOOLS = ("onnxruntime-symbolic", "onnxruntime-auto-merge", "pyrefly")

_RULES = (
    Rule(
        name="sonnx",
        title="SONNX",
        takes="tensors",
        function=broadcast,
        parameters=("tensor",),
        clauses=_clauses(
            "E_Broadcast_any",
            **{"verdict": "E1_010", "shape": "Step2_040", "data": "Step2_050"},
            **{"report": "Derived_010", "bits": "Accuracy_010"},
            **{"lies": "Step1_020", "size": "Step2_030", "kept": "F_010", "first": "F_020"},
        ),
        told=Told(
            "sonnx/broadcast.mlw",
            "1 to 2³¹ − 1 tensors",
            "the maximum of all",
            "aligned at the last one; a missing axis counts as 1",
        ),
        steps=Steps("dY", "step 1", "step 2", "E1", "f", letters=True),
        common=_kernel.broadcast_shapes,
        shapes=broadcast_shapes,
        named=symbolic.broadcast_shapes,
        zero_meets_one=False,
        dtypes="strings",
        peers={
            **dict.fromkeys(("numpy", "torch"), _STRIDES),
            "onnx-reference": _DATA,
            "onnxruntime": ("data",),
            # JAX is slow: rule numpy checks its data.
            "jax": _SHAPES,
        },
        findings={
            "zero": Finding(
                "F2",
                "a size of 0 meets a 1 by NumPy's rule, which ONNX and OpenVINO take; by SONNX's "
                "the maximum is 1, and the 0 is error E1.",
            )
        },
    ),
    Rule(
        name="numpy",
        title="NumPy",
        takes="tensors",
        function=numpy_rule.broadcast_arrays,
        parameters=("argument",),
        clauses=_clauses(
            "E_NumpyBroadcast_any",
            **{"verdict": "Rule_020", "shape": "Rule_010", "index": "Rule_050"},
            **{"data": "Functions_030", "report": "Error_010"},
            **{"lies": "Rule_010", "size": "Rule_040", "first": "Functions_020"},
        ),
        told=Told(
            "numpy/rule.mlw", "any number of tensors", "the one that is not 1, or 1", "as SONNX"
        ),
        steps=Steps("result"),
        common=_kernel.numpy_broadcast_shapes,
        shapes=numpy_rule.broadcast_shapes,
        named=partial(symbolic.broadcast_shapes, rule="numpy"),
        dtypes="any",
        gives_back=True,
        peers={
            "numpy": _STRIDES,
            "torch": (*_STRIDES, "report", "symbolic"),
            **dict.fromkeys(("onnx-reference", "jax"), (*_DATA, "symbolic")),
            "onnxruntime": ("data",),
            **dict.fromkeys(_TOOLS, ("symbolic",)),
        },
    ),
    Rule(
        name="numpy-to",
        title="NumPy broadcast_to",
        takes="target",
        function=numpy_rule.broadcast_to,
        parameters=("array", "shape"),
        clauses=_TO_TARGET,
        told=Told("core/common_shape.mlw"),
        steps=Steps("shape"),
        named=symbolic.broadcast_to,
        dtypes="any",
        peers={"numpy": _STRIDES, "torch": (*_STRIDES, "report"), "jax": _DATA},
    ),
    Rule(
        name="expand",
        title="ONNX Expand",
        takes="target",
        function=onnx.expand,
        parameters=("input", "shape"),
        clauses=_clauses(
            "E_Expand_any",
            verdict="Error_010",
            shape="Shape_010",
            data="Data_010",
            lies="Error_010",
        ),
        told=Told("axes/expand.mlw", "a tensor and a shape: both may grow", "as NumPy", "as SONNX"),
        steps=Steps("output"),
        common=_kernel.numpy_broadcast_shapes,
        named=symbolic.expand,
        dtypes="strings",
        peers={
            **dict.fromkeys(("numpy", "onnx-reference", "torch"), _DATA),
            "onnxruntime": ("data",),
        },
    ),
    Rule(
        name="openvino-numpy",
        title="OpenVINO numpy",
        takes="target",
        function=openvino.broadcast,
        parameters=("data", "target_shape"),
        clauses=_clauses(
            "E_OpenvinoBroadcast_any",
            **{"verdict": "Modes_020", "shape": "Inputs_020", "data": "Modes_020"},
            **{"report": "Derived_010", "strides": "Derived_040", "lies": "Modes_020"},
            condition=_ONE_WAY,
        ),
        told=Told("axes/openvino.mlw"),
        steps=Steps("target_shape"),
        named=symbolic.broadcast_to,
        peers={
            "numpy": _STRIDES,
            "torch": (*_STRIDES, "report"),
            **dict.fromkeys(("openvino", "jax"), _DATA),
        },
        findings={
            "one way": Finding(
                "E_OpenvinoBroadcast_any_Modes_020",
                "mode numpy broadcasts the data to the target, never the target to the data.",
            ),
            "last axes": Finding(
                "F17",
                "mode numpy, like the rules without axes, places a tensor on the last axes; only "
                "rules with axes place it on others.",
            ),
        },
    ),
    Rule(
        name="openvino-explicit",
        title="OpenVINO explicit",
        takes="axes",
        function=partial(openvino.broadcast, mode="explicit"),
        parameters=("data", "target_shape", "axes_mapping"),
        clauses=_clauses(
            "E_OpenvinoBroadcast_any",
            **{"verdict": "Axes_010", "shape": "Inputs_020", "data": "Modes_030"},
            **{"report": "Derived_010", "strides": "Derived_040"},
            **{"lies": "Modes_030", "fails": "Derived_010", "first": "Derived_010"},
        ),
        told=Told(
            *("axes/explicit.mlw", "a tensor, a target, axes"),
            axes="`axes_mapping` maps the tensor's axes to the target's, strictly increasing",
        ),
        steps=Steps("target_shape"),
        strides=_kernel.explicit_strides,
        alignment="increasing",
        peers={"openvino": _DATA},
        findings={
            "order": Finding(
                "F18",
                "the axes of mode explicit increase strictly; those of broadcast_in_dim are "
                "distinct, in any order: it may transpose.",
            )
        },
    ),
    Rule(
        name="openvino-bidirectional",
        title="OpenVINO bidirectional",
        takes="target",
        function=partial(openvino.broadcast, mode="bidirectional"),
        parameters=("data", "target_shape"),
        clauses=_clauses(
            "E_OpenvinoThreeBroadcast_any",
            **dict.fromkeys(("verdict", "shape", "data", "lies"), "Modes_010"),
            strides="E_OpenvinoBroadcast_any_Derived_040",
        ),
        told=Told("axes/openvino_operator.mlw", "as ONNX Expand", "as NumPy", "as SONNX"),
        steps=Steps("output"),
        common=_kernel.numpy_broadcast_shapes,
        named=symbolic.expand,
        peers=dict.fromkeys(("numpy", "openvino", "torch"), _DATA),
    ),
    Rule(
        name="ngraph",
        title="nGraph",
        takes="axes",
        function=ngraph.broadcast,
        parameters=("arg", "shape", "broadcast_axes"),
        clauses=_clauses(
            "E_NgraphBroadcast_any",
            **{"verdict": "Shape_010", "shape": "Outputs_020", "data": "Definition_010"},
            **{"strides": "E_Broadcast_any_Derived_140"},
            **{"lies": "Definition_010", "kept": "Definition_030"},
        ),
        told=Told(
            "axes/ngraph.mlw",
            "a tensor, a target, a set of axes",
            "that of the target; 1 does not grow",
            "`broadcast_axes` are the axes of the target that the tensor lacks",
        ),
        steps=Steps("shape"),
        strides=_kernel.ngraph_strides,
        misfit=ngraph.misfit,
        alignment="missing",
        grows=False,
        findings={
            "growth": Finding(
                "F19",
                "nGraph grows no size of 1: the shape of its argument is the target without the "
                "broadcast axes.",
            )
        },
    ),
    Rule(
        name="in-dim",
        title="broadcast_in_dim",
        takes="axes",
        function=lax.broadcast_in_dim,
        parameters=("operand", "shape", "broadcast_dimensions"),
        clauses=_clauses(
            "E_BroadcastInDim_any",
            **{"verdict": "Size_010", "shape": "Data_010", "data": "Data_010"},
            **{"strides": "E_Broadcast_any_Derived_140", "lies": "Axes_010", "size": "Axes_010"},
        ),
        told=Told(
            *("axes/in_dim.mlw", "a tensor, a target, axes"),
            axes="`broadcast_dimensions` map the tensor's axes to the target's, distinct, in any "
            "order: the rule may transpose",
        ),
        steps=Steps("shape"),
        strides=_kernel.in_dim_strides,
        alignment="distinct",
        peers={"jax": _DATA},
    ),
    Rule(
        name="torch-expand",
        title="torch expand",
        takes="target",
        function=torch.expand,
        parameters=("input", "size"),
        clauses=_TO_TARGET,
        told=Told("core/common_shape.mlw", "as OpenVINO numpy; -1 for a size of the tensor"),
        steps=Steps("size"),
        named=symbolic.broadcast_to,
        peers={"numpy": _STRIDES, "jax": _DATA},
    ),
)
RULES: dict[str, Rule] = {rule.name: rule for rule in _RULES}


def names_of(takes: Takes) -> str:
    *others, last = [rule.name for rule in _RULES if rule.takes == takes]
    return f"{', '.join(others)} and {last}"


def rule_on_tensors(*, zero_meets_one: bool) -> Rule:
    """Return the first rule for tensors with this value of `zero_meets_one`."""
    asked = ("tensors", zero_meets_one)
    return next(rule for rule in _RULES if (rule.takes, rule.zero_meets_one) == asked)


def rule_named(name: object) -> Rule:
    """Return a rule by its name.

    >>> rule_named("numpi")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: rule: expected one of 'sonnx', 'numpy', ..., got 'numpi'
    """
    if not isinstance(name, str):
        raise TypeError(f"rule: expected a str, got {show(name)}")
    if name not in RULES:
        raise ValueError(f"rule: expected one of {', '.join(map(repr, RULES))}, got {name!r}")
    return RULES[name]
