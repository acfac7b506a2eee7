"""Compare the listed broadcasts of drawn models, and the explicit models, with runs.

Sizes of inputs are numbers, names or open. For each assignment of numbers, a small interpreter of
shapes finds which nodes run and broadcast; ONNX Runtime (for `--as sonnx` ONNX's reference) runs
the model and the explicit model. The tests use only the package's command line, and SONNX's
operator for `--as sonnx`.
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import built
import numpy as np
import onnx
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from running import seen_by_running, started

from whycast._command import main
from whycast._model._runs import Broadcast

Shape = tuple[int, ...]
Sizes = dict[str, int]
NAMES = ("N", "M", "K")
# The first opset in which an operator broadcasts.
SINCE = {"Add": 7, "Expand": 8, "Sub": 7, "Mul": 7, "Max": 8, "Sum": 8, "Where": 9}
SINCE |= {"PRelu": 7, "MatMul": 7}


def numbers(text: str) -> Shape:
    """Read an Expand's target from the name of its constant; other names here have no digits.

    >>> numbers("3x0"), numbers("()"), numbers("flag")
    ((3, 0), (), ())
    """
    return tuple(map(int, re.findall(r"\d+", text)))


def shape_of(operator: str, shapes: list[Shape]) -> Shape:
    if operator == "MatMul":
        product: np.ndarray = np.matmul(*map(np.zeros, shapes))
        return product.shape
    shape = np.broadcast_shapes(*shapes)
    if operator == "PRelu" and shape != shapes[0]:
        raise ValueError
    return shape


@dataclass
class Node:
    """A node, and the graphs within it; the last node of each graph computes its output."""

    operator: str
    inputs: list[str]
    output: str
    inner: list[list[Node]] = field(default_factory=list)


Graph = list[Node]


class Drawn:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.opset = self.draw.choice((7, 8, 9, 13, 17, 21))
        self.base = {name: self.draw.choice((0, 1, 1, 2, 3)) for name in NAMES}
        self.inputs: dict[str, list[int | str | None]] = {}
        self.constants: dict[str, Shape] = {}
        self.count = 0
        choices: list[int | str] = [*NAMES, 1, 2, 3]
        target = [self.draw.choice(choices) for _ in range(self.draw.randint(0, 3))]
        known = {}
        for k in range(self.draw.randint(2, 4)):
            name = f"x{k}"
            sizes: list[int | str | None] = []
            for size in target[self.draw.randint(0, len(target)) :]:
                number = size if isinstance(size, int) else self.base[size]
                same = [name for name in NAMES if self.base[name] in (1, number)]
                sizes.append(self.draw.choice([size, 1, number, None, *same]))
            if self.draw.random() < 0.3:
                self.constants[name] = tuple(
                    size if isinstance(size, int) else self.base.get(str(size), 1) for size in sizes
                )
            else:
                for axis in (axis for axis, size in enumerate(sizes) if size is None):
                    size = target[len(target) - 1 - axis]
                    base = (1, size if isinstance(size, int) else self.base[size])
                    self.base[f"{name}.{axis}"] = self.draw.choice(base)
                self.inputs[name] = sizes
            known[name] = self.shape(name, self.base)
        self.graph = self.drawn(known, self.draw.randint(1, 5), depth=0)

    def shape(self, name: str, sizes: Sizes) -> Shape:
        if name in self.constants:
            return self.constants[name]
        about = enumerate(self.inputs[name])
        return tuple(s if isinstance(s, int) else sizes[s or f"{name}.{axis}"] for axis, s in about)

    def drawn(self, known: dict[str, Shape], count: int, depth: int) -> Graph:
        """Draw nodes that can run if the names have the numbers `base`."""
        graph, known = Graph(), dict(known)
        for _ in range(50 * count):
            if len(graph) == count:
                break
            self.count += 1
            output = f"v{self.count}"
            if depth < 3 and self.opset >= 13 and self.draw.random() < 0.25:
                node, shape = self.nested(known, output, depth)
            else:
                operator = self.draw.choice([*SINCE] if graph else [*SINCE, *["Relu"] * 9])
                if SINCE.get(operator, 0) > self.opset:
                    continue
                number = {"Relu": 1, "Expand": 1, "Sum": self.draw.randint(2, 3)}.get(operator, 2)
                inputs = [self.draw.choice([*known]) for _ in range(number)]
                if operator == "Where":
                    inputs.insert(0, "flag")
                elif operator == "Expand":
                    inputs.append("x".join(map(str, known[self.draw.choice([*known])])) or "()")
                shapes = [known[each] if each in known else numbers(each) for each in inputs]
                if operator == "MatMul" and (min(map(len, shapes)) < 1 or 0 in sum(shapes, ())):
                    continue
                try:
                    shape = shape_of(operator, shapes)
                except ValueError:
                    continue
                node = Node(operator, inputs, output)
            graph.append(node)
            known[output] = shape
        if not graph:
            graph.append(Node("Relu", [self.draw.choice([*known])], f"v{self.count}r"))
        return graph

    def nested(self, known: dict[str, Shape], output: str, depth: int) -> tuple[Node, Shape]:
        """Draw an If with two branches, or a Loop that stacks the outputs of its body."""
        operator = self.draw.choice(("If", "Loop"))
        one = self.drawn(known, self.draw.randint(1, 3), depth + 1)
        shape = self.run(one, dict(known), {}, 0)
        if operator == "Loop":
            return Node("Loop", [], output, [one]), (2, *shape)
        other = self.drawn(known, self.draw.randint(1, 2), depth + 1)
        return Node("If", [], output, [one, other]), shape

    def run(self, graph: Graph, known: dict[str, Shape], seen: dict[str, Any], flag: int) -> Shape:
        """Return the shape of a graph's output; note each node's shapes, and whether it ran."""
        shape: Shape = ()
        for node in graph:
            if node.operator == "If":
                shape = self.run(node.inner[flag], dict(known), seen, flag)
            elif node.operator == "Loop":
                shape = (2, *self.run(node.inner[0], dict(known), seen, flag))
            else:
                shapes = [known[s] if s in known else numbers(s) for s in node.inputs]
                seen[node.output] = (shapes, False)
                shape = shape_of(node.operator, shapes)
                seen[node.output] = (shapes, True)
            known[node.output] = shape
        return shape

    def model(self) -> ModelProto:
        """Return the model, with some annotations that are wrong."""
        constants = [
            *(built.constant(name, *shape) for name, shape in self.constants.items()),
            numpy_helper.from_array(np.array(2), "times"),
            numpy_helper.from_array(np.array(True), "true"),
            *(
                numpy_helper.from_array(np.array(numbers(name), np.int64), name)
                for name in sorted(targets(self.graph))
            ),
        ]
        inputs = [built.value(name, sizes) for name, sizes in self.inputs.items()]
        inputs.append(built.value("flag", (), TensorProto.BOOL))
        outputs = [built.value(self.graph[-1].output, None)]
        nodes = [*map(self.proto, self.graph)]
        graph = helper.make_graph(nodes, "drawn", inputs, outputs, constants)
        for node in self.graph:
            # Annotate only nodes whose shape the inference finds without the annotation.
            is_known = node.operator in ("Relu", "PRelu") and node.inputs[0][0] == "x"
            if is_known and self.draw.random() < 0.5:
                rank = self.draw.randint(0, 3)
                sizes: list[int | str | None] = [*NAMES, "Z", 1, 2, 5]
                sizes = [self.draw.choice(sizes) for _ in range(rank)]
                graph.value_info.append(built.value(node.output, sizes))
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def proto(self, node: Node) -> onnx.NodeProto:
        more: dict[str, GraphProto] = {}
        inputs = node.inputs
        inner = [([*map(self.proto, g)], built.value(g[-1].output, None)) for g in node.inner]
        if node.operator == "If":
            inputs = ["flag"]
            for name, (nodes, made) in zip(("then_branch", "else_branch"), inner, strict=True):
                more[name] = helper.make_graph(nodes, name, [], [made])
        elif node.operator == "Loop":
            inputs, on, ((nodes, made),) = ["times", "true"], f"{node.output}on", inner
            nodes.insert(0, helper.make_node("Identity", ["true"], [on]))
            about = [built.value(f"{node.output}i", (), TensorProto.INT64)]
            about += [built.value(f"{node.output}go", (), TensorProto.BOOL)]
            outputs = [built.value(on, (), TensorProto.BOOL), made]
            more["body"] = helper.make_graph(nodes, "body", about, outputs)
        return helper.make_node(node.operator, inputs, [node.output], node.output.upper(), **more)


def targets(graph: Graph) -> set[str]:
    own = {node.inputs[1] for node in graph if node.operator == "Expand"}
    return own.union(*(targets(each) for node in graph for each in node.inner))


def one_that_grows(names: str, sizes: Sizes) -> int:
    """Return the number of a name; for `N|M`, return the number other than 1, if any."""
    return next((n for name in names.split("|") if (n := sizes[name]) != 1), 1)


def holds(clause: str, sizes: Sizes) -> bool:
    """Evaluate a sentence such as `N = 1 or N = M`, or `N ≠ 1`."""
    for each in clause.split(" or "):
        first, relation, second = each.split(" ")
        a, b = (int(s) if s.isdigit() else one_that_grows(s, sizes) for s in (first, second))
        if (a == b) == (relation == "="):
            return True
    return False


def ask(*words: str) -> dict[str, Any]:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["model", *words, "--json"])
    assert code in (0, 1, 3), err.getvalue()
    about: dict[str, Any] = json.loads(out.getvalue())
    return about


def judge(seed: int, folder: Path) -> int:
    """Judge one model; return the number of nodes that broadcast."""
    drawn = Drawn(seed)
    model, draw = drawn.model(), drawn.draw
    path, out = folder / "model.onnx", folder / "out.onnx"
    onnx.save(model, path)
    content = path.read_bytes()
    assignments = [(drawn.base, 0)]
    for _ in range(6):
        other = {name: draw.choice((0, 1, 2, 3)) for name in drawn.base}
        assignments.append((draw.choice((drawn.base, other)), draw.randint(0, 1)))
    seen: list[tuple[Sizes, int, dict[str, Any], bool]] = []
    for sizes, flag in assignments:
        noted: dict[str, Any] = {}
        known = {n: drawn.shape(n, sizes) for n in (*drawn.inputs, *drawn.constants)}
        with suppress(ValueError):
            known[""] = drawn.run(drawn.graph, known, noted, flag)
        seen.append((sizes, flag, noted, "" in known))
    about = ask(str(path))
    rows = {row["output"]: row for row in about["nodes"]}
    explicit = set(re.findall(r"(\w+) = Expand", onnx.printer.to_text(model)))
    broadcast = 0
    for sizes, _, noted, _ in seen:
        for output, (shapes, ran) in noted.items():
            if output in rows or (len(shapes) > 1 and output not in explicit):
                broadcast += judge_row(rows[output], shapes, ran, sizes)
    form = draw.choice(("expand", "reshape+tile", "sonnx"))
    words = ["--explicit", str(out), "--as", form]
    if form != "sonnx":
        words += [word for word in ("--dynamic", "--constants") if draw.random() < 0.5]
    about = ask(str(path), *words)
    left = {each["node"].rpartition(": ")[2] for each in about["explicit"]["left"]}
    again = ask(str(out))
    hidden = {
        row["node"].rpartition(": ")[2] for row in again["nodes"] if row["verdict"] == "always"
    }
    assert form == "sonnx" or hidden <= left, hidden - left
    try:
        before = runner(path, of_sonnx=form == "sonnx")
    except Exception:
        # ONNX Runtime refuses some stale annotations.
        assert model.graph.value_info, "it is not loaded"
        return broadcast
    after = runner(out, of_sonnx=form == "sonnx")
    for sizes, flag, _, runs in seen:
        if "MatMul" in str(model) and 0 in sizes.values():
            # ONNX Runtime leaves an empty product of a vector unwritten, or refuses it.
            continue
        feeds = feeds_for(drawn, sizes, flag)
        try:
            expected = before(feeds)
        except Exception:
            # ONNX's reference stacks nested loops wrongly; ONNX Runtime refuses some annotations.
            assert form == "sonnx" or model.graph.value_info or not runs, "it does not run"
            continue
        for a, b in zip(expected, after(feeds), strict=True):
            # Do not compare bits: ONNX Runtime's Max of 0 and -0 returns either.
            assert a.dtype == b.dtype, a.dtype
            np.testing.assert_array_equal(a, b)
    if form != "sonnx" and not model.graph.value_info and seen[0][3]:
        differ = seen_by_running(out, feeds_for(drawn, *assignments[0])).element_wise
        assert {output.upper() for output in differ if differ[output]} <= left, differ
    assert path.read_bytes() == content
    return broadcast


def judge_row(row: dict[str, Any], shapes: list[Shape], ran: bool, sizes: Sizes) -> bool:
    """Compare the row of one node with a run; return whether the node broadcast."""
    if row["operator"] == "MatMul":
        shapes = [shape[:-2] for shape in shapes]
    differ, verdict = len({*shapes}) > 1, row["verdict"]
    assert not {"equal": differ, "always": not differ, "never": ran}.get(verdict, False), row
    if verdict in ("always", "depends") and row["operator"] not in ("PRelu", "MatMul"):
        clauses = [text for text in row["condition"] if "?" not in text]
        if len(clauses) == len(row["condition"]):
            assert all(holds(text, sizes) for text in clauses) == ran, row
    if verdict == "depends" and "?" not in str(row["broadcasts if"]):
        assert any(holds(text, sizes) for text in row["broadcasts if"]) == differ, row
    return differ and ran


Runner = Callable[[dict[str, np.ndarray]], list[np.ndarray]]


def runner(path: Path, *, of_sonnx: bool = False) -> Runner:
    if of_sonnx:
        evaluator = ReferenceEvaluator(onnx.load(path), new_ops=[Broadcast])
        return lambda feeds: [np.asarray(each) for each in evaluator.run(None, dict(feeds))]
    session = started(onnx.load(path))
    return lambda feeds: list(session.run(None, feeds))


def feeds_for(drawn: Drawn, sizes: Sizes, flag: int) -> dict[str, np.ndarray]:
    made = {"flag": np.array(not flag)}
    for k, name in enumerate(drawn.inputs):
        shape = drawn.shape(name, sizes)
        made[name] = (np.arange(math.prod(shape), dtype=np.float32) + k - 3).reshape(shape)
    return made


def judge_all(seeds: range) -> int:
    broadcast = 0
    with TemporaryDirectory() as folder:
        for seed in seeds:
            try:
                broadcast += judge(seed, Path(folder))
            except Exception:
                text = onnx.printer.to_text(Drawn(seed).model())
                print(f"seed {seed}:\n{re.sub(' +', ' ', text)}", file=sys.stderr)
                raise
    return broadcast


if __name__ == "__main__":
    print(f"{judge_all(range(int(sys.argv[1])))} broadcasts as listed")
