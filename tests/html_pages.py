"""The pages of a folder as a reader without scripts meets them: links, anchors, headings."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}


@dataclass(frozen=True)
class Link:
    """A link: the page and the anchor that it leads to, and whether it is in something folded."""

    page: str
    anchor: str
    folded: bool


@dataclass
class Page(HTMLParser):
    """What a page holds; `outside` are addresses that are no files of the folder."""

    path: str
    ids: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    loose_headers: int = 0
    text: list[str] = field(default_factory=list)
    _open: list[tuple[str, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append((tag, tag == "details" and "open" not in found))
        if "id" in found:
            self.ids.append(found["id"])
        for key in ("href", "src"):
            if key in found:
                self._add(found[key])
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.headings.append(int(tag[1]))
        if tag == "th" and "scope" not in found:
            self.loose_headers += 1

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def _add(self, address: str) -> None:
        if ":" in address.partition("#")[0] or address.startswith("//"):
            self.outside.append(address)
            return
        path, _, anchor = address.partition("#")
        page = normpath(PurePosixPath(self.path).parent / path) if path else self.path
        # What a fold opens with is seen while it is closed.
        inside = [name for name, _ in self._open]
        folded = any(closed for _, closed in self._open) and "summary" not in inside
        self.links.append(Link(page, anchor, folded))


def read(folder: Path) -> dict[str, Page]:
    """Read all pages of a folder."""
    found = {}
    for path in sorted(folder.rglob("*.html")):
        page = Page(path.relative_to(folder).as_posix())
        page.feed(path.read_text(encoding="utf-8"))
        page.close()
        found[page.path] = page
    return found


def dangling(pages: dict[str, Page], folder: Path) -> list[str]:
    """Name the links that lead nowhere."""
    found = set()
    for page in pages.values():
        for link in page.links:
            target = pages.get(link.page)
            if target is None and not (folder / link.page).is_file():
                found.add(f"{page.path}: {link.page}")
            elif target is not None and link.anchor and not has(target, link.anchor):
                found.add(f"{page.path}: {link.page}#{link.anchor}")
    return sorted(found)


def has(page: Page, anchor: str) -> bool:
    """Tell whether a page has an anchor, as it stands or decoded: browsers try both."""
    return anchor in page.ids or unquote(anchor) in page.ids


def clicks(pages: dict[str, Page], start: str) -> dict[tuple[str, str], int]:
    """Count the clicks from a page to each place that links lead to.

    A link costs one, and one more if it is in something that has to be unfolded first.
    """
    reached: dict[tuple[str, str], int] = {}
    seen: set[str] = set()
    waiting = [(0, start, "")]
    while waiting:
        cost, name, anchor = heapq.heappop(waiting)
        if reached.setdefault((name, anchor), cost) < cost or name in seen:
            continue
        seen.add(name)
        for link in pages[name].links if name in pages else ():
            step = 2 if link.folded else 1
            heapq.heappush(waiting, (cost + step, link.page, link.anchor))
    return reached
