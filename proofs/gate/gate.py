"""The gate: every theorem claimed is proved, now, by the pinned provers, from nothing else.

Every part of a goal has to have proofs by provers of two families, and no goal one of its negation:
its hypotheses would contradict each other.

    gate.py [theory ...]                 replay the proofs, audit, compare with theorems.txt; judge
        --quickest | --others            of the proofs of each part, the one that took least | all
                                         but that one
        --sample                         a sixth of the others
    gate.py --smoke [theory ...]         list the parts of goals with contradictory hypotheses
    gate.py --list [theory ...]          print the goals in the form of theorems.txt
    gate.py --seal [theory ...]          write proofs/reviewed.txt: what is stated, as reviewed
    gate.py --update [theory ...]        find proofs, refresh the sessions
        --only PART                      only goals whose Module.name contains PART
        --quick | --thorough             short limits, no transformations but the split | all limits
        --fresh                          forget the stored proofs
        --retry                          forget which provers failed before (build/gate/failures)

The facts behind the judgement are left in build/gate/facts.json.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType

import assumptions
import clauses
import judge
import prooftool
import provers
import seals
import smoke
import sources
import statements
import theorems
import witnesses
from facts import Facts, Theory, attempts, left_alone, nodes, proved
from failures import Failure
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

FACTS = prooftool.BUILD / "facts.json"
THEOREMS = "proofs/theorems.txt"
REVIEWED = "proofs/reviewed.txt"


def chosen(names: list[str]) -> list[str]:
    """Give the theory files of `names` (`shape`, `shape.mlw`, `why3/shape.mlw`), all for none."""
    files = prooftool.theory_files()
    if not names:
        return files
    by_stem = {stem(file): file for file in files}
    unknown = [name for name in names if stem(name) not in by_stem]
    if unknown:
        sys.exit(f"no such theory: {', '.join(unknown)}; there are {', '.join(by_stem)}")
    return [by_stem[stem(name)] for name in names]


def stem(name: str) -> str:
    """Give the name that a theory and its session share."""
    return name.rpartition("/")[2].removesuffix(".mlw")


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("theories", nargs="*", metavar="THEORY", help="all of them unless given")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="print the goals")
    action.add_argument("--smoke", action="store_true", help="list parts that hold for no case")
    action.add_argument("--seal", action="store_true", help="write what has been reviewed")
    action.add_argument("--update", action="store_true", help="find proofs, refresh the sessions")
    share = parser.add_mutually_exclusive_group()
    for name, what in zip(
        prooftool.SHARES,
        ("one proof", "all proofs but the quickest", "a sixth of those"),
        strict=True,
    ):
        share.add_argument(
            f"--{name}",
            action="store_const",
            const=name,
            dest="share",
            help=f"replay {what} of each part",
        )
    update = parser.add_argument_group("with --update")
    update.add_argument("--only", metavar="PART", help="only goals whose Module.name contains PART")
    effort = update.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="short limits, no transformations")
    effort.add_argument("--thorough", action="store_true", help="all limits for a second family")
    update.add_argument("--fresh", action="store_true", help="forget the stored proofs")
    update.add_argument("--retry", action="store_true", help="forget which provers failed before")
    arguments = parser.parse_args(argv)
    if arguments.share and (
        arguments.update or arguments.list or arguments.seal or arguments.smoke
    ):
        parser.error(f"--{arguments.share} is about the replay")
    if update_options(arguments) and not arguments.update:
        parser.error(f"{update_options(arguments)[0]} goes with --update")
    return arguments


def update_options(arguments: argparse.Namespace) -> list[str]:
    """Turn our options into those of the program."""
    options = ["--only", arguments.only] if arguments.only else []
    flags = ("quick", "thorough", "fresh", "retry")
    return options + [f"--{flag}" for flag in flags if getattr(arguments, flag)]


def replay(files: list[str], share: str | None, console: Console) -> Facts:
    """Gather the facts, with a bar on a terminal and a plain line for each tenth elsewhere."""
    if not console.is_terminal:
        return prooftool.facts(files, share, tenths(console))
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("replaying", total=None)
        return prooftool.facts(
            files, share, lambda done, total: bar.update(task, completed=done, total=total)
        )


def tenths(console: Console) -> Callable[[int, int], None]:
    """Give what prints a line whenever another tenth is done."""
    printed = 0

    def progress(done: int, total: int) -> None:
        nonlocal printed
        if total and 10 * done // total > printed:
            printed = 10 * done // total
            console.print(f"replayed {done} of {total}", highlight=False)

    return progress


def row(theory: Theory) -> tuple[int, int, Counter[str], float]:
    """Count a theory's goals, those proved, the proofs of each prover, and their seconds."""
    runs = [(attempt["prover"], attempt["replayed"]) for attempt in attempts(theory)]
    good = Counter(name for name, run in runs if run and run["answer"] == "Valid")
    goals = theory["goals"]
    seconds = sum(run["seconds"] for _, run in runs if run)
    return len(goals), sum(proved(goal["tree"]) for goal in goals), good, seconds


def table(facts: Facts) -> Table:
    """Draw the table of theories."""
    names = [prover["name"] for prover in facts["provers"]]
    drawn = Table(show_footer=True, box=SIMPLE, collapse_padding=True, pad_edge=False)
    rows = [(theory["file"], *row(theory)) for theory in facts["theories"]]
    total = sum((good for _, _, _, good, _ in rows), Counter[str]())
    drawn.add_column("theory", "all", no_wrap=True)
    drawn.add_column("goals", str(sum(goals for _, goals, _, _, _ in rows)), justify="right")
    drawn.add_column("proved", str(sum(done for _, _, done, _, _ in rows)), justify="right")
    for name in names:
        drawn.add_column(name, str(total[name]), justify="right")
    drawn.add_column("seconds", f"{sum(taken for *_, taken in rows):.1f}", justify="right")
    for file, goals, done, good, taken in rows:
        counts = [str(good[name]) for name in names]
        drawn.add_row(file, str(goals), str(done), *counts, f"{taken:.1f}")
    return drawn


def run(files: list[str], share: str | None, console: Console) -> int:
    """Replay, judge and print."""
    started = time.monotonic()
    digest = sources.digest(prooftool.ROOT)
    facts = replay(files, share, console)
    claims = theorems.read(prooftool.ROOT / THEOREMS, THEOREMS)
    pinned = {name: tool.version for name, tool in provers.pinned().items()}
    failures = provers.check(facts["provers"]) + judge.judge(
        facts, claims, pinned, prooftool.ROOT, prooftool.theory_files()
    )
    reviewed = seals.read(prooftool.ROOT / REVIEWED, REVIEWED)
    failures += statements.check(facts)
    failures += seals.compare(facts, claims, reviewed, prooftool.theory_files())
    failures += smoke.check(facts, share)
    if files == prooftool.theory_files() and not any(t["errors"] for t in facts["theories"]):
        facts["trace"], orphans = clauses.trace(facts, prooftool.ROOT)
        failures += orphans
    save(facts, failures, digest)
    console.print(table(facts))
    for assumed in judge.trusted(facts["audit"]):
        name = f"{assumed['module']}.{assumed['name']}"
        console.print(
            f"trusted, without a body: {name} ({assumed['file']}:{assumed['line']})",
            highlight=False,
        )
    console.print(witnesses.summary(facts), highlight=False, soft_wrap=True)
    console.print(assumptions.summary(facts), highlight=False, soft_wrap=True)
    if "trace" in facts:
        console.print(clauses.summary(facts["trace"]), highlight=False, soft_wrap=True)
    if share:
        left = sum(not a["chosen"] for theory in facts["theories"] for a in attempts(theory))
        other = "--quickest" if share == "others" else "--others"
        console.print(f"recorded proofs left to a replay with {other}: {left}", highlight=False)
    for failure in failures:
        console.print(f"[red]{escape(str(failure))}[/]", highlight=False, soft_wrap=True)
    print_verdict(facts, failures, time.monotonic() - started, console)
    return 1 if failures else 0


def print_verdict(facts: Facts, failures: list[Failure], seconds: float, console: Console) -> None:
    """Print the closing line."""
    goals = [goal for theory in facts["theories"] for goal in theory["goals"]]
    about = f"{len(goals)} goals of {len(facts['theories'])} theories, {seconds:.0f} s"
    recorded = sum(any(map(left_alone, nodes(goal["tree"]))) for goal in goals)
    if failures:
        verdict = f"[bold red]gate: FAILED[/], {len(failures)} failures; {about}"
    elif recorded:
        verdict = (
            "[bold green]gate: passed[/], all of the sample proved; "
            f"{recorded} goals taken as recorded, wholly or in part; {about}"
        )
    else:
        verdict = f"[bold green]gate: passed[/], all proved, by two families each; {about}"
    console.print(verdict, highlight=False)


def save(facts: Facts, failures: list[Failure], digest: str) -> None:
    """Leave facts and failures for other programs; `digest` is that of the sources."""
    listed = [vars(failure) for failure in failures]
    result = {"passed": not failures, "failures": listed, "sources": digest, **facts}
    FACTS.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def print_list(files: list[str], console: Console) -> int:
    """Print the goals in the form of theorems.txt, places for the sentences."""
    theories = prooftool.goals(files)["theories"]
    print(theorems.template(judge.goal_places(theories)))
    errors = [error for theory in theories for error in theory["errors"]]
    for error in errors:
        console.print(escape(error), highlight=False, soft_wrap=True)
    return 1 if errors else 0


def seal(files: list[str]) -> int:
    """Seal what the theories state now."""
    claims = theorems.read(prooftool.ROOT / THEOREMS, THEOREMS)
    facts, path = prooftool.goals(files), prooftool.ROOT / REVIEWED
    return seals.seal(path, REVIEWED, facts, claims, prooftool.theory_files())


def terminated(_signal: int, _frame: FrameType | None) -> None:
    """Unwind."""
    sys.exit(143)


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0 if all is well."""
    arguments = parse(argv)
    # Asked to end, it ends as it does when interrupted: nothing that it started goes on.
    signal.signal(signal.SIGTERM, terminated)
    files = chosen(arguments.theories)
    console = Console()
    try:
        prooftool.build()
        if arguments.update:
            return prooftool.update(files, update_options(arguments))
        if arguments.smoke:
            return prooftool.smoke(files)
        if arguments.list:
            return print_list(files, console)
        if arguments.seal:
            return seal(files)
        return run(files, arguments.share, console)
    except prooftool.ToolError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main())
