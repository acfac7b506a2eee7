"""The facts: what `whygate` prints of the theories and their proofs, and what all of it means.

In a type that is not `total`, a missing field belongs to a command that was not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict


class Answer(TypedDict, total=False):
    """A prover's answer: `Valid`, `Timeout`, ...; `kept`: in an earlier run.

    The question is `false`, or, `about` a module, a goal with its conclusion negated; or the
    `goal` of this name, known to be true or false, which tests the prover.
    """

    answer: str
    seconds: float
    kept: bool
    prover: str
    about: str
    goal: str


class Proof(TypedDict):
    """A recorded proof: its seconds, and the answer now; None if the prover is not configured."""

    prover: str
    recorded: float
    now: Answer | None


class Transformation(TypedDict):
    """A transformation of a goal; all its parts together prove the goal, if it is `sound`."""

    name: str
    arguments: list[str]
    sound: bool
    parts: list[Node]


class Node(TypedDict):
    """A goal or a part of one: its proofs, or the step that splits it, or why that is a `fault`."""

    name: str
    explanation: str
    file: str | None
    line: int | None
    proofs: list[Proof]
    transformations: list[Transformation]
    fault: str | None


class Goal(TypedDict):
    """A goal by Why3's name: `pad_is_shape`, and `pad'vc` of a program.

    `versions`: those of Why3 that have proved all of it by two families from these sources.
    """

    module: str
    name: str
    versions: list[str]
    tree: Node


class Symbol(TypedDict, total=False):
    """What a theory defines, states, declares, takes for granted or supposes.

    `kind` is type, function, predicate, constant, exception, program, theorem (`let lemma`), lemma,
    goal, axiom, val or meta. What is cloned from another file has no line, what Why3 adds no file.
    `statement` is its WhyML, `names` the symbols in it, resolved; `goal` the goal that it must have
    if it claims something; `template` what it is an instance of, which has the goal.
    `says_nothing`: it is true whatever its symbols mean. `calls`: programs and lemmas in its body,
    whose contracts its goal has as hypotheses. `supposes`: all formulas that have to hold;
    `satisfied_by`: a witness, or a program that is satisfied itself, as `Module.name`.
    """

    kind: str
    module: str
    name: str
    file: str
    line: int | None
    ghost: bool
    statement: str
    names: list[str]
    goal: str | None
    template: str | None
    says_nothing: bool
    calls: list[str]
    supposes: list[str]
    satisfied_by: str | None


class Use(TypedDict, total=False):
    """A module that a theory (`user`) uses, clones, or reaches; no file for built-ins."""

    module: str
    file: str | None
    cloned: bool
    user: str


class Theory(TypedDict, total=False):
    """A theory file: what it takes for granted and uses; or its goals with their recorded proofs.

    `detached`: goals of the record alone. `sources`: by version of Why3, the hash of those proved.
    """

    file: str
    errors: list[str]
    assumed: list[Symbol]
    uses: list[Use]
    session: str
    stored: bool
    detached: list[str]
    sources: dict[str, str]
    context: list[Answer]
    goals: list[Goal]


class Prover(TypedDict):
    """A prover as Why3's configuration has it, and what it answers to goals that are known."""

    name: str
    version: str
    family: str
    canary: list[Answer]


# A clause of a text: its fields in trace.toml, and the tagged items by name and place.
Clause = dict[str, Any]


class Facts(TypedDict, total=False):
    """All of it; `reached`, `library`: modules of Why3, and their axioms; `lists`: sealed ones."""

    provers: list[Prover]
    theories: list[Theory]
    symbols: list[Symbol]
    reached: list[Use]
    library: list[Symbol]
    hypotheses: list[Symbol]
    sessions: list[Theory]
    trace: dict[str, list[Clause]]
    lists: list[Symbol]


@dataclass(frozen=True)
class Failure:
    """One thing that is wrong: its place (`why3/core/shape.mlw:42`), its goal if any, and what."""

    place: str
    subject: str
    what: str

    def __str__(self) -> str:
        """Print it on one line."""
        return " ".join(part for part in (f"{self.place}:", self.subject, self.what) if part)


def library(theory: str) -> str:
    """Name a theory as those do that use it: `core.shape`."""
    return theory.removeprefix("why3/").removesuffix(".mlw").replace("/", ".")


def full_name(entry: Goal | Symbol) -> str:
    """Name a goal as the claims do, and all else alike: `Padding.pad_is_shape`."""
    return f"{entry['module']}.{entry['name']}"


def path(entry: Symbol | Goal, file: str) -> str:
    """Name what stands in a theory, with the library and the module: `core.shape.Shape.pad`."""
    return f"{library(file)}.{full_name(entry)}"


def place(node: Node, file: str) -> str:
    """Say where a node stands; the theory's file if Why3 does not know better."""
    return f"{node['file'] or file}:{node['line']}" if node["line"] else file


def nodes(node: Node) -> Iterator[Node]:
    """Give the node and everything below it."""
    yield node
    for transformation in node["transformations"]:
        for part in transformation["parts"]:
            yield from nodes(part)


def parts(goal: Goal) -> list[Node]:
    """Give the parts of a goal that provers prove as they are, in the order of the session."""
    return [node for node in nodes(goal["tree"]) if node["proofs"]]


def proofs(node: Node) -> Iterator[Proof]:
    """Give all proofs of a goal, and of its parts."""
    return (proof for each in nodes(node) for proof in each["proofs"])


def holds(proof: Proof) -> bool:
    """Tell whether a proof proves its node now."""
    return proof["now"] is not None and proof["now"]["answer"] == "Valid"


def proved(node: Node) -> bool:
    """Tell whether some proof holds now, or all parts of one transformation are proved."""
    return any(map(holds, node["proofs"])) or any(
        all(map(proved, step["parts"])) for step in node["transformations"]
    )


def families(node: Node, provers: Mapping[str, str]) -> set[str]:
    """Give the families of the provers that prove a node as it is; `provers` has each by name."""
    return {provers.get(p["prover"], p["prover"]) for p in node["proofs"] if holds(p)}
