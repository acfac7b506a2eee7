"""One program on arguments of one form: each path is followed, and Z3 asked of each."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from types import ModuleType
from typing import Any

import z3

from validate import formulas
from validate.kernel import Element, Outcome, as_terms, called, made
from validate.logic import every, formula, opposite, some
from validate.paths import Explorer, Path, left_out
from validate.programs import ANY, Condition, Program
from validate.values import Unknown

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


def form(value: Any) -> str:
    """Say which form arguments have: ? is any integer."""
    if value is ANY or isinstance(value, z3.ArithRef):
        return "?"
    if type(value) in (tuple, list):
        return f"({','.join(map(form, value))})"
    return "x" if type(value) is Element else str(value)


def named(value: Any, name: str) -> Any:
    """Put a variable of Z3 for each unknown integer, with the name of its place."""
    if value is ANY:
        return z3.Int(name)
    if type(value) in (tuple, list):
        return type(value)(named(part, f"{name}[{k}]") for k, part in enumerate(value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = (named(getattr(value, each.name), f"{name}.{each.name}") for each in fields(value))
        return type(value)(*parts)
    return value


def variables(value: Any) -> Iterator[str]:
    """List the variables in arguments."""
    if isinstance(value, (tuple, list)):
        for part in value:
            yield from variables(part)
    elif isinstance(value, z3.ArithRef):
        yield str(value)


def fill(value: Any, model: z3.ModelRef) -> Any:
    """Put the numbers of a model for terms."""
    if type(value) in (tuple, list):
        return type(value)(fill(part, model) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(*(fill(getattr(value, each.name), model) for each in fields(value)))
    if isinstance(value, z3.ArithRef):
        return model.eval(value, model_completion=True).as_long()
    return value


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
        self.terms = [named(*each) for each in zip(arguments, program.parameters, strict=True)]
        self.result = Result(program.name, form(tuple(arguments)))
        requires = [self.all_of(program.of_kind("requires"), self.terms)]
        if relied_on is not None:
            requires.append(self.supposed(relied_on))
        self.explorer = Explorer(every(requires))
        table = self.explorer.table
        for variable in variables(self.terms):
            table.variable(variable)
        self.arguments = tuple(made(term, table, kernel) for term in self.terms)
        self.function: Callable[..., Any] = getattr(kernel, program.name)
        self.wrong: dict[Any, z3.BoolRef] = {}

    def all_of(self, conditions: Sequence[Condition], given: Sequence[Any]) -> Any:
        """Say that conditions hold, one after the other: `requires` may need those before it."""
        return formulas.junction(
            True, *(partial(condition.formula, *given) for condition in conditions)
        )

    def supposed(self, program: Program) -> Any:
        """Say what a contract says of a call on the first of these arguments, and how it may end.

        Where its `requires` holds, the call has one of these ends; the unknowns in them are its.
        """
        self.given = self.terms[: len(program.parameters)]
        (value,) = program.result(program.scopes(0)[0])
        self.end = z3.Int("end")
        self.ends = [(name, None if name else named(value, "result")) for name in program.ends]
        self.needed = self.all_of(program.of_kind("requires"), self.given)
        conditions = [
            program.of_kind("raises" if e else "ensures", e or None) for e, _ in self.ends
        ]
        ends = (
            every([self.end == number, self.all_of(found, [*self.given, value])])
            for number, (found, (_, value)) in enumerate(zip(conditions, self.ends, strict=True))
        )
        return some([opposite(self.needed), *ends])

    def answer(self, *arguments: Any) -> Any:
        """Stand for a program of which the contract is enough."""
        if formulas.identity(list(as_terms(arguments))) != formulas.identity(list(self.given)):
            raise Unknown("a call that is answered by contract has other arguments")
        explorer = self.explorer
        if explorer.at_the_end() and explorer.possible(formula(opposite(self.needed))):
            raise Unknown("what a program requires that is called is not met", explorer.last_model)
        for number, (error, value) in enumerate(self.ends):
            if explorer.table.truth(self.end == number):
                if error:
                    raise getattr(self.kernel, error)()
                return made(value, explorer.table, self.kernel)
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
        is_of_type = self.program.ends.get(outcome.error)
        if is_of_type is None or not is_of_type(outcome.value):
            return self.found("the contract has no such end", path, None, outcome)
        kind = "raises" if outcome.error else "ensures"
        conditions = self.program.of_kind(kind, outcome.error or None)
        if not conditions:
            return self.found("the contract says nothing of such an end", path, None, outcome)
        key = formulas.identity(outcome)
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
        finding.path = list(map(str, path.conditions()))
        model = model if model is not None else self.explorer.any_model()
        if model is not None:
            finding.input = f"{self.program.name}{fill(tuple(self.terms), model)}"
            finding.got = str(fill(outcome, model)) if outcome else what
        self.result.findings.append(finding)


def overdue(*_: object) -> None:
    """End a path."""
    raise Unknown(f"a path takes more than {SECONDS} s")
