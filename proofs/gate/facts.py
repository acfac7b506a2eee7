"""The facts: what `whygate` prints of the theories and their proofs, and what all of it means.

Whatever judges, counts or shows reads these and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypedDict


class Answer(TypedDict):
    """A prover's answer: `Valid`, `Timeout`, `Unknown (...)`, ..."""

    answer: str
    seconds: float


class Kept(Answer):
    """An answer now; `kept`: given in an earlier run to the same session, and kept in build/."""

    kept: bool


class Context(Answer):
    """The answer of a prover that was asked for a contradiction.

    That is `false`, from all that a theory uses, defines and proves; or, `about` a module that
    reaches contracts without a body, one of its goals with the conclusion negated.
    """

    prover: str
    about: str


class Proof(TypedDict):
    """A proof of the session, and its replay: None where the prover is not configured."""

    prover: str
    version: str
    obsolete: bool
    recorded: Answer | None
    now: Kept | None


class Transformation(TypedDict):
    """A transformation of a goal; all its parts together prove the goal, if it is `sound`."""

    name: str
    arguments: list[str]
    sound: bool
    parts: list[Node]


class Node(TypedDict):
    """A goal, or a part of one: its proofs as it is, and the ways to take it apart."""

    name: str
    explanation: str
    file: str | None
    line: int | None
    proofs: list[Proof]
    transformations: list[Transformation]


class Goal(TypedDict):
    """A goal of a session; the name is Why3's: `pad_is_shape`, and `pad'vc` of a program."""

    module: str
    name: str
    tree: Node


class Session(TypedDict):
    """A theory file and its session.

    `detached`: what the session has and the theory has no more.
    """

    file: str
    session: str
    stored: bool
    errors: list[str]
    detached: list[str]
    context: list[Context]
    goals: list[Goal]


class Item(TypedDict):
    """An item of a theory; no line for what is cloned from another file."""

    file: str
    line: int | None
    module: str
    name: str


class Symbol(Item):
    """What a theory defines, states or declares.

    `kind` is type, function, predicate, constant, exception, program, theorem (`let lemma`), lemma,
    goal, axiom or val; `statement` is its WhyML, `names` are the symbols in that, resolved
    (`seq.Seq.length`); `goal` is the goal of its module that it must have, if it claims something.
    `template`: what it is an instance of (`c.words.Words.put`), which has the goal.
    `says_nothing`: it is true whatever its symbols mean. `calls`: programs and lemmas in its body,
    whose contracts its goal has as hypotheses.
    """

    kind: str
    ghost: bool
    statement: str
    names: list[str]
    goal: str | None
    template: str | None
    says_nothing: bool
    calls: list[str]


class Assumed(TypedDict):
    """Something without definition or proof; no file for what Why3 adds itself."""

    kind: str
    module: str
    name: str
    file: str | None
    line: int | None


class Use(TypedDict):
    """A module that a theory uses or clones; no file for those that Why3 is born with."""

    module: str
    file: str | None
    cloned: bool


class Theory(TypedDict):
    """A theory file: what it takes for granted and what it uses."""

    file: str
    errors: list[str]
    assumed: list[Assumed]
    uses: list[Use]


class Reached(TypedDict):
    """A module of the standard library, its file, and a theory that reaches it."""

    module: str
    file: str | None
    user: str


class LibraryAssumption(TypedDict):
    """What a module of the standard library takes for granted."""

    module: str
    kind: str
    name: str


class Hypotheses(Item):
    """A program with `requires`, or what a program or lemma claims under hypotheses.

    `supposes`: all formulas that have to hold; `satisfied_by`: a witness, or a program that is
    satisfied itself, as `Module.name`.
    """

    kind: str
    supposes: list[str]
    satisfied_by: str | None


class Canary(TypedDict):
    """A prover's answer to a goal that is known to be true, or false."""

    goal: str
    answer: str


class Prover(TypedDict):
    """A prover as Why3's configuration has it."""

    name: str
    version: str
    family: str
    command: str
    driver: str
    canary: list[Canary]


class Audit(TypedDict):
    """What Why3 has read and the provers that it has."""

    provers: list[Prover]
    theories: list[Theory]
    symbols: list[Symbol]
    reached: list[Reached]
    library: list[LibraryAssumption]
    hypotheses: list[Hypotheses]


class Named(TypedDict):
    """Something by its name, and where it stands (`why3/core/shape.mlw:42`)."""

    name: str
    place: str


class Text(TypedDict):
    """A text that has clauses."""

    name: str
    title: str


class Clause(TypedDict):
    """A clause of a text, and all that is tagged with it; `reason`: why it has no theorem."""

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


class Facts(Audit):
    """All of it; `lists`: what is sealed beside the theories."""

    sessions: list[Session]
    trace: Trace
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


def full_name(entry: Goal | Item | Assumed) -> str:
    """Name a goal as the claims do, and all else alike: `Padding.pad_is_shape`."""
    return f"{entry['module']}.{entry['name']}"


def place(node: Node, file: str) -> str:
    """Say where a node stands; the theory's file if Why3 does not know better."""
    return f"{node['file'] or file}:{node['line']}" if node["line"] else file


def nodes(node: Node) -> Iterator[Node]:
    """Give the node and everything below it."""
    yield node
    for transformation in node["transformations"]:
        for part in transformation["parts"]:
            yield from nodes(part)


def proofs(session: Session) -> Iterator[Proof]:
    """Give all proofs of a session."""
    for goal in session["goals"]:
        for node in nodes(goal["tree"]):
            yield from node["proofs"]


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
