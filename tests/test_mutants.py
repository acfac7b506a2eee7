"""The list of mutants is well formed, a sample of them is killed, and a mutant can survive.

All of them run with `make mutants`. What the runner says of mutants that nothing notices is tried
on a small theory of its own, with the real runner, gate and provers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import mutants
import prooftool
import pytest

ROOT = prooftool.ROOT
MUTANTS = mutants.read()

SAMPLE_SIZE = 8
SAMPLE_SEED = 3

THEORY = """\
module Small

  use int.Int

  (** The double of 3 is 6. *)
  function double (x: int) : int = x + x

  (** The half that nobody speaks of. *)
  function idle (x: int) : int = x

  lemma double_positive: forall y. 0 < y -> 0 < double y

  lemma double_even: forall y. double y = 2 * y

end
"""

TRUSTED = "module Tuple\n  use int.Int\n  function unit : int = 0\nend\n"

THEOREMS = """\
# small.mlw
Small.double_positive  The double of a positive number is positive.
Small.double_even      A double is twice a number.
"""

LIST = """\
[[mutant]]
id = "triple"
file = "why3/small.mlw"
old = "= x + x"
new = "= x + x + x"
what = "The double is the triple."
goal = "Small.double_even"

[[mutant]]
id = "other-hint"
file = "why3/small.mlw"
old = "= x + x"
new = "= x + x + x"
what = "The double is the triple, which keeps it positive."
goal = "Small.double_positive"

[[mutant]]
id = "bound-variable"
file = "why3/small.mlw"
old = "double_positive: forall y. 0 < y -> 0 < double y"
new = "double_positive: forall z. 0 < z -> 0 < double z"
what = "Nothing is wrong."
goal = "Small.double_positive"

[[mutant]]
id = "comment"
file = "why3/small.mlw"
old = "The double of 3 is 6."
new = "The double of 3 is 7."
what = "Only the comment is wrong."
goal = "Small.double_even"

[[mutant]]
id = "idle"
file = "why3/small.mlw"
old = "function idle (x: int) : int = x"
new = "function idle (x: int) : int = x + 1"
what = "A definition is changed that no theorem speaks of."
goal = "Small.double_even"

[[mutant]]
id = "untyped"
file = "why3/small.mlw"
old = "= x + x"
new = "= x = x"
what = "The double is a truth value."
"""


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a tree's own runner."""
    return subprocess.run(
        [sys.executable, str(tree / "proofs" / "mutants" / "mutants.py"), *arguments],
        cwd=tree,
        env={**os.environ, "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a tree of one theory, with its session and a list of mutants."""
    prooftool.build()
    tree = tmp_path_factory.mktemp("mutants") / "small"
    for part in ("proofs/gate", "proofs/provers", "proofs/mutants"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tree / part, ignore=ignored)
    (tree / "why3" / "trusted").mkdir(parents=True)
    (tree / "why3" / "small.mlw").write_text(THEORY, encoding="utf-8")
    (tree / "why3" / "trusted" / "python.mlw").write_text(TRUSTED, encoding="utf-8")
    (tree / "proofs" / "theorems.txt").write_text(THEOREMS, encoding="utf-8")
    (tree / "proofs" / "mutants" / "mutants.toml").write_text(LIST, encoding="utf-8")
    (tree / "build" / "gate").mkdir(parents=True)
    for name in ("why3.conf", "provers"):
        (tree / "build" / name).symlink_to(ROOT / "build" / name)
    for path in prooftool.BUILD.glob("whygate*"):
        shutil.copy2(path, tree / "build" / "gate")
    update = [sys.executable, str(tree / "proofs" / "gate" / "gate.py"), "--update", "--quick"]
    proved = subprocess.run(update, cwd=tree, capture_output=True, text=True, check=False)
    assert proved.returncode == 0, proved.stdout + proved.stderr
    return tree


@pytest.fixture(scope="session")
def all_of_small(small: Path) -> subprocess.CompletedProcess[str]:
    """Run all mutants of the small tree."""
    return run(small)


# --- the list ---------------------------------------------------------------------------------


def test_the_list_is_well_formed() -> None:
    assert [str(fault) for fault in mutants.list_faults(MUTANTS)] == []


def test_the_list_is_about_every_concept() -> None:
    """Every theory is changed but those that only prove, show examples or are witnesses."""
    changed = {mutant.file for mutant in MUTANTS}
    names = (
        r"clauses|kernel_(laws|verdicts)|numpy_order|reports|ring_row_major|\w*examples|witness_\w+"
    )
    proving = re.compile(rf"why3/({names}|trusted/python)\.mlw")
    files = {file for file in prooftool.theory_files() if not proving.fullmatch(file)}
    assert sorted(files - changed) == []
    assert len(MUTANTS) >= 60


def faults_of(mutant: mutants.Mutant) -> list[str]:
    """Give what is said of a list of one mutant."""
    return [fault.what for fault in mutants.list_faults([mutant])]


def test_a_faulty_entry_is_named() -> None:
    first = MUTANTS[0]
    assert faults_of(replace(first, old="no such text")) == [
        f"changes a text that occurs 0 times in {first.file}, expected once"
    ]
    assert faults_of(replace(first, file="why3/no_such.mlw")) == [
        "changes a text that occurs 0 times in why3/no_such.mlw, expected once"
    ]
    assert faults_of(replace(first, new=first.old)) == ["changes nothing"]
    assert faults_of(replace(first, what="")) == ["has no sentence that says what is wrong with it"]
    assert faults_of(replace(first, goal="Shape.no_such")) == [
        "is to be noticed by Shape.no_such, which proofs/theorems.txt does not list"
    ]
    twice = [str(fault) for fault in mutants.list_faults([first, first])]
    assert twice == [f"proofs/mutants/mutants.toml: {first.id} is listed twice"]


# --- the sample -------------------------------------------------------------------------------


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    chosen = mutants.sample(MUTANTS, SAMPLE_SIZE, SAMPLE_SEED)
    assert chosen == mutants.sample(MUTANTS, SAMPLE_SIZE, SAMPLE_SEED)
    assert chosen != mutants.sample(MUTANTS, SAMPLE_SIZE, SAMPLE_SEED + 1)
    assert max(Counter(mutant.file for mutant in chosen).values()) == 1


def test_a_sample_is_killed_by_the_goals_that_the_list_names() -> None:
    chosen = mutants.sample(MUTANTS, SAMPLE_SIZE, SAMPLE_SEED)
    results = mutants.run_all(chosen, lambda result: None)
    assert [str(fault) for fault in mutants.unexpected(chosen, results)] == []
    assert [result.id for result in results] == [mutant.id for mutant in chosen]


# --- the runner, on a small tree --------------------------------------------------------------


def test_verdicts(all_of_small: subprocess.CompletedProcess[str], small: Path) -> None:
    assert all_of_small.returncode == 1, all_of_small.stdout + all_of_small.stderr
    report = json.loads((small / "build" / "mutants.json").read_text(encoding="utf-8"))
    found = [(entry["id"], entry["verdict"], entry["goal"]) for entry in report["results"]]
    assert found == [
        ("triple", "killed", "Small.double_even"),
        ("other-hint", "killed", "Small.double_even"),
        ("bound-variable", "survived", None),
        ("comment", "survived", None),
        ("idle", "survived", None),
        ("untyped", "does not type-check", None),
    ]
    places = {entry["id"]: (entry["file"], entry["line"]) for entry in report["results"]}
    assert places["triple"] == ("why3/small.mlw", 6)
    parts = {entry["id"]: entry["part"] for entry in report["results"]}
    assert parts["triple"] == "why3/small.mlw:13"
    assert parts["untyped"].startswith("why3/small.mlw:6: ")


def test_survivors_are_named(all_of_small: subprocess.CompletedProcess[str]) -> None:
    printed = all_of_small.stdout
    for name, line in (("bound-variable", 11), ("comment", 5), ("idle", 9)):
        assert f"why3/small.mlw:{line}: {name} survived: no goal depends on what it" in printed
    assert "mutants: FAILED; 6 of 6" in printed


def test_a_goal_that_does_not_notice_is_named(
    all_of_small: subprocess.CompletedProcess[str],
) -> None:
    assert (
        "other-hint is not noticed by Small.double_positive, as proofs/mutants/mutants.toml has it,"
        " but by Small.double_even" in all_of_small.stdout
    )


def test_nothing_but_the_report_is_left(
    all_of_small: subprocess.CompletedProcess[str], small: Path
) -> None:
    assert all_of_small.returncode == 1
    assert list((small / "build" / "mutants").iterdir()) == []
    assert (small / "why3" / "small.mlw").read_text(encoding="utf-8") == THEORY
    rows = (small / "build" / "mutants.txt").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 2 + 6
    assert re.fullmatch(
        r"\| idle \| why3/small\.mlw:9 \| A definition .*\. \| nothing: SURVIVED \| .*", rows[6]
    )


def test_a_choice_writes_no_report(small: Path, tmp_path: Path) -> None:
    tree = Path(shutil.copytree(small, tmp_path / "small", symlinks=True))
    (tree / "build" / "mutants.json").unlink(missing_ok=True)
    chosen = run(tree, "--only", "triple")
    assert chosen.returncode == 0, chosen.stdout + chosen.stderr
    assert "mutants: all killed; 1 of 6" in chosen.stdout
    assert not (tree / "build" / "mutants.json").exists()
    unknown = run(tree, "--only", "triples")
    assert (unknown.returncode, unknown.stderr) == (
        1,
        "proofs/mutants/mutants.toml has no mutant triples\n",
    )


def test_no_report_of_sources_that_have_changed() -> None:
    report = ROOT / mutants.REPORT
    before = report.read_bytes() if report.exists() else None
    failures = [str(failure) for failure in mutants.save("of other sources", [])]
    assert failures == [
        "build/mutants.json: is not written: a theory or the list has changed meanwhile"
    ]
    assert (report.read_bytes() if report.exists() else None) == before


def test_an_interruption_leaves_nothing(small: Path, tmp_path: Path) -> None:
    tree = Path(shutil.copytree(small, tmp_path / "small", symlinks=True))
    command = [sys.executable, str(tree / "proofs" / "mutants" / "mutants.py")]
    with subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE) as process:
        waited = 0.0
        while not list(tree.glob("build/mutants/*/why3")) and waited < 60:
            time.sleep(0.05)
            waited += 0.05
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 130
    assert list((tree / "build" / "mutants").iterdir()) == []
    running = [Path(entry) for entry in Path("/proc").glob("[0-9]*/cwd")]
    inside = [str(tree) for link in running if is_inside(link, tree)]
    assert inside == []


def is_inside(link: Path, tree: Path) -> bool:
    """Tell whether a process works in a tree; one that has ended does not."""
    try:
        return link.readlink().is_relative_to(tree)
    except OSError:
        return False
