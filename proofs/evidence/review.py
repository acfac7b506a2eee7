"""New and old sealed statements, for a person to compare word by word.

proofs/claims.lock has only hashes: today's tools read the old words from the lock's last commit.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from gate import claims, inventory, trace
from gate.claims import LOCK, Claim, Key
from gate.closed import GIT, ROOT, ToolError, environment, run
from gate.facts import Facts
from gate.program import Program
from gate.theories import session_of, theory_files

# If a text has more lines than this, or is a clause, only changed lines are shown.
LONG = 80


def main(argv: list[str]) -> int:
    """Seal the present statements, and print the new, changed and removed ones."""
    argparse.ArgumentParser(prog="seal", description=main.__doc__).parse_args(argv)
    whygate = Program(ROOT)
    facts = stated(whygate, ROOT)
    if errors := [error for theory in facts["theories"] for error in theory["errors"]]:
        raise ToolError("\n".join(["nothing is sealed:", *errors]))
    now, old = sealed(claims.claims(facts, ROOT)), before(whygate, ROOT)
    for key in claims.seal(ROOT, now, date.today().isoformat()):
        print(told(key, old.get(key), now.get(key)))
    return 0


def sealed(found: dict[Key, Claim]) -> dict[Key, Claim]:
    """Return the claims that somebody relies on."""
    return {key: claim for key, claim in found.items() if claim.is_relied_on}


def stated(whygate: Program, root: Path) -> Facts:
    """Return a tree's statements, and the goals of its sessions, but no proofs."""
    files = theory_files(root)
    audit = whygate.audit(files, cwd=root)
    goals = recorded(root)
    sessions: list[Any] = [{"file": file, "errors": [], "goals": []} for file in files]
    for symbol in audit["symbols"]:
        file, module, line = symbol["file"], symbol["module"], symbol["line"]
        name = symbol["goal"] or f"{symbol['name']}'vc"
        if symbol["goal"] or goals.get(f"{module}.{name}") == file:
            goal = {"module": module, "name": name, "tree": {"file": file, "line": line}}
            sessions[files.index(file)]["goals"].append(goal)
    facts: Facts = {**audit, "sessions": sessions}
    facts["trace"], _ = trace.trace(facts, root)
    facts["lists"] = inventory.entries(facts, root)
    return facts


def recorded(root: Path) -> dict[str, str]:
    """Return the theory of each goal with recorded proofs; a goal is `Module.name`."""
    sessions = {file: root / session_of(file) for file in theory_files(root)}
    lines = {
        file: session.read_text(encoding="utf-8").splitlines()
        for file, session in sessions.items()
        if session.exists()
    }
    return {line: file for file in lines for line in lines[file] if not line.startswith(" ")}


def before(whygate: Program, root: Path) -> dict[Key, Claim]:
    """Return the sealed claims at the last commit of the lock, {} if they cannot be read."""
    try:
        commit = run(*GIT, "log", "-1", "--format=%H", "--", LOCK, cwd=root).strip()
    except ToolError:
        commit = ""
    if not commit:
        print("no commit here has a lock: what was sealed before cannot be shown")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        run(*GIT, "archive", "--output", f"{folder}/tree.tar", commit, cwd=root)
        run("/usr/bin/tar", "-xf", f"{folder}/tree.tar", "-C", tree)
        try:
            return sealed(claims.claims(stated(whygate, tree), tree))
        except (ToolError, OSError, LookupError, AttributeError, TypeError, ValueError):
            print("these tools cannot read the tree that was sealed before")
            return {}


def told(key: Key, old: Claim | None, new: Claim | None) -> str:
    """Describe a change."""
    line = new.symbol["line"] if new else None
    head = f"{key[0]}:{line or ''}: {key[1]}".replace(":: ", ": ")
    if new is None:
        return f"{head}: gone" + (f"\n  {old.sentence}" if old else "")
    lines = [new.sentence, *new.symbol["statement"].split("\n")]
    if old:
        long = 0 if key[0] == trace.TRACE else LONG
        statement = compared(old.symbol["statement"], new.symbol["statement"], long)
        lines = [compared(old.sentence, new.sentence), *statement.split("\n")]
    return "\n  ".join([f"{head}: {'changed' if old else 'new'}", *filter(None, lines)])


def compared(old: str, new: str, long: int = LONG) -> str:
    """Return a new text with [-removed-]{+added+} words; if it is long, only changed lines."""
    if old == new:
        return "" if new.count("\n") >= long else new
    lines = 0 if new.count("\n") >= long else long
    options = ("--no-index", "--no-ext-diff", "--word-diff=plain", f"-U{lines}", "old", "new")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("old", old), ("new", new)):
            (Path(folder) / name).write_text(f"{text}\n", encoding="utf-8")
        # git exits with 1 if the texts differ.
        done = subprocess.run(
            [*GIT, "diff", *options], cwd=folder, env=environment(), capture_output=True, text=True
        )
    return "\n".join(line for line in done.stdout.splitlines()[4:] if not line.startswith("@@"))
