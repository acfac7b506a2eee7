"""Texts as pages, the surroundings of templates: what evidence and documentation share."""

from __future__ import annotations

import posixpath
import re
import shutil
import tempfile
from collections.abc import Callable, Container, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from gate import closed
from gate.facts import library

WHY3 = "/usr/bin/why3"
LIBRARY = Path("/usr/share/why3/stdlib")
TEMPLATES = Path(__file__).with_name("templates")

LINK = re.compile(r'<a href="(?P<page>[^"#]*)#(?P<anchor>[^"]*)">(?P<text>.*?)</a>')
# Columns whose cells speak for themselves.
FEW = 4
ANCHOR = re.compile(r'<a (?:name|id)="([^"]*)"')


def page(file: str) -> str:
    """Name the page of a theory, as `why3 doc` does."""
    return f"{library(file)}.html"


def slug(text: str) -> str:
    """Make the anchor of a heading, as the hosts of repositories do."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def listed(root: Path) -> list[Path]:
    """List the documents that the pack shows."""
    return sorted([*(root / "proofs").glob("*.md"), *(root / "c").glob("*.md")])


def title(path: Path) -> str:
    """Read the title that a theory opens with."""
    match = re.search(r"\{1 (.*?)\}", path.read_text(encoding="utf-8"), re.DOTALL)
    return " ".join(match[1].split()) if match else path.stem


def tagged(text: str | Markup, to: str, clauses: Container[str]) -> Markup:
    """Link the identifiers in a text to their clauses on a page."""

    def link(match: re.Match[str]) -> str:
        return f'<a href="{to}#{match[0]}">{match[0]}</a>' if match[0] in clauses else match[0]

    return Markup(re.sub(r"\bE_\w+", link, str(escape(text))))


def environment(folder: Path = TEMPLATES, *, is_html: bool = True, **known: Any) -> Environment:
    """Make the templates' surroundings; a name that is undefined is an error and not a blank."""
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=is_html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= known
    made.filters |= {"page": page, "slug": slug}
    return made


def replace_folder(into: Path, made: Mapping[str, bytes]) -> Path:
    """Write files in one go: what the folder had is there until all of them are."""
    new = into.with_name(f"{into.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    for name, content in made.items():
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_bytes(content)
    shutil.rmtree(into, ignore_errors=True)
    return new.rename(into)


# --- Markdown ---------------------------------------------------------------------------------


def rendered(text: str, shown: Mapping[str, str], named: Callable[[str], str]) -> str:
    """Turn a document of proofs/ into HTML.

    `shown` has the place in the pack of each file that is shown there, and `named` finds that of
    whatever a theory defines.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slug(following.content))
        if token.children:
            token.children = relinked(token.children, shown, named)
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    html = re.sub("<table>.*?</table>", framed, html, flags=re.DOTALL)
    return html.replace("<th>", '<th scope="col">')


def framed(table: re.Match[str]) -> str:
    """Put a table into what scrolls; on a narrow page few columns are stacked, without heads."""
    few = table[0].count("<th>") <= FEW
    opened = '<table class="stack">' if few else "<table>"
    frame = '<div class="wide" tabindex="0" role="region" aria-label="Table">'
    return f"{frame}{table[0].replace('<table>', opened)}</div>"


def relinked(
    tokens: list[Token], shown: Mapping[str, str], named: Callable[[str], str]
) -> list[Token]:
    """Turn the links of a line; those to what the pack has not become plain text."""
    kept, target = [], ""
    for token, following in pairwise([*tokens, Token("end", "", 0)]):
        if token.type == "link_open":
            href = str(token.attrGet("href"))
            path, _, fragment = href.partition("#")
            file = posixpath.normpath(posixpath.join("proofs", path))
            target = named(following.content) or shown.get(file, "")
            if "://" in href or re.fullmatch(r"[^/]+\.(html|json|sha256)", path):
                target = href
            elif fragment and (not path or path.endswith(".md")):
                target += f"#{fragment}"
            token.attrSet("href", target)
        if target or token.type not in ("link_open", "link_close"):
            kept.append(token)
    return kept


# --- theories ---------------------------------------------------------------------------------


def theories(root: Path, files: Iterable[str]) -> dict[str, str]:
    """Give the texts of the theories, and of what they use of Why3's library, as HTML by page.

    `why3 doc` links names of the library to pages that it does not make: those are made as well,
    and what leads nowhere even then is no link.
    """
    found = why3_doc(root / "why3", [file.removeprefix("why3/") for file in files], "-L", ".")
    links = {match["page"] for body in found.values() for match in LINK.finditer(body)}
    wanted = sorted(f"{Path(name).stem}.mlw" for name in links - found.keys() - {""})
    with tempfile.TemporaryDirectory() as copies:
        library = [name for name in wanted if (LIBRARY / name).is_file()]
        for name in library:
            text = (LIBRARY / name).read_text(encoding="utf-8")
            # A variant decreases by the library's order of integers, not by that of a copy.
            text = text.replace("  use Int\n", "  use int.Int\n")
            (Path(copies) / name).write_text(text, encoding="utf-8")
        found |= why3_doc(Path(copies), library)
    anchors = {name: set(ANCHOR.findall(body)) for name, body in found.items()}

    def mended(name: str, body: str) -> str:
        def link(match: re.Match[str]) -> str:
            there = anchors.get(match["page"] or name, set())
            return match[0] if match["anchor"] in there else match["text"]

        return ANCHOR.sub(r'<a id="\1"', LINK.sub(link, body))

    return {name: mended(name, body) for name, body in found.items()}


def why3_doc(directory: Path, names: list[str], *options: str) -> dict[str, str]:
    """Give the pages of theories as `why3 doc` writes them.

    It warns of items of the library that it cannot link, and ends well even if a page is missing.
    """
    with tempfile.TemporaryDirectory() as into:
        command = (WHY3, "-C", "/dev/null", "doc", "--body-only", "--no-index", "-o", into)
        said = closed.run(*command, *options, *names, cwd=directory)
        pages = {path.name: path.read_text(encoding="utf-8") for path in Path(into).glob("*.html")}
    missing = {page(name) for name in names} - pages.keys()
    if missing:
        raise closed.ToolError(f"why3 doc did not write {', '.join(sorted(missing))}:\n{said}")
    return pages
