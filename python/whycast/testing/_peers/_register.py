"""The register of known deviations of the built-in peers: `deviations.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from whycast._rules import Rule
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
    rules: tuple[str, ...]
    levels: tuple[str, ...]
    kind: str
    where: tuple[str, ...]
    reason: str
    source: str
    sometimes: bool = False

    def covers(self, rule: Rule, case: Case) -> bool:
        """Whether it is about a case."""
        return all(CONDITIONS[name](rule, case) for name in self.where)

    def explains(self, kind: str) -> bool:
        """Whether a deviation of a kind in such a case is known."""
        return kind == self.kind or (self.kind == "elements" and kind in ("nan", "zero"))


@cache
def register() -> tuple[Entry, ...]:
    """Read the register."""
    text = (files("whycast.testing") / "deviations.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)
    lists = ("rules", "levels", "where")
    return tuple([Entry(**{**each, **{k: tuple(each[k]) for k in lists}}) for each in found])


def entries_for(peer: str | None, rule: str, level: str) -> list[Entry]:
    """Give the entries for a peer at a level."""
    return [
        each
        for each in register()
        if each.peer == peer and rule in each.rules and level in each.levels
    ]
