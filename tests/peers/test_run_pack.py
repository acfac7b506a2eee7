"""Packs of `whycast cases` agree with the rules, and run_pack.py notices planted faults."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import run_pack

from whycast._rules import RULES
from whycast.testing._cases import cases
from whycast.testing._export import _export_onnx, _export_stablehlo
from whycast.testing._lines import read_request

WRITE = {"onnx": _export_onnx.write, "stablehlo": _export_stablehlo.write}
# For an object array of rank 0, ONNX's reference uses its element, a str.
KNOWN = "test_expand_expand_str_scalar_scalar*  # a comment\n"


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write packs of some cases, among them most cases of layouts."""
    folder = tmp_path_factory.mktemp("packs")
    for name, form in run_pack.PACKS.items():
        every = list(cases(name))
        WRITE[form](RULES[name], every[:-340:24] + every[-340:], folder / name)
    return {name: folder / name for name in run_pack.PACKS}


def manifest(pack: Path) -> Any:
    return json.loads((pack / "manifest.json").read_text("utf-8"))


def test_manifest(packs: dict[str, Path]) -> None:
    """Verdicts and clauses are the rule's; accepted and refused cases have zeros and high ranks."""
    for name, pack in packs.items():
        rule, seen, models = RULES[name], set(), Counter[Path]()
        for test in manifest(pack)["tests"]:
            model, clause = pack / test.pop("model"), test.pop("clause")
            case = read_request(test).case
            refused = "refused" in test["expected"]
            assert (rule.shape(case) is None) == refused
            assert refused or test["expected"] == {"shape": list(rule.shape(case) or ())}
            assert clause == rule.clauses["verdict" if refused else "data"]
            assert test["id"] in (model.parent.name if "onnx" in model.name else model.read_text())
            models[model] += 1
            seen |= {(refused, "zero")} if any(0 in shape for shape in case.every_shape) else set()
            seen |= {(refused, "rank")} if max(map(len, case.every_shape)) > 7 else set()
        assert len(seen) == 4
        for model, count in models.items():
            assert count == (1 if "onnx" in model.name else model.read_text().count("func.func @"))
            assert model.exists()


def test_no_fault(packs: dict[str, Path], tmp_path: Path) -> None:
    """ONNX's reference implementation and StableHLO's interpreter share expected failures."""
    known = tmp_path / "known.txt"
    known.write_text(KNOWN)
    assert run_pack.run("reference", known, [packs["numpy"], packs["expand"]]) == 0
    assert run_pack.run("stablehlo", known, [packs["in-dim"]]) == 0


def test_planted_faults(
    packs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wrong verdicts, a wrong element, listed ids that pass, and unknown ids are faults."""
    pack = Path(shutil.copytree(packs["in-dim"], tmp_path / "in-dim"))
    told, file = manifest(pack), pack / "accepted.mlir"
    by_verdict: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for test in told["tests"]:
        by_verdict["refused" in test["expected"]].append(test)
    accepted, passes = by_verdict[False][-2:]
    refused = by_verdict[True][-1]
    accepted["expected"], refused["expected"] = {"refused": True}, {"shape": []}
    (pack / "manifest.json").write_text(json.dumps(told))
    before, _, after = file.read_text().rpartition("dense<[1, ")
    file.write_text(f"{before}dense<[3, {after}")
    wrong = re.findall(r"@(\w+)", before)[-1]
    known = tmp_path / "known.txt"
    known.write_text(f"{passes['id']}\ntest_nowhere\ntest_in* 4\n")
    assert run_pack.run("stablehlo", known, [pack]) == 1
    *lines, _ = capsys.readouterr().out.splitlines()
    assert [line.partition(", unlike")[0] for line in lines] == [
        f"{passes['id']}: 0 of 1 fail",
        "test_nowhere: 0 of 0 fail",
        f"test_in*: 3 of {len(told['tests'])} fail",
    ]
    known.write_text("")
    assert run_pack.run("stablehlo", known, [pack]) == 1
    found = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert found.pop(refused["id"]).startswith("MLIRError: error: ")
    assert found == {
        accepted["id"]: f"accepted, but {accepted['clause']} refuses",
        wrong: f"other elements than by {accepted['clause']}",
        "stablehlo": f"{len(told['tests'])} tests, 3 fail",
    }
    known.write_text("".join(f"{each}  # why\n" for each in (refused["id"], accepted["id"], wrong)))
    assert run_pack.run("stablehlo", known, [pack]) == 0
