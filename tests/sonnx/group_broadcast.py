"""Tests of Broadcast: NumPy, ONNX Runtime and any other implementation, against the text.

`cases.json` contains cases of each equivalence class, with answers that proved programs have
computed. Hypothesis draws more cases, and `expected` answers them step by step, as in the text. The
drawn shapes are written to generated_data.json, which check_edges.py reads.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

Shape = tuple[int, ...]

HERE = Path(__file__).parent
CLASSES = ("same shape", "trailing", "middle", "scalar", "degenerate", "null", "error")
MAX_RANK, MAX_SIZE = 4, 4


def expected(shapes: Sequence[Shape]) -> Shape | tuple[str, int, int]:
    """Return the shape of the outputs, or E1 with the first tensor and axis that cause it."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    common = tuple(map(max, zip(*padded, strict=True)))
    for m, shape in enumerate(padded):
        for i, (size, target) in enumerate(zip(shape, common, strict=True)):
            if size not in (target, 1):
                return ("E1", m, i)
    return common


def element(x: NDArray[Any], common: Shape, index: Shape) -> object:
    """Return the element of an output: step 2, the function f, then step 1, which drops axes."""
    sizes = (1,) * (len(common) - x.ndim) + x.shape
    found = [i if b == c else 0 for i, b, c in zip(index, sizes, common, strict=True)]
    return x[tuple(found[len(common) - x.ndim :])]


def equivalence_class(shapes: Sequence[Shape]) -> str:
    """Name the equivalence class of some shapes; a likely fault affects a whole class."""
    ranks, sizes = {*map(len, shapes)}, {size for shape in shapes for size in shape}
    if 0 in sizes:
        return "null"
    if expected(shapes)[:1] == ("E1",):
        return "error"
    if sizes == {1}:
        return "degenerate"
    if len({*shapes}) == 1:
        return "same shape"
    if 0 in ranks:
        return "scalar"
    return "trailing" if len(ranks) > 1 else "middle"


def in_numpy(shapes: Sequence[Shape]) -> list[NDArray[Any]]:
    return list(np.broadcast_arrays(*map(numbered, shapes)))


def in_onnxruntime(shapes: Sequence[Shape]) -> list[NDArray[Any]]:
    """Broadcast numbered arrays by Max, with zeros for all inputs but one."""
    names = [f"x{m}" for m, _ in enumerate(shapes)]

    def info(name: str, shape: Shape | None) -> onnx.ValueInfoProto:
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, shape)

    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Max", names, ["z"])],
        "broadcast",
        [info(name, shape) for name, shape in zip(names, shapes, strict=True)],
        [info("z", None)],
    )
    opset = onnx.helper.make_opsetid("", 13)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    inputs = dict(zip(names, map(numbered, shapes), strict=True))
    zeros = {name: np.zeros_like(x) for name, x in inputs.items()}
    return [session.run(None, {**zeros, name: x})[0] for name, x in inputs.items()]


def numbered(shape: Shape) -> NDArray[Any]:
    """Return an array whose elements are 1, 2, 3 and so on, in row-major order."""
    return np.arange(1, 1 + int(np.prod(shape, dtype=np.int64))).reshape(shape)


IMPLEMENTATIONS: dict[str, Callable[[Sequence[Shape]], list[NDArray[Any]]]] = {
    "numpy": in_numpy,
    "onnxruntime": in_onnxruntime,
}


def check(implementation: str, shapes: Sequence[Shape], answer: object) -> None:
    """Compare an implementation with an answer; F2: ONNX's rule makes 0 of 0 and 1, not E1."""
    broadcast = IMPLEMENTATIONS[implementation]
    if isinstance(answer, tuple) and answer[:1] == ("E1",):
        if equivalence_class(shapes) == "null":
            without = [tuple(size or 1009 for size in shape) for shape in shapes]
            if expected(without)[:1] != ("E1",):
                assert 0 in broadcast(shapes)[0].shape
                return
        with pytest.raises(Exception, match=r"(?i)broadcast|shape|dimension"):
            broadcast(shapes)
        return
    outputs = broadcast(shapes)
    assert [z.shape for z in outputs] == [answer] * len(shapes)
    for x, z in zip(map(numbered, shapes), outputs, strict=True):
        for index in np.ndindex(z.shape):
            assert z[index] == element(x, z.shape, index)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("name", CLASSES)
def test_cases(name: str, implementation: str) -> None:
    text = (HERE / "cases.json").read_text(encoding="utf-8")
    cases = [([*map(tuple, each["shapes"])], tuple(each["answer"])) for each in json.loads(text)]
    found = [case for case in cases if equivalence_class(case[0]) == name]
    assert found
    for shapes, answer in found:
        assert expected(shapes) == answer
        check(implementation, shapes, answer)


@st.composite
def shapes_that_mostly_broadcast(draw: st.DrawFn) -> list[Shape]:
    """Draw a shape, then shapes with its last sizes or ones, and sometimes another size."""
    target = draw(st.lists(st.integers(0, MAX_SIZE), max_size=MAX_RANK))
    sizes = [st.sampled_from([size, size, 1, 1, draw(st.integers(0, MAX_SIZE))]) for size in target]
    one = st.integers(0, len(target)).flatmap(lambda cut: st.tuples(*sizes[cut:]))
    return draw(st.lists(st.just(tuple(target)) | one, min_size=1, max_size=4))


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_drawn(implementation: str) -> None:
    drawn: dict[str, list[list[Shape]]] = defaultdict(list)

    @settings(max_examples=400, deadline=None, derandomize=True)
    @given(shapes_that_mostly_broadcast())
    def run(shapes: list[Shape]) -> None:
        drawn[equivalence_class(shapes)].append(shapes)
        check(implementation, shapes, expected(shapes))

    run()
    limits = {"max_rank": MAX_RANK, "max_size": MAX_SIZE, "classes": CLASSES}
    text = json.dumps({**limits, "drawn": drawn})
    (HERE / "generated_data.json").write_text(text, encoding="utf-8")
