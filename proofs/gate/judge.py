"""Judge the facts: every failure, each with its place."""

from __future__ import annotations

from pathlib import Path

import assumptions
import theorems
import witnesses
from facts import (
    Assumed,
    Attempt,
    Audit,
    Facts,
    Goal,
    Node,
    Theory,
    full_name,
    holds,
    nodes,
    proved,
    recorded_families,
)
from failures import Failure

# The one file whose programs may be declared without a body: each of them is a Python operation.
TRUSTED = "why3/trusted/python.mlw"

# Metas that tell a tool how to print or to compute and a prover nothing: Why3 adds the first two
# itself to records, the others guide transformations by what is proved or defined anyway.
HARMLESS_METAS = {"model_record", "model_projection", "rewrite", "rewrite_def", "inline:no"}

# The transformations that prove.ml uses: what is proved of their parts is proved of the goal. Why3
# has others for which that is not so (`smoke_detector_top` negates the goal).
SOUND = {"split_vc", "split_all_full", "introduce_premises", "inline_goal"}

SESSION_FILES = {"why3session.xml", "why3shapes.gz"}

# Directories of proofs/ that are not sessions.
TOOLS = {"evidence", "gate", "mutants", "provers"}


def place(node: Node, theory: str) -> str:
    """Say where a node stands; the theory's file if Why3 does not know better."""
    return f"{node['file'] or theory}:{node['line']}" if node["line"] else theory


# --- proofs -----------------------------------------------------------------------------------


def describe(attempt: Attempt) -> str:
    """Name the prover of an attempt."""
    alternative = f" ({attempt['alternative']})" if attempt["alternative"] else ""
    return f"{attempt['prover']} {attempt['version']}{alternative}"


def attempt_faults(attempt: Attempt, pinned: dict[str, str]) -> list[str]:
    """Say what is wrong with one recorded attempt."""
    name = describe(attempt)
    version = pinned.get(attempt["prover"])
    if version is None:
        return [f"has a proof by {name}, a prover that the lock does not name"]
    if attempt["version"] != version or attempt["alternative"]:
        return [f"has a proof by {name}; the lock pins {attempt['prover']} {version}"]
    recorded, replayed = attempt["recorded"], attempt["replayed"]
    if recorded is None or recorded["answer"] != "Valid":
        answer = recorded["answer"] if recorded else "nothing"
        return [f"has an attempt by {name} that proves nothing (recorded: {answer})"]
    if not attempt["chosen"] and attempt["installed"]:
        return []
    if replayed is None:
        return [f"has a proof by {name} that could not be replayed: the prover is not configured"]
    if not holds(attempt) and not attempt["obsolete"]:
        return [
            f"has a recorded proof that does not replay: {name} answers {replayed['answer']} "
            f"after {replayed['seconds']:.1f} s; recorded: Valid, {recorded['seconds']:.1f} s"
        ]
    return []


def is_bare(node: Node) -> bool:
    """Tell whether the session has nothing about a node."""
    return not node["attempts"] and not node["transformations"]


def goal_faults(
    theory: Theory, goal: Goal, pinned: dict[str, str], families: dict[str, str]
) -> list[Failure]:
    """Say everything that is wrong with the proof of a goal."""
    tree, name = goal["tree"], full_name(goal)
    here = place(tree, theory["file"])
    failures = []
    if any(attempt["obsolete"] for node in nodes(tree) for attempt in node["attempts"]):
        still = "still prove it" if proved(tree) else "do not prove it any more"
        what = (
            "is stale: it, or what it rests on, has changed since it was proved; "
            f"the recorded proofs {still} (make update)"
        )
        failures.append(Failure(here, name, what))
    elif not proved(tree) and not is_bare(tree):
        failures.append(Failure(here, name, "is not proved"))
    for node in nodes(tree):
        part = name + node["name"].removeprefix(tree["name"])
        where = place(node, theory["file"])
        failures.extend(
            Failure(where, part, fault)
            for attempt in node["attempts"]
            for fault in attempt_faults(attempt, pinned)
        )
        failures.extend(
            Failure(where, part, f"is taken apart by {step}, which the gate does not know as sound")
            for step in sorted({used["name"] for used in node["transformations"]} - SOUND)
        )
        # Whether the recorded proofs hold is said above, of each.
        proved_by = recorded_families(node, families)
        if len(proved_by) == 1:
            what = f"has proofs by one family of provers only, {proved_by.pop()}; two are wanted"
            failures.append(Failure(where, part, f"{what} (make update)"))
        if is_bare(node):
            explanation = f" ({node['explanation']})" if node["explanation"] else ""
            failures.append(Failure(where, part, f"has no proof in the session{explanation}"))
    return failures


# --- sessions ---------------------------------------------------------------------------------


def theory_faults(
    theory: Theory, pinned: dict[str, str], families: dict[str, str]
) -> list[Failure]:
    """Say what is wrong with a theory's session and with the proofs in it."""
    file, session = theory["file"], theory["session"]
    if theory["errors"]:
        return [Failure(file, "", f"cannot be read: {error}") for error in theory["errors"]]
    if not theory["stored"]:
        count = len(theory["goals"])
        what = f"there is no session of the {count} goals of {file} (make update)"
        return [Failure(session, "", what)] if count else []
    failures = [
        Failure(session, "", f"the session is of {source}, not of {file}")
        for source in theory["sources"]
        if source != file
    ]
    failures.extend(
        Failure(session, "", f"stale session: {node} is not in {file} (make update)")
        for node in theory["detached"]
    )
    for goal in theory["goals"]:
        failures.extend(goal_faults(theory, goal, pinned, families))
    return failures


def directory_faults(proofs: Path, expected: set[str]) -> list[Failure]:
    """Find directories that belong to no theory with goals, and sessions that are not whole."""
    failures = []
    for directory in sorted(path for path in proofs.iterdir() if path.is_dir()):
        shown = f"proofs/{directory.name}"
        if directory.name in TOOLS or directory.name == "__pycache__":
            continue
        if directory.name not in expected:
            failures.append(
                Failure(shown, "", "stray directory: no theory with goals has this name")
            )
            continue
        present = {path.name for path in directory.iterdir()}
        failures.extend(
            Failure(shown, "", f"stray file {name}") for name in sorted(present - SESSION_FILES)
        )
        failures.extend(
            Failure(shown, "", f"{name} is missing (make update)")
            for name in sorted(SESSION_FILES - present)
        )
    return failures


# --- what is taken for granted ----------------------------------------------------------------


def is_allowed(assumed: Assumed, theory: str) -> bool:
    """Tell whether the house rules allow something without definition or proof."""
    if assumed["kind"] == assumptions.UNREACHED:  # proved, if there is a goal: assumptions.py
        return True
    if assumed["kind"] == "meta":
        return assumed["name"] in HARMLESS_METAS
    return assumed["kind"] == "val" and theory == TRUSTED


def trusted(audits: list[Audit]) -> list[Assumed]:
    """Give the operations that are trusted: allowed, and not proved."""
    return [
        assumed
        for audit in audits
        for assumed in audit["assumed"]
        if assumed["kind"] == "val" and is_allowed(assumed, audit["file"])
    ]


def audit_faults(audits: list[Audit], files: set[str]) -> list[Failure]:
    """Find what is taken for granted without leave, and theories used that nobody audits."""
    failures: list[Failure] = []
    for audit in audits:
        theory = audit["file"]
        failures.extend(Failure(theory, "", f"cannot be audited: {e}") for e in audit["errors"])
        for assumed in audit["assumed"]:
            if is_allowed(assumed, theory):
                continue
            subject = f"{assumed['module']}.{assumed['name']}".removesuffix(".")
            what = f"is taken for granted: {assumed['kind']} (none is allowed here)"
            where = f"{assumed['file']}:{assumed['line']}"
            if assumed["file"] is None:
                where = theory
            elif assumed["file"] != theory:
                what += f", cloned from {where}"
                where = theory
            failures.append(Failure(where, subject, what))
        failures.extend(
            Failure(theory, use["module"], f"comes from {use['file']}, which is no theory of ours")
            for use in audit["uses"]
            if use["file"] and not use["file"].startswith("/") and use["file"] not in files
        )
    return failures


# --- all of it --------------------------------------------------------------------------------


def goal_places(theories: list[Theory]) -> dict[str, dict[str, str]]:
    """Give the place of each goal of each theory file."""
    return {
        theory["file"]: {
            full_name(goal): place(goal["tree"], theory["file"]) for goal in theory["goals"]
        }
        for theory in theories
    }


def judge(
    facts: Facts, claims: theorems.Claims, pinned: dict[str, str], root: Path, files: list[str]
) -> list[Failure]:
    """Give everything that is wrong; `files` are all theories, `facts` may be about some."""
    theories = facts["theories"]
    families = {prover["name"]: prover["family"] for prover in facts["provers"]}
    failures = [fault for theory in theories for fault in theory_faults(theory, pinned, families)]
    if len(theories) == len(files):
        with_goals = {Path(theory["session"]).name for theory in theories if theory["goals"]}
        failures.extend(directory_faults(root / "proofs", with_goals))
    failures.extend(audit_faults(facts["audit"], set(files)))
    failures.extend(assumptions.unreached_faults(facts))
    failures.extend(witnesses.check(facts))
    failures.extend(claims.failures)
    readable = [theory for theory in theories if not theory["errors"]]
    if claims.entries:
        failures.extend(theorems.compare(claims, goal_places(readable), files))
    return failures
