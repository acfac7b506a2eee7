"""Dependencies of a proof: hypotheses, definitions, and contracts of called programs.

The transformation `keep` lists the names that a goal's proof uses; the facts list the calls of a
program, whose contracts are hypotheses of its goal. Names begin with the library:
`core.shape.Shape.pad`, or Why3's `seq.Seq.length`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from gate import judge
from gate.facts import Facts, Goal, Symbol, full_name, library, nodes, path

# Why3's suffixes for the statements of a function's contract or type.
OF_SYMBOL = re.compile(r"'(spec|def|vc|invariant)$")


class Graph:
    """The symbols of the theories, with uses in both directions."""

    def __init__(self, facts: Facts) -> None:
        self.symbols: dict[str, Symbol] = {path(s, s["file"]): s for s in facts["symbols"]}
        self.library: dict[str, Symbol] = {
            f"{entry['module']}.{entry['name']}": entry for entry in facts["library"]
        }
        self.uses: dict[str, list[str]] = {}
        # Goals with a part whose proof uses the whole context.
        self.whole: set[str] = set()
        for session in facts["sessions"]:
            for goal in session["goals"]:
                name = OF_SYMBOL.sub("", path(goal, session["file"]))
                calls = self.symbols[name]["calls"] if name in self.symbols else []
                named = {self.known(n, session["file"]) for n in named_by(goal)} | {*calls}
                self.uses[name] = sorted(named - {name, ""})
                if any(judge.with_whole_context(goal["tree"])):
                    self.whole.add(name)
        for name, symbol in self.symbols.items():
            if symbol["template"]:
                self.uses[name] = [symbol["template"]]
        self.users: defaultdict[str, list[str]] = defaultdict(list)
        for name, used in self.uses.items():
            for each in used:
                self.users[each].append(name)

    def known(self, name: str, file: str) -> str:
        """Return the symbol of a name in a proof, "" for a part's own hypothesis."""
        if "." not in name:
            return ""
        for full in (name, f"{library(file)}.{name}"):
            for found in (full, OF_SYMBOL.sub("", full)):
                if found in self.symbols or found in self.library:
                    return found
        return OF_SYMBOL.sub("", name)

    def assumed(self) -> Counter[str]:
        """Count the goals that use each assumption of Why3's library directly."""
        return Counter({name: len(self.users[name]) for name in self.library if self.users[name]})

    def chains(self, names: Iterable[str]) -> list[list[str]]:
        """Return a shortest chain of uses from some symbols to each assumption that they reach."""
        before: dict[str, str | None] = dict.fromkeys(names)
        waiting, found = [*before], list[list[str]]()
        for name in waiting:
            for used in self.uses.get(name, ()):
                if used not in before:
                    before[used] = name
                    waiting.append(used)
            if name in self.library:
                found.append([*way(before, name)][::-1])
        return sorted(found, key=lambda chain: chain[-1])

    def unused(self, facts: Facts) -> list[str]:
        """List lemmas and theorems that neither a proof nor a clause uses, except witnesses."""
        clauses = facts["trace"]["clauses"]
        wanted = {theorem["name"] for clause in clauses for theorem in clause["theorems"]}
        wanted |= {entry["satisfied_by"] or "" for entry in facts["hypotheses"]}

        def is_wanted(symbol: Symbol) -> bool:
            return not wanted.isdisjoint((full_name(symbol), f"{full_name(symbol)}'vc"))

        return [
            name
            for name, symbol in self.symbols.items()
            if symbol["kind"] in ("lemma", "theorem") and symbol["goal"]
            if not self.users[name] and not is_wanted(symbol)
        ]


def named_by(goal: Goal) -> Iterator[str]:
    """Return the names that a goal's proof keeps."""
    for node in nodes(goal["tree"]):
        for step in node["transformations"]:
            if step["name"] == judge.KEEP:
                yield from step["arguments"]


def way(before: dict[str, str | None], name: str | None) -> Iterator[str]:
    """Yield the names from `name` back to the start of a search."""
    while name is not None:
        yield name
        name = before[name]
