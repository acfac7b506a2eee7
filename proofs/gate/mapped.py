"""Read the drivers of the extraction, which map symbols of WhyML to Python or C.

The comment after each declaration explains why its Python or C means the same as the symbol.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gate import closed, extraction

DRIVERS = {
    language: (extraction.PRINTER / f"{language.lower()}.drv").relative_to(closed.ROOT).as_posix()
    for language in ("Python", "C")
}


class Entry(NamedTuple):
    """A declaration of a driver; `kind` is val, type, literal, prelude, printer or remove."""

    kind: str
    module: str
    name: str
    template: str
    precedence: tuple[int, ...]
    text: str
    reason: str
    line: int


# NAME also matches `(*)` and `( *= )`; no COMMENT begins with `(*)`. The lines of TEXT, except the
# last, end in a backslash.
NAME = r'\w+|\([^\w"]*?_?[^\w"]*?\)'
TEXT = r'"((?:[^"\\]|\\\n|\\n|\\")*)"'
COMMENT = r"\(\*(?!\))((?:[^*]|\*(?!\)))*)\*\)"
DECLARATION = re.compile(
    rf"""(?P<head>
      syntax\s+(?P<kind>val|type|literal)\s+(?P<name>{NAME})\s+{TEXT}(?:\s+prec(?P<prec>(?:\s+\d+)+))?
    | (?P<other>prelude|printer)\s+{TEXT}
    | (?P<remove>remove\s+module))
    (?:[ \t]*\n?[ \t]*{COMMENT})?""",
    re.VERBOSE,
)
BETWEEN = re.compile(rf"\s+|{COMMENT}|module\s+(?P<module>[\w.]+)|(?P<end>end)\b")


def entries(text: str) -> Iterator[Entry]:
    """Yield the declarations of a driver; refuse any other text."""
    place, module = 0, ""
    while place < len(text):
        line = text.count("\n", 0, place) + 1
        if part := BETWEEN.match(text, place):
            if part["module"] or part["end"]:
                if bool(module) == bool(part["module"]):
                    raise closed.ToolError(f"{line}: a module in a module, or an end of none")
                module = part["module"] or ""
        elif part := DECLARATION.match(text, place):
            kind = part["kind"] or part["other"] or "remove"
            name = re.sub(r"\s", "", part["name"] or kind)
            written = part[4] or part[7] or ""
            if not part[9]:
                what = f"{module}.{name} has no reason beside it, in a comment"
                raise closed.ToolError(f"{line}: {what}")
            yield Entry(
                kind,
                module,
                f"{module}.{name}" if module else name,
                written.replace("\\\n", "").replace("\\n", "\n").replace('\\"', '"'),
                tuple(map(int, (part["prec"] or "").split())),
                part["head"],
                " ".join(part[9].split()),
                line,
            )
        else:
            raise closed.ToolError(f"{line}: not understood: {text[place : place + 60]}")
        place = part.end()


def read(root: Path, language: str) -> list[Entry]:
    """List the declarations of a language's driver, if the tree has it."""
    path = root / DRIVERS[language]
    try:
        return list(entries(path.read_text(encoding="utf-8"))) if path.exists() else []
    except closed.ToolError as error:
        raise closed.ToolError(f"{DRIVERS[language]}:{error}") from error
