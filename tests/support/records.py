"""What a lane measured, kept for the evidence: a file of build/records for each."""

from __future__ import annotations

import json
import subprocess
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]


def write(name: str, data: object) -> None:
    """Write facts, with the commit and the day that they are of."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    kept = {"commit": done.stdout.strip(), "date": date.today().isoformat(), "data": data}
    file = ROOT / "build" / "records" / f"{name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
