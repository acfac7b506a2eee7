"""The pages of the evidence, read as they are and looked at in Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import html_pages
import inputs
import pytest
import theorems
from browser import Browser, chromium
from evidence_pack import PACK, ROOT
from evidence_pack import evidence as read_evidence

CLAIMS = theorems.read(ROOT / inputs.THEOREMS, inputs.THEOREMS).entries

# One page of each kind, and of proofs and theories the longest.
LOOKED_AT = (
    *("index.html", "findings.html", "soundness.html", "do-333.html", "theories/index.html"),
    *("proofs/history.html", "theories/kernel.html", "theories/seq.html"),
)
WIDTHS = (360, 1280)
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return read_evidence()


@pytest.fixture(scope="module")
def pages(written: dict[str, Any]) -> dict[str, html_pages.Page]:
    return html_pages.read(PACK)


@pytest.fixture(scope="module")
def browser(written: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(program("chromium"), tmp_path_factory.mktemp("chromium") / "profile") as found:
        yield found


def program(name: str) -> Path:
    """Find a program that only the tests need."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"{name} is missing: `python3 proofs/provers/install.py --tests` installs it")
    return Path(found)


def proof_page(entry: theorems.Entry) -> str:
    return f"proofs/{Path(entry.theory).stem}.html"


# As they are


def test_every_link_leads_somewhere_in_the_pack(pages: dict[str, html_pages.Page]) -> None:
    assert html_pages.dangling(pages, PACK) == []
    assert [page.outside for page in pages.values() if page.outside] == []
    assert sum(len(page.links) for page in pages.values()) > 10 * len(CLAIMS)


def test_every_proof_is_three_clicks_from_the_first_page(
    pages: dict[str, html_pages.Page],
) -> None:
    reached = html_pages.clicks(pages, "index.html")
    far = {
        entry.name: reached.get((proof_page(entry), entry.name))
        for entry in CLAIMS
        if reached.get((proof_page(entry), entry.name), 99) > 3
    }
    assert far == {}
    assert all(entry.name in pages[proof_page(entry)].ids for entry in CLAIMS)


def test_every_page_of_the_pack_is_reached(pages: dict[str, html_pages.Page]) -> None:
    assert {page for page, _ in html_pages.clicks(pages, "index.html")} >= pages.keys()


def test_the_pages_have_the_structure_that_readers_by_ear_rely_on(
    pages: dict[str, html_pages.Page],
) -> None:
    for page in pages.values():
        twice = {name for name in page.ids if page.ids.count(name) > 1}
        assert not twice, page.path
        assert page.tags.count("main") == page.tags.count("nav") == 1, page.path
        assert page.headings[0] == 1, page.path
        assert page.loose_headers == 0, page.path
        if not page.path.startswith("theories/"):
            # What why3 doc writes has the headings that the comments of the theories give it.
            assert page.headings.count(1) == 1, page.path
            assert all(after <= before + 1 for before, after in pairwise(page.headings)), page.path


def test_the_first_page_has_all_sentences_and_is_no_burden(
    pages: dict[str, html_pages.Page],
) -> None:
    text = " ".join("".join(pages["index.html"].text).split())
    assert [entry.name for entry in CLAIMS if entry.sentence not in text] == []
    assert (PACK / "index.html").stat().st_size < 1_500_000
    assert "link" not in pages["index.html"].tags


def test_the_counting_of_clicks_sees_folds_and_pages_between(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html">b</a><details><summary><a href="#s">s</a></summary>'
        '<a href="c.html#x">c</a></details><a href="d.html">d</a>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<a href="e.html#y">e</a>', encoding="utf-8")
    (tmp_path / "c.html").write_text("<p id=x>", encoding="utf-8")
    (tmp_path / "e.html").write_text("<p id=z>", encoding="utf-8")
    found = html_pages.read(tmp_path)
    reached = html_pages.clicks(found, "a.html")
    assert reached[("c.html", "x")] == reached[("e.html", "y")] == 2
    assert reached[("a.html", "s")] == reached[("b.html", "")] == 1
    assert html_pages.dangling(found, tmp_path) == [
        "a.html: a.html#s",
        "a.html: d.html",
        "b.html: e.html#y",
    ]


# In the browser


UNFOLD = "for (const folded of document.querySelectorAll('details')) folded.open = true"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_no_page_is_wider_than_its_window_or_asks_for_more_than_files(browser: Browser) -> None:
    wider = []
    for name in LOOKED_AT:
        browser.open(PACK / name)
        browser.value(UNFOLD)
        for width in WIDTHS:
            browser.size(width)
            for scheme in SCHEMES:
                browser.scheme(scheme)
                if browser.value(WIDER):
                    wider.append((name, width, scheme))
    assert wider == []
    assert_quiet(browser)


def assert_quiet(browser: Browser) -> None:
    """Check that no page has complained, or asked for anything but files of the pack."""
    assert browser.told("Log.entryAdded") == []
    assert browser.told("Runtime.exceptionThrown") == []
    assert browser.told("Runtime.consoleAPICalled") == []
    asked = {event["request"]["url"] for event in browser.told("Network.requestWillBeSent")}
    assert {url for url in asked if url.startswith(PACK.as_uri())} == asked != set()


def test_colours_have_contrast_in_both_schemes(browser: Browser) -> None:
    browser.size(WIDTHS[-1])
    weak = []
    for scheme in SCHEMES:
        browser.scheme(scheme)
        browser.open(PACK / "index.html")
        names = ("ink", "soft", "link", "good", "warn", "word")
        for paper in ("paper", "pale"):
            for name in names:
                ratio = contrast(colour(browser, name), colour(browser, paper))
                if ratio < 4.5:
                    weak.append((scheme, name, paper, ratio))
    assert weak == []


def colour(browser: Browser, name: str) -> str:
    """Read a colour of the style sheet."""
    script = f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()"
    return str(browser.value(script))


def contrast(one: str, other: str) -> float:
    """Give the contrast ratio of two colours, as WCAG 2 defines it."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(code: str) -> float:
    """Give the relative luminance of `#rrggbb`."""
    assert re.fullmatch("#[0-9a-f]{6}", code)
    parts = [int(code[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("number", [0, len(CLAIMS) // 2, len(CLAIMS) - 1])
def test_a_reader_clicks_from_the_first_page_to_a_proof(browser: Browser, number: int) -> None:
    entry = CLAIMS[number]
    stem = Path(entry.theory).stem
    browser.size(WIDTHS[-1])
    browser.open(PACK / "index.html")
    browser.value("document.querySelector('nav a[href=\"#theorems\"]').click()")
    assert browser.value("document.getElementById('theorems').getBoundingClientRect().top") < 300
    browser.value(f"document.querySelector('#theory-{stem} > summary').click()")
    link = f"document.getElementById({entry.name!r}).querySelector('a[href^=proofs]')"
    assert browser.value(f"{link}.checkVisibility()")
    browser.value(f"{link}.click()")
    browser.wait_for("Page.loadEventFired")
    assert browser.value("location.pathname").endswith(f"/{proof_page(entry)}")
    shown = browser.value(f"document.getElementById({entry.name!r}).getBoundingClientRect().top")
    assert 0 <= shown < 900
    assert_quiet(browser)


def test_a_link_to_a_folded_goal_unfolds_it(browser: Browser) -> None:
    entry, other = CLAIMS[-1], CLAIMS[0]
    browser.open(PACK / "index.html", entry.name)
    assert browser.value(f"document.getElementById({entry.name!r}).checkVisibility()")
    # Browsers that do not do so themselves have the script for it.
    browser.value(f"history.replaceState(null, '', {'#' + other.name!r})")
    browser.value("dispatchEvent(new HashChangeEvent('hashchange'))")
    assert browser.value(f"document.getElementById({other.name!r}).checkVisibility()")


def test_the_filter_shows_the_goals_that_have_all_words(browser: Browser) -> None:
    browser.open(PACK / "index.html")
    assert not browser.value("document.querySelector('.goal').checkVisibility()")
    browser.value("words.value = 'PAD_twice padding'; words.dispatchEvent(new Event('input'))")
    shown = "[...document.querySelectorAll('.theory .goal')].filter(g => g.checkVisibility())"
    assert browser.value(f"{shown}.map(goal => goal.id)") == ["Padding.pad_twice"]
    assert browser.value("found.textContent") == "1 found"
    browser.value("words.value = ''; words.dispatchEvent(new Event('input'))")
    assert browser.value(f"{shown}.length") == 0
    assert browser.value("document.querySelectorAll('.theory[hidden], .goal[hidden]').length") == 0


def test_nothing_stays_folded_for_the_printer(browser: Browser) -> None:
    folded = "[...document.querySelectorAll('.goal')].filter(g => !g.checkVisibility()).length"
    browser.open(PACK / "index.html")
    assert browser.value(folded) > 0
    browser.paper()
    assert browser.value(folded) == 0
    browser.scheme("light")
    before = browser.value(folded)
    # Browsers whose style cannot unfold have the script for it.
    browser.value("dispatchEvent(new Event('beforeprint'))")
    assert browser.value(folded) == 0
    browser.value("dispatchEvent(new Event('afterprint'))")
    assert browser.value(folded) == before


def test_all_theorems_are_on_paper(browser: Browser, tmp_path: Path) -> None:
    browser.open(PACK / "index.html")
    (tmp_path / "index.pdf").write_bytes(browser.pdf())
    read = subprocess.run(
        [str(program("pdftotext")), "-raw", "index.pdf", "-"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    text = squeezed(read.stdout)
    assert [entry.name for entry in CLAIMS if squeezed(entry.sentence) not in text] == []


def squeezed(text: str) -> str:
    """Take away what a page breaks: spaces and ligatures."""
    return "".join(unicodedata.normalize("NFKC", text).split())
