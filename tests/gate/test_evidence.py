"""The evidence agrees with the facts; the same sources give the same evidence."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import small_evidence
import yaml
from small_evidence import MEAN
from test_archive import GIT

from evidence import argument, assessment, doc, mutants, needs, pack, records
from evidence.graph import Graph
from gate import closed
from gate.closed import ROOT, ToolError


def text(name: str, root: Path) -> str:
    """Render a text of the evidence for a small tree, as one line."""
    known = needs.known(small_evidence.evidence(root))
    made = doc.environment(ROOT / doc.TEXTS, **known, papers={}, rooms=[], version="9")
    return " ".join(made.get_template(f"evidence/{name}.md").render().split())


def contents(made: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in made.iterdir() if path.name != pack.TIMES}


def checked(listed: Path, within: Path) -> str:
    command = ["sha256sum", "--check", "--strict", "--quiet", str(listed)]
    return subprocess.run(command, cwd=within, capture_output=True, text=True, check=False).stdout


def test_a_clause_has_what_belongs_to_it_or_a_reason(tmp_path: Path) -> None:
    made = needs.pages(small_evidence.evidence(tmp_path), {small_evidence.SHAPE: ("Shapes", "")})
    first, second = made["evidence/text-text"].split("::::::{clause} ")[1:]
    options = [line[1:].split(": ", 1) for line in first.splitlines()[1:9]]
    assert {name: json.loads(value) for name, value in options} == {
        **{"id": "E_Small_010", "text": "Text", "says": f"'As' E_Small_020 {MEAN}"},
        **{"status": "proved", "settled": "Shape-infix203c26", "proved": "Shape-more"},
        **{"implemented": "Shape-same", "tested": "tests-test_a-py--test_a"},
    }
    assert "Theorem {need}`Shape-more`: A successor is larger." in first
    assert ':status: "reason"' in second
    assert "No theorem: {need}`E_Small_010`" in second
    theory = made["theories/core.shape"]
    assert 'uses: "Shape-long, Shape-more, Why3-int-Int-Compat, Tuple-ix"\n' in theory
    assert ':rests: "Why3-int-Int-Compat"\n' in theory
    assert "def test_a(): assert " in text("tests", tmp_path)
    said = text("registers", tmp_path)
    assert ':id: "R7" ' in said
    assert "::::::{problem} P1: a defect " in said
    assert ':status: "closed"' in said


@pytest.mark.parametrize("field", ["tested", "rests"])
def test_an_export_that_says_something_else_is_refused(tmp_path: Path, field: str) -> None:
    evidence, file = small_evidence.evidence(tmp_path), tmp_path / "needs.json"
    found = {ident: links | {"id": ident} for ident, links in evidence.links.items()}
    version = {"needs_schema": {"properties": {"id": {"type": "string"}}}, "needs": found}
    told = {"project": "small", "current_version": "1", "versions": {"1": version}}
    file.write_text(json.dumps(told))
    needs.read_back(file, evidence)
    name = next(name for name, links in found.items() if links.get(field))
    found[name][field] = ["E_Small_020"]
    file.write_text(json.dumps(told))
    with pytest.raises(ToolError, match=f"{name}: {field} is not as the facts have it"):
        needs.read_back(file, evidence)


def test_a_document_leads_to_what_it_names_and_its_words_stay_words(tmp_path: Path) -> None:
    evidence, theory = small_evidence.evidence(tmp_path), "../why3/core/shape.mlw"
    text = f"[`Shape.same`]({theory}) [`Shape.no`]({theory}#a) [b](B.md) [c](#c)"
    (tmp_path / "proofs/A.md").write_text(text, encoding="utf-8")
    expected = "{need}`Shape-same` [`Shape.no`](/theories/core.shape.md#a) b [c](#c)"
    assert doc.document(tmp_path, evidence, "proofs/A.md") == expected
    escaped = "a\\|b `c\\|d` {need}`E_Small_010` E\\_x \\<i\\>\\*"
    assert evidence.prose("a|b `c|d` E_Small_010 E_x <i>*") == escaped


def test_requirements_of_the_c_lead_to_functions_tests_and_proofs(tmp_path: Path) -> None:
    said = text("requirements", tmp_path)
    assert "1 high-level and 1 low-level requirements, with 1 goals" in said
    assert "Contract: {need}`Shape-same`. Clauses: {need}`E_Small_010`." in said
    assert f"A number. {MEAN} Twice." in said
    assert "by proof alone" in said


def test_c_without_requirement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orphan = small_evidence.FILES["c/whycast.c"].replace("Shape.same", "Shape.long")
    monkeypatch.setitem(small_evidence.FILES, "c/whycast.c", orphan)
    with pytest.raises(ToolError, match="whycast_same: no goal"):
        text("requirements", tmp_path)


def test_signatures_of_other_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "| `header.whycast_same` | 2026-11-25 | | "
    assert f"{row}A. Reviewer, 2027-01-31, of an earlier text |" in text("reviews", tmp_path)
    signed = f'"header.whycast_same" = ["{64 * "0"} {64 * "1"}", "A.", "2027-02-01"]'
    monkeypatch.setitem(small_evidence.FILES, "proofs/signatures.toml", signed)
    assert f"{row}A., 2027-02-01 |" in text("reviews", tmp_path)
    monkeypatch.setitem(small_evidence.FILES, "proofs/signatures.toml", '"header.x" = ["", "", ""]')
    with pytest.raises(ToolError, match=r"header\.x: nobody has to sign it"):
        text("reviews", tmp_path)


def test_lanes_show_their_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unclaimed = ":level: TI2; TD and TCL need cross"
    assert "on a big-endian one | not run yet |" in text("lanes", tmp_path)
    assert unclaimed in text("tools", tmp_path)
    monkeypatch.setattr(records, "ROOT", tmp_path)
    command = [sys.executable, "-c", f"print(1); print({MEAN!r}); raise SystemExit(3)"]
    assert records.main(["cross", *command]) == 3
    said = text("lanes", tmp_path)
    assert re.search(r"#cross\) FAILED on 20\S+, on these sources", said)
    assert f"exit code 3, sources `{records.identity(tmp_path)}`. `````````text 1 {MEAN}" in said
    assert unclaimed in text("tools", tmp_path)
    assert records.main(["cross", sys.executable, "-c", ""]) == 0
    # The claim for a tool depends on the lanes that its row names.
    assert ":level: TI2, TD1, TCL1" in text("tools", tmp_path)
    assert unclaimed not in text("tools", tmp_path)
    assert re.search(r"\b1 of 10 \[longer runs\]\(\S+\) have", text("assessment", tmp_path))
    with pytest.raises(ToolError, match="else: expected one of validate, "):
        records.main(["else", "true"])


def test_a_clone_shows_the_last_run_of_a_lane_and_how_many_commits_later_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit() -> None:
        for words in (("add", "proofs", "why3"), ("commit", "-qm", "a")):
            subprocess.run([*GIT, *words], cwd=tmp_path, check=True)

    monkeypatch.setattr(records, "ROOT", tmp_path)
    small_evidence.write(tmp_path)
    subprocess.run([*GIT, "init", "-q"], cwd=tmp_path, check=True)
    commit()
    assert records.main(["cross", sys.executable, "-c", "print(1); print(2)"]) == 0
    (tmp_path / records.KEPT).unlink()
    assert records.main([]) == 0
    shutil.rmtree(tmp_path / records.FOLDER)
    commit()
    said = text("lanes", tmp_path)
    assert re.search(r", on these sources, \d+ s, exit code 0, .*`````````text 2 ", said)
    monkeypatch.setitem(small_evidence.FILES, "why3/other.mlw", "module Other end")
    assert "(other sources than these, " not in text("lanes", tmp_path)
    commit()
    assert "(2 commits before these, " in text("lanes", tmp_path)
    kept = (tmp_path / records.KEPT).read_text().replace('"commit": "', '"commit": "0000000')
    (tmp_path / records.KEPT).write_text(kept)
    assert "(other sources than these, 0000000" in text("lanes", tmp_path)


def test_the_argument_rests_on_each_belief_of_the_c_and_is_exported(tmp_path: Path) -> None:
    known = needs.known(small_evidence.evidence(tmp_path)) | {"beliefs": assessment.beliefs(ROOT)}
    made = argument.argument(known)
    rows = known["beliefs"].values()
    headings = [*argument.PAGES, argument.PACKAGE, argument.CALLER]
    assert [*dict.fromkeys(row.heading for row in rows)] == headings
    used = {f"A{row.id[1:]}" for row in rows if row.heading != argument.PACKAGE}
    assert {name for name in made if name[0] == "A"} == used
    told = yaml.safe_load(argument.written(made))
    assert {n: each["text"] for n, each in told.items()} == {n: e.text for n, e in made.items()}
    keys = ("supportedBy", "inContextOf")
    below = [name for each in told.values() for key in keys for name in each.get(key, ())]
    assert sorted([*below, "G1"]) == sorted(told)
    assert "- [**Sn1** [make cross: not run yet](lanes.md)]{.solution}" in text(
        "argument", tmp_path
    )


def test_each_tool_has_its_row_in_soundness_and_each_lane_runs_at_night(tmp_path: Path) -> None:
    rows = assessment.beliefs(ROOT)
    said = (ROOT / "proofs/SOUNDNESS.md").read_text(encoding="utf-8")
    assert list(rows) == re.findall(r"^\| (R\d+) ", said, re.MULTILINE)
    cited = re.findall(r":believed: (R\d+)", text("tools", tmp_path))
    assert len(cited) == len({*cited}) > 0
    assert {*cited} <= rows.keys()
    lanes = {lane for row in rows.values() for lane in row.lanes()}
    assert lanes == records.LANES.keys()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\nnightly: {' '.join(records.LANES)} all\n" in makefile


def test_mutants_are_shown_with_what_became_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "ROOT", tmp_path)
    assert text("mutants", tmp_path).endswith("(/evidence/lanes.md) not run yet.")
    results = [
        {"id": "core/shape.mlw one: [-0-]{+1+}", "verdict": "killed", "goal": "Shape.more"},
        {"id": "core/shape.mlw two: [-<-]{+<=+}", "verdict": "survived", "goal": None},
    ]
    report = json.dumps({"results": results})
    writing = f"open({str(tmp_path / mutants.REPORT)!r}, 'w').write({report!r})"
    assert records.main(["mutants", sys.executable, "-c", writing]) == 0
    said = text("mutants", tmp_path)
    assert "|---|---| | `core/shape.mlw one: [-0-]{+1+}` | {need}`Shape-more` |" in said
    assert said.endswith("| survived |")


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    made = contents(small_evidence.write(tmp_path))
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, small_evidence.__file__, str(tmp_path)]
    subprocess.run(command, env=environment, check=True)
    assert contents(tmp_path / pack.PACK) == made
    assert contents(small_evidence.write(tmp_path, seconds=7.5, kept=True)) == made
    now = json.loads((tmp_path / pack.PACK / pack.TIMES).read_text())["proofs"][0]["now"]
    assert now == {"answer": "Valid", "seconds": 7.5, "kept": True}


def test_the_lists_of_hashes_are_of_all_files_and_right(tmp_path: Path) -> None:
    made = small_evidence.write(tmp_path)
    for name, within, wanted in (
        (pack.SOURCES, tmp_path, small_evidence.FILES.keys()),
        (pack.MANIFEST, made, contents(made).keys() - {pack.MANIFEST}),
    ):
        lines = (made / name).read_text().splitlines()
        assert {line.partition("  ")[2] for line in lines} == wanted
        assert checked(made / name, within) == ""
        changed = min(wanted)
        (within / changed).write_text("something else")
        assert checked(made / name, within) == f"{changed}: FAILED\n"


def test_evidence_needs_a_gate_that_has_passed_and_a_claim_for_each_goal(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no gate has passed here: run make"):
        pack.told(tmp_path)
    told = small_evidence.told(tmp_path)
    with pytest.raises(ToolError, match=r"Shape\.same'vc: of no symbol, or without a claim"):
        needs.Evidence({**told, "claims": {"Shape.more": "A successor is larger."}}, tmp_path)
    assert needs.Evidence(told, tmp_path).is_current
    assert not needs.Evidence({**told, "sources": closed.sources(ROOT)}, tmp_path).is_current


SAME, MORE, LONG = (f"core.shape.Shape.{name}" for name in ("same", "more", "long"))
VAL = "kernel.trusted.Tuple.ix"


@pytest.fixture
def facts(tmp_path: Path) -> Any:
    return small_evidence.facts(tmp_path)


def test_a_goal_uses_what_its_proof_names_and_what_its_program_calls(facts: Any) -> None:
    graph = Graph(facts)
    assert graph.uses == {SAME: [LONG, MORE, "int.Int.Compat", "int.Int.infix +", VAL], MORE: []}
    assert {name: users for name, users in graph.users.items() if name != "int.Int.infix +"} == {
        name: [SAME] for name in (LONG, MORE, "int.Int.Compat", VAL)
    }
    assert graph.assumed() == {"int.Int.Compat": 1}
    assert graph.whole == {MORE}


def test_the_way_to_an_assumption_is_a_shortest_one(facts: Any) -> None:
    symbols = [small_evidence.symbol(name, "theorem", 1) for name in "abcd"]
    facts["symbols"] += symbols
    graph = Graph(facts)
    a, b, c, d = (f"core.shape.Shape.{name}" for name in "abcd")
    graph.uses |= {a: [b, d], b: [c], c: [d, "int.Int.Assoc"], d: [a, "int.Int.Compat"]}
    assert graph.chains([a]) == [[a, b, c, "int.Int.Assoc"], [a, d, "int.Int.Compat"]]
    assert graph.chains([MORE]) == []
    symbols[0]["template"] = SAME
    assert Graph(facts).uses[a] == [SAME]


def test_a_lemma_that_nothing_uses(facts: Any) -> None:
    facts["symbols"].append({**small_evidence.symbol("idle", "lemma", 1), "goal": "idle"})
    assert Graph(facts).unused(facts) == ["core.shape.Shape.idle"]
    clause = facts["trace"]["clauses"][1]
    clause["theorems"] = [{"name": "Shape.idle", "place": small_evidence.SHAPE}]
    assert Graph(facts).unused(facts) == []
    clause["theorems"] = []
    facts["hypotheses"][0]["satisfied_by"] = "Shape.idle"
    assert Graph(facts).unused(facts) == []
