"""Read the C: its functions, their WhyML programs, the comments of the header."""

import re
from pathlib import Path
from typing import NamedTuple

HEADER = "c/whycast.h"
SOURCE = "c/whycast.c"

# The lock lists the comments of the header under this name.
SEALED = "header"

FUNCTION = re.compile(r"/\*(?:(?!\*/).)*?WhyML: ([\w.]+) \*/\n[\w ]+? \*?(\w+)\(", re.DOTALL)
PROTOTYPE = re.compile(r"/\* ((?:(?!\*/).)*) \*/\n[\w ]+? (whycast_\w+)\([^)]*\);\n?", re.DOTALL)


class Function(NamedTuple):
    """A function of the C: its name, its WhyML program, its comment in the header."""

    name: str
    program: str
    said: str


def functions(root: Path) -> list[Function]:
    """List the functions in their order; the header describes the public ones."""
    if not (root / SOURCE).is_file():
        return []
    text = (root / HEADER).read_text(encoding="utf-8")
    said = {name: comment.replace("\n   ", "\n") for comment, name in PROTOTYPE.findall(text)}
    found = FUNCTION.findall((root / SOURCE).read_text(encoding="utf-8"))
    return [Function(name, program, said.get(name, "")) for program, name in found]


def rest_of_header(root: Path) -> str:
    """Return the header without its prototypes and their comments."""
    return PROTOTYPE.sub("", (root / HEADER).read_text(encoding="utf-8"))
