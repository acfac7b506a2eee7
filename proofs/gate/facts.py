"""The facts that `whygate` prints: what stands in build/gate/facts.json.

A goal is a tree. A node has the attempts to prove it as it is, and transformations that take it
apart; the tree says where each node stands, and each attempt what the session records and what its
prover answered now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired, TypedDict


class Run(TypedDict):
    """A prover's answer: `Valid`, `Timeout`, `Unknown (...)`, ..."""

    answer: str
    seconds: float


class Smoke(TypedDict):
    """A prover's answer to a goal with its conclusion negated, or to a contradiction."""

    prover: str
    answer: str
    seconds: float


class Canary(TypedDict):
    """A prover's answer to a goal of proofs/provers/check.mlw."""

    goal: str
    answer: str


class Attempt(TypedDict):
    """A proof attempt of the session, and its replay (None if its prover is not there)."""

    prover: str
    version: str
    alternative: str
    obsolete: bool
    installed: bool
    chosen: bool
    recorded: Run | None
    replayed: Run | None


class Transformation(TypedDict):
    """A transformation of a goal; all its parts together prove the goal."""

    name: str
    arguments: list[str]
    parts: list[Node]


class Node(TypedDict):
    """A goal, or a part of one."""

    name: str
    explanation: str
    file: str | None
    line: int | None
    attempts: list[Attempt]
    transformations: list[Transformation]


class Goal(TypedDict):
    """A lemma, a goal, or the verification condition of a program, as the source has it now.

    `statement` is what it says, in WhyML: the formula of a lemma, the contract of a program, a
    definition as a whole; `kind` is lemma, goal, theorem (`let lemma`), definition or program. Both
    are empty where the audit cannot read the theory. `says_nothing`: it is true whatever its
    symbols mean. `hypotheses`: it has some, so that smoke detection has something to ask.
    """

    module: str
    goal: str
    statement: str
    kind: str
    says_nothing: bool
    hypotheses: bool
    smoke: Smoke | None
    tree: Node


class Theory(TypedDict):
    """A theory file and its session; `sources` are the files that the session speaks of."""

    file: str
    session: str
    stored: bool
    errors: list[str]
    sources: list[str]
    detached: list[str]
    smoke: list[Smoke]
    goals: list[Goal]


class Assumed(TypedDict):
    """Something without definition or proof; `kind` is one of those in audit.ml."""

    kind: str
    module: str
    name: str
    file: str | None
    line: int | None


class Use(TypedDict):
    """A module that a theory uses or clones; no file for those that Why3 is born with."""

    module: str
    file: str | None


class Audit(TypedDict):
    """What a theory file takes for granted and what it uses."""

    file: str
    errors: list[str]
    assumed: list[Assumed]
    uses: list[Use]


class Symbol(TypedDict):
    """Something that a theory defines.

    `kind` is type, function, predicate, constant, exception, program, theorem, lemma or goal; axiom
    and val for what only the audit can allow. What is cloned from another file has no line.
    `hypotheses` counts the `requires`, or what a lemma supposes.
    """

    file: str
    line: int | None
    module: str
    name: str
    kind: str
    ghost: bool
    statement: str
    hypotheses: int


class Granted(TypedDict):
    """Something that a module of the standard library takes for granted.

    `kind` is one of audit.ml, or `lemma` or `contract`: these have a proof, but not among ours.
    `used_by` are the theory files that reach the module.
    """

    module: str
    kind: str
    name: str
    used_by: list[str]


class Asking(TypedDict):
    """A program with `requires` or a lemma with hypotheses; the witnesses that satisfy them."""

    file: str
    line: int
    module: str
    name: str
    kind: str
    count: int
    witnesses: list[str]


class WitnessFault(TypedDict):
    """A program of why3/witness_*.mlw that shows nothing, and why."""

    file: str
    line: int
    module: str
    name: str
    what: str


class Prover(TypedDict):
    """A prover as Why3's configuration has it."""

    name: str
    version: str
    family: str
    command: str
    driver: str
    canary: list[Canary]


class Named(TypedDict):
    """Something by its name, and where it stands (`why3/shape.mlw:42`)."""

    name: str
    place: str


class Text(TypedDict):
    """A text that has clauses."""

    name: str
    title: str


class Clause(TypedDict):
    """A clause of a text and what belongs to it: see clauses.py."""

    id: str
    text: str
    where: str
    says: str
    reason: str
    why: str
    definitions: list[Named]
    theorems: list[Named]
    supporting: list[Named]
    programs: list[Named]
    tests: list[Named]


class Trace(TypedDict):
    """The texts and all their clauses."""

    texts: list[Text]
    clauses: list[Clause]


class Facts(TypedDict):
    """All of it."""

    provers: list[Prover]
    theories: list[Theory]
    audit: list[Audit]
    symbols: list[Symbol]
    library: list[Granted]
    hypotheses: list[Asking]
    witness_faults: list[WitnessFault]
    # Only where all theories are looked at: gate.py adds it.
    trace: NotRequired[Trace]


def full_name(goal: Goal) -> str:
    """Name a goal as theorems.txt does."""
    return f"{goal['module']}.{goal['goal']}"


def holds(attempt: Attempt) -> bool:
    """Tell whether the attempt proved its goal now."""
    return attempt["replayed"] is not None and attempt["replayed"]["answer"] == "Valid"


def left_alone(node: Node) -> bool:
    """Tell whether a proof of the node is on record and none of them was to be replayed."""
    return not any(attempt["chosen"] for attempt in node["attempts"]) and any(
        attempt["installed"]
        and not attempt["obsolete"]
        and attempt["recorded"] is not None
        and attempt["recorded"]["answer"] == "Valid"
        for attempt in node["attempts"]
    )


def proved(node: Node) -> bool:
    """Tell whether a prover proved the node now, or all parts of one of its transformations.

    A node of which this replay was to run nothing is taken as recorded.
    """
    return (
        left_alone(node)
        or any(map(holds, node["attempts"]))
        or any(
            all(map(proved, transformation["parts"])) for transformation in node["transformations"]
        )
    )


def nodes(node: Node) -> Iterator[Node]:
    """Give the node and everything below it."""
    yield node
    for transformation in node["transformations"]:
        for part in transformation["parts"]:
            yield from nodes(part)


def recorded_families(node: Node, families: dict[str, str]) -> set[str]:
    """Give the families of the provers that have proved the node as it is, by the session."""
    provers = {
        attempt["prover"]
        for attempt in node["attempts"]
        if attempt["recorded"] is not None and attempt["recorded"]["answer"] == "Valid"
    }
    return {families.get(prover, prover) for prover in provers}


def attempts(theory: Theory) -> Iterator[Attempt]:
    """Give all attempts of a theory's session."""
    for goal in theory["goals"]:
        for node in nodes(goal["tree"]):
            yield from node["attempts"]
