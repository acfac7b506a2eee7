"""The list of what is claimed, proofs/theorems.txt, kept by hand.

    # shape.mlw
    ## any comment
    Shape.pad'vc    Padding a shape prepends axes of size 1 up to the wanted rank.

A heading names a theory file below why3/; each line under it names one of its goals and says in
plain English what the goal claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from failures import Failure


@dataclass(frozen=True)
class Entry:
    """One line of the list."""

    line: int
    theory: str
    name: str
    sentence: str


@dataclass(frozen=True)
class Claims:
    """The list, and what is wrong with it in itself."""

    path: str
    entries: list[Entry]
    failures: list[Failure]

    def failure(self, line: int, name: str, what: str) -> Failure:
        """Report something about a line of the list."""
        return Failure(f"{self.path}:{line}", name, what)


def read(path: Path, shown_as: str) -> Claims:
    """Read the list and check what can be checked without the theories."""
    claims = Claims(shown_as, [], [])
    theory = ""
    seen: dict[str, int] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, text in enumerate(lines, start=1):
        if not text.strip() or text.startswith("##"):
            continue
        if text.startswith("#"):
            theory = "why3/" + text.removeprefix("#").strip()
            continue
        name, _, sentence = text.strip().partition(" ")
        entry = Entry(number, theory, name, sentence.strip())
        claims.failures.extend(check_entry(claims, entry, seen))
        seen.setdefault(name, number)
        claims.entries.append(entry)
    if not claims.entries:
        claims.failures.append(Failure(shown_as, "", "lists no theorem"))
    return claims


def check_entry(claims: Claims, entry: Entry, seen: dict[str, int]) -> list[Failure]:
    """Check one line against the form and against the names before it."""
    found = []
    if not entry.theory:
        found.append("stands under no heading; write `# shape.mlw` above it")
    if not entry.sentence:
        found.append("has no sentence that says what it claims")
    elif not entry.sentence.endswith("."):
        found.append("has a sentence without its full stop")
    if entry.name in seen:
        found.append(f"is listed twice, first in line {seen[entry.name]}")
    return [claims.failure(entry.line, entry.name, what) for what in found]


def compare(claims: Claims, goals: dict[str, dict[str, str]], files: list[str]) -> list[Failure]:
    """Compare the list with the theories' goals.

    `files` are all theories; `goals` has, for those that are looked at, the place
    (`why3/shape.mlw:42`) of each goal.
    """
    listed = {(entry.theory, entry.name) for entry in claims.entries}
    failures = [
        Failure(place, name, f"is not listed in {claims.path}")
        for theory, places in goals.items()
        for name, place in places.items()
        if (theory, name) not in listed
    ]
    for entry in claims.entries:
        if entry.theory and entry.theory not in files:
            what = f"is listed under {entry.theory}, which is no theory"
            failures.append(claims.failure(entry.line, entry.name, what))
        elif entry.theory in goals and entry.name not in goals[entry.theory]:
            what = f"is listed, but {entry.theory} has no such goal"
            failures.append(claims.failure(entry.line, entry.name, what))
    return failures


def template(goals: dict[str, dict[str, str]]) -> str:
    """Give all goals in the list's form, with their places where the sentences belong."""
    blocks = []
    for theory, places in goals.items():
        width = max(map(len, places), default=0)
        lines = [f"{name:<{width}}  ({place})" for name, place in places.items()]
        if lines:
            blocks.append("\n".join([f"# {theory.removeprefix('why3/')}", *lines]))
    return "\n\n".join(blocks)
