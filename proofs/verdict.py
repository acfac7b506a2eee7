"""The gate checks that two families of provers prove every theorem from allowed assumptions."""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from gate import claims, closed, inventory, judge, toolchain, trace, trial
from gate.closed import FACTS, GIT, ROOT
from gate.facts import Facts, Failure, full_name, parts, proofs
from gate.program import Program, forget
from gate.theories import all_uses, closure, theory_files
from run import FILES, MADE, TOP, strange

# Exit codes: 3 from whysearch if --only chooses no goal, 5 from pytest if all tests are slow.
NOTHING_CHOSEN, NOTHING_LEFT = 3, 5


def gate(argv: list[str]) -> int:
    """Run the proofs, judge and print; a passing gate writes the facts for the evidence."""
    parser = argparse.ArgumentParser(prog="gate", description="Run every proof and judge.")
    parser.add_argument("--fresh", action="store_true", help="ignore answers of earlier runs")
    fresh, started = parser.parse_args(argv).fresh, time.monotonic()
    # A failing run must not leave facts and evidence of an earlier one.
    (ROOT / FACTS).unlink(missing_ok=True)
    shutil.rmtree(ROOT / "build" / "evidence", ignore_errors=True)
    before = closed.sources(ROOT)
    if faults := [*strange("why3", "python", "c", "tests"), *tracked()]:
        raise closed.ToolError("\n".join(faults))
    if fresh:
        forget(ROOT)
    whygate, files = Program(ROOT), theory_files(ROOT)
    audit = whygate.audit(files)
    # Ask no untrusted prover: its answers would be kept.
    if untrusted := list(judge.prover_faults(audit["provers"])):
        raise closed.ToolError("\n".join(map(str, untrusted)))
    facts: Facts = {**audit, "sessions": whygate.sessions(audit)}
    facts["trace"], orphans = trace.trace(facts, ROOT)
    if any(theory["errors"] for theory in facts["theories"]):
        orphans = []  # An unreadable theory has no items: its clauses only look like orphans.
    else:
        facts["lists"] = inventory.entries(facts, ROOT)
        orphans += trial.judged(ROOT, facts)
    claimed = claims.claims(facts, ROOT)
    failures = judge.judge(facts, ROOT) + claims.check(ROOT, claimed, facts) + orphans
    if closed.sources(ROOT) != before:
        failures.append(Failure("why3, proofs", "", "were changed while the gate ran"))
    failures += strangers()
    goals = [goal for session in facts["sessions"] for goal in session["goals"]]
    answers = [proof["now"] for goal in goals for proof in proofs(goal["tree"])]
    kept = sum(answer is not None and answer["kept"] for answer in answers)
    run_now = f"{len(answers) - kept} run now"
    print(f"proofs: {run_now}, {kept} kept from earlier runs of the same session")
    trusted = ", ".join(map(full_name, judge.trusted(facts)))
    lines = [*judge.behind(facts, toolchain.systems()), f"trusted, without a body: {trusted}"]
    print(*lines, *failures, sep="\n")
    whole = sum(1 for goal in goals for _ in judge.with_whole_context(goal["tree"]))
    about = (
        f"{len(goals)} goals of {len(files)} theories in {sum(map(len, map(parts, goals)))} "
        f"parts, {whole} of them from their whole context, {time.monotonic() - started:.0f} s"
    )
    if failures:
        print(f"gate: FAILED, {len(failures)} failures; {about}")
        return 1
    told = {"facts": facts, "claims": claims.of_goals(claimed), "sources": before}
    (ROOT / FACTS).write_text(json.dumps(told), encoding="utf-8")
    print(f"gate: passed, all proved, by two families each; {about}")
    return 0


def tracked() -> Iterator[str]:
    """Find tracked files that are generated, or that could be settings of a tool."""
    if not closed.has_git(ROOT):
        print("no git here: tracked files are not checked")
        return
    for name in filter(None, closed.run(*GIT, "ls-files", "-z", cwd=ROOT).split("\0")):
        if MADE.fullmatch(name) or not (FILES.fullmatch(name) or TOP.fullmatch(name)):
            yield f"{name}: is tracked by git: expected what run.py lists, without generated files"


def strangers() -> Iterator[Failure]:
    """Find loaded modules from other folders of this tree: they could change the gate."""
    for name, module in sorted(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "/")
        shown = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else ""
        if shown and not shown.startswith(("proofs/gate/", "proofs/run.py", "proofs/verdict.py")):
            yield Failure(shown, name, "is loaded while the gate judges: expected gate/ alone")


def update(argv: list[str]) -> int:
    """Find and record proofs, two theories at a time; return 0 if all chosen goals are proved."""
    parser = argparse.ArgumentParser(prog="update", description="Find proofs, refresh sessions.")
    parser.add_argument("theories", nargs="*", metavar="THEORY", help="all of them unless given")
    parser.add_argument("--only", metavar="PART", help="goals whose Module.name contains PART")
    parser.add_argument("--quick", action="store_true", help="only short limits")
    arguments = parser.parse_args(argv)
    options = ["--only", arguments.only] if arguments.only else []
    options += ["--quick"] if arguments.quick else []
    files, whysearch, uses = chosen(arguments.theories), Program(ROOT, "whysearch"), all_uses(ROOT)

    def code(file: str) -> int:
        return whysearch.run("update", *options, whysearch.source(closure(file, uses)), file)[0]

    with whysearch.pool() as pool:
        codes = list(pool.map(code, files))
    if set(codes) == {NOTHING_CHOSEN}:
        sys.exit(f"no goal has {arguments.only} in its name")
    return max(code for code in codes if code != NOTHING_CHOSEN)


def check(argv: list[str]) -> int:
    """Check theories: their types, their goals, and the quick tests of their clauses."""
    parser = argparse.ArgumentParser(prog="check", description=check.__doc__)
    parser.add_argument("theories", nargs="+", metavar="FILE", help="such as core/shape")
    parser.add_argument("--used", action="store_true", help="also the theories that these use")
    arguments = parser.parse_args(argv)
    files, whygate, started = chosen(arguments.theories), Program(ROOT), time.monotonic()
    if arguments.used:
        uses = all_uses(ROOT)
        used = set[str]().union(*(closure(file, uses) for file in files))
        files = [file for file in theory_files(ROOT) if file in used]
    facts: Facts = {**whygate.audit(files), "sessions": []}
    if not any(theory["errors"] for theory in facts["theories"]):
        # Keep no answers: this audit does not cover the used theories.
        with whygate.pool() as pool:
            facts["sessions"] = list(pool.map(lambda file: whygate.ask("replay", file), files))
    provers = {prover["name"]: prover for prover in facts["provers"]}
    theories = facts["theories"]
    failures = [Failure(t["file"], "", error) for t in theories for error in t["errors"]]
    for session in facts["sessions"]:
        failures += judge.session_faults(session, provers)
    facts["trace"], _ = trace.trace(facts, ROOT)
    tests = {
        test["name"]
        for clause in facts["trace"]["clauses"]
        if any(
            each["place"].partition(":")[0] in files for part in trace.MAIN for each in clause[part]
        )
        for test in clause["tests"]
    }
    goals = sum(len(session["goals"]) for session in facts["sessions"])
    about = f"{goals} goals, {len(failures)} failures, {time.monotonic() - started:.0f} s"
    told = [*failures, f"{', '.join(files)}: {about}; {len(tests)} tests of their clauses"]
    for file, name in claims.unread(ROOT, claims.claims(facts, ROOT)):
        told.append(f"{file}: nobody compared this {name} with its sentence: make seal")
    print(*told, sep="\n", flush=True)
    if failures or not tests:
        return bool(failures)
    pytest = (ROOT / ".venv/bin/pytest", "-q", "-n", "auto", "-m", "not slow", *sorted(tests))
    code = subprocess.run(pytest, cwd=ROOT, check=False).returncode
    return 0 if code == NOTHING_LEFT else code


def chosen(names: list[str]) -> list[str]:
    """Find theories by name (`shape`, `core/shape.mlw`, `why3/...`); without names, list all."""
    files = theory_files(ROOT)
    found = []
    for name in names:
        ending = "/" + name.removesuffix(".mlw") + ".mlw"
        fitting = [file for file in files if f"/{file}".endswith(ending)]
        if len(fitting) != 1:
            sys.exit(f"{name} names {len(fitting)} theories, expected one of {', '.join(files)}")
        found += fitting
    return found or files
