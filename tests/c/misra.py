"""MISRA C:2012 and the C: what misra.toml says of each rule, as rows, and what cppcheck reports.

The rows are rule, category, status, what checks it, how many places deviate, reason.
"""

from __future__ import annotations

import json
import re
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import tomllib
from c_library import HERE, run

MATRIX: dict[str, Any] = tomllib.loads((HERE / "misra.toml").read_text(encoding="utf-8"))
TOOL = Path(sysconfig.get_path("purelib"), "cppcheck", "data")

# What cppcheck finds itself, and its addon leaves to it.
BY_ITSELF = {"const": "8.13", "shadow": "5.3", "unread": "2.2", "unusedVar": "2.8"}

# stdint.h of a machine of 64 bits, which cppcheck does not read.
CONSTANTS = ("INT64_C(c)=c##L", "UINT32_C(c)=c##U", "UINT64_C(c)=c##UL")


class Row(NamedTuple):
    """A rule or, with a D, a directive, and what is said of it."""

    rule: str
    category: str
    status: str
    by: str
    places: int
    reason: str


def number(rule: str) -> tuple[bool, int, int]:
    """Give a rule's place in the order: directives first."""
    first, _, second = rule.lstrip("D").partition(".")
    return not rule.startswith("D"), int(first), int(second)


def rows() -> list[Row]:
    """Give what the matrix says, a row for each rule."""
    found = [("deviation", rule, by, n, why) for rule, n, by, why in MATRIX["deviations"]]
    for by, why, rules in MATRIX["compliant"]:
        found += [("compliant", rule, by, 0, why) for rule in rules.split()]
    for _, what, rules in MATRIX["absent"]:
        why = f"The C has none: {what}."
        found += [("not applicable", rule, "the words", 0, why) for rule in rules.split()]
    categories = {rule: name for name in ("mandatory", "advisory") for rule in MATRIX[name].split()}
    made = [Row(r, categories.pop(r, "required"), s, by, n, why) for s, r, by, n, why in found]
    assert not categories, f"no rule, or listed twice: {[*categories]}"
    return sorted(made, key=lambda row: number(row.rule))


def code(folder: Path) -> str:
    """Give the C without comments, without what includes the header or is for C++."""
    text = "".join((folder / name).read_text("utf-8") for name in ("whycast.h", "whycast.c"))
    return re.sub(r'/\*.*?\*/|#include "whycast\.h"|extern "C"', "", text, flags=re.DOTALL)


def reports(folder: Path) -> dict[str, int]:
    """Ask cppcheck which rules are broken, and where: of each, how many places it names."""
    options = ("-q", "--std=c99", "--platform=unix64", "--enable=style", "--addon=misra")
    words = (f"--addon-python={sys.executable}", *(f"-D{each}" for each in CONSTANTS))
    form = "--template={file}:{line}:{column} {id}"
    # What is compiled for the addon would be a strange file in .venv.
    command: list[str | Path] = ["env", "PYTHONDONTWRITEBYTECODE=1", TOOL / "cppcheck", *options]
    done = run(*command, *words, form, folder / "whycast.c")
    assert done.returncode == 0, done.stdout + done.stderr
    found = set[str]()
    for line in done.stderr.splitlines():
        place, _, name = line.rpartition(" ")
        own = next((rule for start, rule in BY_ITSELF.items() if name.startswith(start)), "")
        if rule := own or re.sub(r"^misra-c2012-", "", name):
            found.add(f"{place} {rule}")
    counts = Counter(line.rpartition(" ")[2] for line in found)
    return {rule: n for rule, n in counts.items() if re.fullmatch(r"\d+\.\d+", rule)}


def spoken(text: str) -> list[str]:
    """Name what occurs in the C that the matrix says does not: what it is, or its rule."""
    patterns = [*((what, each) for each, what, _ in MATRIX["absent"]), *MATRIX["words"]]
    return [what for what, each in patterns if re.search(each, text, re.MULTILINE)]


def main() -> int:
    """Print the rows, or as JSON; and how many rules of each category have which status."""
    made = rows()
    if "--json" in sys.argv:
        print(json.dumps([row._asdict() for row in made], indent=1))
        return 0
    for row in made:
        print(" | ".join(map(str, row)))
    for (category, status), n in sorted(Counter((r.category, r.status) for r in made).items()):
        print(f"{category}, {status}: {n}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
