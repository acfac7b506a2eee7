"""One program on arguments of one form: each path is followed, and Z3 asked of each."""

from __future__ import annotations

import inspect
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import Any

import z3

from symbolic.kernel import Element, called, described, made
from symbolic.logic import Case, Raises, Record, Returns, every, formula, opposite, same, some
from symbolic.paths import Explorer, Path, left_out
from symbolic.programs import ANY, Program
from symbolic.values import Unknown

# Of processor time for one path, which takes some thousandths of it.
SECONDS = 5


@dataclass
class Finding:
    """What is wrong: on which path, for which input, and what was expected there."""

    program: str
    form: str
    what: str
    path: list[str] = field(default_factory=list)
    input: str = ""
    expected: str = ""
    got: str = ""


@dataclass
class Result:
    """What became of a program on arguments of one form.

    `relied_on` are the calls that were answered by what the texts say: programs, and the forms of
    their arguments.
    """

    program: str
    form: str
    paths: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    relied_on: set[tuple[str, str]] = field(default_factory=set)


def form(value: Any) -> str:
    """Say which form arguments have: ? is any integer."""
    if value is ANY or isinstance(value, z3.ArithRef):
        return "?"
    if type(value) in (tuple, list):
        return f"({','.join(map(form, value))})"
    if type(value) is Record:
        return value.name + (form(value.fields) if value.fields else "")
    return "x" if type(value) is Element else str(value)


def named(value: Any, name: str) -> Any:
    """Put a variable of Z3 for each unknown integer, with the name of its place."""
    if value is ANY:
        return z3.Int(name)
    if type(value) in (tuple, list):
        return type(value)(named(part, f"{name}[{k}]") for k, part in enumerate(value))
    return value


def fill(value: Any, model: z3.ModelRef) -> Any:
    """Put the numbers of a model into a description."""
    if type(value) in (tuple, list):
        return type(value)(fill(part, model) for part in value)
    if type(value) is Record:
        return Record(value.name, fill(value.fields, model))
    if isinstance(value, z3.ArithRef):
        return model.eval(value, model_completion=True).as_long()
    return value


def shown(outcome: Returns | Raises | None) -> str:
    """Show an outcome without unknowns."""

    def text(value: Any) -> str:
        if type(value) is Record:
            return f"{value.name}({', '.join(map(text, value.fields))})"
        if type(value) is tuple:
            return f"({', '.join(map(text, value))}{',' * (len(value) == 1)})"
        return f"[{', '.join(map(text, value))}]" if type(value) is list else repr(value)

    if outcome is None:
        return "nothing that the texts name"
    if isinstance(outcome, Returns):
        return text(outcome.value)
    return f"raises {text(Record(outcome.name, outcome.carries))}"


class Validation:
    """A program, on arguments of one form."""

    def __init__(
        self,
        program: Program,
        arguments: Sequence[Any],
        kernel: ModuleType,
        others: Mapping[str, Program],
    ) -> None:
        self.program, self.kernel, self.others = program, kernel, others
        self.function: Callable[..., Any] = getattr(kernel, program.name)
        names = inspect.signature(self.function).parameters
        self.terms = [named(v, name) for v, name in zip(arguments, names, strict=True)]
        requires = program.requires(*self.terms)
        self.explorer = Explorer(requires)
        table = self.explorer.table
        for variable in variables(self.terms):
            table.variable(variable)
        self.arguments = tuple(made(term, table, kernel) for term in self.terms)
        self.result = Result(program.name, form(arguments))
        # What can never be required to be answered need not have an answer in the texts.
        cases = [] if requires is False else program.cases(*self.terms)
        self.guarded = guarded(cases, disjoint=program.disjoint)
        self.answers: dict[Any, list[Case]] = {}
        self.wrong: dict[Any, z3.BoolRef] = {}

    def run(self) -> Result:
        """Follow all paths."""
        started = time.process_time()
        paths: list[Path] = []
        kept = {name: getattr(self.kernel, name) for name in self.program.by_contract}
        try:
            for name in kept:
                setattr(self.kernel, name, self.by_contract(self.others[name]))
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
            self.found(str(reason), self.explorer.path(), reason.model or self.explorer.any_model())
        finally:
            for name, function in kept.items():
                setattr(self.kernel, name, function)
        self.result.paths = len(paths)
        self.result.seconds = time.process_time() - started
        return self.result

    def call(self) -> Returns | Raises:
        """Run the program; a path that does not come to its end is none."""
        signal.signal(signal.SIGVTALRM, overdue)
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        try:
            return called(self.function, self.arguments, self.kernel)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def judge(self, path: Path, outcome: Returns | Raises) -> None:
        """Prove that the outcome is what the texts say on the whole path."""
        key = identity(outcome)
        if key not in self.wrong:
            right = some(
                every([guard, equal])
                for guard, wanted in self.guarded
                if (equal := same(wanted, outcome)) is not False
            )
            self.wrong[key] = z3.Not(formula(right))
        if not self.explorer.possible(self.wrong[key]):
            return
        self.found("differs", path, self.explorer.last_model, outcome)

    def found(
        self, what: str, path: Path, model: Any, outcome: Returns | Raises | None = None
    ) -> None:
        """Say what is wrong on a path, with an input and what the texts say of it."""
        finding = Finding(self.program.name, self.result.form, what)
        finding.path = list(map(str, path.conditions()))
        if model is not None:
            said = (
                wanted
                for guard, wanted in self.guarded
                if z3.is_true(model.eval(guard, model_completion=True))
            )
            wanted = next(said, None)
            finding.input = f"{self.program.name}{shown(Returns(fill(tuple(self.terms), model)))}"
            finding.expected = shown(filled(wanted, model)) if wanted else shown(None)
            finding.got = shown(filled(outcome, model)) if outcome else what
        self.result.findings.append(finding)

    def by_contract(self, program: Program) -> Callable[..., Any]:
        """Stand for a program that is proved by itself, on the same form of arguments."""

        def answer(*arguments: Any) -> Any:
            terms = described(arguments)
            key = identity(terms)
            if key not in self.answers:
                self.answers[key] = list(program.cases(*terms))
                self.result.relied_on.add((program.name, form(terms)))
            if self.explorer.at_the_end():
                missed = z3.Not(formula(program.requires(*terms)))
                if self.explorer.possible(missed):
                    model = self.explorer.last_model
                    raise Unknown(f"what {program.name} requires is not met", model)
            for case in self.answers[key]:
                if self.explorer.table.truth(case.when):
                    return self.give(case.outcome)
            raise Unknown(f"the texts say nothing of {program.name}")

        return answer

    def give(self, outcome: Returns | Raises) -> Any:
        """Return or raise."""
        table = self.explorer.table
        if isinstance(outcome, Returns):
            return made(outcome.value, table, self.kernel)
        raise getattr(self.kernel, outcome.name)(*made(outcome.carries, table, self.kernel))


def overdue(*_: object) -> None:
    """End a path."""
    raise Unknown(f"a path takes more than {SECONDS} s")


def filled(outcome: Returns | Raises, model: z3.ModelRef) -> Returns | Raises:
    """Put the numbers of a model into an outcome."""
    if isinstance(outcome, Returns):
        return Returns(fill(outcome.value, model))
    return Raises(outcome.name, fill(outcome.carries, model))


def guarded(cases: Sequence[Case], *, disjoint: bool) -> list[tuple[z3.BoolRef, Returns | Raises]]:
    """Give each case the condition under which it is the first that holds."""
    found: list[tuple[z3.BoolRef, Returns | Raises]] = []
    before: list[Any] = []
    for case in cases:
        found.append((formula(every([*before, case.when])), case.outcome))
        if not disjoint:
            before.append(opposite(case.when))
    return found


def identity(value: Any) -> Any:
    """Tell descriptions apart."""
    kind = type(value)
    if kind in (tuple, list):
        return (kind, *map(identity, value))
    if kind in (Record, Raises, Returns):
        return (kind, *(identity(getattr(value, each.name)) for each in fields(kind)))
    if kind is Element:
        return (kind, id(value))
    return ("z3", value.get_id()) if isinstance(value, z3.ArithRef) else value


def variables(value: Any) -> list[str]:
    """List the variables in a description."""
    if isinstance(value, (tuple, list)):
        return [name for part in value for name in variables(part)]
    return [str(value)] if isinstance(value, z3.ArithRef) else []
