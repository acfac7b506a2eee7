"""Turn the inputs into the pack: paths of the tree only, recorded seconds only."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import judge
import lock
import mutants as mutant_list
from facts import Attempt, Facts, Node, full_name, recorded_families
from facts import Goal as FactsGoal
from facts import Theory as FactsTheory
from inputs import Inputs, RefusalError
from pack import Goal, Mutant, Pack, Part, Proof, Smoke, Theory, Trusted, Use

DRIVER = "why3/extraction/python.drv"
NOT_RUN = "not run"


def pack(inputs: Inputs) -> Pack:
    """Put everything together."""
    facts, root = inputs.facts, inputs.root
    clauses = clauses_of_goals(facts)
    sentences = {entry.name: entry.sentence for entry in inputs.claims.entries}
    theories = [
        Theory(
            file=theory["file"],
            title=title(root / theory["file"]),
            goals=[goal(g, theory, facts, clauses, sentences) for g in theory["goals"]],
        )
        for theory in in_reading_order(inputs)
    ]
    mutants = [mutant(entry, inputs) for entry in inputs.mutants]
    return Pack(
        project=inputs.project["name"],
        version=inputs.project["version"],
        sources=facts["sources"],
        verdict="passed",
        summary=summary(theories, facts, mutants),
        provers=[prover(entry, root) for entry in facts["provers"]],
        tools=[tool(entry, root) for entry in inputs.lock.tools.values()],
        packages=[vars(wheel) for wheel in inputs.lock.wheels],
        theories=theories,
        symbols=[dict(symbol) for symbol in facts["symbols"]],
        trace=facts["trace"],
        hypotheses=[dict(entry) for entry in facts["hypotheses"]],
        mutants_run=inputs.results is not None,
        mutants=mutants,
        trusted=trusted(inputs),
        audit=[audit(entry, root) for entry in facts["audit"]],
        library=[dict(entry) for entry in facts["library"]],
    )


def in_reading_order(inputs: Inputs) -> list[FactsTheory]:
    """Sort the theories as theorems.txt has them, those without goals after them."""
    order = {entry.theory: entry.line for entry in inputs.claims.entries[::-1]}
    last = len(inputs.claims.entries) + 10**6
    return sorted(inputs.facts["theories"], key=lambda t: (order.get(t["file"], last), t["file"]))


def title(path: Path) -> str:
    """Find the title that a theory file opens with."""
    match = re.search(r"\{1 (.*?)\}", path.read_text(encoding="utf-8"), re.DOTALL)
    if match is None:
        raise RefusalError(f"{path.name} opens with no title, {{1 ...}}")
    return " ".join(match[1].split())


# --- goals ------------------------------------------------------------------------------------


def goal(
    found: FactsGoal,
    theory: FactsTheory,
    facts: Facts,
    clauses: dict[str, tuple[list[str], list[str]]],
    sentences: dict[str, str],
) -> Goal:
    """Say all about a goal."""
    name, tree = full_name(found), found["tree"]
    families = {prover["name"]: prover["family"] for prover in facts["provers"]}
    parts = list(parts_of(tree, tree["name"], theory["file"], ""))
    main, supported = clauses.get(name, ([], []))
    smoke = found["smoke"]
    proving = [recorded_families(node, families) for node in proving_nodes(tree)]
    return Goal(
        name=name,
        file=theory["file"],
        line=tree["line"] or 0,
        kind=found["kind"],
        sentence=sentences[name],
        statement=found["statement"],
        clauses=main,
        supports=supported,
        families=min(map(len, proving), default=0),
        provers=uses(parts, families),
        seconds=total(part.seconds for part in parts),
        parts=parts,
        smoke=Smoke(smoke["prover"], smoke["answer"]) if smoke else None,
    )


def proving_nodes(node: Node) -> Iterator[Node]:
    """Give the nodes that provers prove as they are."""
    if node["attempts"]:
        yield node
    for transformation in node["transformations"]:
        for part in transformation["parts"]:
            yield from proving_nodes(part)


def parts_of(node: Node, goal_name: str, theory: str, path: str) -> Iterator[Part]:
    """Give the parts of a goal that provers prove as they are, in the order of the session."""
    if node["attempts"]:
        yield Part(
            name=node["name"].removeprefix(goal_name).lstrip("."),
            explanation=node["explanation"],
            place=judge.place(node, theory),
            path=path,
            proofs=[proof(attempt) for attempt in node["attempts"]],
        )
    for transformation in node["transformations"]:
        words = " ".join([transformation["name"], *transformation["arguments"]])
        for part in transformation["parts"]:
            yield from parts_of(part, goal_name, theory, f"{path}, {words}".removeprefix(", "))


def proof(attempt: Attempt) -> Proof:
    """Say what the session records of a proof; the gate has seen that it is one."""
    recorded = attempt["recorded"]
    assert recorded is not None
    assert recorded["answer"] == "Valid"
    return Proof(attempt["prover"], attempt["version"], recorded["seconds"])


def uses(parts: list[Part], families: dict[str, str]) -> list[Use]:
    """Add up what each prover did, in the order of their names."""
    proofs = sorted(
        (proof for part in parts for proof in part.proofs), key=lambda p: (p.prover, p.version)
    )
    return [
        Use(
            name=name,
            version=version,
            family=families[name],
            parts=sum((p.prover, p.version) == (name, version) for p in proofs),
            seconds=total(p.seconds for p in proofs if (p.prover, p.version) == (name, version)),
        )
        for name, version in dict.fromkeys((proof.prover, proof.version) for proof in proofs)
    ]


def total(seconds: Iterator[float]) -> float:
    """Add seconds up, to the hundredths that Why3 records."""
    return round(sum(seconds), 2)


def clauses_of_goals(facts: Facts) -> dict[str, tuple[list[str], list[str]]]:
    """Give for each goal the clauses that it is a main theorem of, and those that it supports.

    The trace names a program or a definition without the ending that its goal has.
    """
    found: dict[str, tuple[list[str], list[str]]] = {}
    names = {full_name(goal) for theory in facts["theories"] for goal in theory["goals"]}
    for clause in facts["trace"]["clauses"]:
        marked = [*clause["definitions"], *clause["theorems"], *clause["programs"]]
        main = [entry["name"] for entry in marked]
        supporting = [entry["name"] for entry in clause["supporting"]]
        for position, listed in enumerate((main, supporting)):
            for name in listed:
                for goal_name in {name, f"{name}'vc"} & names:
                    place = found.setdefault(goal_name, ([], []))[position]
                    if clause["id"] not in place:
                        place.append(clause["id"])
    return found


# --- what the proofs rest on ------------------------------------------------------------------


def prover(entry: Any, root: Path) -> dict[str, Any]:
    """Describe a prover; its command without the directory that this machine has it in."""
    program, *arguments = shlex.split(entry["command"])
    return {
        "name": entry["name"],
        "version": entry["version"],
        "family": entry["family"],
        "command": " ".join([Path(program).name, *arguments]),
        "driver": inside(entry["driver"], root),
        "canary": [dict(asked) for asked in entry["canary"]],
    }


def inside(path: str, root: Path) -> str:
    """Give a path from the root of the tree, and the bare name of a file elsewhere."""
    if not path.startswith("/"):
        return path
    file = Path(path)
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name


def tool(entry: lock.Tool, root: Path) -> dict[str, Any]:
    """Describe a tool of the lock, with its hashes."""
    files = {
        file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file): sha256
        for file, sha256 in entry.files.items()
    }
    return {
        "name": entry.name,
        "version": entry.version,
        "release": entry.release,
        "packages": [vars(package) for package in entry.packages],
        "files": files,
    }


def trusted(inputs: Inputs) -> list[Trusted]:
    """List the programs without a body, each with the Python of the extraction driver."""
    driver = (inputs.root / DRIVER).read_text(encoding="utf-8")
    expressions = driver_expressions(driver)
    statements = {
        f"{symbol['module']}.{symbol['name']}": symbol["statement"]
        for symbol in inputs.facts["symbols"]
    }
    found = []
    for assumed in judge.trusted(inputs.facts["audit"]):
        name = f"{assumed['module']}.{assumed['name']}"
        if assumed["name"] not in expressions:
            raise RefusalError(f"{DRIVER} has no Python for {name}")
        arguments = argument_names(statements[name])
        found.append(
            Trusted(
                name=name,
                place=f"{assumed['file']}:{assumed['line']}",
                statement=statements[name],
                python=applied(expressions[assumed["name"]], arguments),
            )
        )
    return found


def driver_expressions(driver: str) -> dict[str, str]:
    """Read what the driver maps the trusted operations to: `%1` stands for the first argument."""
    section = re.search(
        r"^module trusted\.python\.\w+\n(.*?)^end", driver, re.MULTILINE | re.DOTALL
    )
    if section is None:
        raise RefusalError(f"{DRIVER} has no section for trusted.python")
    return dict(re.findall(r'syntax val (\w+) "(.*)"', section[1]))


def argument_names(statement: str) -> list[str]:
    """Read the arguments of a program: s and i of `val ix (s: seq 'a) (i: int) : 'a`."""
    head = statement.partition("\n")[0]
    return [name for group in re.findall(r"\(([\w' ]+):", head) for name in group.split()]


def applied(expression: str, arguments: list[str]) -> str:
    """Put the arguments into an expression of the driver."""
    return re.sub(r"%(\d)", lambda match: arguments[int(match[1]) - 1], expression)


def audit(entry: Any, root: Path) -> dict[str, Any]:
    """Say what the audit found in a theory: what is assumed there, and the modules it uses."""
    return {
        "file": entry["file"],
        "assumed": [dict(assumed) for assumed in entry["assumed"]],
        "uses": [use["module"] for use in entry["uses"]],
    }


# --- mutants ----------------------------------------------------------------------------------


def mutant(entry: mutant_list.Mutant, inputs: Inputs) -> Mutant:
    """Say what a mutant changes, and what noticed it if mutants were run on these sources."""
    result = result_of(entry, inputs.results)
    return Mutant(
        id=entry.id,
        place=f"{entry.file}:{mutant_list.line(entry)}",
        what=entry.what,
        old=entry.old,
        new=entry.new,
        goal=entry.goal,
        verdict=result.verdict if result else NOT_RUN,
        noticed=result.goal if result else None,
        part=result.part if result else "",
    )


def result_of(
    entry: mutant_list.Mutant, results: list[mutant_list.Result] | None
) -> mutant_list.Result | None:
    """Find the result of a mutant; a report is of all mutants or it is of others."""
    if results is None:
        return None
    found = [result for result in results if result.id == entry.id]
    if len(found) != 1:
        what = f"{mutant_list.REPORT} has {len(found)} results of {entry.id}, expected 1"
        raise RefusalError(what)
    return found[0]


# --- numbers ----------------------------------------------------------------------------------


def summary(theories: list[Theory], facts: Facts, mutants: list[Mutant]) -> dict[str, int]:
    """Count what the first page opens with."""
    goals = [goal for theory in theories for goal in theory.goals]
    parts = [part for goal in goals for part in goal.parts]
    clauses = facts["trace"]["clauses"]
    hypotheses = facts["hypotheses"]
    return {
        "theories": sum(bool(theory.goals) for theory in theories),
        "goals": len(goals),
        "parts": len(parts),
        "proofs": sum(len(part.proofs) for part in parts),
        "provers": len(facts["provers"]),
        "families": len({prover["family"] for prover in facts["provers"]}),
        "clauses": len(clauses),
        "clauses_with_theorem": sum(bool(clause["theorems"]) for clause in clauses),
        "hypotheses": len(hypotheses),
        "witnessed": sum(bool(entry["witnesses"]) for entry in hypotheses),
        "smoked": sum(goal.smoke is not None for goal in goals),
        "mutants": len(mutants),
        "mutants_noticed": sum(m.verdict not in (NOT_RUN, mutant_list.SURVIVED) for m in mutants),
        "axioms_of_ours": sum(
            not judge.is_allowed(assumed, entry["file"])
            for entry in facts["audit"]
            for assumed in entry["assumed"]
        ),
    }
