"""Claims, and the lock that shows that a person read them.

A proof does not notice if a formula changes its meaning, or if its sentence, the doc comment,
promises more. So proofs/claims.lock contains, for each item that somebody relies on, a hash of the
statement with resolved names, a hash of the sentence, and the day on which a person compared them.
It also seals lists that no proof covers, and the theories' other comments: see inventory.py.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gate import extraction, trace
from gate.facts import Facts, Failure, Symbol, full_name, path
from gate.theories import closure, doc_comments, theory_files

LOCK = "proofs/claims.lock"
HEAD = """\
# Each claim, the hashes of its statement and its sentence, and the day on which a person compared
# them. `make seal` writes this file and shows new and changed lines: read them before you commit
# it. `make` refuses any other statement or sentence.
"""
LINE = re.compile(r"(?m)^(\S+) (\S+) ([0-9a-f]{64}) ([0-9a-f]{64}) (\d{4}-\d{2}-\d{2})$")
TAG, HEADING = re.compile(r"\[E_[^\]]*\]"), re.compile(r"\s*\{\d ")

# A theory's path, and the `Module.name` of an item in it.
Key = tuple[str, str]


class Seal(NamedTuple):
    """The hashes of a statement and its sentence, and the day of their comparison."""

    statement: str
    sentence: str
    day: str = ""


class Claim(NamedTuple):
    """An item as it is now."""

    symbol: Symbol
    sentence: str
    is_goal: bool
    is_relied_on: bool

    def seal(self) -> Seal:
        """Hash statement and sentence."""
        symbol = self.symbol
        said = json.dumps([symbol["kind"], symbol["statement"], symbol["names"]])
        return Seal(*(hashlib.sha256(t.encode()).hexdigest() for t in (said, self.sentence)))


def read(lock: Path) -> dict[Key, Seal]:
    """Read the lock; malformed lines seal nothing."""
    text = lock.read_text(encoding="utf-8") if lock.exists() else ""
    return {(file, name): Seal(*seal) for file, name, *seal in LINE.findall(text)}


def goals_of(facts: Facts) -> set[Key]:
    """Return the goals of the sessions."""
    return {(s["file"], full_name(goal)) for s in facts["sessions"] for goal in s["goals"]}


def relied_on(facts: Facts) -> set[str]:
    """Return the paths of items that somebody relies on: all need a seal, hypotheses a witness.

    These are tagged items, extracted programs, items without a body, and all that they mention.
    """
    paths = [(path(symbol, symbol["file"]), symbol) for symbol in facts["symbols"]]
    mentioned, called = defaultdict[str, set[str]](set), dict[str, set[str]]()
    for name, symbol in paths:
        mentioned[name] |= {*symbol["names"], symbol["template"] or name}
        if symbol["kind"] == "program" and not symbol["ghost"]:
            called[name] = {*symbol["calls"]}
    modules = {*extraction.MODULES, *extraction.C_MODULES}
    first = {name for name in called if ".".join(name.split(".")[:3]) in modules}
    extracted = closure("", {**called, "": first}) & called.keys()
    clauses = facts["trace"]["clauses"]
    tagged = {each["place"] for clause in clauses for part in trace.MAIN for each in clause[part]}
    for name, symbol in paths:
        if f"{symbol['file']}:{symbol['line']}" in tagged or symbol["kind"] == "val":
            extracted.add(name)
    return closure("", {**mentioned, "": extracted})


def claims(facts: Facts, root: Path) -> dict[Key, Claim]:
    """Return all items in reading order; a type and a function of one name are one claim."""
    files, goals, found = theory_files(root), goals_of(facts), dict[Key, Claim]()
    relied = relied_on(facts)
    order = {file: number for number, file in enumerate(files)}
    said: dict[tuple[str, object], str] = {
        (file, owner): " ".join(TAG.sub("", text).split())
        for file in files
        for owner, _, text in doc_comments((root / file).read_text(encoding="utf-8"))
    }
    for symbol in sorted(
        facts["symbols"] + facts.get("lists", []),
        key=lambda s: (order.get(s["file"], len(order)), s["file"], s["line"] or 0),
    ):
        claimed = symbol["goal"] or f"{symbol['name']}'vc"
        goal = (symbol["file"], f"{symbol['module']}.{claimed}")
        is_goal = symbol["goal"] is not None or goal in goals
        sealed = symbol["kind"] == "list" or path(symbol, symbol["file"]) in relied
        key = goal if is_goal else (symbol["file"], full_name(symbol))
        sentence = said.get((symbol["file"], symbol["line"]), "")
        if key in found:
            sentence = " ".join(dict.fromkeys(filter(None, (found[key].sentence, sentence))))
            symbol, is_goal = both(found[key].symbol, symbol), is_goal or found[key].is_goal
            sealed = sealed or found[key].is_relied_on
        found[key] = Claim(symbol, sentence, is_goal, sealed)
    return found


def both(a: Symbol, b: Symbol) -> Symbol:
    """Join two symbols of one name."""
    kind, statement = f"{a['kind']}, {b['kind']}", f"{a['statement']}\n{b['statement']}"
    says_nothing = a["says_nothing"] or b["says_nothing"]
    fields: Symbol = {"kind": kind, "statement": statement, "says_nothing": says_nothing}
    return {**a, **fields, "names": [*a["names"], *b["names"]], "goal": a["goal"] or b["goal"]}


def faults(claim: Claim, has_goal: bool, sealed: Seal | None) -> Iterator[str]:
    """Find faults of an item and its line in the lock."""
    symbol, now = claim.symbol, claim.seal()
    first = symbol["statement"].replace("\n", " ...\n", 1).partition("\n")[0]
    if claim.is_goal and not has_goal:
        yield "has no goal: nothing proves it"
    if not claim.is_relied_on:
        return
    if symbol["says_nothing"]:
        yield f"is trivial: it is true whatever its symbols mean ({first})"
    if claim.is_goal and not claim.sentence:
        yield "has no sentence: expected a doc comment right before it"
    if sealed is None:
        yield f"is not in {LOCK}: nobody has compared statement and sentence"
        return
    if sealed.statement != now.statement:
        yield f"has another statement than when reviewed on {sealed.day} (now: {first})"
    if sealed.sentence != now.sentence:
        yield f"has another sentence than when reviewed on {sealed.day} (now: {claim.sentence})"


def comment_faults(root: Path, facts: Facts) -> Iterator[Failure]:
    """Find doc comments that belong to no item and are neither a head nor a heading."""
    items = {(symbol["file"], symbol["line"]) for symbol in facts["symbols"]}
    for file in theory_files(root):
        for owner, first, text in doc_comments((root / file).read_text(encoding="utf-8")):
            if isinstance(owner, str) or (owner is None and HEADING.match(text)):
                continue
            if (file, owner) not in items:
                what = "is a doc comment that no item has for its sentence: expected an item below"
                yield Failure(f"{file}:{first}", "", what)
            items.discard((file, owner))


def check(root: Path, claims: Mapping[Key, Claim], facts: Facts) -> list[Failure]:
    """Compare the lock with the theories."""
    seals, goals, failures = read(root / LOCK), goals_of(facts), list[Failure]()
    for key, claim in claims.items():
        place = f"{key[0]}:{claim.symbol['line'] or ''}".rstrip(":")
        found = faults(claim, key in goals, seals.get(key))
        failures += [Failure(place, key[1], what) for what in found]
    # If a theory cannot be read, some claims are unknown.
    if not any(part["errors"] for part in (*facts["sessions"], *facts["theories"])):
        gone = seals.keys() - {key for key, claim in claims.items() if claim.is_relied_on}
        failures += [Failure(*key, f"is in {LOCK}, and is no claim") for key in sorted(gone)]
        failures += comment_faults(root, facts)
    for file, name in sorted(goals - claims.keys()):
        failures.append(Failure(file, name, "is a goal of nothing that the audit finds"))
    return failures


def unread(root: Path, claims: Mapping[Key, Claim]) -> list[Key]:
    """List the claims whose present form nobody has compared."""
    seals = read(root / LOCK)
    sealed = {k: v for k, v in claims.items() if v.is_relied_on or k in seals}
    return [key for key, claim in sealed.items() if seals.get(key, ())[:2] != claim.seal()[:2]]


def seal(root: Path, claims: Mapping[Key, Claim], day: str) -> list[Key]:
    """Write the lock anew; return the new, changed and gone claims, for a person to compare."""
    seals, relied = read(root / LOCK), {k: v for k, v in claims.items() if v.is_relied_on}
    told, text = [key for key in seals if key not in relied], HEAD
    for key, claim in relied.items():
        now, was = claim.seal(), seals.get(key)
        if was is None or was[:2] != now[:2]:
            told.append(key)
            was = now._replace(day=day)
        text += f"{' '.join((*key, *was))}\n"
    (root / LOCK).write_text(text, encoding="utf-8")
    return told


def of_goals(claims: Mapping[Key, Claim]) -> dict[str, str]:
    """Return the sentences of all goals, by name, in reading order."""
    return {name: claim.sentence for (_, name), claim in claims.items() if claim.is_goal}
