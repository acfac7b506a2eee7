"""A model's nodes that may broadcast, with conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import onnx
from onnx import GraphProto, ModelProto, NodeProto

from whycast import _kernel
from whycast._model._names import Names
from whycast._model._operators import INSIDE, ONNX, OPERATORS, Direction
from whycast._model._read import Scope, graphs_of, opset
from whycast._types import Shape
from whycast.symbolic import Clause, Condition, NeverError, solve

# always and never: whatever the names' numbers. unknown: undecided, for example an open rank.
Verdict = Literal["equal", "always", "depends", "never", "unknown"]
UNKNOWN = "an input's rank, or the input that has to grow, is unknown"


@dataclass(frozen=True)
class Place:
    """A node that may broadcast.

    The `inputs`, with `shapes`, broadcast together; the shapes of stacks of matrices lack the last
    two axes. On each axis, the common size is any size in `target` that is not 1, else 1.
    `condition` is that of the node's rule, `zeros` SONNX's further condition. `index` is the node's
    place in the graph; `note` explains an unusual node.
    """

    scope: Scope
    index: int
    direction: Direction
    inputs: tuple[str, ...]
    shapes: tuple[Shape | None, ...]
    verdict: Verdict = "unknown"
    target: tuple[tuple[int, ...], ...] | None = None
    condition: Condition = field(default_factory=Condition)
    zeros: Condition = field(default_factory=Condition)
    clash: NeverError | None = None
    note: str = ""

    @property
    def node(self) -> NodeProto:
        node: NodeProto = self.scope.graph.node[self.index]
        return node

    @property
    def common(self) -> Shape | None:
        """The common shape, if each size is one number or one name."""
        if self.target is None or any(len(symbols) > 1 for symbols in self.target):
            return None
        return tuple(symbols[0] for symbols in filled(self.target))

    @property
    def repeated(self) -> tuple[int, ...]:
        """The positions in `inputs` of shapes that may differ from the common shape."""
        return tuple(m for m, shape in enumerate(self.shapes) if shape != self.common)

    def kinds(self) -> tuple[str, ...]:
        """Return how inputs grow; a name counts as a size other than 1."""
        if self.target is None:
            return ()
        target, found = filled(self.target), []
        for shape in self.shapes:
            assert shape is not None
            own = _kernel.pad(shape, len(target))
            grows = [k for k, size in enumerate(own) if size not in target[k]]
            if grows or len(shape) < len(target):
                found.append(_kind(own, grows))
        found += ["both sides"] if len(found) > 1 else []
        return tuple(kind for kind in KINDS if kind in found)


KINDS = ("scalar", "leading", "trailing", "middle", "rank only", "both sides")


def _kind(own: Shape, grows: list[int]) -> str:
    """Return where a tensor of the common rank grows.

    >>> _kind((1, 1), [0, 1]), _kind((1, 4), [0]), _kind((3, 1), [1])
    ('scalar', 'leading', 'trailing')
    >>> _kind((3, 1, 4), [1]), _kind((1, 4), [])
    ('middle', 'rank only')
    """
    stays = [k for k, size in enumerate(own) if size != 1]
    if not stays:
        return "scalar"
    if not grows:
        return "rank only"
    if grows[-1] < stays[0]:
        return "leading"
    return "trailing" if grows[0] > stays[-1] else "middle"


def places(scopes: list[Scope], model: ModelProto, names: Names) -> Iterator[Place]:
    version = opset(model)
    for scope in scopes:
        for index, node in enumerate(scope.graph.node):
            operands = operands_of(scope, node)
            if operands is not None:
                yield from _judged(Place(scope, index, *operands), version, names)


def operands_of(
    scope: Scope, node: NodeProto
) -> tuple[Direction, tuple[str, ...], tuple[Shape | None, ...]] | None:
    """Return how a node broadcasts, its operands and their shapes; None if it does not."""
    names = tuple(filter(None, node.input))
    shapes = tuple(map(scope.shape, names))
    if node.domain not in ONNX or len(names) < 2 or not node.output:
        return None
    if node.op_type == "Expand":
        return "explicit", (names[0], ""), (shapes[0], scope.value(names[1]))
    if node.op_type not in OPERATORS:
        return None
    direction = OPERATORS[node.op_type].direction
    if direction == "multidirectional":
        return direction, names, shapes
    if node.op_type == "PRelu":
        return direction, names[:2], shapes[:2]
    if node.op_type == "Gemm":
        if len(names) < 3:
            return None
        turned = {attribute.name: bool(attribute.i) for attribute in node.attribute}
        a, b, c = shapes
        made = None
        if a is not None and b is not None and len(a) == len(b) == 2:
            made = (a[int(turned.get("transA", False))], b[int(not turned.get("transB", False))])
        return direction, ("", names[2]), (made, c)
    pair = (node.input[0], node.input[3 if node.op_type == "QLinearMatMul" else 1])
    # A vector counts as one matrix.
    return direction, pair, tuple([own and own[:-2] for own in map(scope.shape, pair)])


def _judged(place: Place, version: int, names: Names) -> Iterator[Place]:
    """Complete a place; list an Expand only if its shape never fits, or has a negative size."""
    operator = place.node.op_type
    own, target = place.shapes[0], place.shapes[-1]
    if place.direction == "explicit":
        if own is None or target is None:
            return
        if min(target, default=0) < 0:
            note = f"ONNX does not define the size {min(target)} in its shape; runtimes differ"
            yield replace(place, shapes=(own, None), note=note)
        elif (asked := _asked(place, names)).verdict == "never":
            yield asked
    elif place.direction == "stacked" and () in map(place.scope.shape, place.inputs):
        yield replace(place, verdict="never", note=f"{operator} takes no scalar")
    elif version < OPERATORS[operator].since:
        yield from _older(replace(place, direction="equal"), version, names)
    else:
        yield _asked(place, names)


def _older(place: Place, version: int, names: Names) -> Iterator[Place]:
    """Return a node of an opset before the operator's rule if its known shapes differ.

    Also return a node with the attribute `broadcast` and an unknown shape.
    """
    node = place.node
    known = [shape for shape in place.shapes if shape is not None]
    differ = len({*known}) > 1
    asked = any(attribute.name == "broadcast" and attribute.i for attribute in node.attribute)
    convert = "its attribute `broadcast` follows another rule: convert it to opset 7"
    if node.op_type == "PRelu" and not asked:
        convert = "its slope has one element, or one for each channel: convert it to opset 7"
    if (asked and (differ or None in place.shapes)) or (differ and node.op_type == "PRelu"):
        yield replace(place, note=convert)
    elif differ:
        note = f"{node.op_type} of opset {version} does not broadcast: its shapes must be equal"
        pairs = [
            pair for own in known for pair in zip(known[0], own, strict=False) if len({*pair}) > 1
        ]
        never = len({*map(len, known)}) > 1 or any(min(pair) >= 0 for pair in pairs)
        # A size of 1 must equal the other sizes, too.
        condition = Condition(Clause(((names.size(a), names.size(b)),)) for a, b in pairs)
        verdict: Verdict = "never" if never else "unknown"
        yield replace(place, verdict=verdict, condition=condition, note=note)


def _asked(place: Place, names: Names) -> Place:
    known = tuple(shape for shape in place.shapes if shape is not None)
    if len({*place.inputs}) == 1:
        return replace(place, verdict="equal")
    if len(known) < len(place.shapes):
        return place
    try:
        found, target = solve(known, names.text, (), "numpy")
    except NeverError as error:
        return replace(place, verdict="never", clash=error)
    if place.direction == "unidirectional" and tuple((z,) for z in known[0]) != filled(target):
        # These operators do not grow the first input.
        are_numbers = min((*known[0], *known[1]), default=0) >= 0
        never = are_numbers or len(known[1]) > len(known[0])
        return replace(place, verdict="never" if never else "unknown")
    verdict: Verdict = "depends"
    if len({*known}) == 1:
        verdict = "equal"
    elif len({*map(len, known)}) > 1 or any(
        len({size for size in column if size >= 0}) > 1 for column in zip(*known, strict=True)
    ):
        verdict = "always"
    condition, zeros = found.condition, found.zeros
    return replace(place, verdict=verdict, target=target, condition=condition, zeros=zeros)


def filled(target: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(symbols or (1,) for symbols in target)


def left_out(scopes: list[Scope], model: ModelProto) -> dict[str, int]:
    """Count, for each reason, the nodes outside the report that may broadcast."""
    found = Counter[str]()
    for node in (node for scope in scopes for node in scope.graph.node):
        if node.domain not in ONNX:
            found[f"operators of the domain {node.domain}"] += 1
        elif node.op_type in INSIDE:
            found[f"{node.op_type}, which broadcasts within a larger computation"] += 1
        elif not onnx.defs.has(node.op_type):
            found[f"{node.op_type}, which ONNX does not have"] += 1
    for function in model.functions:
        graphs = graphs_of(GraphProto(node=function.node))
        if count := sum(node.op_type in OPERATORS for each in graphs for node in each.node):
            found[f"the function {function.name}, whose shapes depend on the call"] = count
    return found
