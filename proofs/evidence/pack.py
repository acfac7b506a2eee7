"""The evidence of a gate that has passed, as files for programs; the documentation shows it.

Two clean runs on the same sources write the same bytes: times and the date stand in times.json
alone, which the manifest leaves out.
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

# What provers answer now is of this run, and not of the sources.
OF_A_RUN = ("now", "context", "canary")

# Before their answers, some provers name the file with the goal.
GOAL_FILE = re.compile(r'File \\"[^"]*\\", line \d+, characters [-\d]+: ?')


def as_json(value: Any) -> str:
    """Write a value for programs, and so that two of them can be compared line by line."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def stripped(value: Any, root: Path, left_out: tuple[str, ...] = ()) -> Any:
    """Give facts without the place of the tree, and without some keys."""
    if isinstance(value, dict):
        kept = value.keys() - set(left_out)
        return {key: stripped(v, root, left_out) for key, v in value.items() if key in kept}
    if isinstance(value, list):
        return [stripped(v, root, left_out) for v in value]
    return value.replace(f"{root}/", "") if isinstance(value, str) else value


def times(facts: Facts) -> dict[str, Any]:
    """Say when this was written, and what was answered now, or kept, and in how long."""
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
    """Write the evidence of a gate that has passed, in one go, and give its directory."""
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
    """Read what the last gate that passed has left, with the sources of which it is."""
    if not (root / FACTS).is_file():
        raise closed.ToolError("no gate has passed here: run make")
    found: dict[str, Any] = json.loads((root / FACTS).read_text(encoding="utf-8"))
    return found


def main(_: list[str]) -> int:
    """Write the evidence from the facts of the gate that has passed on these sources."""
    found = told(ROOT)
    if found["sources"] != closed.sources(ROOT):
        raise closed.ToolError("the sources are not those on which the gate has passed: run make")
    made = write(found["facts"], found["claims"], ROOT).relative_to(ROOT)
    print(f"evidence: {made}/evidence.json; `make doc` shows it")
    return 0
