"""MISRA C:2012: cppcheck's reports on the C, and excluded constructs in it."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

import tomllib
from c_library import HERE, run

MATRIX: dict[str, Any] = tomllib.loads((HERE / "misra.toml").read_text(encoding="utf-8"))
TOOL = Path(sysconfig.get_path("purelib"), "cppcheck", "data")

# cppcheck's addon does not check these rules, but cppcheck itself does.
BY_ITSELF = {"const": "8.13", "shadow": "5.3", "unread": "2.2", "unusedVar": "2.8"}

# Macros of stdint.h on a 64-bit machine: cppcheck does not read stdint.h.
CONSTANTS = ("INT64_C(c)=c##L", "UINT32_C(c)=c##U", "UINT64_C(c)=c##UL")


def code(folder: Path) -> str:
    """Return the C without its comments, `#include "whycast.h"` and `extern "C"`."""
    text = "".join((folder / name).read_text("utf-8") for name in ("whycast.h", "whycast.c"))
    return re.sub(r'/\*.*?\*/|#include "whycast\.h"|extern "C"', "", text, flags=re.DOTALL)


def reports(folder: Path) -> dict[str, int]:
    """Return the number of places at which cppcheck reports each rule."""
    options = ("-q", "--std=c99", "--platform=unix64", "--enable=style", "--addon=misra")
    words = (f"--addon-python={sys.executable}", *(f"-D{each}" for each in CONSTANTS))
    form = "--template={file}:{line}:{column} {id}"
    # The addon's bytecode would be a strange file in .venv.
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
    """Return the excluded constructs that the C contains, by name or rule."""
    patterns = [*((what, each) for each, what, _ in MATRIX["absent"]), *MATRIX["words"]]
    return [what for what, each in patterns if re.search(each, text, re.MULTILINE)]
