"""The kit for SONNX's working group: its theories differ from ours only in uses and tags."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evidence import kit
from gate.closed import ROOT

NAMES = [f"{name}.mlw" for name in kit.THEORIES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sonnx")
    kit.write(made)
    return made


@pytest.mark.parametrize("name", NAMES)
def test_theories_differ_by_uses_and_tags_alone(folder: Path, name: str) -> None:
    """[E_Broadcast_any_Derived_680] [E_Broadcast_any_Derived_690]"""
    ours = (ROOT / "why3/group" / name).read_text(encoding="utf-8").splitlines()
    theirs = (folder / kit.FORMAL / name).read_text(encoding="utf-8").splitlines()
    table = (folder / kit.INFORMAL / "tags.md").read_text(encoding="utf-8")
    tag_of = {b: a for a, b in re.findall(r"^\| `(\w+)` \| `(\w+)` \|", table, re.MULTILINE)}
    assert len({*tag_of.values()}) == len(tag_of)
    for one, other in zip(ours, theirs, strict=True):
        if re.match("  use (export )?group", one):
            assert re.fullmatch(r"  use export (tensor\.tensor|broadcast)\.\w+", other)
            assert one.rpartition(".")[2] == other.rpartition(".")[2]
        else:
            for tag in re.findall(r"E_\w+_\d{3}\b", one):
                one = one.replace(tag, tag_of[tag])
            assert one == other


def test_theories_have_types_over_the_stand_in(folder: Path, tmp_path: Path) -> None:
    library = tmp_path / "libs/tensor"
    library.mkdir(parents=True)
    text = (ROOT / "why3/group/tensor.mlw").read_text(encoding="utf-8")
    # Like int.Int, the group's module defines a `zero`.
    text = text.removesuffix("end\n") + "  function zero (e: 'a) : 'a = e\n\nend\n"
    (library / "tensor.mlw").write_text(text, encoding="utf-8")
    for name in NAMES:
        command = ["why3", "prove", "-L", str(library.parent), "-L", ".", "--type-only", name]
        subprocess.run(command, cwd=folder / kit.FORMAL, check=True)


def test_report_has_each_finding(folder: Path) -> None:
    report = (folder / "REPORT.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (F\d+) \|", report, re.MULTILINE) == [f"F{n}" for n in range(1, 22)]
    assert "ONNX Runtime's Where adds" in report
    wording = (folder / kit.INFORMAL / "wording.md").read_text(encoding="utf-8")
    assert "E1 if two of them that are not 1 differ" in wording


OURS = ("np.broadcast_arrays(", "__import__('whycast').numpy_rule.broadcast_arrays(")


@pytest.mark.parametrize("fault", [None, OURS, ("else 0", "else i"), ("b == c", "c != 1")])
def test_tests_notice_a_wrong_program(
    folder: Path, tmp_path: Path, fault: tuple[str, str] | None
) -> None:
    """The kit's tests pass, also with our function; a fault in their reading of f fails them."""
    shutil.copytree(folder / kit.TESTS, tmp_path, dirs_exist_ok=True)
    tests = tmp_path / "test_broadcast.py"
    text = tests.read_text(encoding="utf-8")
    tests.write_text(text if fault is None else text.replace(*fault), encoding="utf-8")
    run = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider", "."]
    failed = subprocess.run(run, cwd=tmp_path, stdout=subprocess.PIPE, check=False)
    assert failed.returncode == (fault not in {None, OURS}), failed.stdout.decode()
    if fault is None:
        subprocess.run([sys.executable, "check_edges.py"], cwd=tmp_path, check=True)
        data = json.loads((tmp_path / "generated_data.json").read_text(encoding="utf-8"))
        del data["drawn"]["scalar"]
        (tmp_path / "generated_data.json").write_text(json.dumps(data), encoding="utf-8")
        lost = subprocess.run(
            [sys.executable, "check_edges.py"], cwd=tmp_path, stdout=subprocess.PIPE
        )
        assert lost.returncode == 1
        assert b"class scalar" in lost.stdout
