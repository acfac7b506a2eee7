"""The theories as pages that one can browse: `why3 doc`, with its links mended.

`why3 doc` links names of Why3's library to pages that it does not make. Those of the library's
files that the theories use are made as well, and what leads nowhere even then is no link.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import lock
from inputs import RefusalError

CONFIGURATION = "build/why3.conf"
LIBRARY = "build/why3/stdlib"

LINK = re.compile(r'<a href="(?P<page>[^"#]*)#(?P<anchor>[^"]*)">(?P<text>.*?)</a>')
ANCHOR = re.compile(r'<a name="([^"]*)"')


@dataclass(frozen=True)
class Documentation:
    """The bodies of the pages by their names, `shape.html`; `library` are those of Why3."""

    theories: dict[str, str]
    library: dict[str, str]

    @property
    def pages(self) -> dict[str, str]:
        """All of them."""
        return self.theories | self.library


def make(root: Path, files: Iterable[str], why3: lock.Tool) -> Documentation:
    """Make the documentation of the theories and of what they use of the library."""
    names = [Path(file).relative_to("why3").as_posix() for file in files]
    theories = run(root, root / "why3", ["-L", ".", *names], why3)
    wanted = {
        Path(page).with_suffix(".mlw").name
        for body in theories.values()
        for page in re.findall(r'href="([^"#]+)#', body)
        if page not in theories
    }
    shelf = root / LIBRARY
    library = run(root, shelf, sorted(name for name in wanted if (shelf / name).exists()), why3)
    anchors = {page: set(ANCHOR.findall(body)) for page, body in (theories | library).items()}
    return Documentation(
        {page: mended(page, body, anchors) for page, body in theories.items()},
        {page: mended(page, body, anchors) for page, body in library.items()},
    )


def run(root: Path, directory: Path, arguments: list[str], why3: lock.Tool) -> dict[str, str]:
    """Run `why3 doc` in a directory; give the bodies of the pages that it writes.

    It warns of items in its own library that it cannot link (it reads a file outside of its load
    path), and ends well; that a page is missing is seen here.
    """
    with tempfile.TemporaryDirectory() as name:
        command = [str(why3.path), "-C", str(root / CONFIGURATION), "doc", "--body-only"]
        command += ["--no-index", "-o", name, *arguments]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        pages = {path.name: path.read_text(encoding="utf-8") for path in Path(name).glob("*.html")}
    count = sum(word.endswith(".mlw") for word in arguments)
    if done.returncode or len(pages) != count:
        raise RefusalError(
            f"why3 doc ended with {done.returncode} and wrote {len(pages)} pages, expected {count}:"
            f"\n{done.stderr}"
        )
    return pages


def mended(page: str, body: str, anchors: dict[str, set[str]]) -> str:
    """Take away the links that lead nowhere, and what only HTML 4 had."""

    def link(match: re.Match[str]) -> str:
        there = anchors.get(match["page"] or page)
        if there is None:
            return match["text"]
        if match["anchor"] in there:
            return match[0]
        return f'<a href="{match["page"]}">{match["text"]}</a>' if match["page"] else match["text"]

    return ANCHOR.sub(r'<a id="\1"', LINK.sub(link, body))
