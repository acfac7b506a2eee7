"""What a person has read: proofs/reviewed.txt, the seals of what goals and definitions say.

    # shape.mlw
    Padding.pad'vc  0123456789abcdef  fedcba9876543210
    Shape.valid     0123456789abcdef  -

A line has the hash of a statement, as Why3 reads it from the theory, and that of its sentence in
theorems.txt; a definition without a goal has no sentence. It was written when somebody had compared
the two. Proofs cannot tell that a theorem has come to say something else: its session is brought up
to date with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import statements
import theorems
from facts import Facts
from failures import Failure
from statements import Subject

NO_SENTENCE = "-"
DIGITS = 16

HEAD = """\
## What has been reviewed: a person has compared the sentence of each goal in theorems.txt with its
## statement in the theory, and has read each definition that has no goal of its own. The first hash
## is that of the statement as Why3 reads it, the second that of the sentence. The gate fails where
## one of them is not what is there now, and where one is missing: what is proved may then be
## something else than what is claimed.
##
## `gate.py --seal [THEORY ...]` writes this file, and prints the statements and sentences that it
## seals for the first time or anew: they are to be compared before it is committed. Nothing else
## writes it.
"""


def digest(text: str) -> str:
    """Hash a statement or a sentence."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


@dataclass(frozen=True)
class Seal:
    """One line of the file."""

    line: int
    theory: str
    name: str
    statement: str
    sentence: str


@dataclass(frozen=True)
class Seals:
    """The file, and what is wrong with it in itself."""

    path: str
    entries: list[Seal]
    failures: list[Failure]

    def by_name(self) -> dict[tuple[str, str], Seal]:
        """Give the seals by theory and name."""
        return {(seal.theory, seal.name): seal for seal in self.entries}


def read(path: Path, shown_as: str) -> Seals:
    """Read the file and check what can be checked without the theories."""
    seals = Seals(shown_as, [], [])
    theory = ""
    seen: dict[tuple[str, str], int] = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, text in enumerate(lines, start=1):
        words = text.split()
        if not words or text.startswith("##"):
            continue
        if text.startswith("#"):
            theory = "why3/" + text.removeprefix("#").strip()
            continue
        if len(words) != 3:
            what = "is no seal: a name, the hash of its statement, that of its sentence or -"
            seals.failures.append(Failure(f"{shown_as}:{number}", words[0], what))
            continue
        seal = Seal(number, theory, *words)
        first = seen.setdefault((theory, seal.name), number)
        if first != number:
            what = f"is sealed twice, first in line {first}"
            seals.failures.append(Failure(f"{shown_as}:{number}", seal.name, what))
        seals.entries.append(seal)
    if not seals.entries:
        seals.failures.append(Failure(shown_as, "", "seals nothing (gate.py --seal)"))
    return seals


def sentences(claims: theorems.Claims) -> dict[tuple[str, str], theorems.Entry]:
    """Give the sentences of theorems.txt by theory and name."""
    return {(entry.theory, entry.name): entry for entry in claims.entries}


def sealed(subject: Subject, entry: theorems.Entry | None) -> tuple[str, str]:
    """Give the two hashes that a subject has now."""
    sentence = digest(entry.sentence) if entry and subject.is_goal else NO_SENTENCE
    return digest(subject.statement), sentence


# --- comparing ----------------------------------------------------------------------------------


def faults(
    subject: Subject, seal: Seal | None, entry: theorems.Entry | None, claims: theorems.Claims
) -> list[Failure]:
    """Say how a subject differs from what was reviewed."""
    if seal is None:
        what = "was never reviewed (gate.py --seal)"
        return [Failure(subject.place, subject.name, what)]
    failures = []
    statement, sentence = sealed(subject, entry)
    if statement != seal.statement:
        now = statements.first_line(subject.statement)
        what = (
            "says something else than what was reviewed: "
            f"its statement has changed since (now: {now})"
        )
        failures.append(Failure(subject.place, subject.name, what))
    was_goal = seal.sentence != NO_SENTENCE
    if was_goal != subject.is_goal:
        what = "was a goal" if was_goal else "was no goal"
        failures.append(Failure(subject.place, subject.name, f"{what} when it was reviewed"))
    # That a goal has no sentence is said of theorems.txt.
    elif entry and sentence != seal.sentence:
        where = f"{claims.path}:{entry.line}"
        what = "has a sentence in theorems.txt that was reworded since it was reviewed"
        failures.append(Failure(where, subject.name, what))
    return failures


def compare(facts: Facts, claims: theorems.Claims, seals: Seals, files: list[str]) -> list[Failure]:
    """Compare what is there with what was reviewed; `files` are all theories."""
    failures = list(seals.failures)
    if not seals.entries:
        return failures
    reviewed, claimed = seals.by_name(), sentences(claims)
    found = statements.subjects(facts)
    for theory, subjects in found.items():
        for subject in subjects:
            key = (theory, subject.name)
            failures.extend(faults(subject, reviewed.get(key), claimed.get(key), claims))
    there = {(theory, subject.name) for theory in found for subject in found[theory]}
    for seal in seals.entries:
        where = f"{seals.path}:{seal.line}"
        if seal.theory not in files:
            what = f"was reviewed under {seal.theory or 'no heading'}, which is no theory"
            failures.append(Failure(where, seal.name, what))
        elif seal.theory in found and (seal.theory, seal.name) not in there:
            what = f"was reviewed, but is there no more, in {seal.theory}"
            failures.append(Failure(where, seal.name, what))
    return failures


# --- sealing ------------------------------------------------------------------------------------


def order(claims: theorems.Claims, files: list[str]) -> list[str]:
    """Give the theories in the order of theorems.txt, then those that are not in it."""
    listed = dict.fromkeys(entry.theory for entry in claims.entries)
    return [file for file in listed if file in files] + [f for f in files if f not in listed]


def block(theory: str, lines: list[tuple[str, str, str]]) -> str:
    """Write the seals of a theory."""
    width = max(len(name) for name, _, _ in lines)
    rows = [f"{name:<{width}}  {statement}  {sentence}" for name, statement, sentence in lines]
    return "\n".join([f"# {theory.removeprefix('why3/')}", *rows]) + "\n"


def change(subject: Subject, seal: Seal | None, entry: theorems.Entry | None) -> str:
    """Describe what sealing changes, for who is to compare; empty if nothing."""
    statement, sentence = sealed(subject, entry)
    if seal is None:
        what = "new"
    else:
        changes = {
            "statement changed": statement != seal.statement,
            "sentence reworded": sentence != seal.sentence,
        }
        what = ", ".join(name for name, is_so in changes.items() if is_so)
    if not what:
        return ""
    says = [f"  {entry.sentence}"] if entry and subject.is_goal else []
    lines = [f"  | {line}" for line in subject.statement.splitlines()]
    return "\n".join([f"{subject.place}: {subject.name}: {what}", *says, *lines])


def rows(
    subjects: list[Subject], claimed: dict[tuple[str, str], theorems.Entry]
) -> Iterator[tuple[Subject, theorems.Entry | None]]:
    """Give what can be sealed, with its sentence: a goal needs one."""
    for subject in subjects:
        entry = claimed.get((subject.theory, subject.name))
        if entry or not subject.is_goal:
            yield subject, entry


def renewed(facts: Facts, claims: theorems.Claims, seals: Seals, files: list[str]) -> str:
    """Give the file with new seals for the theories of `facts`, the others as they are."""
    found, claimed = statements.subjects(facts), sentences(claims)
    blocks = []
    for theory in order(claims, files):
        lines = [
            (seal.name, seal.statement, seal.sentence)
            for seal in seals.entries
            if seal.theory == theory and theory not in found
        ]
        for subject, entry in rows(found.get(theory, []), claimed):
            lines.append((subject.name, *sealed(subject, entry)))
        if lines:
            blocks.append(block(theory, lines))
    return HEAD + "\n" + "\n".join(blocks)


def changes(facts: Facts, claims: theorems.Claims, seals: Seals, files: list[str]) -> list[str]:
    """Describe what `renewed` changes."""
    found, claimed, reviewed = statements.subjects(facts), sentences(claims), seals.by_name()
    described = [
        change(subject, reviewed.get((theory, subject.name)), entry)
        for theory in order(claims, files)
        for subject, entry in rows(found.get(theory, []), claimed)
    ]
    there = {(theory, subject.name) for theory in found for subject in found[theory]}
    gone = [
        f"{seals.path}:{seal.line}: {seal.name}: gone"
        for seal in seals.entries
        if (seal.theory in found or seal.theory not in files)
        and (seal.theory, seal.name) not in there
    ]
    return [text for text in described if text] + gone


def seal(path: Path, shown_as: str, facts: Facts, claims: theorems.Claims, files: list[str]) -> int:
    """Write the seals of what is there now; 0 if everything has one."""
    errors = [error for theory in facts["theories"] for error in theory["errors"]]
    if errors:
        print("\n".join(errors))
        return 1
    before, claimed = read(path, shown_as), sentences(claims)
    unsealed = [
        f"{subject.place}: {subject.name}: not sealed: it has no sentence in {claims.path}"
        for theory, subjects in statements.subjects(facts).items()
        for subject in subjects
        if subject.is_goal and (theory, subject.name) not in claimed
    ]
    described = changes(facts, claims, before, files)
    path.write_text(renewed(facts, claims, before, files), encoding="utf-8")
    print("\n\n".join(described + unsealed), end="\n\n")
    print(f"{shown_as}: {len(described)} changes, to be read before they are committed")
    return 1 if unsealed else 0
