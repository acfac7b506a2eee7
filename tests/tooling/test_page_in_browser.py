"""The pages as Chromium shows them: nothing sticks out, nothing is complained of, links unfold."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from typing import Any

import pytest
import small_evidence

# Shows pages in frames, and writes what it sees there into a page of its own.
LOOK = """<!DOCTYPE html><html lang="en"><title>looked at</title><body><script>
const seen = {};
for (const [address, width] of SHOWN) {
  const frame = document.createElement("iframe");
  frame.src = `evidence/${address}`;
  frame.width = width;
  frame.onload = () => {
    const page = frame.contentDocument;
    const here = seen[`${address} ${width}`] = {};
    const shown = () => [...page.querySelectorAll(".theory .goal")]
      .filter((goal) => goal.checkVisibility()).map((goal) => goal.id);
    here.first = shown();
    const words = page.getElementById("words");
    if (words) {
      words.value = "SHAPE larger";
      words.dispatchEvent(new Event("input"));
      here.filtered = [shown(), page.getElementById("found").textContent];
    }
    for (const folded of page.querySelectorAll("details")) folded.open = true;
    here.wider = page.documentElement.scrollWidth - width;
    document.body.dataset.seen = JSON.stringify(seen);
  };
  document.body.append(frame);
}
</script></body></html>
"""
PAGES = ("index.html", "findings.html", "proofs/core.shape.html", "theories/core.shape.html")
FLAGS = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --dump-dom"
LINKED = "index.html#Shape.more"


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Give what was seen of each page at each width, and what the console was told."""
    program = shutil.which("chromium")
    assert program, "chromium is missing: `make test` installs it"
    folder = tmp_path_factory.mktemp("browser")
    small_evidence.write(folder).rename(folder / "evidence")
    shown = [(page, width) for page in (*PAGES, LINKED) for width in (360, 1280)]
    (folder / "look.html").write_text(LOOK.replace("SHOWN", json.dumps(shown)), encoding="utf-8")
    access = ("--allow-file-access-from-files", "--enable-logging=stderr")
    command = [program, *FLAGS.split(), *access, f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*command, (folder / "look.html").as_uri()],
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    match = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert match, done.stdout + done.stderr
    told = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(match[1])), "\n".join(told)


def test_no_page_is_wider_than_its_window(looked: tuple[dict[str, Any], str]) -> None:
    assert len(looked[0]) == 2 * len((*PAGES, LINKED))
    assert {name: seen["wider"] for name, seen in looked[0].items() if seen["wider"] > 0} == {}


def test_no_page_complains(looked: tuple[dict[str, Any], str]) -> None:
    assert looked[1] == ""


def test_goals_are_folded_until_a_link_or_the_filter_unfolds_them(
    looked: tuple[dict[str, Any], str],
) -> None:
    plain, linked = looked[0]["index.html 1280"], looked[0][f"{LINKED} 1280"]
    assert plain["first"] == []
    assert linked["first"] == ["Shape.more", "Shape.same'vc"]
    assert plain["filtered"] == [["Shape.more"], "1 found"]
