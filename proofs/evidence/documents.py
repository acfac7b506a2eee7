"""The documents of proofs/ as pages: Markdown with its links turned to what the pack has."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from itertools import pairwise

from links import Links
from markdown_it import MarkdownIt
from markdown_it.token import Token

# The documents of the pack, and where the sources that they speak of are shown.
DOCUMENTS = {
    "proofs/SOUNDNESS.md": "soundness.html",
    "proofs/DO-333.md": "do-333.html",
    "proofs/FINDINGS.md": "findings.html",
}
SHOWN = {
    **DOCUMENTS,
    "proofs/mutants/mutants.toml": "index.html#mutants",
    "proofs/provers/toolchain.toml": "index.html#tools",
    "proofs/theorems.txt": "index.html#theorems",
    "why3": "theories/index.html",
    "why3/trace.toml": "index.html#clauses",
}
PACK = "build/evidence/"


def slug(text: str) -> str:
    """Make the anchor of a heading, as the hosts of repositories do."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def rendered(text: str, links: Links) -> str:
    """Turn a document of proofs/ into HTML."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", slug(following.content))
        if token.children is not None:
            token.children = relinked(token.children, links)
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    opened = '<div class="wide" tabindex="0" role="region" aria-label="Table"><table class="stack">'
    html = html.replace("<table>", opened).replace("</table>", "</table></div>")
    return html.replace("<th>", '<th scope="col">')


def relinked(tokens: Iterable[Token], links: Links) -> list[Token]:
    """Turn the links of a line; those to what the pack has not become plain text."""
    kept = []
    open_links: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            target = turned(str(token.attrGet("href")), links)
            open_links.append(bool(target))
            token.attrSet("href", target)
        if token.type not in ("link_open", "link_close") or open_links[-1]:
            kept.append(token)
        if token.type == "link_close":
            open_links.pop()
    return kept


def turned(href: str, links: Links) -> str:
    """Find what a link of a document leads to in the pack; nothing if that is not there."""
    path, _, fragment = href.partition("#")
    if not path:
        return href
    file = posixpath.normpath(posixpath.join("proofs", path))
    if file in SHOWN:
        return SHOWN[file] + (f"#{fragment}" if fragment else "")
    if file.startswith(PACK):
        return file.removeprefix(PACK) + (f"#{fragment}" if fragment else "")
    if file in {theory.file for theory in links.pack.theories}:
        return links.line(file, fragment.removeprefix("L"))
    return ""
