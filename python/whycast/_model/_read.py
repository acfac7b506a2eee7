"""An ONNX model: its file, graphs, and the complaint of ONNX's checker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper
from onnx.external_data_helper import ExternalDataInfo, _get_all_tensors, uses_external_data
from onnx.numpy_helper import to_array

from whycast._model._operators import ONNX
from whycast._types import Shape
from whycast._usage import UsageError

# The suffix of texts by `onnx.printer`.
TEXT = ".onnxtxt"
# The computation of shapes ignores larger constants.
MOST_ELEMENTS = 4096
# The first IR version in which callers may replace constants that are inputs.
_DEFAULTS = 4


@dataclass(eq=False)
class Scope:
    """A model's graph, with its values' shapes; an inner graph belongs to a `node` of `outer`."""

    graph: GraphProto
    # The path to this graph: each enclosing node and its attribute, outermost first (`loop/body`).
    place: str = ""
    outer: Scope | None = None
    node: NodeProto | None = None
    shapes: dict[str, Shape] = field(default_factory=dict)
    types: dict[str, int] = field(default_factory=dict)
    values: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def declare(self, name: str, tensor: TensorProto) -> None:
        self.types[name] = tensor.data_type
        if min(tensor.dims, default=0) >= 0:
            self.shapes[name] = tuple(tensor.dims)

    def note(self, name: str, tensor: TensorProto) -> None:
        self.declare(name, tensor)
        is_short = len(tensor.dims) == 1 and tensor.dims[0] < 100
        value = array_of(tensor) if tensor.data_type == TensorProto.INT64 and is_short else None
        if value is not None:
            self.values[name] = tuple(value.tolist())

    def home(self, name: str) -> Scope:
        """Return the first graph, from here outwards, that has the value; else the outermost."""
        if name in self.shapes or name in self.types or self.outer is None:
            return self
        return self.outer.home(name)

    def element_type(self, name: str) -> int:
        return self.home(name).types.get(name, 0)

    def value(self, name: str) -> tuple[int, ...] | None:
        return self.home(name).values.get(name)

    def shape(self, name: str) -> Shape | None:
        """Return a value's shape; None if its rank is unknown."""
        return self.home(name).shapes.get(name)


def load(path: Path, *, data: bool) -> ModelProto:
    if path.suffix == TEXT:
        return onnx.parser.parse_model(path.read_text(encoding="utf-8"))
    return onnx.load(path, load_external_data=data)


def read(path: Path) -> ModelProto:
    """Read a model, bytes or text, without external data; raise UsageError on failure."""
    try:
        model = load(path, data=False)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except onnx.parser.ParseError as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        said = f"expected an ONNX model as text: {' '.join(reason.split())}"
        raise UsageError(f"{path}: {said}") from None
    except (DecodeError, UnicodeDecodeError):
        raise UsageError(f"{path}: expected an ONNX model, got other bytes") from None
    if not model.graph.node:
        raise UsageError(f"{path}: expected an ONNX model with nodes, found none")
    return model


def opset(model: ModelProto) -> int:
    latest = onnx.defs.onnx_opset_version()
    return max((o.version for o in model.opset_import if o.domain in ONNX), default=latest)


def data_files(model: ModelProto) -> list[str]:
    tensors = filter(uses_external_data, _get_all_tensors(model))
    return sorted({ExternalDataInfo(tensor).location for tensor in tensors})


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Return the graphs in a node, such as If's branches, with names."""
    called = node.name or (node.output[0] if node.output else node.op_type)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield f"{called}/{attribute.name}", attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{called}/{attribute.name}[{number}]", graph


def scopes_of(
    graph: GraphProto, place: str = "", outer: Scope | None = None, node: NodeProto | None = None
) -> Iterator[Scope]:
    scope = Scope(graph, place, outer, node)
    yield scope
    for each in graph.node:
        for called, inner in subgraphs(each):
            at = f"{place}/{called}" if place else called
            yield from scopes_of(inner, at, scope, each)


def graphs_of(graph: GraphProto) -> Iterator[GraphProto]:
    return (scope.graph for scope in scopes_of(graph))


def array_of(tensor: TensorProto) -> np.ndarray | None:
    """Return a tensor's elements if the model has them, and if they fit type and shape."""
    if tensor.external_data:
        return None
    try:
        return to_array(tensor)
    except (TypeError, ValueError, KeyError):
        return None


def type_name(number: int) -> str:
    """Return an element type's name, also for a number that ONNX lacks.

    >>> type_name(1), type_name(99)
    ('float', 'type 99')
    """
    known = number in TensorProto.DataType.values()
    return TensorProto.DataType.Name(number).lower() if known else f"type {number}"


def given_by_callers(model: ModelProto) -> set[str]:
    inputs = {value.name for value in model.graph.input}
    if model.ir_version < _DEFAULTS:
        inputs -= {tensor.name for tensor in model.graph.initializer}
    return inputs


def light(model: ModelProto) -> ModelProto:
    """Return a copy; large, external or faulty constants of its outermost graph become inputs."""
    made = deepcopy(model)
    graph = made.graph
    used = {node.domain for each in graphs_of(graph) for node in each.node}
    for domain in sorted(used - {o.domain for o in made.opset_import} - {"ai.onnx"}):
        version = 1 if domain else onnx.defs.onnx_opset_version()
        made.opset_import.append(helper.make_opsetid(domain, version))
    given = given_by_callers(model)
    made.ir_version = max(made.ir_version, _DEFAULTS)
    inputs = [value for value in graph.input if value.name in given]
    small = []
    for tensor in (tensor for tensor in graph.initializer if tensor.name not in given):
        if math.prod(tensor.dims) <= MOST_ELEMENTS and array_of(tensor) is not None:
            small.append(tensor)
        else:
            about = (tensor.name, tensor.data_type, tensor.dims)
            inputs.append(helper.make_tensor_value_info(*about))
    del graph.input[:], graph.initializer[:]
    graph.input.extend(inputs)
    graph.initializer.extend(small)
    return made


def complaint(model: ModelProto) -> str | None:
    """Return the complaint of ONNX's checker about the `light` model; None if there is none."""
    made = light(model)
    del made.opset_import[:]
    made.opset_import.extend(model.opset_import)
    try:
        onnx.checker.check_model(made)
    except onnx.checker.ValidationError as error:
        return f"ONNX's checker refuses the model: {' '.join(str(error).split())}"
    return None
