"""FINDINGS.md has all findings, and each names goals that exist, where they stand."""

from __future__ import annotations

import re

import findings
import pytest
from findings import Place

TEXT = findings.FINDINGS.read_text(encoding="utf-8")
FINDINGS = [f"F{number}" for number in range(1, 20)]

ROW_PATTERN = re.compile(r"^\| \[(F\d+)\]\(#(f\d+)\) \|([^|]+)\|([^|]+)\|([^|]+)\|$", re.MULTILINE)
SECTION_PATTERN = re.compile(r"^## (F\d+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)

ROWS = list(ROW_PATTERN.finditer(TEXT))
SECTIONS = list(SECTION_PATTERN.finditer(TEXT))


def test_every_finding_has_a_row_and_a_section() -> None:
    rows = [(row[1], row[2]) for row in ROWS]
    assert rows == [(name, name.lower()) for name in FINDINGS]
    assert [section[1] for section in SECTIONS] == FINDINGS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_a_row_names_goals(row: re.Match[str]) -> None:
    assert findings.linked(row[5])


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section[1])
def test_a_section_says_how_it_is_settled_and_proposes(section: re.Match[str]) -> None:
    assert "**Settled:**" in section[2]
    assert "**Proposed:**" in section[2]


def test_every_link_leads_to_its_goal() -> None:
    goals = findings.goal_lines()
    wrong = {name: place for name, place in findings.linked(TEXT) if goals.get(name) != place}
    assert not wrong, "`make update` writes the lines of the links anew"
    # All that looks like a link to a theory is one.
    assert TEXT.count(".mlw#L") == len(findings.linked(TEXT)) > 0


def test_relinking_corrects_the_line_and_the_file() -> None:
    text = "see [`M.a`](../why3/x.mlw#L1), [`M.b`](../why3/x.mlw#L2)"
    goals = {"M.a": Place("why3/y.mlw", 30)}
    assert findings.relinked(text, goals) == (
        "see [`M.a`](../why3/y.mlw#L30), [`M.b`](../why3/x.mlw#L2)"
    )
