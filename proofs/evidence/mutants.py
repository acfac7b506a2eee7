"""Mutants: drawn changes of definitions; some goal has to notice each.

`mutants [NUMBER]` runs NUMBER mutants, and writes build/mutants.json. Each mutant changes an
operator, a number, a truth value or a quantifier of a definition: `<` to `<=`, 0 to 1, `forall` to
`exists`. A contract repeats its definition's body, so both change together. A goal
notices a mutant if no prover proves some part of the goal within three times the recorded time. A
survivor shows a hole in the specification, or is equivalent to the definition (EQUIVALENT).

The hash of a change decides whether it is drawn, so most mutants stay when a definition changes.
Each theory with mutants gets one before any theory gets two. A mutant has a tree of its own in
build/, with one theory changed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from gate import closed
from gate.closed import ROOT
from gate.program import Program
from gate.theories import comments, theory_files

REPORT = "build/mutants.json"
NUMBER = 150

SURVIVED = "survived"
UNTYPED = "does not type-check"

# Mutants that change nothing, with the reason.
EQUIVALENT: dict[str, str] = {
    "c/walk.mlw steps_written: if [-0-]{+1+} <=": "with code 0 there is no k from 0 to 0",
    "kernel/known.mlw bounds: < [-0-]{+1+} &&": "its arguments are names, which are below 0",
    "model/symbolic.mlw is_valuation: < [-0-]{+1+} ->": "its arguments are names, below 0",
    "numpy/fold.mlw numpy_folds: m. [-0-]{+1+} <=": "() fits every shape",
}

# Replacements of tokens. `->` has none: types contain it, too.
TOKENS = {
    **{"<": "<=", "<=": "<", "+": "-", "-": "+", "0": "1", "1": "2", "/\\": "\\/", "\\/": "/\\"},
    **{"forall": "exists", "exists": "forall", "true": "false", "false": "true"},
}
TOKEN = re.compile(r"[A-Za-z_][\w.']*|\d+|[-+*/\\<>=&|:!@^~%]+|\S")

# A definition, up to an empty line.
DEFINITION = re.compile(
    r"^ +(?:let )?(?:rec )?(?:ghost )?(?:function|predicate|constant) +(?:\(([^)\s]+)\)|([\w']+))"
    r"(?:.+\n)+",
    re.MULTILINE,
)
# ASKED: preconditions and variants, which stay. WITHOUT: theories without mutants.
ASKED = re.compile(r"\b(?:requires|variant) *\{[^}]*\}")
WITHOUT = re.compile(r"witness_|examples|trusted")


class Mutant(NamedTuple):
    """A change of a definition in the theory `file`; `text` is the changed theory."""

    file: str
    definition: str
    change: str
    text: str

    @property
    def id(self) -> str:
        """Return the theory, the definition and the change."""
        return f"{self.file.removeprefix('why3/')} {self.definition}: {self.change}"


class Result(TypedDict):
    """The result of a mutant; if a goal notices it, the goal's part `part` fails."""

    id: str
    verdict: str
    goal: str | None
    part: str
    seconds: float


def of_theory(file: str, text: str) -> Iterator[Mutant]:
    """Return all mutants of a theory."""
    bare = text
    for start, end in (*comments(text), *(each.span() for each in ASKED.finditer(text))):
        bare = bare[:start] + re.sub(r"[^\n]", " ", bare[start:end]) + bare[end:]
    for found in DEFINITION.finditer(bare):
        start, end = found.span()
        name = found[1] or found[2]
        tokens = [*TOKEN.finditer(bare, found.end(1 if found[1] else 2), end)]
        words = [*(token[0] for token in tokens), ""]
        body = bare.find("\n  = ", start, end) if "ensures" in found[0] else start
        seen = set()
        for k in range(1, len(words) - 1):
            old, around = words[k], (words[k - 1], words[k], words[k + 1])
            # A minus may be a sign.
            is_sign = old in ("+", "-") and not re.search(r"[\w')\]]$", around[0])
            if old not in TOKENS or around in seen or is_sign:
                continue
            seen.add(around)
            new, changed, places = TOKENS[old], text, set[bool]()
            for m in reversed(range(1, len(words) - 1)):
                if (words[m - 1], words[m], words[m + 1]) == around:
                    changed = changed[: tokens[m].start()] + new + changed[tokens[m].end() :]
                    places.add(tokens[m].start() > body)
            if body != start and len(places) < 2:
                continue
            said = f"{around[0]} [-{old}-]{{+{new}+}} {around[2]}".rstrip()
            yield Mutant(file, name, said, changed)


def drawn(root: Path, number: int) -> list[Mutant]:
    """Draw mutants: first one of each theory, then others."""
    queues: dict[str, list[tuple[str, Mutant]]] = defaultdict(list)
    for file in theory_files(root):
        if not WITHOUT.search(file):
            text = (root / file).read_text(encoding="utf-8")
            for mutant in of_theory(file, text):
                mark = closed.digest([(mutant.id, b"")])
                queues[file].append((mark, mutant))
    ranked = [
        (place, mark, mutant)
        for several in queues.values()
        for place, (mark, mutant) in enumerate(sorted(several, key=lambda each: each[0]))
    ]
    chosen = sorted(ranked, key=lambda each: (each[0] > 0, each[1]))[:number]
    return [mutant for _, _, mutant in chosen]


@contextmanager
def mutated_tree(mutant: Mutant, root: Path) -> Iterator[Path]:
    """Make a temporary tree with the theories, one of them changed, and the sessions."""
    (root / "build" / "mutants").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root / "build" / "mutants") as name:
        tree = Path(name)
        for folder in ("why3", "proofs/sessions"):
            shutil.copytree(root / folder, tree / folder)
        (tree / mutant.file).write_text(mutant.text, encoding="utf-8")
        yield tree


def run(mutant: Mutant, whysearch: Program) -> Result:
    """Find a goal that notices a mutant, first in its own theory, then in all others."""
    started = time.monotonic()
    root = whysearch.root
    with mutated_tree(mutant, root) as tree:
        order = dict.fromkeys([mutant.file, *theory_files(root)])
        found = whysearch.ask("mutant", str(root), *order, cwd=tree)
    found |= {"id": mutant.id, "seconds": round(time.monotonic() - started, 1)}
    return cast(Result, found)


def run_all(mutants: list[Mutant]) -> list[Result]:
    """Run mutants in parallel, print each result, and return all in the order of `mutants`."""
    whysearch = Program(ROOT, "whysearch")
    found = {}
    with whysearch.pool() as pool:
        futures = [pool.submit(run, mutant, whysearch) for mutant in mutants]
        for future in as_completed(futures):
            result = future.result()
            found[result["id"]] = result
            by = f"{result['goal'] or 'nothing'} ({result['part']})"
            line = f"{len(found)}/{len(mutants)} {result['id']} {result['verdict']} by {by}"
            print(f"{line}, {result['seconds']:.1f} s", flush=True)
    return [found[mutant.id] for mutant in mutants]


def main(argv: list[str]) -> int:
    """Run the command; return 0 if each mutant is noticed, or known to be equivalent."""
    parser = argparse.ArgumentParser(prog="mutants", description="Run mutants.")
    parser.add_argument("number", nargs="?", type=int, default=NUMBER)
    given = parser.parse_args(argv)
    started, mutants = time.monotonic(), drawn(ROOT, given.number)
    found = run_all(mutants)
    alive = {result["id"] for result in found if result["verdict"] == SURVIVED}
    untyped = sum(result["verdict"] == UNTYPED for result in found)
    unlisted = alive - EQUIVALENT.keys()
    stale = {result["id"] for result in found} & EQUIVALENT.keys() - alive
    (ROOT / REPORT).write_text(json.dumps({"results": found}, indent=1) + "\n", encoding="utf-8")
    for name in sorted(unlisted):
        print(f"{name} survived: no goal depends on what it changes")
    for name in sorted(stale):
        print(f"{name} is listed as equivalent, and was noticed")
    print(
        f"mutants: {'FAILED' if unlisted or stale else 'all noticed'}; {len(found)} run, {untyped} "
        f"of them ill-typed, {len(alive)} equivalent or alive, {time.monotonic() - started:.0f} s"
    )
    return 1 if unlisted or stale else 0
