"""Mutants: small changes of definitions and programs, each of which some goal has to notice.

    mutants.py                  all of proofs/mutants/mutants.toml; writes build/mutants.json
    mutants.py --only ID ...    these, and no report
    mutants.py --sample N       N of them, the same for the same --seed, and no report

A mutant is killed if some goal has a part that no prover proves any more within three times what
its proof takes, or if the theories do not type-check. One that survives is a hole in the
specification: it says something that no theorem depends on. The list names for each mutant the goal
that is to notice it; where that goal does not, the run fails as well, and names the one that does.

Each mutant has a tree of its own in build/mutants, with all theories, one of them changed, and
links to the sessions. Nothing in why3/ or proofs/ is written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gate"))
import prooftool
import theorems
from failures import Failure
from prooftool import ROOT

LIST = "proofs/mutants/mutants.toml"
THEOREMS = "proofs/theorems.txt"
REPORT = "build/mutants.json"
TABLE = "build/mutants.txt"

KILLED = "killed"
ILL_TYPED = "does not type-check"
SURVIVED = "survived"


@dataclass(frozen=True)
class Mutant:
    """A change: `old` occurs once in the theory `file`, and `new` takes its place.

    `what` says what somebody would have got wrong; `goal` is to notice it, and without one the type
    checker is.
    """

    id: str
    file: str
    old: str
    new: str
    what: str
    goal: str | None = None


@dataclass(frozen=True)
class Result:
    """What became of a mutant: `goal` is the one that noticed, `part` the part of it that fails."""

    id: str
    file: str
    line: int
    what: str
    verdict: str
    goal: str | None
    part: str
    seconds: float


class StoppedError(Exception):
    """The run has been interrupted; no other mutant starts."""


# --- the list ---------------------------------------------------------------------------------


def read() -> list[Mutant]:
    """Read the list of a tree."""
    with (ROOT / LIST).open("rb") as file:
        return [Mutant(**entry) for entry in tomllib.load(file)["mutant"]]


def source(mutant: Mutant) -> str:
    """Read the theory that a mutant changes; nothing if there is none."""
    path = ROOT / mutant.file
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def line(mutant: Mutant) -> int:
    """Find the line of a mutant's change."""
    return source(mutant).partition(mutant.old)[0].count("\n") + 1


def goals_by_theory() -> dict[str, str]:
    """Give the theory of each goal that is claimed."""
    claims = theorems.read(ROOT / THEOREMS, THEOREMS)
    return {entry.name: entry.theory for entry in claims.entries}


def entry_faults(mutant: Mutant, theories: dict[str, str]) -> list[str]:
    """Say what is wrong with one entry of the list."""
    found = []
    count = source(mutant).count(mutant.old)
    if count != 1:
        found.append(f"changes a text that occurs {count} times in {mutant.file}, expected once")
    if mutant.old == mutant.new:
        found.append("changes nothing")
    if not mutant.what.endswith("."):
        found.append("has no sentence that says what is wrong with it")
    if mutant.goal is not None and mutant.goal not in theories:
        found.append(f"is to be noticed by {mutant.goal}, which {THEOREMS} does not list")
    return found


def list_faults(mutants: list[Mutant]) -> list[Failure]:
    """Say everything that is wrong with the list."""
    theories = goals_by_theory()
    seen: set[str] = set()
    failures: list[Failure] = []
    for mutant in mutants:
        faults = entry_faults(mutant, theories)
        if mutant.id in seen:
            faults.append("is listed twice")
        seen.add(mutant.id)
        failures.extend(Failure(LIST, mutant.id, fault) for fault in faults)
    return failures


def sources_hash() -> str:
    """Hash the theories and the list: a report is of these, or it is out of date."""
    total = hashlib.sha256()
    for path in [*(ROOT / file for file in prooftool.theory_files()), ROOT / LIST]:
        content = path.read_bytes()
        total.update(f"{path.relative_to(ROOT).as_posix()}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Choose mutants, each of another theory as long as there is one, in the order of the list."""
    shuffled = random.Random(seed).sample(mutants, len(mutants))
    rounds: dict[str, int] = {}
    ranked = []
    for place, mutant in enumerate(shuffled):
        rounds[mutant.file] = rounds.get(mutant.file, 0) + 1
        ranked.append((rounds[mutant.file], place, mutant))
    chosen = {mutant.id for _, _, mutant in sorted(ranked, key=lambda entry: entry[:2])[:count]}
    return [mutant for mutant in mutants if mutant.id in chosen]


# --- one mutant -------------------------------------------------------------------------------


@contextmanager
def mutated_tree(mutant: Mutant) -> Iterator[Path]:
    """Lend a tree with the theories, one of them changed, and links to the sessions."""
    parent = ROOT / "build" / "mutants"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{mutant.id}-", dir=parent) as name:
        tree = Path(name)
        for file in prooftool.theory_files():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, tree / file)
        changed = source(mutant).replace(mutant.old, mutant.new)
        (tree / mutant.file).write_text(changed, encoding="utf-8")
        for path in (ROOT / "proofs").glob("*/why3*"):
            link = tree / path.relative_to(ROOT)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)
        yield tree


def search_order(mutant: Mutant, theories: dict[str, str]) -> list[str]:
    """Give the theories: that of the named goal, the changed one, those that come after it."""
    first = [theories[mutant.goal]] if mutant.goal else []
    return list(dict.fromkeys([*first, mutant.file, *prooftool.theory_files()]))


class Runner:
    """Runs mutants, a process for each, and ends those that run when it is told to stop."""

    def __init__(self) -> None:
        self.theories = goals_by_theory()
        self.running: set[subprocess.Popen[str]] = set()
        self.stopped = False

    def run(self, mutant: Mutant) -> Result:
        """Find the goal that notices a mutant."""
        started = time.monotonic()
        with mutated_tree(mutant) as tree:
            named = ["--goal", mutant.goal] if mutant.goal else []
            found = self.ask(tree, [*named, *search_order(mutant, self.theories)], mutant.id)
        return Result(
            id=mutant.id,
            file=mutant.file,
            line=line(mutant),
            what=mutant.what,
            verdict=found["verdict"] or "",
            goal=found["goal"],
            part=found["part"] or "",
            seconds=round(time.monotonic() - started, 1),
        )

    def ask(self, tree: Path, arguments: list[str], name: str) -> dict[str, str | None]:
        """Run the proof tool in a tree for its verdict."""
        if self.stopped:
            raise StoppedError
        with subprocess.Popen(
            prooftool.command("mutant", *arguments),
            cwd=tree,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            self.running.add(process)
            output, messages = process.communicate()
            self.running.discard(process)
        if self.stopped:
            raise StoppedError
        if process.returncode:
            raise prooftool.ToolError(
                f"{name}: whygate ended with {process.returncode}:\n{messages}"
            )
        answer: dict[str, str | None] = json.loads(output)
        return answer

    def stop(self) -> None:
        """End what runs, and let nothing else start."""
        self.stopped = True
        for process in list(self.running):
            process.terminate()


def run_all(mutants: Sequence[Mutant], ended: Callable[[Result], None]) -> list[Result]:
    """Run mutants, as many at a time as there are cores; the results in the order of the list."""
    prooftool.build()
    runner = Runner()
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        futures: list[Future[Result]] = [pool.submit(runner.run, mutant) for mutant in mutants]
        try:
            for future in as_completed(futures):
                ended(future.result())
        except BaseException:
            runner.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


# --- what is said -----------------------------------------------------------------------------


def unexpected(mutants: Sequence[Mutant], results: Sequence[Result]) -> list[Failure]:
    """Name the mutants that nothing noticed, and those that another goal noticed than is said."""
    failures = []
    for mutant, result in zip(mutants, results, strict=True):
        place = f"{result.file}:{result.line}"
        if result.verdict == SURVIVED:
            what = f"survived: no goal depends on what it changes. {result.what}"
            failures.append(Failure(place, result.id, what))
        elif result.goal != mutant.goal:
            wanted = mutant.goal or "the type checker"
            noticed = result.goal or f"the type checker: {result.part}"
            what = f"is not noticed by {wanted}, as {LIST} has it, but by {noticed}"
            failures.append(Failure(place, result.id, what))
    return failures


def sentence(result: Result) -> str:
    """Say on one line what became of a mutant."""
    if result.verdict == SURVIVED:
        return f"{result.id} SURVIVED, {result.seconds:.1f} s"
    by = f" by {result.goal} ({result.part})" if result.goal else f": {result.part}"
    return f"{result.id} {result.verdict}{by}, {result.seconds:.1f} s"


def killer(result: Result) -> str:
    """Name what noticed a mutant, for the tables."""
    return result.goal or (ILL_TYPED if result.verdict == ILL_TYPED else "nothing: SURVIVED")


def table(results: Sequence[Result]) -> Table:
    """Draw the table for the terminal."""
    drawn = Table(box=SIMPLE, collapse_padding=True, pad_edge=False)
    drawn.add_column("mutant")
    drawn.add_column("goal that kills it", overflow="fold")
    drawn.add_column("seconds", justify="right")
    for result in results:
        drawn.add_row(result.id, killer(result), f"{result.seconds:.1f}")
    return drawn


def markdown(results: Sequence[Result]) -> str:
    """Write the table for readers, with the places and what is wrong with each mutant."""
    lines = [
        "| mutant | where | what somebody got wrong | goal that kills it | part | seconds |",
        "|---|---|---|---|---|---:|",
    ]
    for result in results:
        cells = [
            result.id,
            f"{result.file}:{result.line}",
            result.what,
            killer(result),
            result.part,
            f"{result.seconds:.1f}",
        ]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def save(sources: str, results: Sequence[Result]) -> list[Failure]:
    """Leave the report of all mutants for other programs and for readers, if it is of one state."""
    if sources != sources_hash():
        return [Failure(REPORT, "", "is not written: a theory or the list has changed meanwhile")]
    report = {"sources": sources, "results": [asdict(result) for result in results]}
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    (ROOT / REPORT).write_text(text, encoding="utf-8")
    (ROOT / TABLE).write_text(markdown(results), encoding="utf-8")
    return []


def run_shown(mutants: Sequence[Mutant], console: Console) -> list[Result]:
    """Run mutants with a line for each as it ends, and a bar on a terminal."""
    count = len(mutants)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("mutants", total=count)
        done = 0

        def ended(result: Result) -> None:
            nonlocal done
            done += 1
            console.print(
                f"{done:{len(str(count))}}/{count} {escape(sentence(result))}",
                highlight=False,
                soft_wrap=True,
            )
            bar.update(task, completed=done)

        return run_all(mutants, ended)


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--only", nargs="+", metavar="ID", help="only these mutants")
    choice.add_argument("--sample", type=int, metavar="N", help="only N mutants")
    parser.add_argument("--seed", type=int, default=0, help="which sample (0 unless given)")
    return parser.parse_args(argv)


def chosen(mutants: list[Mutant], arguments: argparse.Namespace) -> list[Mutant]:
    """Give the mutants that the command line asks for."""
    if arguments.sample is not None:
        return sample(mutants, arguments.sample, arguments.seed)
    if arguments.only is None:
        return mutants
    unknown = sorted(set(arguments.only) - {mutant.id for mutant in mutants})
    if unknown:
        sys.exit(f"{LIST} has no mutant {', '.join(unknown)}")
    return [mutant for mutant in mutants if mutant.id in arguments.only]


def interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """End as by the interrupt key."""
    raise KeyboardInterrupt


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0 if every mutant is killed by what is to kill it."""
    signal.signal(signal.SIGTERM, interrupted)
    arguments = parse(argv)
    console = Console()
    started = time.monotonic()
    sources, mutants = sources_hash(), read()
    failures = list_faults(mutants)
    selected = [] if failures else chosen(mutants, arguments)
    try:
        results = run_shown(selected, console)
    except prooftool.ToolError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    failures += unexpected(selected, results)
    if selected == mutants:
        failures += save(sources, results)
    console.print(table(results))
    for failure in failures:
        console.print(f"[red]{escape(str(failure))}[/]", highlight=False, soft_wrap=True)
    verdict = "[bold red]FAILED[/]" if failures else "[bold green]all killed[/]"
    seconds = time.monotonic() - started
    console.print(f"mutants: {verdict}; {len(results)} of {len(mutants)}, {seconds:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
