"""`whycast model` finds and explains broadcasts; makes them explicit, or prints why not."""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drawn_models
import numpy as np
import onnx
import pytest
import released
from built import PATTERNS, constant, parsed, pattern, value
from command_line import Run
from google.protobuf.message import EncodeError
from onnx import ModelProto, TensorProto, helper, numpy_helper

from whycast._model import _read, _runs
from whycast._model._operators import EXPLICIT, FORMS, INSIDE, OPERATORS

Save = Callable[[ModelProto | str], str]


@pytest.fixture
def saved(tmp_path: Path) -> Save:

    def save(model: ModelProto | str) -> str:
        made = parsed(model) if isinstance(model, str) else model
        onnx.save(made, tmp_path / "model.onnx")
        return str(tmp_path / "model.onnx")

    return save


def rows(run: Run, path: str, *more: str) -> list[dict[str, Any]]:
    done = run(" ".join(["model", path, "--json", *more]))
    assert not done.err
    nodes: list[dict[str, Any]] = json.loads(done.out)["nodes"]
    return nodes


def refused(run: Run, words: str, reason: str) -> None:
    done = run(f"model {words}")
    assert (done.code, reason in done.err) == (2, True), done


def test_operators_are_those_of_onnx() -> None:
    """Each operator whose text mentions broadcasting, except DequantizeLinear, is in a table.

    `since` is the first opset whose text does not limit broadcasting.
    """
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


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("form", FORMS)
def test_patterns(run: Run, saved: Save, tmp_path: Path, name: str, form: str) -> None:
    """[E_Broadcast_any_Derived_600] [E_Broadcast_any_Derived_620] [E_Broadcast_any_Derived_630]"""
    path, out = saved(pattern(name)), str(tmp_path / "out.onnx")
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
    for model in (before, after):
        strip(model.graph)
    if form == "sonnx" and changed:
        assert after.opset_import.pop().domain == "sonnx"
    assert before == after


def strip(graph: onnx.GraphProto) -> None:
    """Remove the new nodes, and the inputs of the other nodes."""
    nodes = [node for node in graph.node if "/explicit" not in node.name]
    for node in nodes:
        del node.input[:]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                strip(attribute.g)
    del graph.node[:]
    graph.node.extend(nodes)


@pytest.mark.parametrize("name", released.SMALL)
def test_released_models(name: str) -> None:
    released.judge(released.SMALL[name])


NAMED = """(float[N,4] a, float[M,1] b, float[4] d, float[N,1] p) => (float[?,4] y) {
  c = Add(a, b) e = Mul(c, d) y = Min(p, e, a) }"""


def test_drawn_models() -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_600] [E_Broadcast_any_Derived_630]"""
    assert drawn_models.judge_all(range(300)) > 1000


def test_names_of_sizes(run: Run, saved: Save, tmp_path: Path) -> None:
    """[E_Broadcast_any_Derived_580] [E_Broadcast_any_Derived_590] [E_Broadcast_any_Derived_660]"""
    path, out = saved(NAMED), str(tmp_path / "out.onnx")
    first, second, third = rows(run, path)
    assert (first["result"], first["verdict"]) == (["N|M", 4], "always")
    assert first["condition"] == ["N = 1 or M = 1 or N = M"]
    assert first["condition of SONNX"] == ["N and M are not 0 and 1"]
    assert (second["condition"], third["operator"]) == ([], "Min")
    assert run(f"model {path} --explicit {out}").out.count("only the running model knows") == 3
    for n, m in ((3, 1), (0, 1), (1, 0)):
        words = f"--explicit {out} --dynamic --check --sizes N={n} --sizes M={m}"
        done = run(f"model {path} {words} --json")
        about = json.loads(done.out)
        assert (done.code, about["check"]["differences"]) == (0, []), (n, m)
        assert (about["check"]["inputs"]["a"], about["explicit"]["left"]) == ([n, 4], [])


def test_text_and_page(run: Run, saved: Save, tmp_path: Path) -> None:
    path, page = saved(pattern("transformer")), tmp_path / "page.html"
    summary, _, listed = run(f"model {path} --html {page}").out.partition("\n\n")
    assert summary.splitlines()[1:] == [
        "element-wise: of 9 nodes 8 broadcast, 1 do not",
        "  kinds: leading 3, scalar 2, trailing 2, middle 1",
        "  operators: Add 4, Div 1, Mul 1, Pow 1, Sub 1",
        "MatMul: of 3 nodes 1 broadcast, 2 do not",
        "  kinds: scalar 1",
        "  operators: MatMul 1",
    ]
    assert "Sub -> centred: 2×5×8, 2×5×1 -> 2×5×8  trailing" in listed.splitlines()
    assert len(listed.splitlines()) == 9
    written = page.read_text(encoding="utf-8")
    assert "-&gt; centred" in written
    assert "<script" not in written


def test_what_the_readme_shows(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(released.MODELS[0].file, "magika.onnx")
    text = (released.BUILD.parent / "README.md").read_text(encoding="utf-8")
    found = re.search(r"`whycast (model magika[^`]*)`\s[^`]*```text\n(.*?)```", text, re.DOTALL)
    assert found is not None
    assert run(found[1]).out.startswith(found[2] + "\n")


def test_external_data_stays_beside_the_model(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    model = pattern("products")
    path, out = tmp_path / "a" / "model.onnx", tmp_path / "b" / "out.onnx"
    onnx.save(model, path, save_as_external_data=True, location="data.bin", size_threshold=0)
    assert run(f"model {path} --explicit {out} --check --json").code == 0
    data = [tmp_path / folder / "data.bin" for folder in "ab"]
    assert data[0].read_bytes() == data[1].read_bytes()
    (tmp_path / "b" / "data.bin").write_bytes(b"another")
    assert "choose another folder" in run(f"model {path} --explicit {out}").err


def unreadable() -> ModelProto:
    """Return a model with faults: elements, types, a size, outputs, a function defined twice."""
    text = "{ h = Relu(x) k = Add(x, q) z = Add(h, row) }"
    made = parsed(f"(float[N,8] x, float[M,8] q) => (float[N,8] z) {text}")
    made.graph.initializer.append(constant("row", 8))
    made.graph.initializer[0].raw_data = b"ab"
    made.graph.initializer.add(name="negative", data_type=TensorProto.FLOAT, dims=[-1])
    made.graph.value_info.append(value("z", ("N", 8), 99))
    made.graph.node.append(helper.make_node("Add", ["x", "row"], []))
    made.graph.node.append(helper.make_node("Add", ["x", "negative"], ["w"]))
    graphs = [parsed("(float[2] t) => (float[2] u) { u = Relu(t) }").graph]
    made.graph.node.append(helper.make_node("Many", ["x"], ["m"], domain="own", bodies=graphs))
    made.functions.extend(2 * [helper.make_function("own", "None", ["a"], ["a"], [], [])])
    return made


BRANCH = """(bool c, float[N,8] x) => (float[?,?] z) {
  z = If (c) <
    then_branch = t () => (float[?,?] a) { s = Constant<value_ints = [4,16]>() a = Expand(x, s) },
    else_branch = e () => (float[?,?] b) { b = Identity(x) }> }"""
LOOP = """(int64 n, bool c, float[N,4] s) => (float[?,4] z) {
  z = Loop (n, c, s) <body = b (int64 i, bool d, float[1,4] t) => (bool e, float[?,4] u)
    { e = Identity(d) u = Add(t, s) }> }"""
NONZERO = """(float[N,4] x) => (int64[2,?] z) <int64[2,3] h, int64[2,5] r> {
  h = NonZero(x) r = Neg(h) z = Add(h, r) }"""
KNOWN = """(float[N,4] x, int64[2,3] r) => (int64[] z) <int64[2,3] h> {
  h = NonZero(x) z = Add(h, r) }"""
RANDOM = """(float[1] x, float[3] y) => (float[] z) {
  r = RandomUniform<shape = [2], low = 1.0>()
  s = Cast<to = 7>(r) e = Expand(x, s) z = Add(e, y) }"""
BOTH = """(float[N,4] x, float[M,4] p, float[1,4] q) => (float[?,4] z) <float[1,4] h> {
  h = Add(x, p) r = Relu(h) z = Mul(r, q) }"""
FOREIGN = """(float[N,4] x) => (float[?,4] z) <float[1,4] h, float[1,4] k> {
  h = Relu(x) k = own.Cares(h) z = Add(k, x) }"""
STALE = """(float[N,3,4] x, float[1,3,1] b) => (float[N,3,4] z) <float[3,4] h> {
  h = Relu(x) z = Add(h, b) }"""
EXPAND = """(float[1,8,1] x, float[16,1] y) => (float[?,?,?] z) <int64[3] s = {1,16,70}> {
  e = Expand(x, s) z = Mul(e, y) }"""
NORM = """(float[N,8] x, float[8] r) => (float[N,8] z) <float[1] c = {2}> {
  h = SimplifiedLayerNorm(c) z = Add(x, r) }"""
MAX = """(float[2,3] x, float[3] y) => (float[] z) { w = Max(x, x) z = Max(w, y) }"""
INNER = """(float[2,3] x, float[3] y) => (float[] z) {
  w = LayerNormalization(x, y) z = Add(w, y) }"""
FIVE = "(float[1,4] x, {}) => (float[] z5) {{ {} }}".format(
    ", ".join(f"float[N{k}] y{k}" for k in range(1, 6)),
    " ".join(f"z{k} = Add(x, y{k})" for k in range(1, 6)),
)
CHAIN = "(float[1,4] y0, {}) => (float[] y16) {{ {} }}".format(
    ", ".join(f"float[N{k},1] x{k}" for k in range(1, 17)),
    " ".join(f"y{k} = Add(y{k - 1}, x{k})" for k in range(1, 17)),
)
STATED = "(float[2,3] x) => (float[] z) <{}> {{ {} z = Add(x, x) }}".format(
    ", ".join(f"float[4] h{k}" for k in range(22)), " ".join(f"h{k} = Relu(x)" for k in range(22))
)
GEMM = """(float[4,2] a, float[3,4] b, float[3] c) => (float[2,3] z) {
  y = Gemm<transA = 1, transB = 1>(a, b) z = Gemm<transA = 1, transB = 1>(a, b, c) }"""
QUANTIZED = """(uint8[2,3,4] x, float s, uint8 p, uint8[5,4,4] y) => (uint8[?,?,?] z) {
  z = QLinearMatMul(x, s, p, y, s, p, s, p) }"""
INTEGERS = """(uint8[2,3,4] x, uint8[4,5] y) => (int32[2,3,5] z) { z = MatMulInteger(x, y) }"""


def two(first: str, second: str, operator: str = "Add", element: str = "float") -> str:
    x, y = (f"{element}[{sizes}]" if sizes else element for sizes in (first, second))
    return f"({x} x, {y} y) => ({element}[] z) {{ z = {operator}(x, y) }}"


NAMES = two("N,4", "4")
UNTYPED = parsed(NAMES)
UNTYPED.graph.output[0].ClearField("type")
NOT_IMPORTED = parsed(NORM.replace("SimplifiedLayerNorm", "own.Cares"))
NOT_IMPORTED.opset_import.pop()
# A model, the verdicts of its nodes, and a part of the output.
FAULTS: dict[str, tuple[ModelProto, str, str]] = {
    "another rank": (parsed(STALE), "always", "3×4, contradicts the inferred N×3×4"),
    "annotations": (parsed(NONZERO), "equal", "of r, 2×5, contradicts the inferred 2×3"),
    "N or M": (parsed(BOTH), "depends depends", "of h, 1×4, contradicts the inferred N|M×4"),
    "annotation": (parsed(KNOWN), "equal", "of 1 nodes 0 broadcast, 1 do not"),
    "random": (parsed(RANDOM), "always", "?0×?1, 3"),
    "what follows": (parsed(FOREIGN), "unknown", "the annotation of k is not used"),
    "state": (parsed(LOOP), "unknown", "z/body: t, 1×4, contradicts the inferred N×4"),
    "Expand in a branch": (parsed(BRANCH), "never", "sizes 8 and 16"),
    "scalar": (parsed(two("", "2,2", "MatMul")), "never", "MatMul takes no scalar"),
    "slope of opset 6": (parsed(two("N,3,4", "3", "PRelu"), 6), "unknown", "one for each channel"),
    "no type": (UNTYPED, "always", "Field 'type' of 'value_info' is required"),
    "no operator": (parsed(NORM), "always", "Norm, which ONNX does not have"),
    "no elements": (unreadable(), "depends always unknown", "99, contradicts the inferred float"),
    "no import": (NOT_IMPORTED, "always", "No opset import for domain 'own'"),
    "Expand to less": (parsed(EXPAND), "never unknown", "sizes 8 and 16"),
    "Expand by -1": (
        *(parsed(EXPAND.replace("{1,16", "{-1,8")), "unknown never", "Expand -> e: ONNX does not"),
    ),
    "Max of opset 7": (parsed(MAX, 7), "never", "Max of opset 7 does not broad"),
    "slope": (
        parsed(two("3", "2,3", "PRelu")),
        "never",
        "its last input does not fit the shape of",
    ),
    "inside": (parsed(INNER), "always", "LayerNormalization, which broadcasts within"),
    "many names": (parsed(CHAIN), " ".join(16 * ["always"]), "knows a size with a question mark"),
    "many conditions": (parsed(FIVE), " ".join(5 * ["always"]), "; 1 more"),
    "many annotations": (parsed(STATED), "equal", "2 more annotations are not used"),
    "sizes of opset 7": (parsed(two("N", "M", "Max"), 7), "unknown", "condition: N = M (1)"),
    "attribute": (
        *(parsed(two("2,3", "3", "Add<broadcast = 1>"), 6), "unknown", "convert it to opset 7"),
    ),
    "Gemm, turned": (parsed(GEMM), "always", "leading 1"),
    "quantized": (parsed(QUANTIZED), "never", "inputs 0 and 1 have sizes 2 and 5"),
    "0 and 1": (parsed(two("0,2", "1,2")), "always", "SONNX refuses it (E1)"),
    "two sizes": (
        parsed(two("N,3", "N,2")),
        "never",
        "on axis 1 inputs 0 and 1 have sizes 3 and 2",
    ),
    "rank": (parsed(two(",".join(33 * "1"), "2")), "always", "rank 33"),
    "one of two": (parsed(two("N,H,4", "N,1,M")), "depends", "if H ≠ 1 or M ≠ 4"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_a_model_are_attention(run: Run, saved: Save, tmp_path: Path, name: str) -> None:
    """The report still lists the faulty node; if the old model runs, so does the new model."""
    model, verdicts, text = FAULTS[name]
    code = 1 if "never" in verdicts else 0
    path, out = saved(model), tmp_path / "out.onnx"
    done = run(f"model {path} --html {tmp_path}/page.html --explicit {out}")
    assert (run(f"model {path}").code, text in done.out) == (code, True), done
    assert " ".join(row["verdict"] for row in rows(run, path)) == verdicts
    assert done.code in (code, 3)
    assert text in html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    done = run(f"model {path} --explicit {out} --check --dynamic")
    assert done.code in (code, 3) or (done.code == 2 and f"does not run {path}" in done.err), done


def test_sizes_that_contradict_or_bind(run: Run, saved: Save) -> None:
    path = saved(
        "(float[batch,3,seq] x, float[batch,1,seq] mask, float[?] length) => (float[?,?,?] z)"
        "{ a = Add(x, mask) z = Add(a, length) }"
    )
    for words, reason in {
        "x=2x4x5": "axis 1 of input 'x' has size 3 in the model, got 4",
        "batch=2 --sizes batch=3": "batch=2 and batch=3 contradict each other on 'batch'",
        "batch=2 --sizes x=4x3x5": "batch=2 and x=4x3x5 contradict each other on 'batch'",
        "x=2x3x5 --sizes mask=2x1x4": "x=2x3x5 and mask=2x1x4 contradict each other on 'seq'",
        "x=2x3x5 --sizes x=2x3x6": "contradict each other on 'x'",
        "x=2": "input 'x' has rank 3, got x=2 of rank 1",
    }.items():
        refused(run, f"{path} --sizes {words}", reason)
    first, second = rows(run, path, "--sizes x=2x3x5 --sizes length=5")
    assert first["shapes"] == [[2, 3, 5], [2, 1, 5]]
    assert second["shapes"] == [[2, 3, 5], [5]]
    assert "length.0 is size 0 of input 'length'" in run(f"model {path}").out
    # The tensors of a sequence share a shape; a size and an input may share a name.
    text = "(seq(float[?,4]) s, float[N,4] x, float[M] N, float[9,9,64] w) => (float[?,4] z)"
    model = parsed(text + "{ i = Constant<value_int = 0>() a = SequenceAt(s, i) z = Add(a, x) }")
    model.graph.initializer.append(constant("w", 9, 9, 64))
    model.graph.input.pop()
    path = saved(model)
    assert rows(run, path, "--sizes s=2x4 --sizes N=2")[0]["verdict"] == "equal"
    assert run(f"model {path} --sizes N=(2,)").code == 0
    assert "the input of this name has its own: N=(2,)" in run(f"model {path} --sizes N=2").out
    assert "expected a number for the size 'M'" in run(f"model {path} --sizes M=2x2").err
    assert "expected one of M, N, s, x, N\n" in run(f"model {path} --sizes y=2x2").err
    text = "(float[] x, float[N,N] y, float[?,4] v) => (float[] z) { w = Add(v, v) z = Add(x, y) }"
    model = parsed(text)
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "v.0"
    path = saved(model)
    assert "v.0' is size 0 of input 'v'" in run(f"model {path}").out
    assert rows(run, path, "--sizes x=2x3 --sizes y=2x3")[1]["verdict"] == "equal"
    refused(run, f"{saved(text)} --sizes y=2x3", "y=2x3 has two numbers for 'N'")
    # After Relu an open size is the same.
    for size in ("?", "-1"):
        text = f"(float[{size},4] x) => (float[?,4] z) {{ h = Relu(x) z = Add(h, x) }}"
        assert [row["verdict"] for row in rows(run, saved(text))] == ["equal"]


SONNX = "--as sonnx"
# A model, options, and the reason why its node stays implicit.
LEFT = {
    "vector": (two("2,5,3,4", "4", "MatMul"), "", "an Expand of its vector would add an axis to"),
    "zero points": (INTEGERS, "", "its zero points have axes of their own"),
    "never": (two("2,3", "4,1,2"), "", "its shapes never broadcast"),
    "names": (two("N,4", "M,1"), "", "only the running model knows"),
    "may be 0": (NAMES, SONNX, "SONNX refuses sizes that it may have, 0 with 1 (E1): --sizes"),
    "is 0": (two("0,2", "1,2"), SONNX, "SONNX refuses a 0 that meets a 1 (E1)"),
    "matrices": (INTEGERS, SONNX, "its zero points"),
    "bytes": (
        "(float[16384,32768] x) => (float[16384,32768] z) <float s = {2}> { z = Mul(x, s) }",
        "--constants",
        "its constants would take 2,147,483,648 bytes, expected at most 1,073,741,824",
    ),
    "bytes of strings": (
        '(string[16384,8192] x) => (string[] z) <string[1] s = {"ab"}> { z = StringConcat(x, s) }',
        "--constants",
        "its constants would take 1,342,177,280 bytes",
    ),
    "product": (
        "(float[N,2] a, float[2,M] b, float[1] c) => (float[] z) { z = Gemm(a, b, c) }",
        "--dynamic",
        "no value has the shape of the product",
    ),
    "size 0": (two("0", "2,1"), "--as reshape+tile", "Reshape of opset 13 has no size 0"),
    "leave": (two("2,4", "4"), "--leave Add", "--leave names its operator"),
    **{
        element: (two("2,4", "4", element=element), SONNX, "does not take the type")
        for element in ("bfloat16", "complex64", "float8e5m2")
    },
}


@pytest.mark.parametrize("name", LEFT)
def test_nodes_that_are_left(run: Run, saved: Save, tmp_path: Path, name: str) -> None:
    """[E_Broadcast_any_E1_030]"""
    text, words, reason = LEFT[name]
    path = saved(parsed(text, 13 if "opset 13" in reason else 21))
    done = run(f"model {path} --explicit {tmp_path}/out.onnx {words}")
    assert "nothing was changed; 1 left\nleft: -> z: " in done.out
    assert reason in done.out
    assert done.code == (0 if name == "leave" else 1 if name == "never" else 3)
    if name == "may be 0":
        assert run(f"model {path} --explicit {tmp_path}/out.onnx {words} --sizes N=2").code == 0


# A model, options, and the shapes of drawn inputs: named sizes are 2, or as conditions require.
SAME = {
    "conditions": (two("3,N", "M,N"), "--dynamic", "drawn inputs: x 3×2, y 1×2"),
    "0 in a Reshape": (two("0", "2,1"), "--as reshape+tile", "drawn inputs: x 0, y 2×1"),
    "strings": (two("3,1", "4", "StringConcat", "string"), "", "drawn inputs: x 3×1, y 4"),
    "one of two": (
        "(float[1,1] a, float[1,3] b) => (float[] z) { z = Gemm(a, b, a) }",
        "",
        "b 1×3",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_models_that_give_the_same(run: Run, saved: Save, tmp_path: Path, name: str) -> None:
    text, words, inputs = SAME[name]
    path = saved(parsed(text, 21))
    done = run(f"model {path} --explicit {tmp_path}/out.onnx {words} --check")
    assert (done.code, "the same bits before and after" in done.out) == (0, True)
    assert "; 0 left" in done.out
    assert inputs in done.out


# The inputs of a model, and the reason why none are drawn.
NOT_DRAWN = {
    "optional(float[2,3])": "input 'x' is neither a tensor nor a sequence of tensors",
    "float[]": "the shape of input 'x' is open (--sizes)",
    "float[100000,100000]": "x' would have 10,000,000,000 elements, expected at most 268,435,456",
}


@pytest.mark.parametrize("kind", NOT_DRAWN)
def test_inputs_that_are_not_drawn(run: Run, saved: Save, tmp_path: Path, kind: str) -> None:
    path = saved(f"({kind} x, float[2,3] y, float[3] z) => (float[] w) {{ w = Add(y, z) }}")
    refused(run, f"{path} --explicit {tmp_path}/out.onnx --check", NOT_DRAWN[kind])


def test_a_difference_is_placed(tmp_path: Path) -> None:
    before = np.arange(12.0).reshape(3, 4)
    after = before.copy()
    after[1, 2], after[2, 3] = -6, 11.5
    text = "2 of 12 elements, the first at (1, 2): 6.0 before, -6.0 after; at most 12 apart"
    assert _runs._difference(before, after) == text
    assert _runs._difference([before], [before]) == ""
    assert _runs._difference([before], [after]) == f"at 0, {text}"
    shapes = "float64 of shape (3, 4) before, float64 of shape (4, 3) after"
    assert _runs._difference(before, before.T) == shapes
    assert _runs._difference(np.array([0.0]), np.array([-0.0])).startswith("1 of 1 elements")
    strings = (np.array([each, "c"], object) for each in "ab")
    assert _runs._difference(*strings) == "1 of 2 elements, the first at (0,): a before, b after"
    assert _runs._difference([before], []) == "a sequence of another length"
    assert _runs._difference(None, before) == "one of them is empty"
    paths = [tmp_path / "before.onnx", tmp_path / "after.onnx"]
    for path, size in zip(paths, "32", strict=True):
        onnx.save(parsed(two("2,3", size)), path)
    inputs = {name: np.ones(shape, np.float32) for name, shape in (("x", (2, 3)), ("y", (3,)))}
    _, found = _runs._differences(paths[0], paths[1], inputs)
    assert [text.partition(": ")[0] for text in found] == [f"ONNX Runtime does not run {paths[1]}"]


REFUSED = {
    "--sizes y=2x3": "no input 'y', expected one of x",
    "--sizes N=2": "no size and no input 'N'",
    "--sizes x=2x3": "rank 4",
    **dict.fromkeys(
        ("--check", "--as expand", "--dynamic", "--constants", "--leave Pow"), "add --explicit"
    ),
    "--sizes N": "expected NAME=NUMBER or INPUT=SHAPE, got 'N'",
    "--explicit OUT --check --input x=a": "expected NAME=NUMBER, got 'x=a'",
    "--explicit /dev/null --check": "expected a regular file",
    "--explicit FOLDER/model.onnx": "is read",
    "--explicit FOLDER/none/out.onnx": "No such file",
    "--explicit OUT --leave Foo": "expected an operator of Add",
    "--explicit OUT --input x=1": "add --check",
    "--explicit OUT --as sonnx --dynamic": "takes no shape",
    "--explicit OUT --html OUT": "expected two files",
    "--explicit OUT --check --input y=1": "no input 'y'",
    "--explicit OUT --check --input x=1 --input x=2": "two numbers",
}


def too_large_if_explicit(model: ModelProto) -> bytes:
    if any("/explicit" in node.name for node in model.graph.node):
        raise EncodeError
    return bytes(model.SerializePartialToString())


def test_words_and_files_that_are_refused(
    run: Run, saved: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = Path(saved(pattern("channels"))), tmp_path / "out.onnx"
    before = path.read_bytes()
    for words, reason in REFUSED.items():
        words = words.replace("OUT", str(out)).replace("FOLDER", str(tmp_path))
        refused(run, f"{path} {words}", reason)
        out.unlink(missing_ok=True)
    assert path.read_bytes() == before
    for content, reason in ((b"\xff\xff\xff", "other bytes"), (b"", "found none")):
        path.write_bytes(content)
        refused(run, f"{path} --explicit {out}", reason)
    assert "No such file" in run(f"model {tmp_path}/none.onnx").err
    text = path.with_suffix(".onnxtxt")
    text.write_text("nonsense")
    refused(run, str(text), "expected an ONNX model as text")
    text.write_text(onnx.printer.to_text(pattern("channels")))
    saved(pattern("channels"))
    assert rows(run, str(text)) == rows(run, str(path))
    text.unlink()
    answers = iter([None, "a fault", None, None])
    monkeypatch.setattr(_read, "complaint", lambda _: next(answers))
    with pytest.raises(AssertionError, match="that would be written: a fault"):
        run(f"model {path} --explicit {out}")
    monkeypatch.setattr(ModelProto, "SerializeToString", too_large_if_explicit)
    refused(run, f"{path} --explicit {out}", "would have 2 GiB or more")
    monkeypatch.setitem(sys.modules, "whycast._model", None)
    refused(run, str(path), "it needs whycast._model: pip install 'whycast[onnx]'")
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_constants_of_callers(run: Run, saved: Save, tmp_path: Path) -> None:
    """If an initializer is an input, callers may replace its value, but not its shape."""
    words = f"--explicit {tmp_path}/out.onnx --constants"
    assert run(f"model {saved(pattern('channels'))} {words} --check").code == 0
    graph = onnx.load(tmp_path / "out.onnx").graph
    assert (2, 3, 4, 5) in {tuple(tensor.dims) for tensor in graph.initializer}
    assert [node.op_type for node in graph.node] == ["Add", "Mul", "PRelu"]
    made = parsed(
        "(float[1] x, float[3] y, int64[1] shape) => (float[3] z)"
        "{ wide = Expand(x, shape) z = Add(wide, y) }"
    )
    made.graph.initializer.append(numpy_helper.from_array(np.array([3], np.int64), "shape"))
    assert [row["verdict"] for row in rows(run, saved(made))] == ["depends"]
    # In the oldest models every constant is an input.
    made.ir_version = 3
    assert [row["verdict"] for row in rows(run, saved(made))] == ["equal"]
    made = parsed(two("2,4", "4"))
    made.graph.initializer.append(constant("y", 4))
    assert run(f"model {saved(made)} {words}").code == 0
    assert "Expand" in str(onnx.load(tmp_path / "out.onnx").graph.node)
