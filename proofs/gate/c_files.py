"""Read the deployed C as text: its functions, their programs, the comments of the header."""

import re
from pathlib import Path
from typing import NamedTuple

HEADER = "c/whycast.h"
SOURCE = "c/whycast.c"

# The list under which the comments of the header are sealed.
SEALED = "header"

FUNCTION = re.compile(r"/\*(?:(?!\*/).)*?WhyML: ([\w.]+) \*/\n[\w ]+? \*?(\w+)\(", re.DOTALL)
PROTOTYPE = re.compile(r"/\* ((?:(?!\*/).)*) \*/\n[\w ]+? (whycast_\w+)\([^)]*\);\n?", re.DOTALL)


class Function(NamedTuple):
    """A function of the C: its name, the program that it is, and what the header says of it."""

    name: str
    program: str
    said: str


def functions(root: Path) -> list[Function]:
    """Give the functions in their order; the header speaks of those that a caller has."""
    if not (root / SOURCE).is_file():
        return []
    text = (root / HEADER).read_text(encoding="utf-8")
    said = {name: comment.replace("\n   ", "\n") for comment, name in PROTOTYPE.findall(text)}
    found = FUNCTION.findall((root / SOURCE).read_text(encoding="utf-8"))
    return [Function(name, program, said.get(name, "")) for program, name in found]


def rest_of_header(root: Path) -> str:
    """Give what the header says besides, of no single function."""
    return PROTOTYPE.sub("", (root / HEADER).read_text(encoding="utf-8"))
