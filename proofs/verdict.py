"""The gate: every theorem claimed is proved by two families of provers, from nothing else.

Three commands: `gate` runs every recorded proof, judges, and writes the evidence in build/evidence;
`update` finds proofs and refreshes the sessions; `seal` writes proofs/claims.lock, when a
person has compared what is stated with what is claimed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections import Counter
from datetime import date
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from evidence import graph, inventory, mutants, pages, review
from gate import claims, closed, judge, toolchain, trace, tree
from gate.closed import ROOT
from gate.facts import Facts, Failure, Session, holds, proofs, proved
from gate.program import Program, forget
from gate.theories import theory_files
from validate import trial

# What whysearch ends with where --only chooses no goal of a theory that has some.
NOTHING_CHOSEN = 3


def gather(whygate: Program, files: list[str], console: Console) -> Facts:
    """Ask for all facts, with a bar on a terminal and a line for each tenth of the theories."""
    audit = whygate.audit(files)
    # No answer is wanted of who cannot be trusted: it would be kept.
    if faults := list(judge.prover_faults(audit["provers"])):
        raise closed.ToolError("\n".join(map(str, faults)))
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task, done = bar.add_task("theories", total=len(files)), 0

        def progress(session: Session) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done)
            if not console.is_terminal and 10 * done // len(files) > 10 * (done - 1) // len(files):
                console.print(f"{done} of {len(files)} theories", highlight=False)

        sessions = whygate.sessions(audit, files, progress)
    return {**audit, "sessions": sessions, "trace": trace.NONE, "lists": []}


def gate(argv: list[str]) -> int:
    """Run the proofs, judge, print; write the evidence if all is well, and none if not."""
    parser = argparse.ArgumentParser(prog="gate", description="Run every proof and judge.")
    parser.add_argument("--fresh", action="store_true", help="take no answer of an earlier run")
    fresh = parser.parse_args(argv).fresh
    console, started = Console(), time.monotonic()
    # Evidence of an earlier run must not stand where this one fails.
    shutil.rmtree(ROOT / "build" / "evidence", ignore_errors=True)
    before = pages.sources(ROOT)
    if faults := tree.faults(ROOT):
        raise closed.ToolError("\n".join(map(str, faults)))
    if not tree.has_git(ROOT):
        console.print("no git here, so nothing of build/ or .venv that it could have brought")
    if fresh:
        forget(ROOT)
    whygate = Program(ROOT)
    files = theory_files(ROOT)
    facts = gather(whygate, files, console)
    orphans = list[Failure]()
    # Where a theory cannot be read, what belongs to it is no orphan.
    if not any(theory["errors"] for theory in facts["theories"]):
        facts["trace"], orphans = trace.trace(facts, ROOT)
        facts["lists"] = inventory.entries(facts, ROOT)
        orphans += claims.document_faults(ROOT, facts)
        orphans += trial.judged(ROOT, facts)
    claimed = claims.claims(facts, ROOT)
    failures = judge.judge(facts, ROOT) + claims.check(ROOT, claimed, facts) + orphans
    if pages.sources(ROOT) != before:
        failures.append(Failure("why3, proofs", "", "were changed while the gate ran"))
    report(facts, console)
    for failure in failures:
        console.print(f"[red]{escape(str(failure))}[/]", highlight=False, soft_wrap=True)
    goals = [goal for session in facts["sessions"] for goal in session["goals"]]
    whole = sum(1 for goal in goals for _ in judge.with_whole_context(goal["tree"]))
    parts = sum(len(pages.parts(goal)) for goal in goals)
    about = (
        f"{len(goals)} goals of {len(files)} theories in {parts} parts, "
        f"{whole} of them from their whole context"
    )
    if failures:
        about = f"[bold red]gate: FAILED[/], {len(failures)} failures; {about}"
    else:
        tried = mutants.results(ROOT)
        tools = toolchain.read()
        pages.write(facts, claims.of_goals(claimed), ROOT, mutants.read(ROOT), tried, tools)
        about = (
            f"[bold green]gate: passed[/], all proved, by two families each; {about}; "
            "build/evidence/index.html"
        )
    console.print(f"{about}, {time.monotonic() - started:.0f} s", highlight=False, soft_wrap=True)
    return 1 if failures else 0


def report(facts: Facts, console: Console) -> None:
    """Print what was run and what the proofs rest on."""
    names = [prover["name"] for prover in facts["provers"]]
    drawn = Table(show_footer=True, box=SIMPLE, collapse_padding=True, pad_edge=False)
    rows = [(session["file"], *row(session)) for session in facts["sessions"]]
    total = sum((counted for *_, counted, _ in rows), Counter[str]())
    drawn.add_column("theory", "all", no_wrap=True)
    drawn.add_column("goals", str(sum(row[1] for row in rows)), justify="right")
    drawn.add_column("proved", str(sum(row[2] for row in rows)), justify="right")
    for name in names:
        drawn.add_column(name, str(total[name]), justify="right")
    drawn.add_column("seconds", f"{sum(row[4] for row in rows):.1f}", justify="right")
    for file, goals, done, counted, seconds in rows:
        counts = [str(counted[name]) for name in names]
        drawn.add_row(file, str(goals), str(done), *counts, f"{seconds:.1f}")
    console.print(drawn)
    answers = [proof["now"] for session in facts["sessions"] for proof in proofs(session)]
    kept = sum(answer is not None and answer["kept"] for answer in answers)
    rests = graph.Graph(facts)
    used = Counter(rests.library[name]["kind"] for name in rests.assumed())
    trusted = [f"{entry['module']}.{entry['name']}" for entry in judge.trusted(facts)]
    claimed = judge.hypotheses(facts)
    for line in (
        f"proofs: {len(answers) - kept} run now, {kept} kept from earlier runs of the same session",
        f"trusted, without a body: {', '.join(trusted)}",
        f"hypotheses: {len(claimed)} claims have some, "
        f"{sum(bool(entry['satisfied_by']) for entry in claimed)} are satisfied",
        f"standard library: proofs use {used['axiom']} axioms, "
        f"{used['lemma'] + used['contract']} lemmas and contracts proved elsewhere, "
        f"{used['val']} contracts of operations without a body",
        f"used by no proof, and no theorem of a clause: {len(rests.unused(facts))}",
        trace.summary(facts["trace"]),
    ):
        console.print(line, highlight=False, soft_wrap=True)


def row(session: Session) -> tuple[int, int, Counter[str], float]:
    """Count a theory's goals, those proved, the proofs of each prover, and their seconds."""
    counted = Counter(proof["prover"] for proof in proofs(session) if holds(proof))
    seconds = sum(proof["now"]["seconds"] for proof in proofs(session) if proof["now"])
    goals = session["goals"]
    return len(goals), sum(proved(goal["tree"]) for goal in goals), counted, seconds


def update(argv: list[str]) -> int:
    """Find proofs, refresh sessions, two theories at a time; 0 if all that is asked is proved."""
    parser = argparse.ArgumentParser(prog="update", description="Find proofs, refresh sessions.")
    parser.add_argument("theories", nargs="*", metavar="THEORY", help="all of them unless given")
    parser.add_argument("--only", metavar="PART", help="goals whose Module.name contains PART")
    flags = {
        "quick": "short limits, no transformations but the split",
    }
    for flag, what in flags.items():
        parser.add_argument(f"--{flag}", action="store_true", help=what)
    arguments = parser.parse_args(argv)
    options = ["--only", arguments.only] if arguments.only else []
    options += [f"--{flag}" for flag in flags if getattr(arguments, flag)]
    files, whysearch = chosen(arguments.theories), Program(ROOT, "whysearch")
    with whysearch.pool() as pool:
        codes = list(pool.map(lambda file: whysearch.run("update", *options, file), files))
    if set(codes) == {NOTHING_CHOSEN}:
        sys.exit(f"no goal has {arguments.only} in its name")
    return max(code for code in codes if code != NOTHING_CHOSEN)


def check(argv: list[str]) -> int:
    """Check one theory: its types, its goals, and the tests that are tagged with its clauses."""
    parser = argparse.ArgumentParser(prog="check", description=check.__doc__)
    parser.add_argument("theory", metavar="FILE", help="as in why3/core/shape.mlw or core/shape")
    (file,), whygate = chosen([parser.parse_args(argv).theory]), Program(ROOT)
    facts: Facts = {**whygate.audit([file]), "sessions": [], "trace": trace.NONE, "lists": []}
    if not any(theory["errors"] for theory in facts["theories"]):
        facts["sessions"] = whygate.sessions(facts, [file], lambda _: None)
    provers = {prover["name"]: prover for prover in facts["provers"]}
    failures = [Failure(file, "", e) for theory in facts["theories"] for e in theory["errors"]]
    for session in facts["sessions"]:
        failures += judge.session_faults(session, provers)
    clauses: list[Any] = [*trace.trace(facts, ROOT)[0]["clauses"]]
    tests = {
        test["name"]
        for clause in clauses
        if any(each["place"].startswith(f"{file}:") for part in trace.MAIN for each in clause[part])
        for test in clause["tests"]
    }
    for failure in failures:
        print(failure)
    goals = sum(len(session["goals"]) for session in facts["sessions"])
    print(f"{file}: {goals} goals, {len(failures)} failures; {len(tests)} tests of its clauses")
    if failures or not tests:
        return bool(failures)
    pytest = (ROOT / ".venv/bin/pytest", "-q", "-n", "auto")
    return subprocess.run([*pytest, *sorted(tests)], cwd=ROOT, check=False).returncode


def chosen(names: list[str]) -> list[str]:
    """Give the theory files of `names` (`shape`, `core/shape.mlw`, `why3/...`), all for none."""
    files = theory_files(ROOT)
    found = []
    for name in names:
        ending = "/" + name.removesuffix(".mlw") + ".mlw"
        fitting = [file for file in files if f"/{file}".endswith(ending)]
        if len(fitting) != 1:
            sys.exit(f"{name} names {len(fitting)} theories, expected one of {', '.join(files)}")
        found += fitting
    return found or files


def seal(argv: list[str]) -> int:
    """Seal what is stated now, and print what is sealed for the first time or anew."""
    argparse.ArgumentParser(prog="seal", description="Seal what has been reviewed.").parse_args(
        argv
    )
    console, whygate = Console(), Program(ROOT)
    facts = review.stated(whygate, ROOT)
    if errors := [error for theory in facts["theories"] for error in theory["errors"]]:
        raise closed.ToolError("\n".join(["nothing is sealed:", *errors]))
    now, old = claims.claims(facts, ROOT), review.before(whygate, ROOT)
    for key in claims.seal(ROOT, now, date.today().isoformat()):
        text = review.told(key, old.get(key), now.get(key))
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    return 0
