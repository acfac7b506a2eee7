"""Write the evidence pack: what is proved, from what, by which tools, for somebody who doubts it.

    evidence.py      build/evidence/ from the facts of the gate; refuses those of a gate that
                     failed, and those of other sources

The same sources give the same bytes. Times and the date stand in times.json alone, which the
manifest leaves out.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.extend(
    str(Path(__file__).resolve().parents[1] / name) for name in ("gate", "mutants", "provers")
)
import gather
import inputs
import junit
import lock
import pages
import theory_docs
from facts import nodes
from inputs import Inputs, RefusalError
from pack import Pack

PACK = "build/evidence"
MANIFEST = "MANIFEST.sha256"
TIMES = "times.json"


def files(read: Inputs, pack: Pack) -> dict[str, bytes]:
    """Make every file of the pack but the manifest and the times."""
    why3 = lock.located(read.lock.tools["why3"])
    if why3 is None:
        raise RefusalError("Why3 is missing: `make tools` installs the toolchain")
    documentation = theory_docs.make(read.root, [theory.file for theory in pack.theories], why3)
    texts = pages.pages(pack, read.root, documentation)
    texts["evidence.json"] = as_json(pack.value())
    made = {name: text.encode() for name, text in texts.items()}
    made["junit.xml"] = junit.report(pack)
    return made


def as_json(value: Any) -> str:
    """Write a value for programs, and so that two of them can be compared line by line."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def manifest(made: dict[str, bytes]) -> bytes:
    """List the hashes of files as `sha256sum --check` reads them."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes)).encode()


def times(read: Inputs, started: float) -> dict[str, Any]:
    """Say when the pack was written and what took how long: all that differs from run to run."""
    found: dict[str, Any] = {"written": datetime.now(UTC).isoformat(timespec="seconds")}
    goals = [
        (f"{goal['module']}.", goal)
        for theory in read.facts["theories"]
        for goal in theory["goals"]
    ]
    found["replayed"] = [
        {"part": module + node["name"], "prover": attempt["prover"], **attempt["replayed"]}
        for module, goal in goals
        for node in nodes(goal["tree"])
        for attempt in node["attempts"]
        if attempt["replayed"] is not None
    ]
    found["smoke"] = [
        {"goal": module + goal["goal"], **goal["smoke"]} for module, goal in goals if goal["smoke"]
    ]
    found["mutants"] = [
        {"mutant": result.id, "seconds": result.seconds} for result in read.results or []
    ]
    found["evidence_seconds"] = round(time.monotonic() - started, 2)
    return found


def write(read: Inputs, started: float) -> Path:
    """Write the pack in one go: what was there before stays until all of the new one is there."""
    made = files(read, gather.pack(read))
    made[MANIFEST] = manifest(made)
    made[TIMES] = as_json(times(read, started)).encode()
    into = read.root / PACK
    new = into.with_name(f"{into.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    for name, content in made.items():
        path = new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    shutil.rmtree(into, ignore_errors=True)
    new.rename(into)
    # The gate writes its facts anew whenever it runs; the tests compare the pack with these.
    shutil.copyfile(read.root / inputs.FACTS, read.root / inputs.FACTS_OF_PACK)
    return into


def main() -> int:
    """Run the command; 0 if the pack is there."""
    started = time.monotonic()
    try:
        read = inputs.read()
        write(read, started)
    except RefusalError as error:
        print(f"evidence: refused: {error}", file=sys.stderr)
        return 1
    count = sum(len(theory["goals"]) for theory in read.facts["theories"])
    seconds = time.monotonic() - started
    print(f"evidence: {PACK}/index.html, {count} theorems, {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
