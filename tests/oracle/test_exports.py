"""`whycast cases` as lines, held against NumPy; and what cannot be written."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from command_line import Run, assert_same, runner

from whycast._command import main
from whycast._rules import RULES
from whycast.testing._cases import cases
from whycast.testing._export import _export_onnx
from whycast.testing._lines._elements import decoded, left_out

Array = np.ndarray[Any, Any]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line in this process."""
    return runner(capsys)


class Written(NamedTuple):
    """A case as it stands in a file; no outputs where it is refused."""

    shapes: list[list[int]]
    target: list[int] | None
    axes: list[int] | None
    inputs: list[Array]
    outputs: list[Array] | None


def in_lines(path: Path) -> Iterator[Written]:
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        inputs, right = (
            each.get("arrays") or [each.get("array")] for each in (message, message["expected"])
        )
        arrays = list(map(decoded, inputs))
        outputs = None if "refused" in message["expected"] else list(map(decoded, right))
        shapes = [list(x.shape) for x in arrays]
        yield Written(shapes, message.get("target"), message.get("axes"), arrays, outputs)


def by_numpy(case: Written) -> list[Array] | None:
    """Let NumPy itself broadcast; axis j of a tensor lies on axis axes[j] of the target."""
    try:
        target = np.broadcast_shapes(*case.shapes) if case.target is None else case.target
        arrays = case.inputs
        if case.axes is not None:
            if case.outputs is None:
                return None
            order = np.argsort(case.axes)
            shape = [1] * len(target)
            for j in order:
                shape[case.axes[j]] = arrays[0].shape[j]
            arrays = [arrays[0].transpose(order).reshape(shape)]
        return [np.broadcast_to(x, target) for x in arrays]
    except ValueError:
        return None


@pytest.mark.parametrize("name", ["numpy", "openvino-numpy", "in-dim"])
def test_numpy_gives_what_is_expected(name: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "cases"
    done = run(f"cases --rule {name} --format jsonl --out {path} --random 50")
    chosen = [case for case in cases(name, random=50) if not left_out(RULES[name], case)]
    assert done == (0, "", f"{len(chosen)} cases: {path}\n")
    seen: Counter[object] = Counter()
    for number, case in enumerate(in_lines(path)):
        assert [list(x.shape) for x in case.inputs] == case.shapes
        seen["cases"] += 1
        # np.broadcast has at most 32 axes.
        if number % 5 or max(map(len, case.shapes)) > 32:
            continue
        views = by_numpy(case)
        assert (views is None) == (case.outputs is None), case
        seen[views is None] += 1
        seen["turned"] += case.outputs is not None and case.axes != sorted(case.axes or ())
        for x, y in zip(case.outputs or (), views or (), strict=True):
            assert_same(x, y)
    assert seen["cases"] == len(chosen)
    assert min(seen[True], seen[False]) > 100
    assert seen["turned"] > 30 or name != "in-dim"


def test_lines_on_the_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = []
    for seed in "556":
        words = "cases --rule in-dim --format jsonl --level index --out - --random 9 --seed"
        assert main([*words.split(), seed]) == 0
        found.append(capfdbinary.readouterr())
    done, again, other = found
    lines = list(map(json.loads, done.out.splitlines()))
    assert done.err.decode() == f"{len(lines)} cases: -\n"
    for message in lines:
        wanted = [message["index"][axis] for axis in message["axes"]]
        places = zip(wanted, message["shape"], strict=True)
        source = [0 if size == 1 else place for place, size in places]
        assert message["expected"] == {"index": source}
    assert (again.out == done.out, other.out == done.out) == (True, False)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--format c --out -", "--out: expected a path for --format c, got -"),
        (
            "--format c --out x --level data",
            "--level: expected none for --format c, which has what it takes",
        ),
        (
            "--rule ngraph --format onnx --out x",
            "--format onnx: ONNX has no node with axes, which rule ngraph takes",
        ),
        ("--format c --out /", "--out: expected the name of a file, got the folder /"),
        ("--format onnx --out /", "--out: [Errno 17] expected the name of a new folder: '/'"),
        ("--format jsonl --out - --random -3", "expected an integer of at least 0, got '-3'"),
    ],
)
def test_what_cannot_be_written(words: str, error: str, run: Run) -> None:
    done = run(f"cases {words}")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"{error}\n")


def test_without_the_package_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(_export_onnx.NotPossibleError, match=r"pip install 'whycast\[test-data\]'"):
        _export_onnx.write(RULES["numpy"], [], tmp_path / "tests")
    assert not list(tmp_path.iterdir())
