"""The evidence of a passed gate as files for programs; the documentation shows it.

Clean runs on the same sources write the same bytes, except for times and the date. These are in
times.json, which the manifest leaves out.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gate import closed
from gate.closed import FACTS, ROOT
from gate.facts import Facts, parts

PACK = "build/evidence"
SOURCES = "SOURCES.sha256"
MANIFEST = "MANIFEST.sha256"
TIMES = "times.json"

# The values of these keys depend on the run, not only on the sources.
OF_A_RUN = ("now", "context", "canary")

# Some provers name the goal's file before their answer.
GOAL_FILE = re.compile(r'File \\"[^"]*\\", line \d+, characters [-\d]+: ?')


def as_json(value: Any) -> str:
    """Write a value as JSON that can be compared line by line."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def stripped(value: Any, root: Path, left_out: tuple[str, ...] = ()) -> Any:
    """Remove the tree's path, and some keys, from facts."""
    if isinstance(value, dict):
        kept = value.keys() - set(left_out)
        return {key: stripped(v, root, left_out) for key, v in value.items() if key in kept}
    if isinstance(value, list):
        return [stripped(v, root, left_out) for v in value]
    return value.replace(f"{root}/", "") if isinstance(value, str) else value


def times(facts: Facts) -> dict[str, Any]:
    """Return the date, and the provers' answers with their times."""
    goals = [goal for session in facts["sessions"] for goal in session["goals"]]
    return {
        "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "proofs": [
            {"part": f"{goal['module']}.{part['name']}", "prover": proof["prover"]}
            | {"now": proof["now"]}
            for goal in goals
            for part in parts(goal)
            for proof in part["proofs"]
        ],
        "contexts": {session["file"]: session["context"] for session in facts["sessions"]},
        "canaries": {prover["name"]: prover["canary"] for prover in facts["provers"]},
    }


def write(facts: Facts, claims: Mapping[str, str], root: Path) -> Path:
    """Write the evidence of a passed gate in one go; return its directory."""
    facts = stripped(facts, root)
    texts = {
        SOURCES: closed.sources(root),
        "evidence.json": as_json({"claims": claims, **stripped(facts, root, OF_A_RUN)}),
    }
    made = {name: text.encode() for name, text in texts.items()}
    made[MANIFEST] = closed.hashes(made).encode()
    made[TIMES] = GOAL_FILE.sub("", as_json(times(facts))).encode()
    into, new = root / PACK, root / f"{PACK}.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for name, content in made.items():
        (new / name).write_bytes(content)
    shutil.rmtree(into, ignore_errors=True)
    return new.rename(into)


def told(root: Path) -> dict[str, Any]:
    """Read the facts of the last passed gate, with its sources."""
    if not (root / FACTS).is_file():
        raise closed.ToolError("no gate has passed here: run make")
    found: dict[str, Any] = json.loads((root / FACTS).read_text(encoding="utf-8"))
    return found


def main(_: list[str]) -> int:
    """Write the evidence from the facts of the gate that passed on these sources."""
    found = told(ROOT)
    if found["sources"] != closed.sources(ROOT):
        raise closed.ToolError("the sources are not those on which the gate has passed: run make")
    made = write(found["facts"], found["claims"], ROOT).relative_to(ROOT)
    print(f"evidence: {made}/evidence.json; `make doc` shows it")
    return 0
