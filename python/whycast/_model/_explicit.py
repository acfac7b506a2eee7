"""A model with explicit broadcasts: new nodes broadcast the inputs of other nodes to one shape.

Each form rests on theorems of why3/model: Expand on `rewrites` and `matrices`, Reshape and Tile on
`tiles`, computed shapes on `run_time`, SONNX's Broadcast on `rewrites`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import whycast
from whycast import _kernel
from whycast._checks import PLAIN_TYPES
from whycast._model._operators import SONNX, Form
from whycast._model._places import UNKNOWN, Place
from whycast._model._read import Scope, array_of, graphs_of, opset, type_name
from whycast._types import Shape

# The first opsets with Expand; with Where and computed ends of Slice; with Reshape to size 0.
_EXPAND, _WHERE, _ZERO = 8, 10, 14
# The most bytes of added constants; protobuf takes less than 2 GiB.
_MOST_BYTES = 2**30

_SONNX_TYPES = frozenset(
    number
    for number in TensorProto.DataType.values()
    if number == TensorProto.STRING
    or (number and helper.tensor_dtype_to_np_dtype(number).type in PLAIN_TYPES)
)


class _LeftError(Exception):
    """Why a node stays unchanged."""


@dataclass
class Explicit:
    """A model, the numbers of new nodes and changed places, and the places left, with reasons."""

    model: ModelProto
    added: int = 0
    changed: int = 0
    left: list[tuple[Place, str]] = field(default_factory=list)


def explicit(
    model: ModelProto,
    scopes: Sequence[Scope],
    found: Sequence[Place],
    form: Form = "expand",
    *,
    dynamic: bool = False,
    constants: bool = False,
    leave: Collection[str] = (),
) -> Explicit:
    """Return a copy of a model with explicit broadcasts, and the places left unchanged.

    With `dynamic`, the model computes unknown shapes at run time; with `constants`, the file
    repeats elements of initializers. Nodes of the operators `leave` stay unchanged.
    """
    made = Explicit(deepcopy(model))
    graphs = list(graphs_of(made.model.graph))
    pairs, version, taken = zip(scopes, graphs, strict=True), opset(model), _taken(graphs)
    writers = {scope: _Writer(graph, scope, version, taken, form) for scope, graph in pairs}
    room = _MOST_BYTES
    for place in found:
        if place.verdict == "equal":
            continue
        try:
            if place.node.op_type in leave:
                raise _LeftError("--leave names its operator")
            room -= writers[place.scope].write(place, dynamic, constants, room)
            made.changed += 1
        except _LeftError as reason:
            made.left.append((place, str(reason)))
    # Inner graphs first: `finish` copies them with the nodes of the outer graph.
    made.added = sum(writer.finish() for writer in reversed(writers.values()))
    if form == "sonnx" and made.changed and SONNX not in [o.domain for o in model.opset_import]:
        made.model.opset_import.append(helper.make_opsetid(SONNX, 1))
    return made


def _taken(graphs: list[GraphProto]) -> set[str]:
    names: set[str] = set()
    for graph in graphs:
        names.update(*[(node.name, *node.input, *node.output) for node in graph.node])
        named = (*graph.input, *graph.output, *graph.initializer, *graph.value_info)
        names.update(value.name for value in named)
        names.update(tensor.values.name for tensor in graph.sparse_initializer)
    return names


class _Writer:
    """Adds nodes to a graph; methods that return a str return the name of a value or a node."""

    def __init__(
        self, graph: GraphProto, scope: Scope, version: int, taken: set[str], form: Form
    ) -> None:
        self.graph, self.scope, self.version, self.form = graph, scope, version, form
        self.taken, self.put = taken, 0
        self.before: dict[int, list[NodeProto]] = {}
        self.made: dict[tuple[object, ...], str] = {}

    def write(self, place: Place, dynamic: bool, constants: bool, room: int) -> int:
        """Make a place explicit, or raise the reason; return the added bytes of constants."""
        self.put = place.index
        if place.note:
            raise _LeftError(place.note)
        if place.verdict == "never":
            raise _LeftError("its shapes never broadcast")
        if place.direction == "stacked" and place.node.op_type != "MatMul":
            raise _LeftError("its zero points have axes of their own")
        if self.form == "sonnx":
            self._sonnx(place)
            return 0
        if place.verdict == "unknown":
            raise _LeftError(UNKNOWN)
        if self.form == "expand" and self.version < _EXPAND:
            raise _LeftError(f"opset {self.version} has no Expand")
        grown = [m for m in place.repeated if place.inputs[m]]
        own = [self.scope.shape(place.inputs[m]) for m in grown]
        if place.direction == "stacked" and any(
            len(shape) < 2 for shape in own if shape is not None
        ):
            raise _LeftError("an Expand of its vector would add an axis to the product")
        common = place.common
        if common is not None and min(common, default=0) >= 0:
            count = self._bytes(place, grown, common) if constants else 0
            if count > room:
                most = f"expected at most {room:,}"
                raise _LeftError(f"its constants would take {count:,} bytes, {most}")
            names = [self._static(place, m, common, constants) for m in grown]
            for m, name in zip(grown, names, strict=True):
                self._replace(place, m, name)
            return count
        if not dynamic:
            raise _LeftError("only the running model knows the sizes (--sizes or --dynamic)")
        if self.version < _WHERE:
            raise _LeftError(f"opset {self.version} cannot choose between sizes")
        if not all(place.inputs):
            raise _LeftError("no value has the shape of the product")
        if self.form == "reshape+tile" and self.version < _ZERO:
            raise _LeftError(f"Reshape of opset {self.version} has no size 0")
        shape = self._computed(place)
        for m in grown:
            self._replace(place, m, self._dynamic(place, m, shape))
        return 0

    def finish(self) -> int:
        nodes = []
        for index, node in enumerate(self.graph.node):
            nodes += self.before.get(index, [])
            nodes.append(node)
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        return sum(map(len, self.before.values()))

    def _target(self, place: Place, m: int, common: Shape) -> Shape:
        if place.direction != "stacked":
            return common
        own = self.scope.shape(place.inputs[m])
        assert own is not None
        # If sizes of the matrices are unknown, an Expand to 1 keeps them.
        return common + (own[-2:] if min(own[-2:]) >= 0 else (1, 1))

    def _bytes(self, place: Place, grown: Sequence[int], common: Shape) -> int:
        added = {}
        for m in grown:
            name, target = place.inputs[m], self._target(place, m, common)
            value = self._constant(name)
            if value is not None and ("constant", name, target) not in self.made:
                size = value.dtype.itemsize
                if value.dtype == object:
                    size = max((len(text.encode()) for text in value.flat), default=0) + 8
                added[name] = size * math.prod(target)
        return sum(added.values())

    def _static(self, place: Place, m: int, common: Shape, constants: bool) -> str:
        name = place.inputs[m]
        own = self.scope.shape(name)
        assert own is not None
        target = self._target(place, m, common)
        key = ("constant", name, target)
        if constants and key not in self.made and (value := self._constant(name)) is not None:
            full = np.ascontiguousarray(whycast.numpy_rule.broadcast_to(value, target))
            self.made[key] = self._name(name, "explicit")
            self.graph.initializer.append(numpy_helper.from_array(full, self.made[key]))
        if key in self.made:
            return self.made[key]
        if self.form == "expand":
            return self._node("Expand", name, self._numbers(target))
        padded = _kernel.pad(own, len(target))
        if min(padded, default=0) < 0:
            # Expand needs only the target; Reshape needs all sizes.
            raise _LeftError("only the running model knows the sizes of an input")
        if len(own) < len(target):
            zero = {"allowzero": 1} if 0 in padded else {}
            if zero and self.version < _ZERO:
                raise _LeftError(f"Reshape of opset {self.version} has no size 0")
            name = self._node("Reshape", name, self._numbers(padded), **zero)
        repeats = tuple([b if a == 1 else 1 for a, b in zip(padded, target, strict=True)])
        return self._node("Tile", name, self._numbers(repeats)) if set(repeats) - {1} else name

    def _computed(self, place: Place) -> str:
        rank, shape = len(place.target or ()), ""
        for name, own in zip(place.inputs, place.shapes, strict=True):
            assert own is not None
            if not own:
                continue
            sizes = self._node("Shape", name)
            if place.direction == "stacked":
                sizes = self._slice(sizes, 0, len(own))
            if own == place.common:
                return sizes
            sizes = self._padded(sizes, len(own), rank)
            if shape:
                # Not Max: the maximum of 0 and 1 is 1.
                is_one = self._node("Equal", shape, self._numbers((1,) * rank))
                sizes = self._node("Where", is_one, sizes, shape)
            shape = sizes
        return shape

    def _dynamic(self, place: Place, m: int, target: str) -> str:
        name, own = place.inputs[m], self.scope.shape(place.inputs[m])
        assert own is not None
        rank = len(place.target or ())
        if place.direction == "stacked":
            rank += 2
            tail = self._slice(self._node("Shape", name), len(own) - 2, len(own))
            target = self._node("Concat", target, tail, axis=0)
        if self.form == "expand":
            return self._node("Expand", name, target)
        ones = self._numbers((1,) * rank)
        padded = self._padded(self._node("Shape", name), len(own), rank)
        if len(own) < rank:
            name = self._node("Reshape", name, padded, allowzero=1)
        is_one = self._node("Equal", padded, ones)
        return self._node("Tile", name, self._node("Where", is_one, target, ones))

    def _padded(self, sizes: str, own: int, rank: int) -> str:
        if own == rank:
            return sizes
        missing = self._numbers((1,) * (rank - own))
        return self._node("Concat", missing, sizes, axis=0) if own else missing

    def _slice(self, name: str, first: int, last: int) -> str:
        return self._node("Slice", name, self._numbers((first,)), self._numbers((last,)))

    def _sonnx(self, place: Place) -> None:
        """Add one Broadcast, which needs no shape, for a node's inputs."""
        if place.direction == "stacked" or not all(place.inputs):
            raise _LeftError("SONNX's Broadcast repeats elements, not matrices")
        if place.verdict == "unknown":
            raise _LeftError(UNKNOWN)
        if place.zeros:
            meets = any(not each.names for each in place.zeros)
            sizes = "a 0 that meets a 1 (E1)" if meets else "sizes that it may have, 0 with 1 (E1)"
            raise _LeftError(f"SONNX refuses {sizes}{'' if meets else ': --sizes'}")
        for name in place.inputs:
            number = self.scope.element_type(name)
            if number not in _SONNX_TYPES:
                raise _LeftError(f"SONNX's Broadcast does not take the type {type_name(number)}")
        inputs = tuple(dict.fromkeys(place.inputs))
        key = ("Broadcast", inputs)
        if (key, inputs[0]) not in self.made:
            outputs = [self._name(name, "broadcast") for name in inputs]
            node = helper.make_node(
                "Broadcast", inputs, outputs, name=self._name("Broadcast", "explicit"), domain=SONNX
            )
            self.before.setdefault(self.put, []).append(node)
            self.made.update({(key, i): o for i, o in zip(inputs, outputs, strict=True)})
        for m, name in enumerate(place.inputs):
            self._replace(place, m, self.made[key, name])

    def _replace(self, place: Place, m: int, name: str) -> None:
        node = self.graph.node[place.index]
        only = {"Gemm": (2,), "PRelu": (1,)}.get(node.op_type)
        for k, own in enumerate(place.node.input):
            if own == place.inputs[m] and (only is None or k in only):
                node.input[k] = name

    def _constant(self, name: str) -> np.ndarray | None:
        """Return an initializer's value if the file has it, and no input has the same name."""
        given = {value.name for value in self.graph.input}
        found = [each for each in self.graph.initializer if each.name == name not in given]
        return array_of(found[0]) if found else None

    def _numbers(self, sizes: Shape) -> str:
        """Return a constant vector; equal vectors share a node."""
        key = ("numbers", sizes)
        if key not in self.made:
            self.made[key] = self._name("shape", "x".join(map(str, sizes)) or "scalar")
            value = np.array(sizes, np.int64)
            constant = numpy_helper.from_array(value, self.made[key])
            name = self._name("Constant", "explicit")
            node = helper.make_node("Constant", [], [self.made[key]], name=name, value=constant)
            self.before.setdefault(0, []).append(node)
        return self.made[key]

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node before the current one, unless an equal one was added; return its output."""
        key = (operator, inputs, tuple(attributes.items()))
        if key not in self.made:
            self.made[key] = self._name(inputs[0], operator.lower())
            name = self._name(operator, "explicit")
            node = helper.make_node(operator, inputs, [self.made[key]], name=name, **attributes)
            self.before.setdefault(self.put, []).append(node)
        return self.made[key]

    def _name(self, stem: str, what: str) -> str:
        name, number = f"{stem}/{what}", 1
        while name in self.taken:
            number += 1
            name = f"{stem}/{what}_{number}"
        self.taken.add(name)
        return name
