"""The evidence pack as `make` has left it, and the facts that it was made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACK = ROOT / "build" / "evidence"
FACTS = ROOT / "build" / "gate" / "facts.json"


def evidence() -> dict[str, Any]:
    """Read evidence.json."""
    if not PACK.is_dir():
        pytest.fail("build/evidence is missing: `make` writes it")
    found: dict[str, Any] = json.loads((PACK / "evidence.json").read_text(encoding="utf-8"))
    return found


def facts() -> dict[str, Any]:
    """Read the facts of the gate."""
    found: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    complete = len(found["theories"]) == len(evidence()["theories"])
    if found["sources"] != evidence()["sources"] or not complete:
        pytest.fail("the gate ran after build/evidence was written: `make` writes it anew")
    return found
