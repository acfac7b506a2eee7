"""The evidence says what the gate found, the same in every run, and nothing after a failure."""

from __future__ import annotations

import copy
import dataclasses
import getpass
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import evidence
import gather
import inputs
import lock
import mutants
import pytest
import sources
import theorems
from evidence_pack import FACTS, PACK, ROOT
from evidence_pack import evidence as read_evidence
from evidence_pack import facts as read_facts
from junitparser import JUnitXml, Properties, TestCase

AGAIN = """
import hashlib, json, sys
import evidence, gather, inputs
read = inputs.assemble(inputs.ROOT, json.load(open(sys.argv[1])))
made = evidence.files(read, gather.pack(read))
print(json.dumps({name: hashlib.sha256(made[name]).hexdigest() for name in made}))
"""


# Whatever is asked, without a pack the answer is how to write one.
pytestmark = pytest.mark.usefixtures("written")


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return read_evidence()


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return read_facts()


@pytest.fixture(scope="module")
def claims() -> dict[str, str]:
    listed = theorems.read(ROOT / inputs.THEOREMS, inputs.THEOREMS)
    return {entry.name: entry.sentence for entry in listed.entries}


def leaves(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the recorded proofs of a goal, wherever in its tree they are."""
    yield from node["attempts"]
    for transformation in node["transformations"]:
        for part in transformation["parts"]:
            yield from leaves(part)


def goals_of(found: Any) -> dict[str, dict[str, Any]]:
    return {
        f"{goal['module']}.{goal['goal']}": goal | {"theory": theory["file"]}
        for theory in found["theories"]
        for goal in theory["goals"]
    }


# What evidence.json says


def test_every_goal_is_there_with_its_file_line_statement_provers_and_clauses(
    written: dict[str, Any], found: Any, claims: dict[str, str]
) -> None:
    facts = goals_of(found)
    goals = {goal["name"]: goal for goal in written["goals"]}
    assert goals.keys() == facts.keys() == claims.keys()
    clauses = found["trace"]["clauses"]
    for name, goal in goals.items():
        fact = facts[name]
        proofs = list(leaves(fact["tree"]))
        assert goal["file"] == fact["theory"]
        assert goal["line"] == fact["tree"]["line"] > 0
        assert goal["sentence"] == claims[name]
        assert goal["statement"] == fact["statement"] != ""
        assert goal["kind"] == fact["kind"]
        provers = {(use["name"], use["version"]) for use in goal["provers"]}
        assert provers == {(proof["prover"], proof["version"]) for proof in proofs}
        assert sum(len(part["proofs"]) for part in goal["parts"]) == len(proofs)
        recorded = sum(proof["recorded"]["seconds"] for proof in proofs)
        assert goal["seconds"] == pytest.approx(recorded)
        assert goal["families"] >= 2
        supported = [
            clause["id"]
            for clause in clauses
            if name in {entry["name"] for entry in clause["supporting"]}
        ]
        assert goal["supports"] == supported
        proved = {
            clause["id"]
            for clause in clauses
            if name in {entry["name"] for entry in clause["theorems"]}
        }
        assert proved <= set(goal["clauses"])
        assert goal["clauses"] or goal["supports"]


def test_it_has_the_trace_the_audit_and_the_hypotheses_of_the_gate(
    written: dict[str, Any], found: Any
) -> None:
    for key in ("trace", "hypotheses", "symbols", "library"):
        assert written[key] == found[key] != []
    assert [audit["file"] for audit in written["audit"]] == [a["file"] for a in found["audit"]]
    smoked = {name: goal["smoke"] for name, goal in goals_of(found).items()}
    for goal in written["goals"]:
        expected = smoked[goal["name"]]
        assert goal["smoke"] == (expected and {key: expected[key] for key in ("prover", "answer")})
    assert {bool(goal["smoke"]) for goal in written["goals"]} == {True, False}


def test_it_has_every_tool_and_package_of_the_lock_with_its_hashes(
    written: dict[str, Any],
) -> None:
    locked = lock.read()
    assert [(tool["name"], tool["version"]) for tool in written["tools"]] == [
        (tool.name, tool.version) for tool in locked.tools.values()
    ]
    hashes = [sha256 for tool in written["tools"] for sha256 in tool["files"].values()]
    assert hashes == [sha256 for tool in locked.tools.values() for sha256 in tool.files.values()]
    assert [wheel["sha256"] for wheel in written["packages"]] == [w.sha256 for w in locked.wheels]


def test_it_names_the_python_of_each_operation_without_a_body(written: dict[str, Any]) -> None:
    assert {(entry["name"], entry["python"]) for entry in written["trusted"]} == {
        ("Tuple.ix", "s[i]"),
        ("Tuple.thaw", "list(s)"),
        ("Tuple.freeze", "tuple(a)"),
    }


def test_its_numbers_are_those_of_what_it_lists(written: dict[str, Any], found: Any) -> None:
    numbers = written["summary"]
    facts = goals_of(found)
    assert numbers["goals"] == len(facts)
    assert numbers["proofs"] == sum(len(list(leaves(goal["tree"]))) for goal in facts.values())
    assert numbers["clauses"] == len(found["trace"]["clauses"])
    assert numbers["mutants"] == len(written["mutants"]) >= 60
    assert numbers["axioms_of_ours"] == 0


# The other files


def test_junit_has_a_suite_for_each_theory_and_a_case_for_each_goal(
    written: dict[str, Any],
) -> None:
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(PACK / "junit.xml"))}
    assert suites.keys() == {goal["file"] for goal in written["goals"]}
    for file, suite in suites.items():
        cases = {f"{case.classname.rpartition('/')[2]}.{case.name}": case for case in suite}
        goals = {goal["name"]: goal for goal in written["goals"] if goal["file"] == file}
        assert suite.tests == len(cases)
        assert (suite.failures, suite.errors, suite.skipped) == (0, 0, 0)
        assert cases.keys() == goals.keys()
        for name, case in cases.items():
            assert case.classname.startswith(f"{file}/")
            assert case.time == pytest.approx(goals[name]["seconds"])
            assert properties(case)["clause"] == " ".join(goals[name]["clauses"])


def properties(case: TestCase) -> dict[str, str]:
    listed = case.child(Properties)  # type: ignore[no-untyped-call]
    assert listed is not None
    return {entry.name: entry.value for entry in listed}


def test_the_manifest_is_of_every_file_but_itself_and_the_times() -> None:
    check = ["sha256sum", "--check", "--strict", "--quiet", "MANIFEST.sha256"]
    assert subprocess.run(check, cwd=PACK, capture_output=True, check=False).returncode == 0
    lines = (PACK / "MANIFEST.sha256").read_text(encoding="utf-8").splitlines()
    there = {path.relative_to(PACK).as_posix() for path in PACK.rglob("*") if path.is_file()}
    assert {line.partition("  ")[2] for line in lines} == there - {"MANIFEST.sha256", "times.json"}


def test_a_file_that_is_not_the_one_of_the_manifest_is_noticed(tmp_path: Path) -> None:
    copied = tmp_path / "evidence"
    shutil.copytree(PACK, copied)
    with (copied / "proofs" / "shape.html").open("a", encoding="utf-8") as file:
        file.write(" ")
    check = ["sha256sum", "--check", "--strict", "--quiet", "MANIFEST.sha256"]
    run = subprocess.run(check, cwd=copied, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "proofs/shape.html: FAILED" in run.stdout


# Absolute paths: not after a letter, a dot or the end of a tag.
ABSOLUTE = re.compile(r"(?<![\w.<>/:\\-])/(?:[\w.+-]+/)+[\w.+-]+")


def test_no_file_names_a_place_a_user_or_a_machine() -> None:
    locked = {str(file) for tool in lock.read().tools.values() for file in tool.files}
    names = {getpass.getuser(), socket.gethostname()} - {"root"}
    for path in sorted(PACK.rglob("*")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            assert str(ROOT) not in text, path
            assert set(ABSOLUTE.findall(text)) <= locked, path
            assert not [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)], path


# The same bytes


def altered(found: Any) -> dict[str, Any]:
    """Give facts as another run has them: other proofs replayed, and everything slower."""
    other: dict[str, Any] = copy.deepcopy(found)
    for goal in goals_of(other).values():
        if goal["smoke"]:
            goal["smoke"]["seconds"] += 1.5
        for attempt in leaves(goal["tree"]):
            attempt["chosen"] = not attempt["chosen"]
            attempt["replayed"] = {"answer": "Valid", "seconds": 7.25}
    return other


def test_two_runs_give_the_same_bytes(found: Any, tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text(json.dumps(altered(found)), encoding="utf-8")
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", AGAIN, str(read)],
            env=os.environ
            | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "proofs" / "evidence")},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed, read in (("1", facts), ("2", FACTS))
    ]
    hashes = [json.loads(run.communicate()[0]) for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) > len(found["theories"])


# Refusals


def passed(**changes: Any) -> dict[str, Any]:
    """Give facts that `inputs.read_facts` accepts on an empty tree."""
    return {"passed": True, "failures": [], "theories": [], **changes}


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    """Write facts into an otherwise empty tree."""

    def with_facts(facts: dict[str, Any]) -> Path:
        path = tmp_path / inputs.FACTS
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"sources": sources.digest(tmp_path), **facts}))
        return tmp_path

    return with_facts


def test_facts_of_a_gate_that_passed_are_taken(tree: Callable[[dict[str, Any]], Path]) -> None:
    assert inputs.read_facts(tree(passed()))["theories"] == []


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"passed": False, "failures": [{}, {}]}, "the gate failed, with 2 failures listed"),
        ({"sources": "0" * 64}, "is about other sources than those that are here"),
    ],
)
def test_facts_of_a_failed_or_a_stale_gate_are_refused(
    tree: Callable[[dict[str, Any]], Path], changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(inputs.RefusalError, match=complaint):
        inputs.read_facts(tree(passed(**changes)))


@pytest.mark.parametrize("key", inputs.FACT_KEYS)
def test_facts_that_lack_something_are_refused(found: Any, key: str) -> None:
    less: Any = {name: value for name, value in found.items() if name != key}
    with pytest.raises(inputs.RefusalError, match=f"has no `{key}`: it was written by another"):
        inputs.assemble(ROOT, less)


@pytest.mark.parametrize("key", inputs.GOAL_KEYS[2:])
def test_a_goal_that_lacks_something_is_refused(found: Any, key: str) -> None:
    facts: Any = copy.deepcopy(found)
    goal = facts["theories"][0]["goals"][0]
    del goal[key]
    with pytest.raises(inputs.RefusalError, match=f"{goal['goal']} has no `{key}`"):
        inputs.assemble(ROOT, facts)


def test_facts_without_smoke_detection_are_refused(found: Any) -> None:
    facts: Any = copy.deepcopy(found)
    goals = [goal for theory in facts["theories"] for goal in theory["goals"]]
    next(goal for goal in goals if goal["hypotheses"])["smoke"] = None
    with pytest.raises(inputs.RefusalError, match="no answer of smoke detection: the gate ran"):
        inputs.assemble(ROOT, facts)


def test_facts_about_some_theories_are_refused(found: Any) -> None:
    some = found | {"theories": [t for t in found["theories"] if t["file"] != "why3/shape.mlw"]}
    # The gate traces nothing then.
    del some["trace"]
    with pytest.raises(inputs.RefusalError, match=r"says nothing about why3/shape\.mlw: the gate"):
        inputs.assemble(ROOT, some)


def test_the_command_writes_nothing_where_the_gate_failed(tmp_path: Path) -> None:
    for name in ("evidence", "gate", "mutants", "provers"):
        shutil.copytree(ROOT / "proofs" / name, tmp_path / "proofs" / name)
    command = [sys.executable, str(tmp_path / "proofs" / "evidence" / "evidence.py")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == (
        "evidence: refused: build/gate/facts.json is missing: the gate has not run "
        "(`make` runs it)\n"
    )
    facts = tmp_path / inputs.FACTS
    facts.parent.mkdir(parents=True)
    facts.write_text(json.dumps({"passed": False, "failures": [{}]}))
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.startswith("evidence: refused: the gate failed, with 1 failures listed in ")
    assert not (tmp_path / evidence.PACK).exists()


# Mutants


def test_only_a_report_of_mutants_of_these_sources_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "sources_hash", lambda: "these")
    report = tmp_path / mutants.REPORT
    assert inputs.read_results(tmp_path) is None
    report.parent.mkdir(parents=True)
    report.write_text(json.dumps({"sources": "others", "results": []}))
    assert inputs.read_results(tmp_path) is None
    result = mutants.Result("m", "why3/m.mlw", 3, "less", mutants.KILLED, "M.less", "", 0.5)
    report.write_text(json.dumps({"sources": "these", "results": [dataclasses.asdict(result)]}))
    assert inputs.read_results(tmp_path) == [result]


def test_the_page_says_whether_mutants_were_run(written: dict[str, Any]) -> None:
    page = (PACK / "index.html").read_text(encoding="utf-8")
    assert ("have not been run on these sources" in page) == (not written["mutants_run"])
    run = [mutant["verdict"] != gather.NOT_RUN for mutant in written["mutants"]]
    assert run == [written["mutants_run"]] * len(run)


def test_a_report_that_lacks_a_mutant_is_refused(found: Any) -> None:
    read = inputs.assemble(ROOT, found)
    entry = read.mutants[0]
    with pytest.raises(inputs.RefusalError, match=f"has 0 results of {entry.id}, expected 1"):
        gather.result_of(entry, [])
    result = mutants.Result(
        entry.id, entry.file, 1, entry.what, mutants.KILLED, entry.goal, "", 0.5
    )
    assert gather.result_of(entry, [result]) == result


def test_the_hashes_of_the_manifest_are_of_the_bytes() -> None:
    made = {"b": b"2", "a": b"1"}
    expected = "".join(f"{hashlib.sha256(made[name]).hexdigest()}  {name}\n" for name in "ab")
    assert evidence.manifest(made) == expected.encode()
