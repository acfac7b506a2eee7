"""The shapes of a model's values, which ONNX infers or the model annotates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper
from onnx import shape_inference as inference
from onnx.reference import ReferenceEvaluator

from whycast import _kernel
from whycast._model import _names, _read
from whycast._model._names import Names, Sizes
from whycast._model._operators import ONNX
from whycast._model._places import operands_of
from whycast._model._read import MOST_ELEMENTS, Scope, graphs_of, scopes_of, subgraphs, type_name
from whycast._types import Shape
from whycast._usage import show_named

# Limits: rounds of inference, notes on annotations.
_MOST_ROUNDS, _MOST_NOTES = 13, 20


class Read(NamedTuple):
    """A model's graphs, the outermost first, and its sizes.

    Sizes of tensors in `inputs` are numbers or names. `given` contains the user's numbers and
    shapes, `open` the places of new names, `notes` remarks for the report, with the checker's
    `complaint`.
    """

    scopes: list[Scope]
    inputs: list[onnx.ValueInfoProto]
    given: dict[str, Shape | int]
    open: dict[str, str]
    notes: list[str]
    complaint: str | None


def scopes(model: ModelProto, names: Names, given: Sequence[tuple[str, Shape | int]]) -> Read:
    """Return a model's graphs, with inferred shapes; add the model's names to `names`.

    Annotations may be stale: inference first ignores them, then adds those that no node
    contradicts, even indirectly. Raises UsageError if `given` contradicts itself or the model.
    """
    stated, notes = _read.light(model), list[str]()
    unnamed = _names.name_open_sizes(stated.graph)
    numbers = _names.bind(model, stated.graph, given, notes)
    certain = sorted(_names.names_in(stated.graph.input))
    sizes = Sizes(names, numbers, {*map(names.symbol, certain)})
    found = _folded(stated, sizes, notes)
    refused = _read.complaint(model)
    notes += [refused] if refused else []
    stale = _drop_stale(stated.graph, found, sizes)
    local = replace(sizes, stated=_names.names_of(stated.graph), by="of nodes ")
    _complete(stated.graph, found, sizes)
    # Compare the remaining annotations with each node's own inference.
    stale += _drop_stale(stated.graph, _scopes(_inferred(_cut(stated), []), local), local)
    notes += stale[:_MOST_NOTES]
    if len(stale) > _MOST_NOTES:
        notes.append(f"{len(stale) - _MOST_NOTES} more annotations are not used")
    filled = _scopes(_inferred(stated, []), replace(local, by="of annotations "))
    for scope, other, graph in zip(found, filled, graphs_of(model.graph), strict=True):
        scope.graph = graph
        scope.types = other.types | scope.types
        scope.values |= other.values
        for name, shape in other.shapes.items():
            scope.shapes[name] = sizes.better(scope.shapes.get(name), shape)
        for tensor in graph.initializer:
            scope.declare(tensor.name, tensor)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in stated.graph.input if value.name not in constants]
    return Read(found, inputs, numbers, unnamed, notes, refused)


def _scopes(model: ModelProto, sizes: Sizes) -> list[Scope]:
    found = list(scopes_of(model.graph))
    for scope in found:
        graph = scope.graph
        for value in (*graph.value_info, *graph.input, *graph.output):
            tensor = value.type.tensor_type
            if tensor.elem_type:
                scope.types[value.name] = tensor.elem_type
            if tensor.HasField("shape"):
                scope.shapes[value.name] = sizes.shape(tensor)
        for tensor in graph.initializer:
            scope.note(tensor.name, tensor)
        for node in graph.node:
            if node.op_type == "Constant" and node.domain in ONNX:
                value = _value(node, {}, model)
                if value is not None:
                    scope.note(node.output[0], numpy_helper.from_array(value))
    return found


def _folded(model: ModelProto, sizes: Sizes, notes: list[str]) -> list[Scope]:
    """Infer shapes and compute constants, in rounds, without the model's annotations."""
    bare = deepcopy(model)
    graph = bare.graph
    for each in graphs_of(graph):
        del each.value_info[:]
        for value in (*each.output, *(each.input if each is not graph else ())):
            value.type.Clear()
    for _ in range(_MOST_ROUNDS):
        known = _scopes(_inferred(bare, notes), sizes)
        values = _constants(bare, known[0])
        if not _join(graph, known, sizes) and not values:
            break
        kept = [node for node in graph.node if not {*node.output} & values.keys()]
        del graph.node[:]
        graph.node.extend(kept)
        for name, array in values.items():
            graph.initializer.append(numpy_helper.from_array(array, name))
    return known


_FAILURES = (inference.InferenceError, onnx.checker.ValidationError, ValueError)


def _inferred(model: ModelProto, notes: list[str]) -> ModelProto:
    """Infer shapes; if inference fails, note the reason, and infer nothing for nodes at fault."""
    for data_prop in (True, False):
        try:
            return inference.infer_shapes(model, data_prop=data_prop)
        except _FAILURES as error:
            reason = " ".join(str(error).split())
    note = f"ONNX's shape inference fails: {reason}"
    if note not in notes:
        notes.append(note)
    # Infer each node alone, from its inputs' known types.
    made = deepcopy(model)
    del made.functions[:]
    for node in model.graph.node:
        del made.graph.node[:], made.graph.output[:]
        made.graph.node.append(node)
        made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output if name)
        with suppress(*_FAILURES):
            one = inference.infer_shapes(made, data_prop=True)
            made.graph.value_info.extend(one.graph.output)
    del made.graph.node[:], made.graph.output[:]
    made.graph.node.extend(model.graph.node)
    made.graph.output.extend(model.graph.output)
    return made


def _constants(model: ModelProto, known: Scope) -> dict[str, np.ndarray]:
    tensors = model.graph.initializer
    values = {tensor.name: np.asarray(_read.array_of(tensor)) for tensor in tensors}
    shapes = {name: own for name, own in known.shapes.items() if min(own, default=0) >= 0}
    found: dict[str, np.ndarray] = {}
    for node in model.graph.node:
        if node.domain not in ONNX or len(node.output) != 1 or any(subgraphs(node)):
            continue
        names = {*filter(None, node.input)}
        feeds = {name: values[name] for name in names & values.keys()}
        if node.op_type in ("Shape", "Size"):
            # These operators need only the shape: a view of one element is enough.
            known_ones = names & {*shapes}
            feeds = {n: np.broadcast_to(np.float32(0), shapes[n]) for n in known_ones} | feeds
        (output,) = node.output
        is_small = math.prod(shapes.get(output, ())) <= MOST_ELEMENTS
        value = None
        if len(feeds) == len(names) and is_small and not _is_random(node):
            value = _value(node, feeds, model)
        if value is not None:
            values[output] = found[output] = value
    return found


def _is_random(node: NodeProto) -> bool:
    if not onnx.defs.has(node.op_type):
        return False
    schema = onnx.defs.get_schema(node.op_type)
    known = schema.node_determinism  # type: ignore[attr-defined]
    return bool(known == schema.NodeDeterminism.NonDeterministic)


def _value(
    node: NodeProto, feeds: Mapping[str, np.ndarray], model: ModelProto
) -> np.ndarray | None:
    """Compute a node by ONNX's reference; return None on failure or for a large result."""
    alone = helper.make_function("", "constant", [*feeds], node.output, [node], model.opset_import)
    try:
        (value,) = ReferenceEvaluator(alone).run(None, dict(feeds), attributes={})
    except Exception:
        # The reference may lack the operator; then the report shows open shapes.
        return None
    if not isinstance(value, np.ndarray | np.generic) or value.size > MOST_ELEMENTS:
        return None
    return np.asarray(value)


def _join(graph: GraphProto, known: Sequence[Scope], sizes: Sizes) -> bool:
    """Annotate sizes such as N|M, which ONNX cannot infer; return whether there are any."""
    names, joined = sizes.names, set[str]()
    for own, scope in zip(graphs_of(graph), known, strict=True):
        for node in own.node:
            direction, _, shapes = operands_of(scope, node) or ("", (), (None,))
            operands = tuple(shape for shape in shapes if shape is not None)
            if direction != "multidirectional" or len(operands) < len(shapes):
                continue
            name = node.output[0]
            result = scope.shapes.get(name, ())
            with suppress(_kernel.NeverAgree):
                target = _kernel.symbolic_sizes(operands)
                new = {
                    axis: names.joined(each)
                    for axis, (each, size) in enumerate(zip(target, result, strict=False))
                    if len(each) > 1 and {*each} <= sizes.own and not sizes.is_sure(size)
                }
                if not new or len(target) != len(result):
                    continue
                joined |= {*new.values()}
                dims = [
                    new.get(axis, names.text(size) if sizes.is_sure(size) else None)
                    for axis, size in enumerate(result)
                ]
                made = helper.make_tensor_value_info(name, scope.types.get(name, 0), dims)
                outputs = [value for value in own.output if value.name == name]
                (outputs[0] if outputs else own.value_info.add()).CopyFrom(made)
    sizes.own.update(map(names.symbol, sorted(joined)))
    return bool(joined)


def _complete(graph: GraphProto, known: Sequence[Scope], sizes: Sizes) -> None:
    """Add inferred sizes to annotations; name unknown sizes."""
    for each, scope in zip(graphs_of(graph), known, strict=True):
        for value in (*each.value_info, *each.output, *each.input):
            dims = value.type.tensor_type.shape.dim
            inferred = scope.shapes.get(value.name, ())
            for axis, dim in enumerate(dims):
                size = inferred[axis] if len(inferred) == len(dims) else None
                if size is not None and size >= 0:
                    dim.dim_value = size
                elif size in sizes.own:
                    dim.dim_param = sizes.names.text(size)
                elif _names.is_open(dim):
                    dim.dim_param = f"{value.name} {axis}"


# Suffix of a renamed result: the annotation keeps the name.
_MADE = " as it is made"


def _cut(model: ModelProto) -> ModelProto:
    """Return a copy that renames annotated outputs of nodes: other nodes read the annotations."""
    made = deepcopy(model)
    for each in graphs_of(made.graph):
        values = (*each.value_info, *each.output)
        stated = {v.name for v in values if v.type.tensor_type.HasField("shape")}
        for node in each.node:
            for k, name in enumerate(node.output):
                node.output[k] = name + _MADE if name in stated else name
    return made


def _drop_stale(graph: GraphProto, known: Sequence[Scope], sizes: Sizes) -> list[str]:
    """Remove annotations that contradict inference, or follow from others that do; return notes."""
    found: list[str] = []
    stale: set[str] = set()

    def inferred(scope: Scope, name: str) -> tuple[int, Shape | None]:
        key = name + _MADE if name + _MADE in scope.types else name
        return scope.types.get(key, 0), scope.shapes.get(key)

    def hold(value: onnx.ValueInfoProto, place: str, element: int, shape: Shape | None) -> bool:
        stated = value.type.tensor_type
        if 0 != stated.elem_type != element != 0:
            texts = [type_name(each) for each in (stated.elem_type, element)]
        elif shape is None or not stated.HasField("shape"):
            return False
        else:
            own = sizes.shape(stated)
            if len(own) == len(shape) and all(
                a == b or a < 0 or not sizes.is_sure(b) for a, b in zip(own, shape, strict=True)
            ):
                return False
            texts = [show_named(sizes.names.sizes(each)) for each in (own, shape)]
        both = f"{texts[0]}, contradicts the inferred {texts[1]}"
        found.append(f"the annotation of {_placed(value, place)}, {both}")
        stale.add(value.name)
        return True

    scopes = list(zip(scopes_of(graph), known, strict=True))
    for own, scope in scopes:
        inner = own.graph
        if own.node is not None and own.node.op_type == "Loop":
            # A round reads the node's inputs, or the results of the previous round.
            states = zip(inner.input[2:], own.node.input[2:], inner.output[1:], strict=False)
            for value, name, output in states:
                assert scope.outer is not None
                for about in (inferred(scope.outer, name), inferred(scope, output.name)):
                    if hold(value, own.place, *about):
                        value.type.Clear()
        for value in _stated(own):
            hold(value, own.place, *inferred(scope, value.name))
    doubtful = _with_what_follows(graph, stale)
    for own, scope in reversed(scopes):
        for value in _stated(own):
            if value.name not in doubtful:
                continue
            is_known = scope.shapes.get(value.name) is not None
            if value.name not in stale and not is_known and value.type.HasField("tensor_type"):
                at = _placed(value, own.place)
                found.append(f"the annotation of {at} is not used, as it follows from another one")
            value.type.Clear()
    return found


def _stated(scope: Scope) -> list[onnx.ValueInfoProto]:
    """Return a graph's annotated values, except the model's inputs: inference needs their types."""
    graph = scope.graph
    return [*graph.value_info, *graph.output, *(graph.input if scope.outer is not None else ())]


def _placed(value: onnx.ValueInfoProto, place: str) -> str:
    return f"{place}: {value.name}" if place else value.name


def _with_what_follows(graph: GraphProto, doubtful: set[str]) -> set[str]:
    found, before = set(doubtful), -1
    while before < len(found):
        before = len(found)
        for each in graphs_of(graph):
            for node in each.node:
                inner = [own for _, subgraph in subgraphs(node) for own in graphs_of(subgraph)]
                nodes = [node, *(one for own in inner for one in own.node)]
                if found & {*node.input}:
                    found.update(value.name for own in inner for value in own.input)
                if any(found & {*one.input, *one.output} for one in nodes):
                    found.update(filter(None, node.output))
    return found
