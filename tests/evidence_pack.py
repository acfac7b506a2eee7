"""The evidence pack as `make` has left it, and the facts that it was made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import inputs
import pytest

ROOT = Path(__file__).parents[1]
PACK = ROOT / "build" / "evidence"
FACTS = ROOT / inputs.FACTS_OF_PACK


def evidence() -> dict[str, Any]:
    """Read evidence.json."""
    if not PACK.is_dir():
        pytest.fail("build/evidence is missing: `make` writes it")
    found: dict[str, Any] = json.loads((PACK / "evidence.json").read_text(encoding="utf-8"))
    return found


def facts() -> dict[str, Any]:
    """Read the facts of the gate."""
    if not FACTS.is_file():
        pytest.fail(f"{inputs.FACTS_OF_PACK} is missing: `make` writes it")
    found: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    return found
