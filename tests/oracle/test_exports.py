"""`whycast cases` as lines, and its errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from command_line import Run

from whycast._command import _serve, main
from whycast._rules import RULES
from whycast.testing._cases import cases
from whycast.testing._export import _export_onnx
from whycast.testing._export._pack import NotPossibleError
from whycast.testing._lines import read_request
from whycast.testing._lines._elements import left_out


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
    # A line with arrays has the answer of `serve` too.
    assert main(["cases", "--rule", "numpy", "--format", "jsonl", "--out", "-"]) == 0
    written = list(map(json.loads, capfdbinary.readouterr().out.splitlines()))
    assert len(written) == sum(not left_out(RULES["numpy"], each) for each in cases("numpy"))
    for message in written[::40]:
        assert message["expected"] == _serve.respond(read_request(message))


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--format c --out -", "--out: expected a path for --format c, got -"),
        ("--format c --out x --level data", "none for --format c, which has what it takes"),
        ("--rule ngraph --format onnx --out x", "has no node with axes, which rule ngraph takes"),
        (
            "--rule ngraph --format stablehlo --out x",
            "has broadcast_in_dim, which is not rule ngraph",
        ),
        ("--format c --out /", "--out: expected the name of a file, got the folder /"),
        ("--format onnx --out /", "--out: [Errno 17] expected the name of a new folder: '/'"),
        ("--format jsonl --out - --random -3", "expected an integer of at least 0, got '-3'"),
    ],
)
def test_errors(words: str, error: str, run: Run) -> None:
    done = run(f"cases {words}")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f"{error}\n")


def test_without_the_package_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NotPossibleError, match=r"pip install 'whycast\[test-data\]'"):
        _export_onnx.write(RULES["numpy"], [], tmp_path / "tests")
    assert not list(tmp_path.iterdir())
