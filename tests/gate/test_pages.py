"""The evidence says what the facts say, leads everywhere, and is the same for the same sources."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
import small_evidence
from small_evidence import MEAN, Page

from evidence import assessment, documents, pages, records
from gate import closed, toolchain
from gate.closed import ToolError

SHAPE = "proofs/core.shape.html"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tree")
    small_evidence.write(made)
    return made


@pytest.fixture(scope="module")
def read(root: Path) -> dict[str, Page]:
    return small_evidence.read(root / pages.PACK)


def contents(pack: Path) -> dict[str, bytes]:
    """Give all files but the one that no two runs have in common."""
    files = {path.relative_to(pack).as_posix(): path for path in pack.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name != pages.TIMES}


def checked(listed: Path, within: Path) -> str:
    """Give what `sha256sum` has to say against a list of hashes."""
    command = ["sha256sum", "--check", "--strict", "--quiet", str(listed)]
    return subprocess.run(command, cwd=within, capture_output=True, text=True, check=False).stdout


def shown(page: Page, text: str) -> bool:
    """Whether a page shows a text, however it is set."""
    return " ".join(text.split()) in " ".join(page.text.split())


# What the pages lead to


def test_every_link_leads_to_a_place_and_one_to_every_page(
    root: Path, read: dict[str, Page]
) -> None:
    for page in read.values():
        for name, anchor in page.links:
            assert (root / pages.PACK / name).is_file(), (page.path, name)
            there = ["", *(read[name].ids if name in read else [])]
            assert anchor in there or unquote(anchor) in there, (page.path, name, anchor)
    linked = {name for page in read.values() for name, _ in page.links if name != page.path}
    assert linked >= read.keys() >= {"theories/int.html", SHAPE}


def test_a_clause_leads_to_what_belongs_to_it_and_back_or_gives_a_reason(
    read: dict[str, Page],
) -> None:
    definition, theorem, program = "Shape.infix-<&", "Shape.more", "Shape.same"
    assert {(SHAPE, definition), (SHAPE, theorem), (SHAPE, program)} <= set(
        read["index.html"].links
    )
    # Of each symbol, and nothing of those that only support the clause.
    assert read[SHAPE].links.count(("index.html", "E_Small_010")) == 3
    assert ("index.html", "E_Small_010") in read["theories/core.shape.html"].links
    assert "2 clauses ; 1 have theorems" in read["index.html"].text
    assert "No theorem E_Small_010 " in read["index.html"].text
    # The theories stand in reading order, each below the name of its room.
    assert re.findall(r"(\w+)\s+(\S+\.mlw) .{0,40} \d goals", read["index.html"].text) == [
        ("core", "core/shape.mlw"),
        ("kernel", "kernel/trusted.mlw"),
    ]


def test_a_document_leads_to_goals_by_name_and_to_what_the_pack_shows(
    read: dict[str, Page],
) -> None:
    assert read["findings.html"].links[-5:] == [
        (SHAPE, "Shape.same"),
        ("theories/core.shape.html", ""),  # There is no Shape.gone, and no file of Shape.other.
        ("index.html", "theorems"),
        ("soundness.html", "the-gaps"),
        ("findings.html", "f1"),
    ]
    assert "Shape.other" in read["findings.html"].text


def test_the_pages_have_the_structure_that_readers_by_ear_rely_on(read: dict[str, Page]) -> None:
    for page in read.values():
        assert len(page.ids) == len(set(page.ids)), page.path
        assert page.tags.count("main") == page.tags.count("nav") == 1, page.path
        headings = [int(tag[1]) for tag in page.tags if re.fullmatch("h[1-6]", tag)]
        # The headings of a theory's text are those of its comments.
        if not page.path.startswith("theories/"):
            assert headings[0] == 1, page.path
            assert all(after <= before + 1 for before, after in pairwise(headings)), page.path


def test_whatever_a_text_holds_is_text(read: dict[str, Page]) -> None:
    assert [page.path for page in read.values() if "img" in page.tags] == []
    assert [page.path for page in read.values() if "script" in page.tags] == ["index.html"]
    assert read["index.html"].text.count(MEAN) > 10
    assert read[SHAPE].text.count(MEAN) > 5
    assert "of <b>all</b> kinds" in read["index.html"].text


# What they say


def test_they_tell_what_was_run_from_what_was_kept(root: Path, tmp_path: Path) -> None:
    fresh, kept = root / pages.PACK, small_evidence.write(tmp_path, kept=True)
    first, later = small_evidence.read(fresh), small_evidence.read(kept)
    assert "4 proofs: 4 run now, 0 kept from earlier runs." in first["index.html"].text
    assert "4 proofs: 3 run now, 1 kept from earlier runs." in later["index.html"].text
    goal = "more: 1 part, by 2 families of provers each at least; 2 proofs"
    assert f"{goal} run now" in first[SHAPE].text
    assert "same'vc: 1 part, by 1 families" in first[SHAPE].text
    assert f"{goal}: 1 run now, 1 kept" in later[SHAPE].text
    assert "Alt-Ergo, 0.25 s, kept ; Z3, 0.25 s " in later[SHAPE].text
    assert (fresh / "evidence.json").read_bytes() == (kept / "evidence.json").read_bytes()
    now = json.loads((kept / pages.TIMES).read_text())["proofs"][0]["now"]
    assert now == {"answer": "Valid", "seconds": 1.5, "kept": True}


@pytest.mark.parametrize(
    ("statement", "grouped"),
    [
        ("a -> b -> c", "a -> b -> c"),
        ("a <-> b", "a <-> b"),
        ("a <-> b -> c", "a <-> (b -> c)"),
        ("a -> b <-> c <-> d", "a -> (b <-> (c <-> d))"),
        ("(a -> b) <-> c", "(a -> b) <-> c"),
        ("f (a <-> b -> c) d -> e", "f (a <-> (b -> c)) d -> e"),
        ("predicate p (n:int) =\n  a ->\n  b <-> c", "predicate p (n:int) =\n  a ->\n  (b <-> c)"),
        ("function f : int -> bool = fun (n:int) -> a <-> b", None),
        ("theorem t : a\n  ensures { r -> a <-> b }\n  ensures { c -> d }", None),
        ("match x with\n| _, y -> a <-> b\n| _ -> c -> d\nend <-> e", None),
        ("if a <-> b then c -> d else e <-> f", None),
        ("let a = b <-> c in d -> e", None),
    ],
)
def test_parentheses_tell_how_arrows_are_read(statement: str, grouped: str | None) -> None:
    assert pages.grouped(statement) == (grouped or statement)


def test_theories_are_counted_once(read: dict[str, Page]) -> None:
    for page in ("index.html", "configuration.html"):
        found = re.findall(r"(\d+) theories(?: |,)", read[page].text)
        assert {*found} == {"2"}, page


def test_they_say_whether_mutants_were_run_and_which_survived(
    tmp_path: Path, read: dict[str, Page]
) -> None:
    assert "have not been run on these sources" in read["index.html"].text
    results = [
        {"id": "one", "verdict": "killed", "goal": "Shape.same'vc"},
        {"id": "two", "verdict": "survived", "goal": None},
    ]
    text = small_evidence.read(small_evidence.write(tmp_path, results))["index.html"].text
    assert "have not been run" not in text
    assert "1 of 2 mutants are noticed" in text
    assert text.count("survived") == 1


def test_requirements_of_the_c_lead_to_functions_tests_and_proofs(read: dict[str, Page]) -> None:
    page = read["requirements.html"]
    assert "1 high-level and 1 low-level requirements, with 1 goals" in page.text
    assert {(SHAPE, "Shape.same"), ("index.html", "E_Small_010")} <= {*page.links}
    assert f"A number. {MEAN} Twice." in page.text
    assert "by proof alone" in page.text


def test_a_function_of_the_c_without_a_requirement_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan = small_evidence.FILES["c/whycast.c"].replace("Shape.same", "Shape.long")
    monkeypatch.setitem(small_evidence.FILES, "c/whycast.c", orphan)
    with pytest.raises(ToolError, match="whycast_same: no goal"):
        small_evidence.write(tmp_path)


def test_a_signature_is_of_the_text_that_was_signed(
    read: dict[str, Page], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(read["reviews.html"], "2026-11-25 A. Reviewer, 2027-01-31, of an earlier text")
    signed = f'"header.whycast_same" = ["{64 * "0"} {64 * "1"}", "A.", "2027-02-01"]'
    monkeypatch.setitem(small_evidence.FILES, "proofs/signatures.toml", signed)
    page = small_evidence.read(small_evidence.write(tmp_path))["reviews.html"]
    assert shown(page, "2026-11-25 A., 2027-02-01 ")
    assert not shown(page, "earlier text")
    monkeypatch.setitem(small_evidence.FILES, "proofs/signatures.toml", '"header.x" = ["", "", ""]')
    with pytest.raises(ToolError, match=r"header\.x: nobody has to sign it"):
        small_evidence.write(tmp_path)


def test_a_lane_is_shown_with_its_commit_and_whether_the_sources_are_these(
    tmp_path: Path, read: dict[str, Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(read["lanes.html"], "make cross has no record here")
    monkeypatch.setattr(records, "ROOT", tmp_path)
    small_evidence.write(tmp_path)
    command = [sys.executable, "-c", f"print({MEAN!r}); raise SystemExit(3)"]
    assert records.main(["cross", *command]) == 3
    page = small_evidence.read(small_evidence.write(tmp_path))["lanes.html"]
    assert shown(page, "make cross FAILED on 20")
    assert shown(page, f"exit code 3, sources {records.identity(tmp_path)} . {MEAN}")
    assert not shown(page, "other sources")
    monkeypatch.setitem(small_evidence.FILES, "why3/other.mlw", "module Other end")
    page = small_evidence.read(small_evidence.write(tmp_path))["lanes.html"]
    assert shown(page, "other sources than these")
    with pytest.raises(ToolError, match="else: expected one of validate, "):
        records.main(["else", "true"])


def test_a_detection_is_claimed_only_where_the_lanes_that_the_row_names_have_passed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = "believed 10 make cross TI2, no TD and TCL without a pass on these sources of make cross"
    assert shown(small_evidence.read(root / pages.PACK)["tools.html"], none)
    monkeypatch.setattr(records, "ROOT", tmp_path)
    small_evidence.write(tmp_path)
    for code in (3, 0):
        records.main(["cross", sys.executable, "-c", f"raise SystemExit({code})"])
        read = small_evidence.read(small_evidence.write(tmp_path))
        assert shown(read["tools.html"], none) == (code == 3)
    assert shown(read["tools.html"], "believed 10 make cross TI2, TD1, TCL1")
    assert shown(read["assessment.html"], "1 of 10 such runs have passed on these sources")


def test_each_tool_has_its_row_in_soundness(read: dict[str, Page]) -> None:
    rows = assessment.beliefs(closed.ROOT)
    text = (closed.ROOT / "proofs/SOUNDNESS.md").read_text(encoding="utf-8")
    assert list(rows) == re.findall(r"^\| (R\d+) ", text, re.MULTILINE)
    assert sorted(rows, key=lambda name: int(name[1:])) == [f"R{n + 1}" for n in range(len(rows))]
    cited = re.findall(r"(R\d+): believed", read["tools.html"].text)
    assert len(cited) == len({*cited}) > 0
    assert {*cited} <= rows.keys()
    lanes = {lane for row in rows.values() for lane in row.lanes()}
    assert lanes == records.LANES.keys()


def test_the_lanes_are_those_that_run_at_night() -> None:
    makefile = (closed.ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\nnightly: {' '.join(records.LANES)} all\n" in makefile


# The files


def test_no_file_names_a_place_of_this_machine(root: Path) -> None:
    pinned = {file for tool in toolchain.read().values() for file in tool.files}
    times = {pages.TIMES: (root / pages.PACK / pages.TIMES).read_bytes()}
    for name, content in (contents(root / pages.PACK) | times).items():
        found = re.findall(r"(?<![\w.<>/:\\-])/(?:[\w.+-]+/)+[\w.+-]*", content.decode())
        assert set(found) <= pinned, name
    assert "'build/Z3' %f" in (root / pages.PACK / "evidence.json").read_text()


def test_the_same_sources_give_the_same_bytes(root: Path, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "1"}
    command = [sys.executable, small_evidence.__file__, str(tmp_path)]
    subprocess.run(command, env=environment, check=True)
    assert contents(tmp_path / pages.PACK) == contents(root / pages.PACK)
    assert contents(small_evidence.write(tmp_path, seconds=7.5)) == contents(root / pages.PACK)


def test_the_lists_of_hashes_are_of_all_files_and_right(root: Path, tmp_path: Path) -> None:
    pack = small_evidence.write(tmp_path)
    for name, within, wanted in (
        ("SOURCES.sha256", tmp_path, small_evidence.FILES.keys()),
        (pages.MANIFEST, pack, contents(pack).keys() - {pages.MANIFEST}),
    ):
        lines = (pack / name).read_text().splitlines()
        assert {line.partition("  ")[2] for line in lines} == wanted
        assert checked(pack / name, within) == ""
        changed = min(wanted)
        (within / changed).write_text("something else")
        assert checked(pack / name, within) == f"{changed}: FAILED\n"


# Refusals


def test_a_goal_without_a_claim_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(small_evidence.CLAIMS, "Shape.same'vc")
    with pytest.raises(ToolError, match=r"Shape\.same'vc: of no symbol, or without a claim"):
        small_evidence.write(tmp_path)


def test_what_was_there_stays_if_a_text_cannot_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = small_evidence.write(tmp_path)
    before = contents(pack)
    monkeypatch.setattr(documents, "WHY3", "/bin/true")
    with pytest.raises(
        ToolError, match=r"why3 doc did not write core\.shape\.html, kernel\.trusted"
    ):
        small_evidence.write(tmp_path)
    assert contents(pack) == before
