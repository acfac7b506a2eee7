"""The pages as Chromium shows them: nothing sticks out, nothing is complained of, links unfold."""

from __future__ import annotations

from typing import Any

import browser
import pytest
import small_evidence

from evidence import assessment

PAGES = [
    f"evidence/{name}"
    for name in (
        "index.html",
        "findings.html",
        *(f"{name}.html" for name in assessment.PAGES),
        "proofs/core.shape.html",
        "theories/core.shape.html",
        "index.html#Shape.more",
    )
]


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    folder = tmp_path_factory.mktemp("browser")
    small_evidence.write(folder).rename(folder / "evidence")
    return browser.look(folder, PAGES)


def test_no_page_is_wider_than_its_window(looked: tuple[dict[str, Any], str]) -> None:
    assert len(looked[0]) == len(browser.WIDTHS) * len(PAGES)
    assert browser.wider(looked[0]) == {}


def test_no_page_complains(looked: tuple[dict[str, Any], str]) -> None:
    assert looked[1] == ""


def test_goals_are_folded_until_a_link_or_the_filter_unfolds_them(
    looked: tuple[dict[str, Any], str],
) -> None:
    plain, linked = (looked[0][f"{PAGES[n]} 1280"] for n in (0, -1))
    assert plain["first"] == []
    assert linked["first"] == ["Shape.more", "Shape.same'vc"]
    assert plain["filtered"] == [["Shape.more"], "1 found"]
