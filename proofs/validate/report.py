"""What was proved of the extracted Python on unknown integers, for who shows it: without Z3."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

from gate import closed, toml

KERNEL = "python/whycast/_kernel.py"
VALIDATE = "proofs/validate"
EQUIVALENT = f"{VALIDATE}/equivalent.toml"
REPORT = "build/validation.json"


# What was proved of a program, on which arguments, by how many paths, in how many seconds.
Row = dict[str, Any]


def sources(root: Path) -> str:
    """Hash the kernel and what validates it: a report is of these, or it is out of date."""
    paths = [root / KERNEL, root / EQUIVALENT, *sorted((root / VALIDATE).glob("*.py"))]
    return closed.digest((path.relative_to(root).as_posix(), path.read_bytes()) for path in paths)


def report(root: Path) -> dict[str, Any] | None:
    """Read what was proved, if it was all, of these sources."""
    path = root / REPORT
    found: dict[str, Any] | None = (
        json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    )
    return found if found is not None and found["sources"] == sources(root) else None


def equivalents(path: Path) -> dict[str, str]:
    """Read which faults are none, and why; `f, g: kind 1 2` means four of them."""
    found: dict[str, str] = {}
    for reason, *entries in toml.loads(path.read_text(encoding="utf-8"))["equivalent"]:
        for entry in entries:
            names, _, change = entry.partition(": ")
            kind, *numbers = re.split(r" (?=\d)", change)
            for name, number in product(names.split(", "), numbers):
                fault = f"{name}: {kind} {number}"
                if fault in found:
                    raise closed.ToolError(f"{path.name} lists a fault twice: {fault}")
                found[fault] = reason
    return found
