"""The nodes of a model that may broadcast: whether they do, under which condition, and how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import onnx
from onnx import GraphProto, ModelProto, NodeProto

from whycast import _kernel
from whycast._model._names import Names
from whycast._model._operators import INSIDE, ONNX, OPERATORS, Direction
from whycast._model._read import Scope, graphs_of, opset
from whycast._types import Shape

# always and never: whatever the names of sizes are. unknown: a rank is open.
Verdict = Literal["equal", "always", "depends", "never", "unknown"]


# Why a verdict is unknown.
UNKNOWN = "the rank of an input is not known, or which input has to grow"


@dataclass(frozen=True)
class Place:
    """A node that may broadcast.

    `inputs` and `shapes` are those that broadcast together; where stacks of matrices do, the shapes
    lack their last two axes. `target` has for each axis the sizes of which it is the one that is
    not 1. `conditions` and `zeros` are clauses (axis, a, b), by NumPy's rule and what SONNX asks
    besides. `index` is that of the node in its graph. `note` says why an unusual node is listed.
    """

    scope: Scope
    index: int
    direction: Direction
    inputs: tuple[str, ...]
    shapes: tuple[Shape | None, ...]
    verdict: Verdict
    target: tuple[tuple[int, ...], ...] | None = None
    conditions: tuple[tuple[int, int, int], ...] = ()
    zeros: tuple[tuple[int, int, int], ...] = ()
    clash: tuple[int, int, int] | None = None
    note: str = ""

    @property
    def node(self) -> NodeProto:
        """The node itself."""
        node: NodeProto = self.scope.graph.node[self.index]
        return node

    @property
    def common(self) -> Shape | None:
        """The common shape, if each of its sizes is one number or one name."""
        if self.target is None or any(len(symbols) > 1 for symbols in self.target):
            return None
        return tuple(symbols[0] for symbols in filled(self.target))

    @property
    def repeated(self) -> tuple[int, ...]:
        """The numbers of the inputs that have not the common shape, as far as one knows."""
        common = self.common
        return tuple(m for m, shape in enumerate(self.shapes) if shape != common)

    def kinds(self) -> tuple[str, ...]:
        """Say how the inputs grow. A name counts as a size other than 1."""
        if self.target is None:
            return ()
        target = filled(self.target)
        found = []
        for shape in self.shapes:
            assert shape is not None
            own = _kernel.pad(shape, len(target))
            grows = [k for k, size in enumerate(own) if size not in target[k]]
            if grows or len(shape) < len(target):
                found.append(_kind(own, grows))
        return tuple(
            kind for kind in KINDS if kind in found or (kind == "both sides" and len(found) > 1)
        )


KINDS = ("scalar", "leading", "trailing", "middle", "rank only", "both sides")


def _kind(own: Shape, grows: list[int]) -> str:
    """Say where a tensor, padded to the common rank, grows.

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


def places(scopes: list[Scope], model: ModelProto) -> Iterator[Place]:
    """Give the nodes that may broadcast, in the order of their graphs."""
    version = opset(model)
    for scope in scopes:
        for index, node in enumerate(scope.graph.node):
            operator = OPERATORS.get(node.op_type)
            inputs = tuple(filter(None, node.input))
            if node.domain not in ONNX or len(inputs) < 2 or not node.output:
                continue
            if node.op_type == "Expand":
                yield from _expand(scope, index)
            elif operator is not None:
                found = _operands(node, operator.direction, scope)
                if found is None:
                    continue
                if operator.direction == "stacked" and () in map(scope.shape, found[0]):
                    note = f"{node.op_type} takes no scalar"
                    yield Place(scope, index, "stacked", *found, "never", note=note)
                elif version < operator.since:
                    yield from _older(scope, index, version, *found)
                else:
                    yield _judged(scope, index, operator.direction, *found)


def _expand(scope: Scope, index: int) -> Iterator[Place]:
    """Give an Expand that never works, by a shape that is constant."""
    node = scope.graph.node[index]
    own, target = scope.shape(node.input[0]), scope.value(node.input[1])
    if own is None or target is None:
        return
    if min(target, default=0) < 0:
        note = f"ONNX does not define the size {min(target)} in its shape; runtimes differ"
        inputs = (node.input[0], "")
        yield Place(scope, index, "explicit", inputs, (own, None), "unknown", note=note)
        return
    place = _judged(scope, index, "explicit", (node.input[0], ""), (own, target))
    if place.verdict == "never":
        yield place


def _older(
    scope: Scope,
    index: int,
    version: int,
    inputs: tuple[str, ...],
    shapes: tuple[Shape | None, ...],
) -> Iterator[Place]:
    """Give a node of an opset in which its operator does not broadcast, if its shapes differ."""
    node = scope.graph.node[index]
    known = [shape for shape in shapes if shape is not None]
    differ = len({*known}) > 1
    asked = any(attribute.name == "broadcast" and attribute.i for attribute in node.attribute)
    if asked and (differ or None in shapes):
        note = "it broadcasts by its attribute `broadcast`, another rule: convert it to opset 7"
        yield Place(scope, index, "equal", inputs, shapes, "unknown", note=note)
    elif differ and node.op_type == "PRelu":
        note = "its slope has one element, or one for each channel: convert it to opset 7"
        yield Place(scope, index, "equal", inputs, shapes, "unknown", note=note)
    elif differ:
        note = f"{node.op_type} of opset {version} does not broadcast, its shapes have to be equal"
        clauses = [
            (axis, a, b)
            for own in known
            for axis, (a, b) in enumerate(zip(known[0], own, strict=False))
            if a != b
        ]
        never = len({*map(len, known)}) > 1 or any(min(a, b) >= 0 for _, a, b in clauses)
        verdict: Verdict = "never" if never else "unknown"
        same = tuple(clauses)
        yield Place(scope, index, "equal", inputs, shapes, verdict, conditions=same, note=note)


def _operands(
    node: NodeProto, direction: Direction, scope: Scope
) -> tuple[tuple[str, ...], tuple[Shape | None, ...]] | None:
    """Give the inputs that broadcast together and their shapes; None where there are none."""
    names = tuple(filter(None, node.input))
    if direction == "multidirectional":
        return names, tuple(map(scope.shape, names))
    if node.op_type == "PRelu":
        return names[:2], (scope.shape(names[0]), scope.shape(names[1]))
    if node.op_type == "Gemm":
        if len(names) < 3:
            return None
        turned = {attribute.name: bool(attribute.i) for attribute in node.attribute}
        a, b = scope.shape(names[0]), scope.shape(names[1])
        made = None
        if a is not None and b is not None and len(a) == len(b) == 2:
            made = (a[int(turned.get("transA", False))], b[int(not turned.get("transB", False))])
        return ("", names[2]), (made, scope.shape(names[2]))
    pair = (node.input[0], node.input[3 if node.op_type == "QLinearMatMul" else 1])
    a, b = map(scope.shape, pair)
    # Of a vector the stack is one matrix.
    return pair, (None if a is None else a[:-2], None if b is None else b[:-2])


def _judged(
    scope: Scope,
    index: int,
    direction: Direction,
    inputs: tuple[str, ...],
    shapes: tuple[Shape | None, ...],
) -> Place:
    """Ask the verified programs about the shapes."""
    known = tuple(shape for shape in shapes if shape is not None)
    if len({*inputs}) == 1:
        return Place(scope, index, direction, inputs, shapes, "equal")
    if len(known) < len(shapes):
        return Place(scope, index, direction, inputs, shapes, "unknown")
    try:
        target = _kernel.symbolic_sizes(known)
        conditions = _kernel.symbolic_conditions(known)
    except _kernel.NeverAgree as error:
        return Place(scope, index, direction, inputs, shapes, "never", clash=error.value)
    zeros = _kernel.symbolic_zeros(known)
    verdict: Verdict = "depends"
    if direction == "unidirectional" and tuple((z,) for z in known[0]) != filled(target):
        # The first shape would have to grow too, which these operators do not do.
        are_numbers = min((*known[0], *known[1]), default=0) >= 0
        verdict = "never" if are_numbers or len(known[1]) > len(known[0]) else "unknown"
        return Place(scope, index, direction, inputs, shapes, verdict)
    if all(shape == known[0] for shape in known):
        verdict = "equal"
    elif len({len(shape) for shape in known}) > 1 or any(
        len({shape[k] for shape in known if shape[k] >= 0}) > 1 for k in range(len(target))
    ):
        verdict = "always"
    return Place(scope, index, direction, inputs, shapes, verdict, target, conditions, zeros)


def filled(target: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """Write the size 1 out.

    >>> filled(((), (4,)))
    ((1,), (4,))
    """
    return tuple(symbols or (1,) for symbols in target)


def left_out(scopes: list[Scope], model: ModelProto) -> dict[str, int]:
    """Count the nodes about which nothing is said, by the reason."""
    found: dict[str, int] = {}
    for scope in scopes:
        for node in scope.graph.node:
            if node.domain not in ONNX:
                reason = f"operators of the domain {node.domain}"
            elif node.op_type in INSIDE:
                reason = f"{node.op_type}, which broadcasts within a larger computation"
            elif not onnx.defs.has(node.op_type):
                reason = f"{node.op_type}, which ONNX does not have"
            else:
                continue
            found[reason] = found.get(reason, 0) + 1
    for function in model.functions:
        nodes = (node for each in graphs_of(GraphProto(node=function.node)) for node in each.node)
        count = sum(node.op_type in OPERATORS for node in nodes)
        if count:
            found[f"the function {function.name}, whose shapes depend on the call"] = count
    return found


def condition(clauses: tuple[tuple[int, int, int], ...], names: Names) -> list[str]:
    """Spell the clauses of a condition, each once.

    >>> names = Names()
    >>> n, m = names.symbol("N"), names.symbol("M")
    >>> condition(((0, n, m), (1, n, 5)), names)
    ['N = 1 or M = 1 or N = M', 'N = 1 or N = 5']
    """
    said = []
    for _, a, b in clauses:
        first, second = names.text(a), names.text(b)
        ones = [f"{names.text(z)} = 1" for z in (a, b) if z < 0]
        said.append(" or ".join([*ones, f"{first} = {second}"]))
    return list(dict.fromkeys(said))


def growth(place: Place, names: Names) -> list[str]:
    """Spell when a node broadcasts whose shapes may be equal: one of these holds."""
    first, *others = (shape for shape in place.shapes if shape is not None)
    said = [
        " ≠ ".join(map(names.text, sorted((a, b), key=lambda size: (size >= 0, abs(size)))))
        for shape in others
        for a, b in zip(first, shape, strict=True)
        if a != b
    ]
    return list(dict.fromkeys(said))


def zero_condition(clauses: tuple[tuple[int, int, int], ...], names: Names) -> list[str]:
    """Spell what SONNX asks besides: no size 0 meets a size 1.

    >>> names = Names()
    >>> n, m = names.symbol("N"), names.symbol("M")
    >>> zero_condition(((0, n, 1), (1, n, m), (2, 0, 1), (3, 0, m)), names)
    ['N is not 0', 'N and M are not 0 and 1', '0 meets 1', 'M is not 1']
    """
    said = []
    for _, a, b in clauses:
        named = [z for z in (a, b) if z < 0]
        if len(named) == 2:
            said.append(f"{names.text(a)} and {names.text(b)} are not 0 and 1")
        elif named:
            other = a if b < 0 else b
            said.append(f"{names.text(named[0])} is not {1 - other}")
        else:
            said.append("0 meets 1")
    return list(dict.fromkeys(said))
