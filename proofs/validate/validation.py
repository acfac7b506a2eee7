"""One program on arguments of one form: each path is followed, and Z3 asked of each."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import z3

from gate.terms import Condition, fits
from validate.formulas import conjunction, disjunction, formula, identity, opposite
from validate.kernel import Outcome, called, term
from validate.paths import Explorer, Path, left_out
from validate.programs import ANY, Program, values
from validate.values import Unknown, mapped

# Of processor time for one path, which takes some thousandths of it.
SECONDS = 5


@dataclass
class Finding:
    """What is wrong: on which path, for which input."""

    program: str
    form: str
    what: str
    path: list[str] = field(default_factory=list)
    input: str = ""
    got: str = ""


@dataclass
class Result:
    """What became of a program on arguments of one form."""

    program: str
    form: str
    paths: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


def fill(value: Any, model: z3.ModelRef) -> Any:
    """Put the numbers of a model for terms."""

    def number(term: Any, _: str) -> Any:
        known = not isinstance(term, z3.ArithRef)
        return term if known else model.eval(term, model_completion=True).as_long()

    return mapped(value, number)


def unknown(value: Any, name: str) -> Any:
    """Put a variable of Z3 for an unknown integer, with the name of its place."""
    return z3.Int(name) if value is ANY else value


class Validation:
    """A program, on arguments of one form."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[Any],
        kernel: ModuleType,
        relied_on: Program | None = None,
    ) -> None:
        self.program, self.kernel, self.relied_on = program, kernel, relied_on
        pairs = zip(arguments, program.parameters, strict=True)
        self.terms = [mapped(value, unknown, name) for value, name in pairs]
        self.result = Result(program.name, str(tuple(arguments)))
        requires = [self.all_of(program.of_kind("requires"), self.terms)]
        if relied_on is not None:
            requires.append(self.supposed(relied_on))
        self.explorer = Explorer(conjunction(requires))
        self.arguments = tuple(map(self.in_python, self.terms))
        self.function: Callable[..., Any] = getattr(kernel, program.name)
        self.wrong: dict[Any, z3.BoolRef] = {}

    def in_python(self, value: Any) -> Any:
        """Give a value as the program is to see it."""
        table = self.explorer.table
        return mapped(value, lambda term, _: table.known(term), module=self.kernel)

    def all_of(self, conditions: Sequence[Condition], given: Sequence[Any]) -> Any:
        """Say that conditions hold, one after the other: `requires` may need those before it."""
        parts = (partial(condition.holds, *given) for condition in conditions)
        return self.program.theories.junction(True, *parts)

    def supposed(self, program: Program) -> Any:
        """Say what a contract says of a call on the first of these arguments, and how it may end.

        Where its `requires` holds, the call has one of these ends; the unknowns in them are its.
        """
        self.given = self.terms[: len(program.parameters)]
        (value,) = values(program.ends[""], program.scopes(0)[0], self.kernel)
        self.end = z3.Int("end")
        self.ends = [
            (name, None if name else mapped(value, unknown, "result")) for name in program.ends
        ]
        self.needed = self.all_of(program.of_kind("requires"), self.given)
        conditions = [
            program.of_kind("raises" if e else "ensures", e or None) for e, _ in self.ends
        ]
        ends = (
            conjunction([self.end == number, self.all_of(found, [*self.given, value])])
            for number, (found, (_, value)) in enumerate(zip(conditions, self.ends, strict=True))
        )
        return disjunction([opposite(self.needed), *ends])

    def answer(self, *arguments: Any) -> Any:
        """Stand for a program of which the contract is enough."""
        if identity(mapped(arguments, term)) != identity(tuple(self.given)):
            raise Unknown("a call that is answered by contract has other arguments")
        explorer = self.explorer
        if explorer.at_the_end() and explorer.possible(formula(opposite(self.needed))):
            raise Unknown("what a program requires that is called is not met", explorer.last_model)
        for number, (error, value) in enumerate(self.ends):
            if explorer.table.known(self.end == number):
                if error:
                    raise getattr(self.kernel, error)()
                return self.in_python(value)
        raise Unknown("a call has no end")

    def run(self) -> Result:
        """Follow all paths."""
        started = time.process_time()
        paths: list[Path] = []
        replaced = self.relied_on.name if self.relied_on else ""
        kept = getattr(self.kernel, replaced, None)
        try:
            if replaced:
                setattr(self.kernel, replaced, self.answer)
            for path, outcome in self.explorer.paths(self.call):
                paths.append(path)
                self.judge(path, outcome)
                if self.result.findings:
                    break
            else:
                missed = left_out(self.explorer.requires, paths)
                if missed is not None:
                    raise Unknown("the paths are not all there is", missed)
        except Unknown as reason:
            self.found(str(reason), self.explorer.path(), reason.model)
        finally:
            if replaced:
                setattr(self.kernel, replaced, kept)
        self.result.paths = len(paths)
        self.result.seconds = time.process_time() - started
        return self.result

    def call(self) -> Outcome:
        """Run the program; a path that does not come to its end is none."""
        signal.signal(signal.SIGVTALRM, overdue)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            return called(self.function, self.arguments, self.kernel)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def judge(self, path: Path, outcome: Outcome) -> None:
        """Prove that the contract allows the outcome on the whole path."""
        kind_of_end = self.program.ends.get(outcome.error)
        if kind_of_end is None or not fits(kind_of_end, outcome.value, (int, z3.ArithRef)):
            return self.found("the contract has no such end", path, None, outcome)
        kind = "raises" if outcome.error else "ensures"
        conditions = self.program.of_kind(kind, outcome.error or None)
        if not conditions:
            return self.found("the contract says nothing of such an end", path, None, outcome)
        key = identity(outcome)
        if key not in self.wrong:
            self.wrong[key] = z3.Not(formula(self.all_of(conditions, [*self.terms, outcome.value])))
        if self.explorer.possible(self.wrong[key]):
            model = self.explorer.last_model
            texts = " and ".join(
                f"{condition.kind} {{ {condition.text} }}" for condition in conditions
            )
            self.found(f"not {texts}", path, model, outcome)
        return None

    def found(self, what: str, path: Path, model: Any, outcome: Outcome | None = None) -> None:
        """Say what is wrong on a path, with an input."""
        finding = Finding(self.program.name, self.result.form, what)
        finding.path = list(map(str, path))
        model = model if model is not None else self.explorer.any_model()
        if model is not None:
            finding.input = f"{self.program.name}{fill(tuple(self.terms), model)}"
            finding.got = str(fill(outcome, model)) if outcome else what
        self.result.findings.append(finding)


def overdue(*_: object) -> None:
    """End a path."""
    raise Unknown(f"a path takes more than {SECONDS} s")
