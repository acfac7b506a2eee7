"""Extract the verified programs to C: c/whycast.h and c/whycast.c.

Why3's own printer writes the C. extraction/c_printer.ml gives it the names, and prints before each
definition its name in WhyML and its comment. Here the definitions become two files; nothing in them
changes but that the codes are written in capitals. The header is extraction/whycast.h.in, with the
codes and the prototypes as they were extracted. The first lines give the SHA-256 of all sources.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gate import binaries, closed, extraction
from gate.closed import ROOT
from gate.extraction import in_tree

DRIVER = extraction.PRINTER / "c.drv"
TEMPLATE = extraction.PRINTER / "whycast.h.in"
HEADER = ROOT / "c" / "whycast.h"
SOURCE = ROOT / "c" / "whycast.c"

CODES = "c.codes.Codes"

# The programs in C, in the order in which they stand in the extracted file.
MODULES = (
    CODES,
    "c.shapes.COPShape",
    "c.strides.COPStrides",
    "c.sizes.COPSize",
    "c.broadcast.COPBroadcast",
    "c.broadcast_all.COPBroadcastAll",
)

INCLUDES = '#include "whycast.h"\n\n#include <string.h>\n'

# What stands before a definition: its name in WhyML, its comment.
HEAD = re.compile(r"/\*@ (?P<name>.*)\n(?P<comment>(?:.*\n)*?)@\*/\n")
CODE = re.compile(r"int64_t whycast_(\w+) = INT64_C\((-?\d+)\);")
PROTOTYPE = re.compile(r"int64_t whycast_(\w+)\([^()]*\)(?= \{\n)")
PLACEHOLDER = re.compile(r"^@(\w+)@$", re.MULTILINE)

LINE_LENGTH = 100


class Definition(NamedTuple):
    """A definition as it is printed, its name in WhyML, and the comment before it there."""

    name: str
    comment: list[str]
    text: str


def definitions(text: str) -> tuple[str, list[Definition]]:
    """Take apart what Why3 prints: what comes first, and all that is defined."""
    prelude, *parts = HEAD.split(text)
    found = [
        Definition(name, comment.splitlines(), body.strip())
        for name, comment, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]
    # Why3 leaves a line free after each line of the prelude.
    return prelude.strip().replace("\n\n", "\n"), found


def comment(lines: Sequence[str], *more: str) -> str:
    """Write a comment in C; one with a line that is too long is filled anew."""
    if any(len(line) > LINE_LENGTH - 7 for line in lines):
        lines = textwrap.wrap(" ".join(lines), LINE_LENGTH - 7, break_on_hyphens=False)
    text = "\n   ".join([*lines, *more])
    if "*/" in text:
        raise closed.ToolError(f"a comment would end too early: {text}")
    return f"/* {text} */\n"


def sources() -> list[Path]:
    """List the files that determine the extracted C."""
    names = dict.fromkeys(module.rpartition(".")[0] for module in MODULES)
    theories = map(extraction.theory_file, names)
    tools = Path(__file__).parent
    scripts = (tools / name for name in ("c_extraction.py", "extraction.py"))
    printer = binaries.BINARIES["c_extraction.cmxs"].sources()
    return sorted({*extraction.used_theories(theories), *printer, DRIVER, TEMPLATE, *scripts})


def origin() -> str:
    """Give the first comment of both files."""
    *names, last = [in_tree(extraction.theory_file(m.rpartition(".")[0])) for m in MODULES]
    text = f"Extracted by Why3 from {', '.join(names)} and {last}."
    digest = closed.digest((in_tree(file), file.read_bytes()) for file in sources())
    why3 = closed.run(extraction.WHY3, "--version").split()[-1]
    return comment(
        [
            *textwrap.wrap(text, LINE_LENGTH - 6),
            "Do not edit: change the sources, then `make extract`.",
            "SPDX-License-Identifier: Apache-2.0",
            f"SHA-256 of the sources that {in_tree(Path(__file__).resolve())} lists:",
            digest,
            f"Tools: Why3 {why3}.",
        ]
    )


def extract(
    *more: str,
    drivers: Sequence[Path] = (DRIVER,),
    libraries: Sequence[Path] = (extraction.THEORIES,),
) -> dict[Path, str]:
    """Give the text of the two files, of more modules if they are named."""
    modules = (*MODULES, *more)
    printed = extraction.why3_extract(*modules, drivers=drivers, libraries=libraries, language="c")
    return files(*definitions(printed), origin())


def files(prelude: str, found: Sequence[Definition], first: str) -> dict[Path, str]:
    """Make the two files of what Why3 has printed."""
    codes = [code[1] for each in found if (code := CODE.fullmatch(each.text))]
    code_name = re.compile(rf"\b({'|'.join(codes)})\b")
    code_used = re.compile(rf"\bwhycast_({'|'.join(codes)})\b")

    def capital(match: re.Match[str]) -> str:
        return f"WHYCAST_{match[1].upper()}"

    constants, body, header = [], "", {}
    for each in found:
        said = [code_name.sub(capital, line) for line in each.comment]
        if code := CODE.fullmatch(each.text):
            constants.append(comment(said) + f"{capital(code)} = {code[2]}")
            continue
        body += f"\n{comment(said, f'WhyML: {each.name}')}{code_used.sub(capital, each.text)}\n"
        if prototype := PROTOTYPE.match(each.text):
            header[prototype[1]] = f"{prototype[0]};"
        elif not each.text.startswith("static inline "):
            raise closed.ToolError(f"{each.name}: neither a code nor a function: {each.text}")
    header["codes"] = textwrap.indent(",\n".join(constants), "    ")
    template = TEMPLATE.read_text(encoding="utf-8")
    if sorted(PLACEHOLDER.findall(template)) != sorted(header):
        raise closed.ToolError(f"{in_tree(TEMPLATE)}: expected a line for each of {[*header]}")
    filled = PLACEHOLDER.sub(lambda match: header[match[1]], template)
    return {
        HEADER: f"{first}\n{filled}",
        SOURCE: f"{first}\n{INCLUDES}\n{prelude}\n{body}",
    }
