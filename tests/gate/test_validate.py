"""The command that validates the extracted Python: what it prints, and what it keeps for the pages.

What it proves is tried in tests/extraction/test_symbolic.py.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import small_evidence

from evidence import pages
from gate.closed import ROOT, ToolError
from validate import command as validate
from validate import report as validated
from validate.faults import Fault
from validate.validation import Finding

ROW = {"program": "f", "arguments": "any <integers>", "forms": 3, "paths": 4711, "relies_on": "g"}
REPORT = {
    "z3": "5",
    "seconds": 2.5,
    "rows": [ROW | {"seconds": 1.25}],
    "faults": 9,
    "equivalent": 2,
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Copy the kernel and the tools."""
    shutil.copytree(
        ROOT / "proofs",
        tmp_path / "proofs",
        ignore=shutil.ignore_patterns("__pycache__", "sessions"),
    )
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    (tmp_path / validated.KERNEL).parent.mkdir(parents=True)
    shutil.copy(ROOT / validated.KERNEL, tmp_path / validated.KERNEL)
    return tmp_path


def test_what_is_proved_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    before = validated.report(ROOT)
    assert validate.main(["--bound", "1", "--only", "f", "broadcast_shapes"]) == 0
    shown = capsys.readouterr().out
    assert set(re.findall(r"(?m)^(\w+): proved; rank up to 1; ", shown)) == {
        "f",
        "broadcast_shapes",
        "first_violation",
    }
    assert "validate: all proved; 3 programs, " in shown
    assert validated.report(ROOT) == before


def test_what_differs_fails_with_path_and_input(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(validate, "ROOT", tree)
    kernel = tree / validated.KERNEL
    text = kernel.read_text(encoding="utf-8")
    kernel.write_text(text.replace("return a if b == c else 0", "return a"), encoding="utf-8")
    assert validate.main(["--only", "f"]) == 1
    shown = capsys.readouterr().out
    lines = shown[shown.index("f(?, ?, ?): not ensures") :].splitlines()
    assert lines[0] == "f(?, ?, ?): not ensures { result = f a b c }"
    assert lines[1].startswith("  input     f(")
    assert lines[2].startswith("  got       ")
    assert lines[3].startswith("validate: FAILED; 1 programs, 1 paths, ")
    with pytest.raises(ToolError, match="g, h: not a program of the kernel"):
        validate.main(["--only", "g", "h"])


def test_a_fault_that_is_not_noticed_fails_and_so_does_a_list_that_is_out_of_date() -> None:
    found = Finding("f", "(?)", "differs")
    planted = [Fault("f", "+", number, 3, "") for number in (1, 2, 3)]
    noticed = list(zip(planted, (found, None, None), strict=True))
    listed = {"f: + 1": "", "f: + 2": "", "g: + 1": ""}
    assert {finding.what for finding in validate.unnoticed(noticed, listed)} == {
        "nothing notices the fault in line 3: f: + 3",
        f"{validated.EQUIVALENT} lists a fault that is noticed: f: + 1",
        f"{validated.EQUIVALENT} lists a fault that is not planted: g: + 1",
    }
    assert list(validate.unnoticed(noticed[:2], {"f: + 2": ""})) == []


def test_each_fault_that_is_none_has_one_reason(tmp_path: Path) -> None:
    assert all(validated.equivalents(ROOT / validated.EQUIVALENT).values())
    listed = tmp_path / "equivalent.toml"
    listed.write_text('equivalent = [["x", "f, g: == to <= 1 2"]]\n', "utf-8")
    faults = {f"{program}: == to <= {number}" for program in "fg" for number in (1, 2)}
    assert validated.equivalents(listed) == dict.fromkeys(faults, "x")
    listed.write_text('equivalent = [["x", "f: - 1 1"]]\n', "utf-8")
    with pytest.raises(ToolError, match="lists a fault twice: f: - 1"):
        validated.equivalents(listed)


def test_the_evidence_shows_a_report_of_these_sources(tree: Path) -> None:
    small_evidence.write(tree)
    page = small_evidence.read(tree / pages.PACK)["index.html"]
    assert "This has not been run on these sources." in page.text
    assert validated.report(tree) is None
    report = {**REPORT, "sources": validated.sources(tree)}
    (tree / validated.REPORT).write_text(json.dumps(report), encoding="utf-8")
    assert validated.report(tree) == report
    small_evidence.write(tree)
    page = small_evidence.read(tree / pages.PACK)["index.html"]
    assert "All 1 programs were proved so by Z3 5." in page.text
    assert "Of 9 faults that were planted in them one by one 7 were noticed; 2 change" in page.text
    row = "f any <integers>; g by its contract 3 4711"
    assert row in " ".join(page.text.split()).replace(" ;", ";")
    times = json.loads((tree / pages.PACK / pages.TIMES).read_text(encoding="utf-8"))
    assert times["validation"] == report
    with (tree / validated.KERNEL).open("a") as kernel:
        kernel.write("#")
    assert validated.report(tree) is None
