"""The checker decides whether a certificate shows a contradiction in the assertions of a task.

A conclusion holds in every model of the task's assertions and of the present suppositions, for
every assignment to free variables. The end of a supposition deletes the conclusions below it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from certify import arithmetic, binders, clauses, equality, normal, schemas, terms
from certify.equality import GENERAL
from certify.reader import Certificate, Step, Task
from certify.rules import RULES, spelled
from certify.terms import BINDERS, BOOL, Refused, Term, bound, build, require, truth

# The limit of nested calls: functions call themselves for each level of a formula.
DEPTH = 20_000

MODULES = (schemas, clauses, equality, arithmetic, binders, normal)


class Supposition(NamedTuple):
    """A supposed formula, and the conclusions below it."""

    formula: Term
    concluded: list[str]


class Checker:
    """The conclusions of a task so far."""

    def __init__(self, task: Task) -> None:
        self.assertions = {*task.assertions}
        self.concluded: dict[str, Term] = {}
        self.supposed: list[Supposition] = []

    def take(self, step: Step) -> Term:
        """Check a step; return its conclusion."""
        if step.command == "assume":
            require(step.stated in self.assertions, "the task does not assert this")
            require(not self.supposed, "an assertion below a supposition")
            formula = step.stated or truth(True)
        elif step.command == "assume-push":
            formula = step.stated or truth(True)
            require(formula.sort == BOOL, "a supposition that is no formula")
            self.supposed.append(Supposition(formula, []))
        else:
            for name in step.premises:
                require(name in self.concluded, f"nothing is concluded under the name {name}")
            formula = self.follow(step, [self.concluded[name] for name in step.premises])
        if step.stated is not None:
            require(step.stated is formula, "another conclusion than is stated")
        require(formula.sort == BOOL, "a conclusion that is no formula")
        require(step.name not in self.concluded, "a name that something else has")
        self.concluded[step.name] = formula
        if self.supposed:
            self.supposed[-1].concluded.append(step.name)
        return formula

    def follow(self, step: Step, premises: Sequence[Term]) -> Term:
        """Apply the rule of a step."""
        if step.rule == "scope":
            return self.discharge(step, premises)
        require(step.command == "step", "only scope ends a supposition")
        rule = RULES.get(spelled(step.rule))
        if rule is None:
            raise Refused(f"a rule that is not known: {step.rule}")
        formula = rule(premises, step.arguments)
        if rule is GENERAL and formula.arguments[0].operator in BINDERS:
            variables = bound(formula.arguments[0])
            is_free = any(not each.formula.free.isdisjoint(variables) for each in self.supposed)
            require(not is_free, "something is supposed of a variable that is bound here")
        return formula

    def discharge(self, step: Step, premises: Sequence[Term]) -> Term:
        """End the supposition F: conclude `(=> F G)` from the premise G; forget what is below F."""
        require(step.command == "step-pop" and not step.arguments, "scope ends a supposition")
        (conclusion,) = premises
        require(self.supposed, "nothing is supposed")
        ended = self.supposed.pop()
        for name in ended.concluded:
            del self.concluded[name]
        return build("=>", ended.formula, conclusion)


def check(text: str, certificate: str) -> int:
    """Check a certificate of a task; return the number of its steps, or raise Refused."""
    terms.forget()
    try:
        task = Task(text)
        checker, last, count = Checker(task), truth(True), 0
        for step in Certificate(task, certificate).steps():
            try:
                last, count = checker.take(step), count + 1
            except Exception as error:
                raise Refused(f"{step.rule or step.command}: {error}") from error
        require(not checker.supposed and last is truth(False), "the last step does not say false")
        return count
    except Exception as error:
        raise error if isinstance(error, Refused) else Refused(f"malformed: {error}") from error
