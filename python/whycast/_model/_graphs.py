"""An ONNX model as it is read, and the shapes of its values, whose sizes are numbers or names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    helper,
    numpy_helper,
)
from onnx import shape_inference as inference
from onnx.external_data_helper import ExternalDataInfo, _get_all_tensors, uses_external_data
from onnx.reference import ReferenceEvaluator

from whycast import _kernel
from whycast._model._operators import ONNX, OPERATORS
from whycast._types import Shape
from whycast._usage import UsageError, show_named, show_sizes

# By which ONNX tells a model as text, as `onnx.printer` writes it.
TEXT = ".onnxtxt"

# What computes shapes is small. Of larger constants only the shape is of interest.
_MOST_ELEMENTS = 4096
# Each round gets by one more computation that needs the shape of what the round before found.
_MOST_ROUNDS = 12
# What is wrong with a model is listed; of annotations so many.
_MOST_NOTES = 20
# From this version of the format on, a caller may give a constant that is an input another value.
_DEFAULTS = 4


@dataclass
class Names:
    """The names of sizes, as the verified programs take them: the integers below 0."""

    numbered: dict[str, int] = field(default_factory=dict)
    spelled: list[str] = field(default_factory=list)
    joins: dict[frozenset[str], str] = field(default_factory=dict)

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

    def unknown(self, made_up: str = "") -> int:
        """Return the integer of a size that only the running model knows.

        What inference calls equal is equal: its name for such a size may be given.
        """
        key = f"\0{made_up or len(self.spelled)}"
        if key not in self.numbered:
            self.spelled.append(f"?{len(self.spelled)}")
            self.numbered[key] = -len(self.spelled)
        return self.numbered[key]

    def text(self, symbol: int) -> str:
        """Spell a size: a number, or a name."""
        return str(symbol) if symbol >= 0 else self.spelled[-1 - symbol]

    def joined(self, symbols: Iterable[int]) -> str:
        """Spell the one of some sizes that is not 1, in the same way whatever their order.

        >>> names = Names()
        >>> n, m = names.symbol("N"), names.symbol("M")
        >>> names.joined((n, m)), names.joined((m, n)), names.joined((names.symbol("N|M"), m))
        ('N|M', 'N|M', 'N|M')
        """
        parts = list(dict.fromkeys("|".join(map(self.text, symbols)).split("|")))
        return self.joins.setdefault(frozenset(parts), "|".join(parts))

    def sizes(self, shape: Shape) -> list[int | str]:
        """Spell the sizes of a shape: numbers and names.

        >>> names = Names()
        >>> names.sizes((names.symbol("N"), 3, names.unknown()))
        ['N', 3, '?1']
        """
        return [size if size >= 0 else self.text(size) for size in shape]


def array_of(tensor: TensorProto) -> np.ndarray | None:
    """Return the elements of a tensor, if they are in the model and of its type and shape."""
    if tensor.external_data:
        return None
    try:
        return numpy_helper.to_array(tensor)
    except (TypeError, ValueError, KeyError):
        return None


def type_name(number: int) -> str:
    """Return the name of an element type; any number may stand in a model.

    >>> type_name(1), type_name(99)
    ('float', 'type 99')
    """
    known = number in TensorProto.DataType.values()
    return TensorProto.DataType.Name(number).lower() if known else f"type {number}"


@dataclass
class Scope:
    """A graph of a model, with the shapes of the values that are made in it."""

    number: int
    place: str
    graph: GraphProto
    outer: Scope | None
    shapes: dict[str, Shape]
    types: dict[str, int]
    values: dict[str, tuple[int, ...]]

    def declare(self, name: str, tensor: TensorProto) -> None:
        """Note the type of a constant, and its shape if it is one."""
        self.types[name] = tensor.data_type
        if min(tensor.dims, default=0) >= 0:
            self.shapes[name] = tuple(tensor.dims)

    def note(self, name: str, tensor: TensorProto) -> None:
        """Note a constant."""
        self.declare(name, tensor)
        is_short = len(tensor.dims) == 1 and tensor.dims[0] < 100
        if tensor.data_type == TensorProto.INT64 and is_short:
            value = array_of(tensor)
            if value is not None:
                self.values[name] = tuple(value.tolist())

    def home(self, name: str) -> Scope:
        """Return the graph that has a value, this one or one around it; the outermost if none."""
        if name in self.shapes or name in self.types or self.outer is None:
            return self
        return self.outer.home(name)

    def element_type(self, name: str) -> int:
        """Return ONNX's number of a value's element type; 0 if it is not known."""
        return self.home(name).types.get(name, 0)

    def value(self, name: str) -> tuple[int, ...] | None:
        """Return the value of a vector of a few integers that is constant; None of others."""
        return self.home(name).values.get(name)

    def shape(self, name: str) -> Shape | None:
        """Return the shape of a value of this graph or one around it; None if the rank is open."""
        return self.home(name).shapes.get(name)


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
        Without such a file, or if it is no ONNX model.
    """
    try:
        model = load(path, data=False)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except onnx.parser.ParseError as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        reason = " ".join(reason.split())
        raise UsageError(f"{path}: expected an ONNX model as text: {reason}") from None
    except (DecodeError, UnicodeDecodeError):
        raise UsageError(f"{path}: expected an ONNX model, got other bytes") from None
    if not model.graph.node:
        raise UsageError(f"{path}: expected an ONNX model with nodes, found none")
    return model


def opset(model: ModelProto) -> int:
    """Return the version of ONNX's own operators that a model uses."""
    latest = onnx.defs.onnx_opset_version()
    return max((o.version for o in model.opset_import if o.domain in ONNX), default=latest)


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Give the graphs within a node, such as the branches of If, and what each is called."""
    called = node.name or (node.output[0] if node.output else node.op_type)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield f"{called}/{attribute.name}", attribute.g
        for number, graph in enumerate(attribute.graphs):
            yield f"{called}/{attribute.name}[{number}]", graph


def graphs_of(graph: GraphProto) -> Iterator[GraphProto]:
    """Give a graph and those within it, in the order of their scopes."""
    yield graph
    for node in graph.node:
        for _, inner in subgraphs(node):
            yield from graphs_of(inner)


def data_files(model: ModelProto) -> list[str]:
    """Return the names of the files in which a model has external data."""
    tensors = filter(uses_external_data, _get_all_tensors(model))
    return sorted({ExternalDataInfo(tensor).location for tensor in tensors})


class Read(NamedTuple):
    """The graphs of a model, from the outermost on, and what is known of its sizes.

    `inputs` are those of the model, with a number or a name for each size. `given` has the number
    of each name and the shape of each input that the user gives, `open` the names of the sizes that
    the model leaves open with the places of these, `notes` what is wrong with the model, of which
    `complaint` is that of ONNX's checker.
    """

    scopes: list[Scope]
    inputs: list[onnx.ValueInfoProto]
    given: dict[str, Shape | int]
    open: dict[str, str]
    notes: list[str]
    complaint: str | None


def scopes(model: ModelProto, names: Names, given: Sequence[tuple[str, Shape | int]]) -> Read:
    """Find the graphs of a model, with the shapes that ONNX infers.

    Parameters
    ----------
    model : ModelProto
        It is not changed.
    names : Names
        The names of sizes; those of the model are added.
    given : sequence
        Numbers of names and shapes of inputs, each with its name.

    Raises
    ------
    UsageError
        If what is given does not fit the model, or contradicts itself.
    """
    light = _light(model)
    unnamed = _name_open_sizes(light)
    notes: list[str] = []
    numbers = _bind(model, light.graph, given, notes)
    own = _named(light.graph.input)
    sizes = _Sizes(names, numbers, frozenset(map(names.symbol, sorted(own))))
    bare = copied(light)
    _forget(bare.graph)
    known = _folded(bare, own, sizes, notes)
    sizes = replace(sizes, own=frozenset(map(names.symbol, sorted(known.own))))
    refused = complaint(model)
    notes += [refused] if refused else []
    stale = _drop_stale(light.graph, known, sizes, "", set())
    stated = known.own | _dim_names(light.graph)
    _complete(light.graph, known)
    # What is left is held against what the nodes make of it, each by itself.
    cut = copied(light)
    _cut(cut.graph)
    local = _Inferred(_inferred(cut, []).graph, stated, "of nodes ")
    stale += _drop_stale(light.graph, local, sizes, "", set())
    notes += stale[:_MOST_NOTES]
    if len(stale) > _MOST_NOTES:
        notes.append(f"{len(stale) - _MOST_NOTES} more annotations are not used")
    found: list[Scope] = []
    filled = _Inferred(_inferred(light, []).graph, stated, "of annotations ")
    _collect(model.graph, (known, filled), "", None, sizes, found)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in light.graph.input if value.name not in constants]
    return Read(found, inputs, numbers, unnamed, notes, refused)


def copied(model: ModelProto) -> ModelProto:
    """Return a copy of a model."""
    made = ModelProto()
    made.CopyFrom(model)
    return made


@dataclass(frozen=True)
class _Inferred:
    """A graph with inferred shapes, and the names of sizes that are the model's.

    Inference makes up others, which `by` tells from those of another inference.
    """

    graph: GraphProto
    own: frozenset[str]
    by: str

    def within(self) -> dict[str, _Inferred]:
        """Return the graphs within its nodes."""
        pairs = (pair for node in self.graph.node for pair in subgraphs(node))
        return {
            called.replace(_MADE, ""): _Inferred(graph, self.own, self.by)
            for called, graph in pairs
        }


@dataclass(frozen=True)
class _Sizes:
    """What reads a size: a number, or the integer of a name; `own` are those of the inputs."""

    names: Names
    given: dict[str, Shape | int]
    own: frozenset[int]

    def symbol(self, dim: onnx.TensorShapeProto.Dimension, by: _Inferred) -> int:
        """Read a size; a number below 0, or a question mark for a name, leaves it open."""
        name = dim.dim_param
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            return dim.dim_value
        size = self.given.get(name)
        if isinstance(size, int):
            return size
        if name in by.own:
            return self.names.symbol(name)
        return self.names.unknown(name and by.by + name)

    def shape(self, tensor: onnx.TypeProto.Tensor, by: _Inferred) -> Shape:
        """Read a shape."""
        return tuple(self.symbol(dim, by) for dim in tensor.shape.dim)

    def better(self, known: Shape | None, stated: Shape) -> Shape:
        """Take from what the model states the sizes that inference leaves open."""
        if known is None or len(known) != len(stated):
            return stated if known is None else known
        return tuple(
            a if a >= 0 or a in self.own or self.names.text(b).startswith("?") else b
            for a, b in zip(known, stated, strict=True)
        )


def _tensors(about: onnx.TypeProto) -> Iterator[onnx.TypeProto.Tensor]:
    """Give the type of a tensor, or that of the elements of a sequence or an optional."""
    if about.HasField("tensor_type"):
        yield about.tensor_type
    for kind in ("sequence_type", "optional_type"):
        if about.HasField(kind):
            yield from _tensors(getattr(about, kind).elem_type)


def _named(values: Iterable[onnx.ValueInfoProto]) -> frozenset[str]:
    dims = (d for value in values for t in _tensors(value.type) for d in t.shape.dim)
    return frozenset(d.dim_param for d in dims if d.dim_param.strip("?"))


def _dim_names(graph: GraphProto) -> frozenset[str]:
    """Return the names of sizes in a graph and the graphs within it."""
    every = ((*each.value_info, *each.input, *each.output) for each in graphs_of(graph))
    return _named(chain.from_iterable(every))


def _is_open(dim: onnx.TensorShapeProto.Dimension) -> bool:
    return not (dim.dim_param.strip("?") or (dim.HasField("dim_value") and dim.dim_value >= 0))


def _name_open_sizes(model: ModelProto) -> dict[str, str]:
    """Name each size of an input that the model leaves open; return the names with their places."""
    taken, found = _dim_names(model.graph), {}
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if not _is_open(dim):
                continue
            name = f"{value.name}.{axis}"
            while name in taken:
                name += "'"
            dim.dim_param = name
            found[name] = f"size {axis} of input {value.name!r}, which the model leaves open"
    return found


def _bind(
    model: ModelProto,
    graph: GraphProto,
    given: Sequence[tuple[str, Shape | int]],
    notes: list[str],
) -> dict[str, Shape | int]:
    """Put numbers in the place of the sizes of inputs; return what is given, and what follows.

    The shape of an input gives numbers to its names, wherever these stand.
    """
    constants = {tensor.name for tensor in model.graph.initializer}
    own = {v.name for v in model.graph.input} - (
        constants if model.ir_version < _DEFAULTS else set()
    )
    inputs = {value.name: list(_tensors(value.type)) for value in graph.input if value.name in own}
    known = _dim_names(graph)
    found: dict[str, Shape | int] = {}
    places: dict[str, str] = {}

    def put(name: str, value: Shape | int, said: str) -> None:
        if found.setdefault(name, value) != value:
            both = f"{places[name]} and {said} contradict each other on {name!r}"
            if places[name] == said:
                both = f"{said} has two numbers for {name!r}"
            raise UsageError(f"--sizes: {both}")
        places.setdefault(name, said)

    for name, value in given:
        shape = value if isinstance(value, tuple) else (value,)
        said = f"{name}={show_sizes(shape)}"
        if isinstance(value, int) and name in known:
            put(name, value, said)
            dims = [[d.dim_param for d in t.shape.dim] for t in inputs.get(name, ())]
            if any(len(each) == 1 != each.count(name) for each in dims):
                notes.append(
                    f"{said} is a size; the input of this name has its own: {name}=({value},)"
                )
            continue
        if not inputs.get(name):
            if name in known:
                raise UsageError(f"--sizes: expected a number for the size {name!r}, got {said}")
            words = [*sorted(_named(graph.input)), *(each for each in inputs if inputs[each])]
            raise UsageError(
                f"--sizes: the model has no size and no input {name!r}, expected one of "
                f"{', '.join(words)}"
            )
        if name not in known:
            put(name, shape, said)
        for tensor in inputs[name]:
            dims = tensor.shape.dim
            if not tensor.HasField("shape"):
                tensor.shape.CopyFrom(helper.make_tensor_type_proto(1, shape).tensor_type.shape)
            elif len(dims) != len(shape):
                raise UsageError(
                    f"--sizes: input {name!r} has rank {len(dims)}, got {said} of rank {len(shape)}"
                )
            for axis, (dim, size) in enumerate(zip(dims, shape, strict=True)):
                if dim.HasField("dim_value") and 0 <= dim.dim_value != size:
                    raise UsageError(
                        f"--sizes: axis {axis} of input {name!r} has size {dim.dim_value} in the "
                        f"model, got {size} in {said}"
                    )
                if dim.dim_param.strip("?"):
                    put(dim.dim_param, size, said)
                dim.dim_value = size
    for tensor in chain.from_iterable(inputs.values()):
        for dim in tensor.shape.dim:
            number = found.get(dim.dim_param)
            if dim.dim_param and isinstance(number, int):
                dim.dim_value = number
    return found


def _complete(graph: GraphProto, known: _Inferred) -> None:
    """Put into annotations the sizes that inference knows; name those that nothing knows."""
    inferred = {value.name: value.type.tensor_type.shape.dim for value in _values(known.graph)}
    for value in (*graph.value_info, *graph.output, *graph.input):
        dims = value.type.tensor_type.shape.dim
        for axis, dim in enumerate(dims):
            right = inferred.get(value.name, ())
            better = right[axis] if len(right) == len(dims) else dim
            if better.dim_param in known.own or better.dim_value > 0:
                dim.CopyFrom(better)
            elif _is_open(dim):
                dim.dim_param = f"{value.name} {axis}"
    inner = known.within()
    for node in graph.node:
        for called, subgraph in subgraphs(node):
            if called in inner:
                _complete(subgraph, inner[called])


# What a node makes of its inputs is called so where the name stands for its annotation.
_MADE = " as it is made"


def _cut(graph: GraphProto) -> None:
    """Have the readers of a value with an annotation see that alone."""
    for each in graphs_of(graph):
        stated = {value.name for value in (*each.value_info, *each.output)}
        for node in each.node:
            for k, name in enumerate(node.output):
                node.output[k] = name + _MADE if name in stated else name


def _drop_stale(
    graph: GraphProto, known: _Inferred, sizes: _Sizes, place: str, doubtful: set[str]
) -> list[str]:
    """Take annotations away that contradict inference, or follow from such; return sentences.

    `doubtful` are the values with such annotations, and what is computed from these.
    """
    inferred = _types(known.graph)
    nothing = onnx.TypeProto()
    found = []

    def is_stale(value: onnx.ValueInfoProto, about: onnx.TypeProto, at: str) -> bool:
        own, right = value.type.tensor_type, about.tensor_type
        if 0 != own.elem_type != right.elem_type != 0:
            texts = [type_name(t.elem_type) for t in (own, right)]
        elif not own.HasField("shape") or not right.HasField("shape"):
            return False
        else:
            shapes = [sizes.shape(t, known) for t in (own, right)]
            if len(shapes[0]) == len(shapes[1]) and all(
                a == b or a < 0 or (b < 0 and b not in sizes.own)
                for a, b in zip(*shapes, strict=True)
            ):
                return False
            texts = [show_named(sizes.names.sizes(each)) for each in shapes]
        at = f"{at}: {value.name}" if at else value.name
        found.append(f"the annotation of {at}, {texts[0]}, contradicts the inferred {texts[1]}")
        return True

    values = (*graph.value_info, *graph.output, *(graph.input if place else ()))
    stale = {v.name for v in values if is_stale(v, inferred.get(v.name, nothing), place)}
    doubtful |= stale
    inner = known.within()
    for node in graph.node:
        for called, subgraph in subgraphs(node):
            at = f"{place}/{called}" if place else called
            within = _types(inner[called].graph) if called in inner else {}
            # A round of Loop gets what the node is given, or what the round before has made.
            states = zip(subgraph.input[2:], node.input[2:], subgraph.output[1:], strict=False)
            for value, name, output in states if node.op_type == "Loop" else ():
                first, later = inferred.get(name, nothing), within.get(output.name, nothing)
                if any(is_stale(value, about, at) for about in (first, later)):
                    doubtful.add(value.name)
                    value.type.Clear()
            if doubtful & {*node.input}:
                doubtful.update(value.name for value in subgraph.input)
            if called in inner:
                found += _drop_stale(subgraph, inner[called], sizes, at, doubtful)
        nodes = (n for _, s in subgraphs(node) for each in graphs_of(s) for n in each.node)
        if any(doubtful & {*each.input, *each.output} for each in (node, *nodes)):
            doubtful.update(filter(None, node.output))
    for value in values:
        if value.name in doubtful:
            is_known = inferred.get(value.name, nothing).tensor_type.HasField("shape")
            if value.name not in stale and not is_known and value.type.HasField("tensor_type"):
                at = f"{place}: {value.name}" if place else value.name
                found.append(f"the annotation of {at} is not used, as it follows from another one")
            value.type.Clear()
    return found


def _types(graph: GraphProto) -> dict[str, onnx.TypeProto]:
    """Return the types of values; of those that were cut, as they are made."""
    # What was computed is a constant now.
    constants = {
        tensor.name: helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
        for tensor in graph.initializer
    }
    values = sorted(_values(graph), key=lambda value: value.name.endswith(_MADE))
    return constants | {value.name.removesuffix(_MADE): value.type for value in values}


def _light(model: ModelProto) -> ModelProto:
    """Return a copy in which large constants are inputs, and of which one can take nodes away."""
    light = copied(model)
    graph = light.graph
    imported = {o.domain for o in light.opset_import}
    used = {node.domain for each in graphs_of(graph) for node in each.node}
    for domain in sorted(used - imported - {"ai.onnx"}):
        version = 1 if domain else onnx.defs.onnx_opset_version()
        light.opset_import.append(helper.make_opsetid(domain, version))
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
        if math.prod(tensor.dims) <= _MOST_ELEMENTS and array_of(tensor) is not None:
            small.append(tensor)
        else:
            value = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            graph.input.append(value)
    del graph.initializer[:]
    graph.initializer.extend(small)
    return light


def _forget(graph: GraphProto) -> None:
    """Take away what a model says of the shapes of its own values, which may be out of date."""
    for each in graphs_of(graph):
        del each.value_info[:]
        for value in (*each.output, *(each.input if each is not graph else ())):
            value.type.Clear()


def complaint(model: ModelProto) -> str | None:
    """Return why ONNX's checker refuses a model; large constants count as inputs."""
    light = _light(model)
    del light.opset_import[:]
    light.opset_import.extend(model.opset_import)
    try:
        onnx.checker.check_model(light)
    except onnx.checker.ValidationError as error:
        return f"ONNX's checker refuses the model: {' '.join(str(error).split())}"
    return None


_FAILURES = (inference.InferenceError, onnx.checker.ValidationError, ValueError)


def _inferred(model: ModelProto, notes: list[str]) -> ModelProto:
    """Infer shapes; where that fails, leave out the nodes at fault, and note the reason."""
    for data_prop in (True, False):
        try:
            return inference.infer_shapes(model, data_prop=data_prop)
        except _FAILURES as error:
            reason = " ".join(str(error).split())
    note = f"ONNX's shape inference fails: {reason}"
    if note not in notes:
        notes.append(note)
    # Each node by itself, with what is known of its inputs.
    known = {value.name: value for value in _values(model.graph)}
    made = copied(model)
    del made.graph.value_info[:], made.functions[:]
    for node in model.graph.node:
        del made.graph.node[:], made.graph.output[:]
        made.graph.node.append(node)
        made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output if name)
        with suppress(*_FAILURES):
            one = inference.infer_shapes(made, data_prop=True).graph
            made.graph.value_info.extend(one.output)
            known.update({value.name: value for value in _values(one)})
    made = copied(model)
    del made.graph.value_info[:]
    made.graph.value_info.extend(known.values())
    return made


def _folded(model: ModelProto, own: frozenset[str], sizes: _Sizes, notes: list[str]) -> _Inferred:
    """Infer shapes again and again, with what is constant computed in between."""
    known = _Inferred(_inferred(model, notes).graph, own, "")
    for _ in range(_MOST_ROUNDS):
        values = _constants(model, known.graph)
        joins = _join(model.graph, known, sizes, {})
        if not values and not joins:
            break
        kept = [node for node in model.graph.node if not {*node.output} & values.keys()]
        del model.graph.node[:]
        model.graph.node.extend(kept)
        for name, value in values.items():
            model.graph.initializer.append(numpy_helper.from_array(value, name))
        known = _Inferred(_inferred(model, notes).graph, known.own | joins, "")
    return known


def _join(
    graph: GraphProto, known: _Inferred, sizes: _Sizes, outer: dict[str, Shape]
) -> frozenset[str]:
    """Annotate sizes that are the one of N and M which is not 1, as ONNX cannot; return them."""
    about = _types(known.graph)
    shapes = dict(outer)
    for name, each in about.items():
        if each.tensor_type.HasField("shape"):
            shapes[name] = sizes.shape(each.tensor_type, known)
    found = frozenset[str]()
    inner = known.within()
    for node in graph.node:
        for called, subgraph in subgraphs(node):
            if called in inner:
                found |= _join(subgraph, inner[called], sizes, shapes)
        operator = OPERATORS.get(node.op_type)
        names = tuple(filter(None, node.input))
        operands = tuple(shapes[name] for name in names if name in shapes)
        if (
            operator is None
            or operator.direction != "multidirectional"
            or node.domain not in ONNX
            or len(operands) < len(names)
            or not {*node.output} & about.keys()
        ):
            continue
        made = onnx.ValueInfoProto(name=node.output[0], type=about[node.output[0]])
        dims = made.type.tensor_type.shape.dim
        with suppress(_kernel.NeverAgree):
            target = _kernel.symbolic_sizes(operands)
            new = {
                k: sizes.names.joined(each)
                for k, each in enumerate(target)
                if len(each) > 1
                and {*map(sizes.names.text, each)} <= known.own
                and len(dims) == len(target)
                and dims[k].dim_param not in known.own
            }
            for k, name in new.items():
                dims[k].dim_param = name
            if new:
                outputs = [value for value in graph.output if value.name == made.name]
                (outputs[0] if outputs else graph.value_info.add()).CopyFrom(made)
                found = found.union(new.values())
    return found


def _constants(model: ModelProto, inferred: GraphProto) -> dict[str, np.ndarray]:
    """Compute the values that depend on constants and on known shapes alone."""
    shapes = {value.name: value.type for value in _values(inferred)}
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
                feeds[name] = np.asarray(array_of(known[name]))
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
    scope = Scope(len(found), place, graph, outer, {}, {}, {})
    found.append(scope)
    for by in inferred:
        for value in _values(by.graph):
            tensor = value.type.tensor_type
            if tensor.elem_type:
                scope.types.setdefault(value.name, tensor.elem_type)
            if tensor.HasField("shape"):
                known = scope.shapes.get(value.name)
                scope.shapes[value.name] = sizes.better(known, sizes.shape(tensor, by))
        for tensor in by.graph.initializer:
            scope.note(tensor.name, tensor)
        for node in by.graph.node:
            for attribute in node.attribute:
                if node.op_type == "Constant" and attribute.name == "value":
                    scope.note(node.output[0], attribute.t)
                elif node.op_type == "Constant" and attribute.name == "value_ints":
                    made = numpy_helper.from_array(np.array(attribute.ints, np.int64))
                    scope.note(node.output[0], made)
    for tensor in graph.initializer:
        scope.declare(tensor.name, tensor)
    inner = [by.within() for by in inferred]
    for node in graph.node:
        for called, subgraph in subgraphs(node):
            at = f"{place}/{called}" if place else called
            within = tuple(each[called] for each in inner if called in each)
            _collect(subgraph, within, at, scope, sizes, found)
