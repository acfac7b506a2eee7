"""The programs of the kernel without contracts, proofs and ghost code, for Why3's interpreter.

Why3 1.5.1 turns each value into a term wherever a contract speaks of it, and mistakes its type if a
sequence of sequences comes along (its issue 842). Without contracts it executes all programs. What
is left out is found in the text, by brackets: whatever is left out wrongly has other types, which
Why3 refuses, or gives other values, which the comparison shows. A type variable is the integers.
"""

from __future__ import annotations

import re
from pathlib import Path

from assurance import extraction

STDLIB = Path("/usr/share/why3/stdlib")

# What takes the place of modules of the same names, and the bodies of what they declare.
LIBRARY = extraction.ROOT / "proofs" / "tools" / "whyrun" / "library"

# The modules that a program uses; all others are of the theories.
KEPT = re.compile(
    r"(?:int\.\w+|array\.Array|seq\.Seq|kernel\.\w+\.(?:COP\w+|Tuple)|axes\.openvino_verdict\.OpenvinoMode|COP\w+)"
    r"(?: as \w+)?"
)

# The one module beside the programs that has their types.
MODES = ("axes/openvino_verdict.mlw", "OpenvinoMode")

CLAUSE = re.compile(r"\b(requires|ensures|returns|invariant|assert|raises|pure)\s*\{")
GHOST = re.compile(r"\bghost\s*\(")
GHOST_LET = re.compile(r"\blet ghost\b")
LET_OR_IN = re.compile(r"\b(?:let|in)\b")
DECLARATION = re.compile(r"\s*(?:predicate|function|constant|lemma|let lemma|let ghost)\b")
COMMENT = re.compile(r"\(\*(?!\))|\*\)")


def without_comments(text: str) -> str:
    """Leave out all comments, which may stand in one another."""
    kept, depth, place = [], 0, 0
    for mark in COMMENT.finditer(text):
        if depth == 0:
            kept.append(text[place : mark.start()])
        if mark[0] != "*)":
            depth += 1
        elif depth:
            depth -= 1
            place = mark.end()
    return "".join([*kept, text[place:]])


def closing(text: str, start: int) -> int:
    """Give the place after the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "({[") - (text[place] in ")}]")
        if depth == 0:
            return place + 1
    raise ValueError("a bracket that is not closed")


def without_clauses(text: str) -> str:
    """Leave out what is required, promised and asserted; an exception stays, without its case."""
    place = 0
    while clause := CLAUSE.search(text, place):
        end = closing(text, clause.end() - 1)
        before, after = text[: clause.start()], text[end:]
        inside = text[clause.end() : end - 1]
        if clause[1] == "raises":
            name, *value = inside.partition("->")[0].split()
            kept = f"raises {{ {name}{' _' if value else ''} -> true }}"
        elif clause[1] == "pure":
            kept = "true"
        elif clause[1] == "assert":
            kept = "()"
        else:
            kept, before = "", before.rstrip()
        text = before + kept + after
        place = len(before) + len(kept)
    return text


def without_ghosts(text: str) -> str:
    """Leave out ghost expressions and ghost variables."""
    while ghost := GHOST.search(text):
        text = f"{text[: ghost.start()]}(){text[closing(text, ghost.end() - 1) :]}"
    while ghost := GHOST_LET.search(text):
        depth, place = 1, ghost.end()
        while depth:
            word = LET_OR_IN.search(text, place)
            if word is None:
                raise ValueError("a ghost variable without an end")
            depth += 1 if word[0] == "let" else -1
            place = word.end()
        text = text[: ghost.start()] + text[place:]
    return text


def erased(text: str) -> str:
    """Give the programs of a file, and no more."""
    text = without_clauses(without_comments(text))
    parts = re.split(r"\n[ \n]*\n", text)
    text = without_ghosts("\n\n".join(part for part in parts if not DECLARATION.match(part)))
    lines = text.split("\n")

    def is_kept(line: str) -> bool:
        used = line.strip()
        return not used.startswith("use ") or bool(KEPT.fullmatch(used.removeprefix("use ")))

    # An empty array has no type of its own either.
    kept = "\n".join(filter(is_kept, lines))
    return kept.replace("'a", "int").replace("A.empty ()", "A.make 0 0")


def write_library(folder: Path) -> None:
    """Put the programs of the kernel into a folder, with all that they need there."""
    for file in STDLIB.iterdir():
        if not (LIBRARY / file.name).exists():
            (folder / file.name).symlink_to(file)
    programs = [extraction.theory_file("kernel.violation"), *extraction.program_files()]
    texts = {file.relative_to(extraction.THEORIES): file.read_text("utf-8") for file in programs}
    modes, module = MODES
    whole = (extraction.THEORIES / modes).read_text("utf-8")
    found = re.search(rf"^module {module}$.*?^end$", whole, re.MULTILINE | re.DOTALL)
    # Its type is polymorphic, and no program is.
    text = without_comments(found[0] if found else "")
    parts = [part for part in re.split(r"\n[ \n]*\n", text) if not DECLARATION.match(part)]
    written = {name: erased(text) for name, text in texts.items()}
    written[Path(modes)] = "\n\n".join(parts)
    for source in LIBRARY.rglob("*.mlw"):
        written[source.relative_to(LIBRARY)] = source.read_text("utf-8")
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
