"""Mutants of the C: `make mutants-c`.

c/whycast.c is changed in one place at a time: a comparison, an operation, a number, a statement
that is left out. Each mutant has to fail exhaustive.c, be it by a crash or by not coming to an end;
or to be listed in equivalent_c.toml with the reason why no test can tell it from the C; one that is
listed and fails, or is no mutant, fails the run too.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from c_library import EXHAUSTIVE, FOLDER, SOURCE, compiled

EQUIVALENT = Path(__file__).with_name("equivalent_c.toml")

# A mutant that runs longer, in seconds of a processor, or takes more memory, is noticed.
PATIENCE = 20
ROOM = 2**30

# By what an operator is replaced.
OPERATORS = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/"},
}
OPERATOR = re.compile(r"(?<=[\w)\]] )(?:[<>=!]=|&&|\|\||[<>+*/%-])(?=$|[ \n])")
NUMBER = re.compile(r"(?<![\w.])(0x[0-9A-Fa-f]+|\d+)(?![\w.])")
# What a statement on a line of its own is, if it is no declaration, and the end of no function.
STATEMENT = re.compile(r"(?m)^ +(?!return\b)[\w>\[\] -]+(?:\(.*\)| (?:=|\+=|\*=|-=) .*);$")
FUNCTION = re.compile(r"(?m)^(?!#|typedef|/)[\w* ]+?\b(\w+)\([^;{]*\)\s*\{\n(.*?)^\}$", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class Mutant(NamedTuple):
    """A change: its name, the line before and after, and the whole text.

    The name has the function, the kind of change, and the how-manieth of this kind there it is.
    """

    name: str
    old: str
    new: str
    text: str


def changes(text: str, start: int, end: int) -> Iterator[tuple[str, int, int, str]]:
    """Give what may change between two places of the text: its kind, from, up to, the new text."""
    comments = [match.span() for match in COMMENT.finditer(text)]
    for pattern in (OPERATOR, NUMBER, STATEMENT):
        for match in pattern.finditer(text, start, end):
            if any(first <= match.start() < last for first, last in comments):
                continue
            if pattern is OPERATOR:
                yield match[0], *match.span(), OPERATORS[match[0]]
            elif pattern is STATEMENT:
                yield "left out", *match.span(), " ;"
            else:
                number = int(match[0], 0)
                if number < 2**63 - 1:
                    yield "one more", *match.span(), str(number + 1)
                if number > 0:
                    yield "one less", *match.span(), str(number - 1)


def mutants(text: str) -> Iterator[Mutant]:
    """Give all mutants, function by function."""
    for function in FUNCTION.finditer(text):
        numbers: Counter[str] = Counter()
        for kind, start, end, new in changes(text, *function.span(2)):
            numbers[kind] += 1
            before = text.rfind("\n", 0, start) + 1
            after = text.find("\n", end)
            old_line = text[before:after].strip()
            new_line = (text[before:start] + new + text[end:after]).strip()
            changed = text[:start] + new + text[end:]
            yield Mutant(f"{function[1]}: {kind} {numbers[kind]}", old_line, new_line, changed)


def exhaustive(folder: Path) -> Path:
    """Compile what stays as it is."""
    return compiled(folder / "exhaustive.o", "-O2", "-DFIRST", "-c", EXHAUSTIVE)


def survives(mutant: str, stays: Path) -> bool:
    """Whether a text of the library is not noticed."""
    with tempfile.TemporaryDirectory(dir=stays.parent) as name:
        source, binary = Path(name, "whycast.c"), Path(name, "exhaustive")
        source.write_text(mutant, encoding="utf-8")
        command: list[str | Path] = [
            "gcc",
            "-std=c99",
            "-O1",
            "-w",
            f"-I{FOLDER}",
            source,
            stays,
            "-o",
            binary,
        ]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return False
        run = subprocess.run([binary], capture_output=True, preexec_fn=limit, check=False)
        return run.returncode == 0


def limit() -> None:
    """Bound what a mutant takes."""
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def listed() -> dict[str, str]:
    """Read the mutants that are known to be equivalent, with the reasons."""
    sys.path.append(str(Path(__file__).parents[2] / "proofs"))
    from validate.report import equivalents

    return equivalents(EQUIVALENT)


def main() -> int:
    """Try all mutants."""
    begin, known = time.monotonic(), listed()
    tried = list(mutants(SOURCE.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        stays = exhaustive(Path(folder))
        alive = pool.map(lambda each: survives(each.text, stays), tried)
        found = {each.name: each for each, lives in zip(tried, alive, strict=True) if lives}
    stale, unlisted = known.keys() - found.keys(), found.keys() - known.keys()
    for name in sorted(stale):
        print(f"listed, and noticed or no mutant: {name}")
    for name in sorted(unlisted):
        print(f"survives, and is not listed: {name}\n  - {found[name].old}\n  + {found[name].new}")
    print(
        f"{len(tried)} mutants of c/whycast.c: {len(tried) - len(found)} noticed, "
        f"{len(found) - len(unlisted)} equivalent, {len(unlisted)} that survive, {len(stale)} "
        f"wrongly listed; {time.monotonic() - begin:.0f} s"
    )
    return 1 if unlisted or stale else 0


if __name__ == "__main__":
    sys.exit(main())
