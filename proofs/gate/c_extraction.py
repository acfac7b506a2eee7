"""Extract the verified programs to C: c/whycast.h and c/whycast.c.

Why3's own printer writes the C, definition by definition; a line before each says what it is in
WhyML (extraction/c_printer.ml). Here it gets names, comments and a layout, by c_text.py, which
refuses whatever it does not know. The header is extraction/whycast.h.in, with the codes and
prototypes as they were extracted. The first lines give the SHA-256 of all sources of the two.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gate import binaries, c_text, closed, extraction
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

# What is called from outside; all else is static.
PUBLIC = (
    "c.shapes.COPShape.broadcast_shape",
    "c.strides.COPStrides.broadcast_strides",
    "c.sizes.COPSize.byte_size",
    "c.broadcast.COPBroadcast.broadcast",
    "c.broadcast_all.COPBroadcastAll.broadcast_all",
)

INCLUDES = '#include "whycast.h"\n\n#include <string.h>\n'

# What stands before a definition: its name in WhyML, its comment.
HEAD = re.compile(r"/\*@ (?P<name>.*)\n(?P<comment>(?:.*\n)*?)@\*/\n")
CONSTANT = re.compile(r"int64_t (?P<name>\w+) = INT64_C\((?P<value>-?\d+)\);")
PRELUDE_NAME = re.compile(r"^static \w+ (\w+)\(", re.MULTILINE)
PLACEHOLDER = re.compile(r"^@(\w+)@$", re.MULTILINE)

LINE_LENGTH = 100


class Definition(NamedTuple):
    """A definition as Why3 prints it, its name in WhyML, and the comment before it there."""

    name: str
    comment: list[str]
    text: str

    @property
    def c_name(self) -> str:
        """Give the name in C: of the instance `W2` for words of two bytes it ends with `_2`."""
        *module, name = self.name.split(".")
        if self.name in PUBLIC:
            return f"whycast_{name}"
        scopes = module[3:]
        for scope in scopes:
            if not re.fullmatch(r"W\d+", scope):
                raise closed.ToolError(f"{self.name}: expected a scope as W2, for words of 2 bytes")
        return "_".join([name, *(scope[1:] for scope in scopes)])


def definitions(text: str) -> tuple[str, list[Definition]]:
    """Take apart what Why3 prints: what comes first, and all that is defined."""
    prelude, *parts = HEAD.split(text)
    found = [
        Definition(name, comment.splitlines(), body.strip())
        for name, comment, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]
    # Why3 leaves a line free after each line of the prelude.
    return prelude.strip().replace("\n\n", "\n"), [
        definition for definition in found if definition.text
    ]


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
    scripts = (tools / name for name in ("c_extraction.py", "c_text.py", "extraction.py"))
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
    codes, names = "", dict[str, str]()
    functions = []
    for each in found:
        constant = CONSTANT.fullmatch(each.text)
        if constant and each.name.startswith(f"{CODES}."):
            names[constant["name"]] = f"WHYCAST_{constant['name'].upper()}"
            codes += textwrap.indent(
                comment(each.comment) + f"{names[constant['name']]} = {constant['value']},\n",
                "    ",
            )
        else:
            function = c_text.parse(each.text, each.name)
            if function.name in names:
                raise closed.ToolError(f"{each.name}: {function.name} is the name of another one")
            names[function.name] = each.c_name
            functions.append((each, function))
    if len({*names.values()}) < len(names):
        raise closed.ToolError(f"two definitions have one name in C: {sorted(names.values())}")
    missing = {*PUBLIC} - {each.name for each in found}
    if missing:
        raise closed.ToolError(f"not extracted: {', '.join(sorted(missing))}")
    known = c_text.Known(names, {*PRELUDE_NAME.findall(prelude)})
    code = re.compile(rf"\b({'|'.join(n for n, c in names.items() if c.isupper())})\b")
    body, prototypes = "", {"codes": codes.removesuffix(",\n") + "\n"}
    for each, function in functions:
        is_public = each.name in PUBLIC
        written = c_text.write(function, known, static=not is_public)
        if is_public:
            prototypes[each.name.rpartition(".")[2]] = written.prototype
        said = [code.sub(lambda match: names[match[1]], line) for line in each.comment]
        body += "\n" + comment(said, f"WhyML: {each.name}") + written.text
    template = TEMPLATE.read_text(encoding="utf-8")
    if sorted(PLACEHOLDER.findall(template)) != sorted(prototypes):
        raise closed.ToolError(f"{in_tree(TEMPLATE)}: expected a line for each of {[*prototypes]}")
    header = PLACEHOLDER.sub(lambda match: prototypes[match[1]].rstrip("\n"), template)
    return {
        HEADER: f"{first}\n{header}",
        SOURCE: f"{first}\n{INCLUDES}\n{prelude}\n{body}",
    }
