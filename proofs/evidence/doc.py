"""The documentation: this module fills in the texts in python/doc, and Sphinx builds it."""

from __future__ import annotations

import argparse
import base64
import html
import json
import os
import posixpath
import re
import shutil
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sphinx.cmd.build import build_main

import whycast
from evidence import argument, exchange, needs, pack, worked
from gate import closed, trace
from gate.closed import ROOT, ToolError
from gate.facts import library
from gate.theories import theory_files
from gate.toolchain import VENV
from whycast import _command
from whycast._command import _arguments
from whycast._errors import show_shape
from whycast._rules import RULES
from whycast.testing._report import call_of
from whycast.testing._report._compare import KINDS

TEXTS, SOURCE, PACK = "python/doc", "build/doc-source", "build/doc"

# Shell sessions in the texts use the package in .venv; help has a fixed width.
ENVIRONMENT = {
    **{"PATH": f"{VENV / 'bin'}:/usr/bin:/bin", "COLUMNS": "90", "LC_ALL": "C.UTF-8"},
    "PYTHONDONTWRITEBYTECODE": "1",
}

# For each linked file, the page that shows it.
EVIDENCE = {
    "proofs/claims.lock": "evidence/reviews.md",
    "proofs/signatures.toml": "evidence/reviews.md",
    "tests/c/misra.toml": "evidence/misra.md",
    "proofs/gate/toolchain.toml": "evidence/trusted.md",
    "why3": "theories.md",
    "why3/trace.toml": "evidence/clauses.md",
}

SHOWN = re.compile(r'document\("([^"]+)"')
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)#:\s]*)(#[^)\s]*)?\)")

ADDRESS = re.compile(r"""<[^>]*\b(?:href|src)="([^"]*)\"""")
PLACE = re.compile(r"""<[^>]*\bid="([^"]*)\"""")

# Names, heading levels and focus, which the theme lacks, for screen readers and keyboards.
MENDED = {
    'role="heading"': 'role="heading" aria-level="2"',
    '<aside class="sidebar-drawer"': '<aside aria-label="Pages" class="sidebar-drawer"',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<th class="head"><p></p></th>': "<td></td>",
    '<div id="search-results"': '<h1>Search</h1>\n<div id="search-results"',
}

# The command for a module that browsers load with the page, even from a local folder.
WASM = (
    *("/usr/bin/clang", "--target=wasm32", "-std=c99", "-O2", "-mbulk-memory", "-ffreestanding"),
    *("-nostdlib", "-DWHYCAST_MEMCPY=__builtin_memcpy", "-Wl,--no-entry", "-Wl,--strip-all"),
    "-Wl,--export=__heap_base",
)
EXPORTED = ("broadcast_shape", "broadcast_strides", "broadcast", "plan", "byte_size")


def main(arguments: Sequence[str]) -> int:
    """Run the command."""
    argparse.ArgumentParser(prog="doc", description=__doc__).parse_args(arguments)
    evidence = needs.Evidence(pack.told(ROOT), ROOT)
    if not evidence.is_current:
        print("doc: the evidence belongs to other sources: run make")
    print(f"documentation: {build(ROOT, evidence) / 'index.html'}")
    return 0


def build(root: Path, evidence: needs.Evidence) -> Path:
    """Build the documentation in one go; return its folder. A warning of Sphinx is an error."""
    os.environ |= ENVIRONMENT
    source, new, made = root / SOURCE, root / f"{PACK}.new", root / PACK
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(new, ignore_errors=True)
    write(root, source, evidence)
    doctrees = root / "build/cache/doctrees"
    if build_main(["-q", "-W", "-E", "-d", f"{doctrees}", f"{source}", f"{new}"]):
        raise ToolError("Sphinx has not built the documentation")
    for path in new.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        for old, better in MENDED.items():
            text = text.replace(old, better)
        path.write_text(text, encoding="utf-8")
    (new / "permalink.html").unlink(missing_ok=True)  # No page links to it, and it asks a server.
    shown = needs.read_back(new / "needs.json", evidence)
    (new / "needs.reqifz").write_bytes(exchange.written(shown))
    if dead := dead_links(new):
        raise ToolError("\n".join(["these links lead nowhere:", *dead]))
    shutil.rmtree(made, ignore_errors=True)
    return new.rename(made)


def dead_links(folder: Path) -> list[str]:
    """List the links of the pages to missing files or places."""
    pages = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    places = {path: {html.unescape(each) for each in PLACE.findall(t)} for path, t in pages.items()}
    found = set()
    for path, text in pages.items():
        for address in {html.unescape(each) for each in ADDRESS.findall(text)}:
            name, _, anchor = address.partition("#")
            to = Path(posixpath.normpath(path.parent / name.partition("?")[0])) if name else path
            if re.match(r"\w+:", address) or (path.stem == "play" and "=" in anchor):
                continue  # A link to another site, or a query of the page.
            known = places.get(to, {anchor} if to.is_file() else ())
            if not (anchor in known or unquote(anchor) in known or (to in pages and not anchor)):
                found.add(f"{path.relative_to(folder)}: {address}")
    return sorted(found)


def write(root: Path, source: Path, evidence: needs.Evidence) -> None:
    """Write Sphinx's input: the filled-in texts, needs, theories, the compiled C."""
    shutil.copytree(root / TEXTS, source)
    told = needs.known(evidence)
    made = environment(source, **known(root, evidence), **told)
    for path in sorted(each for end in ("md", "rst") for each in source.rglob(f"*.{end}")):
        name = path.relative_to(source).as_posix()
        if not name.startswith("_"):
            path.write_text(made.get_template(name).render(), encoding="utf-8")
    goals = argument.written(told["argument"])
    (source / "evidence/argument.yaml").write_text(goals, encoding="utf-8")
    (source / "theories").mkdir()
    given = {file: (title(text), text) for file, text in theories(root).items()}
    for name, text in needs.pages(evidence, given).items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    shutil.copytree(evidence.root / pack.PACK, source / "evidence/facts")
    (source / "evidence/clauses.txt").write_text(" ".join(evidence.known), encoding="utf-8")
    reading = {"shape": _arguments.SHAPE, "sizes": _arguments.SIZES, "named": _arguments.NAMED}
    data = {"wasm": compiled(root), **reading, **worked.small()}
    script = f"const WHYCAST = {json.dumps(data, ensure_ascii=False)};\n"
    (source / "_static/whycast.js").write_text(script, encoding="utf-8")


def environment(folder: Path, **known: Any) -> Environment:
    """Make Jinja's environment for the texts; an undefined name is an error, not a blank."""
    made = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= known
    evidence = known["evidence"]
    made.filters |= {"code": needs.code, "block": needs.block, "ident": needs.ident}
    made.filters |= {"slug": needs.slug, "library": library, "prose": evidence.prose}
    return made


def known(root: Path, evidence: needs.Evidence) -> dict[str, Any]:
    """Return the names that the texts of python/doc use."""
    sys.path += [str(root / "tests/oracle"), str(root / "tests/peers")]
    museum, inferred = __import__("museum"), __import__("record_symbolic")
    register = json.loads((root / "tests/peers/deviations.json").read_text(encoding="utf-8"))
    return {
        "version": whycast.__version__,
        "document": lambda *which: document(root, evidence, *which),
        "papers": shown(root),
        "rooms": rooms(root),
        "rules": worked.ROWS,
        "public_name": worked.public_name,
        "asked": worked.asked,
        "cell": worked.cell,
        "written": show_shape,
        "commands": list(_command._MODULES),
        "museum": [(name, list(each)) for name, each in groupby(museum.MUSEUM, lambda e: e.group)],
        "call": lambda each: call_of(RULES[each.wrong.rule], each.wrong.level, each.wrong.case),
        "clause": lambda each: RULES[each.wrong.rule].clauses.get(KINDS[each.wrong.kind].clause),
        **register,
        "words": lambda asked, k: list(dict.fromkeys(each.split()[k] for each in asked)),
        "kinds": KINDS,
        "inferred": inferred,
        "said": json.loads(inferred.FILE.read_text(encoding="utf-8")),
    }


def document(
    root: Path, evidence: needs.Evidence, name: str, start: str = "", end: str = ""
) -> str:
    """Return a document, or its part between two headings, with links as on the site."""
    text = (root / name).read_text(encoding="utf-8")
    text = text[text.index(start) :]
    text = text[: text.index(end)] if end else text
    pages = shown(root) | {file: f"theories/{library(file)}.md" for file in theory_files(root)}
    pages |= EVIDENCE

    def mended(link: re.Match[str]) -> str:
        said, path, anchor = link.groups(default="")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        if said.strip("`") in evidence.symbols:
            return evidence.ref(said.strip("`"))
        if path and target not in pages:
            return said
        return f"[{said}]({'/' + pages[target] if path else ''}{anchor})"

    return LINK.sub(mended, text)


def shown(root: Path) -> dict[str, str]:
    """Return the page of each document."""
    pages = [(path.name, path.read_text(encoding="utf-8")) for path in (root / TEXTS).glob("*.md")]
    return {file: page for page, said in pages for file in SHOWN.findall(said)}


def title(text: str) -> str:
    """Read the title of a theory."""
    found = re.search(r"\{1 (.*?)\}", text, re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def theories(root: Path) -> dict[str, str]:
    """Return the text of each theory."""
    return {file: (root / file).read_text(encoding="utf-8") for file in theory_files(root)}


def rooms(root: Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the rooms and their theories, with titles, in an order for reading."""
    found = [(file, title(text)) for file, text in theories(root).items()]
    within = groupby(found, key=lambda each: each[0].split("/")[1])
    return [(name, list(theories)) for name, theories in within]


def clauses(root: Path) -> dict[str, list[str]]:
    """Return the clauses of each public name."""
    entries = (entry for entry in trace.of_package(root, ()) if isinstance(entry, trace.Entry))
    return {entry.name: [tag.id for tag in entry.tags] for entry in entries}


def compiled(root: Path) -> str:
    """Compile the verified C for browsers, in base64."""
    into = root / SOURCE / "whycast.wasm"
    exported = [f"-Wl,--export=whycast_{name}" for name in EXPORTED]
    closed.run(*WASM, *exported, "-o", into, root / "c/whycast.c")
    text = base64.b64encode(into.read_bytes()).decode()
    into.unlink()
    return text
