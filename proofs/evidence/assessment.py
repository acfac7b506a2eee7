"""The figures for an assessor in the texts of python/doc/evidence.

They come from the gate's facts, the lanes' records, the sources and their history. A function of
the C without a requirement, or without a proof, is an error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evidence import misra, records
from gate import c_files, claims, closed, judge, mapped, toml, toolchain, trace
from gate.closed import GIT
from gate.facts import Clause, Goal, Symbol, full_name

SIGNATURES = "proofs/signatures.toml"
SOUNDNESS = "proofs/SOUNDNESS.md"
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

DELIVERED = (c_files.HEADER, c_files.SOURCE, "python/whycast/_kernel.py")


class Low(NamedTuple):
    """A low-level requirement of the C: a function's contract and its proof."""

    function: c_files.Function
    symbol: Symbol
    goals: list[Goal]
    clauses: list[str]


class High(NamedTuple):
    """A high-level requirement of the C: a clause, its functions and its tests."""

    clause: Clause
    functions: list[str]
    tests: list[str]


class Belief(NamedTuple):
    """A row of the table in SOUNDNESS: a belief that remains, and its checks."""

    heading: str
    id: str
    believed: str
    checked: str

    def lanes(self) -> list[str]:
        """Return the lanes that check the row."""
        return [lane for lane in records.LANES if f"`make {lane}`" in self.checked]


class Review(NamedTuple):
    """An item for a second reviewer: its seal's day and author, and the second signature."""

    name: str
    day: str
    by: str
    second: str


def levels(evidence: Any, root: Path) -> tuple[list[High], list[Low]]:
    """Return the high-level and the low-level requirements of the C."""
    symbols, low = evidence.graph.symbols, list[Low]()
    for function in c_files.functions(root):
        symbol = own = symbols[function.program]
        # An instance has the goals of its template and of its arguments.
        while own["template"]:
            own = symbols[own["template"]]
        instance = f"{symbol['module']}.{symbol['name'].rpartition('.')[0]}."
        names = [f"{full_name(own)}'vc"]
        names += [n for n in evidence.goals if own is not symbol and n.startswith(instance)]
        goals = [evidence.goals[name] for name in names if name in evidence.goals]
        tagged = evidence.clauses[full_name(symbol)] or evidence.clauses[full_name(own)]
        low.append(Low(function, own, goals, tagged))
    high = [
        High(
            clause,
            [each.function.name for each in low if clause["id"] in each.clauses],
            [each["name"] for each in clause["tests"] if each["name"].startswith("tests/c/")],
        )
        for clause in evidence.facts["trace"]["clauses"]
    ]
    orphans = [f"{each.function.name}: of no clause" for each in low if not each.clauses]
    orphans += [f"{each.function.name}: no goal" for each in low if not each.goals]
    if orphans:
        raise closed.ToolError("\n".join(orphans))
    return [each for each in high if each.functions], low


def authors(root: Path) -> dict[claims.Key, str]:
    """Return the author of each line of the lock, {} without git."""
    if not closed.has_git(root) or not (root / claims.LOCK).is_file():
        return {}
    said = closed.run(*GIT, "blame", "--line-porcelain", "--", claims.LOCK, cwd=root)
    found = re.findall(r"(?m)^author (.*)\n(?:[^\t].*\n)*\t(\S+) (.*)(?: \S+){3}$", said)
    return {(file, name): by for by, file, name in found}


def reviews(evidence: Any, root: Path) -> list[Review]:
    """Return the items for a second reviewer: trusted operations, and the header's statements."""
    sealed = claims.read(root / claims.LOCK)
    wanted = [(symbol["file"], full_name(symbol)) for symbol in evidence.trusted]
    wanted += [key for key in sealed if key[0] == c_files.HEADER]
    signed = toml.loads((root / SIGNATURES).read_text("utf-8")) if sealed else {}
    if unknown := signed.keys() - {name for _, name in wanted}:
        raise closed.ToolError(f"{SIGNATURES}: {', '.join(sorted(unknown))}: nobody has to sign it")
    by = authors(root)

    def review(key: claims.Key) -> Review:
        of, person, day = signed.get(key[1], ("", "", ""))
        second = f"{person}, {day}" if person else ""
        if second and of != f"{sealed[key].statement} {sealed[key].sentence}":
            second += ", of an earlier text"
        return Review(key[1], sealed[key].day, by.get(key, ""), second)

    return [review(key) for key in wanted if key in sealed]


def beliefs(root: Path) -> dict[str, Belief]:
    """Read the table in SOUNDNESS, by its rows' ids."""
    text = (root / SOUNDNESS).read_text("utf-8")
    row, heading = r"(?m)^\| (R\d+|) \| (.*?) \| (.*) \|$|^\| \| \*\*(.*)\*\*", ""
    found = {}
    for id, believed, checked, title in re.findall(row, LINK.sub(r"\1", text)):
        heading = title or heading
        if id:
            found[id] = Belief(heading, id, believed, checked)
    return found


def certified(runs: Mapping[str, records.Record]) -> set[tuple[str, str]]:
    """Return pairs of a goal and a part of it that the last recorded run certified."""
    run = runs.get("certify")
    found = run.facts["parts"] if run and run.facts else []
    return {(each["goal"], each["part"]) for each in found if each["result"] == "certified"}


def last_change(root: Path, file: str) -> str:
    """Return the day of a file's last commit, "" without git."""
    if not closed.has_git(root):
        return ""
    return closed.run(*GIT, "log", "-1", "--format=%cs", "--", file, cwd=root).strip()


def texts(root: Path) -> list[dict[str, str]]:
    """Return the specifications, with their addresses and dates."""
    data = (
        toml.loads((root / trace.TRACE).read_text("utf-8"))
        if (root / trace.TRACE).is_file()
        else {}
    )
    return [{"name": name, **table} for name, table in data.items() if name != trace.DERIVED]


def rules(root: Path) -> list[misra.Row]:
    """Return the rules of MISRA C, and how the C keeps each."""
    path = root / misra.MATRIX
    return misra.rows(toml.loads(path.read_text("utf-8"))) if path.is_file() else []


def known(evidence: Any, root: Path) -> dict[str, Any]:
    """Return the values that the texts of python/doc/evidence use, by name."""
    high, low = levels(evidence, root)
    runs, sources = records.read(root), records.identity(root)
    certain = certified(runs)
    return {
        "high": high,
        "low": low,
        "lanes": records.LANES,
        "runs": runs,
        "sources": sources,
        "ran": {lane: records.told(runs.get(lane), root, sources) for lane in records.LANES},
        "passed": {n for n, r in runs.items() if r.code == 0 and r.sources == sources},
        "beliefs": beliefs(root),
        "commit": records.commit(root),
        "reviews": reviews(evidence, root),
        "texts": texts(root),
        "delivered": {
            name: hashlib.sha256((root / name).read_bytes()).hexdigest()
            for name in DELIVERED
            if (root / name).is_file()
        },
        "misra": rules(root),
        "last_change": lambda file: last_change(root, file),
        "all": evidence.tally(evidence.goals.values()),
        "alone": [each for each in evidence.one_translation() if each not in certain],
        "tools": toolchain.read().values(),
        "requirements": toolchain.REQUIREMENTS[0].read_text(encoding="utf-8"),
        "drivers": {
            language: (root / driver).read_text(encoding="utf-8")
            for language, driver in mapped.DRIVERS.items()
            if (root / driver).is_file()
        },
        "hypotheses": judge.hypotheses(evidence.facts),
    }
