"""The documentation: the package, its rules at work, its command line, functions and theories."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

import whycast
from evidence import api, command_line, documents, museum, pages, worked
from evidence.documents import page
from gate import trace
from gate.closed import ROOT, ToolError
from gate.theories import theory_files
from whycast import testing
from whycast.testing import strategies

PACK = "build/doc"
EVIDENCE = "../evidence/"

# A room in the README: `| [core](why3/core/) | shapes, ... | [shape.mlw](...) |`
ROOM = re.compile(r"^\| \[(\w+)\]\(why3/\1/\) \| (.*?) \|", re.MULTILINE)


class Theory(NamedTuple):
    """A theory, by its file in why3/."""

    file: str
    title: str


class Room(NamedTuple):
    """A room of why3/, what the README says of it, and its theories in reading order."""

    name: str
    says: str
    theories: list[Theory]


def main(arguments: Sequence[str]) -> int:
    """Run the command."""
    argparse.ArgumentParser(prog="doc", description=__doc__).parse_args(arguments)
    os.environ["COLUMNS"] = "90"  # The width for which help is laid out, whatever the terminal's.
    print(f"documentation: {write(ROOT) / 'index.html'}")
    return 0


def write(root: Path) -> Path:
    """Write the documentation in one go, and give its directory."""
    evidence = root / pages.PACK / "index.html"
    texts = html(root, evidence if evidence.is_file() else None)
    made = {name: text.encode() for name, text in texts.items()}
    return documents.replace_folder(root / PACK, made)


def html(root: Path, evidence: Path | None) -> dict[str, str]:
    """Write all pages; they lead to the evidence, if its first page is there."""
    listed = rooms(root)
    files = [f"why3/{theory.file}" for room in listed for theory in room.theories]
    texts = documents.theories(root, files)
    read = api.modules(whycast, testing, strategies)
    links = api.Links(read, {file: f"../theories/{page(file)}" for file in files})
    shown = evidence.read_text(encoding="utf-8") if evidence else ""
    known = set(re.findall(r'id="(E_\w+)"', shown))
    made = documents.environment(
        about="documentation",
        version=whycast.__version__,
        evidence=EVIDENCE if evidence else "",
        modules=read,
        clauses=clauses(root),
        links=links,
        rooms=listed,
        session=worked.session(worked.SESSION),
        refused=worked.session(worked.REFUSED),
        rules=worked.ROWS,
        questions=worked.QUESTIONS,
        cases=worked.CASES,
        verdict=worked.verdict,
        commands=command_line.commands(),
        pytest_help=command_line.pytest_help(),
        museum=museum.rooms(),
        released=museum.released(),
    )
    made.filters |= {
        "example": api.example,
        "shape": shape,
        "tagged": lambda text, up: documents.tagged(text, f"{up}{EVIDENCE}index.html", known),
        "ticked": lambda text: Markup(api.MARKDOWN.renderInline(text)),
    }
    plain, module = made.get_template("base.html"), made.get_template("doc/module.html")
    sheets = (documents.TEMPLATES / "style.css", documents.TEMPLATES / "doc/doc.css")
    found = {sheet.name: sheet.read_text(encoding="utf-8") for sheet in sheets}
    found |= {name: command_line.figure(*shapes) for name, shapes in worked.FIGURES.items()}
    for name in ("index.html", "command.html", "museum.html"):
        found[name] = made.get_template(f"doc/{name}").render(up="")
    for each in read:
        found[f"api/{each.page}"] = module.render(up="../", module=each)
    for name, body in texts.items():
        trail = {"theories": "../index.html#theories"}
        if evidence and (evidence.parent / "proofs" / name).is_file():
            trail["definitions and proofs"] = f"../{EVIDENCE}proofs/{name}"
        content, heading = made.filters["tagged"](Markup(body), "../"), name.removesuffix(".html")
        text = plain.render(up="../", heading=heading, content=content, trail=trail)
        found[f"theories/{name}"] = text
    return found


def rooms(root: Path) -> list[Room]:
    """Read what the README says of the rooms, and give their theories in reading order."""
    said = dict(ROOM.findall((root / "README.md").read_text(encoding="utf-8")))
    names = [file.removeprefix("why3/") for file in theory_files(root)]
    theories = [Theory(name, documents.title(root / "why3" / name)) for name in names]
    within = groupby(theories, key=lambda theory: theory.file.partition("/")[0])
    found = [Room(name, said.get(name, ""), list(files)) for name, files in within]
    if silent := [room.name for room in found if not room.says]:
        raise ToolError(f"README.md: no row of the table says what is in {', '.join(silent)}")
    return found


def clauses(root: Path) -> dict[str, list[str]]:
    """Give the clauses to which each public name belongs."""
    entries = (entry for entry in trace.of_package(root, ()) if isinstance(entry, trace.Entry))
    return {entry.name: [tag.id for tag in entry.tags] for entry in entries}


def shape(sizes: Sequence[int]) -> str:
    """Write a shape as the texts do: (3) for one axis."""
    return f"({', '.join(map(str, sizes))})"
