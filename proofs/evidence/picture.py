"""A picture of the development: the texts at the top, what is taken for granted at the bottom.

Between them the rooms, each below those that use it, with their theories. An arc leads from a room
to one whose definitions, lemmas or contracts its proofs use: the more of them, the wider.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape

from evidence.graph import Graph
from gate.facts import Facts

WIDTH, LEFT, RIGHT = 1000, 150, 190  # pixels: all, the column of the titles, that of the arcs
LINE, CHARACTER, GAP, PAD = 20, 6.1, 22, 10

TITLES = {"clauses": "Clauses", "library": "Library of Why3"}

STYLE = (
    "text{font:11px system-ui,'Liberation Sans',sans-serif;fill:#1c2228}"
    ".title{font-weight:650;font-size:13px}.about{fill:#56616c}"
    "rect{fill:#f5f6f8;stroke:#d8dde2}path{fill:none;stroke:#0b5394;stroke-opacity:.55}"
    "@media(prefers-color-scheme:dark){text{fill:#e2e6ea}.about{fill:#a5afb9}"
    "rect{fill:#1c2227;stroke:#333b43}path{stroke:#8dbcf3}}"
)


def room(name: str) -> str:
    """Give the first part of a name or of the path of a theory."""
    return name.removeprefix("why3/").partition("/")[0].partition(".")[0]


def rows(words: list[str], width: float) -> Iterator[list[str]]:
    """Break words into lines of a width in pixels."""
    line, taken = list[str](), 0.0
    for word in words:
        needed = CHARACTER * (len(word) + 2)
        if line and taken + needed > width:
            yield line
            line, taken = [], 0.0
        line.append(word)
        taken += needed
    yield line


def bands(facts: Facts, graph: Graph) -> dict[str, tuple[str, list[str]]]:
    """Give what stands in each band, from top to bottom, and what is said of it."""
    clauses = Counter(clause["text"] for clause in facts["trace"]["clauses"])
    texts = [f"{text['name']} {clauses[text['name']]}" for text in facts["trace"]["texts"]]
    goals = Counter(
        room(session["file"]) for session in facts["sessions"] for _ in session["goals"]
    )
    theories: dict[str, list[str]] = {}
    for session in facts["sessions"]:
        name = session["file"].removeprefix("why3/").removesuffix(".mlw")
        theories.setdefault(room(name), []).append(name.partition("/")[2])
    users: dict[str, set[str]] = {name: set() for name in theories}
    for theory in facts["theories"]:
        for used in theory["uses"]:
            if used["file"] and room(used["file"]) in users:
                users[room(used["file"])].add(room(theory["file"]))

    def height(name: str) -> int:
        return max((1 + height(user) for user in users[name] - {name}), default=0)

    library = Counter(graph.library[name]["module"] for name in graph.assumed())
    found = {"clauses": (f"{clauses.total()} clauses", texts)}
    for name in sorted(theories, key=lambda name: (height(name), name)):
        found[name] = (f"{goals[name]} goals", theories[name])
    about = f"{library.total()} assumptions"
    found["library"] = (about, [f"{module} {number}" for module, number in library.items()])
    return found


def uses(facts: Facts, graph: Graph) -> Counter[tuple[str, str]]:
    """Count from which room to which other one, or to the library, proofs use something."""
    found = Counter[tuple[str, str]]()
    for name, used in graph.uses.items():
        for each in used:
            to = room(each) if each in graph.symbols else "library" * (each in graph.library)
            found[room(name), to] += 1
    for clause in facts["trace"]["clauses"]:
        for place in {room(theorem["place"]) for theorem in clause["theorems"]}:
            found["clauses", place] += 1
    return Counter({(a, b): n for (a, b), n in found.items() if b and a != b})


def arcs(counted: Mapping[tuple[str, str], int], middle: Mapping[str, float]) -> Iterator[str]:
    """Draw a line for each pair of bands, at the right of both."""
    edge, tallest = WIDTH - RIGHT, max(middle.values()) - min(middle.values())
    for (a, b), number in sorted(counted.items()):
        above, below = middle[a] + LINE / 2, middle[b] - LINE / 2
        width = max(0.5, math.sqrt(number) / 4)
        reach = edge + 40 + (RIGHT - 60) * 4 / 3 * abs(middle[b] - middle[a]) / tallest
        yield (
            f'<path d="M{edge} {above:.0f}C{reach:.0f} {above:.0f} {reach:.0f} '
            f'{below:.0f} {edge} {below:.0f}" stroke-width="{width:.1f}">'
            f"<title>{a} to {b}: {number}</title></path>"
        )


def svg(facts: Facts, graph: Graph) -> str:
    """Draw it."""
    drawn, middle, y = list[str](), dict[str, float](), GAP
    inside = WIDTH - LEFT - RIGHT
    for name, (about, words) in bands(facts, graph).items():
        lines = list(rows(words, inside - 2 * PAD))
        height = LINE * max(2, len(lines)) + PAD
        middle[name] = y + height / 2
        title = TITLES.get(name, name)
        drawn += [
            f'<text class="title" x="{PAD}" y="{middle[name] - 2:.0f}">{title}</text>',
            f'<text class="about" x="{PAD}" y="{middle[name] + 14:.0f}">{escape(about)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{inside}" height="{height}" rx="4"/>',
        ]
        for number, line in enumerate(lines):
            place = f'x="{LEFT + PAD}" y="{y + PAD / 2 + LINE * number + 14:.0f}"'
            drawn.append(f"<text {place}>{escape(', '.join(line))}</text>")
        y += height + GAP
    drawn += arcs(uses(facts, graph), middle)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img">'
        f"<title>The development, from clauses to axioms</title><style>{STYLE}</style>"
        f"{''.join(drawn)}</svg>\n"
    )
