"""`whycast model`: broadcasts found in models, explained, made explicit, and what it refuses."""

from __future__ import annotations

import html
import json
import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import built
import numpy as np
import onnx
import pytest
import released
from command_line import Run, runner
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

from whycast._model import _runs
from whycast._model._operators import EXPLICIT, FORMS, INSIDE, OPERATORS


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""
    return runner(capsys)


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[ModelProto], str]:
    """Save a model; give its path."""

    def save(model: ModelProto) -> str:
        onnx.save(model, tmp_path / "model.onnx")
        return str(tmp_path / "model.onnx")

    return save


Save = Callable[[ModelProto], str]


def rows(run: Run, path: str, *more: str) -> list[dict[str, Any]]:
    done = run(" ".join(["model", path, "--json", *more]))
    assert not done.err
    nodes: list[dict[str, Any]] = json.loads(done.out)["nodes"]
    return nodes


def test_operators_are_those_of_onnx() -> None:
    """Each operator whose text speaks of broadcasting is in a table, from that opset on."""
    found: dict[str, int] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        inputs = [each.description for each in schema.inputs]
        attributes = [each.description for each in schema.attributes.values()]
        text = "\n".join([schema.doc or "", *inputs, *attributes]).lower()
        limited = "limited broadcast" in text or "broadcast" in schema.attributes
        if schema.domain == "" and "broadcast" in text and not limited:
            found[schema.name] = min(found.get(schema.name, 1000), schema.since_version)
    stacked = {name for name, each in OPERATORS.items() if each.direction == "stacked"}
    assert {*OPERATORS} - stacked | EXPLICIT | INSIDE == found.keys() - {"DequantizeLinear"}
    for name in OPERATORS.keys() - stacked:
        assert OPERATORS[name].since == found[name], name


@pytest.mark.parametrize("name", built.PATTERNS)
@pytest.mark.parametrize("form", FORMS)
def test_patterns_before_and_after(
    run: Run, saved: Save, tmp_path: Path, name: str, form: str
) -> None:
    """[E_Broadcast_any_Derived_600] [E_Broadcast_any_Derived_620] [E_Broadcast_any_Derived_630]"""
    path, out = saved(built.PATTERNS[name]()), str(tmp_path / "out.onnx")
    hidden = [row for row in rows(run, path) if row["verdict"] == "always"]
    assert hidden
    leave = "" if form == "sonnx" else " --leave Pow"
    done = run(f"model {path} --explicit {out} --as {form} --check{leave} --json")
    about = json.loads(done.out)
    changed = about["explicit"]["made explicit"]
    assert (done.code, about["check"]["differences"]) == (3 * (not changed), [])
    left = {each["node"] for each in about["explicit"]["left"]}
    expected = {row["node"] for row in hidden if row["operator"] == "Pow" and leave}
    if form == "sonnx":
        expected = {r["node"] for r in hidden if r["operator"] in ("Gemm", "MatMul")}
        written = {n.op_type for n in onnx.load(out).graph.node}
        assert ("Broadcast" in written) == (name in ("channels", "transformer"))
    assert left == expected
    if form != "sonnx":
        again = [row for row in rows(run, out) if row["verdict"] == "always"]
        assert {row["node"] for row in again} == expected
    before, after = onnx.load(path), onnx.load(out)
    assert only_edges_differ(before.graph, after.graph)
    for each in (before, after):
        each.ClearField("graph")
        kept = [o for o in each.opset_import if o.domain != "sonnx"]
        del each.opset_import[:]
        each.opset_import.extend(kept)
    assert before == after


def test_shared_inputs_are_expanded_once(run: Run, saved: Save, tmp_path: Path) -> None:
    """Each branch of If has an Expand of its own, one for the two nodes of the first branch."""
    out = tmp_path / "out.onnx"
    assert run(f"model {saved(built.branches())} --explicit {out}").code == 0
    branches = [
        a.g for node in onnx.load(out).graph.node for a in node.attribute if a.HasField("g")
    ]
    assert [sum(n.op_type == "Expand" for n in graph.node) for graph in branches] == [1, 1]


def only_edges_differ(before: onnx.GraphProto, after: onnx.GraphProto) -> bool:
    """Without the nodes that are new, and the inputs of the others, the graphs are the same."""
    first, second = onnx.GraphProto(), onnx.GraphProto()
    for own, graph in ((first, before), (second, after)):
        own.CopyFrom(graph)
        names = {node.name for node in before.node}
        nodes = [node for node in graph.node if node.name in names]
        del own.node[:]
        for node in nodes:
            copy = own.node.add()
            copy.CopyFrom(node)
            del copy.input[:]
            for attribute in copy.attribute:
                attribute.ClearField("g")
    inner = [
        [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
        for graph in (before, after)
    ]
    return first == second and all(map(only_edges_differ, *inner))


@pytest.mark.parametrize("name", released.SMALL)
def test_released_models(name: str) -> None:
    """What running shows is what is said, and the bits are the same before and after."""
    model = released.SMALL[name]
    judged = released.judge(model)
    kinds = judged.seen.element_wise.values()
    assert (len(kinds), sum(map(bool, kinds))) == (model.nodes, model.broadcast)


def test_published_node_tests(run: Run, tmp_path: Path) -> None:
    """Each node test of an operator that broadcasts, made explicit, has its published output."""
    with warnings.catch_warnings():
        # The package computes its tests as it loads them, casts and logarithms of 0 included.
        warnings.simplefilter("ignore", RuntimeWarning)
        cases = load_model_tests(kind="node")
    path, out = tmp_path / "model.onnx", tmp_path / "out.onnx"
    hidden = 0
    for case in cases:
        assert case.model is not None
        assert case.data_sets is not None
        if len(case.model.graph.node) != 1 or case.model.graph.node[0].op_type not in OPERATORS:
            continue
        onnx.save(case.model, path)
        out.unlink(missing_ok=True)
        # Expand is there from opset 8 on.
        form = "expand" if case.model.opset_import[0].version > 7 else "reshape+tile"
        done = run(f"model {path} --explicit {out} --as {form} --json")
        (row,) = json.loads(done.out)["nodes"] or [{"verdict": "equal"}]
        left = json.loads(done.out)["explicit"]["left"]
        assert [each["reason"] for each in left] in (
            [],
            ["its zero points have axes of their own"],
            ["an Expand of its vector would add an axis to the product"],
        )
        hidden += row["verdict"] == "always"
        if not left:
            assert all(row["verdict"] == "equal" for row in rows(run, str(out)))
        ((inputs, outputs),) = case.data_sets
        names = [each.name for each in case.model.graph.input]
        feeds = dict(zip(names, inputs, strict=True))
        with np.errstate(all="ignore"):
            before = ReferenceEvaluator(case.model).run(None, feeds)
            after = ReferenceEvaluator(onnx.load(out)).run(None, feeds)
        for a, b, published in zip(before, after, outputs, strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes() or a.dtype == object, (
                case.name
            )
            if np.asarray(published).dtype.kind in "OUT":
                assert np.asarray(b).tolist() == np.asarray(published).tolist()
            else:
                np.testing.assert_allclose(b, published, rtol=case.rtol, atol=case.atol)
    assert hidden == 48


def test_names_of_sizes(run: Run, saved: Save, tmp_path: Path) -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590] [E_Broadcast_any_Derived_660]"""
    path, out = saved(built.named()), str(tmp_path / "out.onnx")
    first, second, third = rows(run, path)
    assert (first["result"], first["verdict"]) == (["N|M", 4], "always")
    assert first["condition"] == ["N = 1 or M = 1 or N = M"]
    assert first["condition of SONNX"] == ["N and M are not 0 and 1"]
    assert (second["condition"], third["operator"]) == ([], "Min")
    done = run(f"model {path} --explicit {out}")
    assert done.out.count("only the running model knows") == 3
    for form in ("expand", "reshape+tile"):
        for n, m in ((3, 3), (1, 3), (3, 1), (0, 1), (1, 0), (1, 1)):
            words = f"--explicit {out} --dynamic --as {form} --check --sizes a={n}x4"
            done = run(f"model {path} {words} --sizes b={m}x1 --sizes p={n}x1 --json")
            assert (done.code, json.loads(done.out)["check"]["differences"]) == (0, []), (n, m)
            assert not json.loads(done.out)["explicit"]["left"]


def test_constants_are_repeated_where_that_is_asked(run: Run, saved: Save, tmp_path: Path) -> None:
    path, out = saved(built.channels()), str(tmp_path / "out.onnx")
    done = run(f"model {path} --explicit {out} --constants --check --json")
    assert json.loads(done.out)["check"]["differences"] == []
    shapes = {tuple(tensor.dims) for tensor in onnx.load(out).graph.initializer}
    assert (2, 3, 4, 5) in shapes
    assert [n.op_type for n in onnx.load(out).graph.node] == ["Add", "Mul", "PRelu"]


def test_what_needs_attention(run: Run, saved: Save, tmp_path: Path) -> None:
    """[E_Broadcast_any_E1_030]"""
    nodes = [built.node("Add", "x y", "z")]
    path = saved(built.model(nodes, {"x": (0, 2), "y": (1, 2)}, ["z"]))
    assert "SONNX refuses it (E1)" in run(f"model {path}").out
    out = tmp_path / "out.onnx"
    assert "left: Z: SONNX refuses" in run(f"model {path} --explicit {out} --as sonnx").out
    path = saved(built.model(nodes, {"x": ("N", 3), "y": ("N", 2)}, ["z"]))
    done = run(f"model {path}")
    assert (done.code, done.err) == (1, "")
    assert "Add Z: never broadcasts: on axis 1 inputs 0 and 1 have sizes 3 and 2" in done.out
    path = saved(built.model(nodes, {"x": (1,) * 33, "y": (2,)}, ["z"]))
    assert "rank 33" in run(f"model {path}").out


def test_text_and_page(run: Run, saved: Save, tmp_path: Path) -> None:
    """The summary of a transformer is short, and right."""
    path, page = saved(built.transformer()), tmp_path / "page.html"
    summary, _, listed = run(f"model {path} --html {page}").out.partition("\n\n")
    assert summary.splitlines()[1:] == [
        "element-wise: of 9 nodes 8 broadcast, 1 do not",
        "  kinds: leading 3, scalar 2, trailing 2, middle 1",
        "  operators: Add 4, Div 1, Mul 1, Pow 1, Sub 1",
        "MatMul: of 3 nodes 1 broadcast, 2 do not",
        "  kinds: scalar 1",
        "  operators: MatMul 1",
    ]
    assert "Sub CENTRED: 2×5×8, 2×5×1 -> 2×5×8  trailing" in listed.splitlines()
    assert len(listed.splitlines()) == 9
    written = page.read_text(encoding="utf-8")
    assert "CENTRED" in written
    assert "<script" not in written


def test_what_the_readme_shows(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(released.SMALL["magika"].file, "magika.onnx")
    text = (released.BUILD.parent / "README.md").read_text(encoding="utf-8")
    found = re.search(r"`whycast (model magika[^`]*)`\s[^`]*```text\n(.*?)```", text, re.DOTALL)
    assert found is not None
    assert run(found[1]).out.startswith(found[2] + "\n")


def test_external_data_stays_beside_the_model(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    model = built.products()
    path, out = tmp_path / "a" / "model.onnx", tmp_path / "b" / "out.onnx"
    onnx.save(model, path, save_as_external_data=True, location="data.bin", size_threshold=0)
    assert run(f"model {path} --explicit {out} --check --json").code == 0
    data = [tmp_path / folder / "data.bin" for folder in "ab"]
    assert data[0].read_bytes() == data[1].read_bytes()
    (tmp_path / "b" / "data.bin").write_bytes(b"another")
    assert "choose another folder" in run(f"model {path} --explicit {out}").err


def stale(sizes: built.Sizes) -> ModelProto:
    """A value of sizes (N, 3, 4) with an annotation."""
    nodes = [built.node("Relu", "x", "h"), built.node("Add", "h b", "z")]
    made = built.model(nodes, {"x": ("N", 3, 4), "b": (1, 3, 1)}, ["z"])
    made.graph.value_info.append(built.value("h", sizes))
    return made


def twice(opset: int, *shapes: built.Sizes, **more: Any) -> ModelProto:
    """Max of the inputs and Relu of it, or Add with attributes of old opsets."""
    node = helper.make_node("Add" if more else "Max", ["x", "y"], ["z"], name="Z", **more)
    return built.model([node], dict(zip("xy", shapes, strict=True)), ["z"], opset=opset)


def expand(*target: int) -> ModelProto:
    shape = numpy_helper.from_array(np.array(target, np.int64), "shape")
    nodes = [built.node("Expand", "x shape", "e"), built.node("Mul", "e y", "z")]
    return built.model(nodes, {"x": (1, 8, 1), "y": (16, 1)}, ["z"], [shape])


def untyped() -> ModelProto:
    made = built.model([built.node("Add", "x y", "z")], {"x": (2, 3), "y": (3,)}, ["z"])
    made.graph.output[0].ClearField("type")
    return made


def foreign(domain: str, operator: str) -> ModelProto:
    """A node that ONNX does not have, which ONNX Runtime may, in front of one that broadcasts."""
    nodes = [built.node("Relu", "x", "h"), built.node("Add", "x row", "z")]
    made = built.model(nodes, {"x": ("N", 8)}, ["z"], [built.constant("row", 8)])
    made.graph.node[0].CopyFrom(helper.make_node(operator, ["x"], ["h"], domain=domain))
    return made


def unreadable() -> ModelProto:
    """Missing elements, no such type or size, a node without outputs, a function twice."""
    row = built.constant("row", 8)
    made = built.model([built.node("Add", "x row", "z")], {"x": ("N", 8)}, ["z"], [row])
    made.graph.initializer[0].raw_data = b"ab"
    made.graph.initializer.add(name="negative", data_type=TensorProto.FLOAT, dims=[-1])
    made.graph.value_info.append(built.value("z", ("N", 8), 99))
    made.graph.node.append(helper.make_node("Add", ["x", "row"], []))
    made.graph.node.append(helper.make_node("Add", ["x", "negative"], ["w"]))
    made.functions.extend(2 * [helper.make_function("own", "None", ["a"], ["a"], [], [])])
    return made


def parsed(text: str, opset: int = 17) -> ModelProto:
    head = f'<ir_version: 8, opset_import: ["": {opset}, "who": 1]> g '
    return onnx.parser.parse_model(head + text)


BRANCH = """(bool c, float[N,8] x) => (float[?,?] z) {
  z = If (c) <
    then_branch = t () => (float[?,?] a) { s = Constant<value_ints = [4,16]>() a = Expand(x, s) },
    else_branch = e () => (float[?,?] b) { b = Identity(x) }> }"""
LOOP = """(int64 n, bool c, float[N,4] s) => (float[?,4] z) {
  z = Loop (n, c, s) <body = b (int64 i, bool d, float[1,4] t) => (bool e, float[?,4] u)
    { e = Identity(d) u = Add(t, s) }> }"""
NONZERO = """(float[N,4] x) => (int64[2,?] z) <int64[2,3] h, int64[2,5] r> {
  h = NonZero(x) r = Neg(h) z = Add(h, r) }"""
BOTH = """(float[N,4] x, float[M,4] p, float[1,4] q) => (float[?,4] z) <float[1,4] h> {
  h = Add(x, p) r = Relu(h) z = Mul(r, q) }"""
FOREIGN = """(float[N,4] x) => (float[?,4] z) <float[1,4] h, float[1,4] k> {
  h = Relu(x) k = who.Cares(h) z = Add(k, x) }"""
SLOPE = "(float[N,3,4] x, float[3] s) => (float[N,3,4] z) { z = PRelu(x, s) }"
SCALAR = "(float x, float[2,2] y) => (float[2,2] z) { z = MatMul(x, y) }"


# A model, the exit code, the verdicts of its nodes and a part of what is printed.
FAULTS: dict[str, tuple[ModelProto, int, list[str], str]] = {
    "number for a name": (stale((5, 3, 4)), 0, ["always"], "5×3×4, contradicts the inferred N×3×4"),
    "another number": (stale(("N", 1, 4)), 0, ["always"], "N×1×4, contradicts the inferred N×3×4"),
    "another rank": (stale((3, 4)), 0, ["always"], "3×4, contradicts the inferred N×3×4"),
    "annotations": (parsed(NONZERO), 0, ["equal"], "of r, 2×5, contradicts the inferred 2×3"),
    "N or M": (parsed(BOTH), 0, 2 * ["depends"], "of h, 1×4, contradicts the inferred N|M×4"),
    "what follows": (parsed(FOREIGN), 0, ["unknown"], "the annotation of k is not used"),
    "state": (parsed(LOOP), 0, ["unknown"], "z/body: t, 1×4, contradicts the inferred N×4"),
    "Expand in a branch": (parsed(BRANCH), 1, ["never"], "sizes 8 and 16"),
    "scalar": (parsed(SCALAR), 1, ["never"], "MatMul takes no scalar"),
    "slope of opset 6": (parsed(SLOPE, 6), 0, ["unknown"], "one for each channel"),
    "no type": (untyped(), 0, ["always"], "Field 'type' of 'value_info' is required"),
    "no operator": (
        foreign("", "SimplifiedLayerNorm"),
        0,
        ["always"],
        "Norm, which ONNX does not have",
    ),
    "no elements": (
        unreadable(),
        0,
        ["always", "unknown"],
        "type 99, contradicts the inferred float",
    ),
    "no import": (foreign("who", "Cares"), 0, ["always"], "No opset import for domain 'who'"),
    "Expand to less": (expand(1, 16, 70), 1, ["never", "unknown"], "sizes 8 and 16"),
    "Expand by -1": (
        expand(-1, 8, 70),
        1,
        ["unknown", "never"],
        "unclear: Expand E: ONNX does not",
    ),
    "Max of opset 7": (twice(7, (2, 3), (3,)), 1, ["never"], "Max of opset 7 does not broadcast"),
    "sizes of opset 7": (twice(7, ("N",), ("M",)), 0, ["unknown"], "condition: N = M (1)"),
    "attribute": (twice(6, (2, 3), (3,), broadcast=1), 0, ["unknown"], "convert it to opset 7"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_a_model_are_attention(run: Run, saved: Save, tmp_path: Path, name: str) -> None:
    """The list is made all the same, and the model that is written runs where it did."""
    model, code, verdicts, text = FAULTS[name]
    path, out = saved(model), tmp_path / "out.onnx"
    done = run(f"model {path} --html {tmp_path}/page.html --explicit {out}")
    assert (run(f"model {path}").code, text in done.out) == (code, True), done
    assert [row["verdict"] for row in rows(run, path)] == verdicts
    assert done.code in (code, 3)
    assert text in html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    done = run(f"model {path} --explicit {out} --check --dynamic")
    assert done.code in (code, 3) or (done.code == 2 and f"does not run {path}" in done.err), done


def test_sizes_that_contradict_or_bind(run: Run, saved: Save) -> None:
    nodes = [built.node("Add", "x mask", "a"), built.node("Add", "a length", "z")]
    sizes: dict[str, built.Sizes] = {
        "x": ("batch", 3, "seq"),
        "mask": ("batch", 1, "seq"),
        "length": (None,),
    }
    path = saved(built.model(nodes, sizes, ["z"]))
    for words, reason in {
        "x=2x4x5": "axis 1 of input 'x' has size 3 in the model, got 4",
        "batch=2 --sizes batch=3": "batch=2 and batch=3 contradict each other on 'batch'",
        "batch=2 --sizes x=4x3x5": "batch=2 and x=4x3x5 contradict each other on 'batch'",
        "x=2x3x5 --sizes mask=2x1x4": "x=2x3x5 and mask=2x1x4 contradict each other on 'seq'",
        "x=2x3x5 --sizes x=2x3x6": "contradict each other on 'x'",
        "x=2": "input 'x' has rank 3, got x=2 of rank 1",
    }.items():
        done = run(f"model {path} --sizes {words}")
        assert (done.code, reason in done.err) == (2, True), done
    first, second = rows(run, path, "--sizes x=2x3x5 --sizes length=5")
    assert first["shapes"] == [[2, 3, 5], [2, 1, 5]]
    assert second["shapes"] == [[2, 3, 5], [5]]
    assert "length.0 is size 0 of input 'length'" in run(f"model {path}").out
    # A sequence has elements of one shape, and a name may be that of a size and of an input.
    text = "(seq(float[?,4]) s, float[N,4] x, float[M] N, float[9,9,64] w) => (float[?,4] z)"
    model = parsed(text + "{ i = Constant<value_int = 0>() a = SequenceAt(s, i) z = Add(a, x) }")
    model.graph.initializer.append(built.constant("w", 9, 9, 64))
    model.graph.input.pop()
    path = saved(model)
    assert rows(run, path, "--sizes s=2x4 --sizes N=2")[0]["verdict"] == "equal"
    assert "the input of this name has its own: N=(2,)" in run(f"model {path} --sizes N=2").out
    assert "expected a number for the size 'M'" in run(f"model {path} --sizes M=2x2").err
    assert "expected one of M, N, s, x, N\n" in run(f"model {path} --sizes y=2x2").err
    # One size that is open is one size, wherever it stands.
    nodes = [built.node("Relu", "x", "h"), built.node("Add", "h x", "z")]
    for size in (None, -1, "?"):
        model = built.model(nodes, {"x": (size, 4)}, ["z"])
        assert [row["verdict"] for row in rows(run, saved(model))] == ["equal"]


def test_vectors_of_products(run: Run, saved: Save, tmp_path: Path) -> None:
    """A vector is a matrix, which each matrix of the stack meets; no Expand can say that."""
    path = saved(
        built.model([built.node("MatMul", "x y", "z")], {"x": (2, 5, 3, 4), "y": (4,)}, ["z"])
    )
    (row,) = rows(run, path)
    assert (row["verdict"], row["shapes"], row["result"]) == ("always", [[2, 5], []], [2, 5])
    done = run(f"model {path} --explicit {tmp_path}/out.onnx")
    assert (done.code, "nothing was changed; 1 left" in done.out) == (3, True)
    assert "left: Z: an Expand of its vector" in done.out


def test_when_a_node_broadcasts(run: Run, saved: Save) -> None:
    nodes = [built.node("Add", "x y", "z")]
    path = saved(built.model(nodes, {"x": ("N", "H", 4), "y": ("N", 1, "M")}, ["z"]))
    (row,) = rows(run, path)
    assert row["broadcasts if"] == ["H ≠ 1", "M ≠ 4"]
    assert "N×H×4, N×1×M -> N×H×4  middle, if H ≠ 1 or M ≠ 4" in run(f"model {path}").out


def test_types_and_zeros_that_sonnx_refuses(run: Run, saved: Save, tmp_path: Path) -> None:
    """[E_Broadcast_any_E1_030] Where SONNX may refuse what NumPy's rule accepts, a node is left."""
    out = f"--explicit {tmp_path}/out.onnx --as sonnx --check"
    nodes = [built.node("Add", "x y", "z")]
    path = saved(built.model(nodes, {"x": ("N", 4), "y": (4,)}, ["z"]))
    done = run(f"model {path} {out}")
    assert (done.code, "0 with 1 (E1): --sizes" in done.out) == (3, True)
    assert run(f"model {path} {out} --sizes N=2").code == 0
    for element in (TensorProto.BFLOAT16, TensorProto.COMPLEX64, TensorProto.FLOAT8E5M2):
        made = built.model(nodes, {"x": (2, 4), "y": (4,)}, ["z"], opset=21)
        for value in (*made.graph.input, *made.graph.output):
            value.type.tensor_type.elem_type = element
        done = run(f"model {saved(made)} {out}")
        assert (done.code, "does not take the type" in done.out) == (3, True)


def test_conditions_choose_the_drawn_sizes(run: Run, saved: Save, tmp_path: Path) -> None:
    nodes = [built.node("Add", "x y", "a"), built.node("Mul", "a w", "z")]
    path = saved(built.model(nodes, {"x": (0, "N"), "y": ("M", "K"), "w": ("J", 7)}, ["z"]))
    done = run(f"model {path} --explicit {tmp_path}/out.onnx --dynamic --check --json")
    about = json.loads(done.out)
    assert (done.code, about["check"]["differences"]) == (0, [])


def test_a_difference_is_placed() -> None:
    before = np.arange(12.0).reshape(3, 4)
    after = before.copy()
    after[1, 2], after[2, 3] = -6, 11.5
    text = "2 of 12 elements, the first at (1, 2): 6.0 before, -6.0 after; at most 12 apart"
    assert _runs._difference(before, after) == text
    assert _runs._difference([before], [before]) == ""
    assert _runs._difference([before], [after]) == f"at 0, {text}"
    assert _runs._difference(before, before.T) == (
        "float64 of shape (3, 4) before, float64 of shape (4, 3) after"
    )
    assert _runs._difference(np.array([0.0]), np.array([-0.0])).startswith("1 of 1 elements")


def test_large_constants_are_left(run: Run, saved: Save, tmp_path: Path) -> None:
    made = built.model([built.node("Mul", "x s", "z")], {"x": (2**14, 2**15)}, ["z"])
    made.graph.initializer.append(built.constant("s"))
    done = run(f"model {saved(made)} --explicit {tmp_path}/out.onnx --constants")
    assert (done.code, "2,147,483,648 bytes" in done.out) == (3, True)


def test_files_that_are_refused(run: Run, saved: Save, tmp_path: Path) -> None:
    path, out = saved(built.channels()), tmp_path / "out.onnx"
    broken = tmp_path / "broken.onnx"
    for content, reason in ((b"\xff\xff\xff", "other bytes"), (b"", "found none")):
        broken.write_bytes(content)
        done = run(f"model {broken} --explicit {out}")
        assert (done.code, reason in done.err, out.exists()) == (2, True, False)
    assert "No such file" in run(f"model {tmp_path}/none.onnx").err
    before = Path(path).read_bytes()
    assert "is read" in run(f"model {path} --explicit {path}").err
    assert Path(path).read_bytes() == before
    done = run(f"model {path} --explicit {tmp_path}/none/out.onnx")
    assert (done.code, "No such file" in done.err) == (2, True)
    assert "no input 'y', expected one of x" in run(f"model {path} --sizes y=2x3").err
    assert "no size and no input 'N'" in run(f"model {path} --sizes N=2").err
    assert "rank 4" in run(f"model {path} --sizes x=2x3").err
    for words in ("--check", "--as expand", "--dynamic", "--constants", "--leave Pow"):
        assert "add --explicit" in run(f"model {path} {words}").err
    for words, reason in {
        "--leave Foo": "expected an operator of Add",
        "--input x=1": "add --check",
        "--as sonnx --dynamic": "takes no shape",
        f"--html {out}": "expected two files",
        "--check --input y=1": "no input 'y'",
        "--check --input x=1 --input x=2": "two numbers",
    }.items():
        done = run(f"model {path} --explicit {out} {words}")
        assert (done.code, reason in done.err) == (2, True), words
        out.unlink(missing_ok=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["broken.onnx", "model.onnx"]


def test_a_constant_that_a_caller_may_give_is_no_constant(run: Run, saved: Save) -> None:
    """An initializer that is an input too may have another value, though not another shape."""
    nodes = [built.node("Expand", "x shape", "wide"), built.node("Add", "wide y", "z")]
    made = built.model(nodes, {"x": (1,), "y": (3,)}, ["z"])
    made.graph.initializer.append(numpy_helper.from_array(np.array([3], np.int64), "shape"))
    (row,) = rows(run, saved(made))
    assert row["verdict"] == "equal"
    made.graph.input.append(built.value("shape", (1,), TensorProto.INT64))
    (row,) = rows(run, saved(made))
    assert row["verdict"] == "depends"
