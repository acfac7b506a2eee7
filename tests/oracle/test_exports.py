"""`whycast cases` as lines, as an archive, and what it says where it cannot write."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from command_line import assert_same

from whycast._command import main
from whycast._rules import RULES, rule_named
from whycast.testing._cases import cases
from whycast.testing._export import _export_npz, _export_onnx
from whycast.testing._lines._elements import decoded

SECONDS = 120


def whycast_cases(*arguments: str | Path) -> int:
    """Run the command, in this process."""
    return main(["cases", *map(str, arguments)])


def test_as_a_process(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "whycast", "cases", "--rule", "ngraph", "--level", "index"),
            *("--format", "jsonl", "--out", path),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    count = sum(1 for _ in cases("ngraph", "index"))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"{count} cases: {path}\n"
    assert len(path.read_bytes().splitlines()) == count


@pytest.mark.parametrize("name", ["numpy", "openvino-numpy"])
def test_lines(name: str, tmp_path: Path) -> None:
    """NumPy itself broadcasts what they hold, to the last bit."""
    path = tmp_path / "cases.jsonl"
    arguments = ("--rule", name, "--format", "jsonl", "--out", path, "--random", "50")
    assert whycast_cases(*arguments) == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == sum(1 for _ in cases(name, random=50))
    verdicts: Counter[bool] = Counter()
    for line in lines[::7]:
        message = json.loads(line)
        asked = message["arrays"] if name == "numpy" else [message["array"]]
        arrays = list(map(decoded, asked))
        try:
            common = np.broadcast_shapes(*[x.shape for x in arrays])
            target = message.get("target", common)
            wanted = [np.broadcast_to(x, target) for x in arrays]
        except ValueError:
            assert "refused" in message["expected"], line
        else:
            found = message["expected"]
            found = found["arrays"] if name == "numpy" else [found["array"]]
            for x, y in zip(map(decoded, found), wanted, strict=True):
                assert_same(x, y)
        verdicts["refused" in message["expected"]] += 1
    assert min(verdicts[True], verdicts[False]) > 100


def test_lines_on_the_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    found = []
    for seed in "556":
        arguments = ("--rule", "in-dim", "--format", "jsonl", "--level", "index", "--out", "-")
        assert whycast_cases(*arguments, "--random", "9", "--seed", seed) == 0
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
    ("arguments", "error"),
    [
        (("--format", "npz", "--out", "-"), "--out: expected a path for --format npz, got -"),
        (
            ("--format", "c", "--out", "x", "--level", "data"),
            "--level: expected none for --format c, which has what it takes",
        ),
        (
            ("--rule", "ngraph", "--format", "onnx", "--out", "x"),
            "--format onnx: ONNX has no node with axes, which rule ngraph takes",
        ),
        (("--format", "c", "--out", "/"), "--out: [Errno 21] Is a directory: '/'"),
        (("--format", "onnx", "--out", "/"), "--out: [Errno 17] File exists: '/'"),
    ],
)
def test_what_cannot_be_written(
    arguments: tuple[str, ...], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert whycast_cases(*arguments) == 2
    done = capsys.readouterr()
    assert (done.out, done.err) == ("", f"whycast cases: error: {error}\n")


def test_a_number_of_cases_is_not_negative(capsys: pytest.CaptureFixture[str]) -> None:
    assert whycast_cases("--format", "jsonl", "--out", "-", "--random", "-3") == 2
    assert "--random: expected an integer of at least 0, got '-3'" in capsys.readouterr().err


def test_without_the_package_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(_export_onnx.NotPossibleError, match=r"pip install 'whycast\[test-data\]'"):
        _export_onnx.write(RULES["numpy"], [], tmp_path / "tests")
    assert not list(tmp_path.iterdir())


def test_archive_of_a_rule_with_axes(tmp_path: Path) -> None:
    path = tmp_path / "cases.npz"
    assert whycast_cases("--rule", "in-dim", "--format", "npz", "--out", path) == 0
    turned = 0
    with np.load(path, allow_pickle=False) as archive:
        for entry in json.loads(str(archive["index"]))[::3]:
            if "refused" in entry:
                continue
            tensor, output = (archive[f"{entry['name']}_{end}"] for end in ("input_0", "output_0"))
            assert list(output.shape) == entry["target"]
            turned += entry["axes"] != sorted(entry["axes"])
            # Axis j of the tensor lies on axis axes[j] of the target.
            order = np.argsort(entry["axes"])
            shape = [1] * output.ndim
            for j in order:
                shape[entry["axes"][j]] = tensor.shape[j]
            wanted = np.broadcast_to(tensor.transpose(order).reshape(shape), entry["target"])
            assert output.tobytes() == wanted.tobytes(), entry
    assert turned > 50


@pytest.mark.parametrize("name", ["numpy", "openvino-numpy"])
def test_archive(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cases"
    rule = rule_named(name)
    chosen = list(cases(name))[::7]
    pickled = sum(1 for case in chosen if {"object", "StringDType"} & set(case.dtypes))
    # The texts of OpenVINO have no strings.
    assert (pickled > 0) == (name == "numpy")
    assert _export_npz.write(rule, chosen, path) == len(chosen) - pickled
    refused = 0
    with np.load(path, allow_pickle=False) as archive:
        index = json.loads(str(archive["index"]))
        used = {"index"}
        for entry in index:
            count = len(entry["shapes"])
            names = [f"{entry['name']}_input_{m}" for m in range(count)]
            inputs = [archive[each] for each in names]
            used.update(names)
            assert [list(x.shape) for x in inputs] == entry["shapes"]
            assert len(entry["dtypes"]) == len(entry["layouts"]) == count
            try:
                if "target" in entry:
                    views = [np.broadcast_to(inputs[0], entry["target"])]
                else:
                    views = [
                        np.broadcast_to(x, np.broadcast_shapes(*entry["shapes"])) for x in inputs
                    ]
            except ValueError:
                refused += 1
                assert entry["refused"]
                continue
            for m, view in enumerate(views):
                output = archive[f"{entry['name']}_output_{m}"]
                used.add(f"{entry['name']}_output_{m}")
                assert list(output.shape) == entry["shape"] == list(view.shape)
                assert (output.dtype, output.tobytes()) == (view.dtype, view.tobytes())
                steps = zip(view.shape, view.strides, entry["strides"][m], strict=True)
                assert 0 in view.shape or all(size == 1 or a == b for size, a, b in steps)
        assert used == set(archive.files)
    assert 100 < refused < len(index) - 100
