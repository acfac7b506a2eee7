"""What a seal is of, and what it was of when it was last given: to be compared word by word.

The seals of proofs/claims.txt are hashes, so the words of old are those of a commit: the one that
brought the seal which a line had. Its tree is read by the tools of today.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from evidence import inventory
from gate import claims, trace
from gate.claims import CLAIMS, UNSEALED, Change, Key
from gate.closed import ToolError, run
from gate.facts import Facts
from gate.program import Program, session_of, theory_files
from gate.tree import GIT

# Trees of old that are read, each in some seconds; the newest ones.
TREES = 12

# Lines of a text of which only those are shown that differ.
LONG = 80


def stated(whygate: Program, root: Path) -> Facts:
    """Give what a tree states, and the names of the goals of its sessions without their proofs."""
    files = theory_files(root)
    audit = whygate.audit(files, cwd=root)
    recorded = {file: goals(root / session_of(file) / "why3session.xml") for file in files}
    sessions: list[Any] = [{"file": file, "errors": [], "goals": []} for file in files]
    for symbol in audit["symbols"]:
        file, module, line = symbol["file"], symbol["module"], symbol["line"]
        name = symbol["goal"] or f"{symbol['name']}'vc"
        if symbol["goal"] or (module, name.rpartition(".")[2]) in recorded[file]:
            goal = {"module": module, "name": name, "tree": {"file": file, "line": line}}
            sessions[files.index(file)]["goals"].append(goal)
    none: Any = {"texts": [], "clauses": []}
    facts: Facts = {**audit, "sessions": sessions, "trace": none, "lists": []}
    facts["trace"], _ = trace.trace(facts, root)
    facts["lists"] = inventory.entries(facts, root)
    return facts


def goals(session: Path) -> set[tuple[str, str]]:
    """Give the goals of a stored session: module and name, without scopes."""
    if not session.exists():
        return set()
    theories = ElementTree.parse(session).getroot().iter("theory")
    return {(t.get("name", ""), g.get("name", "")) for t in theories for g in t.findall("goal")}


def before(whygate: Program, root: Path, changed: Collection[Key]) -> dict[Key, tuple[str, str]]:
    """Give sentence and statement of each, when its line was sealed; where there is git."""
    try:
        commits = run(*GIT, "log", "--format=%H", "--", CLAIMS, cwd=root).split()
    except ToolError:
        print("no git here: what was sealed before cannot be shown, what is sealed now is")
        return {}
    found: dict[Key, tuple[str, str]] = {}
    for number, (commit, keys) in enumerate(sealed_in(root, commits, {*changed}).items()):
        if number < TREES:
            found |= of_commit(whygate, root, commit, keys)
        else:
            print(f"{len(keys)} lines were sealed longer ago than is looked up: shown as they are")
    return found


def sealed_in(root: Path, commits: list[str], keys: set[Key]) -> dict[str, set[Key]]:
    """Give the commits that brought the last seals of some lines."""
    seals, since = dict[Key, str](), dict[Key, str]()
    waiting = keys
    for commit in commits:
        with suppress(ToolError):
            text = run(*GIT, "show", f"{commit}:{CLAIMS}", cwd=root)
            now = {line.key: line.seal for line in claims.parsed(text).lines if line.key in waiting}
            for key in list(waiting):
                seal = now.get(key, "")
                if seal and seal != UNSEALED and seals.setdefault(key, seal) == seal:
                    since[key] = commit
                elif key in seals:
                    waiting = waiting - {key}
    return {c: {key for key in since if since[key] == c} for c in commits if c in since.values()}


def of_commit(
    whygate: Program, root: Path, commit: str, keys: set[Key]
) -> dict[Key, tuple[str, str]]:
    """Give sentences and statements of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        run(*GIT, "archive", "--output", f"{folder}/tree.tar", commit, cwd=root)
        run("/usr/bin/tar", "-xf", f"{folder}/tree.tar", "-C", tree)
        # What an older tree has not, or has elsewhere, cannot be compared.
        with suppress(ToolError, OSError, KeyError):
            sentences = claims.read(tree / CLAIMS).sentences
            return {
                key: (sentences.get(key[1], ""), symbol["statement"])
                for key, symbol in claims.subjects(stated(whygate, tree)).items()
                if key in keys
            }
    return {}


def told(changes: Iterable[Change], old: Mapping[Key, tuple[str, str]]) -> Iterator[str]:
    """Say of each change what a person is to compare; `old` has sentences and statements of old."""
    same = 0
    for key, line, was_sealed, sentence, statement in changes:
        head = f"{key[0]}:{line or ''}: {key[1]}".replace(":: ", ": ")
        was = old.get(key)
        if statement is None:
            yield f"{head}: gone\n  {sentence}"
        elif was and [text.split() for text in was] == [sentence.split(), statement.split()]:
            same += 1
        elif was:
            says = [compared(was[0], sentence), *compared(was[1], statement).split("\n")]
            yield "\n  ".join([f"{head}: changed", *filter(None, says)])
        else:
            says = [sentence, *statement.split("\n")]
            yield "\n  ".join(
                [f"{head}: {'changed' if was_sealed else 'new'}", *filter(None, says)]
            )
    if same:
        yield f"{same} lines say what they said: the way in which that is sealed has changed"


def compared(old: str, new: str) -> str:
    """Give a new text, with [-what is gone-] and {+what is added+}; of a long one, these lines."""
    was, now = old.split("\n"), new.split("\n")
    lines: list[str] = []
    for change, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if change != "equal":
            lines += words("\n".join(was[a:b]), "\n".join(now[c:d])).split("\n")
        elif len(now) < LONG:
            lines += now[c:d]
    return "\n".join(lines)


def words(old: str, new: str) -> str:
    """Mark the words that differ; line breaks and indentation are those of the new text."""
    was, now = old.split(), re.findall(r"(\s*)(\S+)", new)
    steps = SequenceMatcher(None, was, [word for _, word in now], autojunk=False).get_opcodes()

    def marked() -> Iterator[str]:
        for change, a, b, c, d in steps:
            text = "".join(space + word for space, word in now[c:d])
            if change == "equal":
                yield text
                continue
            space = now[c][0] if d > c else " "
            gone = [f"[-{' '.join(was[a:b])}-]"] if b > a else []
            added = [f"{{+{text.removeprefix(space)}+}}"] if d > c else []
            yield space + " ".join(gone + added)

    return "".join(marked())
