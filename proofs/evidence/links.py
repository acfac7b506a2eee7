"""Where things stand in the pack, and the links that lead there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inputs import RefusalError
from pack import Pack

# What stands with its proof, and not among the definitions.
STANDING_ELSEWHERE = {"goal", "lemma", "program", "theorem"}


def document_of(file: str) -> str:
    """Name the page of a theory's documentation, as `why3 doc` does."""
    return file.removeprefix("why3/").removesuffix(".mlw").replace("/", ".") + ".html"


def page_of(file: str) -> str:
    """Name the page of a theory's proofs."""
    return file.rpartition("/")[2].removesuffix(".mlw") + ".html"


@dataclass(frozen=True)
class Links:
    """The links of a page; `up` leads from it to the pack's directory.

    `anchors` are those of the pages in theories/.
    """

    pack: Pack
    anchors: Mapping[str, set[str]]
    up: str = ""

    def file(self, file: str, directory: str = "theories/") -> str:
        """Lead to the text of a theory."""
        return f"{self.up}{directory}{document_of(file)}" if directory else document_of(file)

    def page(self, file: str) -> str:
        """Lead to the proofs of a theory."""
        return f"{self.up}proofs/{page_of(file)}"

    def proof(self, name: str) -> str:
        """Lead to the proof of a goal."""
        return f"{self.page(self._goals[name])}#{name}"

    def doc(self, file: str, line: int | None, name: str) -> str:
        """Lead to an item in the text of its theory; to the text where `why3 doc` has no anchor."""
        anchor = f"{name}_{line}"
        there = anchor in self.anchors.get(document_of(file), set())
        return self.file(file) + (f"#{anchor}" if there else "")

    def line(self, file: str, line: str) -> str:
        """Lead to the item that begins in a line of a theory."""
        found = [a for a in self.anchors.get(document_of(file), set()) if a.endswith(f"_{line}")]
        return self.file(file) + (f"#{min(found)}" if found else "")

    def symbol_id(self, symbol: Mapping[str, Any]) -> str:
        """Name the anchor of a definition on the page of its theory."""
        name = re.sub(r"\s+", "-", symbol["name"])
        return f"{symbol['module']}.{name}_{symbol['line'] or 'cloned'}"

    def symbol(self, entry: Mapping[str, str]) -> Mapping[str, Any] | None:
        """Find the definition that the trace names."""
        return self._symbols.get((entry["name"], entry["place"]))

    def named(self, entry: Mapping[str, str]) -> str:
        """Lead to what the trace names; nowhere if it is not WhyML."""
        if entry["name"] in self._goals:
            return self.proof(entry["name"])
        if f"{entry['name']}'vc" in self._goals:
            return self.proof(f"{entry['name']}'vc")
        symbol = self.symbol(entry)
        return f"{self.page(symbol['file'])}#{self.symbol_id(symbol)}" if symbol else ""

    def witness(self, name: str) -> str:
        """Lead to the proof of a witness."""
        return self.proof(name if name in self._goals else f"{name}'vc")

    def statement(self, entry: Mapping[str, str]) -> str:
        """Give the WhyML of a definition that the trace names."""
        symbol = self.symbol(entry)
        if symbol is None:
            what = "is traced, but no theory defines it"
            raise RefusalError(f"{entry['place']}: {entry['name']} {what}")
        return str(symbol["statement"])

    @cached_property
    def _symbols(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        return {
            (f"{symbol['module']}.{symbol['name']}", f"{symbol['file']}:{symbol['line']}"): symbol
            for symbol in self.pack.symbols
        }

    @cached_property
    def _goals(self) -> dict[str, str]:
        return {goal.name: goal.file for goal in self.pack.goals}
