"""The facts: the output of `whygate` about theories and proofs, and its meaning.

If a type is not `total`, each command fills in some of its fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict


class Answer(TypedDict, total=False):
    """A prover's answer: `Valid`, `Timeout`, ...; `kept`: from an earlier run.

    In a theory's `context` the answer is about `false` or, if `about` is a module, its negated
    goals. If there is a `goal`, the right answer is known.
    """

    answer: str
    seconds: float
    kept: bool
    prover: str
    about: str
    goal: str


class Proof(TypedDict):
    """A recorded proof: its seconds; its answer now, None if the prover is not configured."""

    prover: str
    recorded: float
    now: Answer | None


class Transformation(TypedDict):
    """A transformation of a goal: if it is `sound`, its parts together prove the goal."""

    name: str
    arguments: list[str]
    sound: bool
    parts: list[Node]


class Node(TypedDict):
    """A goal or a part of one: its proofs, or the step that splits it, or that step's `fault`."""

    name: str
    explanation: str
    file: str | None
    line: int | None
    proofs: list[Proof]
    transformations: list[Transformation]
    fault: str | None


class Goal(TypedDict):
    """A goal by Why3's name: `pad_is_shape`, and `pad'vc` of a program.

    `versions`: the versions of Why3 that proved it from these sources, by two families.
    """

    module: str
    name: str
    versions: list[str]
    tree: Node


class Symbol(TypedDict, total=False):
    """An item that a theory defines, states, declares or assumes.

    `kind` is type, function, predicate, constant, exception, program, theorem (`let lemma`), lemma,
    goal, axiom or val; for an assumption, a kind of audit.ml or library.ml; list for a sealed list.
    A clone from another file has no line, an addition of Why3 has no file.
    `statement` is its WhyML, `names` the resolved symbols in it. A proved item has a `goal`, or is
    an instance of a `template`, which has the goal. `says_nothing`: true whatever its symbols mean.
    `calls`: programs and lemmas in its body, whose contracts are hypotheses of its goal.
    `supposes`: all its hypotheses; `satisfied_by`: a witness or a satisfied item, `Module.name`.
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
    """A theory file: its unproved items and its uses; or its goals with their recorded proofs.

    `detached`: goals only in the record. `sources`: for each Why3, the hash of the proved sources.
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
    """A prover of Why3's configuration, and its answers to known goals."""

    name: str
    version: str
    family: str
    canary: list[Answer]


# A clause of a text: its fields in trace.toml, and the tagged items by name and place.
Clause = dict[str, Any]


class Facts(TypedDict, total=False):
    """All facts; `reached`: Why3's modules; `library`: their assumptions; `lists`: sealed lists."""

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
    """A failure: its place (`why3/core/shape.mlw:42`), its goal if any, and the fault."""

    place: str
    subject: str
    what: str

    def __str__(self) -> str:
        """Return the failure on one line."""
        return " ".join(part for part in (f"{self.place}:", self.subject, self.what) if part)


def library(theory: str) -> str:
    """Name a theory as its users do: `core.shape`."""
    return theory.removeprefix("why3/").removesuffix(".mlw").replace("/", ".")


def full_name(entry: Goal | Symbol) -> str:
    """Name a goal or symbol as claims do: `Padding.pad_is_shape`."""
    return f"{entry['module']}.{entry['name']}"


def path(entry: Symbol | Goal, file: str) -> str:
    """Name an item with theory and module: `core.shape.Shape.pad`."""
    return f"{library(file)}.{full_name(entry)}"


def place(node: Node, file: str) -> str:
    """Locate a node; Why3 may know no line."""
    return f"{node['file'] or file}:{node['line']}" if node["line"] else file


def nodes(node: Node) -> Iterator[Node]:
    """Yield the node and everything below it."""
    yield node
    for transformation in node["transformations"]:
        for part in transformation["parts"]:
            yield from nodes(part)


def parts(goal: Goal) -> list[Node]:
    """List the parts of a goal that provers prove, in the order of the session."""
    return [node for node in nodes(goal["tree"]) if node["proofs"]]


def proofs(node: Node) -> Iterator[Proof]:
    """Yield all proofs of a node and of its parts."""
    return (proof for each in nodes(node) for proof in each["proofs"])


def holds(proof: Proof) -> bool:
    """Decide whether a proof proves its node now."""
    return proof["now"] is not None and proof["now"]["answer"] == "Valid"


def proved(node: Node) -> bool:
    """Decide whether a proof holds now, or all parts of a transformation are proved."""
    return any(map(holds, node["proofs"])) or any(
        all(map(proved, step["parts"])) for step in node["transformations"]
    )


def families(node: Node, provers: Mapping[str, str]) -> set[str]:
    """Return the families of the provers that prove a node; `provers` maps names to families."""
    return {provers.get(p["prover"], p["prover"]) for p in node["proofs"] if holds(p)}
