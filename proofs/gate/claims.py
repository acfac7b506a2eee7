"""What is claimed, and that somebody has read it: proofs/claims.txt, kept by hand.

Under a heading for each theory below why3/ (`# core/shape.mlw`) a line has a goal, its seal and a
sentence for what it claims, or a definition without goal and its seal. A seal is of what Why3 reads
there and of the sentence, written when a person had compared the two: no proof can tell that a
theorem, or a definition in it, has come to say something else. Lists that no proof looks at
(`# ../proofs/mutants.toml`) are sealed here as well: see inventory.py.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple

from gate.facts import Facts, Failure, Symbol, full_name

CLAIMS = "proofs/claims.txt"
LINE = re.compile(r"# (\S+)\s*|(?:##.*)?\s*|(\S+)\s+([0-9a-f]{16})(?:\s+(\S.*?))?\s*")
# Of a line that is still to be reviewed.
UNSEALED = "0" * 16
# A goal in a document: [`Padding.pad`](../why3/core/shape.mlw).
LINK = re.compile(r"\[`(?P<name>[^`]*)`\]\(\.\./(?P<file>why3/[^)]*\.mlw[^)]*)\)")
# A theory, and a goal or definition in it: `Module.name`.
Key = tuple[str, str]


class Line(NamedTuple):
    """A line of the file; a heading has its theory's name, a comment none."""

    text: str
    key: Key
    seal: str = ""
    sentence: str = ""


class Claims(NamedTuple):
    """All lines of the file, the sentence of each goal, and what is wrong with it in itself."""

    lines: list[Line]
    sentences: dict[str, str]
    failures: list[Failure]


def read(path: Path) -> Claims:
    """Read the file and check what can be checked without the theories."""
    return parsed(path.read_text(encoding="utf-8") if path.exists() else "")


def parsed(source: str) -> Claims:
    """Read what the file says."""
    claims, theory, first = Claims([], {}, []), "", dict[str, int]()
    for number, text in enumerate(source.splitlines(), start=1):
        match, what = LINE.fullmatch(text), ""
        heading, name, seal, sentence = match.groups("") if match else [""] * 4
        if heading:
            name = theory = normpath(f"why3/{heading}")
        if not match or (name and not theory):
            what = "is no claim: expected a heading, and below it name, seal and sentence"
        elif name and first.setdefault(name, number) != number:
            what = f"is listed twice, first in line {first[name]}"
        if what:
            claims.failures.append(Failure(f"{CLAIMS}:{number}", name or text, what))
        if sentence:
            claims.sentences[name] = sentence
        claims.lines.append(Line(text, (theory, name), seal, sentence))
    return claims


def goals_of(facts: Facts) -> set[Key]:
    """Give the goals of the sessions."""
    return {(s["file"], full_name(goal)) for s in facts["sessions"] for goal in s["goals"]}


def subjects(facts: Facts) -> dict[Key, Symbol]:
    """Give the symbols in the order of the source, each as the goal that it has or has to have.

    A type may have the name of a function or a lemma: the two have one line, and one seal.
    """
    goals, found = goals_of(facts), dict[Key, Symbol]()
    for symbol in sorted(
        facts["symbols"] + facts["lists"], key=lambda s: (s["file"], s["line"] or 0)
    ):
        claimed = symbol["goal"] or f"{symbol['name']}'vc"
        goal = (symbol["file"], f"{symbol['module']}.{claimed}")
        is_goal = symbol["goal"] is not None or goal in goals
        key = goal if is_goal else (symbol["file"], full_name(symbol))
        found[key] = both(found[key], symbol) if key in found else symbol
    return found


def both(a: Symbol, b: Symbol) -> Symbol:
    """Give two symbols of one name as one, which says what both say."""
    return {
        **a,
        "kind": f"{a['kind']}, {b['kind']}",
        "statement": f"{a['statement']}\n{b['statement']}",
        "names": [*a["names"], *b["names"]],
        "goal": a["goal"] or b["goal"],
        "says_nothing": a["says_nothing"] or b["says_nothing"],
        "calls": [*a["calls"], *b["calls"]],
    }


def seal_of(symbol: Symbol, sentence: str) -> str:
    """Give the seal of what a symbol says and of the sentence for it."""
    sealed = json.dumps([symbol["kind"], symbol["statement"], symbol["names"], sentence])
    return hashlib.sha256(sealed.encode()).hexdigest()[:16]


def faults(symbol: Symbol, has_goal: bool, line: Line) -> Iterator[str]:
    """Say what is wrong with a symbol and its line."""
    now = symbol["statement"].replace("\n", " ...\n", 1).partition("\n")[0]
    is_goal = has_goal or symbol["goal"] is not None
    if is_goal and not has_goal:
        yield "has no goal: nothing proves it"
    # A witness calls what requires something, and asserts.
    is_witness = "/witness_" in symbol["file"] and symbol["kind"] == "theorem"
    if symbol["says_nothing"] and not (is_witness and "ensures" not in symbol["statement"]):
        yield f"says nothing: what it claims is true whatever its symbols mean ({now})"
    if is_goal != bool(line.sentence):
        yield "has no sentence for its goal" if is_goal else "has a sentence, and no goal"
    if line.seal != seal_of(symbol, line.sentence):
        yield f"says something else than what was reviewed, or is reworded (now: {now})"


def check(claims: Claims, facts: Facts, theories: Collection[str]) -> list[Failure]:
    """Compare what is listed with what is there; `theories` are the files that there are."""
    failures, goals = list(claims.failures), goals_of(facts)
    unread = {part["file"] for part in (*facts["sessions"], *facts["theories"]) if part["errors"]}
    listed = {line.key: line for line in claims.lines if line.key[1]}
    there = {(f, f): f for f in (*theories, *(entry["file"] for entry in facts["lists"]))}
    # What the tags of a theory say is not known either.
    unread |= {key[0] for key in listed if unread and key[0] not in theories}
    for key, symbol in subjects(facts).items():
        there[key] = f"{key[0]}:{symbol['line'] or ''}".rstrip(":")
        found = faults(symbol, key in goals, listed[key]) if key in listed else ()
        failures += [Failure(there[key], key[1], what) for what in found]
    for key in sorted(there.keys() - listed.keys()):
        failures.append(Failure(there[key], key[1], f"is not listed in {CLAIMS}"))
    for number, line in enumerate(claims.lines, start=1):
        if line.key[1] and line.key not in there and line.key[0] not in unread:
            failures.append(Failure(f"{CLAIMS}:{number}", line.key[1], "is listed, and not there"))
    for file, name in sorted(goals - there.keys()):
        failures.append(Failure(file, name, "is a goal of nothing that the audit finds"))
    return failures


class Change(NamedTuple):
    """A line that is sealed, or anew, or gone: its key, and what it says now."""

    key: Key
    line: int | None
    was_sealed: bool
    sentence: str
    statement: str | None


def seal(path: Path, facts: Facts) -> list[Change]:
    """Seal what all theories say; give what is new or changed, to be compared by a person."""
    claims, here, told = read(path), subjects(facts), list[Change]()
    last = {line.key[0]: line.key for line in claims.lines if line.key[0] == line.key[1] != ""}
    wrong = [error for part in (*facts["sessions"], *facts["theories"]) for error in part["errors"]]
    wrong += [f"{f} has no heading in {CLAIMS}" for f in sorted({f for f, _ in here} - {*last})]
    if wrong or claims.failures:
        raise ValueError("\n".join([*wrong, *map(str, claims.failures)]))
    lines = [line for line in claims.lines if not line.seal or line.key in here]
    for key in here:
        order = [line.key for line in lines]
        if key not in order:
            lines.insert(order.index(last[key[0]]) + 1, Line("", key))
        last[key[0]] = key
    for index, (_, key, old, sentence) in enumerate(lines):
        if symbol := here.get(key):
            new, width = seal_of(symbol, sentence), max(len(n) for f, n in here if f == key[0])
            lines[index] = Line(f"{key[1]:<{width}}  {new}  {sentence}".rstrip(), key)
            if new != old:
                says = (sentence, symbol["statement"])
                told.append(Change(key, symbol["line"], old not in ("", UNSEALED), *says))
    gone = [line for line in claims.lines if line.seal and line.key not in here]
    told += [Change(line.key, None, True, line.sentence, None) for line in gone]
    path.write_text("".join(f"{line.text}\n" for line in lines), encoding="utf-8")
    return told


def document_faults(root: Path, facts: Facts) -> list[Failure]:
    """Find what the documents name as a goal of a theory and is none."""
    goals = {(file, name.removesuffix("'vc")) for file, name in goals_of(facts)}
    return [
        Failure(path.relative_to(root).as_posix(), name, f"is no goal of {file}")
        for path in sorted((root / "proofs").glob("*.md"))
        for name, file in LINK.findall(path.read_text(encoding="utf-8"))
        if (file, name) not in goals
    ]
