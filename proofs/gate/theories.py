"""Find the theories, the order to read them in, and their comments."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

# `use import core.shape.Padding` uses core/shape.mlw.
USED_FILE = re.compile(r"\b(?:use|clone)\s+(?:import\s+|export\s+)?([a-z][\w.]*)\.[A-Z]")

# `(*` opens a comment, except in a text, an attribute or `(*)`; in a comment, `"` is plain text.
OUTSIDE = re.compile(r'"(?:\\.|[^"\\])*"|\[@[^\]\n]*\]|\(\*\)|\(\*')
INSIDE = re.compile(r"\(\*\)|\(\*|\*\)")


def theory_files(root: Path) -> list[str]:
    """List a tree's theories, each folder and file after those that it uses."""
    uses = all_uses(root)
    rooms = defaultdict[str, set[str]](set)
    for file in uses:
        rooms[room(file)] |= {room(used) for used in closure(file, uses)}

    def order(file: str) -> tuple[int, str, int, str]:
        return len(closure(room(file), rooms)), room(file), len(closure(file, uses)), file

    return sorted(uses, key=order)


def all_uses(root: Path) -> dict[str, set[str]]:
    """Map each theory of a tree to the theories that it names."""
    paths = {path.relative_to(root).as_posix(): path for path in (root / "why3").rglob("*.mlw")}
    return {file: {*used_files(path)} & paths.keys() for file, path in paths.items()}


def used_files(path: Path) -> Iterator[str]:
    """Yield the paths, existing or not, of the theories that a file names."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return (f"why3/{name.replace('.', '/')}.mlw" for name in USED_FILE.findall(text))


def room(file: str) -> str:
    """Return the folder of a theory."""
    return file.rpartition("/")[0]


def closure(start: str, uses: Mapping[str, set[str]]) -> set[str]:
    """Return `start` and all that it uses, directly or not."""
    found, waiting = set[str](), [start]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += uses.get(name, ())
    return found


def session_of(theory: str) -> str:
    """Return the file of a theory's recorded proofs."""
    return f"proofs/sessions/{theory.removeprefix('why3/').removesuffix('.mlw')}.proofs"


def comments(source: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the outermost comments of a theory; comments nest."""
    depth = start = position = 0
    while match := (INSIDE if depth else OUTSIDE).search(source, position):
        position = match.end()
        if match[0] == "(*":
            start = start if depth else match.start()
            depth += 1
        elif match[0] == "*)":
            depth -= 1
            if depth == 0:
                yield start, position


# A doc comment's item: the line where the item begins, a module's name, the file (""), or none.
Owner = int | str | None


def owners(source: str) -> Iterator[tuple[int, int, list[Owner]]]:
    """Yield start and end of each comment, and its owners as a doc comment."""
    for number, (start, end) in enumerate(comments(source)):
        rest = source[end:].lstrip()
        found: list[Owner] = [""] if number == 0 else []
        if module := re.match(r"module\s+(\w+)", rest):
            found.append(module[1])
        elif number > 0:
            line = source.count("\n", 0, len(source) - len(rest)) + 1
            found.append(None if rest.startswith("(*") else line)
        yield start, end, found


def doc_comments(source: str) -> Iterator[tuple[Owner, int, str]]:
    """Yield each doc comment's owner, first line and text."""
    for start, end, found in owners(source):
        if source.startswith("(**", start):
            first = source.count("\n", 0, start) + 1
            yield from ((owner, first, source[start + 3 : end - 2]) for owner in found)


def prose(source: str) -> str:
    """Join all comments except the doc comments of declarations."""
    return "\n".join(
        source[start:end]
        for start, end, found in owners(source)
        if not (source.startswith("(**", start) and isinstance(found[0], int))
    )
