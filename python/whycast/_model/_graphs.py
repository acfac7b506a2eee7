"""An ONNX model as it is read, and the shapes of its values, whose sizes are numbers or names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, helper, numpy_helper
from onnx import shape_inference as inference
from onnx.reference import ReferenceEvaluator

from whycast._command._arguments import UsageError
from whycast._model._operators import ONNX
from whycast._types import Shape

# By which ONNX tells a model as text, as `onnx.printer` writes it.
TEXT = ".onnxtxt"

# What computes shapes is small. Of larger constants only the shape is of interest.
_MOST_ELEMENTS = 4096
# Each round gets by one more computation that needs the shape of what the round before found.
_MOST_ROUNDS = 12
# From this version of the format on, a caller may give a constant that is an input another value.
_DEFAULTS = 4


@dataclass
class Names:
    """The names of sizes, as the verified programs take them: the integers below 0."""

    numbered: dict[str, int] = field(default_factory=dict)
    spelled: list[str] = field(default_factory=list)

    def symbol(self, name: str) -> int:
        """Return the integer of a name.

        >>> names = Names()
        >>> names.symbol("N"), names.symbol("M"), names.symbol("N")
        (-1, -2, -1)
        """
        if name not in self.numbered:
            self.spelled.append(name)
            self.numbered[name] = -len(self.spelled)
        return self.numbered[name]

    def unknown(self) -> int:
        """Return the integer of a size of which nothing is known, not even its name."""
        return self.symbol(f"?{len(self.spelled)}")

    def text(self, symbol: int) -> str:
        """Spell a size: a number, or a name."""
        return str(symbol) if symbol >= 0 else self.spelled[-1 - symbol]

    def shape(self, sizes: Shape | None) -> str:
        """Spell a shape; there may be none."""
        return "?" if sizes is None else "x".join(map(self.text, sizes)) or "()"


@dataclass
class Scope:
    """A graph of a model, with the shapes of the values that are made in it."""

    number: int
    place: str
    graph: GraphProto
    outer: Scope | None
    shapes: dict[str, Shape]
    types: dict[str, int]

    def element_type(self, name: str) -> int:
        """Return ONNX's number of a value's element type; 0 if it is not known."""
        if name in self.types or self.outer is None:
            return self.types.get(name, 0)
        return self.outer.element_type(name)

    def shape(self, name: str) -> Shape | None:
        """Return the shape of a value of this graph or one around it; None if the rank is open."""
        if name in self.shapes or self.outer is None:
            return self.shapes.get(name)
        return self.outer.shape(name)


def load(path: Path, *, data: bool) -> ModelProto:
    """Load a model, from text too, with its external data or without."""
    if path.suffix == TEXT:
        return onnx.parser.parse_model(path.read_text(encoding="utf-8"))
    return onnx.load(path, load_external_data=data)


def read(path: Path) -> ModelProto:
    """Read a model, as bytes or as text; leave its external data where they are.

    Raises
    ------
    UsageError
        Without such a file, or if it is not a model that ONNX's checker accepts.
    """
    try:
        model = load(path, data=False)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (DecodeError, onnx.parser.ParseError, UnicodeDecodeError):
        raise UsageError(f"{path}: expected an ONNX model, got other bytes") from None
    if not model.graph.node or not model.opset_import:
        raise UsageError(f"{path}: expected an ONNX model with nodes and opsets, found none")
    try:
        onnx.checker.check_model(model if path.suffix == TEXT else path)
    except onnx.checker.ValidationError as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path}: ONNX's checker refuses it: {reason}") from None
    return model


def opset(model: ModelProto) -> int:
    """Return the version of ONNX's own operators that a model uses."""
    return max((o.version for o in model.opset_import if o.domain in ONNX), default=1)


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Give the graphs within a node, such as the branches of If, and what each is called."""
    called = node.name or (node.output[0] if node.output else node.op_type)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield f"{called}/{attribute.name}", attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{called}/{attribute.name}[{number}]", graph


def scopes(model: ModelProto, names: Names, given: Mapping[str, Shape | int]) -> list[Scope]:
    """Return the graphs of a model, from the outermost on, with the shapes that ONNX infers.

    Parameters
    ----------
    model : ModelProto
        It is not changed.
    names : Names
        The names of sizes; those of the model are added.
    given : mapping
        Shapes of inputs, and numbers of names, to take in place of what the model says.

    Raises
    ------
    UsageError
        If what is given does not fit the model, or if inference finds the model wrong.
    """
    light = _light(model)
    _give(light, given)
    own = _dim_names(light.graph)
    stated = _Inferred(_inferred(light).graph, own, None)
    _forget(light.graph)
    known = _Inferred(_folded(light).graph, _dim_names(light.graph), own)
    found: list[Scope] = []
    _collect(model.graph, (known, stated), "", None, _Sizes(names, given), found)
    return found


@dataclass(frozen=True)
class _Inferred:
    """A graph with inferred shapes, and the names of sizes that it had before.

    Inference makes up other names. They mean something within one inference only: `taken` has the
    names that these must not be mistaken for; if it is None, they say nothing.
    """

    graph: GraphProto
    own: frozenset[str]
    taken: frozenset[str] | None

    def within(self) -> dict[str, _Inferred]:
        """Give the graphs within its nodes."""
        pairs = (pair for node in self.graph.node for pair in subgraphs(node))
        return {called: _Inferred(graph, self.own, self.taken) for called, graph in pairs}


@dataclass(frozen=True)
class _Sizes:
    """What reads a size: a number, or the integer of a name."""

    names: Names
    given: Mapping[str, Shape | int]

    def symbol(self, dim: onnx.TensorShapeProto.Dimension, by: _Inferred) -> int:
        """Read a size. Below 0, or with a question mark for a name, exporters mean: it is open."""
        if dim.HasField("dim_value"):
            return dim.dim_value if dim.dim_value >= 0 else self.names.unknown()
        name = dim.dim_param
        size = self.given.get(name)
        if isinstance(size, int):
            return size
        if not name.strip("?") or (name not in by.own and by.taken is None):
            return self.names.unknown()
        if name not in by.own and by.taken is not None and name in by.taken:
            name += "'"
        return self.names.symbol(name)


def _dim_names(graph: GraphProto) -> frozenset[str]:
    """Return the names of sizes in a graph and the graphs within it."""
    dims = (d for value in _values(graph) for d in value.type.tensor_type.shape.dim)
    inner = (_dim_names(each) for node in graph.node for _, each in subgraphs(node))
    return frozenset(d.dim_param for d in dims if d.dim_param).union(*inner)


def _light(model: ModelProto) -> ModelProto:
    """Return a copy in which large constants are inputs, and of which one can take nodes away."""
    light = ModelProto()
    light.CopyFrom(model)
    graph = light.graph
    constants = {tensor.name for tensor in graph.initializer}
    given = {each.name for each in graph.input}
    if model.ir_version < _DEFAULTS:
        for value in [each for each in graph.input if each.name in constants]:
            graph.input.remove(value)
        light.ir_version, given = _DEFAULTS, set()
    small = []
    for tensor in graph.initializer:
        if tensor.name in given:
            continue
        if math.prod(tensor.dims) <= _MOST_ELEMENTS and not tensor.external_data:
            small.append(tensor)
        else:
            value = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            graph.input.append(value)
    del graph.initializer[:]
    graph.initializer.extend(small)
    return light


def _give(model: ModelProto, given: Mapping[str, Shape | int]) -> None:
    """Put shapes of inputs, and numbers for names, in the place of what the model says."""
    inputs = {each.name: each for each in model.graph.input}
    dims = [d for i in inputs.values() for d in i.type.tensor_type.shape.dim]
    for name, size in given.items():
        if isinstance(size, int):
            named = [d for d in dims if d.dim_param == name]
            if not named:
                raise UsageError(f"--sizes: no input of the model has a size {name!r}")
            for dim in named:
                dim.dim_value = size
            continue
        if name not in inputs:
            raise UsageError(f"--sizes: the model has no input {name!r}")
        tensor = inputs[name].type.tensor_type
        if tensor.HasField("shape") and len(tensor.shape.dim) != len(size):
            raise UsageError(
                f"--sizes: input {name!r} has rank {len(tensor.shape.dim)}, got {len(size)} sizes"
            )
        tensor.shape.CopyFrom(helper.make_tensor_type_proto(1, size).tensor_type.shape)


def _forget(graph: GraphProto) -> None:
    """Take away what a model says of the shapes of its own values, which may be out of date."""
    del graph.value_info[:]
    for output in graph.output:
        output.type.tensor_type.ClearField("shape")
    for node in graph.node:
        for _, inner in subgraphs(node):
            _forget(inner)


def complaint(model: ModelProto) -> str | None:
    """Return why ONNX's checker refuses a model, whose large constants it takes for inputs."""
    try:
        onnx.checker.check_model(_light(model))
    except onnx.checker.ValidationError as error:
        return " ".join(str(error).split())
    return None


def _inferred(model: ModelProto) -> ModelProto:
    try:
        return inference.infer_shapes(model, data_prop=True)
    except (inference.InferenceError, ValueError) as error:
        raise UsageError(f"ONNX's shape inference fails: {' '.join(str(error).split())}") from None


def _folded(model: ModelProto) -> ModelProto:
    """Infer shapes again and again, with what is constant computed in between."""
    inferred = _inferred(model)
    for _ in range(_MOST_ROUNDS):
        values = _constants(model, inferred)
        if not values:
            break
        kept = [node for node in model.graph.node if node.output[0] not in values]
        del model.graph.node[:]
        model.graph.node.extend(kept)
        for name, value in values.items():
            model.graph.initializer.append(numpy_helper.from_array(value, name))
        inferred = _inferred(model)
    return inferred


def _constants(model: ModelProto, inferred: ModelProto) -> dict[str, np.ndarray]:
    """Compute the values that depend on constants and on known shapes alone."""
    shapes = {value.name: value.type for value in _values(inferred.graph)}
    known = {tensor.name: tensor for tensor in model.graph.initializer}
    values: dict[str, np.ndarray] = {}
    for node in model.graph.node:
        if node.domain not in ONNX or len(node.output) != 1 or any(subgraphs(node)):
            continue
        feeds = {}
        for name in filter(None, node.input):
            if name in values:
                feeds[name] = values[name]
            elif name in known:
                feeds[name] = numpy_helper.to_array(known[name])
            elif node.op_type in ("Shape", "Size") and (sizes := _numbers(shapes.get(name))):
                # Only its shape is asked for: a view of one element has it without memory.
                feeds[name] = np.broadcast_to(np.float32(0), sizes[0])
        if len(feeds) == len(set(filter(None, node.input))) and node.op_type not in _RANDOM:
            made = _numbers(shapes.get(node.output[0]))
            if not made or math.prod(made[0]) <= _MOST_ELEMENTS:
                value = _value(node, feeds, model)
                if value is not None:
                    values[node.output[0]] = value
    return values


_RANDOM = frozenset(
    {
        "Bernoulli",
        "Dropout",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)


def _value(
    node: NodeProto, feeds: Mapping[str, np.ndarray], model: ModelProto
) -> np.ndarray | None:
    """Compute one node by ONNX's reference; None where that has nothing small to say."""
    anything = onnx.TypeProto()
    graph = helper.make_graph(
        [node],
        "constant",
        [helper.make_value_info(name, anything) for name in feeds],
        [helper.make_value_info(node.output[0], anything)],
    )
    alone = helper.make_model(graph, opset_imports=model.opset_import)
    try:
        (value,) = ReferenceEvaluator(alone).run(None, dict(feeds))
    except Exception:
        # It may lack the operator. Then the shapes that follow stay open, and the report says so.
        return None
    if not isinstance(value, np.ndarray | np.generic) or value.size > _MOST_ELEMENTS:
        return None
    return np.asarray(value)


def _values(graph: GraphProto) -> Iterator[onnx.ValueInfoProto]:
    for values in (graph.value_info, graph.input, graph.output):
        yield from (value for value in values if value.type.HasField("tensor_type"))


def _numbers(about: onnx.TypeProto | None) -> list[Shape]:
    """Give the shape if all of it is known, or nothing."""
    if about is None or not about.tensor_type.HasField("shape"):
        return []
    dims = about.tensor_type.shape.dim
    sizes = tuple(d.dim_value if d.HasField("dim_value") else -1 for d in dims)
    return [] if any(size < 0 for size in sizes) else [sizes]


def _collect(
    graph: GraphProto,
    inferred: tuple[_Inferred, ...],
    place: str,
    outer: Scope | None,
    sizes: _Sizes,
    found: list[Scope],
) -> None:
    """Add the scope of a graph and those of the graphs within it."""
    scope = Scope(len(found), place, graph, outer, {}, {})
    found.append(scope)
    for by in inferred:
        for value in _values(by.graph):
            tensor = value.type.tensor_type
            scope.types.setdefault(value.name, tensor.elem_type)
            if tensor.HasField("shape"):
                shape = tuple(sizes.symbol(d, by) for d in tensor.shape.dim)
                scope.shapes[value.name] = _better(scope.shapes.get(value.name), shape)
    for tensor in (*(t for by in inferred for t in by.graph.initializer), *graph.initializer):
        scope.shapes[tensor.name] = tuple(tensor.dims)
        scope.types[tensor.name] = tensor.data_type
    inner = [by.within() for by in inferred]
    for node in graph.node:
        for called, subgraph in subgraphs(node):
            at = f"{place}/{called}" if place else called
            known = tuple(each[called] for each in inner if called in each)
            _collect(subgraph, known, at, scope, sizes, found)


def _better(known: Shape | None, stated: Shape) -> Shape:
    """Take from what the model states the sizes that inference leaves open."""
    if known is None or len(known) != len(stated):
        return stated if known is None else known
    return tuple(b if a < 0 <= b else a for a, b in zip(known, stated, strict=True))
