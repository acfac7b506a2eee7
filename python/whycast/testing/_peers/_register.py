"""The register of known deviations of the built-in peers: `deviations.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from whycast._rules import RULES
from whycast.testing._cases._case import Case
from whycast.testing._peers._conditions import CONDITIONS


@dataclass(frozen=True)
class Entry:
    """A known deviation of a peer: in what, on which cases, and why the rule says otherwise.

    It covers the cases on which all the conditions of `where` hold. Each of them deviates, unless
    they do only `sometimes`. Of kind ``elements`` are also those in which no more than NaNs and
    zeros are others.
    """

    peer: str
    version: str
    rule: str
    levels: tuple[str, ...]
    kind: str
    where: tuple[str, ...]
    reason: str
    source: str
    sometimes: bool = False

    def covers(self, case: Case) -> bool:
        """Whether it is about a case."""
        return all(CONDITIONS[name](RULES[self.rule], case) for name in self.where)

    def explains(self, kind: str) -> bool:
        """Whether a deviation of a kind in such a case is known."""
        return kind == self.kind or (self.kind == "elements" and kind in ("nan", "zero"))


@cache
def groups() -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Read the register: with which version of each peer, and what was seen of which peers."""
    text = (files("whycast.testing") / "deviations.json").read_text(encoding="utf-8")
    found = json.loads(text)
    return found["versions"], found["deviations"]


@cache
def register() -> tuple[Entry, ...]:
    """Give an entry for each peer and rule of a group, at the levels at which the peer is asked."""
    versions, found = groups()
    entries = []
    for group in found:
        own = {name: group[name] for name in ("kind", "reason", "source")}
        own |= {"where": tuple(group["where"]), "sometimes": "sometimes" in group}
        for peer, rule in product(group["peers"], group["rules"]):
            offered = RULES[rule].peers.get(peer, ())
            levels = tuple([level for level in group["levels"] if level in offered])
            entries.append(Entry(peer, versions[peer], rule, levels, **own))
    return tuple([each for each in entries if each.levels])


def entries_for(peer: str | None, rule: str, level: str) -> list[Entry]:
    """Give the entries for a peer at a level."""
    known = [each for each in register() if (each.peer, each.rule) == (peer, rule)]
    return [each for each in known if level in each.levels]
