"""The argument that the C computes SONNX's Broadcast, in GSN (Goal Structuring Notation).

The headings in the table of SOUNDNESS, except PACKAGE and CALLER, are goals; their rows are
assumptions. Solutions of a goal are pages of the evidence, and the last runs of the lanes that
check the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import yaml

KINDS = {"G": "goal", "S": "strategy", "Sn": "solution", "A": "assumption", "C": "context"}
CONTEXTS = ("SONNX, by the date of its text", "whycast.h and whycast.c, by their SHA-256")

# PAGES contains the pages of each goal; PACKAGE and CALLER are the headings without a goal.
PAGES = {
    "The theories have the right meaning": {"clauses": "clauses", "reviews": "compared sentences"},
    "Why3 and the provers are right": {"proofs": "proofs", "certificates": "certificates"},
    "The gate and its machine are right": {"tools": "tools and their checks"},
    "The programs meet the theories": {"requirements": "contracts", "trusted": "trials"},
    "The C is compiled and used as proved": {"object": "object code", "misra": "MISRA C:2012"},
}
PACKAGE, CALLER = "The package", "Not claimed"


class Element(NamedTuple):
    """An element of the argument; goals and the strategy have no page."""

    text: str
    supported: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    page: str = ""


def argument(known: Mapping[str, Any]) -> dict[str, Element]:
    """Make the elements from the table and the last runs of the lanes."""
    beliefs, found, goals = known["beliefs"], dict[str, Element](), dict[str, Element]()
    for heading in dict.fromkeys(belief.heading for belief in beliefs.values()):
        rows = [each for each in beliefs.values() if each.heading == heading]
        lanes = dict.fromkeys(lane for row in rows for lane in row.lanes())
        assumed = {f"A{row.id[1:]}": Element(row.believed, page="registers") for row in rows}
        solved = [Element(text, page=page) for page, text in PAGES.get(heading, {}).items()]
        solved += [Element(f"make {lane}: {known['ran'][lane]}", page="lanes") for lane in lanes]
        if heading != PACKAGE:
            found |= assumed
        if heading not in (PACKAGE, CALLER):
            start = 1 + sum(len(goal.supported) for goal in goals.values())
            solutions = {f"Sn{n}": each for n, each in enumerate(solved, start)}
            goals[f"G{len(goals) + 2}"] = Element(heading, (*solutions,), (*assumed,))
            found |= solutions
    caller = [f"A{b.id[1:]}" for b in beliefs.values() if b.heading == CALLER]
    contexts = {f"C{n}": Element(text, page="configuration") for n, text in enumerate(CONTEXTS, 1)}
    found |= goals | contexts
    found["S1"] = Element("Step by step, from the text to the object code", (*goals,))
    found["G1"] = Element("The C computes SONNX's Broadcast", ("S1",), (*contexts, *caller))
    return found


def drawn(
    found: Mapping[str, Element], prose: Callable[[str], str], name: str = "G1", depth: int = 0
) -> str:
    """Write an element and all below it as a nested list, which the style sheet draws."""
    each, kind = found[name], KINDS[name.rstrip("0123456789")]
    text = f"[{prose(each.text)}]({each.page}.md)" if each.page else prose(each.text)
    below = (drawn(found, prose, other, depth + 1) for other in (*each.context, *each.supported))
    return f"{'  ' * depth}- [**{name}** {text}]{{.{kind}}}\n" + "".join(below)


def written(found: Mapping[str, Element]) -> str:
    """Write the elements as GSN in YAML."""
    elements = {}
    for name, each in sorted(found.items()):
        said = {"text": each.text, "supportedBy": [*each.supported], "inContextOf": [*each.context]}
        said["url"] = each.page and f"{each.page}.html"
        elements[name] = {key: value for key, value in said.items() if value}
    text: str = yaml.safe_dump(elements, sort_keys=False, allow_unicode=True)
    return text
