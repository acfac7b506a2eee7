"""Write the lines of the links in FINDINGS.md anew: each goes to the goal that it names."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

import judge
import prooftool

FINDINGS = prooftool.ROOT / "proofs" / "FINDINGS.md"

# A program or a definition is a goal too, under its name and this ending.
CORRECTNESS = "'vc"

LINK = re.compile(r"\[`(?P<name>\w+\.\w+)`\]\(\.\./(?P<file>why3/[\w/]+\.mlw)#L(?P<line>\d+)\)")


class Place(NamedTuple):
    """A line of a theory."""

    file: str
    line: int


def goal_lines() -> dict[str, Place]:
    """Find the line of every goal; names are without the ending of a correctness goal."""
    prooftool.build()
    theories = prooftool.goals(prooftool.theory_files())["theories"]
    found = {}
    for goals in judge.goal_places(theories).values():
        for name, place in goals.items():
            file, _, line = place.rpartition(":")
            found[name.removesuffix(CORRECTNESS)] = Place(file, int(line))
    return found


def linked(text: str) -> list[tuple[str, Place]]:
    """List the goals that a text names, each with the place that it links to."""
    return [
        (match["name"], Place(match["file"], int(match["line"]))) for match in LINK.finditer(text)
    ]


def relinked(text: str, goals: dict[str, Place]) -> str:
    """Give the text with every link to a known goal leading to its line."""

    def link(match: re.Match[str]) -> str:
        place = goals.get(match["name"])
        if place is None:
            return match[0]
        return f"[`{match['name']}`](../{place.file}#L{place.line})"

    return LINK.sub(link, text)


def main() -> int:
    """Run the command; 1 if the text names what is no goal."""
    goals = goal_lines()
    text = FINDINGS.read_text(encoding="utf-8")
    FINDINGS.write_text(relinked(text, goals), encoding="utf-8")
    unknown = sorted({name for name, _ in linked(text)} - goals.keys())
    for name in unknown:
        print(f"{FINDINGS.name}: there is no goal {name}", file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
