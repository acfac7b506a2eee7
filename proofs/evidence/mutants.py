"""Mutants: small changes of definitions and programs, each of which some goal has to notice.

    mutants                  all of proofs/mutants.toml; writes build/mutants.json
    mutants --only ID ...    these, and no report

A mutant is killed if a goal has a part that no prover proves within three times its recorded time,
or if the theories do not type-check. One that survives is a hole in the specification: no theorem
depends on the changed text. The list names the goal that has to notice each mutant; if it does not,
the run fails as well, and names the one that does.

Each mutant has a tree of its own in build/, with one theory changed, and copies of the sessions.
Nothing in why3/ or proofs/ is written.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

from evidence.review import recorded
from gate import closed, inventory
from gate.closed import ROOT
from gate.facts import Failure
from gate.program import Program
from gate.theories import theory_files

LIST = inventory.MUTANTS
REPORT = "build/mutants.json"

SURVIVED = "survived"


# Removed and added text.
CHANGED = re.compile(r"\[-(.*?)-\]|\{\+(.*?)\+\}", re.DOTALL)


class Mutant(NamedTuple):
    """A row of the list: a change of the theory `file`, and the goal that has to notice it."""

    file: str
    id: str
    change: str
    goal: str
    mistake: str

    @property
    def old(self) -> str:
        """Give the text to replace, which occurs once in the theory."""
        return CHANGED.sub(lambda found: found[1] or "", self.change)

    @property
    def new(self) -> str:
        """Give its replacement."""
        return CHANGED.sub(lambda found: found[2] or "", self.change)


class Result(TypedDict):
    """The result of a mutant: `goal` noticed it, by `part`, which fails."""

    id: str
    place: str
    verdict: str
    goal: str | None
    part: str
    seconds: float


def read(root: Path) -> list[Mutant]:
    """Read the list of mutants."""
    return [Mutant(*row) for row in inventory.mutants(root)]


def place(mutant: Mutant, root: Path) -> str:
    """Give the place of a mutant's change."""
    before = (root / mutant.file).read_text(encoding="utf-8").partition(mutant.old)[0]
    return f"{mutant.file}:{before.count(chr(10)) + 1}"


def faults(mutants: list[Mutant], root: Path, theories: Mapping[str, str]) -> Iterator[Failure]:
    """Report faults of the list; `theories` has the theory of each goal."""
    for name, count in Counter(mutant.id for mutant in mutants).items():
        if count > 1:
            yield Failure(LIST, name, f"is the name of {count} mutants")
    for mutant in mutants:
        path, goal = root / mutant.file, mutant.goal
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        count = text.count(mutant.old)
        if count != 1:
            what = f"changes a text that occurs {count} times in {mutant.file}, expected once"
            yield Failure(LIST, mutant.id, what)
        if mutant.old == mutant.new:
            yield Failure(LIST, mutant.id, "changes nothing")
        if goal and goal not in theories:
            what = f"is to be noticed by {goal}, of which no proofs are recorded"
            yield Failure(LIST, mutant.id, what)


def sources(root: Path) -> str:
    """Hash theories, sessions and the list: a report with another hash is out of date."""
    recorded = (root / "proofs/sessions").rglob("*.proofs")
    files = sorted({*(root / "why3").rglob("*.mlw"), *recorded})
    paths = [*files, root / LIST]
    return closed.digest((str(path.relative_to(root)), path.read_bytes()) for path in paths)


def results(root: Path) -> list[Result] | None:
    """Read the results of all mutants, if these sources were run."""
    path = root / REPORT
    report = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if report.get("sources") != sources(root):
        return None
    found: list[Result] = report["results"]
    return found


@contextmanager
def mutated_tree(mutant: Mutant, root: Path) -> Iterator[Path]:
    """Lend a tree with the theories, one of them changed, and the sessions."""
    (root / "build" / "mutants").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root / "build" / "mutants") as name:
        tree = Path(name)
        for folder in ("why3", "proofs/sessions"):
            shutil.copytree(root / folder, tree / folder)
        text = (tree / mutant.file).read_text(encoding="utf-8")
        changed = text.replace(mutant.old, mutant.new)
        (tree / mutant.file).write_text(changed, encoding="utf-8")
        yield tree


def run(mutant: Mutant, whysearch: Program, theories: Mapping[str, str]) -> Result:
    """Find the goal that notices a mutant: the named one first, then those of all theories."""
    started = time.monotonic()
    root, goal = whysearch.root, mutant.goal
    first = [theories[goal]] if goal else []
    order = dict.fromkeys([*first, mutant.file, *theory_files(root)])
    with mutated_tree(mutant, root) as tree:
        named = ["--goal", goal] if goal else []
        found = whysearch.ask("mutant", str(root), *named, *order, cwd=tree)
    seconds = round(time.monotonic() - started, 1)
    found |= {"id": mutant.id, "place": place(mutant, root), "seconds": seconds}
    return cast(Result, found)


def fault(mutant: Mutant, result: Result) -> str:
    """Report a mutant that survived, or that another goal noticed."""
    if result["verdict"] == SURVIVED:
        return f"survived: no goal depends on what it changes. {mutant.mistake}"
    if (result["goal"] or "") == mutant.goal:
        return ""
    noticed = result["goal"] or f"the type checker: {result['part']}"
    return (
        f"is not noticed by {mutant.goal or 'the type checker'}, as {LIST} has it, but by {noticed}"
    )


def run_all(mutants: list[Mutant], theories: Mapping[str, str]) -> list[Result]:
    """Run mutants in parallel, with a line for each as it ends; return results in their order."""
    whysearch = Program(ROOT, "whysearch")
    found = {}
    with whysearch.pool() as pool:
        futures = [pool.submit(run, mutant, whysearch, theories) for mutant in mutants]
        for future in as_completed(futures):
            result = future.result()
            found[result["id"]] = result
            by = f"{result['goal'] or 'nothing'} ({result['part']})"
            line = f"{len(found)}/{len(mutants)} {result['id']} {result['verdict']} by {by}"
            print(f"{line}, {result['seconds']:.1f} s", flush=True)
    return [found[mutant.id] for mutant in mutants]


def main(argv: list[str]) -> int:
    """Run the command; return 0 if the named goals kill all mutants."""
    parser = argparse.ArgumentParser(prog="mutants", description="Run the mutants.")
    parser.add_argument("--only", nargs="+", metavar="ID", help="only these, and no report")
    only = parser.parse_args(argv).only
    started = time.monotonic()
    before, mutants = sources(ROOT), read(ROOT)
    theories = recorded(ROOT)
    failures = list(faults(mutants, ROOT, theories))
    chosen = [mutant for mutant in mutants if only is None or mutant.id in only]
    if unknown := set(only or ()) - {mutant.id for mutant in mutants}:
        failures.append(Failure(LIST, ", ".join(sorted(unknown)), "is not listed"))
    found = [] if failures else run_all(chosen, theories)
    for mutant, result in zip(chosen, found, strict=False):
        if what := fault(mutant, result):
            failures.append(Failure(result["place"], mutant.id, what))
    if only is None and found and before == sources(ROOT):
        report = {"sources": before, "results": found}
        new = (ROOT / REPORT).with_suffix(".new")
        new.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        new.replace(ROOT / REPORT)
    for failure in failures:
        print(failure)
    verdict = "FAILED" if failures else "all killed"
    took = time.monotonic() - started
    print(f"mutants: {verdict}; {len(found)} of {len(mutants)}, {took:.0f} s")
    return 1 if failures else 0
