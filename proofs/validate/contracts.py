"""The contracts of the extracted programs: each condition as Python, made of the typed WhyML."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from gate import closed, extraction
from gate.closed import ROOT
from gate.program import Program

# The programs that all others of the kernel use stand first among them.
MODULES = ("kernel.violation.COPViolation", *extraction.MODULES)


def ask(*modules: str, root: Path = ROOT) -> dict[str, Any]:
    """Give what whycontract says of the programs of some modules of a tree."""
    return cast(dict[str, Any], Program(ROOT, "whycontract").ask("programs", *modules, cwd=root))


def of_kernel() -> dict[str, Any]:
    """Give the definitions and contracts of the kernel, of which each condition runs."""
    found = ask(*MODULES)
    for program in found["programs"]:
        for condition in program["conditions"]:
            if condition["python"] is None:
                what = f"{program['name']}: {condition['text']} does not run: {condition['reason']}"
                raise closed.ToolError(what)
        if program["writes"]:
            raise closed.ToolError(f"{program['name']} changes its arguments: not supported")
    return found
