"""Pages as Chromium shows them."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gate import toolchain

WIDTHS = (360, 1280)

# Shows pages in frames, and writes what it sees there into a page of its own.
LOOK = """<!DOCTYPE html><html lang="en"><title>looked at</title><body><script>
const seen = {};
for (const [address, width] of SHOWN) {
  const frame = document.createElement("iframe");
  frame.src = address;
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
FLAGS = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --dump-dom"


def look(folder: Path, pages: Iterable[str]) -> tuple[dict[str, Any], str]:
    """Give what was seen of each page at each width, and what the console was told."""
    program = shutil.which("chromium")
    if not program and toolchain.system().startswith("ubuntu"):
        pytest.skip("chromium is not installed: Ubuntu has it as a snap alone")
    assert program, "chromium is missing: `make test` installs it"
    shown = [(page, width) for page in pages for width in WIDTHS]
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


def wider(seen: dict[str, Any]) -> dict[str, int]:
    """Give the pages that stick out of their window, and by how much."""
    return {name: here["wider"] for name, here in seen.items() if here["wider"] > 0}
