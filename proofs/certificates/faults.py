"""Certificates that are changed in one place: the checker has to refuse, or the change is listed.

A change that is accepted is no fault if the steps that `false` rests on conclude what they did, but
for the order of the terms in sums, products, conjunctions and disjunctions. Where they conclude
something else, the certificate is another proof, which somebody has to look at: the list says from
which step on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from certify import checker, terms
from certify.reader import Certificate, Expression, Task, expressions
from certify.rules import RULES
from certify.terms import Refused, Term, rebuild

OTHER_WORDS = {
    "and": "or",
    "or": "and",
    "not": "@purify",
    "=>": "=",
    "=": "distinct",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "+": "*",
    "*": "+",
    "-": "+",
    "forall": "exists",
    "exists": "forall",
    "true": "false",
    "false": "true",
    "div": "mod",
    "mod": "div",
    "div_total": "mod_total",
    "mod_total": "div_total",
    "select": "@array_deq_diff",
    "Int": "Bool",
    "Bool": "Int",
}

SAME = "the steps that matter conclude the same"
ORDER = "they conclude the same, but for the order in sums, products, conjunctions, disjunctions"
ANOTHER = "another proof"
UNORDERED = ("+", "*", "and", "or")


class Change(NamedTuple):
    """A change of a certificate; `accepted` says why it may be, and nothing if it is refused."""

    place: str
    change: str
    accepted: str


def tried(place: str, text: str, certificate: str, count: int) -> list[Change]:
    """Change a certificate so often, in places that its own name decides."""
    chance = random.Random(place)
    (commands,) = expressions(certificate)
    assert isinstance(commands, list)
    without_goal = text.rpartition("(assert")[0] + "(check-sat)"
    found = [Change(place, "the task without its goal", accepted(without_goal, certificate))]
    for _ in range(count):
        what, changed = changed_once(chance, commands)
        found.append(Change(place, what, accepted(text, printed(changed), certificate)))
    return found


def changed_once(chance: random.Random, commands: list[Expression]) -> tuple[str, list[Expression]]:
    """Change one place: take out a step, or another word, name, number, rule or order."""
    names = [
        each[1] for each in commands if isinstance(each, list) and each[0] in ("step", "assume")
    ]
    defined = [each[1] for each in commands if isinstance(each, list) and each[0] == "define"]
    while True:
        i = chance.randrange(len(commands))
        if not isinstance(command := commands[i], list) or command[0] in ("declare-sort",):
            continue
        if command[0] != "define" and chance.random() < 0.05:
            return f"{shown(command)} taken out", [*commands[:i], *commands[i + 1 :]]
        path = chance.choice([path for path in paths(command, ()) if path[0] > 1] or [()])
        if not path:
            continue
        old = at(command, path)
        if isinstance(old, list):
            if len(old) < 3:
                continue
            j = chance.randrange(1, len(old) - 1) if isinstance(old[0], str) else 0
            new: Expression = [*old[:j], old[j + 1], old[j], *old[j + 2 :]]
        elif old.startswith("@p") and old[2:].isdigit():
            new = chance.choice(names)
        elif old.startswith("@t") and old[2:].isdigit():
            new = chance.choice(defined)
        elif old.lstrip("-").isdigit():
            new = str(int(old) + chance.choice((-1, 1)))
        elif old in RULES:
            new = chance.choice(sorted(RULES))
        elif old in OTHER_WORDS:
            new = OTHER_WORDS[old]
        else:
            continue
        if new != old:
            other = replaced(command, path, new)
            what = f"{shown(command)} with {shown(new)} for {shown(old)} at {path}"
            return what, [*commands[:i], other, *commands[i + 1 :]]


def paths(expression: Expression, before: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """List the places in an expression, but the whole."""
    if isinstance(expression, list):
        for i, each in enumerate(expression):
            yield (*before, i)
            yield from paths(each, (*before, i))


def at(expression: Expression, path: Sequence[int]) -> Expression:
    """Return what stands at a place."""
    for i in path:
        assert isinstance(expression, list)
        expression = expression[i]
    return expression


def replaced(expression: Expression, path: Sequence[int], new: Expression) -> Expression:
    """Put something else in a place."""
    if not path:
        return new
    assert isinstance(expression, list)
    i, *rest = path
    return [*expression[:i], replaced(expression[i], rest, new), *expression[i + 1 :]]


def printed(expression: Expression) -> str:
    """Write an expression; a word that is none without bars has no place in a certificate."""
    if isinstance(expression, list):
        return f"({' '.join(map(printed, expression))})"
    return expression


def shown(expression: Expression) -> str:
    """Write the beginning of an expression."""
    text = printed(expression)
    return text if len(text) < 80 else text[:80] + " ..."


def accepted(text: str, changed: str, before: str = "") -> str:
    """Say why a changed certificate may be accepted, or nothing where it is refused."""
    try:
        checker.check(text, changed)
    except Refused:
        return ""
    if not before:
        return ANOTHER
    terms.forget()
    task = Task(text)
    (was, _), (now, needed) = followed(task, before), followed(task, changed)
    first = [name for name in now if name in needed and was.get(name) is not now[name]]
    if not first:
        return SAME
    if all(name in was and in_order(was[name]) is in_order(now[name]) for name in first):
        return ORDER
    return f"{ANOTHER}, from {first[0]} on"


def in_order(term: Term) -> Term:
    """Put terms whose order does not matter into one that does not depend on how they stood."""
    if not term.arguments or term.operator == "skolem":
        return term
    new = [in_order(each) for each in term.arguments]
    return rebuild(term, sorted(new, key=str) if term.operator in UNORDERED else new)


def followed(task: Task, certificate: str) -> tuple[dict[str, Term], set[str]]:
    """Follow a certificate: what its steps conclude, and which of them the last one rests on."""
    found, steps = checker.Checker(task), list(Certificate(task, certificate).steps())
    concluded = {step.name: found.take(step) for step in steps}
    needed = {steps[-1].name}
    for step in reversed(steps):
        if step.name in needed:
            needed.update(step.premises)
    return concluded, needed
